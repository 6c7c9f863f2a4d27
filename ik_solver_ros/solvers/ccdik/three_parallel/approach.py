"""The nearest approach of a WaistArm: CCDIK whose group of parallel hinges is one joint, over all its branches.

With the tip on the roll axis the last hinge has no say, and the two angles of the waist are all. Else exact answers are
found in closed form; and where there is none, the last hinge is scanned.
"""

from __future__ import annotations

import math

import numpy as np

from ik_solver_ros.jit import njit
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group import ANY_APPROACH, BEST_PITCH_ONLY, ERROR, best_pitch
from ik_solver_ros.solvers.ccdik.three_parallel.scan import CLOSER, valleys
from ik_solver_ros.solvers.ccdik.three_parallel.sinusoids import evaluate, exact_pairs, tip_on_axis

ALONG_WAIST = 1e-3  # a direction this near to that of the waist's axis points up or down


@njit
def nearest_approach(problem, tolerance, best):
    """The nearest approach with the tip in place, in `best`: an exact one is within `tolerance` [rad].

    best[ERROR] stays inf where no posture is found that puts the tip in place.
    """
    if not exact_approach(problem, tolerance, best):
        valleys(problem, math.inf, np.empty((CLOSER, 3)), best)


@njit
def exact_approach(problem, tolerance, best):
    """The best of an arm with the tip on its roll axis, or an exact approach; False if there was none to be found."""
    if tip_on_axis(problem.arm):
        for pitches in (BEST_PITCH_ONLY, ANY_APPROACH):
            # At first nothing that is not exact is worth a look.
            best[ERROR] = tolerance if pitches == BEST_PITCH_ONLY else math.inf
            evaluate(problem, problem.now[4], 1.0, pitches, best)
            evaluate(problem, problem.now[4], -1.0, pitches, best)
            if best[ERROR] < tolerance:
                return True
        return True
    best[ERROR] = tolerance  # nothing that is not exact is worth a look
    if math.hypot(problem.goal.tool.even[2], problem.goal.tool.odd[2]) < ALONG_WAIST:
        # The direction is served from every angle of the waist, so the last hinge may stay where it is.
        evaluate(problem, problem.now[4], 1.0, ANY_APPROACH, best)
        evaluate(problem, problem.now[4], -1.0, ANY_APPROACH, best)
    if not best[ERROR] < tolerance:
        pairs = np.empty((8, 2))
        count = exact_pairs(problem, pairs)
        for pitches in (BEST_PITCH_ONLY, ANY_APPROACH):  # an end of the pitches may be the best one but for rounding
            for k in range(count):
                best_pitch(problem, pairs[k, 0], pairs[k, 1], pitches, best)
            if best[ERROR] < tolerance:
                break
    if best[ERROR] < tolerance:
        return True
    best[ERROR] = math.inf
    return False
