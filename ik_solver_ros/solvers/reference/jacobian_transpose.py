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
from ik_solver_ros.solvers.reference.restarts import randomise, update_best
from ik_solver_ros.solvers.reference.twist import clamp, tolerance_ratio, twist_and_jacobian
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
    return Attempt(*_descend(chain.arrays, goal.arrays(chain), chain.clamped(q0), scale, fixed, options.settings))


@njit
def _descend(chain, goal, q0, scale, fixed, settings):
    state, q, best, least, iterations = seeded(settings.seed), q0.copy(), q0.copy(), math.inf, 0
    for restart in range(settings.max_restarts + 1):
        if restart > 0:
            randomise(chain, state, q)
        for steps in range(settings.max_iterations + 1):
            e, jacobian = twist_and_jacobian(chain, goal, q, scale)
            least = update_best(q, tolerance_ratio(e, scale, settings), best, least)
            if least <= 1.0:
                return best, iterations, restart
            if steps == settings.max_iterations:
                break
            downhill = jacobian.T @ e
            moved = jacobian @ downhill
            size = np.dot(moved, moved)
            if size < 1e-30:
                break
            q += (fixed if fixed > 0.0 else np.dot(e, moved) / size) * downhill
            clamp(chain, q)
            iterations += 1
    return best, iterations, settings.max_restarts
