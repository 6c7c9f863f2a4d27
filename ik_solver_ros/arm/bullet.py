"""The arm in PyBullet: gravity, inertias, motors that are only as strong as the URDF says. A link poses as measured."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from ik_solver_ros.arm.base import Reading, checked_command, starting_positions
from ik_solver_ros.arm.bullet_urdf import for_bullet
from ik_solver_ros.errors import ArmError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.joint import MOVING
from ik_solver_ros.kinematics.model import RobotModel
from ik_solver_ros.pybullet_client import connect_pybullet

GRAVITY = -9.81  # [m/s^2]
POSITION_GAIN = 0.3  # fraction of the position error that the motors remove in a time step
ASSUMED_EFFORT = 50.0  # [N m or N] where the URDF says 0 or nothing


class BulletArm:
    """All commandable joints of a RobotModel in a PyBullet world of its own, the base fixed at the origin.

    gui: with a window (needs a display). floor: a ground plane at z = 0. notes: after open(), sentences about what
    of the URDF was assumed or left out.
    """

    name = "PyBullet"

    def __init__(
        self,
        model: RobotModel,
        initial: Mapping[str, float] | None = None,
        time_step: float = 1.0 / 240.0,
        *,
        gui: bool = False,
        floor: bool = True,
    ) -> None:
        self.time_step = time_step
        self.notes: list[str] = []
        self._model, self._gui, self._floor = model, gui, floor
        self._joints = model.commandable
        self._mimics = [j for j in model.joints.values() if j.type in MOVING and j.mimic is not None]
        self.joint_names = tuple(j.name for j in self._joints)
        self._initial = starting_positions(self._joints, initial)
        self._bullet: Any = None

    def open(self) -> None:
        """Start the physics and load the robot. Raises ArmError: no pybullet, no display, a URDF that it rejects."""
        if self._gui and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
            # PyBullet would end the whole process.
            raise ArmError("a window needs a display, and DISPLAY is not set; run without gui")
        self._bullet = p = connect_pybullet(self._gui)
        p.setGravity(0.0, 0.0, GRAVITY)
        p.setTimeStep(self.time_step)
        if self._floor:
            self._plane = p.createMultiBody(0.0, p.createCollisionShape(p.GEOM_PLANE))
        self._body = self._load(p)
        if self._gui:
            for item in (p.COV_ENABLE_GUI, p.COV_ENABLE_SHADOWS):  # panels and shadows cost more than they show
                p.configureDebugVisualizer(item, 0)
            low, high = self._extent(p)
            p.resetDebugVisualizerCamera(float(np.linalg.norm(high - low)) + 0.1, 50.0, -20.0, (low + high) / 2)
        index = {p.getJointInfo(self._body, i)[1].decode(): i for i in range(p.getNumJoints(self._body))}
        self._link_index = {
            p.getJointInfo(self._body, i)[12].decode(): i for i in range(p.getNumJoints(self._body))
        } | {self._model.root: -1}
        self._index = [index[j.name] for j in self._joints]
        self._mimic_index = [index[j.name] for j in self._mimics]
        self._force = [self._effort(j.effort) for j in self._joints]
        self._mimic_force = [self._effort(j.effort) for j in self._mimics]
        weak = [j.name for j in self._joints if not (math.isfinite(j.effort) and j.effort > 0.0)]
        if weak:
            self.notes.append(f"the URDF has no effort for {', '.join(weak)}: {ASSUMED_EFFORT:g} N m is assumed")
        for i, position in zip(self._index, self._initial):
            p.resetJointState(self._body, i, position)
        for i, position in zip(self._mimic_index, self._mimicked(self._initial)):
            p.resetJointState(self._body, i, position)
        self.write(self._initial, np.zeros(len(self._index)))

    def read(self) -> Reading:
        """The joints as PyBullet has them."""
        states = self._client().getJointStates(self._body, self._index)
        return Reading(np.array([s[0] for s in states]), np.array([s[1] for s in states]), measured=True)

    def write(self, positions: Array, velocities: Array) -> None:
        """Lead the motors, by position with the velocity fed forward, each with no more than its effort."""
        p = self._client()
        checked_command(self.joint_names, positions=positions, velocities=velocities)
        self._control(p, self._index, positions, velocities, self._force)
        if self._mimics:
            followed = self._mimicked(np.asarray(positions))
            self._control(p, self._mimic_index, followed, np.zeros(len(followed)), self._mimic_force)

    def advance(self) -> None:
        """One step of physics."""
        self._client().stepSimulation()

    def link_pose(self, base: str, link: str) -> tuple[Array, Array]:
        """The frame of `link` (not its centre of mass) as PyBullet measures it, as seen from `base`."""
        p = self._client()
        from_base = p.invertTransform(*self._frame(p, base))
        position, quat = p.multiplyTransforms(*from_base, *self._frame(p, link))
        return np.array(position), np.array(quat)

    def place(self, positions: Array) -> None:
        """Put the joints at `positions` (n,) without moving there: for looking ahead and drawing, not for driving."""
        p = self._client()
        checked_command(self.joint_names, positions=positions)
        for i, position in zip(self._index + self._mimic_index, [*positions, *self._mimicked(np.asarray(positions))]):
            p.resetJointState(self._body, i, float(position))
        p.performCollisionDetection()

    def ball(self, position: Array, radius: float, color: tuple[float, float, float, float]) -> int:
        """A ball without mass or substance, for drawing; returns its handle for `recolor`."""
        p = self._client()
        shape = p.createVisualShape(p.GEOM_SPHERE, radius=radius, rgbaColor=color)
        return int(p.createMultiBody(baseVisualShapeIndex=shape, basePosition=[float(x) for x in position]))

    def move_ball(self, handle: int, position: Array) -> None:
        """Put a ball elsewhere."""
        self._client().resetBasePositionAndOrientation(handle, [float(x) for x in position], [0.0, 0.0, 0.0, 1.0])

    def block(
        self,
        position: tuple[float, float, float],
        half: tuple[float, float, float],
        mass: float,
        color: tuple[float, float, float, float],
    ) -> int:
        """A block that can be pushed, of these half edges [m] and mass [kg]; returns its handle for `where`."""
        p = self._client()
        solid = p.createCollisionShape(p.GEOM_BOX, halfExtents=half)
        shape = p.createVisualShape(p.GEOM_BOX, halfExtents=half, rgbaColor=color)
        return int(p.createMultiBody(mass, solid, shape, position))

    def where(self, handle: int) -> Array:
        """Where the middle of a ball or block is, (3,) [m]."""
        return np.array(self._client().getBasePositionAndOrientation(handle)[0])

    def recolor(self, handle: int, color: tuple[float, float, float, float]) -> None:
        """Paint a ball."""
        self._client().changeVisualShape(handle, -1, rgbaColor=color)

    def picture(self, width: int, height: int, target: Array, distance: float, yaw: float, pitch: float) -> Any:
        """An image (height, width, 3) uint8 of the scene, by the software renderer. Angles in degrees."""
        p = self._client()
        view = p.computeViewMatrixFromYawPitchRoll(list(target), distance, yaw, pitch, 0.0, 2)
        lens = p.computeProjectionMatrixFOV(40.0, width / height, 0.01, 10.0)
        pixels = p.getCameraImage(
            width, height, view, lens, lightDirection=[1.0, -1.0, 2.0], shadow=1, renderer=p.ER_TINY_RENDERER
        )
        return np.reshape(np.asarray(pixels[2], dtype=np.uint8), (height, width, 4))[:, :, :3]

    def close(self) -> None:
        """End the physics."""
        if self._bullet is not None:
            try:
                self._bullet.disconnect()
            except Exception:  # pybullet.error: the window was closed by hand, which ends the connection too
                pass
            self._bullet = None

    def _client(self) -> Any:
        if self._bullet is None:
            raise ArmError("PyBullet is not connected: call open() first")
        if self._gui and not self._bullet.isConnected():
            raise ArmError("the PyBullet window was closed")
        return self._bullet

    def _load(self, p: Any) -> int:
        text, notes = for_bullet(self._model)
        self.notes = notes
        with tempfile.NamedTemporaryFile("w", suffix=".urdf", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            try:
                return int(p.loadURDF(file.name, useFixedBase=True, flags=p.URDF_USE_INERTIA_FROM_FILE))
            except Exception as error:  # pybullet.error says no more than "Cannot load URDF file."
                raise ArmError(f"PyBullet cannot load the URDF of {self._model.name!r}: {error}") from error

    def _extent(self, p: Any) -> tuple[Array, Array]:
        """The corners of a box round the robot."""
        boxes = [p.getAABB(self._body, i) for i in range(-1, p.getNumJoints(self._body))]
        return np.min([low for low, _ in boxes], axis=0), np.max([high for _, high in boxes], axis=0)

    def _effort(self, effort: float) -> float:
        return effort if math.isfinite(effort) and effort > 0.0 else ASSUMED_EFFORT

    def _mimicked(self, positions: Array) -> list[float]:
        known = dict(zip(self.joint_names, positions))
        return [self._model.joint_position(joint, known) for joint in self._mimics]

    def _control(self, p: Any, index: list[int], positions: Any, velocities: Any, force: list[float]) -> None:
        p.setJointMotorControlArray(
            self._body,
            index,
            p.POSITION_CONTROL,
            targetPositions=[float(x) for x in positions],
            targetVelocities=[float(x) for x in velocities],
            forces=force,
            positionGains=[POSITION_GAIN] * len(index),
            velocityGains=[1.0] * len(index),
        )

    def _frame(self, p: Any, link: str) -> tuple[Any, Any]:
        index = self._link_index[link]
        if index >= 0:
            state = p.getLinkState(self._body, index, computeForwardKinematics=True)
            return state[4], state[5]
        # PyBullet gives the base's centre of mass; its frame lies the inertial offset before it.
        inertial = p.getDynamicsInfo(self._body, -1)[3:5]
        com = p.getBasePositionAndOrientation(self._body)
        return p.multiplyTransforms(*com, *p.invertTransform(*inertial))  # type: ignore[no-any-return]
