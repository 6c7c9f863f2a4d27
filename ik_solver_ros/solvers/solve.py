"""solve: the one public verb. It checks the arguments, calls the solver, and judges the answer."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from ik_solver_ros.errors import UnknownSolverError
from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics import kernels
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.solvers.ccdik.descent import pose_errors
from ik_solver_ros.solvers.ccdik.search import search_unpacked
from ik_solver_ros.solvers.goal import Goal, GoalArrays, unpacked_goal
from ik_solver_ros.solvers.solution import Attempt, Settings, Solution, SolverOptions, Status, unpacked_options
from ik_solver_ros.solvers.track import extrapolated_start

Solver = Callable[[Chain, Goal, Array, SolverOptions], Attempt]

# name: "module:function", imported when first asked for
SOLVERS: dict[str, str] = {
    "ccdik": "ik_solver_ros.solvers.ccdik.search:ccdik",
    "ccdik_published": "ik_solver_ros.solvers.reference.ccdik_published:ccdik_published",
    "ccd": "ik_solver_ros.solvers.reference.ccd:ccd",
    "ccd_alternative": "ik_solver_ros.solvers.reference.ccd:ccd_alternative",
    "fabrik": "ik_solver_ros.solvers.reference.fabrik:fabrik",
    "jacobian_transpose": "ik_solver_ros.solvers.reference.jacobian_transpose:jacobian_transpose",
    "jacobian_transpose_fixed": "ik_solver_ros.solvers.reference.jacobian_transpose:jacobian_transpose_fixed",
    "jacobian_pinv": "ik_solver_ros.solvers.reference.jacobian_pinv:jacobian_pinv",
    "dls": "ik_solver_ros.solvers.reference.dls:dls",
    "autodiff": "ik_solver_ros.solvers.reference.autodiff:autodiff",
    "analytic": "ik_solver_ros.solvers.reference.analytic:analytic",
    "scipy": "ik_solver_ros.solvers.reference.scipy_bounded:scipy_bounded",
    "pybullet": "ik_solver_ros.solvers.reference.pybullet_ik:pybullet_ik",
}
RENAMED = {"ccdik_seed": "ccdik_published"}  # old name: new name; the old ones go on working, with a warning

DEFAULT_OPTIONS = SolverOptions()
STATUSES = (Status.REACHED, Status.NEAREST_ORIENTATION, Status.NEAREST_POSITION, Status.INVALID_GOAL)
REACHED, NEAREST_ORIENTATION, NEAREST_POSITION, INVALID_GOAL = range(4)  # their indices, for compiled code


def solver_name(name: str) -> str:
    """The name in SOLVERS; for a name of old the new one, with a DeprecationWarning. Raises UnknownSolverError."""
    if name in RENAMED:
        warnings.warn(f"solver {name!r} is now called {RENAMED[name]!r}", DeprecationWarning, stacklevel=3)
        return RENAMED[name]
    if name not in SOLVERS:
        raise UnknownSolverError(name, SOLVERS)
    return name


def find_solver(name: str) -> Solver:
    """The solver function of this name. Raises UnknownSolverError listing the names there are."""
    module, function = SOLVERS[solver_name(name)].split(":")
    solver: Solver = getattr(import_module(module), function)
    return solver


def solve(
    chain: Chain,
    goal: Goal,
    q0: npt.ArrayLike | None = None,
    *,
    q_before: npt.ArrayLike | None = None,
    solver: str = "ccdik",
    options: SolverOptions = DEFAULT_OPTIONS,
) -> Solution:
    """The joint positions that bring the tip to the goal, or as near as the arm can.

    q0 (n,): where the arm is now [rad or m], by default the middle of its ranges; the search starts there (from
    the nearest point inside the limits). Of equal answers the one nearest to q0 is given, the largest step of a joint
    first. Never raises for a goal that is out of reach: see `Solution.status`.

    On a path, goal after goal, `SolverOptions(track=True)` keeps to one branch of the answers; q0 is then the answer
    to the goal before and q_before (n,) that to the one before it, so that a singular posture, where branches meet,
    is passed the way it was come to.

    Raises GoalError for a q0 or q_before of the wrong shape or not finite, UnknownSolverError.
    """
    start = chain.mid.copy() if q0 is None else chain.checked(q0, "q0")
    if q_before is not None:
        start = extrapolated_start(chain, goal, start, chain.checked(q_before, "q_before"))
    if solver != "ccdik":
        solver = solver_name(solver)
        attempt = find_solver(solver)(chain, goal, start, options)
        return judge(chain, goal, start, attempt, options)._replace(solver=solver)
    body = chain.arrays.kind, chain.packed, chain.waist_arm
    # The same in one call of compiled code, for speed.
    q, code, position, approach, roll, iterations, restarts = search_graded(
        *body, goal.packed, goal.targets, start, options.packed
    )
    return Solution(q, STATUSES[code], position, approach, roll, iterations, restarts, chain, goal)


def judge(chain: Chain, goal: Goal, start: Array, attempt: Attempt, options: SolverOptions) -> Solution:
    """Forward kinematics, limits and status of what a solver returned.

    Continuous joints take the turn nearest to `start`; what lies outside the limits is clamped before it is judged.
    """
    q = attempt.q
    if q.shape != start.shape:
        q = start
    q, code, position, approach, roll = grade_packed(
        chain.arrays.kind, chain.packed, goal.packed, goal.targets, start, q, options.packed
    )
    return Solution(q, STATUSES[code], position, approach, roll, attempt.iterations, attempt.restarts, chain, goal)


@njit
def grade_packed(
    kind: Any, packed: Array, packed_goal: Array, targets: int, start: Array, answer: Array, packed_options: Array
) -> tuple[Array, int, float, float, float]:
    """(q, index into STATUSES, position [m], approach [rad], roll [rad]) of a solver's answer, see `judge`."""
    chain = kernels.unpacked_chain(kind, packed)
    goal = unpacked_goal(packed_goal, targets, kernels.tool_of(kind.shape[0], packed), np.zeros((2, 3)))
    q = answer.copy()
    code, position, approach, roll = grade(chain, goal, start, q, unpacked_options(packed_options))
    return q, code, position, approach, roll


