"""The lexicographic optimum of a WaistArm: CCDIK whose group of parallel hinges is one joint, over all its branches.

The tip must lie in the plane of the group: across it (the third coordinate), the goal turned back by the waist equals
the tip turned by the last hinge,

    g0 + g cos(q1 - m) = t0 + t1 cos q5 + t2 sin q5                                                             (1)

so that each angle of the last hinge leaves two of the waist, and pitch.py does the rest. With the tip on the roll axis
t1 = t2 = 0 and all is done; else exact answers satisfy (1) and the same for the direction, two sinusoids in q1 and q5
that are solved in closed form; and where there is none, q5 is scanned and the least samples are looked at closely.
"""

from __future__ import annotations

import math

import numpy as np

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.quaternion import cross, dot
from ik_solver_ros.kinematics.waist_arm import JOINTS, ON_AXIS, TWO_PI, at, fitted, target
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group import (
    ANGLES,
    ANY_APPROACH,
    BEST_PITCH_ONLY,
    ELBOW,
    EXACT,
    MISS,
    SECOND,
    Task,
    best_pitch,
    chord,
    nothing,
    offer,
    roll_of,
    turned,
    value,
    view,
)

SIDEWAYS = 1e-4  # lengths of directions below this are taken for zero; a descent mends what they are off by
ALONG_WAIST = 1e-3  # a direction this near to that of the waist's axis points up or down
SAMPLES, ROLL_SAMPLES = 32, 24  # of the last hinge's range, where it bends the tool and where it rolls it
SPECIAL = 8  # angles beside them
CLOSER = 6  # samples that are looked at closely
SECTIONS, ROLL_SECTIONS = 8, 12  # of the golden section; the roll changes faster with the last hinge
ROLLED = 1e-4  # [rad] a roll below this is as good as none
GOLDEN = 0.381966  # 2 - (1 + sqrt 5) / 2


@njit
def waist_task(arm, goal, start, elbow):
    """The Task of a goal (GoalArrays) for a WaistArm at `start`."""
    s = arm.sign
    now = (s[0] * start[0], s[1] * start[1], s[2] * start[2], s[3] * start[3], s[4] * start[4])
    return Task(arm, target(arm, goal), now, elbow)


@njit
def exact_postures(arm, goal, start, tolerance, out):
    """Fill `out` (16, 5) with all postures whose approach, and roll, are within `tolerance` [rad]; returns how many."""
    pairs = np.empty((8, 2))
    count = 0
    for elbow in (1.0, -1.0):
        task = waist_task(arm, goal, start, elbow)
        on_axis = tip_on_axis(arm)
        for k in range(4 if on_axis else 2 + exact_pairs(task, pairs)):
            best = nothing()
            if k < 2 and goal.targets == 1:
                look(task, task.now[4], 1.0 - 2.0 * k, ANY_APPROACH, best)
            elif k < 2 and on_axis:
                side = nothing()
                look(task, task.now[4], 1.0 - 2.0 * k, ANY_APPROACH, side)
                roll_in_place(task, side, tolerance, best)
            elif k >= 2 and not on_axis:
                floor = ANY_APPROACH if goal.targets == 1 else max(tolerance, EXACT)
                best_pitch(task, pairs[k - 2, 0], pairs[k - 2, 1], floor, best)
            if best[MISS] <= tolerance and best[ELBOW] == 0.0 and count < out.shape[0]:
                for i in range(JOINTS):
                    out[count, i] = arm.sign[i] * best[ANGLES + i]
                count += 1
    return count


@njit
def nearest_approach(task, tolerance, best):
    """The nearest approach with the tip in place, in `best`: an exact one is within `tolerance` [rad].

    best[MISS] stays inf where no posture is found that puts the tip in place.
    """
    if not _exact_approach(task, tolerance, best):
        places = np.empty((CLOSER, 3))
        valleys(task, np.empty(SAMPLES + SPECIAL), np.empty((2, SAMPLES + SPECIAL)), math.inf, places, best)


