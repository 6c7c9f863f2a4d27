"""Goal: a position of the tip plus zero, one or two direction targets."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ik_solver_ros.errors import GoalError
from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics import quaternion
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Array

SHORTEST = 1e-9  # a direction shorter than this has none
NORM_SLACK = 1e-3  # a quaternion this near to unit length is normalised, any other is refused


class GoalArrays(NamedTuple):
    """A goal as compiled code sees it: `targets` directions, the approach first, then the roll."""

    position: Array  # (3,) [m] in base_link
    targets: int  # 0 point, 1 approach, 2 pose
    tool: Array  # (2, 3) unit vectors in the tip frame
    wanted: Array  # (2, 3) unit vectors in base_link: where each of `tool` shall point


@dataclass(frozen=True, eq=False)
class Goal:
    """What the tip shall do, in base_link, in m. Made by `Goal.point`, `Goal.approach` or `Goal.pose`."""

    packed: Array = field(repr=False)  # (7,) the position, then the direction or the quaternion: see unpacked_goal
    targets: int  # how many directions it has: 0 of a point, 1 of an approach, 2 of a pose

    @property
    def position(self) -> Array:
        """(3,) [m]."""
        return self.packed[:3]

    @property
    def direction(self) -> Array | None:
        """(3,) unit: where an approach wants the tool axis to point."""
        return self.packed[3:6] if self.targets == 1 else None

    @property
    def quat_xyzw(self) -> Array | None:
        """(4,) unit: how a pose wants the tip frame to be turned."""
        return self.packed[3:7] if self.targets == 2 else None

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

    def arrays(self, chain: Chain) -> GoalArrays:
        """The goal as direction targets of this chain's tool: its axis first, then one perpendicular to it."""
        goal: GoalArrays = unpacked_goal(self.packed, self.targets, chain.tool, np.zeros((2, 3)))
        return goal


@njit
def unpacked_goal(packed: Array, targets: int, tool: Array, wanted: Array) -> GoalArrays:
    """The GoalArrays of a packed goal (7,) for this tool (2, 3); `wanted` (2, 3) is room for its directions."""
    if targets == 1:
        wanted[0, 0], wanted[0, 1], wanted[0, 2] = packed[3], packed[4], packed[5]
    elif targets == 2:
        r = (packed[3], packed[4], packed[5], packed[6])
        for k in range(2):
            wanted[k, 0], wanted[k, 1], wanted[k, 2] = quaternion.rotate(r, tool[k])
    return GoalArrays(packed[:3], targets, tool, wanted)


@njit
def pack_goal(targets: int, out: Array) -> tuple[int, float]:
    """Check a packed goal (7,) and normalise its direction or quaternion in place; returns (fault, norm).

    fault: 0 none, 1 the position is not finite, 2 nor is the rest, 3 that has the wrong length.
    """
    if not (math.isfinite(out[0]) and math.isfinite(out[1]) and math.isfinite(out[2])):
        return 1, 0.0
    if targets == 0:
        return 0, 0.0
    if targets == 1:  # of any length, also one whose square is too large for a number
        size = max(abs(out[3]), abs(out[4]), abs(out[5]))
        if size > 1e100 and math.isfinite(size):
            for k in range(3, 6):
                out[k] /= size
    norm = math.sqrt(out[3] * out[3] + out[4] * out[4] + out[5] * out[5] + out[6] * out[6])
    if not math.isfinite(norm):
        return 2, norm
    if norm < SHORTEST or (targets == 2 and abs(norm - 1.0) > NORM_SLACK):
        return 3, norm
    for k in range(3, 7):
        out[k] /= norm
    return 0, norm


WIDTH = (0, 3, 4)  # numbers beside the position, by targets
NAMES = ("", "direction", "quat_xyzw")


def _goal(targets: int, position: npt.ArrayLike, rest: Any) -> Goal:
    packed = np.zeros(7)
    packed[:3] = _vector("position", position, 3)
    if targets:
        packed[3 : 3 + WIDTH[targets]] = _vector(NAMES[targets], rest, WIDTH[targets])
    fault, norm = pack_goal(targets, packed)
    if fault == 1:
        raise GoalError("position", position, "3 finite numbers are wanted")
    if fault == 2:
        raise GoalError(NAMES[targets], rest, f"{WIDTH[targets]} finite numbers are wanted")
    if fault == 3 and targets == 1:
        raise GoalError("direction", rest, "a direction must have a length")
    if fault == 3:
        raise GoalError("quat_xyzw", rest, f"a unit quaternion (x, y, z, w) is wanted; the norm is {norm:.6g}")
    return Goal(packed, targets)


def finite_vector(name: str, value: npt.ArrayLike, size: int) -> Array:
    """The value as (size,) finite numbers. Raises GoalError."""
    out = _vector(name, value, size)
    if not np.isfinite(out).all():
        raise GoalError(name, value, f"{size} finite numbers are wanted")
    return out


def _vector(name: str, value: Any, size: int) -> Array:
    try:
        out = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise GoalError(name, value, f"{size} numbers are wanted") from error
    if out.shape != (size,):
        raise GoalError(name, value, f"shape ({size},) is wanted, not {out.shape}")
    return out
