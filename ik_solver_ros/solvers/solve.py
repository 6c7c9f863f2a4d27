"""solve: the one public verb. It checks the arguments, calls the solver, and judges the answer."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module

import numpy as np
import numpy.typing as npt

from ik_solver_ros.errors import UnknownSolverError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.solvers.ccdik.answers import Answer, find_answer, grade
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.solution import STATUSES, Attempt, Solution, SolverOptions
from ik_solver_ros.solvers.track import extrapolated_start
from ik_solver_ros.uncompiled import note

Solver = Callable[[Chain, Goal, Array, SolverOptions], Attempt]

# name: "module:function", imported when first asked for
SOLVERS: dict[str, str] = {
    "ccdik": "ik_solver_ros.solvers.ccdik.answers:ccdik",
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

note()


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
    solver: str = "ccdik",
    options: SolverOptions = DEFAULT_OPTIONS,
    q_before: npt.ArrayLike | None = None,
) -> Solution:
    """The joint positions that bring the tip to the goal, or as near as the arm can.

    q0 (n,): where the arm is now [rad or m], by default the middle of its ranges; the search starts there (from
    the nearest point inside the limits). Of equal answers the one nearest to q0 is given, the largest step of a joint
    first. Never raises for a goal that is out of reach: see `Solution.status`.

    On a path, goal after goal, use a Tracker.

    Raises GoalError for a q0 of the wrong shape or not finite, UnknownSolverError.
    """
    start = chain.mid.tolist() if q0 is None else chain.checked_numbers(q0, "q0")
    if q_before is not None:
        warnings.warn("q_before is going away: use Tracker(chain).solve(goal)", DeprecationWarning, stacklevel=2)
        before = chain.checked(q_before, "q_before")
        start = extrapolated_start(chain, goal, np.array(start), before).tolist()
    return solve_from(chain, goal, start, solver, options)


def solve_from(
    chain: Chain, goal: Goal, start: list[float], solver: str = "ccdik", options: SolverOptions = DEFAULT_OPTIONS
) -> Solution:
    """The same from a start (n,) that has been checked."""
    if solver == "ccdik":
        answer = find_answer(chain.body, chain.waist_arm, goal, start, options)
        return _solution(chain, goal, answer, answer.iterations, answer.restarts)
    solver = solver_name(solver)
    attempt = find_solver(solver)(chain, goal, np.array(start), options)
    return replace(judge(chain, goal, start, attempt, options), solver=solver)


def judge(chain: Chain, goal: Goal, start: Sequence[float], attempt: Attempt, options: SolverOptions) -> Solution:
    """Forward kinematics, limits and status of what a solver returned.

    Endless joints take the turn nearest to `start` (n,); what lies outside the limits is clamped before it is judged.
    """
    q = attempt.q.tolist() if attempt.q.shape == (chain.n,) else start
    answer = grade(chain.body, goal, start, q, options)
    return _solution(chain, goal, answer, attempt.iterations, attempt.restarts)


def _solution(chain: Chain, goal: Goal, answer: Answer, iterations: int, restarts: int) -> Solution:
    solution = Solution.__new__(Solution)
    # What __init__ does, in a third of its time: it would set the fields of a frozen class one by one.
    solution.__dict__.update(
        q=np.array(answer.q),
        status=STATUSES[answer.code],
        position_error=answer.position_error,
        approach_error=answer.approach_error,
        roll_error=answer.roll_error,
        iterations=iterations,
        restarts=restarts,
        chain=chain,
        goal=goal,
    )
    return solution
