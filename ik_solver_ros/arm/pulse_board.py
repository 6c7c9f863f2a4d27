"""PulseBoardArm: hobby servos on a board that pulses them and cannot measure; what it reads is what it was told.

Where the joints are before the first pulse nobody knows: they are declared to be at `start`, and no pulse is sent
before somebody asks for it. If they are elsewhere, they snap there then; put the arm in that pose before.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

import numpy as np

from ik_solver_ros.arm.base import Reading, checked_command
from ik_solver_ros.arm.servos import Sample
from ik_solver_ros.errors import ArmError, BusError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.servo.calibration import Calibration
from ik_solver_ros.servo.pulse_bus import PulseBus

ALIVE_EVERY = 0.1  # [s] between questions whether the board is there


class PulseBoardArm:
    """All joints of a calibration, whose ticks are us of pulse. Not thread-safe: one thread owns it."""

    def __init__(
        self, calibration: Calibration, bus: PulseBus, start: Mapping[str, float], reset_time: float = 0.0
    ) -> None:
        """start, reset_time: as of `servo_arm`."""
        self.calibration, self.bus, self.port = calibration, bus, bus.port
        self.joint_names = tuple(joint.name for joint in calibration.joints)
        self.name = f"{calibration.protocol} board on {bus.port.url}"
        self.time_outs: dict[int, int] = {}
        self._reset_time = reset_time
        self._pulses = {j.id: j.ticks(float(start.get(j.name, 0.0))) for j in calibration.joints}
        self._on = False
        self._asked_at = -np.inf

    def open(self) -> None:
        """Connect, and wait until the board hears. Raises ArmError and BusError."""
        self.port.open()
        self._on = False
        try:
            self.bus.wait_for_restart(self._reset_time)
            self._ask()
        except (ArmError, BusError):
            self.port.close()
            raise

    def samples(self) -> dict[str, Sample]:
        """What each servo was told, by joint. Raises BusError where the board is gone."""
        if time.monotonic() - self._asked_at > ALIVE_EVERY:
            try:
                self._ask()
            except ArmError as error:
                raise BusError(str(error), port=self.port.url) from error
        return {
            j.name: Sample(self._pulses[j.id], 0.0, self._on, 0, math.nan, 0, [], self._pulses[j.id], self._on)
            for j in self.calibration.joints
        }

    def read(self) -> Reading:
        """The joints as they were told to be."""
        return self.reading(self.samples())

    def reading(self, samples: dict[str, Sample]) -> Reading:
        """The joints by these samples."""
        positions = np.array([joint.position(samples[joint.name].ticks) for joint in self.calibration.joints])
        return Reading(positions, np.zeros(len(positions)), measured=False)

    def write(self, positions: Array, velocities: Array) -> None:
        """Set all pulses, unless they are off. Raises ArmError for what is not finite, and BusError."""
        checked_command(self.joint_names, positions=positions, velocities=velocities)
        if not self._on:
            return
        pulses = {j.id: j.ticks(float(q)) for j, q in zip(self.calibration.joints, positions)}
        changed = {channel: width for channel, width in pulses.items() if width != self._pulses[channel]}
        if changed:
            self.bus.pulse(changed)
        self._pulses = pulses

    def enable(self, fastest: Array) -> Array:
        """Begin to pulse, where the joints are held to be. Raises BusError."""
        self.bus.pulse(self._pulses)
        self._on = True
        return self.read().positions

    def release(self) -> None:
        """No more pulses. Raises BusError."""
        self.bus.pulse(dict.fromkeys(self._pulses, 0))
        self._on = False

    def health(self) -> dict[str, float]:
        """A board says nothing of itself."""
        return {}

    def close(self) -> None:
        """Let go of the port; the board goes on pulsing."""
        self.port.close()

    def _ask(self) -> None:
        self.bus.ask()
        self._asked_at = time.monotonic()
