"""Dynamixel's protocol 2.0 (XL330, XL430, XM430): frames and registers.

    ff ff fd 00 | id | length (2) | instruction, or 55 and error | data ... | CRC-16 (2)

In what the length counts, ff ff fd is written ff ff fd fd. By ROBOTIS' e-Manual: protocol 2.0, and the control table of
the XL330-M288, whose addresses below the XL430, XM430 and 2XL430 share.
"""

from __future__ import annotations

from collections.abc import Mapping

from ik_solver_ros.servo.framing import Framing
from ik_solver_ros.servo.registers import Must, Packet, Register, named_bits

STUFFED, PLAIN = b"\xff\xff\xfd\xfd", b"\xff\xff\xfd"
STATUS = 0x55
VELOCITY_RPM = 0.229  # of a unit of velocity

name = "dynamixel"
address_size = 2
velocity_unit = VELOCITY_RPM * 4096.0 / 60.0
notes_offset = False
musts: tuple[Must, ...] = (
    Must("operating_mode", 0xFF, (3, 4, 5), "position (3), extended position (4) or current-based position mode (5)"),
    Must("drive_mode", 0x0C, (0,), "profiles by velocity and torque by its register alone, bits 2 and 3 off"),
    Must("status_level", 0xFF, (2,), "an answer to every request, 2"),
)
ready: Mapping[str, int | str] = {"acceleration": 0, "goal_pwm": "pwm_limit"}  # none: at once
reboots = True
registers: Mapping[str, Register] = {
    "model": Register(0, 2),
    "firmware": Register(6, 1),
    "id": Register(7, 1),
    "baud_rate": Register(8, 1),  # by BAUDS
    "return_delay": Register(9, 1),  # 2 us
    "drive_mode": Register(10, 1),
    "operating_mode": Register(11, 1),
    "homing_offset": Register(20, 4, signed=True),
    "max_temperature": Register(31, 1),  # deg C
    "max_voltage": Register(32, 2),  # 0.1 V
    "min_voltage": Register(34, 2),  # 0.1 V
    "pwm_limit": Register(36, 2),  # 0.113 %
    "current_limit": Register(38, 2),  # mA
    "velocity_limit": Register(44, 4),  # 0.229 rev/min
    "max_position": Register(48, 4),
    "min_position": Register(52, 4),
    "startup": Register(60, 1),  # bit 0: torque on
    "shutdown": Register(63, 1),  # by FAULTS: what takes the torque until REBOOT
    "torque_enable": Register(64, 1),
    "status_level": Register(68, 1),  # 0: only PING is answered, 1: READ as well, 2: all
    "hardware_error": Register(70, 1),
    "d_gain": Register(80, 2),
    "i_gain": Register(82, 2),
    "p_gain": Register(84, 2),
    "bus_watchdog": Register(98, 1),  # 20 ms; stops the servo where no instruction comes
    "goal_pwm": Register(100, 2, signed=True),  # 0.113 %
    "goal_current": Register(102, 2, signed=True),  # mA
    "goal_speed": Register(104, 4, signed=True),  # of a wheel, 0.229 rev/min
    "acceleration": Register(108, 4),  # of the profile, 214.577 rev/min^2
    "goal_velocity": Register(112, 4),  # of the profile, 0.229 rev/min
    "goal_position": Register(116, 4, signed=True),
    "moving": Register(122, 1),
    "load": Register(126, 2, signed=True),  # 0.1 %, or mA
    "velocity": Register(128, 4, signed=True),  # 0.229 rev/min
    "position": Register(132, 4, signed=True),
    "voltage": Register(144, 2),  # 0.1 V
    "temperature": Register(146, 1),  # deg C
}
BAUDS = (9600, 57_600, 115_200, 1_000_000, 2_000_000, 3_000_000, 4_000_000)
MODELS = {1190: "XL330-M077", 1200: "XL330-M288", 1060: "XL430-W250", 1020: "XM430-W350", 1030: "XM430-W210"}
FAULTS = {0: "voltage", 2: "overheated", 3: "encoder", 4: "electrical shock", 5: "overloaded"}
ALERT = 0x80  # of a reply: look at the hardware_error register


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        crc = byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ 0x8005 if crc & 0x8000 else crc << 1
        table.append(crc & 0xFFFF)
    return table


CRC_TABLE = _crc_table()


def crc(frame: bytes) -> bytes:
    """CRC-16 with the polynomial 8005, of everything before it."""
    out = 0
    for byte in frame:
        out = ((out << 8) & 0xFFFF) ^ CRC_TABLE[(out >> 8) ^ byte]
    return out.to_bytes(2, "little")


FRAMING = Framing(b"\xff\xff\xfd\x00", length_size=2, uncounted=7, shortest=3, longest=1024, check=crc, check_size=2)


def _frame(servo_id: int, body: bytes) -> bytes:
    stuffed = body.replace(PLAIN, STUFFED)
    return FRAMING.sealed(FRAMING.header + bytes([servo_id]) + (len(stuffed) + 2).to_bytes(2, "little") + stuffed)


def instruction(servo_id: int, code: int, data: bytes = b"") -> bytes:
    """The frame of an instruction."""
    return _frame(servo_id, bytes([code]) + data)


def status(servo_id: int, error: int, data: bytes = b"") -> bytes:
    """The frame of a reply."""
    return _frame(servo_id, bytes([STATUS, error]) + data)


def _parse(buffer: bytes) -> tuple[list[tuple[int, bytes]], bytes]:
    """Id and body of all whole, undamaged packets, and what may be the beginning of another."""
    frames, rest = FRAMING.split(buffer)
    return [(frame[4], frame[7:-2].replace(STUFFED, PLAIN)) for frame in frames], rest


def parse_instructions(buffer: bytes) -> tuple[list[Packet], bytes]:
    """The whole, undamaged instructions in a buffer, and what may be the beginning of another."""
    found, rest = _parse(buffer)
    return [Packet(servo_id, body[0], body[1:]) for servo_id, body in found if body[0] != STATUS], rest


def parse_statuses(buffer: bytes) -> tuple[list[Packet], bytes]:
    """The whole, undamaged replies in a buffer, and what may be the beginning of another."""
    found, rest = _parse(buffer)
    return [Packet(i, body[1], body[2:]) for i, body in found if body[0] == STATUS and len(body) > 1], rest


def faults(error: int) -> list[str]:
    """The bits of the hardware_error register, in words."""
    return named_bits(FAULTS, error)
