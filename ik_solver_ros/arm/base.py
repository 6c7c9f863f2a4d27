"""The Arm protocol: what a back-end must do. One contract test runs on every back-end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ik_solver_ros.errors import ArmError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.joint import Joint


class Reading(NamedTuple):
    """What the joints of an arm were last measured at, each (n,)."""

    positions: Array  # [rad or m]
    velocities: Array  # per s
    measured: bool  # False where the hardware cannot measure and this is what was commanded


class Arm(Protocol):
    """Joints that can be read and written. open() before, close() after; close() may be called twice."""

    joint_names: tuple[str, ...]

    def open(self) -> None:
        """Connect. Raises ArmError saying what is wrong and what would help."""

    def read(self) -> Reading:
        """The joints as they are now. Raises ArmError when not open."""

    def write(self, positions: Array, velocities: Array) -> None:
        """Command positions (n,) [rad or m], with the velocities (n,) of the motion as a feed-forward.

        Raises ArmError for anything but finite numbers of the right shape; the arm then keeps its last command.
        """

    def close(self) -> None:
        """Let go of the arm."""


class SimulatedArm(Arm, Protocol):
    """An arm whose time is ours to advance, and which can be measured from outside."""

    name: str  # for people
    time_step: float  # [s]
    notes: list[str]  # once it is open: sentences about what was chosen, assumed or left out

    def advance(self) -> None:
        """Let one time_step pass."""

    def link_pose(self, base: str, link: str) -> tuple[Array, Array]:
        """Where the frame of `link` is, as seen from `base`: position (3,) [m], quaternion (4,) xyzw."""


def checked_command(joint_names: tuple[str, ...], **values: Array) -> None:
    """Raise ArmError for a command that is not finite or not one number for each joint."""
    for what, array in values.items():
        if np.shape(array) != (len(joint_names),):
            raise ArmError(
                f"{what} of shape {np.shape(array)}: one number for each of {len(joint_names)} joints is wanted"
            )
        if not np.isfinite(array).all():
            bad = {name: float(value) for name, value in zip(joint_names, array) if not np.isfinite(value)}
            raise ArmError(f"{what} must be finite: {bad}")


def starting_positions(joints: Sequence[Joint], given: Mapping[str, float] | None) -> Array:
    """Where a simulated arm begins (n,): as given by name, else at zero, or at the limit nearest to it.

    Raises ArmError for a name that is no joint and for a position outside the limits.
    """
    start = {joint.name: float(np.clip(0.0, joint.lower, joint.upper)) for joint in joints}
    limits = {joint.name: (joint.lower, joint.upper) for joint in joints}
    for name, value in (given or {}).items():
        if name not in limits:
            raise ArmError(f"initial position for {name!r}, which is no joint of this arm: {', '.join(limits)}")
        lower, upper = limits[name]
        if not lower <= value <= upper:
            raise ArmError(f"initial position {value} of {name!r} is outside its limits [{lower}, {upper}]")
        start[name] = value
    return np.array(list(start.values()))
