"""The Jacobian's transpose: downhill, without a matrix to be solved.

Source: W. A. Wolovich and H. Elliott, "A computational technique for inverse kinematics" (1984); the step by
S. R. Buss, "Introduction to inverse kinematics" (2004):

    q <- q + a J^T e,   a = (e . J J^T e) / (J J^T e . J J^T e),   or a fixed one

Every step is clamped to the limits. As all methods of the gradient it is slow where the cost is a long valley.
"""

from __future__ import annotations

import math

import numpy as np

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.random import seeded
from ik_solver_ros.solvers.reference.restarts import keep, randomise
from ik_solver_ros.solvers.reference.twist import clamp, miss, task
from ik_solver_ros.solvers.solution import Attempt, SolverOptions

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
    scale = 1.0 / max(chain.reach, 1e-6)
    tolerances = options.position_tolerance, options.orientation_tolerance
    budget = options.max_iterations, options.max_restarts, options.seed
    return Attempt(*_descend(chain.arrays, goal.arrays(chain), chain.clamped(q0), scale, fixed, *tolerances, *budget))


@njit
def _descend(
    chain, goal, q0, scale, fixed, position_tolerance, orientation_tolerance, max_iterations, max_restarts, seed
):
    state, q, best, least, iterations = seeded(seed), q0.copy(), q0.copy(), math.inf, 0
    for restart in range(max_restarts + 1):
        if restart > 0:
            randomise(chain, state, q)
        for steps in range(max_iterations + 1):
            e, jacobian = task(chain, goal, q, scale)
            least = keep(q, miss(e, scale, position_tolerance, orientation_tolerance), best, least)
            if least <= 1.0:
                return best, iterations, restart
            if steps == max_iterations:
                break
            downhill = jacobian.T @ e
            moved = jacobian @ downhill
            size = np.dot(moved, moved)
            if size < 1e-30:
                break
            q += (fixed if fixed > 0.0 else np.dot(e, moved) / size) * downhill
            clamp(chain, q)
            iterations += 1
    return best, iterations, max_restarts
