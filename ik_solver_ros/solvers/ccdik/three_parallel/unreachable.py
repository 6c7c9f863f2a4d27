"""How near a WaistArm comes to a point that is out of its reach, in closed form but for the last hinge.

At the nearest posture every hinge that is not at a limit lies in line with the tip and the point, so that for given
angles of the waist and the last hinge a few postures of the group are all that can be it (docs/waist_arm.md).
"""

from __future__ import annotations

import math

import numpy as np

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.quaternion import dot
from ik_solver_ros.kinematics.waist_arm import JOINTS, TWO_PI, at, fitted
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group import (
    ANGLES,
    ANY_APPROACH,
    ERROR,
    best_pitch,
    group_view,
    no_posture,
    offer,
    squared,
    unit,
)
from ik_solver_ros.solvers.ccdik.three_parallel.sinusoids import tip_on_axis

BENDS = 5  # samples of the last hinge
KEPT = 2


@njit
def nearest_reach(problem, out):
    """Fill `out` (KEPT, 5) with the angles of the postures that come nearest to the goal's position, nearest first.

    Returns how many. They are exact where the plane of the group holds the waist's axis and the tip is on the roll
    axis; else a descent from them is.
    """
    arm, now = problem.arm, problem.now
    lower, upper = arm.lower[4], arm.upper[4]
    if not upper - lower < TWO_PI:
        lower, upper = now[4] - math.pi, now[4] + math.pi
    bends = 0 if tip_on_axis(arm) else BENDS
    found = np.full((4 * (bends + 1), ANGLES + JOINTS), math.inf)
    # Between two samples the tip moves by no more than this.
    margin = math.sqrt(dot(arm.tip.even, arm.tip.even)) * (upper - lower) / BENDS
    least, m = math.inf, 0
    best = no_posture()
    for k in range(bends + 1):
        q5 = now[4] if k == 0 else lower + (upper - lower) * (k - 1) / (bends - 1)
        for q1 in waists(problem, q5):
            if q1 == q1:
                best[ERROR] = least + margin
                reach_out(problem, q1, q5, best)
                if best[ERROR] < least + margin:
                    found[m] = best
                    m += 1
                    least = min(least, best[ERROR])
    count = min(KEPT, m)
    for k in range(count):
        i = np.argmin(found[:, ERROR])
        out[k] = found[i, ANGLES:]
        found[i, ERROR] = math.inf
    return count


@njit
def waists(problem, q5):
    """The angles of the waist that bring the plane of the group nearest to the point, and its limits: four, or nan.

    Where the plane does not hold the waist's axis the nearest angle is a little off these, perhaps beyond a limit and
    so at the other one.
    """
    arm, goal, now = problem.arm, problem.goal, problem.now
    x = (at(arm.tip, math.cos(q5), math.sin(q5))[2] - goal.point.fixed[2]) / max(goal.size, 1e-12)
    half = math.acos(min(max(x, -1.0), 1.0))
    first = fitted(goal.middle + half, arm.lower[0], arm.upper[0], now[0])
    second = fitted(goal.middle - half, arm.lower[0], arm.upper[0], now[0])
    low = arm.lower[0] if math.isfinite(arm.lower[0]) else math.nan
    return first, second, low, arm.upper[0] if low == low else math.nan


@njit
def reach_out(problem, q1, q5, best):
    """Improve `best`, ERROR being the distance [m], by the nearest posture at these angles of waist and last hinge."""
    arm = problem.arm
    view = group_view(problem, q1, q5, False)
    across = at(problem.goal.point, math.cos(q1), math.sin(q1))[2] - at(arm.tip, math.cos(q5), math.sin(q5))[2]
    if abs(across) > best[ERROR]:
        return
    a, b, hand, reach = arm.upper_arm, arm.forearm, view.hand, view.reach
    if math.sqrt(squared(reach)) < abs(a) + abs(b) + abs(hand):
        within = no_posture()
        best_pitch(problem, q1, q5, ANY_APPROACH, within)
        if within[ERROR] < math.inf:  # the plane holds a posture that is off by nothing but what lies across it
            best[:] = within
            best[ERROR] = abs(across)
            return
    for turn_3 in arm.ends_3:
        elbow = a + b * turn_3
        in_line = unit(elbow * (turn_3 * hand).conjugate())
        for turn_4 in (arm.ends_4[0], arm.ends_4[1], in_line, -in_line):
            _point(problem, view, across, turn_3, turn_4, best)
    in_line = unit(b * hand.conjugate())
    for turn_4 in (arm.ends_4[0], arm.ends_4[1], in_line, -in_line):
        turn_3 = unit(a * (b + hand * turn_4).conjugate())
        _point(problem, view, across, turn_3, turn_4, best)
        _point(problem, view, across, -turn_3, turn_4, best)
    for turn_2 in arm.ends_2:
        rest = reach * turn_2.conjugate() - a
        for turn_4 in (arm.ends_4[0], arm.ends_4[1], in_line, -in_line):
            turn_3 = unit(rest * (b + hand * turn_4).conjugate())
            _end(problem, view, across, turn_2, turn_3, turn_4, best)
        for turn_3 in arm.ends_3:
            turn_4 = unit((rest * turn_3.conjugate() - b) * hand.conjugate())
            _end(problem, view, across, turn_2, turn_3, turn_4, best)
            _end(problem, view, across, turn_2, turn_3, arm.ends_4[0], best)
            _end(problem, view, across, turn_2, turn_3, arm.ends_4[1], best)


@njit
def _point(problem, view, across, turn_3, turn_4, best):
    """Offer this shape of the group, pointed at the goal."""
    tip = problem.arm.upper_arm + turn_3 * (problem.arm.forearm + turn_4 * view.hand)
    _end(problem, view, across, unit(view.reach * tip.conjugate()), turn_3, turn_4, best)


@njit
def _end(problem, view, across, turn_2, turn_3, turn_4, best):
    """Offer this posture, by its distance."""
    tip = turn_2 * (problem.arm.upper_arm + turn_3 * (problem.arm.forearm + turn_4 * view.hand))
    distance = math.sqrt(squared(view.reach - tip) + across * across)
    offer(problem, view.q1, view.q5, (turn_2, turn_3, turn_4), (distance, 0.0), best)
