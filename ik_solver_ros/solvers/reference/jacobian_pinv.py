"""The Jacobian's pseudo-inverse by singular values, with what is left of the joints drawn to a rest posture.

Source: D. E. Whitney, "Resolved motion rate control" (1969); A. Liegeois (1977) for the null space:

    q <- q + J+ e + (I - J+ J) k (rest - q)

Singular values below a thousandth of the largest are left out, steps are cut to `LONGEST`, and every step is clamped to
the limits. After `options.max_iterations` steps without an answer it starts anew at random.
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

LONGEST = 0.5  # [rad or m] that a joint goes in a step
SMALLEST = 1e-3  # singular value that is still used, as a fraction of the largest
DRAWN = 0.05  # k...
NEAR = 0.05  # ...where e is longer than this; ever less towards the goal, since what is free is so to first order only


def jacobian_pinv(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """The rest posture is the middle of the joints' ranges."""
    scale = 1.0 / max(chain.reach, 1e-6)
    start = chain.clamped(q0)
    return Attempt(*_descend(chain.arrays, goal.arrays(chain), start, chain.mid, scale, options.settings))


def jacobian_pinv_step(chain: Chain, goal: Goal, q: Array, iterations: int = 10) -> Array:
    """Some steps from q (n,) without a new start: the live form, one call a frame. Raises GoalError for a bad q."""
    start = chain.clamped(chain.checked(q))
    scale = 1.0 / max(chain.reach, 1e-6)
    settings = SolverOptions(1e-3, 1e-3, max_iterations=iterations, max_restarts=0).settings
    answer, _, _ = _descend(chain.arrays, goal.arrays(chain), start, chain.mid, scale, settings)
    return np.asarray(answer)


@njit
def _descend(chain, goal, q0, rest, scale, settings):
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
            drawn = DRAWN * min(1.0, math.sqrt(np.dot(e, e)) / NEAR)
            step = _step(jacobian, e, drawn * (rest - q))
            longest = np.max(np.abs(step))
            q += step * min(1.0, LONGEST / max(longest, 1e-12))
            clamp(chain, q)
            iterations += 1
    return best, iterations, settings.max_restarts


@njit
def _step(jacobian, e, wish):
    """J+ e, and of `wish` (n,) what the task leaves free."""
    u, s, vt = np.linalg.svd(jacobian, full_matrices=False)
    along, wished = u.T @ e, vt @ wish
    step = wish.copy()
    for k in range(s.shape[0]):
        if s[k] > SMALLEST * s[0] and s[k] > 1e-12:
            step += (along[k] / s[k] - wished[k]) * vt[k]
    return step
