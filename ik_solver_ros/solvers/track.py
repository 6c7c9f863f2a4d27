"""Where an arm that follows a path is about to be: the start for the next goal."""

from __future__ import annotations

import numpy as np

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.quaternion import rotate
from ik_solver_ros.solvers.goal import Goal

CONSTRAINTS = (3, 5, 6)  # of a point, an approach, a pose
IDLE = 0.5  # of the last step: how far a redundant arm goes to get away from its limits


def extrapolated_start(chain: Chain, goal: Goal, q: Array, before: Array) -> Array:
    """The configuration that q (n,) comes to with one more step like the one from `before` to it.

    What a redundant arm can do without moving its tool is not carried on, it would end at a limit: there the arm
    goes back towards the middle of its ranges, by no more than half of the last step.
    """
    step = q - before
    if chain.n <= CONSTRAINTS[goal.targets] or not step.any():
        return np.asarray(q + step)
    idle = idle_motions(chain, goal, q)
    half = np.where(np.isfinite(chain.upper), 0.5 * (chain.upper - chain.lower), np.pi)
    from_mid = np.where(np.isfinite(chain.upper), np.clip((q - chain.mid) / half, -1.0, 1.0), 0.0)
    back = idle.T @ (idle @ (-half * from_mid / np.maximum(1.0 - from_mid**2, 0.02)))
    size = np.max(np.abs(back))
    if size > 0.0:
        back *= min(1.0, IDLE * np.max(np.abs(step)) / size)
    return np.asarray(q + step - idle.T @ (idle @ step) + back)


def idle_motions(chain: Chain, goal: Goal, q: Array) -> Array:
    """Unit vectors (k, n) along which a redundant arm can move at q without moving what the goal asks for."""
    jacobian = chain.jacobian(q)
    rows = [jacobian[:3] / max(chain.reach, 1e-6)]
    if goal.targets == 1:
        rows.append(np.cross(jacobian[3:].T, rotate(chain.forward(q)[1], chain.tool_axis)).T)
    elif goal.targets == 2:
        rows.append(jacobian[3:])
    return np.asarray(np.linalg.svd(np.vstack(rows))[2][CONSTRAINTS[goal.targets] :])
