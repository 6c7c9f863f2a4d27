"""The last hinge of a WaistArm scanned: samples, and the least of them looked at closely by golden section."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.kinematics.quaternion import dot
from ik_solver_ros.kinematics.waist_arm import TWO_PI, fitted
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group import ANY_APPROACH, ERROR, no_posture
from ik_solver_ros.solvers.ccdik.three_parallel.sinusoids import SIDEWAYS, evaluate, roots

SAMPLES, ROLL_SAMPLES = 32, 24  # of the last hinge's range, where it bends the tool and where it rolls it
SPECIAL = 8  # angles beside them
CLOSER = 6  # samples that are looked at closely
SECTIONS, ROLL_SECTIONS = 8, 12  # of the golden section; the roll changes faster with the last hinge
GOLDEN = 0.381966  # 2 - (1 + sqrt 5) / 2


class Samples(NamedTuple):
    """Angles of the last hinge, and what the two angles of the waist make of each."""

    angles: Array  # (m,) [rad], the first `number` of them, in rising order
    errors: Array  # (2, m) chord of the nearest approach, by side; inf or negative: not to be looked at (again)
    number: int


@njit
def valleys(problem, bound, places, best):
    """Scan the last hinge for the nearest approach: `best` is improved, and `places` (CLOSER, 3) gets (error, q5, side)
    of the least of each valley that may come below `bound`. Returns the Samples and how many places there are.
    """
    angles, errors = np.empty(SAMPLES + SPECIAL), np.empty((2, SAMPLES + SPECIAL))
    samples = Samples(angles, errors, sample(problem, angles))
    scan(problem, samples, bound, best)
    found = 0
    for _ in range(CLOSER):
        side, k = least(samples)
        if k < 0:
            break
        bracket = angles[max(k - 1, 0)], angles[k], angles[min(k + 1, samples.number - 1)]
        error, q5 = golden_section(problem, side, bracket, errors[side, k], ANY_APPROACH, best)
        places[found, 0], places[found, 1], places[found, 2] = error, q5, side
        found += 1
        errors[side, k] = -errors[side, k]
    return samples, found


@njit
def sample(problem, out):
    """Fill `out` with angles of the last hinge in rising order; returns how many.

    Evenly spaced ones, and those where a turn of the waist begins or ceases to serve: where the roots of (1) merge or
    are at a limit. Between these a narrow window may lie.
    """
    arm, goal = problem.arm, problem.goal
    lower, upper = arm.lower[4], arm.upper[4]
    if not upper - lower < TWO_PI:
        lower, upper = problem.now[4] - math.pi, problem.now[4] + math.pi
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
        first, second, has_roots = roots(arm.tip.even[2], arm.tip.odd[2], across, problem.now[4])
        if has_roots:
            count = _insert(fitted(first, lower, upper, problem.now[4]), out, count)
            count = _insert(fitted(second, lower, upper, problem.now[4]), out, count)
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
def scan(problem, samples, bound, best):
    """Fill the samples' errors with the nearest approach of each and side, inf where a closer look is no use.

    Of use is what a step to the next sample might bring below the best one, or below `bound`.
    """
    arm, (angles, errors, count) = problem.arm, samples
    size = abs(arm.upper_arm) + abs(arm.forearm)
    swing = math.sqrt(dot(arm.tool.even, arm.tool.even)) + 10.0 * math.sqrt(dot(arm.tip.even, arm.tip.even)) / size
    margin = swing * (angles[count - 1] - angles[0]) / (spaced(arm) - 1)
    trial = no_posture()
    for k in range(count):
        for side in range(2):
            before = min(best[ERROR], bound) + margin
            trial[ERROR] = before
            evaluate(problem, angles[k], 1.0 - 2.0 * side, ANY_APPROACH, trial)
            errors[side, k] = trial[ERROR] if trial[ERROR] != before else math.inf
            if trial[ERROR] < best[ERROR]:
                best[:] = trial


@njit
def least(samples):
    """(side, sample) of the least error that is not above its neighbours; sample -1 where none is left (> 0)."""
    _, errors, count = samples
    at_side, at_sample, smallest = 0, -1, math.inf
    for side in range(2):
        for k in range(count):
            f = errors[side, k]
            before = abs(errors[side, k - 1]) if k > 0 else math.inf
            after = abs(errors[side, k + 1]) if k < count - 1 else math.inf
            if 0.0 < f < smallest and f <= before and f <= after:
                at_side, at_sample, smallest = side, k, f
    return at_side, at_sample


@njit
def golden_section(problem, side, bracket, fx, floor, best):
    """Golden section for the last hinge in the bracket (low, x, high), the error at x being fx; `best` is improved.

    Returns (error, angle) of the least that it came to.
    """
    low, x, high = bracket
    trial = no_posture()
    for _ in range(ROLL_SECTIONS if floor >= 0.0 else SECTIONS):
        right = high - x > x - low
        y = x + GOLDEN * (high - x) if right else x - GOLDEN * (x - low)
        trial[ERROR] = math.inf
        evaluate(problem, y, 1.0 - 2.0 * side, floor, trial)
        fy = trial[ERROR]
        if fy < best[ERROR]:
            best[:] = trial
        if fy < fx:
            low, high = (x, high) if right else (low, x)
            x, fx = y, fy
        else:
            low, high = (low, y) if right else (y, high)
    return fx, x