@njit
def _exact_approach(task, tolerance, best):
    """The best of an arm with the tip on its roll axis, or an exact approach; False if there was none to be found."""
    if tip_on_axis(task.arm):
        for pitches in (BEST_PITCH_ONLY, ANY_APPROACH):
            # At first nothing that is not exact is worth a look.
            best[MISS] = tolerance if pitches == BEST_PITCH_ONLY else math.inf
            look(task, task.now[4], 1.0, pitches, best)
            look(task, task.now[4], -1.0, pitches, best)
            if best[MISS] < tolerance:
                return True
        return True
    best[MISS] = tolerance  # nothing that is not exact is worth a look
    if math.hypot(task.goal.tool.even[2], task.goal.tool.odd[2]) < ALONG_WAIST:
        # The direction is served from every angle of the waist, so the last hinge may stay where it is.
        look(task, task.now[4], 1.0, ANY_APPROACH, best)
        look(task, task.now[4], -1.0, ANY_APPROACH, best)
    if not best[MISS] < tolerance:
        pairs = np.empty((8, 2))
        count = exact_pairs(task, pairs)
        for pitches in (BEST_PITCH_ONLY, ANY_APPROACH):  # an end of the pitches may be the best one but for rounding
            for k in range(count):
                best_pitch(task, pairs[k, 0], pairs[k, 1], pitches, best)
            if best[MISS] < tolerance:
                break
    if best[MISS] < tolerance:
        return True
    best[MISS] = math.inf
    return False


@njit
def nearest_pose(task, tolerance, slack, best):
    """The least roll among the postures whose approach is within `slack` [rad] of the nearest, in `best`."""
    if tip_on_axis(task.arm):
        # The two sides are seen, and what is within the slack of the better one is rolled.
        front, back = nothing(), nothing()
        for pitches in (BEST_PITCH_ONLY, ANY_APPROACH):
            best[MISS] = math.inf
            # At first nothing that is not exact is worth a look.
            front[MISS] = back[MISS] = tolerance if pitches == BEST_PITCH_ONLY else math.inf
            look(task, task.now[4], 1.0, pitches, front)
            look(task, task.now[4], -1.0, pitches, back)
            nearest = min(front[MISS], back[MISS])
            floor = 0.999 * tolerance if pitches == BEST_PITCH_ONLY else widened(nearest, slack)
            roll_in_place(task, front, floor, best)
            roll_in_place(task, back, floor, best)
            if best[MISS] < tolerance and best[SECOND] < tolerance:
                return
        return
    rolled = nothing()
    rolled[MISS] = tolerance  # nothing that is not exact is worth a look
    pairs = np.empty((8, 2))
    count = exact_pairs(task, pairs)
    for k in range(count):
        best_pitch(task, pairs[k, 0], pairs[k, 1], min(tolerance, EXACT), rolled)
    if rolled[MISS] < tolerance:
        best[:] = rolled
        return
    rolled[MISS] = math.inf
    if not _exact_approach(task, tolerance, best):
        count = 0
    angles, misses, places = np.empty(SAMPLES + SPECIAL), np.empty((2, SAMPLES + SPECIAL)), np.empty((CLOSER, 3))
    total, found = valleys(task, angles, misses, widened(best[MISS], slack), places, best)
    if not best[MISS] < math.inf:
        return
    floor = widened(best[MISS], slack)
    least_roll(task, floor, angles, misses, total, places[:found], pairs[:count], rolled)
    if rolled[MISS] < math.inf:
        best[:] = rolled


@njit
def widened(miss, slack):
    """The chord of an angle that is greater by `slack` [rad] than that of the chord `miss`."""
    if not miss < math.inf:
        return math.inf
    return 2.0 * math.sin(min(math.asin(min(0.5 * miss, 1.0)) + 0.5 * slack, 0.5 * math.pi))


