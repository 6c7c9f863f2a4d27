"""A kinematic arm: every joint is at once where it is told to be. For trying things without physics or hardware."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.spatial.transform import Rotation

from ik_solver_ros.arm.base import Reading, checked_command, starting_positions
from ik_solver_ros.errors import ArmError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.model import RobotModel


class MockArm:
    """All commandable joints of a RobotModel, without masses; mimic joints follow in `link_pose`."""

    name = "kinematic mock"

    def __init__(
        self,
        model: RobotModel,
        initial: Mapping[str, float] | None = None,
        time_step: float = 1.0 / 240.0,
        *,
        gui: bool = False,
        floor: bool = True,
    ) -> None:
        """Neither gui nor floor makes a difference: there is no window, and nothing falls."""
        self.time_step = time_step
        self.notes: list[str] = []
        self._model = model
        joints = model.commandable
        self.joint_names = tuple(j.name for j in joints)
        self._positions = starting_positions(joints, initial)
        self._target = self._positions
        self._velocities = np.zeros(len(joints))
        self._open = False

    def open(self) -> None:
        """Nothing to connect to."""
        self._open = True

    def read(self) -> Reading:
        """The joints where they were led."""
        self._check()
        return Reading(self._positions.copy(), self._velocities.copy(), measured=True)

    def write(self, positions: Array, velocities: Array) -> None:
        """Be there after the next time step."""
        self._check()
        checked_command(self.joint_names, positions=positions, velocities=velocities)
        self._target = np.array(positions, dtype=float)

    def advance(self) -> None:
        """One time step."""
        self._check()
        self._velocities = (self._target - self._positions) / self.time_step
        self._positions = self._target

    def link_pose(self, base: str, link: str) -> tuple[Array, Array]:
        """By forward kinematics."""
        self._check()
        transform = self._model.transform(base, link, dict(zip(self.joint_names, self._positions)))
        return transform[:3, 3], Rotation.from_matrix(transform[:3, :3]).as_quat()

    def close(self) -> None:
        """Nothing to let go of."""
        self._open = False

    def _check(self) -> None:
        if not self._open:
            raise ArmError("the mock arm is not open: call open() first")
