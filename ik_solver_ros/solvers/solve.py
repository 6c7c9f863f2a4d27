"""solve: the one public verb. It checks the arguments, calls the solver, and judges the answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ik_solver_ros.errors import GoalError, UnknownSolverError
from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics import kernels
from ik_solver_ros.kinematics.chain import Chain, Wrist
from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.kinematics.quaternion import angle_between, dot, from_two_vectors, rotate, sub
from ik_solver_ros.solvers.goal import Goal, GoalArrays
from ik_solver_ros.solvers.solution import Attempt, Solution, SolverOptions, Status

Solver = Callable[[Chain, GoalArrays, Array, SolverOptions], Attempt]

# name: "module:function", imported when first asked for
SOLVERS: dict[str, str] = {
    "ccdik": "ik_solver_ros.solvers.ccdik:ccdik",
    "ccdik_seed": "ik_solver_ros.solvers.ccdik_seed:ccdik_seed",
}

AT_LIMIT = 1e-4  # [rad or m] a joint this near to its limit is said to be at it
DEFAULT_OPTIONS = SolverOptions()


def find_solver(name: str) -> Solver:
    """The solver function of this name. Raises UnknownSolverError listing the names there are."""
    try:
        module, function = SOLVERS[name].split(":")
    except KeyError:
        raise UnknownSolverError(name, SOLVERS) from None
    solver: Solver = getattr(import_module(module), function)
    return solver


def solve(
    chain: Chain,
    goal: Goal,
    q0: npt.ArrayLike | None = None,
    *,
    solver: str = "ccdik",
    options: SolverOptions = DEFAULT_OPTIONS,
) -> Solution:
    """The joint positions that bring the tip to the goal, or as near as the arm can.

    q0 (n,): where the arm is now [rad or m], by default the middle of its ranges; the search starts there (from
    the nearest point inside the limits). Never raises for a goal that is out of reach: see `Solution.status`.
    Raises GoalError for a q0 of the wrong shape or not finite, UnknownSolverError.
    """
    start = chain.mid if q0 is None else chain.checked(q0, "q0")  # type: ignore[arg-type]
    start = chain.clamped(start)
    target = goal.arrays(chain)
    attempt = find_solver(solver)(chain, target, start, options)
    return judge(chain, target, start, attempt, options)


def judge(chain: Chain, goal: GoalArrays, start: Array, attempt: Attempt, options: SolverOptions) -> Solution:
    """Forward kinematics, limits and status of what a solver returned.

    Continuous joints take the turn nearest to `start`; what lies outside the limits is clamped before it is judged.
    """
    q = np.asarray(attempt.q, dtype=np.float64)
    if q.shape != start.shape or not np.isfinite(q).all():
        q = start
    turns = np.where(chain.arrays.kind == kernels.CONTINUOUS, np.round((start - q) / (2.0 * np.pi)), 0.0)
    q = chain.clamped(q + 2.0 * np.pi * turns)
    position_error, approach_error, roll_error = errors(chain.arrays, goal, q)
    if position_error > options.position_tolerance:
        status = Status.NEAREST_POSITION
    elif max(approach_error, roll_error) > options.orientation_tolerance:
        status = Status.NEAREST_ORIENTATION
    else:
        status = Status.REACHED
    reason = "" if status is Status.REACHED else _reason(chain, goal, q, status, approach_error)
    return Solution(q, status, position_error, approach_error, roll_error, reason, attempt.iterations, attempt.restarts)


def _reason(chain: Chain, goal: GoalArrays, q: Array, status: Status, approach_error: float) -> str:
    """Why the arm can do no more at q: its wrist, its limits, its length, or its number of joints."""
    n = chain.n
    axes = np.empty((n, 3))
    kernels.joint_frames(chain.arrays, q, np.empty((n, 4)), np.empty((n, 3)), axes)
    if status is Status.NEAREST_ORIENTATION and chain.wrist is Wrist.ROLL and n > 1 and goal.targets:
        # The hinge before the roll is perpendicular to the plane in which such an arm can point.
        out_of_plane = math.asin(min(1.0, abs(float(axes[-2] @ goal.wanted[0]))))
        if 0.5 * approach_error < out_of_plane and approach_error > 1e-6:
            return "its wrist rolls the tool, so the tool can only point within the arm's vertical plane"
    at_limit = (q < chain.lower + AT_LIMIT) | (q > chain.upper - AT_LIMIT)
    if at_limit.any():
        names = [name for name, there in zip(chain.joint_names, at_limit) if there]
        return f"{' and '.join(names)} {'is at its limit' if len(names) == 1 else 'are at their limits'}"
    if status is Status.NEAREST_POSITION:
        return "it is stretched, or folded, as far as it goes"
    return f"{n} joints cannot set everything at once"


@njit
def errors(chain, goal, q):
    """(position [m], approach [rad], roll [rad]) by which the tip misses the goal at q.

    The roll is what remains about the tool axis after the shortest rotation that would mend the approach.
    """
    p, quat = kernels.tip_frame(chain, q)
    off = sub(p, goal.position)
    approach_error, roll_error = 0.0, 0.0
    if goal.targets > 0:
        now = rotate(quat, goal.tool[0])
        approach_error = angle_between(now, goal.wanted[0])
        if goal.targets > 1:
            side = rotate(from_two_vectors(now, goal.wanted[0]), rotate(quat, goal.tool[1]))
            roll_error = angle_between(side, goal.wanted[1])
    return math.sqrt(dot(off, off)), approach_error, roll_error


class BatchSolution(NamedTuple):
    """The answers of `solve_batch`, one row a goal."""

    q: Array  # (m, n) [rad or m]
    status: list[Status]  # m
    position_error: Array  # (m,) [m]
    approach_error: Array  # (m,) [rad]
    roll_error: Array  # (m,) [rad]


def solve_batch(
    chain: Chain,
    positions: npt.ArrayLike,
    directions: npt.ArrayLike | None = None,
    quats_xyzw: npt.ArrayLike | None = None,
    q0: npt.ArrayLike | None = None,
    *,
    solver: str = "ccdik",
    options: SolverOptions = DEFAULT_OPTIONS,
) -> BatchSolution:
    """`solve` for m goals: positions (m, 3) [m], with directions (m, 3) or quats_xyzw (m, 4) or neither.

    q0 is one start (n,) for all, or (m, n). A row that is no valid goal is answered INVALID_GOAL with q nan, and the
    others are solved. Raises GoalError where the shapes do not fit.
    """
    p = np.asarray(positions, dtype=float)
    if p.ndim != 2 or p.shape[1] != 3:
        raise GoalError("positions", p.shape, "shape (m, 3) is wanted")
    if directions is not None and quats_xyzw is not None:
        raise GoalError("directions", "given", "directions or quats_xyzw may be given, not both")
    d = None if directions is None else _rows("directions", directions, len(p), 3)
    r = None if quats_xyzw is None else _rows("quats_xyzw", quats_xyzw, len(p), 4)
    start = np.asarray(chain.mid if q0 is None else q0, dtype=float)
    starts = np.broadcast_to(start, (len(p), chain.n)) if start.ndim == 1 else _rows("q0", start, len(p), chain.n)
    q, miss = np.full((len(p), chain.n), np.nan), np.full((len(p), 3), np.nan)
    status = [Status.INVALID_GOAL] * len(p)
    for i in range(len(p)):
        try:
            if d is not None:
                goal = Goal.approach(p[i], d[i])
            elif r is not None:
                goal = Goal.pose(p[i], r[i])
            else:
                goal = Goal.point(p[i])
            found = solve(chain, goal, starts[i], solver=solver, options=options)
        except GoalError:
            continue
        q[i], status[i] = found.q, found.status
        miss[i] = found.position_error, found.approach_error, found.roll_error
    return BatchSolution(q, status, miss[:, 0], miss[:, 1], miss[:, 2])


def _rows(name: str, values: npt.ArrayLike, m: int, width: int) -> Array:
    out = np.asarray(values, dtype=float)
    if out.shape != (m, width):
        raise GoalError(name, out.shape, f"shape ({m}, {width}) is wanted")
    return out