@njit
def valleys(task, angles, misses, bound, places, best):
    """Scan the last hinge for the nearest approach: `best` is improved, and `places` (CLOSER, 3) gets (miss, q5, side)
    of the least of each valley that may come below `bound`. Returns how many samples and how many places there are.
    """
    count = sample(task, angles)
    scan(task, angles, count, bound, misses, best)
    found = 0
    for _ in range(CLOSER):
        side, k = least(misses, count)
        if k < 0:
            break
        low, high = angles[max(k - 1, 0)], angles[min(k + 1, count - 1)]
        miss, q5 = closer(task, side, low, angles[k], high, misses[side, k], ANY_APPROACH, best)
        places[found, 0], places[found, 1], places[found, 2] = miss, q5, side
        found += 1
        misses[side, k] = -misses[side, k]
    return count, found


@njit
def least_roll(task, floor, angles, misses, count, places, pairs, rolled):
    """Improve `rolled` by the least roll within `floor`: from the samples, the valleys and the exact pairs."""
    width = (angles[count - 1] - angles[0]) / (spaced(task.arm) - 1)
    starts = np.empty((2 * (count + len(pairs)) + len(places), 3))  # |roll|, q5, side
    trial = nothing()
    m = 0
    for side in range(2):
        for k in range(count + len(pairs) + len(places)):
            if k < count:
                q5, worth = angles[k], abs(misses[side, k]) <= floor
            elif k < count + len(pairs):
                q5, worth = pairs[k - count, 1], True
            else:
                place = places[k - count - len(pairs)]
                q5, worth = place[1], place[2] == side and place[0] <= floor
            if not worth:
                continue
            trial[MISS] = math.inf
            look(task, q5, 1.0 - 2.0 * side, floor, trial)
            if trial[MISS] < math.inf:
                starts[m, 0], starts[m, 1], starts[m, 2] = trial[MISS], q5, side
                m += 1
                if trial[MISS] < rolled[MISS]:
                    rolled[:] = trial
    for _ in range(CLOSER):
        k = -1
        for i in range(m):
            if starts[i, 0] >= 0.0 and (k < 0 or starts[i, 0] < starts[k, 0]):
                k = i
        if k < 0 or rolled[MISS] < ROLLED:
            break
        x = starts[k, 1]
        low, high = max(x - width, angles[0]), min(x + width, angles[count - 1])
        closer(task, int(starts[k, 2]), low, x, high, starts[k, 0], floor, rolled)
        for i in range(m):  # its neighbours lie in the same valley
            if starts[i, 2] == starts[k, 2] and abs(starts[i, 1] - x) <= 1.01 * width:
                starts[i, 0] = -1.0


@njit
def roll_in_place(task, seen_from, floor, rolled):
    """For a tip on the roll axis: improve `rolled` by this posture, if within `floor`, rolled as it should be."""
    if not seen_from[MISS] <= floor or seen_from[MISS] == math.inf:
        return
    arm = task.arm
    q1, q2, q3, q4 = seen_from[ANGLES], seen_from[ANGLES + 1], seen_from[ANGLES + 2], seen_from[ANGLES + 3]
    one = complex(1.0, 0.0)
    pitch = turned(one, q2 + q3 + q4)
    seen = view(task, q1, task.now[4], True)
    forth = 1.0 if dot(cross(arm.tool.fixed, arm.side.even), arm.side.odd) > 0.0 else -1.0
    q5 = fitted(task.now[4] + forth * roll_of(seen, pitch), arm.lower[4], arm.upper[4], task.now[4])
    if q5 == q5:
        misses = (0.0, chord(value(seen.match, pitch)))
        offer(task, q1, q5, turned(one, q2), turned(one, q3), turned(one, q4), misses, rolled)
    else:
        best_pitch(task, q1, arm.lower[4], floor, rolled)
        best_pitch(task, q1, arm.upper[4], floor, rolled)


@njit
def tip_on_axis(arm):
    """Whether the last hinge moves neither the tip nor the tool's direction."""
    return (
        dot(arm.tip.even, arm.tip.even) < ON_AXIS * ON_AXIS and dot(arm.tool.even, arm.tool.even) < SIDEWAYS * SIDEWAYS
    )


