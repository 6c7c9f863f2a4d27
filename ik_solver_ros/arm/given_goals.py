"""GivenGoals: what servos were told to go to lately, to know their goals from those of others."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

LATELY = 10  # goals of each servo that are remembered: as many on the wire may have been lost, in a row


class GivenGoals:
    """Goals [ticks] by id."""

    def __init__(self, ids: Iterable[int]) -> None:
        self._given: dict[int, deque[int]] = {servo_id: deque(maxlen=LATELY) for servo_id in ids}

    def give(self, goals: Mapping[int, int]) -> None:
        """Remember that these were sent."""
        for servo_id, ticks in goals.items():
            self._given[servo_id].append(ticks)

    def begin(self, servo_id: int, ticks: int) -> None:
        """Remember that a servo has this goal, and forget those before."""
        self._given[servo_id].clear()
        self._given[servo_id].append(ticks)

    def last(self, servo_id: int) -> int | None:
        """What a servo was sent last, if anything."""
        given = self._given[servo_id]
        return given[-1] if given else None

    def knows(self, servo_id: int, ticks: int) -> bool:
        """Whether a servo with this goal has it from here."""
        given = self._given[servo_id]
        return bool(given) and min(given) <= ticks <= max(given)
