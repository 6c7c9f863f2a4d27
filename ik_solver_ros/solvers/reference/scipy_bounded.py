"""scipy's bounded least squares, as a baseline that nobody here wrote.

`scipy.optimize.least_squares`, the trust region reflective method: M. A. Branch, T. F. Coleman and Y. Li (1999).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.problem import Problem, prepare
from ik_solver_ros.solvers.reference.restarts import with_restarts
from ik_solver_ros.solvers.reference.twist import twist_and_jacobian
from ik_solver_ros.solvers.solution import Attempt, SolverOptions

INSIDE = 1e-9  # [rad or m] it wants to start strictly within the limits


def scipy_bounded(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """From q0, then from random configurations."""
    problem = prepare(Problem(), chain.body, goal, q0.tolist(), options)
    lower, upper = chain.lower, chain.upper

    def descend(q: Array) -> tuple[Array, int]:
        found = least_squares(
            lambda x: -twist_and_jacobian(problem, x)[0],
            np.clip(q, lower + INSIDE, np.maximum(upper - INSIDE, lower + INSIDE)),
            jac=lambda x: twist_and_jacobian(problem, x)[1],
            bounds=(lower, np.maximum(upper, lower + 3.0 * INSIDE)),
            xtol=1e-14,
            ftol=1e-14,
            gtol=1e-14,
            max_nfev=options.max_iterations,
        )
        return found.x, int(found.nfev)

    return with_restarts(chain, goal, q0, options, descend)
