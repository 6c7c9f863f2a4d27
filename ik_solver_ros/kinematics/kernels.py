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


def read_only(values: object) -> Array:
    """A copy of numbers as an array that cannot be written to."""
    out = np.array(values, dtype=np.float64)
    out.flags.writeable = False
    return out


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

    def finite_limits(self) -> tuple[Array, Array]:
        """Lower and upper limits, (n,) each, to draw samples within: one turn, from -pi to pi, of continuous joints."""
        lower = np.where(np.isfinite(self.lower), self.lower, -np.pi)
        return lower, np.where(np.isfinite(self.upper), self.upper, np.pi)


class Packed(NamedTuple):
    """What `unpacked` makes of a packed chain."""

    chain: ChainArrays
    tool: Array  # (2, 3)
    reach: float  # [m]
    postures: Array  # (m, n): the arm in all sorts of ways
    tips: Array  # (m, 6): and its tip there [m], and where the tool points


def packed(chain: ChainArrays, tool: Array, reach: float, postures: Array) -> Array:
    """One array for all of this: to hand a dozen arrays to compiled code takes longer than to solve with them."""
    tips = np.empty((len(postures), 6))
    for row, q in zip(tips, postures):
        p, r = tip_frame(chain, q)
        row[:] = *p, *rotate(r, tool[0])
    parts = [chain.origin_p, chain.origin_q, chain.axis, chain.lower, chain.upper, chain.tip_p, chain.tip_q]
    return np.concatenate([part.ravel() for part in (*parts, tool, np.array([reach]), postures, tips)])


@njit
def tool_of(n, data):
    """The tool (2, 3) alone, of a packed chain of n joints."""
    return data[12 * n + 7 : 12 * n + 13].reshape((2, 3))


@njit
def unpacked_chain(kind, data):
    """The ChainArrays alone, of a packed chain with joints of this `kind`."""
    n = kind.shape[0]
    k = 12 * n
    return ChainArrays(
        kind,
        data[: 3 * n].reshape((n, 3)),
        data[3 * n : 7 * n].reshape((n, 4)),
        data[7 * n : 10 * n].reshape((n, 3)),
        data[k : k + 3],
        data[k + 3 : k + 7],
        data[10 * n : 11 * n],
        data[11 * n : k],
    )


@njit
def unpacked(kind, data):
    """The Packed in the array that `packed` made for the joints of this `kind`."""
    n = kind.shape[0]
    k = 12 * n + 14
    m = (data.shape[0] - k) // (n + 6)
    postures, tips = data[k : k + m * n].reshape((m, n)), data[k + m * n :].reshape((m, 6))
    return Packed(unpacked_chain(kind, data), tool_of(n, data), data[k - 1], postures, tips)


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
