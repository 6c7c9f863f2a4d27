"""solve_batch: the answers of `solve` for many goals at once, over all cores."""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ik_solver_ros.errors import GoalError
from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Array, tool_of, unpacked_chain
from ik_solver_ros.solvers.ccdik.search import search_unpacked
from ik_solver_ros.solvers.goal import WIDTH, Goal, pack_goal, unpacked_goal
from ik_solver_ros.solvers.solution import SolverOptions, Status, unpacked_options
from ik_solver_ros.solvers.solve import DEFAULT_OPTIONS, INVALID_GOAL, STATUSES, grade, solve, solver_name

CHUNK = 256  # goals that a thread takes at a time, at most: some need a thousand times as long as others


class BatchSolution(NamedTuple):
    """The answers of `solve_batch`, one row a goal."""

    q: Array  # (m, n) [rad or m]
    status: list[Status]  # m
    position_error: Array  # (m,) [m]
    approach_error: Array  # (m,) [rad]
    roll_error: Array  # (m,) [rad]


class _Task(NamedTuple):
    """A chain as it is packed, and its goals."""

    kind: npt.NDArray[np.int64]
    packed: Array
    waist_arm: Array | None
    goals: Array  # (m, 7)
    targets: int
    starts: Array  # (m, n)
    options: Array


class _Answers(NamedTuple):
    """Room for the answers; what is there stays where a goal is not valid."""

    q: Array  # (m, n)
    codes: npt.NDArray[np.int64]  # (m,) indices into STATUSES
    errors: Array  # (m, 3)


# Eight parameters: others call it by these names, and more than goals, start and how there is not.
def solve_batch(
    chain: Chain,
    positions: npt.ArrayLike,
    directions: npt.ArrayLike | None = None,
    quats_xyzw: npt.ArrayLike | None = None,
    q0: npt.ArrayLike | None = None,
    *,
    solver: str = "ccdik",
    options: SolverOptions = DEFAULT_OPTIONS,
    threads: int | None = None,
) -> BatchSolution:
    """`solve` for m goals: positions (m, 3) [m], with directions (m, 3) or quats_xyzw (m, 4) or neither.

    q0 is one start (n,) for all, or (m, n). A row that is no valid goal, or whose start is not finite, is answered
    INVALID_GOAL with q nan, and the others are solved. The answers are those of `solve`, bit for bit. Works on as many
    `threads` as there are cores, without Python's lock. Raises GoalError where the shapes do not fit,
    UnknownSolverError.
    """
    p = np.asarray(positions, dtype=float)
    if p.ndim != 2 or p.shape[1] != 3:
        raise GoalError("positions", p.shape, "shape (m, 3) is wanted")
    if directions is not None and quats_xyzw is not None:
        raise GoalError("directions", "given", "directions or quats_xyzw may be given, not both")
    m, n = len(p), chain.n
    targets = 1 if directions is not None else 2 if quats_xyzw is not None else 0
    goals = np.zeros((m, 7))
    goals[:, :3] = p
    if directions is not None:
        goals[:, 3:6] = _rows("directions", directions, m, WIDTH[targets])
    if quats_xyzw is not None:
        goals[:, 3:7] = _rows("quats_xyzw", quats_xyzw, m, WIDTH[targets])
    start = np.asarray(chain.mid if q0 is None else q0, dtype=float)
    starts = np.empty((m, n))
    starts[:] = _rows("q0", start, m, n) if start.ndim == 2 else _rows("q0", start[None], 1, n)

    answers = _Answers(np.full((m, n), np.nan), np.full(m, INVALID_GOAL), np.full((m, 3), np.nan))
    task = _Task(chain.arrays.kind, chain.packed, chain.waist_arm, goals, targets, starts, options.packed)
    if solver != "ccdik":
        _one_by_one(chain, task, solver, options, answers)
    else:
        threads = threads or len(os.sched_getaffinity(0))
        chunk = min(CHUNK, max(1, m // (16 * threads)))
        ends = [(i, min(i + chunk, m)) for i in range(0, m, chunk)]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda end: _solve_rows(task, end[0], end[1], answers), ends))
    return BatchSolution(answers.q, [STATUSES[code] for code in answers.codes.tolist()], *answers.errors.T)


@njit
def _solve_rows(task: _Task, first: int, last: int, answers: _Answers) -> None:
    """Solve the goals from `first` up to `last`; the rows of those that are not valid stay as they are."""
    kind, packed, waist_arm, goals, targets, starts, packed_options = task
    q, codes, errors = answers
    chain, options = unpacked_chain(kind, packed), unpacked_options(packed_options)
    tool, wanted = tool_of(kind.shape[0], packed), np.zeros((2, 3))
    for i in range(first, last):
        start, packed_goal = starts[i], goals[i]
        fault, _ = pack_goal(targets, packed_goal)
        if fault != 0 or not math.isfinite(start.sum()):
            continue
        goal = unpacked_goal(packed_goal, targets, tool, wanted)
        answer, _, _ = search_unpacked(kind, packed, waist_arm, goal, start, options)
        codes[i], errors[i, 0], errors[i, 1], errors[i, 2] = grade(chain, goal, start, answer, options)
        for k in range(answer.shape[0]):
            q[i, k] = answer[k]


def _one_by_one(chain: Chain, task: _Task, solver: str, options: SolverOptions, answers: _Answers) -> None:
    """The same by a solver that has no compiled form of its own."""
    solver = solver_name(solver)
    for i, (goal, start) in enumerate(zip(task.goals, task.starts)):
        if pack_goal(task.targets, goal)[0] != 0 or not np.isfinite(start).all():
            continue
        found = solve(chain, Goal(goal, task.targets), start, solver=solver, options=options)
        answers.q[i], answers.codes[i] = found.q, STATUSES.index(found.status)
        answers.errors[i] = found.position_error, found.approach_error, found.roll_error


def _rows(name: str, values: npt.ArrayLike, m: int, width: int) -> Array:
    out = np.asarray(values, dtype=float)
    if out.shape != (m, width):
        raise GoalError(name, out.shape, f"shape ({m}, {width}) is wanted")
    return out
