"""CCDIK for a WaistArm: the closed form of its structure, and the descents that mend what rounding leaves of it."""

from __future__ import annotations

from ik_solver_ros.kinematics.constants import INF
from ik_solver_ros.kinematics.kernels import Row, clamp, copy, largest_step
from ik_solver_ros.kinematics.waist_arm import WaistArm
from ik_solver_ros.solvers.ccdik.constants import MENDED, NEARLY, ONLY_EXACT, W1, W2
from ik_solver_ros.solvers.ccdik.descent import descend
from ik_solver_ros.solvers.ccdik.nearest import Search, consider, forget, to_position
from ik_solver_ros.solvers.ccdik.three_parallel.approach import nearest_approach
from ik_solver_ros.solvers.ccdik.three_parallel.branches import exact_postures
from ik_solver_ros.solvers.ccdik.three_parallel.constants import ANY_APPROACH, EXACT
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group import ArmProblem, keep, no_posture, take_problem
from ik_solver_ros.solvers.ccdik.three_parallel.roll import nearest_pose
from ik_solver_ros.solvers.ccdik.three_parallel.sinusoids import both_sides
from ik_solver_ros.solvers.ccdik.three_parallel.unreachable import nearest_reach

try:
    import cython
except ImportError:
    from ik_solver_ros import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:
    from ik_solver_ros.kinematics.shapes import Posture

SAME_POSTURE = 1e-3  # [rad] two descents that end nearer to each other than this have come to the same


class ArmSearch(Search):
    """A search that knows of the arm's structure, where it has one."""

    def __init__(self) -> None:
        super().__init__()
        self.arm = ArmProblem()
        self.has_structure = False
        self.nearest = Row()
        self.numbers = Row()  # of a goal of a batch

    def set_arm(self, arm: WaistArm | None) -> None:
        """The structure of the chain whose problem this is, None without."""
        self.has_structure = arm is not None
        if arm is not None:
            self.arm.set_arm(arm)


def closed_form(search: ArmSearch, now: Row) -> Posture:
    """The best posture of a WaistArm that is `now` there, in `search.answer` too; one that misses by inf is none."""
    take_problem(search.arm, search.problem, now, search.problem.elbow)
    tolerance = max(search.problem.orientation_tolerance, EXACT)
    best = no_posture(INF)
    if search.problem.targets == 2:
        best = nearest_pose(search.arm, tolerance, search.problem.roll_slack)
    else:
        if search.problem.targets == 0:  # any approach will do, so the last hinge may stay where it is
            best = both_sides(search.arm, ANY_APPROACH, best)
        if not best.miss < INF:
            own = search.arm.arm.exact
            best = nearest_approach(search.arm, 0.5 * search.problem.orientation_tolerance if own else tolerance)
    keep(search.arm, best, search.answer)
    return best


def solve_by_structure(search: ArmSearch, miss: float) -> tuple[int, int]:
    """(iterations, restarts) for a WaistArm, the answer in `search.answer`.

    What `closed_form` has found is there before, and misses by `miss` [rad]; inf of nothing.
    """
    n = search.problem.body.n
    total = 0
    position_only = (search.problem.scale, 0.0, 0.0)
    if search.problem.targets == 0:
        copy(search.problem.start, search.q, n)
        total, reached = descend(search.problem, search, 0, search.q, position_only, ONLY_EXACT)
        if reached and search.problem.elbow == 0.0:
            copy(search.q, search.answer, n)
            return total, 0
        miss = missed_by(closed_form(search, search.problem.start))
    if miss < INF:
        if search.problem.targets > 0 and miss < MENDED:
            iterations, reached = _mend(search)
            total += iterations
            if reached:
                return total, 0
        iterations, reached = descend(search.problem, search, 0, search.answer, position_only, ONLY_EXACT)
        if reached:
            return total + iterations, 0
    return _out_of_reach(search, total)


def missed_by(posture: Posture) -> float:
    """The greater of both errors [rad] of a posture."""
    return max(posture.miss, posture.second)


def _mend(search: ArmSearch) -> tuple[int, bool]:
    """(iterations, whether `search.answer` is exact now): a descent from it, or from all branches of the closed form.

    Where hinges are parallel only nearly, one branch may get there where another one cannot.
    """
    n = search.problem.body.n
    targets = search.problem.targets
    weights = (search.problem.scale, W1, W2)
    copy(search.answer, search.q, n)
    total, reached = descend(search.problem, search, targets, search.q, weights, ONLY_EXACT)
    if reached:
        copy(search.q, search.answer, n)
        return total, True
    shortest = INF
    take_problem(search.arm, search.problem, search.problem.start, 0.0)
    for k in range(exact_postures(search.arm, targets, max(search.problem.orientation_tolerance, NEARLY))):
        keep(search.arm, search.arm.branches[k], search.q)
        clamp(search.problem.body, search.q)
        iterations, reached = descend(search.problem, search, targets, search.q, weights, ONLY_EXACT)
        total += iterations
        step = largest_step(search.q, search.problem.start, n)
        if reached and step < shortest:
            shortest = step
            copy(search.q, search.nearest, n)
    if shortest < INF:
        copy(search.nearest, search.answer, n)
    return total, shortest < INF


def _out_of_reach(search: ArmSearch, iterations: int) -> tuple[int, int]:
    """(iterations, restarts) for a WaistArm and a goal whose position it cannot have."""
    take_problem(search.arm, search.problem, search.problem.start, 0.0)
    count = nearest_reach(search.arm)
    forget(search)
    for k in range(count):
        keep(search.arm, search.arm.kept[k], search.q)
        clamp(search.problem.body, search.q)
        iterations += to_position(search, search.q)
        if k > 0 and largest_step(search.q, search.nearest, search.problem.body.n) < SAME_POSTURE:
            continue
        copy(search.q, search.nearest, search.problem.body.n)
        iterations += consider(search)
    return iterations, 0
