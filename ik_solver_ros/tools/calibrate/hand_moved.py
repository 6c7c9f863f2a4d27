"""Joints whose servos measure: their torque is off, and somebody moves them by hand."""

from __future__ import annotations

import math

import numpy as np

from ik_solver_ros.errors import CalibrationError, listed
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.servo.by_hand import ByHand
from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.families import Family
from ik_solver_ros.tools.calibrate.dialogue import Ask, Show

SEARCHED = range(1, 31)  # ids
CLEARLY = 0.09  # [rad] by which a joint must be moved to tell its direction
EDGE = 0.015  # [rad] that the range is kept away from where the joint was stopped by hand


class HandMoved:
    """The wizard's procedure for servos that are moved by hand."""

    def __init__(self, chain: Chain, servos: ByHand, family: Family, ask: Ask, show: Show) -> None:
        self.free: list[int] = []  # ids of the servos that have no joint yet
        self._chain, self._servos, self._family, self._ask, self._show = chain, servos, family, ask, show

    def begin(self) -> None:
        """Find those that answer, and take their torque off. Raises CalibrationError where there are none."""
        port = self._servos.port
        self.free = self._servos.found(SEARCHED)
        if not self.free:
            raise CalibrationError(f"no servo answers on {port.url} at {port.baud} baud; is it powered?")
        self._show(f"servos that answer: {listed(self.free)}")
        self._servos.release(self.free)
        self._show("all torque is off: support the arm")

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
                self._servos.jog(int(number), self._family.per_tick)
            else:
                return int(number)

    def measure(self, name: str, servo_id: int) -> ServoJoint:
        """Zero, direction and range of a joint by where it is moved to. Raises CalibrationError where it was not."""
        servos, family = self._servos, self._family

        def live() -> str:
            return f"  {servos.position(servo_id)} ticks "

        self._ask("  put it where the URDF has it at 0, and press Enter: ", live)
        zero = servos.position(servo_id)
        while True:
            self._ask("  move it a good way in its positive direction, and press Enter: ", live)
            way = servos.position(servo_id) - zero
            if abs(way) * family.per_tick >= CLEARLY:
                break
        seen = [zero, zero + way]

        def ranging() -> str:
            ticks = servos.position(servo_id)
            seen[:] = [min(seen[0], seen[1], ticks), max(seen[0], seen[1], ticks)]
            return f"  {ticks} ticks, seen {seen[0]} to {seen[1]} "

        self._ask("  move it through its whole range, to both ends, and press Enter: ", ranging)
        edge = round(EDGE / family.per_tick)
        low, high = max(min(seen) + edge, family.ticks[0]), min(max(seen) - edge, family.ticks[1])
        if low >= high:
            raise CalibrationError(f"joint {name!r} was moved by {max(seen) - min(seen)} ticks only", joint=name)
        offset = servos.homing_offset(servo_id)
        return ServoJoint(name, servo_id, 1 if way > 0 else -1, zero, low, high, family.per_tick, offset)

    def verify(self, calibration: Calibration) -> None:
        """Show where the tip is while the arm is moved."""
        chain, joints = self._chain, {joint.name: joint for joint in calibration.joints}

        def pose() -> str:
            q = np.array([joints[name].position(self._servos.position(joints[name].id)) for name in chain.joint_names])
            tip, _ = chain.forward(chain.clamped(q))
            angles = ", ".join(f"{name} {math.degrees(value):.0f}" for name, value in zip(chain.joint_names, q))
            return f"  [deg] {angles}; {chain.tip_link} at x {tip[0]:.3f}, y {tip[1]:.3f}, z {tip[2]:.3f} m "

        self._show(f"move the arm and watch: x forward, y to the left, z up from {chain.base_link!r}")
        self._ask("  press Enter when it is right (or calibrate again): ", pose)

    def end(self) -> None:
        """Their torque is off already."""
