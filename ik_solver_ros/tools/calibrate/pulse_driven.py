"""Joints of hobby servos on a board that cannot measure: they are driven by pulses, and looked at."""

from __future__ import annotations

import math
import time

import numpy as np

from ik_solver_ros.errors import CalibrationError
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.families import Family
from ik_solver_ros.servo.pulse_bus import PulseBus
from ik_solver_ros.tools.calibrate.dialogue import Ask, Show, number

CHANNELS = range(32)
MIDDLE = 1500  # [us] of the first pulse
SLOWLY, PAUSE = 10, 0.02  # [us] from a pulse to the next, and how much later [s]
CLEARLY = 50  # [us] that a joint must be driven to tell its direction and how far it turns
HELP = "+50 or -50 drives it so many us, 1500 to that pulse, Enter when it is there"


class PulseDriven:
    """The wizard's procedure for servos that are pulsed: not before their channel is chosen, and every change slow."""

    def __init__(self, chain: Chain, bus: PulseBus, family: Family, ask: Ask, show: Show) -> None:
        self.free = list(CHANNELS)  # those that have no joint yet
        self._chain, self._bus, self._family, self._ask, self._show = chain, bus, family, ask, show
        self._pulses: dict[int, int] = {}  # by channel [us]

    def begin(self) -> None:
        """Such servos cannot be found; say what will happen."""
        self._show("servos get no pulse before you say so; then they snap to the middle, so keep clear")

    def knows(self, joint: ServoJoint) -> bool:
        """Whether an answer from before is still right: a board's channels do not change."""
        return joint.id in self.free

    def choose(self) -> int | None:
        """The free servo that somebody says moves the joint, by its channel; None where none does."""
        while True:
            answer = self._ask(
                f"  channel of its servo [{self.free[0]}], 'n' for none; it snaps to the middle: ", None
            ).strip()
            if answer == "n":
                return None
            answer = answer or str(self.free[0])
            if answer.isdigit() and int(answer) in self.free:
                return int(answer)
            self._show(f"  {answer!r}: a channel from 0 to {CHANNELS[-1]} that is not taken is wanted")

    def measure(self, name: str, servo_id: int) -> ServoJoint:
        """Zero, direction, scale and range of a joint. Raises CalibrationError where both ends are one."""
        self._pulse(servo_id, MIDDLE)
        self._show(f"  {HELP}")
        zero = self._driven(servo_id, "drive it to where the URDF has it at 0")
        while True:
            way = self._driven(servo_id, "drive it a good way in its positive direction") - zero
            if abs(way) >= CLEARLY:
                break
            self._show(f"  by {CLEARLY} us and more")
        slides = self._chain.model.joints[name].type == "prismatic"
        unit, of_unit = ("mm", 1e-3) if slides else ("degrees", math.pi / 180.0)
        usual = abs(way) * self._family.per_tick / of_unit
        far = number(self._ask, self._show, f"how many {unit} is it from 0 now? measure", round(usual, 1))
        one = self._driven(servo_id, "drive it to one end of its range")
        other = self._driven(servo_id, "and to the other end")
        if one == other:
            raise CalibrationError(f"both ends of joint {name!r} are at {one} us", joint=name)
        self._drive(servo_id, zero)
        per_tick = far * of_unit / abs(way)
        return ServoJoint(name, servo_id, 1 if way > 0 else -1, zero, min(one, other), max(one, other), per_tick)

    def verify(self, calibration: Calibration) -> None:
        """Tell where the tip should be."""
        chain = self._chain
        tip, _ = chain.forward(chain.clamped(np.zeros(chain.n)))
        self._show(
            f"all joints are at 0 now: {chain.tip_link} should be at x {tip[0]:.3f} (forward), y {tip[1]:.3f} (to the "
            f"left), z {tip[2]:.3f} m (up) from {chain.base_link!r}; if not, calibrate again"
        )
        self._ask("  support the arm: Enter takes the pulses off: ", None)

    def end(self) -> None:
        """No more pulses."""
        if self._pulses:
            self._bus.pulse(dict.fromkeys(self._pulses, 0))

    def _pulse(self, channel: int, width: int) -> None:
        self._bus.pulse({channel: width})
        self._pulses[channel] = width

    def _drive(self, channel: int, width: int) -> None:
        """Slowly, to no farther than the servos of the family go [us]."""
        low, high = self._family.ticks
        width = min(max(width, low), high)
        while (remaining := width - self._pulses[channel]) != 0:
            self._pulse(channel, self._pulses[channel] + min(max(remaining, -SLOWLY), SLOWLY))
            time.sleep(PAUSE)

    def _driven(self, channel: int, wish: str) -> int:
        """Where somebody drives it [us]."""
        while True:
            here = self._pulses[channel]
            answer = self._ask(f"  {wish} [{here} us]: ", None).strip()
            if not answer:
                return here
            try:
                self._drive(channel, int(answer) + (here if answer[0] in "+-" else 0))
            except ValueError:
                self._show(f"  {answer!r}: {HELP}")
