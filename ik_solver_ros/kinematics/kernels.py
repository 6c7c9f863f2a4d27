"""Forward kinematics and Jacobians of a serial chain, compiled; all in the base frame.

A chain is a tuple of arrays (`ChainArrays`); joint i first applies its constant origin transform (fixed joints
are folded into it), then turns about or slides along its axis by q[i].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.quaternion import add, cross, from_axis_angle, multiply, rotate, scaled, sub

REVOLUTE, CONTINUOUS, PRISMATIC = 0, 1, 2  # codes of ChainArrays.kind

Array = npt.NDArray[np.float64]


class ChainArrays(NamedTuple):
    """A chain of n joints as compiled code sees it."""

    kind: npt.NDArray[np.int64]  # (n,) REVOLUTE, CONTINUOUS or PRISMATIC
    origin_p: Array  # (n, 3) [m] from the frame of joint i-1 (or the base) to joint i
    origin_q: Array  # (n, 4) xyzw
    axis: Array  # (n, 3) unit, in the joint's frame
    tip_p: Array  # (3,) [m] from the last joint's frame to the tip
    tip_q: Array  # (4,) xyzw
    lower: Array  # (n,) [rad or m], -inf for continuous joints
    upper: Array  # (n,) [rad or m], inf for continuous joints


@njit
def joint_frames(chain, q, parents, origins, axes):
    """Fill the frames of all joints and return the tip's: (position [m], quaternion xyzw), two tuples.

    parents (n, 4): orientation of joint i's frame before its own motion; origins (n, 3): position of joint i [m];
    axes (n, 3): direction of its axis. For a prismatic joint `origins` is the position after sliding.
    """
    p = (0.0, 0.0, 0.0)
    r = (0.0, 0.0, 0.0, 1.0)
    for i in range(q.shape[0]):
        p = add(p, rotate(r, chain.origin_p[i]))
        r = multiply(r, chain.origin_q[i])
        z = rotate(r, chain.axis[i])
        parents[i, 0], parents[i, 1], parents[i, 2], parents[i, 3] = r
        axes[i, 0], axes[i, 1], axes[i, 2] = z
        if chain.kind[i] == PRISMATIC:
            p = add(p, scaled(q[i], z))
        else:
            r = multiply(r, from_axis_angle(chain.axis[i], q[i]))
        origins[i, 0], origins[i, 1], origins[i, 2] = p
    return add(p, rotate(r, chain.tip_p)), multiply(r, chain.tip_q)


@njit
def tip_frame(chain, q):
    """The tip alone: (position [m], quaternion xyzw), two tuples."""
    p = (0.0, 0.0, 0.0)
    r = (0.0, 0.0, 0.0, 1.0)
    for i in range(q.shape[0]):
        p = add(p, rotate(r, chain.origin_p[i]))
        r = multiply(r, chain.origin_q[i])
        if chain.kind[i] == PRISMATIC:
            p = add(p, scaled(q[i], rotate(r, chain.axis[i])))
        else:
            r = multiply(r, from_axis_angle(chain.axis[i], q[i]))
    return add(p, rotate(r, chain.tip_p)), multiply(r, chain.tip_q)


@njit
def jacobian(chain, q):
    """The geometric Jacobian (6, n) of the tip in the base frame: rows 0-2 linear, rows 3-5 angular velocity."""
    n = q.shape[0]
    origins, axes = np.empty((n, 3)), np.empty((n, 3))
    p, _ = joint_frames(chain, q, np.empty((n, 4)), origins, axes)
    out = np.zeros((6, n))
    for i in range(n):
        z = axes[i]
        if chain.kind[i] == PRISMATIC:
            out[0, i], out[1, i], out[2, i] = z[0], z[1], z[2]
        else:
            out[0, i], out[1, i], out[2, i] = cross(z, sub(p, origins[i]))
            out[3, i], out[4, i], out[5, i] = z[0], z[1], z[2]
    return out
