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
from typing import NamedTuple

import numpy as np

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Array, ChainArrays, tip_frame
from ik_solver_ros.kinematics.quaternion import add, angle_between, cross, dot, rotate, sub, turn
from ik_solver_ros.kinematics.waist_arm import elbow_height, in_basis
from ik_solver_ros.solvers.goal import Goal, GoalArrays
from ik_solver_ros.solvers.reference.two_bones import SHORTEST, TwoBones, two_bones_of
from ik_solver_ros.solvers.solution import ELBOW, Attempt, SolverOptions

FAN = math.radians(5.0)  # between the angles of the tool that are tried
HALVINGS = 30  # of the last step of that
TURN = 2.0 * math.pi
SAME = 1e-7  # [m] or [rad] by which errors may differ and count as equal
SLACK = 1e-9  # [rad] by which an angle may miss its limits through rounding; it is clamped


class Problem(NamedTuple):
    """A goal for such an arm."""

    chain: ChainArrays
    arm: TwoBones
    goal: GoalArrays
    q0: Array  # (n,) inside the limits
    elbow: float  # 1 prefers it up, -1 down, 0 does not care


class Best(NamedTuple):
    """Room for the best posture so far, and for the one that is tried."""

    q: Array  # (n,)
    score: Array  # (5,) its errors, the more important ones first: see `_judge`
    trial: Array  # (n,)
    tried: Array  # (1,) how many postures were looked at


