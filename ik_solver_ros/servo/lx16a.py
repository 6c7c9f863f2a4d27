"""Hiwonder's LX-16A bus servos: frames and commands.

    55 55 | id | length | command | data ... | ~(id + length + command + data)

By Hiwonder's "Lewansoul Bus Servo Communication Protocol". Writes are not answered, and a move brings the torque on.
"""

from __future__ import annotations

from ik_solver_ros.servo.framing import Framing, inverted_sum
from ik_solver_ros.servo.registers import Packet

FRAMING = Framing(b"\x55\x55", length_size=1, uncounted=3, shortest=3, longest=10, check=inverted_sum)

MOVE, TEMPERATURE_READ, VOLTAGE_READ, POSITION_READ = 1, 26, 27, 28
TORQUE_WRITE, TORQUE_READ, FAULT_READ = 31, 32, 36
SIZES = {TEMPERATURE_READ: 1, VOLTAGE_READ: 2, POSITION_READ: 2, TORQUE_READ: 1, FAULT_READ: 1}  # of the replies
FAULTS = {0: "overheated", 1: "voltage", 2: "locked rotor"}

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
