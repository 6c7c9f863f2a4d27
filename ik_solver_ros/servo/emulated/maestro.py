"""An emulated Maestro, by Pololu's user's guide."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ik_solver_ros.servo import maestro
from ik_solver_ros.servo.emulated.hobby import PulseBoardEmulator
from ik_solver_ros.servo.emulated.traits import UNKIND, Traits

SPEED, ACCELERATION, MOVING, HOME, SEVERAL, POLOLU = 0x87, 0x89, 0x93, 0xA2, 0x9F, 0xAA
LENGTHS = {maestro.SET_TARGET: 4, SPEED: 4, ACCELERATION: 4, maestro.GET_POSITION: 2, maestro.GET_ERRORS: 1}
LENGTHS |= {MOVING: 1, HOME: 1}
LOW, HIGH = 992.0, 2000.0  # [us] of a channel from the factory
SERIAL_PROTOCOL = 4  # bit of the errors
PER_SPEED = 25.0  # [us/s] of a unit of speed
PER_ACCELERATION = 312.5  # [us/s^2] of a unit of acceleration


class MaestroEmulator(PulseBoardEmulator):
    """A Maestro. Its channels' `limits` [us] and `modes` ("servo", "input", "output") are set with another program."""

    any_rate = True

    def __init__(self, positions: Mapping[int, float], traits: Traits = UNKIND) -> None:
        """Servos at `positions` [us] by channel."""
        super().__init__(positions, traits)
        self.limits = dict.fromkeys(positions, (LOW, HIGH) if traits.maestro_limits else (0.0, math.inf))
        self.modes = dict.fromkeys(positions, "servo")
        self.uart = traits.maestro_uart  # waits for a byte to tell its baud by
        self.errors = 0

    def set_up(self, calibration: Any) -> None:
        """Serial mode "USB dual port"; the channels stay as they came from the factory."""
        super().set_up(calibration)
        self.uart = False

    def restart(self, seconds: float = 0.0) -> None:
        """As after a loss of power."""
        super().restart(seconds)
        for servo in self.servos.values():
            servo.rate = servo.acceleration = math.inf

    def obey(self, now: float) -> list[bytes]:
        """Command by command; what is none is passed over, and an error."""
        if not self.listening(now):
            return []
        if self.uart:
            at = self.received.find(POLOLU)
            self.uart, self.received = at < 0, self.received[at + 1 :] if at >= 0 else b""
        replies = []
        while (command := self._next(now)) is not None:
            replies += self._do(command, now)
        return replies

    def fail(self, bit: int, now: float) -> None:
        """An error: all channels go home, which is no pulse from the factory."""
        self.errors |= 1 << bit
        if self.traits.maestro_error_stops:
            self._go_home(now)

    def _next(self, now: float) -> bytes | None:
        """A whole command, without the Pololu protocol's device number; None where there is none yet."""
        while self.received:
            head = self.received[:3]
            pololu = head[0] == POLOLU
            if pololu and len(head) < 3:
                return None
            code, start = (head[2] | 0x80, 3) if pololu else (head[0], 1)
            length = self._length(code, start)
            if length is None:
                return None
            end = start + length - 1
            if length == 0 or any(byte > 0x7F for byte in self.received[start:end]):
                self.fail(SERIAL_PROTOCOL, now)
                self.received = self.received[1:]
            elif len(self.received) < end:
                return None
            else:
                command, self.received = bytes([code]) + self.received[start:end], self.received[end:]
                return command
        return None

    def _length(self, code: int, start: int) -> int | None:
        """Bytes of a command; 0 for what is none, None where that is not known yet."""
        if code == SEVERAL:
            return 3 + 2 * self.received[start] if len(self.received) > start else None
        return LENGTHS.get(code, 0)

    def _do(self, command: bytes, now: float) -> list[bytes]:
        code = command[0]
        if code == maestro.GET_ERRORS:
            errors, self.errors = self.errors, 0
            return [errors.to_bytes(2, "little")]
        if code == maestro.GET_POSITION:
            return [round(4.0 * self.width(command[1])).to_bytes(2, "little")]
        if code == MOVING:
            return [bytes([any(servo.width != servo.wanted for servo in self.servos.values())])]
        if code == HOME:
            self._go_home(now)
        elif code == SEVERAL:
            for i in range(command[1]):
                self._target(command[2] + i, _number(command[3 + 2 * i :]) / 4.0, now)
        elif code == maestro.SET_TARGET:
            self._target(command[1], _number(command[2:]) / 4.0, now)
        elif command[1] in self.servos:
            self._pace(command[1], code, _number(command[2:]))
        return []

    def _go_home(self, now: float) -> None:
        for channel in self.servos:
            if self.width(channel):
                self._target(channel, 0.0, now)

    def _pace(self, channel: int, code: int, value: int) -> None:
        servo = self.servos[channel]
        if code == SPEED:
            servo.rate = PER_SPEED * value or math.inf
        else:
            servo.acceleration = PER_ACCELERATION * value or math.inf
        self.enter(channel, "speed" if code == SPEED else "acceleration", value)

    def _target(self, channel: int, width: float, now: float) -> None:
        if channel not in self.servos:
            return
        if self.modes[channel] != "servo":
            self.enter(channel, "pulse", width, "ignored")
            return
        low, high = self.limits[channel]
        self.pulse(channel, min(max(width, low), high) if width else 0.0, now, self.servos[channel].rate, width)


def _number(data: bytes) -> int:
    """14 bits, the low seven first."""
    return data[0] | data[1] << 7
