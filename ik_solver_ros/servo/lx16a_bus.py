"""Requests to LX-16A servos on a port: they are asked one by one, and answer nothing but questions."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from ik_solver_ros.servo import lx16a
from ik_solver_ros.servo.bus import Bus, Port


class Lx16aBus(Bus):
    """Requests to LX-16A servos. Raises BusError where the port is gone."""

    quiet_alone = 0.02  # [s]: all are asked alone

    def __init__(self, port: Port, codec: ModuleType = lx16a) -> None:
        super().__init__(port, codec.parse)
        self.codec = codec

    def read(self, servo_id: int, command: int) -> int | None:
        """What a servo answers; None where it does not. Positions may be negative."""
        frame = self.codec.frame(servo_id, command)
        replies = self.exchange(frame, [servo_id], self.codec.SIZES[command], command)
        if servo_id not in replies:
            self.count_time_outs([servo_id])
            return None
        return int.from_bytes(replies[servo_id].data, "little", signed=command in self.codec.SIGNED)

    def move(self, goals: Mapping[int, int], milliseconds: int) -> None:
        """All of them, one frame after another."""
        self.port.write(b"".join(self.codec.move(servo_id, ticks, milliseconds) for servo_id, ticks in goals.items()))

    def torque(self, servo_id: int, on: bool) -> None:
        """Bring it on, or take it off."""
        self.port.write(self.codec.frame(servo_id, self.codec.TORQUE_WRITE, bytes([on])))
