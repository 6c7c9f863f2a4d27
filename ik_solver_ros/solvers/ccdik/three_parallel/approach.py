"""The nearest approach of a WaistArm: CCDIK whose group of parallel hinges is one joint, over all its branches.

With the tip on the roll axis the last hinge has no say, and the two angles of the waist are all. Else exact answers are
found in closed form; and where there is none, the last hinge is scanned.
"""

from __future__ import annotations

from ik_solver_ros.kinematics.constants import INF
from ik_solver_ros.solvers.ccdik.three_parallel.constants import ANY_APPROACH, BEST_PITCH_ONLY
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group import ArmProblem, best_pitch, no_posture
from ik_solver_ros.solvers.ccdik.three_parallel.scan import valleys
from ik_solver_ros.solvers.ccdik.three_parallel.sinusoids import both_sides, exact_pairs, tip_on_axis

try:
    import cython
except ImportError:
    from ik_solver_ros import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:
    from ik_solver_ros.kinematics.shapes import Posture

ALONG_WAIST = 1e-3  # a direction this near to that of the waist's axis points up or down


def nearest_approach(problem: ArmProblem, tolerance: float) -> Posture:
    """The nearest approach with the tip in place: an exact one is within `tolerance` [rad].

    It misses by inf where no posture is found that puts the tip in place.
    """
    best = exact_approach(problem, tolerance)
    if best.miss < INF or tip_on_axis(problem.arm):
        return best
    return valleys(problem, INF, no_posture(INF))


def exact_approach(problem: ArmProblem, tolerance: float) -> Posture:
    """The best of an arm with the tip on its roll axis; else an exact approach, which misses by inf if there is none.

    At first nothing that is not exact is worth a look.
    """
    best = no_posture(tolerance)
    if tip_on_axis(problem.arm):
        best = both_sides(problem, BEST_PITCH_ONLY, best)
        if best.miss < tolerance:
            return best
        return both_sides(problem, ANY_APPROACH, no_posture(INF))
    even = problem.goal.tool.even[2]
    odd = problem.goal.tool.odd[2]
    if even * even + odd * odd < ALONG_WAIST * ALONG_WAIST:
        # The direction is served from every angle of the waist, so the last hinge may stay where it is.
        best = both_sides(problem, ANY_APPROACH, best)
        if best.miss < tolerance:
            return best
    count = exact_pairs(problem)
    best = _serve_pairs(problem, count, BEST_PITCH_ONLY, best)
    if not best.miss < tolerance:  # an end of the pitches may be the best one but for rounding
        best = _serve_pairs(problem, count, ANY_APPROACH, best)
    return best if best.miss < tolerance else no_posture(INF)


def _serve_pairs(problem: ArmProblem, count: int, floor: float, best: Posture) -> Posture:
    for k in range(count):
        best = best_pitch(problem, problem.pairs[k].q1, problem.pairs[k].q5, floor, best)
    return best
