"""Restarts from random configurations, for solvers that have none of their own."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import CONTINUOUS, Array, ChainArrays
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.random import seeded, uniform
from ik_solver_ros.solvers.reference.twist import tolerance_ratio_at
from ik_solver_ros.solvers.solution import Attempt, SolverOptions


@njit
def randomise(chain: ChainArrays, state: npt.NDArray[np.uint64], q: Array) -> None:
    """Put q (n,) anywhere within the limits, in place; continuous joints within a turn."""
    for i in range(q.shape[0]):
        low, high = chain.lower[i], chain.upper[i]
        if chain.kind[i] == CONTINUOUS or not math.isfinite(high - low):
            low, high = -math.pi, math.pi
        q[i] = low + (high - low) * uniform(state)


@njit
def update_best(q: Array, error: float, best: Array, least: float) -> float:
    """The smaller of the two errors; `best` (n,) becomes q where q's is."""
    if error < least:
        best[:] = q
        return error
    return least


def with_restarts(
    chain: Chain, goal: Goal, q0: Array, options: SolverOptions, descend: Callable[[Array], tuple[Array, int]]
) -> Attempt:
    """The best of what `descend` makes of q0 and of random configurations; for solvers that are not compiled.

    descend: from a start (n,) to its answer (n,), within the limits or not, and the iterations that this took.
    """
    arrays, wanted, settings = chain.arrays, goal.arrays(chain), options.settings
    state, q = seeded(options.seed), chain.clamped(q0)
    best, least, iterations = q.copy(), np.inf, 0
    for restart in range(options.max_restarts + 1):
        if restart:
            randomise(arrays, state, q)
        found, more = descend(q)
        iterations += more
        error = tolerance_ratio_at(arrays, wanted, chain.clamped(found), settings)
        if error < least:
            best, least = found, error
        if least <= 1.0:
            return Attempt(best, iterations, restart)
    return Attempt(best, iterations, options.max_restarts)
