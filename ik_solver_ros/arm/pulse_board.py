"""PulseBoardArm: hobby servos on a board that pulses them and cannot measure; what it reads is what it was told.

Where joints are before their first pulse nobody knows: they are declared to be at `start`, and no pulse is sent before
somebody asks for it. If they are elsewhere, they snap there then; put the arm in that pose before. Channels that the
board pulses already, as it does when this program alone was started anew, go on as they are.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

import numpy as np

from ik_solver_ros.arm.base import Reading, checked_command
from ik_solver_ros.arm.servos import Sample
from ik_solver_ros.errors import ArmError, BusError, listed
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.servo.board_questions import BoardQuestions, Pulsed
from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.pulse_bus import PulseBus, lost
from ik_solver_ros.servo.pulsed_channel import PulsedChannel

SILENT = 0.1  # [s] after which a board that does not answer may be starting anew: nothing is sent, and motion waits
BEYOND = 8  # [us] that a pulse may be outside the calibrated range


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
        self._channels = {j.id: PulsedChannel(j.ticks(float(start.get(j.name, 0.0)))) for j in calibration.joints}
        self._questions = BoardQuestions(bus, list(self._channels))
        self._troubles: list[str] = []  # of the board, until somebody asks for the torque
        self._tells = False  # whether the board says what it pulses
        self._silent = False  # and may be starting anew

    def open(self) -> None:
        """Connect, wait until the board hears, and look what it pulses. Raises ArmError and BusError."""
        self.port.open()
        self._troubles, self._silent = [], False
        try:
            self.bus.begin(self._reset_time)
            self._tells = self.bus.width(self.calibration.joints[0].id) is not None
            self._questions.begin(self._tells)
            for channel in self._channels.values():
                channel.off()
            self._adopt()
        except (ArmError, BusError):
            self.port.close()
            raise

    def samples(self) -> dict[str, Sample]:
        """What each servo was told, or is pulsed at where the board says something else, by joint.

        Nothing while the board is silent. Raises BusError where it is gone.
        """
        self._silent = True
        answer = self._questions.answer()
        if isinstance(answer, Pulsed):
            if not self._channels[answer.channel].hear(answer.width, answer.asked):
                self._look_for_lost(answer.channel)
        elif answer is not None and answer.troubles:
            self._troubles += [trouble for trouble in answer.troubles if trouble not in self._troubles]
            if answer.stopped:
                for channel in self._channels.values():
                    channel.off()
        self._silent = self._questions.overdue > SILENT
        if self._silent:
            return {}
        self._send()
        return {joint.name: self._sample(joint) for joint in self.calibration.joints}

    def read(self) -> Reading:
        """The joints as they were told to be."""
        return self.reading({joint.name: self._sample(joint) for joint in self.calibration.joints})

    def reading(self, samples: dict[str, Sample]) -> Reading:
        """The joints by these samples; by what they were told where there is none."""
        positions = np.array(
            [j.position((samples.get(j.name) or self._sample(j)).ticks) for j in self.calibration.joints]
        )
        return Reading(positions, np.zeros(len(positions)), measured=False)

    def write(self, positions: Array, velocities: Array) -> None:
        """Set the pulses of those that have any, as soon as the wire is free; the newest go before those that wait.

        Raises ArmError for what is not finite, and BusError.
        """
        checked_command(self.joint_names, positions=positions, velocities=velocities)
        for joint, position in zip(self.calibration.joints, positions):
            channel = self._channels[joint.id]
            if channel.on:
                channel.wanted = joint.ticks(float(position))
        self._send()

    def enable(self, fastest: Array) -> Array:
        """Begin to pulse, where the joints are held to be; those that are pulsed stay as they are.

        Raises ArmError where one of these is outside its calibrated range, and BusError.
        """
        self._questions.settle()
        self._adopt()
        self._silent = False
        for joint in self.calibration.joints:
            channel = self._channels[joint.id]
            if channel.on and not joint.min - BEYOND <= channel.wanted <= joint.max + BEYOND:
                raise ArmError(
                    f"no torque: {joint.name!r} is pulsed at {channel.wanted:g} us, outside its calibrated range "
                    f"[{joint.min}, {joint.max}]: hold the arm and take the pulses off (~/enable_torque with data "
                    "false), or calibrate again; the others stay as they are"
                )
        # Who tells in steps of 10 us may tell of a pulse that is none: so it is told, by half a step beside at most.
        begin = {i: channel.wanted for i, channel in self._channels.items() if not (channel.on and self.bus.fine)}
        if begin:
            at = self.bus.pulse(begin)
            for i in begin:
                self._channels[i].tell(at)
        self._troubles = []
        return self.read().positions

    def release(self) -> None:
        """No more pulses. Raises ArmError where the board says that there still are some, and BusError."""
        self.bus.pulse(dict.fromkeys(self._channels, 0))
        for channel in self._channels.values():
            channel.off()
        if self.bus.fine:
            self._questions.settle()
            on = [joint.name for joint in self.calibration.joints if self._width(joint.id)]
            if on:
                raise ArmError(f"the torque of {listed(on)} may still be on: the board says that it pulses them")

    def health(self) -> dict[str, float]:
        """How often a second the wire can take the pulses of all channels."""
        return {"possible_rate_hz": 1.0 / self.bus.line_time(len(self._channels))}

    def close(self) -> None:
        """Let go of the port; the board goes on pulsing, what it was to be told last."""
        if self.port.is_open:
            try:
                while not self._silent and any(channel.due for channel in self._channels.values()):
                    self._send()
                    time.sleep(0.001)
            except BusError:  # it is gone already
                pass
        self.port.close()

    def _send(self) -> None:
        due = {i: channel.wanted for i, channel in self._channels.items() if channel.due}
        if due and self.bus.free and not self._silent:
            at = self.bus.pulse(due)
            for i in due:
                self._channels[i].tell(at)

    def _sample(self, joint: ServoJoint) -> Sample:
        channel = self._channels[joint.id]
        told, faults, width = round(channel.wanted), list(self._troubles), channel.wanted
        answered = channel.answered if channel.on and self.bus.fine else None
        if answered and not channel.due and abs(answered - channel.wanted) > self.bus.codec.precision(True):
            width = answered
            faults.append(f"channel {joint.id} pulses {width:g} us, was told {told}: {self.bus.codec.narrower}")
        return Sample(round(width), 0.0, channel.on, 0, math.nan, 0, faults, told, channel.on)

    def _adopt(self) -> None:
        """Take over what the board pulses, where it tells."""
        for i, channel in self._channels.items() if self._tells else ():
            channel.adopt(self._width(i), self.bus.codec.precision(self.bus.fine))

    def _look_for_lost(self, suspect: int) -> None:
        """A channel has no pulse that had one: ask it again, and then the others, which may be lost with it."""
        self._questions.settle()
        if self._width(suspect):
            return
        for i, channel in self._channels.items():
            if channel.on and not self._width(i):
                channel.off()

    def _width(self, channel: int) -> float:
        """The pulse of a channel [us]; 0: none. Raises BusError where the board does not say."""
        width = self.bus.width(channel)
        if width is None:
            raise lost(self.bus)
        return width
