"""All postures of a WaistArm that serve a goal exactly."""

from __future__ import annotations

from ik_solver_ros.kinematics.constants import INF
from ik_solver_ros.solvers.ccdik.three_parallel.constants import ANY_APPROACH, BRANCHES, EXACT
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group import ArmProblem, best_pitch, no_posture
from ik_solver_ros.solvers.ccdik.three_parallel.roll import roll_in_place
from ik_solver_ros.solvers.ccdik.three_parallel.sinusoids import evaluate, exact_pairs, tip_on_axis

try:
    import cython
except ImportError:
    from ik_solver_ros import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:
    pass


def exact_postures(problem: ArmProblem, targets: int, tolerance: float) -> int:
    """Fill `problem.branches` with all postures whose approach, and roll, are within `tolerance` [rad].

    Returns how many there are. Whatever elbow is preferred, both are among them.
    """
    on_axis = tip_on_axis(problem.arm)
    preferred = problem.elbow
    count = 0
    for up in range(2):
        problem.elbow = 1.0 - 2.0 * up
        for k in range(4 if on_axis else 2 + exact_pairs(problem)):
            best = no_posture(INF)
            if k < 2 and targets == 1:
                best = evaluate(problem, problem.now[4], 1.0 - 2.0 * k, ANY_APPROACH, best)
            elif k < 2 and on_axis:
                side = evaluate(problem, problem.now[4], 1.0 - 2.0 * k, ANY_APPROACH, best)
                best = roll_in_place(problem, side, tolerance, best)
            elif k >= 2 and not on_axis:
                floor = ANY_APPROACH if targets == 1 else max(tolerance, EXACT)
                best = best_pitch(problem, problem.pairs[k - 2].q1, problem.pairs[k - 2].q5, floor, best)
            if best.miss <= tolerance and best.elbow == 0.0 and count < BRANCHES:
                problem.branches[count] = best
                count += 1
    problem.elbow = preferred
    return count
