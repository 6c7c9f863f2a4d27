"""The last hinge of a WaistArm scanned: samples, and the least of them looked at closely by golden section."""

from __future__ import annotations

import math

from ik_solver_ros.kinematics.constants import INF, PI, TWO_PI
from ik_solver_ros.kinematics.plane import size_of
from ik_solver_ros.kinematics.quaternion import dot
from ik_solver_ros.kinematics.waist_arm import WaistArm, fitted
from ik_solver_ros.solvers.ccdik.three_parallel.constants import ANY_APPROACH, CLOSER, SCANNED, SIDEWAYS
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group import ArmProblem, no_posture
from ik_solver_ros.solvers.ccdik.three_parallel.sinusoids import evaluate, roots

try:
    import cython
except ImportError:
    from ik_solver_ros import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:
    from ik_solver_ros.kinematics.shapes import Place, Posture, Valley

BENT_SAMPLES, ROLL_SAMPLES = 32, 24  # of the last hinge's range, where it bends the tool and where it rolls it
SECTIONS, ROLL_SECTIONS = 8, 12  # of the golden section; the roll changes faster with the last hinge
GOLDEN = 0.381966  # 2 - (1 + sqrt 5) / 2


def valleys(problem: ArmProblem, bound: float, best: Posture) -> Posture:
    """Scan the last hinge for the nearest approach: `best`, or a better posture.

    `problem.places` gets the least of each valley that may come below `bound`.
    """
    sample(problem)
    best = _scan(problem, bound, best)
    problem.placed = 0
    for _ in range(CLOSER):
        least = _least(problem)
        if least < 0:
            break
        side = least // SCANNED
        k = least % SCANNED
        low = problem.angles[max(k - 1, 0)]
        high = problem.angles[min(k + 1, problem.scanned - 1)]
        start = Place(problem.misses[side][k], problem.angles[k], side)
        valley = golden_section(problem, start, low, high, ANY_APPROACH, best)
        best = valley.best
        problem.places[problem.placed] = Place(valley.miss, valley.q5, side)
        problem.placed += 1
        problem.misses[side][k] = -problem.misses[side][k]
    return best


def sample(problem: ArmProblem) -> None:
    """Fill `problem.angles` with angles of the last hinge in rising order.

    Evenly spaced ones, and those where a turn of the waist begins or ceases to serve: where the roots of (1) merge or
    are at a limit. Between these a narrow window may lie.
    """
    lower = problem.arm.lower[4]
    upper = problem.arm.upper[4]
    if not upper - lower < TWO_PI:  # the turn about where it is, inside the limits
        lower = min(max(problem.now[4] - PI, lower), upper - TWO_PI)
        upper = lower + TWO_PI
    problem.scanned = spaced(problem.arm)
    for k in range(problem.scanned):
        problem.angles[k] = lower + (upper - lower) * k / (problem.scanned - 1)
    for k in range(4):
        if k == 0:
            across = problem.goal.size
        elif k == 1:
            across = -problem.goal.size
        else:
            limit = problem.arm.lower[0] if k == 2 else problem.arm.upper[0]
            if not -INF < limit < INF:
                continue
            across = problem.goal.size * math.cos(limit - problem.goal.middle)
        across += problem.goal.point.fixed[2] - problem.arm.tip.fixed[2]
        bends = roots(problem.arm.tip.even[2], problem.arm.tip.odd[2], across, problem.now[4])
        if bends.found:
            _insert(problem, fitted(bends.first, lower, upper, problem.now[4]))
            _insert(problem, fitted(bends.second, lower, upper, problem.now[4]))


def spaced(arm: WaistArm) -> int:
    """How many evenly spaced samples of the last hinge there are."""
    return ROLL_SAMPLES if dot(arm.tool.even, arm.tool.even) < SIDEWAYS else BENT_SAMPLES


def _insert(problem: ArmProblem, angle: float) -> None:
    """Put the angle among the others, unless it is nan."""
    if angle != angle:
        return
    k = problem.scanned
    while k > 0 and problem.angles[k - 1] > angle:
        problem.angles[k] = problem.angles[k - 1]
        k -= 1
    problem.angles[k] = angle
    problem.scanned += 1


def _scan(problem: ArmProblem, bound: float, best: Posture) -> Posture:
    """Fill `problem.misses` with the nearest approach at each angle and side, inf where a closer look is no use.

    Of use is what a step to the next sample might bring below the best one, or below `bound`.
    """
    size = size_of(problem.arm.upper_arm) + size_of(problem.arm.forearm)
    tool = math.sqrt(dot(problem.arm.tool.even, problem.arm.tool.even))
    swing = tool + 10.0 * math.sqrt(dot(problem.arm.tip.even, problem.arm.tip.even)) / size
    margin = swing * (problem.angles[problem.scanned - 1] - problem.angles[0]) / (spaced(problem.arm) - 1)
    for k in range(problem.scanned):
        for side in range(2):
            before = min(best.miss, bound) + margin
            trial = evaluate(problem, problem.angles[k], 1.0 - 2.0 * side, ANY_APPROACH, no_posture(before))
            problem.misses[side][k] = trial.miss if trial.miss != before else INF
            if trial.miss < best.miss:
                best = trial
    return best


def _least(problem: ArmProblem) -> int:
    """The least miss (> 0) that is not above its neighbours: SCANNED * side + index; -1 where none is left."""
    found = -1
    smallest = INF
    for side in range(2):
        for k in range(problem.scanned):
            f = problem.misses[side][k]
            before = abs(problem.misses[side][k - 1]) if k > 0 else INF
            after = abs(problem.misses[side][k + 1]) if k < problem.scanned - 1 else INF
            if 0.0 < f < smallest and f <= before and f <= after:
                smallest = f
                found = SCANNED * side + k
    return found


def golden_section(problem: ArmProblem, start: Place, low: float, high: float, floor: float, best: Posture) -> Valley:
    """Golden section for the last hinge between `low` and `high`, from a start between them; improves `best`."""
    x = start.q5
    fx = start.miss
    side = 1.0 - 2.0 * start.side
    for _ in range(ROLL_SECTIONS if floor >= 0.0 else SECTIONS):
        right = high - x > x - low
        y = x + GOLDEN * (high - x) if right else x - GOLDEN * (x - low)
        trial = evaluate(problem, y, side, floor, no_posture(INF))
        if trial.miss < best.miss:
            best = trial
        if trial.miss < fx:
            if right:
                low = x
            else:
                high = x
            x = y
            fx = trial.miss
        elif right:
            high = y
        else:
            low = y
    return Valley(fx, x, best)
