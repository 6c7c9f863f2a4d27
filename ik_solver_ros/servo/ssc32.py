r"""Lynxmotion's SSC-32, and the sketch in arduino/: lines of text, `#0P1500#1P1600\r`; pulses in us, 0 is none.

By Lynxmotion's manual of the SSC-32 2.0.
"""

from __future__ import annotations

from collections.abc import Mapping

name = "ssc32"
question = b"Q\r"  # whether a move is under way
restarts = True  # an Arduino with our sketch does when its port is opened


def pulses(widths: Mapping[int, float]) -> bytes:
    """Set pulses by channel [us], 0 for none. Whole us: the board takes no fractions."""
    return "".join(f"#{channel}P{round(width)}" for channel, width in widths.items()).encode() + b"\r"


def answered(reply: bytes) -> bool:
    """A dot or a plus."""
    return any(sign in reply for sign in (b".", b"+"))
