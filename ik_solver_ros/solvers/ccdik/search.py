"""CCDIK: the default solver. The goal exactly, or the nearest answer: position first, then approach, then roll.

Where the arm is a waist, three parallel hinges and a last hinge, its structure gives the answer (structure.py: there
the group of parallel hinges is one joint of CCDIK, moved to its best in closed form). Any other chain is searched by
sweeps and descents (generic.py, descent.py).
"""

from __future__ import annotations

from ik_solver_ros.kinematics.constants import INF
from ik_solver_ros.kinematics.kernels import copy, largest_step
from ik_solver_ros.solvers.ccdik.constants import MENDED, NEARLY, SAME_POSITION
from ik_solver_ros.solvers.ccdik.generic import search_exact, solve_generic
from ik_solver_ros.solvers.ccdik.nearest import descend_to_nearest
from ik_solver_ros.solvers.ccdik.structure import ArmSearch, closed_form, missed_by, solve_by_structure
from ik_solver_ros.solvers.problem import Problem, chord_errors, pose_errors, set_start

NO_FLIP = 0.1  # [rad or m] an answer this near to q0 is on its branch
STILL = 1e-5  # [rad] an arm that is so near to an answer may be at one already


def search_answer(search: ArmSearch) -> tuple[int, int]:
    """(iterations, restarts): the best answer to `search.problem`, in `search.answer`."""
    set_start(search.problem)
    miss = INF
    if search.has_structure and search.problem.targets > 0:
        best = closed_form(search, search.problem.q0)
        miss = missed_by(best)
        # There is nothing to mend: it is exact, or the position is in place and the direction cannot be had.
        final = miss <= 0.5 * search.problem.orientation_tolerance or MENDED <= miss < INF
        own = search.arm.arm.exact and best.step > STILL
        if final and own and not search.problem.track and _inside(search.problem):
            return 0, 0
    return _search_on(search, miss)


def _inside(problem: Problem) -> bool:
    """Whether q0 is inside the limits."""
    for i in range(problem.body.n):
        if problem.q0.at[i] != problem.start.at[i]:
            return False
    return True


def _search_on(search: ArmSearch, miss: float) -> tuple[int, int]:
    """The same where `closed_form` had nothing exact to say, or where a branch is to be kept to.

    What it has found is in `search.answer`, and misses by `miss` [rad].
    """
    n = search.problem.body.n
    targets = search.problem.targets
    errors = chord_errors(search.problem, targets, search.problem.start)
    there = errors[0] <= 0.5 * search.problem.position_tolerance
    if there and max(errors[1], errors[2]) <= 0.5 * search.problem.orientation_tolerance:
        copy(search.problem.start, search.answer, n)
        return 0, 0  # the arm is there already
    if search.has_structure:
        done = solve_by_structure(search, miss)
        if miss < NEARLY:
            errors = chord_errors(search.problem, targets, search.answer)
            if max(errors[1], errors[2]) > search.problem.orientation_tolerance:
                done = search_exact(search, 2, search.problem.max_restarts + 1)
    else:
        done = solve_generic(search)
    if search.problem.track and largest_step(search.answer, search.problem.start, n) > NO_FLIP:
        _keep_branch(search)
    return done


def _keep_branch(search: ArmSearch) -> None:
    """Take the nearest answer on the branch of q0, unless `search.answer` is nearer by more than the hysteresis."""
    copy(search.problem.start, search.q, search.problem.body.n)
    descend_to_nearest(search, search.q, False)
    here = pose_errors(search.problem, search.q)
    there = pose_errors(search.problem, search.answer)
    if here[0] > max(there[0] + SAME_POSITION, search.problem.position_tolerance):
        return
    if here[1] - there[1] > search.problem.hysteresis or here[2] - there[2] > search.problem.hysteresis:
        return
    copy(search.q, search.answer, search.problem.body.n)
