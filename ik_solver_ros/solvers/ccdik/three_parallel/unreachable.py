"""How near a WaistArm comes to a point that is out of its reach, in closed form but for the last hinge.

At the nearest posture every hinge that is not at a limit lies in line with the tip and the point, so that for given
angles of the waist and the last hinge a few postures of the group are all that can be it (docs/waist_arm.md).
"""

from __future__ import annotations

import math

from ik_solver_ros.kinematics.constants import INF, NAN, PI, TWO_PI
from ik_solver_ros.kinematics.plane import at, chord, size_of, squared, unit, value
from ik_solver_ros.kinematics.quaternion import dot
from ik_solver_ros.kinematics.waist_arm import fitted
from ik_solver_ros.solvers.ccdik.three_parallel.constants import ANY_APPROACH, KEPT, SAME
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group import (
    ArmProblem,
    best_pitch,
    group_view,
    no_posture,
    offer,
)
from ik_solver_ros.solvers.ccdik.three_parallel.sinusoids import tip_on_axis

try:
    import cython
except ImportError:
    from ik_solver_ros import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:
    from ik_solver_ros.kinematics.shapes import GroupView, Misses, Posture

BENDS = 5  # samples of the last hinge
WAYS = 4 + 5  # angles of the waist that are looked at: see `_waist`


def nearest_reach(problem: ArmProblem) -> int:
    """Fill `problem.kept` with the postures that come nearest to the goal's position, nearest first.

    Returns how many there are. They are exact where the plane of the group holds the waist's axis and the tip is on the
    roll axis; else a descent from them is. They miss by a distance [m].
    """
    lower = problem.arm.lower[4]
    upper = problem.arm.upper[4]
    if not upper - lower < TWO_PI:  # the turn about where it is, inside the limits
        lower = min(max(problem.now[4] - PI, lower), upper - TWO_PI)
        upper = lower + TWO_PI
    bends = 0 if tip_on_axis(problem.arm) else BENDS
    # Between two samples the tip moves by no more than this (and a little, lest one of two equal postures is lost).
    margin = math.sqrt(dot(problem.arm.tip.even, problem.arm.tip.even)) * (upper - lower) / BENDS + 10.0 * SAME
    if abs(_across(problem, problem.now[4])) > problem.goal.size:
        margin += 2.0 * problem.goal.size  # by which the waist can move it
    least = INF
    m = 0
    for k in range(bends + 1):
        q5 = problem.now[4] if k == 0 else lower + (upper - lower) * (k - 1) / (bends - 1)
        for way in range(WAYS):
            q1 = _waist(problem, q5, way)
            if q1 == q1:
                best = _reach_out(problem, q1, q5, no_posture(least + margin))
                if best.miss < least + margin:
                    problem.reaching[m] = best
                    m += 1
                    least = min(least, best.miss)
    kept = 0
    while kept < KEPT and kept < m:
        first = kept
        for k in range(kept + 1, m):
            if problem.reaching[k].miss < problem.reaching[first].miss:
                first = k
        if problem.reaching[first].miss > least + margin:
            break
        problem.kept[kept] = problem.reaching[first]
        problem.reaching[first] = problem.reaching[kept]
        kept += 1
    return kept


def _across(problem: ArmProblem, q5: float) -> float:
    """From the waist's axis at the goal's height to the plane in which the tip moves [m], signed."""
    return at(problem.arm.tip, math.cos(q5), math.sin(q5))[2] - problem.goal.point.fixed[2]


def _waist(problem: ArmProblem, q5: float, way: int) -> float:
    """One of the angles of the waist that bring the plane of the group nearest to the point: two, and its limits.

    nan where there is none. Of a point so near to the waist's axis that no plane holds it, others all around, too.
    Where the plane does not hold the waist's axis the nearest angle is a little off these, perhaps beyond a limit and
    so at the other one.
    """
    lower = problem.arm.lower[0]
    upper = problem.arm.upper[0]
    if 2 <= way < 4:
        if not lower > -INF:
            return NAN
        return lower if way == 2 else upper
    across = _across(problem, q5)
    if way >= 4:
        if abs(across) <= problem.goal.size:
            return NAN
        return fitted(problem.goal.middle + (way - 3) * TWO_PI / (WAYS - 3), lower, upper, problem.now[0])
    half = math.acos(min(max(across / max(problem.goal.size, 1e-12), -1.0), 1.0))
    angle = problem.goal.middle + half if way == 0 else problem.goal.middle - half
    return fitted(angle, lower, upper, problem.now[0])


