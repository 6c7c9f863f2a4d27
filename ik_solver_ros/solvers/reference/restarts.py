"""Restarts from random configurations, for solvers that have none of their own."""

from __future__ import annotations

import math

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.kernels import CONTINUOUS
from ik_solver_ros.solvers.random import uniform


@njit
def randomise(chain, state, q):
    """Put q (n,) anywhere within the limits, in place; continuous joints within a turn."""
    for i in range(q.shape[0]):
        low, high = chain.lower[i], chain.upper[i]
        if chain.kind[i] == CONTINUOUS or not math.isfinite(high - low):
            low, high = -math.pi, math.pi
        q[i] = low + (high - low) * uniform(state)


@njit
def keep(q, error, best, least):
    """The smaller of the two errors; `best` (n,) becomes q where q's is."""
    if error < least:
        best[:] = q
        return error
    return least
