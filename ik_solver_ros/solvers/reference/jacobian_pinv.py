"""The Jacobian's pseudo-inverse by singular values, with what is left of the joints drawn to a rest posture.

Source: D. E. Whitney, "Resolved motion rate control" (1969); A. Liegeois (1977) for the null space:

    q <- q + J+ e + (I - J+ J) k (rest - q)

Singular values below a thousandth of the largest are left out, steps are cut to `LONGEST`, and every step is clamped to
the limits. After `options.max_iterations` steps without an answer it starts anew at random.
"""

from __future__ import annotations

import math

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Row, clamp, room
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.problem import Problem, prepare
from ik_solver_ros.solvers.reference.restarts import Restarts, keep_best, randomise
from ik_solver_ros.solvers.reference.singular_values import Rows, product, separate
from ik_solver_ros.solvers.reference.twist import Twist, fill_twist, missing, tolerance_ratio
from ik_solver_ros.solvers.solution import Attempt, SolverOptions

try:
    import cython
except ImportError:
    from ik_solver_ros import uncompiled as cython  # type: ignore[no-redef]

LONGEST = 0.5  # [rad or m] that a joint goes in a step
SMALLEST = 1e-3  # singular value that is still used, as a fraction of the largest
DRAWN = 0.05  # k...
NEAR = 0.05  # ...where e is longer than this; ever less towards the goal, since what is free is so to first order only


class Resolved(Restarts):
    """Such a search, with room for a step."""

    def __init__(self, problem: Problem, chain: Chain) -> None:
        super().__init__(problem)
        self.twist = Twist()
        self.rows = Rows()
        self.rest = Row(chain.mid.tolist())
        self.wish = room(0.0)  # k (rest - q)
        self.step = room(0.0)


def jacobian_pinv(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """The rest posture is the middle of the joints' ranges."""
    search = Resolved(prepare(Problem(), chain.body, goal, q0.tolist(), options), chain)
    with cython.nogil:
        restarts = _descend(search)
    return search.attempt(restarts)


def jacobian_pinv_step(chain: Chain, goal: Goal, q: Array, iterations: int = 10) -> Array:
    """Some steps from q (n,) without a new start: the live form, one call a frame. Raises GoalError for a bad q."""
    options = SolverOptions(1e-3, 1e-3, max_iterations=iterations, max_restarts=0)
    return jacobian_pinv(chain, goal, chain.checked(q), options).q


def _descend(search: Resolved) -> int:
    """Fill in `search.best`; returns the number of restarts."""
    for restart in range(search.problem.max_restarts + 1):
        if restart > 0:
            randomise(search)
        for steps in range(search.problem.max_iterations + 1):
            fill_twist(search.problem, search.twist, search.q)
            keep_best(search, tolerance_ratio(search.problem, search.twist))
            if search.least <= 1.0:
                return restart
            if steps == search.problem.max_iterations:
                break
            _find_step(search, DRAWN * min(1.0, math.sqrt(missing(search.twist)) / NEAR))
            _go(search)
            search.iterations += 1
    return search.problem.max_restarts


def _find_step(search: Resolved, drawn: float) -> None:
    """Fill `search.step`: J+ e, and of the wish, as far as it is `drawn` to rest, what the task leaves free."""
    n = search.problem.body.n
    for i in range(n):
        search.wish[i] = drawn * (search.rest.at[i] - search.q.at[i])
        search.step[i] = search.wish[i]
    _take_rows(search.rows, search.twist, n)
    separate(search.rows, n)
    largest = 0.0
    for k in range(6):
        largest = max(largest, math.sqrt(product(search.rows, k, k, n)))
    for k in range(6):
        square = product(search.rows, k, k, n)
        if math.sqrt(square) > max(SMALLEST * largest, 1e-12):
            lacking = search.rows.right[k]
            for i in range(n):
                lacking -= search.rows.at[k][i] * search.wish[i]
            for i in range(n):
                search.step[i] = search.step[i] + lacking / square * search.rows.at[k][i]


def _take_rows(rows: Rows, twist: Twist, n: int) -> None:
    """J and e as rows."""
    rows.right[0], rows.right[1], rows.right[2] = twist.linear
    rows.right[3], rows.right[4], rows.right[5] = twist.angular
    for i in range(n):
        rows.at[0][i], rows.at[1][i], rows.at[2][i] = twist.moves[i]
        rows.at[3][i], rows.at[4][i], rows.at[5][i] = twist.turns[i]


def _go(search: Resolved) -> None:
    """Take the step, cut to `LONGEST`."""
    longest = 1e-12
    for i in range(search.problem.body.n):
        longest = max(longest, abs(search.step[i]))
    for i in range(search.problem.body.n):
        search.q.at[i] = search.q.at[i] + search.step[i] * min(1.0, LONGEST / longest)
    clamp(search.problem.body, search.q)
