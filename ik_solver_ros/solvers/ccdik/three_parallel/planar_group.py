"""Three parallel hinges as one joint of CCDIK, in closed form: the best posture with the tip in place.

With the angles of the waist and of the last hinge given, the group 2, 3, 4 is a planar arm that must bring the hand to
a point; only its pitch t = q2 + q3 + q4 is free. The tool's direction meets the wanted one with the cosine
m0 + |m| cos(t - t*), so the best pitch is t* where the arm can hold it, else the nearest one at which the arm can go no
farther: a hinge at its limit, or the first two links in line. Each is a triangle of two links (docs/waist_arm.md).

Angles are unit complex numbers e^iq until a posture is worth its limits' check: no sine or arcus is spent on the rest.
"""

from __future__ import annotations

import math

from ik_solver_ros.kinematics.constants import INF, SLACK
from ik_solver_ros.kinematics.kernels import Row, room
from ik_solver_ros.kinematics.plane import (
    angle_of,
    at,
    at_angle,
    chord,
    corner,
    sinusoid,
    size_of,
    squared,
    unit,
    value,
)
from ik_solver_ros.kinematics.quaternion import cross
from ik_solver_ros.kinematics.waist_arm import WaistArm, elbow_height, fitted, target
from ik_solver_ros.solvers.ccdik.three_parallel.constants import (
    ANY_APPROACH,
    BRANCHES,
    CLOSER,
    EXACT,
    KEPT,
    PAIRS,
    REACHING,
    ROLLS,
    SAME,
    SCANNED,
)
from ik_solver_ros.solvers.problem import Problem

try:
    import cython
except ImportError:
    from ik_solver_ros import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:
    from ik_solver_ros.kinematics.shapes import GroupView, Misses, Pair, Place, Posture, Sinusoid, Target, Turning

NOWHERE = (0.0, 0.0, 0.0)


class ArmProblem:
    """A goal for an arm at q0, what is preferred, and room to look for it."""

    def __init__(self) -> None:
        """`arm`, a WaistArm, is to be set before anything else."""
        self.now = [0.0, 0.0, 0.0, 0.0, 0.0]  # the five angles of q0, to stay near to
        self.elbow = 0.0  # 1 prefers it up, -1 down, 0 does not care
        if not cython.compiled:
            nothing, still = no_posture(INF), Turning(NOWHERE, NOWHERE, NOWHERE)
            self.goal = Target(still, still, still, 0.0, 0.0)
            self.pairs = room(Pair(0.0, 0.0), PAIRS)
            self.angles = room(0.0, SCANNED)  # of the last hinge, in rising order...
            self.misses = [room(0.0, SCANNED), room(0.0, SCANNED)]  # ...and the nearest approach at each, by side
            self.places = room(Place(0.0, 0.0, 0), CLOSER)
            self.rolls = room(Place(0.0, 0.0, 0), ROLLS)
            self.reaching = room(nothing, REACHING)
            self.kept = room(nothing, KEPT)
            self.branches = room(nothing, BRANCHES)
        self.scanned = 0  # how many of `angles` are of use
        self.placed = 0  # and of `places`

    def set_arm(self, arm: WaistArm) -> None:
        """Whose problem it is."""
        self.arm = arm


def take_problem(problem: ArmProblem, asked: Problem, now: Row, elbow: float) -> None:
    """Take a goal for the arm as it is `now`."""
    problem.goal = target(problem.arm, asked.position, asked.wanted[0], asked.wanted[1])
    for i in range(5):
        problem.now[i] = problem.arm.sign[i] * now.at[problem.arm.joint[i]] if problem.arm.sign[i] != 0.0 else 0.0
    problem.elbow = elbow


