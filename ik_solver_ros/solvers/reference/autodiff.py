"""Descent along a gradient that nobody derived: automatic differentiation of the forward kinematics.

Source: A. Griewank and A. Walther, "Evaluating derivatives" (2008). The forward kinematics is written once more, in
casadi's symbols; casadi differentiates the cost (half the squared miss, lengths in units of the arm's reach, directions
as vectors) in reverse mode, and scipy's L-BFGS-B (R. H. Byrd, P. Lu, J. Nocedal and C. Zhu, 1995) goes down that
gradient within the limits. Needs the extra [autodiff].
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ik_solver_ros.errors import MissingPackageError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.reference.restarts import with_restarts
from ik_solver_ros.solvers.solution import Attempt, SolverOptions


def autodiff(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """From q0, then from random configurations. Raises MissingPackageError without casadi."""
    target = np.concatenate([goal.position, goal.directions(chain)[1].ravel()])
    cost = _callable(cost_of(chain, goal.targets), chain.n, target)
    bounds = np.column_stack([chain.lower, chain.upper])
    # Steps that change the cost by a last digit end the descent, not a change of it by some fraction.
    limits = {"maxiter": options.max_iterations, "maxfun": 10 * options.max_iterations, "ftol": 0.0, "gtol": 1e-13}

    def descend(q: Array) -> tuple[Array, int]:
        found = minimize(cost, q, jac=True, method="L-BFGS-B", bounds=bounds, options=limits)
        return np.array(found.x), int(found.nit)

    return with_restarts(chain, goal, q0, options, descend)


def _callable(both: Any, n: int, target: Array) -> Callable[[Array], tuple[float, Array]]:
    """The cost and its gradient as scipy wants them, in memory of our own: a plain call takes ten times as long."""
    buffers: Any = both.buffer()
    buffer, run = buffers
    at, value, slope = np.empty(n), np.zeros(1), np.zeros(n)
    for k, given in enumerate((at, target)):
        buffer.set_arg(k, given.data)
    for k, found in enumerate((value, slope)):
        buffer.set_res(k, found.data)

    # `run` has bare pointers to what is kept here.
    def cost(q: Array, *, _kept: Any = (both, buffer, target)) -> tuple[float, Array]:
        at[:] = q
        run()
        return float(value[0]), slope.copy()

    return cost


@lru_cache(maxsize=32)
def cost_of(chain: Chain, targets: int) -> Any:
    """The casadi.Function (q (n,), target (3 + 3 targets,)) -> (cost, its gradient (n,)).

    The target is a position [m] and the wanted directions. Raises MissingPackageError without casadi.
    """
    try:
        import casadi
    except ImportError as error:
        raise MissingPackageError("autodiff", "casadi", error) from error
    q, target = casadi.SX.sym("q", chain.n), casadi.SX.sym("target", 3 + 3 * targets)
    p, r = _forward(casadi, chain, q)
    missing = [(target[:3] - p) / max(float(chain.reach), 1e-6)]
    missing += [target[3 + 3 * k : 6 + 3 * k] - r @ casadi.DM(chain.tool[k]) for k in range(targets)]
    cost = 0.5 * casadi.sumsqr(casadi.vertcat(*missing))
    return casadi.Function("cost", [q, target], [cost, casadi.gradient(cost, q)])


def _forward(casadi: Any, chain: Chain, q: Any) -> tuple[Any, Any]:
    """Position (3,) and orientation (3, 3) of the tip, in symbols."""
    a = chain.arrays
    p, r = casadi.DM.zeros(3), casadi.DM.eye(3)
    for i in range(chain.n):
        p, r = p + r @ casadi.DM(a.origin_p[i]), r @ _matrix(casadi, a.origin_q[i])
        axis = casadi.DM(a.axis[i])
        if a.slides[i]:
            p = p + q[i] * (r @ axis)
        else:
            k = casadi.skew(axis)
            r = r @ (casadi.DM.eye(3) + casadi.sin(q[i]) * k + (1.0 - casadi.cos(q[i])) * (k @ k))
    return p + r @ casadi.DM(a.tip_p), r @ _matrix(casadi, a.tip_q)


def _matrix(casadi: Any, quat: Array) -> Any:
    k = casadi.skew(casadi.DM(quat[:3]))
    return casadi.DM.eye(3) + 2.0 * float(quat[3]) * k + 2.0 * k @ k
