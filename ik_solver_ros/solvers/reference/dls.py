"""Damped least squares, the damping adapted to how well the last step went.

Source: C. W. Wampler (1986), Y. Nakamura and H. Hanafusa (1986); the adaption as in Levenberg and Marquardt's method:

    q <- q + (J^T J + m I)^-1 J^T e,   m down where that helped, up where it did not

Joints at a limit that the step pushes against are left out of it; the rest is clamped.
"""

from __future__ import annotations

import math

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.constants import INF, MOST_JOINTS
from ik_solver_ros.kinematics.kernels import Row, clamp, copy, room
from ik_solver_ros.kinematics.quaternion import dot
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.problem import Problem, prepare
from ik_solver_ros.solvers.reference.restarts import Restarts, keep_best, randomise
from ik_solver_ros.solvers.reference.twist import Twist, downhill, fill_twist, missing, tolerance_ratio
from ik_solver_ros.solvers.solution import Attempt, SolverOptions

try:
    import cython
except ImportError:
    from ik_solver_ros import uncompiled as cython  # type: ignore[no-redef]

FIRST, LEAST, MOST = 1e-3, 1e-9, 1e6  # damping; beyond the most no step helps any more
EASIER, HARDER = 0.2, 5.0


class Damped(Restarts):
    """Such a search, with room for a step: J^T J and J^T e at `q`, what is free to move, and where that leads."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.twist = Twist()
        self.hessian = [room(0.0) for _ in range(MOST_JOINTS)]
        self.downhill = room(0.0)
        self.factor = [room(0.0) for _ in range(MOST_JOINTS)]
        self.free = room(0)
        self.step = room(0.0)
        self.tried = Row()


def dls(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """From q0, then from random configurations."""
    search = Damped(prepare(Problem(), chain.body, goal, q0.tolist(), options))
    with cython.nogil:
        restarts = _descend(search)
    return search.attempt(restarts)


def _descend(search: Damped) -> int:
    """Fill in `search.best`; returns the number of restarts."""
    for restart in range(search.problem.max_restarts + 1):
        if restart > 0:
            randomise(search)
        damping = FIRST
        fill_twist(search.problem, search.twist, search.q)
        before = _take_in(search)
        for steps in range(search.problem.max_iterations + 1):
            if search.least <= 1.0:
                return restart
            if steps == search.problem.max_iterations or damping > MOST:
                break
            after = _try_step(search, damping)
            search.iterations += 1
            if after < before:
                copy(search.tried, search.q, search.problem.body.n)
                before = _take_in(search)
                damping = max(EASIER * damping, LEAST)
            else:
                damping *= HARDER
    return search.problem.max_restarts


def _take_in(search: Damped) -> float:
    """Fill J^T J and J^T e from the twist at `search.q`; returns the square of what is missing there."""
    keep_best(search, tolerance_ratio(search.problem, search.twist))
    for i in range(search.problem.body.n):
        search.downhill[i] = downhill(search.twist, i)
        for j in range(i + 1):
            h = dot(search.twist.moves[i], search.twist.moves[j]) + dot(search.twist.turns[i], search.twist.turns[j])
            search.hessian[i][j] = h
    return missing(search.twist)


def _try_step(search: Damped, damping: float) -> float:
    """Put `search.tried` a step from `search.q`; returns the square of what is missing there, inf without a step."""
    m = 0
    for i in range(search.problem.body.n):
        at_lower = search.q.at[i] <= search.problem.body.lower[i] and search.downhill[i] < 0.0
        at_upper = search.q.at[i] >= search.problem.body.upper[i] and search.downhill[i] > 0.0
        if not (at_lower or at_upper):
            search.free[m] = i
            m += 1
    if not _solve_free(search, m, damping):
        return INF
    copy(search.q, search.tried, search.problem.body.n)
    for a in range(m):
        i = search.free[a]
        search.tried.at[i] = search.q.at[i] + search.step[a]
    clamp(search.problem.body, search.tried)
    fill_twist(search.problem, search.twist, search.tried)
    return missing(search.twist)


def _solve_free(search: Damped, m: int, damping: float) -> bool:
    """Solve for the step of m free joints by Cholesky; False where rounding leaves nothing to be solved."""
    for a in range(m):
        for b in range(a + 1):
            total = search.hessian[search.free[a]][search.free[b]]
            if a == b:
                total += damping
            for k in range(b):
                total -= search.factor[a][k] * search.factor[b][k]
            if a == b:
                if total <= 0.0:
                    return False
                search.factor[a][a] = math.sqrt(total)
            else:
                search.factor[a][b] = total / search.factor[b][b]
    for a in range(m):
        total = search.downhill[search.free[a]]
        for k in range(a):
            total -= search.factor[a][k] * search.step[k]
        search.step[a] = total / search.factor[a][a]
    for a in range(m - 1, -1, -1):
        total = search.step[a]
        for k in range(a + 1, m):
            total -= search.factor[k][a] * search.step[k]
        search.step[a] = total / search.factor[a][a]
    return True
