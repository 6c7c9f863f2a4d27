"""The arm that nearly everybody owns, as numbers: a waist, three parallel hinges, a last hinge.

Joint 1 (the waist) turns a group of three parallel hinges 2, 3, 4, which move in one plane; joint 5 rolls the tool, or
bends it sideways. docs/waist_arm.md derives what
solvers/ccdik/three_parallel makes of it.

All vectors are in the group frame: at the zero pose, with its origin on hinge 2, its third axis along the parallel
hinges and its first two in their plane, where a point is the complex number x + iy. Angles are those of hinges that
all turn about +z; `sign` makes them the joints' own.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.kernels import PRISMATIC, Array, ChainArrays, joint_frames, read_only, tip_frame
from ik_solver_ros.kinematics.quaternion import add, cross, dot, rotate, scaled, sub

JOINTS = 5
PARALLEL = 1e-4  # [rad] hinges that differ by less are parallel; what remains is mended by a descent
SLACK = 1e-9  # [rad] by which an angle may miss its limits through rounding; it is clamped
ON_AXIS = 1e-5  # [m] a tip this near to the axis of the last hinge is on it, but for rounding
EXACT = 1e-8  # [m], [rad] a chain that differs by less is such an arm to all purposes
TWO_PI = 2.0 * math.pi
SIZE = 83


class Turning(NamedTuple):
    """A vector that turns about an axis: fixed + cos(angle) even + sin(angle) odd."""

    fixed: tuple
    even: tuple
    odd: tuple


class WaistArm(NamedTuple):
    """The constants of such an arm, as compiled code sees them."""

    origin: tuple  # of the group frame, in the base frame [m]
    basis: tuple  # its three axes in the base frame
    waist_point: tuple  # on the axis of joint 1
    waist_axis: tuple
    upper_arm: complex  # from hinge 2 to hinge 3, in the plane [m]
    forearm: complex  # from hinge 3 to hinge 4
    wrist: complex  # hinge 4
    tip: Turning  # with joint 5: the tip [m]
    tool: Turning  # where it points
    side: Turning  # across the tool
    lower: tuple  # of the five angles
    upper: tuple
    sign: tuple  # angle = sign * joint value
    spans: tuple  # squared distances from hinge 2 to hinge 4: stretched, folded, hinge 3 at either limit [m2]
    ends_2: tuple  # e^iq of hinge 2 at its limits, and of the next two
    ends_3: tuple
    ends_4: tuple
    exact: (
        bool  # whether the chain is such an arm to the last digits, not only nearly (hinges parallel but for rounding)
    )


@njit
def _vector(data):
    return data[0], data[1], data[2]


@njit
def _turning(data):
    return Turning(_vector(data[:3]), _vector(data[3:6]), _vector(data[6:9]))


@njit
def unpacked_waist(data):
    """The WaistArm in `data` (SIZE,), see `packed`."""
    return WaistArm(
        _vector(data[0:3]),
        (_vector(data[3:6]), _vector(data[6:9]), _vector(data[9:12])),
        _vector(data[12:15]),
        _vector(data[15:18]),
        complex(data[18], data[19]),
        complex(data[20], data[21]),
        complex(data[22], data[23]),
        _turning(data[24:33]),
        _turning(data[33:42]),
        _turning(data[42:51]),
        (data[51], data[52], data[53], data[54], data[55]),
        (data[56], data[57], data[58], data[59], data[60]),
        (data[61], data[62], data[63], data[64], data[65]),
        (data[66], data[67], data[68], data[69]),
        (complex(data[70], data[71]), complex(data[72], data[73])),
        (complex(data[74], data[75]), complex(data[76], data[77])),
        (complex(data[78], data[79]), complex(data[80], data[81])),
        data[82] == 1.0,
    )


def packed(chain: ChainArrays, tool: Array) -> Array | None:
    """The constants (SIZE,) of a chain that is such an arm, None of any other."""
    if len(chain.kind) != JOINTS or (chain.kind == PRISMATIC).any():
        return None
    parents, origins, axes = np.empty((5, 4)), np.empty((5, 3)), np.empty((5, 3))
    tip_p, tip_q = joint_frames(chain, np.zeros(5), parents, origins, axes)
    along = axes[1]
    signs = np.array([1.0, 1.0, np.sign(axes[2] @ along), np.sign(axes[3] @ along), 1.0])
    if any(np.linalg.norm(np.cross(axes[i], along)) > PARALLEL for i in (2, 3)):
        return None
    if any(np.linalg.norm(np.cross(axes[i], along)) < 0.1 for i in (0, 4)):
        return None  # a waist or a last hinge parallel to the group moves in its plane
    first = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
    first /= np.linalg.norm(first)
    basis = np.array([first, np.cross(along, first), along])
    origin = origins[1]
    points, turns = (origins - origin) @ basis.T, axes @ basis.T
    plane = points[:, 0] + 1j * points[:, 1]
    upper_arm, forearm = plane[2] - plane[1], plane[3] - plane[2]
    if min(abs(upper_arm), abs(forearm)) < 1e-3:
        return None

    def turning(vector: Array) -> list[Array]:
        fixed = turns[4] * (turns[4] @ vector)
        return [fixed, vector - fixed, np.cross(turns[4], vector)]

    tip = turning(basis @ (np.array(tip_p) - origin) - points[4])
    tip[0] = tip[0] + points[4]
    directions = [turning(basis @ np.array(rotate(np.array(tip_q), axis))) for axis in tool]
    ends = np.sort(np.array([signs * chain.lower, signs * chain.upper]), axis=0)
    # A joint without limits has no ends: whatever stands in their place is as good as any other posture.
    ends_at = np.where(np.isfinite(ends), ends, 0.0)
    spans = [abs(upper_arm + forearm * np.exp(1j * q3)) ** 2 for q3 in ends_at[:, 2]]
    units = np.exp(1j * ends_at[:, 1:4]).T.ravel()
    data = np.concatenate(
        [
            origin,
            basis.ravel(),
            points[0],
            turns[0],
            [upper_arm.real, upper_arm.imag, forearm.real, forearm.imag, plane[3].real, plane[3].imag],
            np.ravel(tip),
            np.ravel(directions[0]),
            np.ravel(directions[1]),
            ends[0],
            ends[1],
            signs,
            [(abs(upper_arm) + abs(forearm)) ** 2, (abs(upper_arm) - abs(forearm)) ** 2, *spans],
            np.column_stack([units.real, units.imag]).ravel(),
            [0.0],
        ]
    )
    rng = np.random.default_rng(0)
    deviation = max(_deviation(chain, tool, data, rng.uniform(-np.pi, np.pi, JOINTS)) for _ in range(8))
    radius = float(np.linalg.norm(tip[1]))  # at which the last hinge turns the tip
    return read_only([*data[:-1], deviation < EXACT and not EXACT < radius < ON_AXIS])


def _deviation(chain: ChainArrays, tool: Array, data: Array, q: Array) -> float:
    """By how much the tip and the tool [m, 1] of these numbers differ from the chain's at q."""
    arm = unpacked_waist(data)
    angles = np.array(arm.sign) * q
    c, s = math.cos(angles[4]), math.sin(angles[4])
    tip, direction = np.array(at(arm.tip, c, s)), np.array(at(arm.tool, c, s))
    for angle, hinge in ((angles[3], arm.upper_arm + arm.forearm), (angles[2], arm.upper_arm), (angles[1], 0.0)):
        turn = Rotation.from_rotvec([0.0, 0.0, angle]).as_matrix()
        pivot = np.array([complex(hinge).real, complex(hinge).imag, 0.0])
        tip, direction = pivot + turn @ (tip - pivot), turn @ direction
    turn = Rotation.from_rotvec(angles[0] * np.array(arm.waist_axis)).as_matrix()
    tip, direction = arm.waist_point + turn @ (tip - arm.waist_point), turn @ direction
    basis = np.array(arm.basis)
    p, r = tip_frame(chain, q)
    of_tip = np.linalg.norm(arm.origin + basis.T @ tip - p)
    return float(max(of_tip, np.linalg.norm(basis.T @ direction - rotate(r, tool[0]))))


