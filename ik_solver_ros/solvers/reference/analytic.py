"""Closed form: a waist, two bones in a plane by the law of cosines, a wrist.

Source: the two-bone arm of any textbook, here with the half-angle form of the law of cosines (W. Kahan, "Miscalculating
area and angles of a needle-like triangle", 1986). With bones a and b, and their ends d apart, the bend t of the elbow
(0: stretched) is

    tan(t / 2) = sqrt( (a + b - d)(a + b + d) / ((d - |a - b|)(d + |a - b|)) )

where cos t = (d^2 - a^2 - b^2) / 2ab loses half of the digits near stretch, since cos is flat there.

It takes chains of: a waist (or none), two or three parallel hinges across it, a last hinge that rolls the tool (or
none). There are up to four postures for a tool at an angle: over the front or flipped over the back, elbow up or down.
Each is kept inside the limits, and the one that misses least, then nearest to q0, is the answer. Goals out of reach get
the arm stretched towards them. Where the angle of the tool cannot be had, the nearest one that can is looked for 5
degrees by 5, and then by halving; an angle that is free stays as it is. So does a roll that is free, or it is turned so
that a tip aside of its axis lies in the arm's plane.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ik_solver_ros.errors import UnsupportedChainError
from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import PRISMATIC, Array, joint_frames, tip_frame
from ik_solver_ros.kinematics.quaternion import add, angle_between, cross, dot, rotate, sub, turn
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.solution import ELBOW, Attempt, SolverOptions

PARALLEL = 1e-4  # [rad] axes that differ by less are parallel, those that differ from a right angle by less are across
SHORTEST = 1e-6  # [m] a bone, or a lever, shorter than this is none
FAN = math.radians(5.0)  # between the angles of the tool that are tried
HALVINGS = 30  # of the last step of that
TURN = 2.0 * math.pi
SAME = 1e-7  # [m] or [rad] by which misses may differ and count as equal
SLACK = 1e-9  # [rad] by which an angle may miss its limits through rounding; it is clamped


class TwoBones(NamedTuple):
    """Such an arm at its zero posture, in the frame of its plane: x and y in it, as complex numbers, z across."""

    origin: tuple  # of that frame, on the first parallel hinge, in the base frame [m]
    basis: tuple  # its axes in the base frame
    waist_point: tuple  # on the waist
    waist_axis: tuple  # zero where there is no waist
    upper_arm: complex  # from the first parallel hinge to the second [m]
    forearm: complex  # from there to the third, or 0 where that has none, and the tip lies at `hand`
    roll_point: tuple  # the tip [m] from the last parallel hinge: a point on the axis of the roll...
    roll_axis: tuple  # ...whose direction is zero where there is none...
    offset: tuple  # ...and the tip's way from it
    tool: tuple  # where the tool points
    side: tuple  # across the tool
    waist: int  # index of the joint, -1 without
    first: int  # of the first parallel hinge
    hinges: int  # how many are parallel, 2 or 3
    roll: int  # index of the joint, -1 without
    signs: tuple  # of three parallel hinges: angle = sign * joint value


def analytic(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """The best of the closed form's postures. Raises UnsupportedChainError where the geometry has none."""
    arm, start = two_bones_of(chain), chain.clamped(q0)
    q, tried = _best(chain.arrays, arm, goal.arrays(chain), start, ELBOW[options.elbow])
    return Attempt(q, tried, 0)