@njit
def look(task, q5, side, floor, best):
    """`best_pitch` at this angle of the last hinge and one of the two of the waist (side 1.0 or -1.0), equation (1)."""
    goal, arm = task.goal, task.arm
    across = at(arm.tip, math.cos(q5), math.sin(q5))[2] - goal.point.fixed[2]
    if goal.size < 1e-12:  # on the waist's axis any angle will do: one that can serve the direction, or the present one
        if abs(across) > 1e-9:
            return
        q1 = _facing(task, side)
    else:
        x = across / goal.size
        if abs(x) > 1.0 + 1e-9:
            return
        q1 = goal.middle + side * math.acos(min(max(x, -1.0), 1.0))
    q1 = fitted(q1, arm.lower[0], arm.upper[0], task.now[0])
    if q1 == q1:
        best_pitch(task, q1, q5, floor, best)


@njit
def _facing(task, side):
    """The angle of the waist at which the plane of the group holds the goal's direction; now's if any does."""
    wanted = task.goal.tool
    first, second, there = roots(wanted.even[2], wanted.odd[2], -wanted.fixed[2], task.now[0])
    return (first if side > 0 else second) if there else task.now[0]


@njit
def roots(even, odd, value, near):
    """The two angles with even cos x + odd sin x = value (`near` where any has), and whether there are any."""
    size = math.hypot(even, odd)
    if size < 1e-12:
        return near, near, abs(value) < 1e-9
    x = value / size
    if abs(x) > 1.0 + 1e-9:
        return near, near, False
    middle, half = math.atan2(odd, even), math.acos(min(max(x, -1.0), 1.0))
    return middle + half, middle - half, True


@njit
def exact_pairs(task, pairs):
    """Fill `pairs` (8, 2) with the (q1, q5) that serve both position and direction across the plane; returns how many.

    One combination of the two sinusoids is free of q5 where the tool points along the last hinge, or straight away from
    it; of a tool that does neither no pair is found.
    """
    arm, goal, now = task.arm, task.goal, task.now
    tip, tool = arm.tip, arm.tool
    size = math.hypot(tool.even[2], tool.odd[2])
    along = size < SIDEWAYS
    if along:
        even, odd, rest = goal.tool.even[2], goal.tool.odd[2], tool.fixed[2] - goal.tool.fixed[2]
    else:
        skew = tip.even[2] * tool.odd[2] - tip.odd[2] * tool.even[2]
        if abs(skew) > SIDEWAYS * size * math.hypot(tip.even[2], tip.odd[2]):
            return 0
        ratio = (tip.even[2] * tool.even[2] + tip.odd[2] * tool.odd[2]) / (size * size)
        even = goal.point.even[2] - ratio * goal.tool.even[2]
        odd = goal.point.odd[2] - ratio * goal.tool.odd[2]
        rest = tip.fixed[2] - goal.point.fixed[2] - ratio * (tool.fixed[2] - goal.tool.fixed[2])
    first, second, there = roots(even, odd, rest, now[0])
    if not there:
        return 0
    count = 0
    for turned_to in (first, second):
        q1 = fitted(turned_to, arm.lower[0], arm.upper[0], now[0])
        if q1 != q1:
            continue
        c, s = math.cos(q1), math.sin(q1)
        if along:
            low, high, there = roots(tip.even[2], tip.odd[2], at(goal.point, c, s)[2] - tip.fixed[2], now[4])
        else:
            low, high, there = roots(tool.even[2], tool.odd[2], at(goal.tool, c, s)[2] - tool.fixed[2], now[4])
        if not there:
            continue
        for bent_to in (low, high):
            q5 = fitted(bent_to, arm.lower[4], arm.upper[4], now[4])
            if q5 == q5:
                pairs[count, 0], pairs[count, 1] = q1, q5
                count += 1
    return count


