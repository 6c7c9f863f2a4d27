"""Requests to LX-16A servos on a port: they are asked one by one, and answer nothing but questions."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import ModuleType

from ik_solver_ros.servo import lx16a
from ik_solver_ros.servo.bus import Port

REPLY_TIMEOUT = 0.01  # [s] beyond what the bytes take
LONGEST_EXCHANGE = 200.0  # bits of a question and its answer, with room to spare
QUIET = 0.02  # [s] after a time-out


class Lx16aBus:
    """Requests to LX-16A servos. Raises BusError where the port is gone."""

    def __init__(self, port: Port, codec: ModuleType = lx16a) -> None:
        self.port, self.codec = port, codec
        self.time_outs: dict[int, int] = {}
        self.latency = 0.0  # [s] from a request to its reply, averaged over some twenty
        self._quiet_until = 0.0

    def read(self, servo_id: int, command: int) -> int | None:
        """What a servo answers; None where it does not. Positions may be negative."""
        while (wait := self._quiet_until - time.monotonic()) > 0.0:
            self.port.read(time.monotonic() + wait)
        self.port.flush()
        began = time.monotonic()
        self.port.write(self.codec.frame(servo_id, command))
        deadline = began + REPLY_TIMEOUT + LONGEST_EXCHANGE / self.port.baud
        buffer = b""
        while received := self.port.read(deadline):
            found, buffer = self.codec.parse(buffer + received)
            for who, what, data in found:
                if (who, what, len(data)) == (servo_id, command, self.codec.SIZES[command]):
                    self.latency += 0.05 * (time.monotonic() - began - self.latency)
                    return int.from_bytes(data, "little", signed=command == self.codec.POSITION_READ)
        self._quiet_until = time.monotonic() + QUIET
        self.time_outs[servo_id] = self.time_outs.get(servo_id, 0) + 1
        return None

    def move(self, goals: Mapping[int, int], milliseconds: int) -> None:
        """All of them, one frame after another."""
        self.port.write(b"".join(self.codec.move(servo_id, ticks, milliseconds) for servo_id, ticks in goals.items()))

    def torque(self, servo_id: int, on: bool) -> None:
        """Bring it on, or take it off."""
        self.port.write(self.codec.frame(servo_id, self.codec.TORQUE_WRITE, bytes([on])))
