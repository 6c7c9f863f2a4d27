"""Three parallel hinges as one joint of CCDIK, in closed form: the best posture with the tip in place.

With the angles of the waist and of the last hinge given, the group 2, 3, 4 is a planar arm that must bring the hand to
a point; only its pitch t = q2 + q3 + q4 is free. The tool's direction meets the wanted one with the cosine
m0 + |m| cos(t - t*), so the best pitch is t* where the arm can hold it, else the nearest one at which the arm can go no
farther: a hinge at its limit, or the first two links in line. Each is a triangle of two links (docs/waist_arm.md).

Angles are unit complex numbers e^iq until a posture is worth its limits' check: no sine or arcus is spent on the rest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.quaternion import cross
from ik_solver_ros.kinematics.waist_arm import JOINTS, SLACK, Target, WaistArm, at, elbow_height, fitted, target, turned

EXACT = 1e-5  # [rad] a closed form's error, from the rounding of a URDF's numbers; a descent mends it
SAME = 1e-7  # [rad] errors that differ by less are equal
ANY_APPROACH = -1.0  # a `floor` that asks for the nearest approach instead of the least roll...
BEST_PITCH_ONLY = -2.0  # ...and one that asks for t* alone, where only an exact approach is worth having

# The best posture so far is an array: its errors [rad], the more important one first, and its five angles.
# ERROR: the approach's chord; or, where the least roll is asked for, the roll, and SECONDARY the chord. ELBOW: 0 as
# preferred, 1 not. STEP, SUM: the largest change of a joint, and of all of them.
ERROR, SECONDARY, ELBOW, STEP, SUM, ANGLES = 0, 1, 2, 3, 4, 5


class ArmProblem(NamedTuple):
    """A goal for an arm at q0, and what is preferred."""

    arm: WaistArm
    goal: Target
    now: tuple  # the five angles of q0, to stay near to
    elbow: float  # 1 prefers it up, -1 down, 0 does not care


class Sinusoid(NamedTuple):
    """The scalar product of two vectors as the pitch t changes it: mean + Re(swing e^-it)."""

    mean: float
    swing: complex


class GroupView(NamedTuple):
    """A problem as the group of hinges sees it, at given angles of the waist and the last hinge."""

    q1: float
    q5: float
    reach: complex  # the tip from hinge 2 [m]
    hand: complex  # the tip from hinge 4, at pitch 0
    match: Sinusoid  # cosine of the approach error
    sine: Sinusoid  # of the roll error; this and the next times 1 + match
    cosine: Sinusoid


@njit
def arm_problem(arm, goal, start, elbow):
    """The ArmProblem of a goal (GoalArrays) for a WaistArm at `start`."""
    s = arm.sign
    now = (s[0] * start[0], s[1] * start[1], s[2] * start[2], s[3] * start[3], s[4] * start[4])
    return ArmProblem(arm, target(arm, goal), now, elbow)


@njit
def no_posture():
    """A record of no posture."""
    best = np.zeros(ANGLES + JOINTS)
    best[ERROR] = math.inf
    return best


@njit
def best_pitch(problem, q1, q5, floor, best):
    """Improve `best` by the best posture at these angles of the waist and the last hinge.

    floor: ANY_APPROACH or BEST_PITCH_ONLY for the nearest approach, else the chord that it may have for the sake of the
    least roll.
    """
    rolls = floor >= 0.0
    now = problem.now
    longer = max(abs(q1 - now[0]), abs(q5 - now[4])) > best[STEP] + SLACK
    if longer and best[ERROR] <= SAME and best[SECONDARY] <= SAME and problem.elbow == 0.0:
        return  # only a shorter way would be better
    view = group_view(problem, q1, q5, rolls)
    size = math.sqrt(squared(view.match.swing))
    least = chord(view.match.mean + size)
    if least > (floor if rolls else best[ERROR] + SAME):
        return
    if abs(view.reach) > math.sqrt(problem.arm.spans[0]) + abs(view.hand):
        return
    ideal = unit(view.match.swing) if size > 1e-12 else turned(complex(1.0, 0.0), now[1] + now[2] + now[3])
    if rolls and floor > EXACT:
        # Without roll, where its sine is zero; and at the ends of what `floor` allows.
        swing = squared(view.sine.swing)
        if swing > view.sine.mean * view.sine.mean:
            x = -view.sine.mean / math.sqrt(swing)
            y = math.sqrt(1.0 - x * x)
            middle = unit(view.sine.swing)
            hold_pitch(problem, view, floor, middle * complex(x, y), best)
            hold_pitch(problem, view, floor, middle * complex(x, -y), best)
        x = (1.0 - 0.5 * floor * floor - view.match.mean) / max(size, 1e-12) + 1e-15
        if abs(x) < 1.0:
            y = math.sqrt(1.0 - x * x)
            hold_pitch(problem, view, floor, ideal * complex(x, y), best)
            hold_pitch(problem, view, floor, ideal * complex(x, -y), best)
    hold_pitch(problem, view, floor, ideal, best)
    if floor > EXACT or (floor == ANY_APPROACH and best[ERROR] > least + SAME):
        ends_of_pitch(problem, view, floor, best)


@njit
def group_view(problem, q1, q5, rolls):
    """The GroupView from these two angles; its roll only where it is asked for."""
    arm, goal = problem.arm, problem.goal
    c1, s1, c5, s5 = math.cos(q1), math.sin(q1), math.cos(q5), math.sin(q5)
    point, tip = at(goal.point, c1, s1), at(arm.tip, c5, s5)
    d, w = at(arm.tool, c5, s5), at(goal.tool, c1, s1)
    sine = cosine = Sinusoid(0.0, 0j)
    if rolls:
        # The roll from (d, e, f) to (w, v, g) about d: atan2(f.v - e.g, e.v + f.g).
        e, v = at(arm.side, c5, s5), at(goal.side, c1, s1)
        f, g = cross(d, e), cross(w, v)
        fv, eg, ev, fg = _sinusoid(f, v), _sinusoid(e, g), _sinusoid(e, v), _sinusoid(f, g)
        sine = Sinusoid(fv.mean - eg.mean, fv.swing - eg.swing)
        cosine = Sinusoid(ev.mean + fg.mean, ev.swing + fg.swing)
    reach, hand = complex(point[0], point[1]), complex(tip[0], tip[1]) - arm.wrist
    return GroupView(q1, q5, reach, hand, _sinusoid(d, w), sine, cosine)


@njit
def _sinusoid(a, b):
    """The scalar product of a and b, where a is turned by the pitch."""
    return Sinusoid(a[2] * b[2], complex(a[0], -a[1]) * complex(b[0], b[1]))


@njit
def value(sinusoid, pitch):
    """The sinusoid at a pitch e^it."""
    return sinusoid.mean + sinusoid.swing.real * pitch.real + sinusoid.swing.imag * pitch.imag


@njit
def roll_of(view, pitch):
    """By how much the tool must roll about its axis [rad]."""
    return math.atan2(value(view.sine, pitch), value(view.cosine, pitch))


@njit
def _errors(view, floor, pitch):
    """(ERROR, SECONDARY) of a posture with this pitch."""
    approach = chord(value(view.match, pitch))
    if floor < 0.0:
        return approach, 0.0
    if approach > floor:
        return math.inf, approach
    return abs(roll_of(view, pitch)), approach


@njit
def chord(cosine):
    """The distance between the ends of two unit vectors, 2 sin(angle / 2)."""
    return math.sqrt(max(2.0 - 2.0 * cosine, 0.0))


@njit
def hold_pitch(problem, view, floor, pitch, best):
    """Offer both elbows that hold the hand at this pitch."""
    errors = _errors(view, floor, pitch)
    if errors[0] > best[ERROR] + SAME:
        return
    a, b = problem.arm.upper_arm, problem.arm.forearm
    wrist = view.reach - view.hand * pitch
    x, y = corner(squared(a), squared(b), squared(wrist))
    if y != y:
        return
    straight = unit(a * b.conjugate())
    for side in (1.0, -1.0):
        turn_3 = straight * complex(x, side * y)
        turn_2 = wrist * (a + b * turn_3).conjugate()
        turn_4 = pitch * (turn_2 * turn_3).conjugate()
        offer(problem, view.q1, view.q5, (turn_2, turn_3, turn_4), errors, best)


@njit
def ends_of_pitch(problem, view, floor, best):
    """Offer every posture where the pitch can go no farther."""
    arm, hand, reach = problem.arm, view.hand, view.reach
    a, b = arm.upper_arm, arm.forearm
    a2, b2, h2, r2 = squared(a), squared(b), squared(hand), squared(reach)
    if h2 > 1e-18 and r2 > 1e-18:
        towards = unit(reach * hand.conjugate())
        for span in arm.spans:  # the first two links in line, or hinge 3 at a limit
            x, y = corner(r2, h2, 2.0 * (r2 + h2) - span)
            if y == y:
                hold_pitch(problem, view, floor, towards * complex(x, y), best)
                hold_pitch(problem, view, floor, towards * complex(x, -y), best)
    if h2 > 1e-18:
        straight = unit(b * hand.conjugate())
        for turn_2 in arm.ends_2:  # hinge 2 at a limit: the forearm and the hand reach the rest
            rest = reach - a * turn_2
            x, y = corner(b2, h2, squared(rest))
            if y != y:
                continue
            for side in (1.0, -1.0):
                turn_4 = straight * complex(x, side * y)
                turn_23 = unit(rest * (b + hand * turn_4).conjugate())
                errors = _errors(view, floor, turn_23 * turn_4)
                turns = turn_2, turn_23 * turn_2.conjugate(), turn_4
                offer(problem, view.q1, view.q5, turns, errors, best)
    for turn_4 in arm.ends_4:  # hinge 4 at a limit: forearm and hand are one link
        link = b + hand * turn_4
        x, y = corner(a2, squared(link), r2)
        if y != y:
            continue
        straight = unit(a * link.conjugate())
        for side in (1.0, -1.0):
            turn_3 = straight * complex(x, side * y)
            turn_2 = unit(reach * (a + link * turn_3).conjugate())
            errors = _errors(view, floor, turn_2 * turn_3 * turn_4)
            offer(problem, view.q1, view.q5, (turn_2, turn_3, turn_4), errors, best)


@njit
def offer(problem, q1, q5, turns, errors, best):
    """Keep this posture where it is inside the limits and better than `best`.

    turns: e^iq of the hinges 2, 3 and 4. errors: (ERROR, SECONDARY).
    """
    error, second = errors
    turn_2, turn_3, turn_4 = turns
    if not error <= best[ERROR] + SAME:
        return
    arm, now = problem.arm, problem.now
    as_good = error > best[ERROR] - SAME and second > best[SECONDARY] - SAME
    longest = best[STEP] + SLACK if as_good and problem.elbow == 0.0 else math.inf  # a step that would be too long
    q2 = fitted(angle_of(turn_2), arm.lower[1], arm.upper[1], now[1])
    if not abs(q2 - now[1]) <= longest:  # nor is nan
        return
    q3 = fitted(angle_of(turn_3), arm.lower[2], arm.upper[2], now[2])
    if not abs(q3 - now[2]) <= longest:
        return
    q4 = fitted(angle_of(turn_4), arm.lower[3], arm.upper[3], now[3])
    if not abs(q4 - now[3]) <= longest:
        return
    away = 0.0
    if problem.elbow != 0.0 and problem.elbow * elbow_height(arm.upper_arm, arm.forearm, arm.waist_axis, q2, q3) < 0.0:
        away = 1.0
    d1, d2, d3, d4, d5 = abs(q1 - now[0]), abs(q2 - now[1]), abs(q3 - now[2]), abs(q4 - now[3]), abs(q5 - now[4])
    step, total = max(d1, d2, d3, d4, d5), d1 + d2 + d3 + d4 + d5
    if error > best[ERROR] - SAME:  # as good; then what comes next decides
        if second > best[SECONDARY] + SAME:
            return
        if second > best[SECONDARY] - SAME:
            if away > best[ELBOW]:
                return
            longer = step > best[STEP] + SLACK or (step > best[STEP] - SLACK and total >= best[SUM])
            if away == best[ELBOW] and longer:
                return
    best[ERROR], best[SECONDARY], best[ELBOW], best[STEP], best[SUM] = error, second, away, step, total
    best[ANGLES], best[ANGLES + 1], best[ANGLES + 2], best[ANGLES + 3], best[ANGLES + 4] = q1, q2, q3, q4, q5


@njit
def corner(a2, b2, far2):
    """The cosine rule: (cos, sin >= 0) of the bend from link a to link b whose ends are `far` apart; all squared.

    The sine is nan where the links cannot be so far apart, or so near.
    """
    size = 2.0 * math.sqrt(a2 * b2)
    if size < 1e-18:
        return 1.0, math.nan
    x = (far2 - a2 - b2) / size
    if abs(x) > 1.0 + 1e-9:
        return x, math.nan
    x = min(max(x, -1.0), 1.0)
    return x, math.sqrt(1.0 - x * x)


@njit
def angle_of(z):
    """The argument of z [rad]."""
    return math.atan2(z.imag, z.real)


@njit
def squared(z):
    """The square of |z|."""
    return z.real * z.real + z.imag * z.imag


@njit
def unit(z):
    """The unit number in the direction of z; 1 for 0."""
    size = math.sqrt(squared(z))
    if size < 1e-150:
        return complex(1.0, 0.0)
    return complex(z.real / size, z.imag / size)