@njit
def sample(task, out):
    """Fill `out` with angles of the last hinge in rising order; returns how many.

    Evenly spaced ones, and those where a turn of the waist begins or ceases to serve: where the roots of (1) merge or
    are at a limit. Between these a narrow window may lie.
    """
    arm, goal = task.arm, task.goal
    lower, upper = arm.lower[4], arm.upper[4]
    if not upper - lower < TWO_PI:
        lower, upper = task.now[4] - math.pi, task.now[4] + math.pi
    count = spaced(arm)
    for k in range(count):
        out[k] = lower + (upper - lower) * k / (count - 1)
    for k in range(4):
        if k < 2:
            across = goal.size if k == 0 else -goal.size
        else:
            limit = arm.lower[0] if k == 2 else arm.upper[0]
            if not math.isfinite(limit):
                continue
            across = goal.size * math.cos(limit - goal.middle)
        across += goal.point.fixed[2] - arm.tip.fixed[2]
        first, second, there = roots(arm.tip.even[2], arm.tip.odd[2], across, task.now[4])
        if there:
            count = _insert(fitted(first, lower, upper, task.now[4]), out, count)
            count = _insert(fitted(second, lower, upper, task.now[4]), out, count)
    return count


@njit
def spaced(arm):
    """How many evenly spaced samples of the last hinge there are."""
    return ROLL_SAMPLES if dot(arm.tool.even, arm.tool.even) < SIDEWAYS else SAMPLES


@njit
def _insert(angle, out, count):
    """Put the angle into the sorted `out`, unless it is nan; returns the new count."""
    if angle != angle:
        return count
    k = count
    while k > 0 and out[k - 1] > angle:
        out[k] = out[k - 1]
        k -= 1
    out[k] = angle
    return count + 1


@njit
def scan(task, angles, count, bound, misses, best):
    """Fill `misses` (2, count) with the nearest approach of each sample and side, inf where a closer look is no use.

    Of use is what a step to the next sample might bring below the best one, or below `bound`.
    """
    arm = task.arm
    size = abs(arm.upper_arm) + abs(arm.forearm)
    swing = math.sqrt(dot(arm.tool.even, arm.tool.even)) + 10.0 * math.sqrt(dot(arm.tip.even, arm.tip.even)) / size
    margin = swing * (angles[count - 1] - angles[0]) / (spaced(arm) - 1)
    trial = nothing()
    for k in range(count):
        for side in range(2):
            before = min(best[MISS], bound) + margin
            trial[MISS] = before
            look(task, angles[k], 1.0 - 2.0 * side, ANY_APPROACH, trial)
            misses[side, k] = trial[MISS] if trial[MISS] != before else math.inf
            if trial[MISS] < best[MISS]:
                best[:] = trial


@njit
def least(misses, count):
    """(side, sample) of the least miss that is not above its neighbours; sample -1 where none is left (> 0)."""
    at_side, at_sample, smallest = 0, -1, math.inf
    for side in range(2):
        for k in range(count):
            f = misses[side, k]
            before = abs(misses[side, k - 1]) if k > 0 else math.inf
            after = abs(misses[side, k + 1]) if k < count - 1 else math.inf
            if 0.0 < f < smallest and f <= before and f <= after:
                at_side, at_sample, smallest = side, k, f
    return at_side, at_sample


@njit
def closer(task, side, low, x, high, fx, floor, best):
    """Golden section for the last hinge in [low, high] round x, where the miss is fx; `best` is improved.

    Returns (miss, angle) of the least that it came to.
    """
    trial = nothing()
    for _ in range(ROLL_SECTIONS if floor >= 0.0 else SECTIONS):
        right = high - x > x - low
        y = x + GOLDEN * (high - x) if right else x - GOLDEN * (x - low)
        trial[MISS] = math.inf
        look(task, y, 1.0 - 2.0 * side, floor, trial)
        fy = trial[MISS]
        if fy < best[MISS]:
            best[:] = trial
        if fy < fx:
            low, high = (x, high) if right else (low, x)
            x, fx = y, fy
        else:
            low, high = (low, y) if right else (y, high)
    return fx, x