def analytic(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """The best of the closed form's postures. Raises UnsupportedChainError where the geometry has none."""
    arm, start = two_bones_of(chain), chain.clamped(q0)
    q, tried = _solved(Problem(chain.arrays, arm, goal.arrays(chain), start, ELBOW[options.elbow]))
    return Attempt(q, tried, 0)


@njit
def bend(a, b, d):
    """The bend [rad] of an elbow between bones a and b whose ends are d apart: 0 where they are too far, pi too near.

    Accurate to the last digits near stretch; the law of cosines by an arc cosine loses half of them there.
    """
    # As Kahan groups them, differences of neighbours first: they are exact where it matters.
    long, short = max(a, b), min(a, b)
    to_stretch, to_fold = short - (d - long), (d - long) + short
    return 2.0 * math.atan2(
        math.sqrt(max(to_stretch * (long + short + d), 0.0)), math.sqrt(max(to_fold * (d + long - short), 0.0))
    )


@njit
def _solved(problem):
    """(q, postures looked at): the one with the least error, then the nearest to q0."""
    arm, goal, q0 = problem.arm, problem.goal, problem.q0
    best = Best(q0.copy(), np.full(5, math.inf), np.empty(q0.shape[0]), np.zeros(1, dtype=np.int64))
    planes = np.empty((6, 2))
    count = _planes(arm, goal, q0, planes)
    free = _tool_angle(arm, q0) if goal.targets == 0 else 0.0
    # The tool's angle that is wanted, then as far from it as it must be, both ways.
    steps = int(math.pi / FAN) if arm.hinges == 3 else 0
    for step in range(steps + 2):
        in_line = step == steps + 1  # at last: the hand in line with the goal, to reach as far as may be
        found = False
        for k in range(count):
            plane = planes[k, 0], planes[k, 1]
            for way in (1.0, -1.0):
                reached = _offer(problem, plane, free, way * FAN * step, in_line, best)
                if reached and step > 0 and not in_line:
                    bad, good = way * FAN * (step - 1), way * FAN * step
                    for _ in range(HALVINGS):
                        middle = 0.5 * (bad + good)
                        if _offer(problem, plane, free, middle, False, best):
                            good = middle
                        else:
                            bad = middle
                found = found or reached
                if step == 0:
                    break
        if found:
            break
    return best.q, best.tried[0]


@njit
def _planes(arm, goal, q0, planes):
    """Fill `planes` (6, 2), angles of the waist and the roll, that have the goal in the arm's plane; returns how many.

    A roll of nan is the one that a pose wants at the end. Where the tip lies aside of the roll's axis, it is in the
    plane at some rolls only: the wanted direction tells the waist then, and the tip's way across the plane the roll.
    """
    roll = q0[arm.roll] if arm.roll >= 0 else 0.0
    to_goal = sub(in_basis(arm.basis, sub(goal.position, arm.origin)), arm.waist_point)
    aside = arm.roll >= 0 and dot(arm.offset, arm.offset) > SHORTEST * SHORTEST
    count = 0
    if aside and goal.targets > 0 and arm.waist >= 0:
        wanted = in_basis(arm.basis, goal.wanted[0])
        even, odd = arm.offset[2], cross(arm.roll_axis, arm.offset)[2]
        middle, size = math.atan2(odd, even), math.hypot(even, odd)
        waists = _nearest_roots(wanted[2], cross(wanted, arm.waist_axis)[2], 0.0, q0[arm.waist])
        for k in range(2):
            if goal.targets == 2:
                planes[count, 0], planes[count, 1] = waists[k], math.nan
                count += 1
                continue
            across = turn(to_goal, arm.waist_axis, -waists[k])[2] + arm.waist_point[2] - arm.roll_point[2]
            if abs(across) <= size:
                for sign in (1.0, -1.0):
                    half = math.atan2(math.sqrt((size - across) * (size + across)), across)
                    planes[count, 0], planes[count, 1] = waists[k], middle + sign * half
                    count += 1
    if goal.targets == 2 and not aside:
        roll = math.nan
    # As the roll is; then, for a tip aside of its axis, turned so that the tip's way from it lies in the plane.
    for way in range(3 if aside and goal.targets == 0 else 1):
        if way > 0:
            even, odd = arm.offset[2], cross(arm.roll_axis, arm.offset)[2]
            roll = math.atan2(odd, even) + (1.5 - way) * math.pi
        across = _tip(arm, q0[arm.roll] if math.isnan(roll) else roll)[2] - arm.waist_point[2]
        waists = (0.0, 0.0)
        if arm.waist >= 0:
            waists = _nearest_roots(to_goal[2], cross(to_goal, arm.waist_axis)[2], across, q0[arm.waist])
        for k in range(2 if arm.waist >= 0 else 1):
            planes[count, 0], planes[count, 1] = waists[k], roll
            count += 1
    return count


@njit
def _nearest_roots(even, odd, value, otherwise):
    """The two angles t with even cos t + odd sin t = value, or as near as can be; `otherwise` where any t will do."""
    size = math.hypot(even, odd)
    if size < SHORTEST:
        return otherwise, otherwise
    middle, half = math.atan2(odd, even), math.atan2(math.sqrt(max((size - value) * (size + value), 0.0)), value)
    return middle + half, middle - half


@njit
def _offer(problem, plane, free, aside, in_line, best):
    """Look at both elbows of a tool that is `aside` [rad] from where it shall point; whether one holds the position.

    plane: the angles of the waist and the roll [rad]. free: the tool's angle where none is wanted [rad]. in_line: the
    hand points along the line to the goal instead.
    """
    chain, arm, goal, q0, elbow = problem
    waist, roll = plane
    trial = best.trial
    u = arm.waist_axis
    offset = sub(in_basis(arm.basis, sub(goal.position, arm.origin)), arm.waist_point)
    p = add(turn(offset, u, -waist), arm.waist_point) if arm.waist >= 0 else add(offset, arm.waist_point)
    point = complex(p[0], p[1])
    angle = free + aside
    if goal.targets > 0:
        wanted = in_basis(arm.basis, goal.wanted[0])
        if arm.waist >= 0:
            wanted = turn(wanted, u, -waist)
        if math.hypot(wanted[0], wanted[1]) > SHORTEST:
            angle = math.atan2(wanted[1], wanted[0]) - math.atan2(arm.tool[1], arm.tool[0]) + aside
    if math.isnan(roll):
        roll = _roll(arm, goal, waist, angle) if arm.roll >= 0 and arm.hinges == 3 else 0.0
    tip = _tip(arm, roll)
    hand = complex(tip[0], tip[1])
    if in_line:
        angle = math.atan2(point.imag, point.real) - math.atan2(hand.imag, hand.real)
    a, b = arm.upper_arm, arm.forearm if arm.hinges == 3 else hand
    wrist = point
    if arm.hinges == 3:
        wrist = point - hand * complex(math.cos(angle), math.sin(angle))
    bent = bend(abs(a), abs(b), abs(wrist))
    straight = math.atan2(a.imag, a.real) - math.atan2(b.imag, b.real)
    i, found = arm.first, False
    if arm.waist >= 0:
        trial[arm.waist] = _inside(chain, arm.waist, waist, q0)
    if arm.roll >= 0:
        trial[arm.roll] = _inside(chain, arm.roll, roll, q0)
    for side in (1.0, -1.0):
        trial[i + 1] = _inside(chain, i + 1, arm.signs[1] * (straight + side * bent), q0)
        q3 = arm.signs[1] * trial[i + 1]
        reached = a + b * complex(math.cos(q3), math.sin(q3))
        q2 = math.atan2(wrist.imag, wrist.real) - math.atan2(reached.imag, reached.real)
        trial[i] = _inside(chain, i, arm.signs[0] * q2, q0)
        q2 = arm.signs[0] * trial[i]
        if arm.hinges == 3:
            trial[i + 2] = _inside(chain, i + 2, arm.signs[2] * (angle - q2 - q3), q0)
        best.tried[0] += 1
        up = u if arm.waist >= 0 else (arm.basis[0][2], arm.basis[1][2], arm.basis[2][2])
        wrong = elbow != 0.0 and elbow * elbow_height(a, b, up, q2, q3) < 0.0
        found = _judge(problem, wrong, best) or found
    return found


@njit
def _judge(problem, wrong, best):
    """Keep the posture that is tried where it is better; whether it holds the position. `wrong`: its elbow is."""
    goal, trial, score = problem.goal, best.trial, best.score
    p, r = tip_frame(problem.chain, trial)
    offset = sub(goal.position, p)
    distance = math.sqrt(dot(offset, offset))
    approach, roll = 0.0, 0.0
    if goal.targets > 0:
        approach = angle_between(rotate(r, goal.tool[0]), goal.wanted[0])
    if goal.targets > 1:
        roll = angle_between(rotate(r, goal.tool[1]), goal.wanted[1])
    now = (distance, approach, roll, 1.0 if wrong else 0.0, np.max(np.abs(trial - problem.q0)))
    for k in range(5):
        if score[k] == math.inf or abs(now[k] - score[k]) > SAME:
            if now[k] < score[k]:
                best.q[:] = trial
                for m in range(5):
                    score[m] = now[m]
            break
    return distance <= SAME


@njit
def _roll(arm, goal, waist, angle):
    """The last joint where the arm's plane and the tool's angle are settled."""
    side = in_basis(arm.basis, goal.wanted[1])
    if arm.waist >= 0:
        side = turn(side, arm.waist_axis, -waist)
    side = turn(side, (0.0, 0.0, 1.0), -angle)
    return math.atan2(dot(arm.roll_axis, cross(arm.side, side)), dot(arm.side, side))


@njit
def _tip(arm, roll):
    """The tip from the last parallel hinge, in the plane's frame, at this roll."""
    return add(arm.roll_point, turn(arm.offset, arm.roll_axis, roll))


@njit
def _inside(chain, i, value, q0):
    """The value of joint i [rad] on the turn nearest to q0 that its limits allow; at the nearer limit where none is."""
    low, high = chain.lower[i], chain.upper[i]
    value += TURN * math.floor((q0[i] - value) / TURN + 0.5)
    if value < low:
        value += TURN * math.ceil((low - SLACK - value) / TURN)
    elif value > high:
        value -= TURN * math.floor((value - low + SLACK) / TURN)
    if value > high + SLACK:  # between the limits' far sides
        return high if value - high < low - (value - TURN) else low
    return min(max(value, low), high)


@njit
def _tool_angle(arm, q):
    """How far [rad] the parallel hinges turn the tool at q, altogether."""
    angle = 0.0
    for k in range(arm.hinges):
        angle += arm.signs[k] * q[arm.first + k]
    return angle
