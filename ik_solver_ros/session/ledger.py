"""What became of each goal: one is pursued at a time, and ends executed, missed, or replaced by the next."""

from __future__ import annotations

import math
from typing import NamedTuple

from ik_solver_ros.session.outcome import Outcome


class End(NamedTuple):
    """The end of a goal that was accepted."""

    goal_id: int
    outcome: Outcome
    sentence: str


class GoalLedger:
    """Numbers goals and counts them: accepted = executed + missed + replaced + (1 while one is pursued)."""

    def __init__(self) -> None:
        self.goal_id = 0  # of the goal that came last
        self.accepted = self.executed = self.missed = self.replaced = self.refused = 0
        self.pursued: int | None = None  # the goal that the arm is on its way to

    def begin(self) -> int:
        """Another goal has come; returns its number."""
        self.goal_id += 1
        return self.goal_id

    def answer(self, outcome: Outcome) -> End | None:
        """How the present goal was answered; returns the end of the one that it replaces, if any."""
        if outcome is Outcome.REFUSED:
            self.refused += 1
            return None
        replaced = self.replace()
        if outcome.is_pursued:
            self.accepted += 1
            self.pursued = self.goal_id
        return replaced

    def replace(self) -> End | None:
        """Something else leads the arm from now on; returns the end of the goal that it replaces, if any."""
        before, self.pursued = self.pursued, None
        if before is None:
            return None
        self.replaced += 1
        return End(before, Outcome.REPLACED, "replaced by another")

    def finish(self, fault: str, tip_error: tuple[float, float] = (0.0, 0.0)) -> End | None:
        """The motion is over. fault: what keeps the arm from being where it was led; empty where it is there.

        tip_error: how far the tip is from where it was led, [m] and [rad].
        """
        done, self.pursued = self.pursued, None
        if done is None:
            return None
        self.executed += not fault
        self.missed += bool(fault)
        if fault:
            return End(done, Outcome.MISSED, fault)
        metres, radians = tip_error
        off = f"the tip is {1e3 * metres:.1f} mm and {math.degrees(radians):.1f} deg from where it was led"
        return End(done, Outcome.EXECUTED, f"executed; {off}")

    def counts(self) -> dict[str, int]:
        """How many goals were accepted, executed, missed and replaced."""
        return {what: getattr(self, what) for what in ("accepted", "executed", "missed", "replaced")}
