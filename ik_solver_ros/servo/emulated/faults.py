"""What a bad cable does to replies."""

from __future__ import annotations

from collections import deque

import numpy as np

from ik_solver_ros.servo.framing import Framing

REMEMBERED = 50  # replies


class Faults:
    """A fraction of the replies is damaged, cut short, repeated, late [s] or lost. For EmulatedPort."""

    def __init__(self, seed: int, fraction: float = 0.05, late: float = 0.03) -> None:
        self.fraction, self.late = fraction, late
        self._rng = np.random.default_rng(seed)

    def __call__(self, reply: bytes) -> list[tuple[float, bytes]]:
        """What arrives of a reply, and how much later [s]."""
        if self._rng.random() >= self.fraction:
            return [(0.0, reply)]
        kind = self._rng.integers(5)
        at = int(self._rng.integers(len(reply)))
        if kind == 0:
            damaged = bytearray(reply)
            damaged[at] ^= 1 << int(self._rng.integers(8))
            return [(0.0, bytes(damaged))]
        return [[(0.0, reply[:at])], [(0.0, reply), (0.0, reply)], [(self.late, reply)], []][kind - 1]


class OldReplies:
    """Instead of a fraction of the replies comes an older one of as many bytes from the same servo: it is undamaged.

    As from an adapter whose buffer was not emptied. Each is at least so many replies old.
    """

    def __init__(self, seed: int, framing: Framing, fraction: float = 0.05, age: int = 1) -> None:
        self.fraction, self.age, self.told = fraction, age, 0
        self._id_at = len(framing.header)
        self._seen: dict[tuple[int, int], deque[bytes]] = {}
        self._rng = np.random.default_rng(seed)

    def __call__(self, reply: bytes) -> list[tuple[float, bytes]]:
        """What arrives of a reply, and how much later [s]."""
        seen = self._seen.setdefault((reply[self._id_at], len(reply)), deque(maxlen=REMEMBERED))
        seen.append(reply)
        if len(seen) <= self.age or self._rng.random() >= self.fraction:
            return [(0.0, reply)]
        self.told += 1
        return [(0.0, seen[int(self._rng.integers(len(seen) - self.age))])]


class UnseenDamage:
    """A bit of the data in a fraction of the replies is wrong, and the check fits it: as two wrong bits may do."""

    def __init__(self, seed: int, framing: Framing, fraction: float = 0.01) -> None:
        self.framing, self.fraction, self.told = framing, fraction, 0
        # Behind the length stand the command or the error; protocol 2.0 has both
        self._data_at = len(framing.header) + 1 + framing.length_size + (2 if framing.check_size == 2 else 1)
        self._rng = np.random.default_rng(seed)

    def __call__(self, reply: bytes) -> list[tuple[float, bytes]]:
        """What arrives of a reply, and how much later [s]."""
        end = len(reply) - self.framing.check_size
        if self._rng.random() >= self.fraction or end <= self._data_at:
            return [(0.0, reply)]
        damaged = bytearray(reply[:end])
        damaged[int(self._rng.integers(self._data_at, end))] ^= 1 << int(self._rng.integers(8))
        self.told += 1
        return [(0.0, self.framing.sealed(bytes(damaged)))]