@lru_cache(maxsize=32)
def two_bones_of(chain: Chain) -> TwoBones:
    """The constants of a chain that is such an arm. Raises UnsupportedChainError, saying what is not."""

    def refuse(why: str) -> UnsupportedChainError:
        return UnsupportedChainError("analytic", chain, why)

    if (chain.arrays.kind == PRISMATIC).any():
        raise refuse("it has a sliding joint")
    n = chain.n
    origins, axes = np.empty((n, 3)), np.empty((n, 3))
    tip_p, tip_q = joint_frames(chain.arrays, np.zeros(n), np.empty((n, 4)), origins, axes)
    tip = np.array(tip_p)
    parallel = [float(np.linalg.norm(np.cross(axes[i], axes[i + 1]))) < PARALLEL for i in range(n - 1)]
    if True not in parallel:
        raise refuse("no two neighbouring hinges are parallel")
    first = parallel.index(True)
    hinges = 1 + [*parallel[first:], False].index(False)
    last = first + hinges - 1
    if hinges > 3 or first > 1 or n - 1 - last > 1:
        raise refuse(
            f"it has {first} hinges, then {hinges} parallel ones, then {n - 1 - last}; at most one, two or three, and "
            "one have a closed form here"
        )
    z = axes[first]
    if first == 1 and abs(float(axes[0] @ z)) > PARALLEL:
        raise refuse(f"the waist {chain.joint_names[0]} is not across the parallel hinges")
    roll = last + 1 if last + 1 < n else -1
    tools = [np.array(rotate(tip_q, axis)) for axis in chain.tool]
    if roll >= 0 and np.linalg.norm(np.cross(axes[roll], tools[0])) > PARALLEL:
        raise refuse(f"its last hinge {chain.joint_names[roll]} bends the tool where it would have to roll it")
    if hinges == 3 and abs(float(tools[0] @ z)) > PARALLEL:
        raise refuse("the tool does not point along the plane of the parallel hinges")
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    basis = np.array([x, np.cross(z, x), z])
    at = (origins - origins[first]) @ basis.T
    ends = at[first : last + 1, 0] + 1j * at[first : last + 1, 1]
    upper_arm = complex(ends[1] - ends[0])
    forearm = complex(ends[2] - ends[1]) if hinges == 3 else 0j
    end = basis @ (tip - origins[last])
    end[2] = (basis @ (tip - origins[first]))[2]  # where along its axis a parallel hinge lies does not matter
    axis = basis @ axes[roll] if roll >= 0 else np.zeros(3)
    on_axis = end.copy()
    if roll >= 0:
        foot = basis @ (origins[roll] - tip)
        on_axis += foot - axis * (axis @ foot)
    if abs(upper_arm) < SHORTEST or (abs(forearm) if hinges == 3 else np.linalg.norm(end[:2])) < SHORTEST:
        raise refuse("one of its two bones has no length")
    signs = [float(np.sign(axes[i] @ z)) for i in range(first, last + 1)] + [1.0] * (3 - hinges)
    return TwoBones(
        tuple(origins[first]),
        tuple(map(tuple, basis)),
        tuple(at[0]) if first else (0.0, 0.0, 0.0),
        tuple(basis @ axes[0]) if first else (0.0, 0.0, 0.0),
        upper_arm,
        forearm,
        tuple(on_axis),
        tuple(axis),
        tuple(end - on_axis),
        tuple(basis @ tools[0]),
        tuple(basis @ tools[1]),
        0 if first else -1,
        first,
        hinges,
        roll,
        tuple(signs),
    )


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
def _best(chain, arm, goal, q0, elbow):
    """(q, postures looked at): the one that misses least, then is nearest to q0."""
    best, tried, score = q0.copy(), 0, np.full(5, math.inf)
    planes, trial = np.empty((6, 2)), np.empty(q0.shape[0])
    count = _planes(arm, goal, q0, planes)
    free = _tool_angle(arm, q0) if goal.targets == 0 else 0.0
    # The tool's angle that is wanted, then as far from it as it must be, both ways.
    steps = int(math.pi / FAN) if arm.hinges == 3 else 0
    for step in range(steps + 2):
        towards = step == steps + 1  # at last: the hand in line with the goal, to reach as far as may be
        found = False
        for k in range(count):
            for way in (1.0, -1.0):
                fixed = elbow, planes[k, 0], planes[k, 1], free
                here, tried = _offer(chain, arm, goal, q0, fixed, way * FAN * step, towards, trial, best, score, tried)
                if here and step > 0 and not towards:
                    bad, good = way * FAN * (step - 1), way * FAN * step
                    for _ in range(HALVINGS):
                        middle = 0.5 * (bad + good)
                        held, tried = _offer(chain, arm, goal, q0, fixed, middle, False, trial, best, score, tried)
                        if held:
                            good = middle
                        else:
                            bad = middle
                found = found or here
                if step == 0:
                    break
        if found:
            break
    return best, tried


@njit
def _planes(arm, goal, q0, planes):
    """Fill `planes` (6, 2), angles of the waist and the roll, that have the goal in the arm's plane; returns how many.

    A roll of nan is the one that a pose wants at the end. Where the tip lies aside of the roll's axis, it is in the
    plane at some rolls only: the wanted direction tells the waist then, and the tip's way across the plane the roll.
    """
    roll = q0[arm.roll] if arm.roll >= 0 else 0.0
    to_goal = sub(_to_plane(arm, sub(goal.position, arm.origin)), arm.waist_point)
    aside = arm.roll >= 0 and dot(arm.offset, arm.offset) > SHORTEST * SHORTEST
    count = 0
    if aside and goal.targets > 0 and arm.waist >= 0:
        wanted = _to_plane(arm, goal.wanted[0])
        even, odd = arm.offset[2], cross(arm.roll_axis, arm.offset)[2]
        middle, size = math.atan2(odd, even), math.hypot(even, odd)
        waists = _solved(wanted[2], cross(wanted, arm.waist_axis)[2], 0.0, q0[arm.waist])
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
    for way in range(
        3 if aside and goal.targets == 0 else 1
    ):  # as the roll is; with the tip's way from it in the plane
        if way > 0:
            even, odd = arm.offset[2], cross(arm.roll_axis, arm.offset)[2]
            roll = math.atan2(odd, even) + (1.5 - way) * math.pi
        across = _tip(arm, q0[arm.roll] if math.isnan(roll) else roll)[2] - arm.waist_point[2]
        waists = (0.0, 0.0)
        if arm.waist >= 0:
            waists = _solved(to_goal[2], cross(to_goal, arm.waist_axis)[2], across, q0[arm.waist])
        for k in range(2 if arm.waist >= 0 else 1):
            planes[count, 0], planes[count, 1] = waists[k], roll
            count += 1
    return count


