"""EmulatedArm: emulated servos on a pseudo-terminal, for servo_node to move, and where their tip really is."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ik_solver_ros.arm.base import SimulatedArm
from ik_solver_ros.arm.bullet import BulletArm
from ik_solver_ros.arm.mock import MockArm
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.servo.emulated.calibration import emulated_calibration
from ik_solver_ros.servo.emulated.port import emulate
from ik_solver_ros.servo.emulated.traits import PRECISE
from ik_solver_ros.tools.demo.goals import Pose, tip_at


class EmulatedArm:
    """One feetech servo a joint, in this process. Use it in a `with` statement."""

    def __init__(self, chain: Chain, directory: Path) -> None:
        """directory: for the calibration that servo_node is to use."""
        self._chain, self._calibration = chain, emulated_calibration(chain, "feetech")
        directory.mkdir(parents=True, exist_ok=True)
        calibration = directory / "servos.yaml"
        self._calibration.dump(calibration)
        self._scratch = TemporaryDirectory(prefix="ik_solver_ros_")
        url = str(Path(self._scratch.name) / "port")
        self._port = emulate(self._calibration, {}, url, PRECISE)
        self._arm: SimulatedArm = BulletArm(chain.model) if find_spec("pybullet") else MockArm(chain.model)
        self.parameters: dict[str, object] = {"port": url, "calibration": str(calibration)}  # for servo_node

    def tip(self) -> Pose:
        """By the forward kinematics of PyBullet, where there is PyBullet, and not of this package."""
        with self._port.lock:
            ticks = self._port.bus.positions
        known = {joint.name: joint.position(ticks[joint.id]) for joint in self._calibration.joints}
        return tip_at(self._chain, self._arm, np.array([known[name] for name in self._arm.joint_names]))

    def __enter__(self) -> EmulatedArm:
        self._arm.open()
        self._port.plug()
        return self

    def __exit__(self, *_: object) -> None:
        self._port.unplug()
        self._arm.close()
        self._scratch.cleanup()
