"""Chain: a serial chain of moving joints from a base link to a tip link, frozen, as flat read-only arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from ik_solver_ros.errors import GoalError
from ik_solver_ros.kinematics import kernels
from ik_solver_ros.kinematics.kernels import Array, ChainArrays
from ik_solver_ros.kinematics.model import Joint, RobotModel


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
    packed: Array  # arrays, tool, reach and sample postures in one: see kernels.packed
    waist_arm: Array | None  # the constants of a WaistArm, None for any other chain: see waist_arm.packed
    model: RobotModel  # the whole robot: frames, grippers and other joints off the chain

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

    def forward(self, q: Array) -> tuple[Array, Array]:
        """Forward kinematics: position (3,) [m] and orientation (4,) xyzw of the tip in base_link.

        Raises GoalError where q is not (n,) finite numbers.
        """
        position, quat = kernels.tip_frame(self.arrays, self.checked(q))
        return np.array(position), np.array(quat)

    def jacobian(self, q: Array) -> Array:
        """The geometric Jacobian (6, n) of the tip in base_link, linear rows first. Raises GoalError."""
        return np.asarray(kernels.jacobian(self.arrays, self.checked(q)))

    def checked(self, q: npt.ArrayLike, name: str = "q") -> Array:
        """A fresh float64 copy of q, (n,). Raises GoalError where it is not n finite numbers."""
        try:
            out = np.array(q, dtype=np.float64, order="C")
        except (TypeError, ValueError) as error:
            raise GoalError(name, q, f"{self.n} numbers are wanted, one for each joint") from error
        if out.shape != (self.n,):
            raise GoalError(name, q, f"shape ({self.n},) is wanted, one number for each joint, not {out.shape}")
        if not all(map(math.isfinite, out.tolist())):  # on a few numbers five times as fast as numpy
            raise GoalError(name, q, "finite numbers are wanted")
        return out

    def clamped(self, q: Array) -> Array:
        """The configuration (n,) inside the limits that is nearest to q, joint by joint."""
        return np.clip(q, self.lower, self.upper)
