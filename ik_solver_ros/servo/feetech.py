"""Feetech's STS protocol (SO-ARM100, SO-ARM101): frames and registers.

    ff ff | id | length | instruction or error | data ... | ~(id + length + ... + data)

Registers by the memory table of the STS3215 that Feetech publishes, as used by LeRobot and feetech-servo-sdk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ik_solver_ros.servo.table import BROADCAST, Packet, Register

HEADER = b"\xff\xff"
SHORTEST, LONGEST = 2, 250  # values of the length byte that can be

name = "feetech"
sync_read_code, sync_write_code = 0x82, 0x83
registers: Mapping[str, Register] = {
    "model": Register(3, 2),
    "min_position": Register(9, 2),
    "max_position": Register(11, 2),
    "homing_offset": Register(31, 2, sign_bit=11),
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
MODELS = {777: "STS3215", 2825: "STS3250", 1284: "SCS0009"}
FAULTS = {0: "voltage", 1: "angle sensor", 2: "overheated", 3: "overcurrent", 5: "overloaded"}


def checksum(body: bytes) -> int:
    """Of everything between the header and itself."""
    return ~sum(body) & 0xFF


def instruction(servo_id: int, code: int, data: bytes = b"") -> bytes:
    """The frame of an instruction."""
    body = bytes([servo_id, len(data) + 2, code]) + data
    return HEADER + body + bytes([checksum(body)])


status = instruction  # a reply has its error bits where the instruction is


def read_data(address: int, size: int) -> bytes:
    """The data of a READ."""
    return bytes([address, size])


def write_data(address: int, data: bytes) -> bytes:
    """The data of a WRITE."""
    return bytes([address]) + data


def sync_read_data(address: int, size: int, ids: Sequence[int]) -> bytes:
    """The data of a SYNC READ."""
    return bytes([address, size, *ids])


def sync_write_data(address: int, size: int, rows: Mapping[int, bytes]) -> bytes:
    """The data of a SYNC WRITE."""
    return bytes([address, size]) + b"".join(bytes([servo_id]) + data for servo_id, data in rows.items())


def parse_instructions(buffer: bytes) -> tuple[list[Packet], bytes]:
    """The whole, undamaged packets in a buffer, and what may be the beginning of another."""
    packets: list[Packet] = []
    at = 0
    while True:
        at = buffer.find(HEADER, at)
        if at < 0:
            return packets, buffer[-1:] if buffer.endswith(b"\xff") else b""
        while buffer[at + 2 : at + 3] == b"\xff":  # an id is below it: the header begins later
            at += 1
        if len(buffer) < at + 4:
            return packets, buffer[at:]
        servo_id, length = buffer[at + 2], buffer[at + 3]
        end = at + 4 + length
        if servo_id > BROADCAST or not SHORTEST <= length <= LONGEST:
            at += 1
            continue
        if len(buffer) < end:
            # The length may be what is damaged: a whole packet further on goes before a beginning here.
            later, rest = parse_instructions(buffer[at + 1 :])
            return (packets + later, rest) if later else (packets, buffer[at:])
        body = buffer[at + 2 : end - 1]
        if checksum(body) != buffer[end - 1]:
            at += 1
            continue
        packets.append(Packet(servo_id, buffer[at + 4], buffer[at + 5 : end - 1]))
        at = end


parse_statuses = parse_instructions


def faults(error: int) -> list[str]:
    """The error bits of a reply, in words."""
    return [FAULTS.get(bit, f"bit {bit}") for bit in range(8) if error >> bit & 1]
