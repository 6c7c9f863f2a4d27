"""Closed form: a waist, two bones in a plane by the law of cosines, a wrist.

Source: the two-bone arm of any textbook, here with the half-angle form of the law of cosines (W. Kahan, "Miscalculating
area and angles of a needle-like triangle", 1986). With bones a and b, and their ends d apart, the bend t of the elbow
(0: stretched) is

    tan(t / 2) = sqrt( (a + b - d)(a + b + d) / ((d - |a - b|)(d + |a - b|)) )

where cos t = (d^2 - a^2 - b^2) / 2ab loses half of the digits near stretch, since cos is flat there.

It takes chains of: a waist (or none), two or three parallel hinges across it, a last hinge that rolls the tool (or
none). There are up to four postures for a tool at an angle: over the front or flipped over the back, elbow up or down.
Each is kept inside the limits, and the one with the least error, then nearest to q0, is the answer. Goals out of reach
get the arm stretched towards them. Where the angle of the tool cannot be had, the nearest one that can is looked for 5
degrees by 5, and then by halving; an angle that is free stays as it is. So does a roll that is free, or it is turned so
that a tip aside of its axis lies in the arm's plane.
"""

from __future__ import annotations

import math

import numpy as np

from ik_solver_ros.kinematics.arrays import Array, Vec
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.constants import INF, NAN, PI, SLACK, TWO_PI
from ik_solver_ros.kinematics.kernels import Row, copy, largest_step, room, tip_frame
from ik_solver_ros.kinematics.plane import angle_of, at_angle, size_of
from ik_solver_ros.kinematics.quaternion import add, angle_between, cross, dot, rotate, sub, turn
from ik_solver_ros.kinematics.waist_arm import elbow_height
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.problem import Problem, prepare
from ik_solver_ros.solvers.reference.two_bones import SHORTEST, TwoBones, two_bones_of
from ik_solver_ros.solvers.solution import Attempt, SolverOptions

try:
    import cython
except ImportError:
    from ik_solver_ros import uncompiled as cython  # type: ignore[no-redef]

FAN = math.radians(5.0)  # between the angles of the tool that are tried
HALVINGS = 30  # of the last step of that
SAME = 1e-7  # [m] or [rad] by which errors may differ and count as equal
ACROSS = (0.0, 0.0, 1.0)  # the plane of the parallel hinges


class Arm:
    """TwoBones as compiled code sees them."""

    def __init__(self, bones: TwoBones) -> None:
        self.origin = _vec(bones.origin)
        self.basis = [_vec(bones.basis[0]), _vec(bones.basis[1]), _vec(bones.basis[2])]
        self.waist_point, self.waist_axis = _vec(bones.waist_point), _vec(bones.waist_axis)
        self.upper_arm, self.forearm = bones.upper_arm, bones.forearm
        self.roll_point, self.roll_axis, self.offset = _vec(bones.roll_point), _vec(bones.roll_axis), _vec(bones.offset)
        self.tool, self.side = _vec(bones.tool), _vec(bones.side)
        self.waist, self.first, self.hinges, self.roll = bones.waist, bones.first, bones.hinges, bones.roll
        self.signs = [bones.signs[0], bones.signs[1], bones.signs[2]]
        self.up = self.waist_axis  # what is up for its elbow, in the frame of its plane
        if bones.waist < 0:
            self.up = (self.basis[0][2], self.basis[1][2], self.basis[2][2])


class Postures:
    """A problem for such an arm: what is tried, and the best posture so far."""

    def __init__(self, problem: Problem, arm: Arm) -> None:
        self.problem = problem
        self.arm = arm
        self.waists, self.rolls = room(0.0, 6), room(0.0, 6)  # angles [rad] that have the goal in the arm's plane
        self.planes = 0  # how many pairs of them
        self.free = 0.0  # [rad] the tool's angle where none is wanted
        self.best = Row(self.problem.start.values(self.problem.body.n))
        self.trial = Row(self.problem.start.values(self.problem.body.n))
        self.least, self.errors = room(INF, 5), room(0.0, 5)  # of `best` and `trial`, see `_judge`
        self.tried = 0  # how many postures were looked at


