"""The least roll of a WaistArm among the nearest approaches."""

from __future__ import annotations

import math

import numpy as np

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.quaternion import cross, dot
from ik_solver_ros.kinematics.waist_arm import fitted, turned
from ik_solver_ros.solvers.ccdik.three_parallel.approach import exact_approach
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group import (
    ANGLES,
    ANY_APPROACH,
    BEST_PITCH_ONLY,
    ERROR,
    EXACT,
    SECONDARY,
    best_pitch,
    chord,
    group_view,
    no_posture,
    offer,
    roll_of,
    value,
)
from ik_solver_ros.solvers.ccdik.three_parallel.scan import CLOSER, golden_section, spaced, valleys
from ik_solver_ros.solvers.ccdik.three_parallel.sinusoids import evaluate, exact_pairs, tip_on_axis

ROLLED = 1e-4  # [rad] a roll below this is as good as none


@njit
def nearest_pose(problem, tolerance, slack, best):
    """The least roll among the postures whose approach is within `slack` [rad] of the nearest, in `best`."""
    if tip_on_axis(problem.arm):
        # Both sides are evaluated, and what is within the slack of the better one is rolled.
        front, back = no_posture(), no_posture()
        for pitches in (BEST_PITCH_ONLY, ANY_APPROACH):
            best[ERROR] = math.inf
            # At first nothing that is not exact is worth a look.
            front[ERROR] = back[ERROR] = tolerance if pitches == BEST_PITCH_ONLY else math.inf
            evaluate(problem, problem.now[4], 1.0, pitches, front)
            evaluate(problem, problem.now[4], -1.0, pitches, back)
            nearest = min(front[ERROR], back[ERROR])
            floor = 0.999 * tolerance if pitches == BEST_PITCH_ONLY else widened(nearest, slack)
            roll_in_place(problem, front, floor, best)
            roll_in_place(problem, back, floor, best)
            if best[ERROR] < tolerance and best[SECONDARY] < tolerance:
                return
        return
    rolled = no_posture()
    rolled[ERROR] = tolerance  # nothing that is not exact is worth a look
    pairs = np.empty((8, 2))
    count = exact_pairs(problem, pairs)
    for k in range(count):
        best_pitch(problem, pairs[k, 0], pairs[k, 1], min(tolerance, EXACT), rolled)
    if rolled[ERROR] < tolerance:
        best[:] = rolled
        return
    rolled[ERROR] = math.inf
    if not exact_approach(problem, tolerance, best):
        count = 0
    places = np.empty((CLOSER, 3))
    samples, found = valleys(problem, widened(best[ERROR], slack), places, best)
    if not best[ERROR] < math.inf:
        return
    floor = widened(best[ERROR], slack)
    least_roll(problem, floor, samples, places[:found], pairs[:count], rolled)
    if rolled[ERROR] < math.inf:
        best[:] = rolled


@njit
def widened(error, slack):
    """The chord of an angle that is greater by `slack` [rad] than that of the chord `error`."""
    if not error < math.inf:
        return math.inf
    return 2.0 * math.sin(min(math.asin(min(0.5 * error, 1.0)) + 0.5 * slack, 0.5 * math.pi))


@njit
def least_roll(problem, floor, samples, places, pairs, rolled):
    """Improve `rolled` by the least roll within `floor`: from the samples, the valleys and the exact pairs."""
    angles, errors, count = samples
    width = (angles[count - 1] - angles[0]) / (spaced(problem.arm) - 1)
    starts = np.empty((2 * (count + len(pairs)) + len(places), 3))  # |roll|, q5, side
    trial = no_posture()
    m = 0
    for side in range(2):
        for k in range(count + len(pairs) + len(places)):
            if k < count:
                q5, worth = angles[k], abs(errors[side, k]) <= floor
            elif k < count + len(pairs):
                q5, worth = pairs[k - count, 1], True
            else:
                place = places[k - count - len(pairs)]
                q5, worth = place[1], place[2] == side and place[0] <= floor
            if not worth:
                continue
            trial[ERROR] = math.inf
            evaluate(problem, q5, 1.0 - 2.0 * side, floor, trial)
            if trial[ERROR] < math.inf:
                starts[m, 0], starts[m, 1], starts[m, 2] = trial[ERROR], q5, side
                m += 1
                if trial[ERROR] < rolled[ERROR]:
                    rolled[:] = trial
    for _ in range(CLOSER):
        k = -1
        for i in range(m):
            if starts[i, 0] >= 0.0 and (k < 0 or starts[i, 0] < starts[k, 0]):
                k = i
        if k < 0 or rolled[ERROR] < ROLLED:
            break
        x = starts[k, 1]
        bracket = max(x - width, angles[0]), x, min(x + width, angles[count - 1])
        golden_section(problem, int(starts[k, 2]), bracket, starts[k, 0], floor, rolled)
        for i in range(m):  # its neighbours lie in the same valley
            if starts[i, 2] == starts[k, 2] and abs(starts[i, 1] - x) <= 1.01 * width:
                starts[i, 0] = -1.0


@njit
def roll_in_place(problem, posture, floor, rolled):
    """For a tip on the roll axis: improve `rolled` by this posture, if within `floor`, rolled as it should be."""
    if not posture[ERROR] <= floor or posture[ERROR] == math.inf:
        return
    arm = problem.arm
    q1, q2, q3, q4 = posture[ANGLES], posture[ANGLES + 1], posture[ANGLES + 2], posture[ANGLES + 3]
    one = complex(1.0, 0.0)
    pitch = turned(one, q2 + q3 + q4)
    view = group_view(problem, q1, problem.now[4], True)
    forth = 1.0 if dot(cross(arm.tool.fixed, arm.side.even), arm.side.odd) > 0.0 else -1.0
    q5 = fitted(problem.now[4] + forth * roll_of(view, pitch), arm.lower[4], arm.upper[4], problem.now[4])
    if q5 == q5:
        errors = (0.0, chord(value(view.match, pitch)))
        turns = turned(one, q2), turned(one, q3), turned(one, q4)
        offer(problem, q1, q5, turns, errors, rolled)
    else:
        best_pitch(problem, q1, arm.lower[4], floor, rolled)
        best_pitch(problem, q1, arm.upper[4], floor, rolled)
