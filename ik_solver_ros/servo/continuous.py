"""Successive readings of a servo without the jump where its turn begins anew."""

from __future__ import annotations

from ik_solver_ros.errors import CalibrationError


class Continuous:
    """Where one servo is [ticks], counted on over the seam of its turn from its first reading."""

    def __init__(self, first: int, turn: int | None) -> None:
        """Begin at a reading. turn [ticks]; None: there is no seam."""
        self.now, self._turn = first, turn

    def step(self, ticks: int) -> int:
        """How far another reading is from the last one [ticks], the shorter way round."""
        step = ticks - self.now
        return step if self._turn is None else (step + self._turn // 2) % self._turn - self._turn // 2

    def is_far(self, ticks: int) -> bool:
        """Whether it is too far to tell the way round."""
        return self._turn is not None and abs(self.step(ticks)) > self._turn // 4

    def follow(self, ticks: int) -> int:
        """The next reading, continued. Raises CalibrationError where it is too far."""
        if self.is_far(ticks):
            raise CalibrationError(f"it went by {self.step(ticks)} ticks from one reading to the next: move it slower")
        self.now += self.step(ticks)
        return self.now


class Extremes:
    """Least and greatest of continuous readings [ticks], each seen by two in turn: one alone may be damaged."""

    def __init__(self, first: int) -> None:
        self.low = self.high = self._last = first

    def add(self, ticks: int) -> None:
        """Another reading."""
        self.low = min(self.low, max(ticks, self._last))
        self.high = max(self.high, min(ticks, self._last))
        self._last = ticks