def _vec(v: Vec) -> tuple[float, float, float]:
    return float(v[0]), float(v[1]), float(v[2])


def analytic(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """The best of the closed form's postures. Raises UnsupportedChainError where the geometry has none."""
    arm = Arm(two_bones_of(chain))
    found = Postures(prepare(Problem(), chain.body, goal, q0.tolist(), options), arm)
    with cython.nogil:
        _solve(found)
    return Attempt(np.array(found.best.values(chain.n)), found.tried, 0)


def bend(a: float, b: float, d: float) -> float:
    """The bend [rad] of an elbow between bones a and b whose ends are d apart: 0 where they are too far, pi too near.

    Accurate to the last digits near stretch; the law of cosines by an arc cosine loses half of them there.
    """
    # As Kahan groups them, differences of neighbours first: they are exact where it matters.
    long = max(a, b)
    short = min(a, b)
    to_stretch = short - (d - long)
    to_fold = (d - long) + short
    return 2.0 * math.atan2(
        math.sqrt(max(to_stretch * (long + short + d), 0.0)), math.sqrt(max(to_fold * (d + long - short), 0.0))
    )


def _solve(found: Postures) -> None:
    """Fill in `found.best`: the posture with the least error, then the nearest to q0."""
    _find_planes(found)
    if found.problem.targets == 0:
        found.free = _tool_angle(found.arm, found.problem.start)
    # The tool's angle that is wanted, then as far from it as it must be, both ways.
    steps = int(PI / FAN) if found.arm.hinges == 3 else 0
    for step in range(steps + 2):
        in_line = step == steps + 1  # at last: the hand in line with the goal, to reach as far as may be
        reached = False
        for plane in range(found.planes):
            reached = _fan(found, plane, FAN, step, in_line) or reached
            if step > 0:
                reached = _fan(found, plane, -FAN, step, in_line) or reached
        if reached:
            break


def _fan(found: Postures, plane: int, way: float, step: int, in_line: bool) -> bool:
    """Try a tool that is so many steps of `way` [rad] aside, see `_offer`; where that does, the least that does."""
    if not _offer(found, plane, way * step, in_line):
        return False
    if step > 0 and not in_line:
        bad = way * (step - 1)
        good = way * step
        for _ in range(HALVINGS):
            middle = 0.5 * (bad + good)
            if _offer(found, plane, middle, False):
                good = middle
            else:
                bad = middle
    return True


def _find_planes(found: Postures) -> None:
    """Find the angles of the waist and the roll that have the goal in the arm's plane.

    A roll of nan is the one that a pose wants at the end. Where the tip lies aside of the roll's axis, it is in the
    plane at some rolls only: the wanted direction tells the waist then, and the tip's way across the plane the roll.
    """
    now = found.problem.start.at[found.arm.waist] if found.arm.waist >= 0 else 0.0
    to_goal = sub(_in_basis(found.arm, sub(found.problem.position, found.arm.origin)), found.arm.waist_point)
    aside = found.arm.roll >= 0 and dot(found.arm.offset, found.arm.offset) > SHORTEST * SHORTEST
    # Of a tip aside: its way across the plane is size cos(roll - middle).
    odd = cross(found.arm.roll_axis, found.arm.offset)[2]
    middle = math.atan2(odd, found.arm.offset[2])
    size = math.sqrt(found.arm.offset[2] * found.arm.offset[2] + odd * odd)
    if aside and found.problem.targets > 0 and found.arm.waist >= 0:
        wanted = _in_basis(found.arm, found.problem.wanted[0])
        waists = _nearest_roots(wanted[2], cross(wanted, found.arm.waist_axis)[2], 0.0, now)
        for k in range(2):
            waist = waists[0] if k == 0 else waists[1]
            if found.problem.targets == 2:
                _add_plane(found, waist, NAN)
                continue
            across = turn(to_goal, found.arm.waist_axis, -waist)[2] + found.arm.waist_point[2] - found.arm.roll_point[2]
            if abs(across) <= size:
                half = math.atan2(math.sqrt((size - across) * (size + across)), across)
                _add_plane(found, waist, middle + half)
                _add_plane(found, waist, middle - half)
    # As the roll is; then, for a tip aside of its axis, turned so that the tip's way from it lies in the plane.
    for way in range(3 if aside and found.problem.targets == 0 else 1):
        as_it_is = found.problem.start.at[found.arm.roll] if found.arm.roll >= 0 else 0.0
        roll = as_it_is if way == 0 else middle + (1.5 - way) * PI
        across = _tip(found.arm, roll)[2] - found.arm.waist_point[2]
        if found.problem.targets == 2 and not aside:
            roll = NAN
        if found.arm.waist < 0:
            _add_plane(found, 0.0, roll)
            continue
        waists = _nearest_roots(to_goal[2], cross(to_goal, found.arm.waist_axis)[2], across, now)
        _add_plane(found, waists[0], roll)
        _add_plane(found, waists[1], roll)


def _add_plane(found: Postures, waist: float, roll: float) -> None:
    found.waists[found.planes] = waist
    found.rolls[found.planes] = roll
    found.planes += 1


def _nearest_roots(even: float, odd: float, value: float, otherwise: float) -> tuple[float, float]:
    """The two angles t with even cos t + odd sin t = value, or as near as can be; `otherwise` where any t will do."""
    size = math.sqrt(even * even + odd * odd)
    if size < SHORTEST:
        return otherwise, otherwise
    middle = math.atan2(odd, even)
    half = math.atan2(math.sqrt(max((size - value) * (size + value), 0.0)), value)
    return middle + half, middle - half


def _offer(found: Postures, plane: int, aside: float, in_line: bool) -> bool:
    """Look at both elbows of a tool that is `aside` [rad] from where it shall point; whether one holds the position.

    plane: which angles of the waist and the roll. in_line: the hand points along the line to the goal instead.
    """
    waist = found.waists[plane]
    roll = found.rolls[plane]
    i = found.arm.first
    p = _in_plane(found.arm, _in_basis(found.arm, sub(found.problem.position, found.arm.origin)), waist, True)
    point = p[0] + 1j * p[1]
    angle = found.free + aside
    if found.problem.targets > 0:
        wanted = _in_plane(found.arm, _in_basis(found.arm, found.problem.wanted[0]), waist, False)
        if math.sqrt(wanted[0] * wanted[0] + wanted[1] * wanted[1]) > SHORTEST:
            angle = math.atan2(wanted[1], wanted[0]) - math.atan2(found.arm.tool[1], found.arm.tool[0]) + aside
    if roll != roll:
        roll = _roll(found, waist, angle) if found.arm.roll >= 0 and found.arm.hinges == 3 else 0.0
    tip = _tip(found.arm, roll)
    hand = tip[0] + 1j * tip[1]
    if in_line:
        angle = angle_of(point) - angle_of(hand)
    a = found.arm.upper_arm
    b = found.arm.forearm
    wrist = point
    if found.arm.hinges == 3:
        wrist = point - hand * at_angle(angle)
    else:
        b = hand
    bent = bend(size_of(a), size_of(b), size_of(wrist))
    straight = angle_of(a) - angle_of(b)
    if found.arm.waist >= 0:
        found.trial.at[found.arm.waist] = _inside(found.problem, found.arm.waist, waist)
    if found.arm.roll >= 0:
        found.trial.at[found.arm.roll] = _inside(found.problem, found.arm.roll, roll)
    holds = False
    for k in range(2):
        q3 = straight + (1.0 - 2.0 * k) * bent
        found.trial.at[i + 1] = _inside(found.problem, i + 1, found.arm.signs[1] * q3)
        q3 = found.arm.signs[1] * found.trial.at[i + 1]
        q2 = angle_of(wrist) - angle_of(a + b * at_angle(q3))
        found.trial.at[i] = _inside(found.problem, i, found.arm.signs[0] * q2)
        q2 = found.arm.signs[0] * found.trial.at[i]
        if found.arm.hinges == 3:
            found.trial.at[i + 2] = _inside(found.problem, i + 2, found.arm.signs[2] * (angle - q2 - q3))
        wrong = found.problem.elbow * elbow_height(a, b, found.arm.up, q2, q3) < 0.0
        holds = _judge(found, wrong) or holds
    return holds


def _judge(found: Postures, wrong: bool) -> bool:
    """Keep the posture that is tried where it is better; whether it holds the position. `wrong`: its elbow is.

    Its errors, the more important ones first: position [m], approach and roll [rad], elbow, largest step [rad].
    """
    found.tried += 1
    p, r = tip_frame(found.problem.body, found.trial)
    offset = sub(found.problem.position, p)
    found.errors[0] = math.sqrt(dot(offset, offset))
    if found.problem.targets > 0:
        found.errors[1] = angle_between(rotate(r, found.problem.tool[0]), found.problem.wanted[0])
    if found.problem.targets > 1:
        found.errors[2] = angle_between(rotate(r, found.problem.tool[1]), found.problem.wanted[1])
    found.errors[3] = 1.0 if wrong else 0.0
    found.errors[4] = largest_step(found.trial, found.problem.start, found.problem.body.n)
    for k in range(5):
        if found.least[k] == INF or abs(found.errors[k] - found.least[k]) > SAME:
            if found.errors[k] < found.least[k]:
                copy(found.trial, found.best, found.problem.body.n)
                for m in range(5):
                    found.least[m] = found.errors[m]
            break
    return found.errors[0] <= SAME


def _roll(found: Postures, waist: float, angle: float) -> float:
    """The last joint where the arm's plane and the tool's angle are settled."""
    side = _in_plane(found.arm, _in_basis(found.arm, found.problem.wanted[1]), waist, False)
    side = turn(side, ACROSS, -angle)
    return math.atan2(dot(found.arm.roll_axis, cross(found.arm.side, side)), dot(found.arm.side, side))


def _tip(arm: Arm, roll: float) -> tuple[float, float, float]:
    """The tip from the last parallel hinge, in the plane's frame, at this roll."""
    return add(arm.roll_point, turn(arm.offset, arm.roll_axis, roll))


def _in_basis(arm: Arm, v: Vec) -> tuple[float, float, float]:
    """A vector of the base frame in the frame of the arm's plane, with the waist at zero."""
    return dot(arm.basis[0], v), dot(arm.basis[1], v), dot(arm.basis[2], v)


def _in_plane(arm: Arm, v: Vec, waist: float, is_place: bool) -> tuple[float, float, float]:
    """The same with the waist at this angle [rad], of a vector of `_in_basis`: a place, or a direction."""
    if arm.waist < 0:
        return v[0], v[1], v[2]
    if is_place:
        return add(turn(sub(v, arm.waist_point), arm.waist_axis, -waist), arm.waist_point)
    return turn(v, arm.waist_axis, -waist)


def _inside(problem: Problem, i: int, value: float) -> float:
    """The value of joint i [rad] on the turn nearest to q0 that its limits allow; at the nearer limit where none is."""
    low = problem.body.lower[i]
    high = problem.body.upper[i]
    value += TWO_PI * math.floor((problem.start.at[i] - value) / TWO_PI + 0.5)
    if value < low:
        value += TWO_PI * math.ceil((low - SLACK - value) / TWO_PI)
    elif value > high:
        value -= TWO_PI * math.floor((value - low + SLACK) / TWO_PI)
    if value > high + SLACK:  # between the limits' far sides
        return high if value - high < low - (value - TWO_PI) else low
    return min(max(value, low), high)


def _tool_angle(arm: Arm, q: Row) -> float:
    """How far [rad] the parallel hinges turn the tool at q, altogether."""
    angle = 0.0
    for k in range(arm.hinges):
        angle += arm.signs[k] * q.at[arm.first + k]
    return angle
