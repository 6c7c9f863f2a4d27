"""Damped least squares, the damping adapted to how well the last step went.

Source: C. W. Wampler (1986), Y. Nakamura and H. Hanafusa (1986); the adaption as in Levenberg and Marquardt's method:

    q <- q + (J^T J + m I)^-1 J^T e,   m down where that helped, up where it did not

Joints at a limit that the step pushes against are left out of it; the rest is clamped.
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

FIRST, LEAST, MOST = 1e-3, 1e-9, 1e6  # damping; beyond the most no step helps any more
EASIER, HARDER = 0.2, 5.0


def dls(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """From q0, then from random configurations."""
    scale = 1.0 / max(chain.reach, 1e-6)
    return Attempt(*_descend(chain.arrays, goal.arrays(chain), chain.clamped(q0), scale, options.settings))


@njit
def _descend(chain, goal, q0, scale, settings):
    state, q, best, least, iterations = seeded(settings.seed), q0.copy(), q0.copy(), math.inf, 0
    for restart in range(settings.max_restarts + 1):
        if restart > 0:
            randomise(chain, state, q)
        damping = FIRST
        e, jacobian = twist_and_jacobian(chain, goal, q, scale)
        for steps in range(settings.max_iterations + 1):
            least = update_best(q, tolerance_ratio(e, scale, settings), best, least)
            if least <= 1.0:
                return best, iterations, restart
            if steps == settings.max_iterations or damping > MOST:
                break
            tried = q + _step(chain, q, jacobian, e, damping)
            clamp(chain, tried)
            e_tried, jacobian_tried = twist_and_jacobian(chain, goal, tried, scale)
            iterations += 1
            if np.dot(e_tried, e_tried) < np.dot(e, e):
                q, e, jacobian, damping = tried, e_tried, jacobian_tried, max(EASIER * damping, LEAST)
            else:
                damping *= HARDER
    return best, iterations, settings.max_restarts


@njit
def _step(chain, q, jacobian, e, damping):
    n = q.shape[0]
    downhill = jacobian.T @ e
    hessian = jacobian.T @ jacobian
    for i in range(n):
        hessian[i, i] += damping
        if (q[i] <= chain.lower[i] and downhill[i] < 0.0) or (q[i] >= chain.upper[i] and downhill[i] > 0.0):
            hessian[i, :], hessian[:, i] = 0.0, 0.0
            hessian[i, i], downhill[i] = 1.0, 0.0
    return np.linalg.solve(hessian, downhill)
