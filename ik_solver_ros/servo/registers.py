"""What Feetech's and Dynamixel's servos have in common: packets that read and write a table of registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

BROADCAST = 0xFE
PING, READ, WRITE, SYNC_READ, SYNC_WRITE = 0x01, 0x02, 0x03, 0x82, 0x83
REG_WRITE, ACTION, FACTORY_RESET, REBOOT, CLEAR = 0x04, 0x05, 0x06, 0x08, 0x10


@dataclass(frozen=True)
class Register:
    """A number in a servo's table, least byte first."""

    address: int
    size: int  # bytes
    sign_bit: int | None = None  # of sign and magnitude; None for what is never negative, or two's complement
    signed: bool = False  # two's complement

    def encode(self, value: int) -> bytes:
        """The bytes of a value. Raises ValueError for one that does not fit."""
        bits = 8 * self.size
        if self.sign_bit is not None:
            if abs(value) >= 1 << self.sign_bit:
                raise ValueError(f"{value} does not fit into {self.sign_bit} bits and a sign")
            raw = abs(value) | (1 << self.sign_bit if value < 0 else 0)
            return raw.to_bytes(self.size, "little")
        low, high = (-(1 << (bits - 1)), 1 << (bits - 1)) if self.signed else (0, 1 << bits)
        if not low <= value < high:
            raise ValueError(f"{value} does not fit into {self.size} bytes")
        return value.to_bytes(self.size, "little", signed=self.signed)

    def decode(self, data: bytes) -> int:
        """The value of `size` bytes."""
        raw = int.from_bytes(data[: self.size], "little", signed=self.signed)
        if self.sign_bit is None:
            return raw
        magnitude = raw & ((1 << self.sign_bit) - 1)
        return -magnitude if raw >> self.sign_bit & 1 else magnitude


class Packet(NamedTuple):
    """An instruction to a servo, or its status: then `code` has its error bits."""

    servo_id: int
    code: int
    data: bytes


class Must(NamedTuple):
    """What a servo's setting must be, for its goals to mean what they say."""

    register: str
    mask: int  # of the bits that count
    values: tuple[int, ...]  # of these bits, that are right
    wanted: str  # in words


class RegisterCodec(Protocol):
    """A wire protocol. Pure: bytes in, bytes out."""

    name: str
    registers: Mapping[str, Register]
    address_size: int  # bytes of an address or a size on the wire
    velocity_unit: float  # [ticks/s]
    notes_offset: bool  # whether a calibration notes the homing offset of each servo
    musts: tuple[Must, ...]
    # Registers that other programs leave set, and what they are to be before a motion: a value, or another register's
    ready: Mapping[str, int | str]
    reboots: bool  # whether it takes a REBOOT to clear what a servo has shut down for

    def instruction(self, servo_id: int, code: int, data: bytes = b"") -> bytes:
        """The frame of an instruction."""

    def status(self, servo_id: int, error: int, data: bytes = b"") -> bytes:
        """The frame of a reply: for emulators."""

    def parse_instructions(self, buffer: bytes) -> tuple[list[Packet], bytes]:
        """The whole, undamaged instructions in a buffer, and what may be the beginning of another: for emulators."""

    def parse_statuses(self, buffer: bytes) -> tuple[list[Packet], bytes]:
        """The whole, undamaged replies in a buffer, and what may be the beginning of another."""

    def faults(self, error: int) -> list[str]:
        """The bits of the hardware_error register, in words."""


def read_data(codec: RegisterCodec, address: int, size: int, ids: Sequence[int] = ()) -> bytes:
    """The data of a READ, or with the ids of those asked, of a SYNC_READ."""
    wide = codec.address_size
    return address.to_bytes(wide, "little") + size.to_bytes(wide, "little") + bytes(ids)


def write_data(codec: RegisterCodec, address: int, data: bytes) -> bytes:
    """The data of a WRITE."""
    return address.to_bytes(codec.address_size, "little") + data


def sync_write_data(codec: RegisterCodec, address: int, size: int, rows: Mapping[int, bytes]) -> bytes:
    """The data of a SYNC_WRITE of so many bytes to each id."""
    return read_data(codec, address, size) + b"".join(bytes([servo_id]) + data for servo_id, data in rows.items())


def named_bits(names: Mapping[int, str], bits: int) -> list[str]:
    """The bits that are set, in words."""
    return [names.get(bit, f"bit {bit}") for bit in range(8) if bits >> bit & 1]
