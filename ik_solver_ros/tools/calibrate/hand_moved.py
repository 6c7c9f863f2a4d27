"""Joints whose servos measure: their torque is off, and somebody moves them by hand."""

from __future__ import annotations

import math

import numpy as np

from ik_solver_ros.errors import BusError, CalibrationError, listed
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.joint import Joint
from ik_solver_ros.servo.by_hand import ByHand
from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.families import Family
from ik_solver_ros.tools.calibrate.dialogue import Ask, Show, agreed
from ik_solver_ros.tools.calibrate.give_ids import SEARCHED, give_ids
from ik_solver_ros.tools.calibrate.measure import Measurement, reference
from ik_solver_ros.tools.calibrate.watched import patiently

NUDGE = 0.06  # [rad] of a jog there and back


class HandMoved:
    """The wizard's procedure for servos that are moved by hand."""

    def __init__(self, chain: Chain, servos: ByHand, family: Family, ask: Ask, show: Show) -> None:
        self.free: list[int] = []  # ids of the servos that have no joint yet
        self._chain, self._servos, self._family, self._ask, self._show = chain, servos, family, ask, show
        self._measurement = Measurement(servos, family, ask, show)

    def begin(self) -> None:
        """Find those that answer, and take their torque off. Raises CalibrationError where there are none."""
        port, chain = self._servos.port, self._chain
        self.free = self._servos.found(SEARCHED)
        if not self.free:
            raise CalibrationError(f"no servo answers on {port.url} at {port.baud} baud; is it powered?")
        self._show(f"servos that answer: {listed(self.free)}")
        if len(self.free) < chain.n and agreed(
            self._ask,
            f"the arm has {chain.n} joints: servos of one id, as they come from the shop, look like one. Give ids now?",
        ):
            give_ids(chain, self._servos, port.baud, self._ask, self._show)
            self._ask("connect all servos again, and press Enter: ", None)
            self.free = self._servos.found(SEARCHED)
            self._show(f"servos that answer: {listed(self.free)}")
        self._servos.release(self.free)
        self._show("all torque is off: support the arm")

    def knows(self, joint: ServoJoint) -> bool:
        """Whether an answer from before is still right: its servo is free, and counts as it did."""
        if joint.id not in self.free:
            return False
        settings = self._servos.settings(joint.id)
        return not settings.wrong and settings.homing_offset == joint.homing_offset

    def choose(self) -> int | None:
        """The free servo that somebody says moves the joint, by its id; None where none does."""
        first = self.free[0]
        while True:
            answer = self._ask(
                f"  id of its servo [{first}], 'j {first}' moves that one a little, 'n' for none: ", None
            ).strip()
            if answer == "n":
                return None
            number = answer.removeprefix("j").strip() or str(first)
            if not number.isdigit() or int(number) not in self.free:
                self._show(f"  {answer!r}: one of {listed(self.free)} is wanted")
            elif answer.startswith("j"):
                self._jog(int(number))
            else:
                return int(number)

    def _jog(self, servo_id: int) -> None:
        """A little there and back, the other way where this one leads out of its turn."""
        by = round(NUDGE / self._family.per_tick)
        try:
            highest = self._servos.settings(servo_id).limits[1]
            here = self._servos.position(servo_id)
            self._servos.move(servo_id, by if here + by <= highest else -by)
        except CalibrationError as error:
            self._show(f"  servo {servo_id} is not moved: {error}")

    def measure(self, name: str, servo_id: int) -> ServoJoint:
        """Zero, direction and range of a joint; asked again where they cannot be. Raises CalibrationError."""
        while (found := self._measured(self._chain.model.joints[name], servo_id)) is None:
            pass
        return found

    def _measured(self, joint: Joint, servo_id: int) -> ServoJoint | None:
        """The same, once; None where it cannot be, and somebody wants to try again."""
        try:
            found = self._measurement.measure(joint, servo_id)
            return self._measurement.confirm_direction(found, reference(joint))
        except CalibrationError as error:
            self._show(f"  {error}")
            if not agreed(self._ask, "  once more?"):
                raise
            return None

    def verify(self, calibration: Calibration) -> None:
        """Show where the tip is while the arm is moved."""
        chain, joints = self._chain, {joint.name: joint for joint in calibration.joints}

        def position(name: str) -> float:
            joint = joints[name]
            return joint.position(patiently(self._servos, lambda: self._servos.position(joint.id), self._show))

        def pose() -> str:
            q = np.array([position(name) for name in chain.joint_names])
            tip, _ = chain.forward(chain.clamped(q))
            angles = ", ".join(f"{name} {math.degrees(value):.0f}" for name, value in zip(chain.joint_names, q))
            return f"  [deg] {angles}; {chain.tip_link} at x {tip[0]:.3f}, y {tip[1]:.3f}, z {tip[2]:.3f} m "

        self._show(f"move the arm and watch: x forward, y to the left, z up from {chain.base_link!r}")
        self._ask("  press Enter when it is right (or calibrate again): ", pose)

    def end(self) -> None:
        """Their torque is off already; once more for a servo that fell silent while it moved."""
        try:
            self._servos.release(self.free)
        except (BusError, CalibrationError) as error:
            self._show(f"a servo may still have torque: {error}")
