"""What became of each goal: one is pursued at a time, and ends executed, missed, or replaced by the next."""

from __future__ import annotations


class GoalLedger:
    """Counts goals: accepted = executed + missed + replaced + (1 while one is pursued)."""

    def __init__(self) -> None:
        self.accepted = self.executed = self.missed = self.replaced = 0
        self.pursued: int | None = None  # the id of the goal that the arm is on its way to

    def accept(self, goal_id: int) -> int | None:
        """Pursue this goal from now on; returns the id of the one that it replaces, if any."""
        before = self.pursued
        self.replaced += before is not None
        self.accepted += 1
        self.pursued = goal_id
        return before

    def finish(self, arrived: bool = True) -> int | None:
        """The motion is over, the arm where it should be or not; returns the id of the goal that ends so, if any."""
        done, self.pursued = self.pursued, None
        self.executed += done is not None and arrived
        self.missed += done is not None and not arrived
        return done

    def drop(self) -> int | None:
        """A motion without a goal takes the arm over; returns the id of the goal that it replaces, if any."""
        dropped, self.pursued = self.pursued, None
        self.replaced += dropped is not None
        return dropped
