"""LinkFrames: where all links of a robot are, for many postures at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.kinematics.model import MOVING, Joint, RobotModel


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


@njit
def _place(tree: _Tree, q: Array, rotations: Array, places: Array) -> None:
    """Fill in rotations (links, m, 3, 3) and places (links, m, 3); the base link is the first."""
    parents, slides, origins, axes, turns = tree
    for k in range(q.shape[1]):
        for a in range(3):
            places[0, k, a] = 0.0
            for b in range(3):
                rotations[0, k, a, b] = 1.0 if a == b else 0.0
        for j in range(q.shape[0]):
            parent, child, turn = parents[j], j + 1, turns[j]
            sine, versine, slide = math.sin(q[j, k]), 1.0 - math.cos(q[j, k]), 0.0
            if slides[j]:
                sine, versine, slide = 0.0, 0.0, q[j, k]
            for a in range(3):
                at = places[parent, k, a]
                for c in range(3):
                    at += rotations[parent, k, a, c] * origins[j, c]
                places[child, k, a] = at
                for b in range(3):
                    total = 0.0
                    for c in range(3):
                        own = turn[0, c, b] + sine * turn[1, c, b] + versine * turn[2, c, b]
                        total += rotations[parent, k, a, c] * own
                    rotations[child, k, a, b] = total
            if slide != 0.0:
                for a in range(3):
                    for c in range(3):
                        places[child, k, a] += slide * rotations[child, k, a, c] * axes[j, c]


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
