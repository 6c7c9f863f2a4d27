"""LinkFrames: where all links of a robot are, for many postures at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.joint import MOVING, Joint
from ik_solver_ros.kinematics.model import RobotModel


class Frames(NamedTuple):
    """A link's frame in m postures."""

    rotation: Array  # (m, 3, 3)
    position: Array  # (m, 3) [m]


class _Tree(NamedTuple):
    """The joints below a base link, each after the one above it; joint j bears link j + 1."""

    parents: npt.NDArray[np.int64]  # (j,) links
    slides: npt.NDArray[np.bool_]  # (j,)
    origins: Array  # (j, 3) [m] in the parent link's frame
    axes: Array  # (j, 3)
    turns: Array  # (j, 3, 3, 3): see _turn


class LinkFrames:
    """Forward kinematics of every link from one base link on, prepared once."""

    def __init__(self, model: RobotModel, base_link: str) -> None:
        self.model = model
        self.base_link = base_link
        self._joints = _downwards(model, base_link)
        self.links = (base_link, *(joint.child for joint in self._joints))
        self._tree = _Tree(
            np.array([self.links.index(joint.parent) for joint in self._joints], dtype=np.int64),
            np.array([joint.type == "prismatic" for joint in self._joints], dtype=bool),
            np.array([joint.origin_p for joint in self._joints]).reshape(-1, 3),
            np.array([joint.axis for joint in self._joints]).reshape(-1, 3),
            np.array([_turn(joint) for joint in self._joints]).reshape(-1, 3, 3, 3),
        )

    def at(self, positions: Mapping[str, Array | float]) -> dict[str, Frames]:
        """The links' frames in the base link's, by name: joint positions as (m,) or one number, zero where unknown."""
        m = max((np.size(q) for q in positions.values()), default=1)
        q = np.zeros((len(self._joints), m))
        for row, joint in zip(q, self._joints):
            if joint.type in MOVING:
                row[:] = self._position(joint, positions)
        rotations, places = np.empty((len(self.links), m, 3, 3)), np.empty((len(self.links), m, 3))
        _place(self._tree, q, rotations, places)
        return {link: Frames(rotation, place) for link, rotation, place in zip(self.links, rotations, places)}

    def _position(self, joint: Joint, positions: Mapping[str, Array | float]) -> Array | float:
        if joint.mimic is not None and joint.name not in positions:
            return joint.mimic.multiplier * np.asarray(positions.get(joint.mimic.joint, 0.0)) + joint.mimic.offset
        return positions.get(joint.name, 0.0)


def _place(tree: _Tree, q: Array, rotations: Array, places: Array) -> None:
    """Fill in rotations (links, m, 3, 3) and places (links, m, 3) for q (joints, m); the base link is the first."""
    rotations[0], places[0] = np.eye(3), 0.0
    sines, versines = np.sin(q), 1.0 - np.cos(q)
    for j, (parent, slides, origin, axis, turn) in enumerate(zip(*tree)):
        above = rotations[parent]
        places[j + 1] = places[parent] + above @ origin
        if slides:
            rotations[j + 1] = above @ turn[0]
            places[j + 1] += q[j][:, np.newaxis] * (rotations[j + 1] @ axis)
        else:
            sine, versine = sines[j][:, np.newaxis, np.newaxis], versines[j][:, np.newaxis, np.newaxis]
            rotations[j + 1] = above @ (turn[0] + sine * turn[1] + versine * turn[2])


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
