"""Frames in a stream of bytes: header, id, length, ..., check. What is damaged or no frame at all is passed over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

LAST_ID = 0xFE  # the broadcast


@dataclass(frozen=True)
class Framing:
    """Where a protocol's frames have what; the id follows the header, the length the id."""

    header: bytes
    length_size: int  # bytes of the length
    uncounted: int  # bytes of a frame that its length does not count
    shortest: int  # length that can be
    longest: int
    check: Callable[[bytes], bytes]  # what a frame must end with, by what stands before it
    check_size: int = 1

    def sealed(self, frame: bytes) -> bytes:
        """A frame with its check."""
        return frame + self.check(frame)

    def split(self, buffer: bytes) -> tuple[list[bytes], bytes]:
        """All whole, undamaged frames in a buffer, and what may be the beginning of another."""
        found: list[bytes] = []
        length_at = len(self.header) + 1
        at, unfinished = 0, -1
        while (at := buffer.find(self.header, at)) >= 0:
            length = int.from_bytes(buffer[at + length_at : at + length_at + self.length_size], "little")
            end = at + self.uncounted + length
            if len(buffer) < at + length_at + self.length_size:
                return found, buffer[at if unfinished < 0 else unfinished :]
            if buffer[at + length_at - 1] > LAST_ID or not self.shortest <= length <= self.longest:
                at += 1
            elif len(buffer) < end:
                # The length may be what is damaged: a whole frame further on goes before a beginning here.
                unfinished = at if unfinished < 0 else unfinished
                at += 1
            elif self.sealed(buffer[at : end - self.check_size]) != buffer[at:end]:
                at += 1
            else:
                found.append(buffer[at:end])
                at, unfinished = end, -1
        if unfinished >= 0:
            return found, buffer[unfinished:]
        kept = next((k for k in range(len(self.header) - 1, 0, -1) if buffer.endswith(self.header[:k])), 0)
        return found, buffer[len(buffer) - kept :]


def inverted_sum(frame: bytes) -> bytes:
    """The check of Feetech's and Hiwonder's frames: of all bytes after a header of two."""
    return bytes([~sum(frame[2:]) & 0xFF])
