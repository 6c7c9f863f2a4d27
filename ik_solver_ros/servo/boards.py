r"""Boards that pulse hobby servos and cannot measure: Lynxmotion's SSC-32 and Pololu's Maestro. Bytes in, bytes out.

SSC-32 (and the sketch in arduino/): lines of text, `#0P1500#1P1600\r`; pulses in us, 0 is no pulse. By Lynxmotion's
manual of the SSC-32 2.0. Maestro: binary, `84 channel low high`; quarter us, 0 is no pulse. By Pololu's guide.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class BoardCodec(Protocol):
    """A board's protocol."""

    name: str
    reset_time: float  # [s] after the port was opened, before it hears

    def pulses(self, widths: Mapping[int, float]) -> bytes:
        """Set pulses by channel [us]; 0 for none."""

    def alive(self) -> bytes:
        """A question that every board answers."""

    def answered(self, reply: bytes) -> bool:
        """Whether that is an answer to it."""


BOARDS = ("ssc32", "maestro")


def board_codec(protocol: str, reset_time: float = 0.0) -> BoardCodec:
    """The codec of a board. reset_time [s]: for one that starts anew when its port is opened."""
    return Ssc32(reset_time) if protocol == "ssc32" else Maestro()


class Ssc32:
    """Text, as the SSC-32, the SSC-32U and the sketch in arduino/ understand it."""

    name = "ssc32"

    def __init__(self, reset_time: float = 0.0) -> None:
        self.reset_time = reset_time

    def pulses(self, widths: Mapping[int, float]) -> bytes:
        """Whole us: the board takes no fractions."""
        return "".join(f"#{channel}P{round(width)}" for channel, width in widths.items()).encode() + b"\r"

    def alive(self) -> bytes:
        """Whether a move is under way."""
        return b"Q\r"

    def answered(self, reply: bytes) -> bool:
        """A dot or a plus."""
        return any(sign in reply for sign in (b".", b"+"))


class Maestro:
    """The compact protocol."""

    name = "maestro"
    reset_time = 0.0

    def pulses(self, widths: Mapping[int, float]) -> bytes:
        """Quarter us in 14 bits, the low seven first."""
        out = b""
        for channel, width in widths.items():
            quarters = round(4.0 * width)
            out += bytes([0x84, channel, quarters & 0x7F, quarters >> 7 & 0x7F])
        return out

    def alive(self) -> bytes:
        """The errors, which this also clears."""
        return b"\xa1"

    def answered(self, reply: bytes) -> bool:
        """Two bytes."""
        return len(reply) >= 2


class EmulatedBoard:
    """A board with hobby servos that go where their pulse says, at their own speed. For EmulatedPort."""

    def __init__(self, codec: BoardCodec, positions: Mapping[int, float], speed: float = 2500.0) -> None:
        """Servos at `positions` [us] by channel, which turn at `speed` [us/s]."""
        self.codec = codec
        self.positions = dict(positions)
        self.widths: dict[int, float] = dict.fromkeys(positions, 0.0)
        self.writes: list[tuple[float, int, float, float]] = []  # time, channel, pulse, where the servo was [us]
        self.speed = speed
        self._buffer = b""
        self._time: float | None = None

    def restart(self) -> None:
        """As after a loss of power: no pulses."""
        self.widths = dict.fromkeys(self.widths, 0.0)

    def feed(self, data: bytes, now: float) -> list[bytes]:
        """The replies to what came in."""
        self.advance(now)
        self._buffer += data
        return self._text(now) if self.codec.name == "ssc32" else self._binary(now)

    def advance(self, now: float) -> None:
        """Let time go on until `now` [s]."""
        most = self.speed * max(now - (self._time if self._time is not None else now), 0.0)
        for channel, width in self.widths.items():
            if width > 0.0:
                way = width - self.positions[channel]
                self.positions[channel] += min(max(way, -most), most)
        self._time = now

    def _set(self, channel: int, width: float, now: float) -> None:
        if channel in self.widths:
            self.writes.append((now, channel, width, self.positions[channel]))
            self.widths[channel] = width

    def _text(self, now: float) -> list[bytes]:
        *lines, self._buffer = self._buffer.split(b"\r")
        replies = []
        for line in lines:
            if line == b"Q":
                busy = any(abs(w - self.positions[c]) > 1.0 for c, w in self.widths.items() if w > 0.0)
                replies.append(b"+" if busy else b".")
            elif line == b"VER":
                replies.append(b"SSC32-V2.04USB\r")
            elif line.startswith(b"QP"):
                replies.append(bytes([round(self.widths.get(int(line[2:]), 0.0) / 10.0)]))
            else:
                for part in line.split(b"#")[1:]:
                    channel, _, width = part.partition(b"P")
                    digits = width.split(b"T")[0].split(b"S")[0]
                    if channel.isdigit() and digits.isdigit():
                        self._set(int(channel), float(digits), now)
        return replies

    def _binary(self, now: float) -> list[bytes]:
        replies = []
        while self._buffer:
            if self._buffer[0] == 0xA1:
                self._buffer = self._buffer[1:]
                replies.append(b"\0\0")
            elif self._buffer[0] == 0x90 and len(self._buffer) >= 2:
                quarters = round(4.0 * self.widths.get(self._buffer[1], 0.0))
                replies.append(quarters.to_bytes(2, "little"))
                self._buffer = self._buffer[2:]
            elif self._buffer[0] == 0x84 and len(self._buffer) >= 4:
                channel, low, high = self._buffer[1:4]
                self._set(channel, (low | high << 7) / 4.0, now)
                self._buffer = self._buffer[4:]
            elif self._buffer[0] in (0x84, 0x90):
                break
            else:
                self._buffer = self._buffer[1:]
        return replies
