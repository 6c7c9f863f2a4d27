"""BoardArm: hobby servos on a board that pulses them and cannot measure; what it reads is what it was told.

Where the joints are before the first pulse nobody knows: they are declared to be at `start`, and no pulse is sent
before somebody asks for it. If they are elsewhere, they snap there then; put the arm in that pose before.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from ik_solver_ros.arm.base import Reading, checked_command
from ik_solver_ros.arm.register_servos import Sample
from ik_solver_ros.errors import ArmError, BusError
from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.servo.boards import BoardCodec
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.calibration import Calibration

ALIVE_EVERY = 0.1  # [s] between questions whether the board is there
ANSWER_WITHIN = 0.1  # [s]


class BoardArm:
    """All joints of a calibration, whose ticks are us of pulse. Not thread-safe: one thread owns it."""

    def __init__(self, calibration: Calibration, port: Port, codec: BoardCodec, start: Mapping[str, float]) -> None:
        """start: where each joint is held to be before the first pulse [rad or m], by name; 0 where it is not said."""
        self.calibration, self.port, self.codec = calibration, port, codec
        self.joint_names = tuple(joint.name for joint in calibration.joints)
        self.name = f"{calibration.protocol} board on {port.url}"
        self.time_outs: dict[int, int] = {}
        self._pulses = {j.id: j.ticks(float(start.get(j.name, 0.0))) for j in calibration.joints}
        self._before = dict(self._pulses)
        self._on = False
        self._asked_at = -np.inf

    def open(self) -> None:
        """Connect, and wait until the board hears. Raises ArmError and BusError."""
        self.port.open()
        self._on = False
        try:
            time.sleep(self.codec.reset_time)
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
            j.name: Sample(self._pulses[j.id], 0.0, self._on, 0, float("nan"), 0, []) for j in self.calibration.joints
        }

    def read(self) -> Reading:
        """The joints as they were told to be."""
        return self.reading(self.samples())

    def reading(self, samples: dict[str, Sample]) -> Reading:
        """The joints by these samples."""
        positions = np.array([joint.position(samples[joint.name].ticks) for joint in self.calibration.joints])
        return Reading(positions, np.zeros(len(positions)), measured=False)

    def write(self, positions: Array, velocities: Array) -> None:
        """Set all pulses. Raises ArmError for what is not finite or while they are off, and BusError."""
        checked_command(self.joint_names, positions=positions, velocities=velocities)
        if not self._on:
            raise ArmError("the pulses are off")
        pulses = {j.id: j.ticks(float(q)) for j, q in zip(self.calibration.joints, positions)}
        changed = {channel: width for channel, width in pulses.items() if width != self._pulses[channel]}
        if changed:
            self.port.write(self.codec.pulses(changed))
        self._pulses = pulses

    def enable(self) -> None:
        """Begin to pulse, where the joints are held to be. Raises BusError."""
        self.port.write(self.codec.pulses(self._pulses))
        self._on = True

    def release(self) -> None:
        """No more pulses. Raises BusError."""
        self.port.write(self.codec.pulses(dict.fromkeys(self._pulses, 0)))
        self._on = False

    def health(self) -> dict[str, float]:
        """A board says nothing of itself."""
        return {}

    def close(self) -> None:
        """Let go of the port; the board goes on pulsing."""
        self.port.close()

    def _ask(self) -> None:
        self.port.flush()
        self.port.write(self.codec.alive())
        deadline, reply = time.monotonic() + ANSWER_WITHIN, b""
        while not self.codec.answered(reply):
            received = self.port.read(deadline)
            if not received:
                raise ArmError(
                    f"no answer from the {self.calibration.protocol} board on {self.port.url}; is it powered?"
                )
            reply += received
        self._asked_at = time.monotonic()
