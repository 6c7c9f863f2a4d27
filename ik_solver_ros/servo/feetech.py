"""Feetech's STS protocol (SO-ARM100, SO-ARM101): frames and registers.

    ff ff | id | length | instruction or error | data ... | ~(id + length + ... + data)

Registers by the memory table of the STS3215 that Feetech publishes, as used by LeRobot and feetech-servo-sdk.
"""

from __future__ import annotations

from collections.abc import Mapping

from ik_solver_ros.servo.framing import Framing, inverted_sum
from ik_solver_ros.servo.registers import Must, Packet, Register, named_bits

FRAMING = Framing(b"\xff\xff", length_size=1, uncounted=4, shortest=2, longest=250, check=inverted_sum)

name = "feetech"
address_size = 1
velocity_unit = 1.0
notes_offset = True
musts: tuple[Must, ...] = (
    Must("operating_mode", 0xFF, (0,), "position mode, 0"),
    Must("phase", 0x10, (0,), "positions within one turn, bit 4 off"),
    Must("status_level", 0xFF, (1,), "an answer to every request, 1"),
)
ready: Mapping[str, int | str] = {
    "acceleration": 254,
    "goal_time": 0,
    "torque_limit": "max_torque",
}  # the quickest; LeRobot sets it so, too
reboots = False
registers: Mapping[str, Register] = {
    "model": Register(3, 2),
    "id": Register(5, 1),
    "baud_rate": Register(6, 1),  # by BAUDS
    "return_delay": Register(7, 1),  # 2 us
    "status_level": Register(8, 1),  # 0: only PING and READ are answered
    "min_position": Register(9, 2),
    "max_position": Register(11, 2),
    "max_temperature": Register(13, 1),  # deg C
    "max_voltage": Register(14, 1),  # 0.1 V
    "min_voltage": Register(15, 1),  # 0.1 V
    "max_torque": Register(16, 2),  # 0.1 %, what torque_limit begins with
    "phase": Register(18, 1),  # bit 2: slow unit of velocity; 3: velocity 0 is the greatest; 4: positions count turns
    "unloading": Register(19, 1),  # by FAULTS: what cuts the output
    "p_gain": Register(21, 1),
    "d_gain": Register(22, 1),
    "i_gain": Register(23, 1),
    "protection_current": Register(28, 2),  # 6.5 mA
    "homing_offset": Register(31, 2, sign_bit=11),
    "operating_mode": Register(33, 1),  # 0 position, 1 velocity, 2 PWM, 3 steps
    "protective_torque": Register(34, 1),  # 1 %, after an overload
    "protection_time": Register(35, 1),  # 10 ms
    "overload_torque": Register(36, 1),  # 1 %
    "torque_enable": Register(40, 1),
    "acceleration": Register(41, 1),
    "goal_position": Register(42, 2, sign_bit=15),
    "goal_time": Register(44, 2),
    "goal_velocity": Register(46, 2, sign_bit=15),
    "torque_limit": Register(48, 2),
    "lock": Register(55, 1),
    "position": Register(56, 2, sign_bit=15),
    "velocity": Register(58, 2, sign_bit=15),
    "load": Register(60, 2, sign_bit=10),
    "voltage": Register(62, 1),  # 0.1 V
    "temperature": Register(63, 1),  # deg C
    "hardware_error": Register(65, 1),
    "moving": Register(66, 1),
    "current": Register(69, 2, sign_bit=15),  # 6.5 mA
}
BAUDS = (1_000_000, 500_000, 250_000, 128_000, 115_200, 76_800, 57_600, 38_400)
MODELS = {777: "STS3215", 2825: "STS3250", 1284: "SCS0009"}
FAULTS = {0: "voltage", 1: "angle sensor", 2: "overheated", 3: "overcurrent", 5: "overloaded"}


def instruction(servo_id: int, code: int, data: bytes = b"") -> bytes:
    """The frame of an instruction."""
    return FRAMING.sealed(FRAMING.header + bytes([servo_id, len(data) + 2, code]) + data)


def parse_instructions(buffer: bytes) -> tuple[list[Packet], bytes]:
    """The whole, undamaged packets in a buffer, and what may be the beginning of another."""
    frames, rest = FRAMING.split(buffer)
    return [Packet(frame[2], frame[4], frame[5:-1]) for frame in frames], rest


status = instruction  # a reply has its error bits where the instruction is
parse_statuses = parse_instructions


def faults(error: int) -> list[str]:
    """The error bits of a reply, in words."""
    return named_bits(FAULTS, error)
