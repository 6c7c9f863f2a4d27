"""What became of each goal: one is pursued at a time, and ends executed, missed, or replaced by the next."""

from __future__ import annotations

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

    def finish(self, fault: str) -> End | None:
        """The motion is over. fault: what keeps the arm from being where it was led; empty where it is there."""
        done, self.pursued = self.pursued, None
        if done is None:
            return None
        self.executed += not fault
        self.missed += bool(fault)
        return End(done, Outcome.MISSED if fault else Outcome.EXECUTED, fault or "executed")

    def counts(self) -> dict[str, int]:
        """How many goals were accepted, executed, missed and replaced."""
        return {what: getattr(self, what) for what in ("accepted", "executed", "missed", "replaced")}
