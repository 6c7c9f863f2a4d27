"""solve_batch: the answers of `solve` for many goals at once, over all cores."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ik_solver_ros.errors import GoalError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Row
from ik_solver_ros.solvers.ccdik.answers import Rows, answer_rows, give_back, new_search
from ik_solver_ros.solvers.codes import INVALID_GOAL, NO_FAULT
from ik_solver_ros.solvers.goal import WIDTH, Goal
from ik_solver_ros.solvers.goal_numbers import check_goal
from ik_solver_ros.solvers.solution import STATUSES, SolverOptions, Status
from ik_solver_ros.solvers.solve import DEFAULT_OPTIONS, solve_from, solver_name

CHUNK = 256  # goals that a thread takes at a time, at most: some need a thousand times as long as others


class BatchSolution(NamedTuple):
    """The answers of `solve_batch`, one row a goal."""

    q: Array  # (m, n) [rad or m]
    status: list[Status]  # m
    position_error: Array  # (m,) [m]
    approach_error: Array  # (m,) [rad]
    roll_error: Array  # (m,) [rad]


class _Task(NamedTuple):
    """Goals, and room for their answers; what is there stays where a goal is not valid."""

    targets: int
    goals: Array  # (m, 7)
    starts: Array  # (m, n)
    q: Array  # (m, n)
    codes: npt.NDArray[np.int64]  # (m,) places in STATUSES
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

    codes = np.full(m, INVALID_GOAL, dtype=np.int64)
    task = _Task(targets, goals, starts, np.full((m, n), np.nan), codes, np.full((m, 3), np.nan))
    if solver != "ccdik":
        _one_by_one(chain, task, solver, options)
    else:
        threads = threads or len(os.sched_getaffinity(0))
        chunk = min(CHUNK, max(1, m // (16 * threads)))
        ends = [(i, min(i + chunk, m)) for i in range(0, m, chunk)]
        rows = Rows(*task)
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda end: _some(chain, rows, end, options), ends))
    return BatchSolution(task.q, [STATUSES[code] for code in codes.tolist()], *task.errors.T)


def _some(chain: Chain, rows: Rows, end: tuple[int, int], options: SolverOptions) -> None:
    search = new_search(chain.body, chain.waist_arm, options)
    answer_rows(search, rows, *end)
    give_back(search)


def _one_by_one(chain: Chain, task: _Task, solver: str, options: SolverOptions) -> None:
    """The same by a solver that has no compiled form of its own."""
    solver = solver_name(solver)
    for i, (numbers, start) in enumerate(zip(task.goals.tolist(), task.starts)):
        row = Row(numbers)
        if check_goal(task.targets, row) != NO_FAULT or not np.isfinite(start).all():
            continue
        found = solve_from(chain, Goal(task.targets, tuple(row.values(7))), start.tolist(), solver, options)
        task.q[i], task.codes[i] = found.q, STATUSES.index(found.status)
        task.errors[i] = found.position_error, found.approach_error, found.roll_error


def _rows(name: str, values: npt.ArrayLike, m: int, width: int) -> Array:
    out = np.asarray(values, dtype=float)
    if out.shape != (m, width):
        raise GoalError(name, out.shape, f"shape ({m}, {width}) is wanted")
    return out
