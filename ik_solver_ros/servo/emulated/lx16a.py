"""Emulated LX-16A servos."""

from __future__ import annotations

from collections.abc import Mapping

from ik_solver_ros.servo import lx16a
from ik_solver_ros.servo.emulated.emulator import EmulatedServo, Emulator

FASTEST = 1200.0  # [ticks/s], whatever time a move is given
# What a servo at rest on 7.4 V answers
AT_REST = {lx16a.TEMPERATURE_READ: 30, lx16a.VOLTAGE_READ: 7400, lx16a.FAULT_READ: 0}


class Lx16aServo(EmulatedServo):
    """One servo. A move brings its torque on."""

    def __init__(self, servo_id: int, position: float) -> None:
        super().__init__(servo_id, position)
        self.goal, self.speed = self.position, 0.0  # [ticks], [ticks/s]
        self.torque = False

    def restart(self) -> None:
        """As after a loss of power."""
        self.torque = False

    def move(self, goal: int, milliseconds: int) -> None:
        """To a goal, in so long."""
        self.goal, self.torque = goal, True
        way = abs(goal - self.position)
        self.speed = way / max(milliseconds / 1000.0, way / FASTEST, 1e-3)

    def advance(self, seconds: float) -> None:
        """Move for a while."""
        if self.torque:
            self.approach(self.goal, self.speed * seconds)

    def answer(self, question: int) -> int:
        """What it says to a question."""
        known = {lx16a.POSITION_READ: round(self.position), lx16a.TORQUE_READ: int(self.torque)}
        return (AT_REST | known)[question]


class Lx16aEmulator(Emulator[Lx16aServo]):
    """Servos that share a wire."""

    def __init__(self, positions: Mapping[int, float]) -> None:
        """Servos at `positions` [ticks] by id."""
        super().__init__({i: Lx16aServo(i, position) for i, position in positions.items()})

    def obey(self, now: float) -> list[bytes]:
        """Move and answer."""
        packets, self.received = lx16a.parse(self.received)
        replies = []
        for servo_id, command, data in packets:
            if not self.hears(servo_id):
                continue
            servo = self.servos[servo_id]
            if command == lx16a.MOVE:
                goal, milliseconds = (int.from_bytes(data[at : at + 2], "little") for at in (0, 2))
                self.note(now, servo_id, goal, servo.torque)
                servo.move(goal, milliseconds)
            elif command == lx16a.TORQUE_WRITE:
                servo.torque, servo.goal = bool(data[0]), servo.position
            elif command in lx16a.SIZES:
                value = servo.answer(command)
                answer = value.to_bytes(lx16a.SIZES[command], "little", signed=value < 0)
                replies.append(lx16a.frame(servo_id, command, answer))
        return replies
