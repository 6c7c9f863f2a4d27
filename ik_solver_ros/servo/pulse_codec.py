"""What is to be known of the protocol of a board that pulses hobby servos."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol


class Status(NamedTuple):
    """What a board says of itself."""

    troubles: tuple[str, ...] = ()  # in words, since it was asked last
    stopped: bool = False  # its pulses went off since


class PulseCodec(Protocol):
    """A board's protocol. Pure: bytes in, bytes out. What reads a reply returns None where it is not whole."""

    name: str
    bauds: tuple[int, ...]  # usual ones; none where the rate is of no meaning
    other_baud: str  # how a board is brought to another rate, in words
    silence: str  # what to look at where none answers, in words
    narrower: str  # why a board may give another pulse than it was told, in words
    restarts: bool  # whether there are boards that start anew when their port is opened
    greeting: bytes  # asks which board it is
    question: bytes  # asks how it is

    def pulses(self, widths: Mapping[int, float]) -> bytes:
        """Set pulses by channel [us]; 0 for none. As many commands as it takes."""

    def greeted(self, reply: bytes) -> bytes | None:
        """The answer to the greeting."""

    def fine(self, greeted: bytes) -> bool:
        """Whether such a board tells its pulses as finely as they are told to it."""

    def status(self, reply: bytes) -> Status | None:
        """The answer to the question."""

    def width_question(self, channel: int, fine: bool) -> bytes:
        """Asks for the pulse of a channel."""

    def width(self, reply: bytes, fine: bool) -> float | None:
        """The answer to that [us]; 0: no pulse."""

    def precision(self, fine: bool) -> float:
        """How much that may be off [us]."""
