"""Chain: a serial chain of moving joints from a base link to a tip link, frozen, as flat read-only arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from ik_solver_ros.errors import GoalError
from ik_solver_ros.kinematics.arrays import Array, ChainArrays
from ik_solver_ros.kinematics.joint import Joint
from ik_solver_ros.kinematics.kernels import Body, Frames, Row, angular_column, joint_frames, linear_column, tip_frame
from ik_solver_ros.kinematics.model import RobotModel
from ik_solver_ros.kinematics.waist_arm import WaistArm


class Wrist(Enum):
    """How the last hinge lies to the tool, which decides what directions an arm of five joints can serve."""

    ROLL = "roll along the tool"
    ACROSS = "across the tool"


@dataclass(frozen=True, eq=False, repr=False)
class Chain:
    """A serial chain of n moving joints. Every array is read-only; units are m and rad."""

    joint_names: tuple[str, ...]
    base_link: str
    tip_link: str
    tool: Array  # (2, 3) unit, in the tip frame: where the tool points, and a direction across it
    tool_axis_reason: str  # how the tool axis was found, a phrase for people
    arrays: ChainArrays
    mid: Array  # (n,) the middle of each joint's range; zero for continuous joints
    velocity_limit: Array  # (n,) [rad/s or m/s], nan where the URDF has none
    effort_limit: Array  # (n,) [N m or N], nan where the URDF has none
    wrist: Wrist
    direction_rank: int  # rank of position + direction at generic configurations: 5 is any direction
    reach: float  # [m] no position of the tip is farther than this from the first joint
    body: Body  # all this, and sample postures, as compiled code sees it
    waist_arm: WaistArm | None  # None of any other chain than such an arm
    model: RobotModel  # the whole robot: frames, grippers and other joints off the chain
    doubts: tuple[str, ...] = ()  # sentences: what was guessed of tip and tool, and what to write if it is not meant

    def __repr__(self) -> str:
        return f"<Chain {self.base_link} -> {self.tip_link}: {', '.join(self.joint_names)}>"

    @property
    def n(self) -> int:
        """Number of moving joints."""
        return len(self.joint_names)

    @property
    def tool_axis(self) -> Array:
        """(3,) unit, in the tip frame: where the tool points."""
        return np.asarray(self.tool[0])

    @property
    def lower(self) -> Array:
        """(n,) lower limits [rad or m]; -inf for continuous joints."""
        return self.arrays.lower

    @property
    def upper(self) -> Array:
        """(n,) upper limits [rad or m]; inf for continuous joints."""
        return self.arrays.upper

    @property
    def other_joints(self) -> tuple[Joint, ...]:
        """The moving joints off the chain that can be commanded: grippers, mostly. Mimic joints follow theirs."""
        return tuple(joint for joint in self.model.commandable if joint.name not in self.joint_names)

    @property
    def finite_limits(self) -> tuple[Array, Array]:
        """Lower and upper limits, (n,) each [rad or m], one turn of continuous joints: to draw samples within."""
        return self.arrays.finite_limits()

    def forward(self, q: npt.ArrayLike) -> tuple[Array, Array]:
        """Forward kinematics: position (3,) [m] and orientation (4,) xyzw of the tip in base_link.

        Raises GoalError where q is not (n,) finite numbers.
        """
        position, quat = tip_frame(self.body, Row(self.checked_numbers(q)))
        return np.array(position), np.array(quat)

    def joint_frames(self, q: npt.ArrayLike) -> tuple[Array, Array, Array]:
        """Where the joints are in base_link: (parents (n, 4), origins (n, 3) [m], axes (n, 3)), see `Frames`.

        Raises GoalError.
        """
        frames = Frames()
        joint_frames(self.body, Row(self.checked_numbers(q)), frames)
        parents, origins, axes = frames.columns(self.n)
        return np.array(parents), np.array(origins), np.array(axes)

    def jacobian(self, q: npt.ArrayLike) -> Array:
        """The geometric Jacobian (6, n) of the tip in base_link, linear rows first. Raises GoalError."""
        frames = Frames()
        p, _ = joint_frames(self.body, Row(self.checked_numbers(q)), frames)
        columns = [
            (*linear_column(self.body, frames, i, p), *angular_column(self.body, frames, i)) for i in range(self.n)
        ]
        return np.asarray(np.transpose(columns))

    def checked(self, q: npt.ArrayLike, name: str = "q") -> Array:
        """A fresh float64 copy of q, (n,). Raises GoalError where it is not n finite numbers."""
        return np.array(self.checked_numbers(q, name))

    def checked_numbers(self, q: npt.ArrayLike, name: str = "q") -> list[float]:
        """Q (n,) as floats. Raises GoalError where it is not n finite numbers."""
        try:
            out = np.asarray(q, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise GoalError(name, q, f"{self.n} numbers are wanted, one for each joint") from error
        if out.shape != (self.n,):
            raise GoalError(name, q, f"shape ({self.n},) is wanted, one number for each joint, not {out.shape}")
        numbers: list[float] = out.tolist()
        if not all(map(math.isfinite, numbers)):  # on a few numbers five times as fast as numpy
            raise GoalError(name, q, "finite numbers are wanted")
        return numbers

    def clamped(self, q: Array) -> Array:
        """The configuration (n,) inside the limits that is nearest to q, joint by joint."""
        return np.clip(q, self.lower, self.upper)
