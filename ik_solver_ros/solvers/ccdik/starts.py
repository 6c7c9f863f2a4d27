"""Where descents begin: the sample postures nearest to a goal, then random ones."""

from __future__ import annotations

from ik_solver_ros.kinematics.constants import INF, PI, SAMPLES
from ik_solver_ros.kinematics.kernels import Row, copy, room
from ik_solver_ros.kinematics.quaternion import dot, sub
from ik_solver_ros.solvers.ccdik.constants import NEAR, W1
from ik_solver_ros.solvers.problem import Problem
from ik_solver_ros.solvers.random import Random, uniform


class Starts:
    """The starts of one search, as `prepare_starts` leaves them."""

    def __init__(self) -> None:
        self.costs = room(0.0, SAMPLES)
        self.near = room(0, NEAR)
        self.random = Random()


def prepare_starts(problem: Problem, starts: Starts, targets: int, seed: int) -> None:
    """Find the NEAR sample postures whose tip is nearest to the goal, nearest first, and seed the random ones."""
    starts.random.state = seed
    for k in range(SAMPLES):
        d = sub(problem.body.tips[k], problem.position)
        cost = problem.scale * problem.scale * dot(d, d)
        if targets > 0:
            d = sub(problem.body.pointing[k], problem.wanted[0])
            cost += W1 * W1 * dot(d, d)
        starts.costs[k] = cost
    for i in range(NEAR):
        best = 0
        for k in range(1, SAMPLES):
            if starts.costs[k] < starts.costs[best]:
                best = k
        starts.near[i] = best
        starts.costs[best] = INF


def begin(problem: Problem, starts: Starts, restart: int, q: Row) -> None:
    """Put q where descent number `restart` begins: twice at q0, then at the nearest samples, then anywhere inside."""
    if restart < 2:
        copy(problem.start, q, problem.body.n)
        return
    for i in range(problem.body.n):
        if restart < 2 + NEAR:
            q.at[i] = problem.body.samples[starts.near[restart - 2]][i]
            continue
        u = uniform(starts.random)
        if problem.body.endless[i]:
            q.at[i] = problem.start.at[i] + PI * (2.0 * u - 1.0)
        else:
            q.at[i] = problem.body.lower[i] + u * (problem.body.upper[i] - problem.body.lower[i])