def no_posture(miss: float) -> Posture:
    """The record of no posture; one that misses by more than `miss` is not worth a look."""
    return Posture(miss, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def keep(problem: ArmProblem, posture: Posture, q: Row) -> None:
    """Put a posture into q, as joint values."""
    q.at[problem.arm.joint[0]] = problem.arm.sign[0] * posture.q1
    q.at[problem.arm.joint[1]] = problem.arm.sign[1] * posture.q2
    q.at[problem.arm.joint[2]] = problem.arm.sign[2] * posture.q3
    q.at[problem.arm.joint[3]] = problem.arm.sign[3] * posture.q4
    q.at[problem.arm.joint[4]] = problem.arm.sign[4] * posture.q5


def best_pitch(problem: ArmProblem, q1: float, q5: float, floor: float, best: Posture) -> Posture:
    """`best`, or the best posture at these angles of the waist and the last hinge where that is better.

    floor: ANY_APPROACH or BEST_PITCH_ONLY for the nearest approach, else the chord that it may have for the sake of the
    least roll.
    """
    rolls = floor >= 0.0
    longer = max(abs(q1 - problem.now[0]), abs(q5 - problem.now[4])) > best.step + SLACK
    if longer and best.miss <= SAME and best.second <= SAME and problem.elbow == 0.0:
        return best  # only a shorter way would be better
    view = group_view(problem, q1, q5, rolls)
    size = size_of(view.match.swing)
    least = chord(view.match.mean + size)
    if least > (floor if rolls else best.miss + SAME):
        return best
    if size_of(view.reach) > math.sqrt(problem.arm.spans[0]) + size_of(view.hand):
        return best
    ideal = unit(view.match.swing) if size > 1e-12 else at_angle(problem.now[1] + problem.now[2] + problem.now[3])
    if rolls and floor > EXACT:
        # Without roll, where its sine is zero; and at the ends of what `floor` allows.
        swing = squared(view.sine.swing)
        if swing > view.sine.mean * view.sine.mean:
            x = -view.sine.mean / math.sqrt(swing)
            y = math.sqrt(1.0 - x * x)
            middle = unit(view.sine.swing)
            best = hold_pitch(problem, view, floor, middle * (x + 1j * y), best)
            best = hold_pitch(problem, view, floor, middle * (x - 1j * y), best)
        x = (1.0 - 0.5 * floor * floor - view.match.mean) / max(size, 1e-12) + 1e-15
        if abs(x) < 1.0:
            y = math.sqrt(1.0 - x * x)
            best = hold_pitch(problem, view, floor, ideal * (x + 1j * y), best)
            best = hold_pitch(problem, view, floor, ideal * (x - 1j * y), best)
    best = hold_pitch(problem, view, floor, ideal, best)
    if floor > EXACT or (floor == ANY_APPROACH and best.miss > least + SAME):
        best = _ends_of_pitch(problem, view, floor, best)
    return best


def group_view(problem: ArmProblem, q1: float, q5: float, rolls: bool) -> GroupView:
    """The GroupView from these two angles; its roll only where it is asked for."""
    c1 = math.cos(q1)
    s1 = math.sin(q1)
    c5 = math.cos(q5)
    s5 = math.sin(q5)
    point = at(problem.goal.point, c1, s1)
    tip = at(problem.arm.tip, c5, s5)
    d = at(problem.arm.tool, c5, s5)
    w = at(problem.goal.tool, c1, s1)
    sine = Sinusoid(0.0, 0j)
    cosine = sine
    if rolls:
        # The roll from (d, e, f) to (w, v, g) about d: atan2(f.v - e.g, e.v + f.g).
        e = at(problem.arm.side, c5, s5)
        v = at(problem.goal.side, c1, s1)
        f = cross(d, e)
        g = cross(w, v)
        fv = sinusoid(f, v)
        eg = sinusoid(e, g)
        ev = sinusoid(e, v)
        fg = sinusoid(f, g)
        sine = Sinusoid(fv.mean - eg.mean, fv.swing - eg.swing)
        cosine = Sinusoid(ev.mean + fg.mean, ev.swing + fg.swing)
    reach = point[0] + 1j * point[1]
    hand = tip[0] + 1j * tip[1] - problem.arm.wrist
    return GroupView(q1, q5, reach, hand, sinusoid(d, w), sine, cosine)


def roll_of(view: GroupView, pitch: complex) -> float:
    """By how much the tool must roll about its axis [rad]."""
    return math.atan2(value(view.sine, pitch), value(view.cosine, pitch))


def _misses(view: GroupView, floor: float, pitch: complex) -> Misses:
    """By how much a posture with this pitch misses."""
    approach = chord(value(view.match, pitch))
    if floor < 0.0:
        return Misses(approach, 0.0)
    if approach > floor:
        return Misses(INF, approach)
    return Misses(abs(roll_of(view, pitch)), approach)


def hold_pitch(problem: ArmProblem, view: GroupView, floor: float, pitch: complex, best: Posture) -> Posture:
    """Offer both elbows that hold the hand at this pitch."""
    misses = _misses(view, floor, pitch)
    if misses.first > best.miss + SAME:
        return best
    a = problem.arm.upper_arm
    b = problem.arm.forearm
    wrist = view.reach - view.hand * pitch
    bend = corner(squared(a), squared(b), squared(wrist))
    if bend.sine < 0.0:
        return best
    straight = unit(a * b.conjugate())
    for k in range(2):
        y = bend.sine if k == 0 else -bend.sine
        turn_3 = straight * (bend.cosine + 1j * y)
        turn_2 = wrist * (a + b * turn_3).conjugate()
        turn_4 = pitch * (turn_2 * turn_3).conjugate()
        best = offer(problem, view, misses, turn_2, turn_3, turn_4, best)
    return best


def _ends_of_pitch(problem: ArmProblem, view: GroupView, floor: float, best: Posture) -> Posture:
    """Offer every posture where the pitch can go no farther."""
    a = problem.arm.upper_arm
    b = problem.arm.forearm
    h2 = squared(view.hand)
    r2 = squared(view.reach)
    if h2 > 1e-18 and r2 > 1e-18:
        towards = unit(view.reach * view.hand.conjugate())
        for k in range(4):  # the first two links in line, or hinge 3 at a limit
            bend = corner(r2, h2, 2.0 * (r2 + h2) - problem.arm.spans[k])
            if bend.sine >= 0.0:
                best = hold_pitch(problem, view, floor, towards * (bend.cosine + 1j * bend.sine), best)
                best = hold_pitch(problem, view, floor, towards * (bend.cosine - 1j * bend.sine), best)
    if h2 > 1e-18:
        straight = unit(b * view.hand.conjugate())
        for k in range(2):  # hinge 2 at a limit: the forearm and the hand reach the rest
            turn_2 = problem.arm.ends_2[k]
            rest = view.reach - a * turn_2
            bend = corner(squared(b), h2, squared(rest))
            if bend.sine < 0.0:
                continue
            for side in range(2):
                y = bend.sine if side == 0 else -bend.sine
                turn_4 = straight * (bend.cosine + 1j * y)
                turn_23 = unit(rest * (b + view.hand * turn_4).conjugate())
                misses = _misses(view, floor, turn_23 * turn_4)
                best = offer(problem, view, misses, turn_2, turn_23 * turn_2.conjugate(), turn_4, best)
    for k in range(2):  # hinge 4 at a limit: forearm and hand are one link
        turn_4 = problem.arm.ends_4[k]
        link = b + view.hand * turn_4
        bend = corner(squared(a), squared(link), r2)
        if bend.sine < 0.0:
            continue
        straight = unit(a * link.conjugate())
        for side in range(2):
            y = bend.sine if side == 0 else -bend.sine
            turn_3 = straight * (bend.cosine + 1j * y)
            turn_2 = unit(view.reach * (a + link * turn_3).conjugate())
            misses = _misses(view, floor, turn_2 * turn_3 * turn_4)
            best = offer(problem, view, misses, turn_2, turn_3, turn_4, best)
    return best


def offer(
    problem: ArmProblem,
    view: GroupView,
    misses: Misses,
    turn_2: complex,
    turn_3: complex,
    turn_4: complex,
    best: Posture,
) -> Posture:
    """This posture where it is inside the limits and better than `best`, else `best`.

    turn_2, turn_3, turn_4: e^iq of the hinges 2, 3 and 4.
    """
    if not misses.first <= best.miss + SAME:
        return best
    as_good = misses.first > best.miss - SAME
    equal = as_good and misses.second > best.second - SAME
    longest = best.step + SLACK if equal and problem.elbow == 0.0 else INF  # a step that would be too long
    q2 = fitted(angle_of(turn_2), problem.arm.lower[1], problem.arm.upper[1], problem.now[1])
    d2 = abs(q2 - problem.now[1])
    if not d2 <= longest:  # nor is nan
        return best
    q3 = fitted(angle_of(turn_3), problem.arm.lower[2], problem.arm.upper[2], problem.now[2])
    d3 = abs(q3 - problem.now[2])
    if not d3 <= longest:
        return best
    q4 = fitted(angle_of(turn_4), problem.arm.lower[3], problem.arm.upper[3], problem.now[3])
    d4 = abs(q4 - problem.now[3])
    if not d4 <= longest:
        return best
    away = 0.0
    if problem.elbow != 0.0:
        height = elbow_height(problem.arm.upper_arm, problem.arm.forearm, problem.arm.waist_axis, q2, q3)
        if problem.elbow * height < 0.0:
            away = 1.0
    d1 = abs(view.q1 - problem.now[0])
    d5 = abs(view.q5 - problem.now[4])
    step = max(max(max(d1, d2), max(d3, d4)), d5)
    total = d1 + d2 + d3 + d4 + d5
    if as_good:  # then what comes next decides
        if misses.second > best.second + SAME:
            return best
        if misses.second > best.second - SAME:
            if away > best.elbow:
                return best
            longer = step > best.step + SLACK or (step > best.step - SLACK and total >= best.total)
            if away == best.elbow and longer:
                return best
    return Posture(misses.first, misses.second, away, step, total, view.q1, q2, q3, q4, view.q5)
