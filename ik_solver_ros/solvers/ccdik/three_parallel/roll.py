"""The least roll of a WaistArm among the nearest approaches."""

from __future__ import annotations

import math

from ik_solver_ros.kinematics.constants import INF, PI
from ik_solver_ros.kinematics.plane import at_angle, chord, value
from ik_solver_ros.kinematics.quaternion import cross, dot
from ik_solver_ros.kinematics.waist_arm import fitted
from ik_solver_ros.solvers.ccdik.three_parallel.approach import exact_approach
from ik_solver_ros.solvers.ccdik.three_parallel.constants import ANY_APPROACH, BEST_PITCH_ONLY, CLOSER, EXACT
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group import (
    ArmProblem,
    best_pitch,
    group_view,
    no_posture,
    offer,
    roll_of,
)
from ik_solver_ros.solvers.ccdik.three_parallel.scan import golden_section, spaced, valleys
from ik_solver_ros.solvers.ccdik.three_parallel.sinusoids import evaluate, exact_pairs, tip_on_axis

try:
    import cython
except ImportError:
    from ik_solver_ros import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:
    from ik_solver_ros.kinematics.shapes import GroupView, Misses, Place, Posture

ROLLED = 1e-4  # [rad] a roll below this is as good as none


def nearest_pose(problem: ArmProblem, tolerance: float, slack: float) -> Posture:
    """The least roll among the postures whose approach is within `slack` [rad] of the nearest."""
    if tip_on_axis(problem.arm):
        # At first nothing that is not exact is worth a look.
        best = _rolled_sides(problem, BEST_PITCH_ONLY, tolerance, slack)
        if best.miss < tolerance and best.second < tolerance:
            return best
        return _rolled_sides(problem, ANY_APPROACH, INF, slack)
    rolled = no_posture(tolerance)  # likewise
    count = exact_pairs(problem)
    for k in range(count):
        pair = problem.pairs[k]
        rolled = best_pitch(problem, pair.q1, pair.q5, min(tolerance, EXACT), rolled)
    if rolled.miss < tolerance:
        return rolled
    best = exact_approach(problem, tolerance)
    if not best.miss < INF:
        count = 0
    best = valleys(problem, widened(best.miss, slack), best)
    if not best.miss < INF:
        return best
    rolled = _least_roll(problem, widened(best.miss, slack), count)
    return rolled if rolled.miss < INF else best


def _rolled_sides(problem: ArmProblem, pitches: float, bound: float, slack: float) -> Posture:
    """Both sides are evaluated, and what is within the slack of the better one is rolled."""
    front = evaluate(problem, problem.now[4], 1.0, pitches, no_posture(bound))
    back = evaluate(problem, problem.now[4], -1.0, pitches, no_posture(bound))
    floor = 0.999 * bound if pitches == BEST_PITCH_ONLY else widened(min(front.miss, back.miss), slack)
    return roll_in_place(problem, back, floor, roll_in_place(problem, front, floor, no_posture(INF)))


def widened(miss: float, slack: float) -> float:
    """The chord of an angle that is greater by `slack` [rad] than that of the chord `miss`."""
    if not miss < INF:
        return INF
    return 2.0 * math.sin(min(math.asin(min(0.5 * miss, 1.0)) + 0.5 * slack, 0.5 * PI))


def _least_roll(problem: ArmProblem, floor: float, pairs: int) -> Posture:
    """The least roll within `floor`: from the samples, so many exact pairs, and the valleys."""
    low = problem.angles[0]
    high = problem.angles[problem.scanned - 1]
    width = (high - low) / (spaced(problem.arm) - 1)
    rolled = no_posture(INF)
    m = 0
    for side in range(2):
        for k in range(problem.scanned + pairs + problem.placed):
            if k < problem.scanned:
                q5 = problem.angles[k]
                worth = abs(problem.misses[side][k]) <= floor
            elif k < problem.scanned + pairs:
                q5 = problem.pairs[k - problem.scanned].q5
                worth = True
            else:
                place = problem.places[k - problem.scanned - pairs]
                q5 = place.q5
                worth = place.side == side and place.miss <= floor
            if not worth:
                continue
            trial = evaluate(problem, q5, 1.0 - 2.0 * side, floor, no_posture(INF))
            if trial.miss < INF:
                problem.rolls[m] = Place(trial.miss, q5, side)
                m += 1
                if trial.miss < rolled.miss:
                    rolled = trial
    for _ in range(CLOSER):
        k = -1
        for i in range(m):
            if problem.rolls[i].miss >= 0.0 and (k < 0 or problem.rolls[i].miss < problem.rolls[k].miss):
                k = i
        if k < 0 or rolled.miss < ROLLED:
            break
        start = problem.rolls[k]
        left = max(start.q5 - width, low)
        right = min(start.q5 + width, high)
        rolled = golden_section(problem, start, left, right, floor, rolled).best
        for i in range(m):  # its neighbours lie in the same valley
            place = problem.rolls[i]
            if place.side == start.side and abs(place.q5 - start.q5) <= 1.01 * width:
                problem.rolls[i] = Place(-1.0, place.q5, place.side)
    return rolled


def roll_in_place(problem: ArmProblem, posture: Posture, floor: float, rolled: Posture) -> Posture:
    """For a tip on the roll axis: this posture, if within `floor`, rolled as it should be, where it is better."""
    if not posture.miss <= floor or posture.miss == INF:
        return rolled
    pitch = at_angle(posture.q2 + posture.q3 + posture.q4)
    view = group_view(problem, posture.q1, problem.now[4], True)
    turn = roll_of(view, pitch)
    if dot(cross(problem.arm.tool.fixed, problem.arm.side.even), problem.arm.side.odd) <= 0.0:
        turn = -turn
    q5 = fitted(problem.now[4] + turn, problem.arm.lower[4], problem.arm.upper[4], problem.now[4])
    if q5 != q5:
        rolled = best_pitch(problem, posture.q1, problem.arm.lower[4], floor, rolled)
        return best_pitch(problem, posture.q1, problem.arm.upper[4], floor, rolled)
    misses = Misses(0.0, chord(value(view.match, pitch)))
    at = GroupView(posture.q1, q5, view.reach, view.hand, view.match, view.sine, view.cosine)
    return offer(problem, at, misses, at_angle(posture.q2), at_angle(posture.q3), at_angle(posture.q4), rolled)
