"""Pololu's Maestro, in its compact protocol: `84 channel low high`; pulses in quarter us, 0 is none.

By Pololu's Maestro Servo Controller User's Guide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ik_solver_ros.servo.pulse_codec import Status

SET_TARGET, GET_POSITION, GET_ERRORS = 0x84, 0x90, 0xA1
ERRORS = (  # by bit; guide, 4.e
    "serial signal error",
    "serial overrun error",
    "serial buffer full",
    "serial CRC error",
    "serial protocol error",
    "serial time-out",
    "script stack error",
    "script call stack error",
    "script program counter error",
)

name = "maestro"
bauds: tuple[int, ...] = ()  # it takes any on USB
other_baud = ""
silence = (
    "set 'USB Dual Port' in the Maestro Control Center (Serial Settings), since a factory-new one ignores what comes "
    "by USB; take the first of its two ports (if00, usually the lower ttyACM); is the CRC off, and has it power?"
)
narrower = "its Min/Max in the Maestro Control Center (Channel Settings) are narrower than the calibration"
restarts = False
greeting = question = bytes([GET_ERRORS])  # which this also clears


def pulses(widths: Mapping[int, float]) -> bytes:
    """Set pulses by channel [us], 0 for none. Quarter us in 14 bits, the low seven first."""
    out = b""
    for channel, us in widths.items():
        quarters = round(4.0 * us)
        out += bytes([SET_TARGET, channel, quarters & 0x7F, quarters >> 7 & 0x7F])
    return out


def greeted(reply: bytes) -> bytes | None:
    """Two bytes: errors of before."""
    return reply if len(reply) >= 2 else None


def fine(greeted: bytes) -> bool:
    """All of them."""
    return True


def status(reply: bytes) -> Status | None:
    """Two bytes, the low one first. With any error channels go to their setting for it: off, from the factory."""
    errors = _number(reply, lambda number: number < 1 << len(ERRORS))
    if errors is None:
        return None
    words = tuple(f"Maestro: {text}" for bit, text in enumerate(ERRORS) if errors >> bit & 1)
    return Status(words, stopped=True) if errors else Status()


def width_question(channel: int, fine: bool) -> bytes:
    """Get Position, which is the pulse that is sent."""
    return bytes([GET_POSITION, channel])


def width(reply: bytes, fine: bool) -> float | None:
    """Two bytes, quarter us, the low one first."""
    quarters = _number(reply, lambda number: number == 0 or number >= 1 << len(ERRORS))
    return None if quarters is None else quarters / 4.0


def precision(fine: bool) -> float:
    """What rounding takes [us]."""
    return 1.0


def _number(reply: bytes, can_be: Callable[[int], bool]) -> int | None:
    """The first 16 bits that can be the answer: nothing else tells errors from a pulse that comes late."""
    numbers = (reply[i] | reply[i + 1] << 8 for i in range(0, len(reply) - 1, 2))
    return next(filter(can_be, numbers), None)
