"""Goal: a position of the tip plus zero, one or two direction targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ik_solver_ros.errors import GoalError
from ik_solver_ros.kinematics import quaternion
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Array

NORM_SLACK = 1e-3  # a quaternion this near to unit length is normalised, any other is refused

UNUSED = (0.0, 0.0, 0.0)


class GoalArrays(NamedTuple):
    """A goal as compiled code sees it: `targets` directions, the approach first, then the roll."""

    position: Array  # (3,) [m] in base_link
    targets: int  # 0 point, 1 approach, 2 pose
    tool: Array  # (2, 3) unit vectors in the tip frame
    wanted: Array  # (2, 3) unit vectors in base_link: where each of `tool` shall point


@dataclass(frozen=True, eq=False)
class Goal:
    """What the tip shall do, in base_link, in m. Made by `Goal.point`, `Goal.approach` or `Goal.pose`."""

    position: Array  # (3,) [m]
    direction: Array | None = None  # (3,) unit: where the tool axis shall point
    quat_xyzw: Array | None = None  # (4,) unit: the tip frame's orientation

    @staticmethod
    def point(position: npt.ArrayLike) -> Goal:
        """The tip at `position` (3,) [m]; any orientation. Raises GoalError."""
        return Goal(_vector("position", position, 3))

    @staticmethod
    def approach(position: npt.ArrayLike, direction: npt.ArrayLike) -> Goal:
        """The tip at `position` (3,) [m], the tool axis along `direction` (3,) of any length. Raises GoalError."""
        vector = _vector("direction", direction, 3)
        length = float(np.linalg.norm(vector))
        if length < 1e-9:
            raise GoalError("direction", direction, "a direction must have a length")
        return Goal(_vector("position", position, 3), direction=vector / length)

    @staticmethod
    def pose(position: npt.ArrayLike, quat_xyzw: npt.ArrayLike) -> Goal:
        """The tip frame at `position` (3,) [m] with the orientation `quat_xyzw` (4,). Raises GoalError."""
        quat = _vector("quat_xyzw", quat_xyzw, 4)
        norm = float(np.linalg.norm(quat))
        if abs(norm - 1.0) > NORM_SLACK:
            raise GoalError("quat_xyzw", quat_xyzw, f"a unit quaternion (x, y, z, w) is wanted; the norm is {norm:.6g}")
        return Goal(_vector("position", position, 3), quat_xyzw=quat / norm)

    def arrays(self, chain: Chain) -> GoalArrays:
        """The goal as direction targets of this chain's tool: its axis first, then one perpendicular to it."""
        if self.quat_xyzw is not None:
            wanted = np.array([quaternion.rotate(self.quat_xyzw, axis) for axis in chain.tool])
            return GoalArrays(self.position, 2, chain.tool, wanted)
        if self.direction is not None:
            return GoalArrays(self.position, 1, chain.tool, np.array([self.direction, UNUSED]))
        return GoalArrays(self.position, 0, chain.tool, np.array([UNUSED, UNUSED]))


def _vector(name: str, value: Any, size: int) -> Array:
    try:
        out = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise GoalError(name, value, f"{size} numbers are wanted") from error
    if out.shape != (size,):
        raise GoalError(name, value, f"shape ({size},) is wanted, not {out.shape}")
    if not np.isfinite(out).all():
        raise GoalError(name, value, f"{size} finite numbers are wanted")
    return out
