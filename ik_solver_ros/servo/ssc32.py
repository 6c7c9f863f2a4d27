r"""Lynxmotion's SSC-32 and SSC-32U, and the sketch in arduino/: lines of text, `#0P1500#1P1600\r`; us, 0 is no pulse.

By Lynxmotion's manuals of the SSC-32 2.0 and the SSC-32U. Pulses have neither speed nor time: an SSC-32 takes the first
move of a channel from 500 us if it is timed, and an SSC-32U ignores speed and time of it. The sketch has two answers of
its own, which no SSC-32 gives: `!` to `Q`, and text in us to `QU`, by which it also tells that it has started anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ik_solver_ros.servo.pulse_codec import Status

LINE = 120  # characters that the sketch takes, without the end; the makers say nothing of their boards
SHORTEST, LONGEST = 50, 250  # [10 us] that a pulse can be
SKETCH = re.compile(rb"ARDUINO-(\d+)\.(\d+)")
FINE_SINCE = (1, 1)

name = "ssc32"
bauds = (9600, 38_400, 115_200, 2400)  # the first is an SSC-32U's from the factory
other_baud = (
    "or change the board's: on an SSC-32U hold the button for 2 s until its LEDs take turns, let go, press until they "
    "show the rate (green 9600, red 38400, both 115200), and wait for 5 s; on an SSC-32 by its two jumpers"
)
silence = "has its logic power, is it the right port, and does an Arduino have the sketch?"
narrower = "does another program lead the board?"
restarts = True  # an Arduino with our sketch does when its port is opened
greeting = b"VER\r"
question = b"Q\r"  # whether a move is under way


def pulses(widths: Mapping[int, float]) -> bytes:
    """Set pulses by channel [us], 0 for none. Whole us: the board takes no fractions; as many lines as it takes."""
    return b"".join(line + b"\r" for line in _lines(f"#{c}P{round(width)}".encode() for c, width in widths.items()))


def _lines(moves: Iterable[bytes]) -> list[bytes]:
    lines = [b""]
    for move in moves:
        if len(lines[-1]) + len(move) > LINE:
            lines.append(b"")
        lines[-1] += move
    return lines


def greeted(reply: bytes) -> bytes | None:
    """The version, as text."""
    return reply if reply.endswith(b"\r") and len(reply) > 1 else None


def fine(greeted: bytes) -> bool:
    """The sketch does since its version 1.1."""
    found = SKETCH.search(greeted)
    return found is not None and (int(found[1]), int(found[2])) >= FINE_SINCE


def status(reply: bytes) -> Status | None:
    """A dot or a plus; a ! where the sketch has refused a line."""
    if b"!" in reply:
        return Status(("the board refused a line",))
    return Status() if b"." in reply or b"+" in reply else None


def width_question(channel: int, fine: bool) -> bytes:
    """One channel a line: all boards understand that."""
    return f"Q{'U' if fine else 'P'}{channel}\r".encode()


def width(reply: bytes, fine: bool) -> float | None:
    """A byte, of 10 us; of the sketch a line of text, which is a * since it started anew."""
    if not fine:
        return next((10.0 * byte for byte in reply if byte == 0 or SHORTEST <= byte <= LONGEST), None)
    text = reply[:-1].strip()
    if not reply.endswith(b"\r") or not (text == b"*" or text.isdigit()):
        return None
    return 0.0 if text == b"*" else float(text)


def precision(fine: bool) -> float:
    """Half the step, and what rounding takes [us]."""
    return 1.0 if fine else 5.0
