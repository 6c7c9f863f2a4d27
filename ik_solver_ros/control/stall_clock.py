"""StallClock: the followers' time, in which no stall of the machine becomes a jump of the joints."""

from __future__ import annotations

from collections.abc import Callable

PERIOD = 0.01  # [s] of a cycle, where nothing else is said
LATE = 1.1  # times as long as usual that a cycle may be, and its period always
SMOOTHING = 0.02  # of the usual length of a cycle...
SLOWEST = 0.04  # [s] ...which is no longer than this


class StallClock:
    """Goes on with the caller's time [s], but in one cycle no farther than one may take while joints move.

    After a stall of a busy machine the motion is late until it has come to rest, and does not jump to make up for it.
    """

    def __init__(self, moving: Callable[[float], bool], period: float = PERIOD) -> None:
        """moving: whether the joints move at a moment of this clock; period: [s] of a cycle."""
        self._moving, self._period = moving, period
        self.now = 0.0  # of the last cycle
        self._delay = 0.0  # of `now`, behind the caller's
        self._usual = period  # [s] that a cycle takes

    def reset(self, now: float) -> None:
        """Be at the caller's `now`."""
        self.now, self._delay = now, 0.0

    def advance(self, now: float) -> float:
        """Begin the cycle at the caller's `now`, for this clock's."""
        took = max(now - (self.now + self._delay), 0.0)
        self.now = self.at(now)
        self._delay = now - self.now
        self._usual = min(self._usual + SMOOTHING * (min(took, 3.0 * self._usual) - self._usual), SLOWEST)
        return self.now

    def at(self, now: float) -> float:
        """What this clock says at the caller's `now`, during the cycle."""
        if not self._moving(self.now):  # and not: at `now`, for a stall may last longer than the motion
            return now
        return min(now - self._delay, self.now + LATE * max(self._usual, self._period))