def _reach_out(problem: ArmProblem, q1: float, q5: float, best: Posture) -> Posture:
    """`best`, or the nearest posture at these angles of waist and last hinge where that is nearer."""
    view = group_view(problem, q1, q5, False)
    point = at(problem.goal.point, math.cos(q1), math.sin(q1))
    across = point[2] - at(problem.arm.tip, math.cos(q5), math.sin(q5))[2]
    if abs(across) > best.miss:
        return best
    a = problem.arm.upper_arm
    b = problem.arm.forearm
    if size_of(view.reach) < size_of(a) + size_of(b) + size_of(view.hand):
        within = best_pitch(problem, q1, q5, ANY_APPROACH, no_posture(INF))
        if within.miss < INF:  # the plane holds a posture that is off by nothing but what lies across it
            return Posture(
                abs(across),
                within.second,
                within.elbow,
                within.step,
                within.total,
                within.q1,
                within.q2,
                within.q3,
                within.q4,
                within.q5,
            )
    for k in range(2):
        turn_3 = problem.arm.ends_3[k]
        in_line = unit((a + b * turn_3) * (turn_3 * view.hand).conjugate())
        for m in range(4):
            best = _point(problem, view, across, turn_3, _turn_4(problem, in_line, m), best)
    in_line = unit(b * view.hand.conjugate())
    for m in range(4):
        turn_4 = _turn_4(problem, in_line, m)
        turn_3 = unit(a * (b + view.hand * turn_4).conjugate())
        best = _point(problem, view, across, turn_3, turn_4, best)
        best = _point(problem, view, across, -turn_3, turn_4, best)
    for k in range(2):
        turn_2 = problem.arm.ends_2[k]
        rest = view.reach * turn_2.conjugate() - a
        for m in range(4):
            turn_4 = _turn_4(problem, in_line, m)
            turn_3 = unit(rest * (b + view.hand * turn_4).conjugate())
            best = _end(problem, view, across, turn_2, turn_3, turn_4, best)
        for m in range(2):
            turn_3 = problem.arm.ends_3[m]
            turn_4 = unit((rest * turn_3.conjugate() - b) * view.hand.conjugate())
            best = _end(problem, view, across, turn_2, turn_3, turn_4, best)
            best = _end(problem, view, across, turn_2, turn_3, problem.arm.ends_4[0], best)
            best = _end(problem, view, across, turn_2, turn_3, problem.arm.ends_4[1], best)
    return best


def _turn_4(problem: ArmProblem, in_line: complex, way: int) -> complex:
    """One of four turns of hinge 4: at its limits, in line with what is before it, and folded back."""
    if way < 2:
        return problem.arm.ends_4[way]
    return in_line if way == 2 else -in_line


def _point(
    problem: ArmProblem, view: GroupView, across: float, turn_3: complex, turn_4: complex, best: Posture
) -> Posture:
    """Offer this shape of the group, pointed at the goal."""
    tip = problem.arm.upper_arm + turn_3 * (problem.arm.forearm + turn_4 * view.hand)
    return _end(problem, view, across, unit(view.reach * tip.conjugate()), turn_3, turn_4, best)


def _end(
    problem: ArmProblem,
    view: GroupView,
    across: float,
    turn_2: complex,
    turn_3: complex,
    turn_4: complex,
    best: Posture,
) -> Posture:
    """Offer this posture, by its distance, then its approach."""
    tip = turn_2 * (problem.arm.upper_arm + turn_3 * (problem.arm.forearm + turn_4 * view.hand))
    distance = math.sqrt(squared(view.reach - tip) + across * across)
    misses = Misses(distance, chord(value(view.match, turn_2 * turn_3 * turn_4)))
    return offer(problem, view, misses, turn_2, turn_3, turn_4, best)
