"""Goal: a position of the tip plus zero, one or two direction targets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from ik_solver_ros.errors import GoalError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Row
from ik_solver_ros.kinematics.quaternion import rotate
from ik_solver_ros.solvers.codes import NO_FAULT, POSITION_NOT_FINITE, REST_NOT_FINITE
from ik_solver_ros.solvers.goal_numbers import check_goal

WIDTH = (0, 3, 4)  # numbers beside the position, by targets
NAMES = ("", "direction", "quat_xyzw")
ORTHOGONAL = 1e-3  # by which the columns of a rotation matrix may be off


@dataclass(frozen=True)
class Goal:
    """What the tip shall do, in base_link, in m.

    Made by `Goal.point`, `Goal.approach`, `Goal.pose` or `Goal.from_matrix`.
    """

    targets: int  # how many directions it has: 0 of a point, 1 of an approach, 2 of a pose
    numbers: tuple[float, ...]  # (7,) the position, then a unit direction and a zero, or a unit quaternion, or zeros

    @property
    def position(self) -> Array:
        """(3,) [m]."""
        return np.array(self.numbers[:3])

    @property
    def direction(self) -> Array | None:
        """(3,) unit: where an approach wants the tool axis to point."""
        return np.array(self.numbers[3:6]) if self.targets == 1 else None

    @property
    def quat_xyzw(self) -> Array | None:
        """(4,) unit: how a pose wants the tip frame to be turned."""
        return np.array(self.numbers[3:]) if self.targets == 2 else None

    @staticmethod
    def point(position: npt.ArrayLike) -> Goal:
        """The tip at `position` (3,) [m]; any orientation. Raises GoalError."""
        return _goal(0, position, None)

    @staticmethod
    def approach(position: npt.ArrayLike, direction: npt.ArrayLike) -> Goal:
        """The tip at `position` (3,) [m], the tool axis along `direction` (3,) of any length. Raises GoalError."""
        return _goal(1, position, direction)

    @staticmethod
    def pose(position: npt.ArrayLike, quat_xyzw: npt.ArrayLike) -> Goal:
        """The tip frame at `position` (3,) [m] with the orientation `quat_xyzw` (4,). Raises GoalError."""
        return _goal(2, position, quat_xyzw)

    @staticmethod
    def from_matrix(transform: npt.ArrayLike) -> Goal:
        """The tip frame at the homogeneous `transform` (4, 4) from base_link, lengths in m. Raises GoalError."""
        t = np.asarray(transform, dtype=np.float64)
        if t.shape != (4, 4) or not np.isfinite(t).all():
            raise GoalError("transform", transform, "4 rows of 4 finite numbers are wanted")
        rotation, last = t[:3, :3], t[3]
        off = np.abs(rotation @ rotation.T - np.eye(3)).max()
        if off > ORTHOGONAL or np.linalg.det(rotation) < 0.0 or np.abs(last - [0.0, 0.0, 0.0, 1.0]).max() > ORTHOGONAL:
            raise GoalError("transform", transform, "a rotation, a position and a last row 0 0 0 1 are wanted")
        return Goal.pose(t[:3, 3], Rotation.from_matrix(rotation).as_quat())

    def directions(self, chain: Chain) -> tuple[Array, Array]:
        """The goal as direction targets of this chain's tool: its axis first, then one perpendicular to it.

        (tool, wanted), (targets, 3) each: unit vectors in the tip frame, and where they shall point in base_link.
        """
        tool = chain.tool[: self.targets]
        if self.targets < 2:
            return tool, np.array(self.numbers[3:6]).reshape(1, 3)[: self.targets]
        return tool, np.array([rotate(self.numbers[3:], axis) for axis in tool])


def _goal(targets: int, position: npt.ArrayLike, rest: Any) -> Goal:
    name = NAMES[targets]
    numbers = _numbers("position", position, 3)
    if targets:
        numbers += _numbers(name, rest, WIDTH[targets])
    row = Row(numbers)
    fault = check_goal(targets, row)
    if fault == NO_FAULT:
        return Goal(targets, tuple(row.values(7)))
    if fault == POSITION_NOT_FINITE:
        raise GoalError("position", position, "3 finite numbers are wanted")
    if fault == REST_NOT_FINITE:
        raise GoalError(name, rest, f"{WIDTH[targets]} finite numbers are wanted")
    if targets == 1:
        raise GoalError(name, rest, "a direction must have a length")
    norm = math.hypot(*numbers[3:])
    raise GoalError(name, rest, f"a unit quaternion (x, y, z, w) is wanted; the norm is {norm:.6g}")


def finite_vector(name: str, value: npt.ArrayLike, size: int) -> Array:
    """The value as (size,) finite numbers. Raises GoalError."""
    numbers = _numbers(name, value, size)
    if not all(map(math.isfinite, numbers)):
        raise GoalError(name, value, f"{size} finite numbers are wanted")
    return np.array(numbers)


def _numbers(name: str, value: Any, size: int) -> list[float]:
    try:
        out = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise GoalError(name, value, f"{size} numbers are wanted") from error
    if out.shape != (size,):
        raise GoalError(name, value, f"shape ({size},) is wanted, not {out.shape}")
    numbers: list[float] = out.tolist()
    return numbers
