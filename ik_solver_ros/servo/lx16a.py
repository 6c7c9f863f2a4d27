"""Hiwonder's LX-16A bus servos: frames and commands.

    55 55 | id | length | command | data ... | ~(id + length + command + data)

By Hiwonder's "Lewansoul Bus Servo Communication Protocol". Writes are not answered, and a move brings the torque on.
"""

from __future__ import annotations

from ik_solver_ros.servo.framing import Framing, inverted_sum
from ik_solver_ros.servo.registers import Packet

FRAMING = Framing(b"\x55\x55", length_size=1, uncounted=3, shortest=3, longest=10, check=inverted_sum)

MOVE, GOAL_READ, ID_WRITE, ID_READ, OFFSET_READ, LIMITS_WRITE, LIMITS_READ = 1, 2, 13, 14, 19, 20, 21
TEMPERATURE_READ, VOLTAGE_READ, POSITION_READ, MODE_WRITE, MODE_READ = 26, 27, 28, 29, 30
TORQUE_WRITE, TORQUE_READ = 31, 32
# Bytes of the replies. There is none about faults: command 36 tells for which of them the LED is to blink.
SIZES = {
    GOAL_READ: 4,
    ID_READ: 1,
    OFFSET_READ: 1,
    LIMITS_READ: 4,
    TEMPERATURE_READ: 1,
    VOLTAGE_READ: 2,
    POSITION_READ: 2,
    MODE_READ: 4,
    TORQUE_READ: 1,
}
SIGNED = {POSITION_READ, OFFSET_READ}
SERVO_MODE = 0

name = "lx16a"


def frame(servo_id: int, command: int, data: bytes = b"") -> bytes:
    """A command, or the reply to one."""
    return FRAMING.sealed(FRAMING.header + bytes([servo_id, len(data) + 3, command]) + data)


def move(servo_id: int, ticks: int, milliseconds: int) -> bytes:
    """To a position of 0 to 1000, which is 240 degrees."""
    return frame(servo_id, MOVE, ticks.to_bytes(2, "little") + milliseconds.to_bytes(2, "little"))


def parse(buffer: bytes) -> tuple[list[Packet], bytes]:
    """Id, command and data of all whole, undamaged frames, and what may be the beginning of another."""
    frames, rest = FRAMING.split(buffer)
    return [Packet(frame[2], frame[4], frame[5:-1]) for frame in frames], rest
