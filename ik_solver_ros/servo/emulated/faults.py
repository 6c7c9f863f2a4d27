"""What a bad cable does to replies."""

from __future__ import annotations

import numpy as np


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
