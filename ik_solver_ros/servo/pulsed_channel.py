"""PulsedChannel: what a channel of a board was told, and what it says that it pulses."""

from __future__ import annotations

import math

HAD_TIME = 0.1  # [s] after which a pulse that was told is there, as the board sends one every 0.02 s
ALIKE = 2  # answers in a row: what is still on its way changes from one to the next


class PulsedChannel:
    """Pulses in us. Times are [s] of one clock."""

    def __init__(self, wanted: float) -> None:
        """wanted: before anything was told."""
        self.wanted = wanted  # newest
        self.on = False  # whether it is pulsed, as far as is known
        self._told = math.nan  # nothing
        self._told_at = self._on_at = -math.inf
        self._answers: list[float] = []  # since it was told last, and had time

    @property
    def due(self) -> bool:
        """Whether something newer is wanted than was told."""
        return self.on and self.wanted != self._told

    @property
    def answered(self) -> float | None:
        """What it pulses at rest, where it has said so often enough."""
        last = self._answers[-ALIKE:]
        return last[0] if len(last) == ALIKE and len(set(last)) == 1 else None

    def tell(self, at: float) -> None:
        """It is told what is wanted, which will have been heard `at`."""
        if not self.on:
            self._on_at = at
        self.on, self._told, self._told_at = True, self.wanted, at
        self._answers.clear()

    def hear(self, width: float, asked: float) -> bool:
        """It answered, asked then, that it pulses so; whether that can be."""
        if asked - self._told_at >= HAD_TIME:
            self._answers = [*self._answers[1 - ALIKE :], width]
        return width > 0.0 or not self.on or asked < self._on_at

    def adopt(self, width: float, precision: float) -> None:
        """It says that it pulses so, which it may go on with. precision [us]: of what it says."""
        self.off()
        if width > 0.0:
            if not abs(width - self._told) <= precision:
                self._told = width
            self.wanted, self.on = self._told, True

    def off(self) -> None:
        """It is not pulsed; what was told last is where the servo was."""
        self.on = False
        self._answers.clear()