@njit
def _solved(even, odd, value, otherwise):
    """The two angles t with even cos t + odd sin t = value, or as near as can be; `otherwise` where any t will do."""
    size = math.hypot(even, odd)
    if size < SHORTEST:
        return otherwise, otherwise
    middle, half = math.atan2(odd, even), math.atan2(math.sqrt(max((size - value) * (size + value), 0.0)), value)
    return middle + half, middle - half


@njit
def _offer(chain, arm, goal, q0, fixed, aside, towards, trial, best, score, tried):
    """Look at both elbows of a tool that is `aside` [rad] from where it shall point; whether one holds the position."""
    elbow, waist, roll, free = fixed
    u = arm.waist_axis
    offset = sub(_to_plane(arm, sub(goal.position, arm.origin)), arm.waist_point)
    p = add(turn(offset, u, -waist), arm.waist_point) if arm.waist >= 0 else add(offset, arm.waist_point)
    point = complex(p[0], p[1])
    angle = free + aside
    if goal.targets > 0:
        wanted = _to_plane(arm, goal.wanted[0])
        if arm.waist >= 0:
            wanted = turn(wanted, u, -waist)
        if math.hypot(wanted[0], wanted[1]) > SHORTEST:
            angle = math.atan2(wanted[1], wanted[0]) - math.atan2(arm.tool[1], arm.tool[0]) + aside
    if math.isnan(roll):
        roll = _roll(arm, goal, waist, angle) if arm.roll >= 0 and arm.hinges == 3 else 0.0
    tip = _tip(arm, roll)
    hand = complex(tip[0], tip[1])
    if towards:
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
        tried += 1
        wrong = elbow != 0.0 and elbow * _height(arm, a, b, q2, q3) < 0.0
        found = _judge(chain, goal, q0, wrong, trial, best, score) or found
    return found, tried


@njit
def _judge(chain, goal, q0, wrong, trial, best, score):
    """Keep a posture that is better than the best; whether it holds the position. `wrong`: its elbow is."""
    p, r = tip_frame(chain, trial)
    off = sub(goal.position, p)
    miss = math.sqrt(dot(off, off))
    astray, rolled = 0.0, 0.0
    if goal.targets > 0:
        astray = angle_between(rotate(r, goal.tool[0]), goal.wanted[0])
    if goal.targets > 1:
        rolled = angle_between(rotate(r, goal.tool[1]), goal.wanted[1])
    now = (miss, astray, rolled, 1.0 if wrong else 0.0, np.max(np.abs(trial - q0)))
    for k in range(5):
        if score[k] == math.inf or abs(now[k] - score[k]) > SAME:
            if now[k] < score[k]:
                best[:] = trial
                for m in range(5):
                    score[m] = now[m]
            break
    return miss <= SAME


@njit
def _height(arm, a, b, q2, q3):
    """Positive where the elbow is above the line to the wrist; up is along the waist, or the base's z."""
    up = arm.waist_axis if arm.waist >= 0 else (arm.basis[0][2], arm.basis[1][2], arm.basis[2][2])
    elbow = a * complex(math.cos(q2), math.sin(q2))
    wrist = elbow + b * complex(math.cos(q2 + q3), math.sin(q2 + q3))
    return (wrist.real * elbow.imag - wrist.imag * elbow.real) * (wrist.real * up[1] - wrist.imag * up[0])


@njit
def _roll(arm, goal, waist, angle):
    """The last joint where the arm's plane and the tool's angle are settled."""
    side = _to_plane(arm, goal.wanted[1])
    if arm.waist >= 0:
        side = turn(side, arm.waist_axis, -waist)
    side = turn(side, (0.0, 0.0, 1.0), -angle)
    return math.atan2(dot(arm.roll_axis, cross(arm.side, side)), dot(arm.side, side))


@njit
def _tip(arm, roll):
    """The tip from the last parallel hinge, in the plane's frame, at this roll."""
    return add(arm.roll_point, turn(arm.offset, arm.roll_axis, roll))


@njit
def _to_plane(arm, v):
    return dot(arm.basis[0], v), dot(arm.basis[1], v), dot(arm.basis[2], v)


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
