"""LinkFrames: where all links of a robot are, for many postures at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.kinematics.model import MOVING, Joint, RobotModel


class Frames(NamedTuple):
    """A link's frame in m postures."""

    rotation: Array  # (m, 3, 3)
    position: Array  # (m, 3) [m]


class LinkFrames:
    """Forward kinematics of every link from one base link on, prepared once."""

    def __init__(self, model: RobotModel, base_link: str) -> None:
        self.model = model
        self.base_link = base_link
        self._steps = [(joint, _turn(joint)) for joint in _downwards(model, base_link)]

    @property
    def links(self) -> tuple[str, ...]:
        """The links that hang on the base link, and the base link itself."""
        return (self.base_link, *(joint.child for joint, _ in self._steps))

    def at(self, positions: Mapping[str, Array | float]) -> dict[str, Frames]:
        """The links' frames in the base link's, by name: joint positions as (m,) or one number, zero where unknown."""
        m = max((np.size(q) for q in positions.values()), default=1)
        out = {self.base_link: Frames(np.tile(np.eye(3), (m, 1, 1)), np.zeros((m, 3)))}
        for joint, turn in self._steps:
            parent = out[joint.parent]
            position = parent.position + parent.rotation @ joint.origin_p
            q = np.asarray(self._position(joint, positions), dtype=float)
            if q.ndim and joint.type in MOVING and joint.type != "prismatic":
                by = np.column_stack([np.ones(m), np.sin(q), 1.0 - np.cos(q)])
                rotation = parent.rotation @ (by @ turn.reshape(3, 9)).reshape(m, 3, 3)
            elif joint.type in MOVING and joint.type != "prismatic":
                rotation = _times(parent.rotation, turn[0] + np.sin(q) * turn[1] + (1.0 - np.cos(q)) * turn[2])
            else:
                rotation = _times(parent.rotation, turn[0])
                if joint.type == "prismatic":
                    position = position + (rotation @ joint.axis) * q[..., np.newaxis]
            out[joint.child] = Frames(rotation, position)
        return out

    def _position(self, joint: Joint, positions: Mapping[str, Array | float]) -> Array | float:
        if joint.mimic is not None and joint.name not in positions:
            return joint.mimic.multiplier * np.asarray(positions.get(joint.mimic.joint, 0.0)) + joint.mimic.offset
        return positions.get(joint.name, 0.0)


def _downwards(model: RobotModel, base_link: str) -> list[Joint]:
    """The joints below a link, each after the one above it."""
    out: list[Joint] = []
    links = [base_link]
    while links:
        joints = model.joints_below(links.pop())
        out.extend(joints)
        links.extend(joint.child for joint in joints)
    return out


def _turn(joint: Joint) -> Array:
    """(3, 3, 3): the rotation of a joint is the first of these + sin(q) the second + (1 - cos(q)) the third.

    Rodrigues' formula.
    """
    fixed = Rotation.from_quat(joint.origin_q).as_matrix()
    x, y, z = joint.axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.array([fixed, fixed @ cross, fixed @ cross @ cross])


def _times(rotations: Array, one: Array) -> Array:
    """Every one of (m, 3, 3) times the same (3, 3), as one product of matrices."""
    return np.asarray((rotations.reshape(-1, 3) @ one).reshape(-1, 3, 3))