class Target(NamedTuple):
    """A goal seen from the arm behind the waist: vectors that turn back as joint 1 turns forth."""

    point: Turning
    tool: Turning
    side: Turning
    size: float  # the part of `point` across the plane is point.fixed[2] + size cos(q1 - middle)
    middle: float


@njit
def target(arm, goal):
    """The Target of a goal (GoalArrays)."""
    offset = sub(in_basis(arm.basis, sub(goal.position, arm.origin)), arm.waist_point)
    point = _turning_back(arm.waist_axis, offset)
    return Target(
        Turning(add(arm.waist_point, point.fixed), point.even, point.odd),
        _turning_back(arm.waist_axis, in_basis(arm.basis, goal.wanted[0])),
        _turning_back(arm.waist_axis, in_basis(arm.basis, goal.wanted[1])),
        math.hypot(point.even[2], point.odd[2]),
        math.atan2(point.odd[2], point.even[2]),
    )


@njit
def in_basis(basis, v):
    """The coordinates of a vector along three axes."""
    return dot(basis[0], v), dot(basis[1], v), dot(basis[2], v)


@njit
def _turning_back(axis, v):
    fixed = scaled(dot(axis, v), axis)
    return Turning(fixed, sub(v, fixed), scaled(-1.0, cross(axis, v)))


@njit
def at(turning, c, s):
    """The vector where its angle has this cosine and sine."""
    return add(turning.fixed, add(scaled(c, turning.even), scaled(s, turning.odd)))


@njit
def fitted(angle, lower, upper, near):
    """The angle + 2 pi k inside the limits that is nearest to `near`; nan where there is none."""
    angle += TWO_PI * math.floor((near - angle) / TWO_PI + 0.5)
    if angle < lower - SLACK:
        angle += TWO_PI * math.ceil((lower - SLACK - angle) / TWO_PI)
    elif angle > upper + SLACK:
        angle -= TWO_PI * math.ceil((angle - upper - SLACK) / TWO_PI)
    if angle < lower - SLACK or angle > upper + SLACK:
        return math.nan
    return min(max(angle, lower), upper)


@njit
def turned(z, angle):
    """The complex number z, turned by `angle` [rad]."""
    return z * complex(math.cos(angle), math.sin(angle))


@njit
def elbow_height(upper_arm, forearm, up, q2, q3):
    """Positive where hinge 3 lies above the line from hinge 2 to hinge 4; `up` is a vector in the group frame."""
    elbow = turned(upper_arm, q2)
    wrist = elbow + turned(forearm, q2 + q3)
    return (wrist.real * elbow.imag - wrist.imag * elbow.real) * (wrist.real * up[1] - wrist.imag * up[0])
