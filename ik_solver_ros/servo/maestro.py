"""Pololu's Maestro, in its compact protocol: `84 channel low high`; pulses in quarter us, 0 is none.

By Pololu's Maestro Servo Controller User's Guide.
"""

from __future__ import annotations

from collections.abc import Mapping

SET_TARGET, GET_POSITION, GET_ERRORS = 0x84, 0x90, 0xA1

name = "maestro"
question = bytes([GET_ERRORS])  # which this also clears
restarts = False


def pulses(widths: Mapping[int, float]) -> bytes:
    """Set pulses by channel [us], 0 for none. Quarter us in 14 bits, the low seven first."""
    out = b""
    for channel, width in widths.items():
        quarters = round(4.0 * width)
        out += bytes([SET_TARGET, channel, quarters & 0x7F, quarters >> 7 & 0x7F])
    return out


def answered(reply: bytes) -> bool:
    """Two bytes."""
    return len(reply) >= 2
