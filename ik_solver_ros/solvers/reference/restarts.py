"""Restarts from random configurations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.constants import INF, PI
from ik_solver_ros.kinematics.kernels import Row, copy
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.problem import Problem, prepare
from ik_solver_ros.solvers.random import Random, uniform
from ik_solver_ros.solvers.reference.twist import Twist, fill_twist, tolerance_ratio
from ik_solver_ros.solvers.solution import Attempt, SolverOptions


class Restarts:
    """A search that may start anew: where it is, and the best configuration that it has seen."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.random = Random(self.problem.seed)
        self.q = Row(self.problem.start.values(self.problem.body.n))
        self.best = Row(self.q.values(self.problem.body.n))
        self.least = INF  # the error of the best one
        self.iterations = 0  # of all descents

    def attempt(self, restarts: int, off_hinges: float = 0.0) -> Attempt:
        """What it has come to, after so many restarts."""
        return Attempt(np.array(self.best.values(self.problem.body.n)), self.iterations, restarts, off_hinges)


def randomise(search: Restarts) -> None:
    """Put `search.q` anywhere within the limits; endless joints within a turn."""
    for i in range(search.problem.body.n):
        low = search.problem.body.lower[i]
        high = search.problem.body.upper[i]
        if not high - low < INF:
            low = -PI
            high = PI
        search.q.at[i] = low + (high - low) * uniform(search.random)


def keep_best(search: Restarts, error: float) -> None:
    """Keep `search.q` where its error is less than that of the best one."""
    if error < search.least:
        search.least = error
        copy(search.q, search.best, search.problem.body.n)


def with_restarts(
    chain: Chain, goal: Goal, q0: Array, options: SolverOptions, descend: Callable[[Array], tuple[Array, int]]
) -> Attempt:
    """The best of what `descend` makes of q0 and of random configurations; for solvers that are not compiled.

    descend: from a start (n,) to its answer (n,), within the limits or not, and the iterations that this took.
    """
    search = Restarts(prepare(Problem(), chain.body, goal, q0.tolist(), options))
    twist = Twist()
    best = chain.clamped(q0)
    for restart in range(options.max_restarts + 1):
        if restart:
            randomise(search)
        found, more = descend(np.array(search.q.values(chain.n)))
        search.iterations += more
        fill_twist(search.problem, twist, Row(chain.clamped(found).tolist()))
        error = tolerance_ratio(search.problem, twist)
        if error < search.least:
            best, search.least = found, error
        if search.least <= 1.0:
            return Attempt(best, search.iterations, restart)
    return Attempt(best, search.iterations, options.max_restarts)
