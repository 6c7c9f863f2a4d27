"""What solvers by the Jacobian go by: the twist that is missing to the goal, and how each joint changes it."""

from __future__ import annotations

import math

import numpy as np

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.kernels import jacobian, tip_frame
from ik_solver_ros.kinematics.quaternion import dot, from_two_vectors, multiply, rotate, scaled, sub


@njit
def twist_and_jacobian(chain, goal, q, scale):
    """(e, J): the twist e (m,) that would mend the tip, and the Jacobian (m, n); m is 3 for a point, else 6.

    Lengths are multiplied by `scale` [1/m]. For an approach the rows of rotation leave out the turn about the tool.
    """
    p, quat = tip_frame(chain, q)
    full = jacobian(chain, q)
    m = 3 if goal.targets == 0 else 6
    e, out = np.zeros(m), full[:m].copy()
    out[:3] *= scale
    e[0], e[1], e[2] = scaled(scale, sub((goal.position[0], goal.position[1], goal.position[2]), p))
    if goal.targets > 0:
        d = rotate(quat, goal.tool[0])
        mend = _between(d, goal.wanted[0])
        if goal.targets > 1:
            second = rotate(mend, rotate(quat, goal.tool[1]))
            mend = multiply(_between(second, goal.wanted[1]), mend)
        else:
            for i in range(q.shape[0]):
                turn = (full[3, i], full[4, i], full[5, i])
                out[3, i], out[4, i], out[5, i] = sub(turn, scaled(dot(turn, d), d))
        e[3], e[4], e[5] = _rotation_vector(mend)
    return e, out


@njit
def tolerance_ratio(e, scale, settings):
    """How far e (m,) is from done, in tolerances: done at 1 and below."""
    offset = math.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) / (scale * settings.position_tolerance)
    if e.shape[0] == 3:
        return offset
    return max(offset, math.sqrt(e[3] * e[3] + e[4] * e[4] + e[5] * e[5]) / settings.orientation_tolerance)


@njit
def tolerance_ratio_at(chain, goal, q, settings):
    """How far q (n,) is from done, in tolerances: done at 1 and below."""
    return tolerance_ratio(twist_and_jacobian(chain, goal, q, 1.0)[0], 1.0, settings)


@njit
def clamp(chain, q):
    """Put q (n,) inside the limits, in place."""
    for i in range(q.shape[0]):
        q[i] = min(max(q[i], chain.lower[i]), chain.upper[i])


@njit
def _between(a, b):
    return from_two_vectors((a[0], a[1], a[2]), (b[0], b[1], b[2]))


@njit
def _rotation_vector(quat):
    v, w = (quat[0], quat[1], quat[2]), quat[3]
    if w < 0.0:
        v, w = scaled(-1.0, v), -w
    length = math.sqrt(dot(v, v))
    if length < 1e-15:
        return (0.0, 0.0, 0.0)
    return scaled(2.0 * math.atan2(length, w) / length, v)
