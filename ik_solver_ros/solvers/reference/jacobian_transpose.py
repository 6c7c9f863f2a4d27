"""The Jacobian's transpose: downhill, without a matrix to be solved.

Source: W. A. Wolovich and H. Elliott, "A computational technique for inverse kinematics" (1984); the step by
S. R. Buss, "Introduction to inverse kinematics" (2004):

    q <- q + a J^T e,   a = (e . J J^T e) / (J J^T e . J J^T e),   or a fixed one

Every step is clamped to the limits. As all methods of the gradient it is slow where the cost is a long valley.
"""

from __future__ import annotations

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import clamp
from ik_solver_ros.kinematics.quaternion import add, dot, scaled
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.problem import Problem, prepare
from ik_solver_ros.solvers.reference.restarts import Restarts, keep_best, randomise
from ik_solver_ros.solvers.reference.twist import Twist, downhill, fill_twist, tolerance_ratio
from ik_solver_ros.solvers.solution import Attempt, SolverOptions

try:
    import cython
except ImportError:
    from ik_solver_ros import uncompiled as cython  # type: ignore[no-redef]

# A fixed step must not be longer than 2 over the largest eigenvalue of J J^T, or it swings. With lengths in units of
# the arm's reach, n joints at equal distances bring that to n / 3 for the position, and directions add up to n to it.
POSITION, DIRECTIONS = 1.0 / 3.0, 1.0


def jacobian_transpose(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """With the step that would be best if the arm were linear."""
    return _attempt(chain, goal, q0, options, 0.0)


def jacobian_transpose_fixed(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """With a fixed step."""
    largest = chain.n * (POSITION + (DIRECTIONS if goal.targets else 0.0))
    return _attempt(chain, goal, q0, options, 1.0 / largest)


def _attempt(chain: Chain, goal: Goal, q0: Array, options: SolverOptions, fixed: float) -> Attempt:
    search = Restarts(prepare(Problem(), chain.body, goal, q0.tolist(), options))
    twist = Twist()
    with cython.nogil:
        restarts = _descend(search, twist, fixed)
    return search.attempt(restarts)


def _descend(search: Restarts, twist: Twist, fixed: float) -> int:
    """Fill in `search.best`; returns the number of restarts."""
    for restart in range(search.problem.max_restarts + 1):
        if restart > 0:
            randomise(search)
        for steps in range(search.problem.max_iterations + 1):
            fill_twist(search.problem, twist, search.q)
            keep_best(search, tolerance_ratio(search.problem, twist))
            if search.least <= 1.0:
                return restart
            if steps == search.problem.max_iterations or not _step(search, twist, fixed):
                break
            search.iterations += 1
    return search.problem.max_restarts


def _step(search: Restarts, twist: Twist, fixed: float) -> bool:
    """A step of `search.q`, of this size or the best one for 0; False where none leads anywhere."""
    moved = (0.0, 0.0, 0.0)  # J J^T e
    turned = (0.0, 0.0, 0.0)
    for i in range(search.problem.body.n):
        moved = add(moved, scaled(downhill(twist, i), twist.moves[i]))
        turned = add(turned, scaled(downhill(twist, i), twist.turns[i]))
    square = dot(moved, moved) + dot(turned, turned)
    if square < 1e-30:
        return False
    best = (dot(twist.linear, moved) + dot(twist.angular, turned)) / square
    size = fixed if fixed > 0.0 else best
    for i in range(search.problem.body.n):
        search.q.at[i] = search.q.at[i] + size * downhill(twist, i)
    clamp(search.problem.body, search.q)
    return True