@njit
def search_graded(
    kind: Any,
    packed: Array,
    waist_arm: Array | None,
    packed_goal: Array,
    targets: int,
    start: Array,
    packed_options: Array,
) -> tuple[Array, int, float, float, float, int, int]:
    """(q, index into STATUSES, the three errors, iterations, restarts): CCDIK's answer, graded."""
    chain, options = kernels.unpacked_chain(kind, packed), unpacked_options(packed_options)
    goal = unpacked_goal(packed_goal, targets, kernels.tool_of(kind.shape[0], packed), np.zeros((2, 3)))
    q, iterations, restarts = search_unpacked(kind, packed, waist_arm, goal, start, options)
    code, position, approach, roll = grade(chain, goal, start, q, options)
    return q, code, position, approach, roll, iterations, restarts


@njit
def grade(
    chain: kernels.ChainArrays, goal: GoalArrays, start: Array, q: Array, options: Settings
) -> tuple[int, float, float, float]:
    """(index into STATUSES, position [m], approach [rad], roll [rad]) of q, which is put inside the limits in place."""
    for i in range(q.shape[0]):
        if not math.isfinite(q[i]):
            q[:] = start
            break
    for i in range(q.shape[0]):
        if chain.kind[i] == kernels.CONTINUOUS:
            q[i] += 2.0 * math.pi * math.floor((start[i] - q[i]) / (2.0 * math.pi) + 0.5)
        q[i] = min(max(q[i], chain.lower[i]), chain.upper[i])
    position, approach, roll = pose_errors(chain, goal, q)
    code = REACHED
    if position > options.position_tolerance:
        code = NEAREST_POSITION
    elif max(approach, roll) > options.orientation_tolerance:
        code = NEAREST_ORIENTATION
    return code, position, approach, roll
