"""scipy's bounded least squares, as a baseline that nobody here wrote.

`scipy.optimize.least_squares`, the trust region reflective method: M. A. Branch, T. F. Coleman and Y. Li (1999).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares

from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.random import seeded
from ik_solver_ros.solvers.reference.restarts import randomise
from ik_solver_ros.solvers.reference.twist import miss_at, task
from ik_solver_ros.solvers.solution import Attempt, SolverOptions

INSIDE = 1e-9  # [rad or m] it wants to start strictly within the limits


def scipy_bounded(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """From q0, then from random configurations."""
    arrays, wanted, scale = chain.arrays, goal.arrays(chain), 1.0 / max(chain.reach, 1e-6)
    lower, upper = chain.lower, chain.upper
    state, q = seeded(options.seed), chain.clamped(q0)
    best, least, spent = q.copy(), np.inf, 0
    for restart in range(options.max_restarts + 1):
        if restart:
            randomise(arrays, state, q)
        found = least_squares(
            lambda x: -task(arrays, wanted, x, scale)[0],
            np.clip(q, lower + INSIDE, np.maximum(upper - INSIDE, lower + INSIDE)),
            jac=lambda x: task(arrays, wanted, x, scale)[1],
            bounds=(lower, np.maximum(upper, lower + 3.0 * INSIDE)),
            xtol=1e-14,
            ftol=1e-14,
            gtol=1e-14,
            max_nfev=options.max_iterations,
        )
        spent += int(found.nfev)
        left = miss_at(arrays, wanted, found.x, options.position_tolerance, options.orientation_tolerance)
        if left < least:
            best, least = found.x, left
        if least <= 1.0:
            return Attempt(best, spent, restart)
    return Attempt(best, spent, options.max_restarts)
