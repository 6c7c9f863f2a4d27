"""The arm that nearly everybody owns, as numbers: a waist, three parallel hinges, a last hinge.

Joint 1 (the waist) turns a group of three parallel hinges 2, 3, 4, which move in one plane; joint 5 rolls the tool, or
bends it sideways. Of an arm of four joints hinge 4 or 5 is missing: it stays at zero. find_waist_arm.py recognises such
a chain; docs/waist_arm.md derives what solvers/ccdik/three_parallel makes of it.

All vectors are in the group frame: at the zero pose, with its origin on hinge 2, its third axis along the parallel
hinges and its first two in their plane, where a point is the complex number x + iy. Angles are those of hinges that
all turn about +z; `sign` makes them the joints' own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ik_solver_ros.kinematics.arrays import Vec
from ik_solver_ros.kinematics.constants import NAN, SLACK, TWO_PI
from ik_solver_ros.kinematics.plane import turned
from ik_solver_ros.kinematics.quaternion import add, cross, dot, scaled, sub

try:
    import cython
except ImportError:
    from ik_solver_ros import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:
    from ik_solver_ros.kinematics.shapes import Target, Turning


class WaistArm:
    """The constants of such an arm."""

    def __init__(self, frame: Sequence[Vec], waist: Sequence[Vec], links: Sequence[complex]) -> None:
        """frame: the group frame's origin [m] and its three axes, in the base frame. waist: a point on its axis, and
        the axis. links: from hinge 2 to hinge 3, from there to hinge 4, and where hinge 4 is, in the plane [m].
        """
        self.origin = _vec(frame[0])
        self.basis = [_vec(frame[1]), _vec(frame[2]), _vec(frame[3])]
        self.waist_point, self.waist_axis = _vec(waist[0]), _vec(waist[1])
        self.upper_arm, self.forearm, self.wrist = complex(links[0]), complex(links[1]), complex(links[2])

    def set_tool(self, tip: Sequence[Vec], tool: Sequence[Vec], side: Sequence[Vec]) -> None:
        """How joint 5 turns the tip [m], where the tool points and a direction across it: fixed, even and odd."""
        self.tip = Turning(_vec(tip[0]), _vec(tip[1]), _vec(tip[2]))
        self.tool = Turning(_vec(tool[0]), _vec(tool[1]), _vec(tool[2]))
        self.side = Turning(_vec(side[0]), _vec(side[1]), _vec(side[2]))

    def set_limits(self, lower: list[float], upper: list[float], joint: list[int], sign: list[float]) -> None:
        """The ranges (5,) of the angles; angle = sign * value of the joint of this number.

        A hinge that the arm has not is the joint after its last one, with the range and the sign 0.
        """
        self.lower, self.upper, self.joint, self.sign = lower, upper, joint, sign

    def set_ends(self, spans: list[float], ends: Sequence[list[complex]], exact: bool) -> None:
        """Spans (4,): squared distances from hinge 2 to hinge 4, stretched, folded, with hinge 3 at either limit [m2].
        ends: e^iq of the hinges 2, 3, 4 at either limit. exact: whether the chain is such an arm to the last digits,
        not only nearly (its hinges parallel but for rounding).
        """
        self.spans = spans
        self.ends_2, self.ends_3, self.ends_4 = ends[0], ends[1], ends[2]
        self.exact = exact

    def part(self, name: str) -> Any:
        """One of the vectors, complex numbers or lists, for those who look on from Python."""
        known = {
            "origin": self.origin,
            "basis": [self.basis[0], self.basis[1], self.basis[2]],
            "waist_point": self.waist_point,
            "waist_axis": self.waist_axis,
            "joint": [self.joint[i] for i in range(5)],
            "sign": [self.sign[i] for i in range(5)],
            "tip": [self.tip.fixed, self.tip.even, self.tip.odd],
            "tool": [self.tool.fixed, self.tool.even, self.tool.odd],
        }
        return known[name]


def _vec(v: Vec) -> tuple[float, float, float]:
    return float(v[0]), float(v[1]), float(v[2])


def target(arm: WaistArm, position: Vec, pointing: Vec, across: Vec) -> Target:
    """The Target of a goal: a position [m], where the tool shall point and how lie across, in the base frame."""
    offset = sub(in_basis(arm, sub(position, arm.origin)), arm.waist_point)
    point = _turning_back(arm.waist_axis, offset)
    return Target(
        Turning(add(arm.waist_point, point.fixed), point.even, point.odd),
        _turning_back(arm.waist_axis, in_basis(arm, pointing)),
        _turning_back(arm.waist_axis, in_basis(arm, across)),
        math.sqrt(point.even[2] * point.even[2] + point.odd[2] * point.odd[2]),
        math.atan2(point.odd[2], point.even[2]),
    )


def in_basis(arm: WaistArm, v: Vec) -> tuple[float, float, float]:
    """A vector of the base frame in the group frame."""
    return dot(arm.basis[0], v), dot(arm.basis[1], v), dot(arm.basis[2], v)


def _turning_back(axis: Vec, v: Vec) -> Turning:
    fixed = scaled(dot(axis, v), axis)
    return Turning(fixed, sub(v, fixed), scaled(-1.0, cross(axis, v)))


def fitted(angle: float, lower: float, upper: float, near: float) -> float:
    """The angle + 2 pi k inside the limits that is nearest to `near`; nan where there is none."""
    angle += TWO_PI * math.floor((near - angle) / TWO_PI + 0.5)
    if angle < lower - SLACK:
        angle += TWO_PI * math.ceil((lower - SLACK - angle) / TWO_PI)
    elif angle > upper + SLACK:
        angle -= TWO_PI * math.ceil((angle - upper - SLACK) / TWO_PI)
    if angle < lower - SLACK or angle > upper + SLACK:
        return NAN
    return min(max(angle, lower), upper)


def elbow_height(upper_arm: complex, forearm: complex, up: Vec, q2: float, q3: float) -> float:
    """Positive where hinge 3 lies above the line from hinge 2 to hinge 4; `up` is a vector in the group frame."""
    elbow = turned(upper_arm, q2)
    wrist = elbow + turned(forearm, q2 + q3)
    return (wrist.real * elbow.imag - wrist.imag * elbow.real) * (wrist.real * up[1] - wrist.imag * up[0])
