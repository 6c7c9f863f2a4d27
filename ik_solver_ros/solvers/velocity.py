"""solve_velocity: joint velocities that move the tip as a twist says: position first, then approach, then roll."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.quaternion import rotate
from ik_solver_ros.solvers.goal import finite_vector

DAMPED_BELOW = 0.02  # singular values (of lengths in units of the arm's reach) under which motion is damped
AT_LIMIT = 1e-6  # [rad or m] a joint this near to its limit does not go farther


def solve_velocity(chain: Chain, q: npt.ArrayLike, linear: npt.ArrayLike, angular: npt.ArrayLike) -> Array:
    """Joint velocities (n,) [per s] at q (n,) for a twist of the tip: linear (3,) [m/s], angular (3,) [rad/s].

    Both are in base_link, at the tip. An arm of few joints cannot do all of it: how the tip moves comes first, then
    how its tool axis turns, then how it rolls about that axis. Near singular postures, where the joints would have to
    be infinitely fast, the motion is damped (Nakamura and Hanafusa, 1986); joints at a limit do not go farther. The
    velocities may be above the joints' limits. Raises GoalError for what is not finite or has the wrong shape.
    """
    start = chain.checked(q, "q")
    v, w = finite_vector("linear", linear, 3), finite_vector("angular", angular, 3)
    tool = np.array(rotate(chain.forward(start)[1], chain.tool_axis))
    jacobian = chain.jacobian(start)
    scale = 1.0 / max(chain.reach, 1e-6)
    across = np.eye(3) - np.outer(tool, tool)
    tasks = (
        (scale * jacobian[:3], scale * v),
        (across @ jacobian[3:], across @ w),
        ((tool @ jacobian[3:])[np.newaxis], np.array([tool @ w])),
    )
    free = np.ones(chain.n, dtype=bool)
    while True:
        velocity = _prioritised(tasks, free)
        low, high = start <= chain.lower + AT_LIMIT, start >= chain.upper - AT_LIMIT
        pushed = free & ((low & (velocity < 0.0)) | (high & (velocity > 0.0)))
        if not pushed.any():
            return velocity
        free &= ~pushed


def _prioritised(tasks: tuple[tuple[Array, Array], ...], free: npt.NDArray[np.bool_]) -> Array:
    """Each task as well as can be without disturbing those before it (Siciliano and Slotine, 1991)."""
    n = len(free)
    velocity = np.zeros(n)
    remaining = np.diag(free.astype(float))  # projects onto what no task has used
    for rows, wanted in tasks:
        u, s, vt = np.linalg.svd(rows @ remaining, full_matrices=False)
        damping = DAMPED_BELOW * np.sqrt(np.maximum(1.0 - (s / DAMPED_BELOW) ** 2, 0.0))
        inverse = np.where(s > 1e-9, s / (s * s + damping * damping + 1e-18), 0.0)
        velocity = velocity + remaining @ (vt.T @ (inverse * (u.T @ (wanted - rows @ velocity))))
        used = vt[s > 1e-6]
        remaining = remaining - used.T @ used
    return velocity
