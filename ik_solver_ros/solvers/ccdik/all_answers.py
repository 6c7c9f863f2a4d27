"""Every exact answer that an arm has for a problem, or as many as are found."""

from __future__ import annotations

from ik_solver_ros.solvers.ccdik.constants import ONLY_EXACT, W1, W2
from ik_solver_ros.solvers.ccdik.descent import descend
from ik_solver_ros.solvers.ccdik.starts import begin, prepare_starts
from ik_solver_ros.solvers.ccdik.structure import ArmSearch
from ik_solver_ros.solvers.ccdik.three_parallel.branches import exact_postures
from ik_solver_ros.solvers.ccdik.three_parallel.constants import EXACT
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group import keep, take_problem


def branches(search: ArmSearch) -> list[list[float]]:
    """All postures of a WaistArm that reach the goal, or nearly."""
    found = []
    take_problem(search.arm, search.problem, search.problem.start, 0.0)
    tolerance = max(search.problem.orientation_tolerance, EXACT)
    for k in range(exact_postures(search.arm, search.problem.targets, tolerance)):
        keep(search.arm, search.arm.branches[k], search.q)
        found.append(search.q.values(search.problem.body.n))
    return found


def reached_from(search: ArmSearch, starts: int) -> list[list[float]]:
    """The exact answers that descents from so many starts come to."""
    found = []
    targets = search.problem.targets
    prepare_starts(search.problem, search.starts, targets, search.problem.seed)
    for k in range(starts):
        begin(search.problem, search.starts, k, search.q)
        _, reached = descend(search.problem, search, targets, search.q, (search.problem.scale, W1, W2), ONLY_EXACT)
        if reached:
            found.append(search.q.values(search.problem.body.n))
    return found
