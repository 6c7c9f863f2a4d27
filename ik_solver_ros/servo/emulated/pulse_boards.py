"""Emulated boards with hobby servos, which go where their pulse says, at their own speed."""

from __future__ import annotations

from collections.abc import Mapping

from ik_solver_ros.servo import maestro
from ik_solver_ros.servo.emulated.emulator import EmulatedServo, Emulator

SPEED = 2500.0  # [us/s] that a servo turns
LENGTHS = {maestro.SET_TARGET: 4, maestro.GET_POSITION: 2, maestro.GET_ERRORS: 1}  # of the Maestro's commands


class HobbyServo(EmulatedServo):
    """One servo; its position is the pulse [us] that it stands at, its id the channel."""

    width = 0.0  # [us] of its pulse; 0 is none

    def restart(self) -> None:
        """As after a loss of power: no pulse."""
        self.width = 0.0

    def advance(self, seconds: float) -> None:
        """Move for a while."""
        if self.width > 0.0:
            self.approach(self.width, SPEED * seconds)


class PulseBoardEmulator(Emulator[HobbyServo]):
    """A board, with a servo on each channel."""

    def __init__(self, positions: Mapping[int, float]) -> None:
        """Servos at `positions` [us] by channel."""
        super().__init__({channel: HobbyServo(channel, position) for channel, position in positions.items()})

    @property
    def widths(self) -> dict[int, float]:
        """All pulses [us], by channel."""
        return {channel: servo.width for channel, servo in self.servos.items()}

    def restart(self) -> None:
        """As after a loss of power: no pulses."""
        for servo in self.servos.values():
            servo.restart()

    def pulse(self, channel: int, width: float, now: float) -> None:
        """Set a pulse [us]."""
        if channel in self.servos:
            self.note(now, channel, width, self.servos[channel].width > 0.0)
            self.servos[channel].width = width

    def width(self, channel: int) -> float:
        """The pulse of a channel [us]; 0 where there is none."""
        return self.widths.get(channel, 0.0)


class Ssc32Emulator(PulseBoardEmulator):
    """An SSC-32, or the sketch in arduino/."""

    def obey(self, now: float) -> list[bytes]:
        """Line by line."""
        *lines, self.received = self.received.split(b"\r")
        return [reply for line in lines for reply in self._obey(line, now)]

    def _obey(self, line: bytes, now: float) -> list[bytes]:
        if line == b"Q":
            busy = any(servo.width > 0.0 and abs(servo.width - servo.position) > 1.0 for servo in self.servos.values())
            return [b"+" if busy else b"."]
        if line == b"VER":
            return [b"SSC32-V2.04USB\r"]
        if line.startswith(b"QP"):
            return [bytes([round(self.width(int(line[2:])) / 10.0)])]
        for part in line.split(b"#")[1:]:
            channel, _, width = part.partition(b"P")
            digits = width.split(b"T")[0].split(b"S")[0]
            if channel.isdigit() and digits.isdigit():
                self.pulse(int(channel), float(digits), now)
        return []


class MaestroEmulator(PulseBoardEmulator):
    """A Maestro."""

    def obey(self, now: float) -> list[bytes]:
        """Command by command; what is none is passed over."""
        replies = []
        while self.received and len(self.received) >= (length := LENGTHS.get(self.received[0], 1)):
            command, self.received = self.received[:length], self.received[length:]
            if command[0] == maestro.GET_ERRORS:
                replies.append(b"\0\0")
            elif command[0] == maestro.GET_POSITION:
                replies.append(round(4.0 * self.width(command[1])).to_bytes(2, "little"))
            elif command[0] == maestro.SET_TARGET:
                _, channel, low, high = command
                self.pulse(channel, (low | high << 7) / 4.0, now)
        return replies
