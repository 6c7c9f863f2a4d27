"""Outcome: what became of a goal, by one name everywhere: in ~/status, ArmClient, the demonstration, films and docs."""

from __future__ import annotations

from enum import Enum


class Outcome(Enum):
    """Each goal is answered once. An answer that has the arm move towards a goal is followed by one end."""

    REACHED = "the arm goes to the goal"
    NEAREST_ORIENTATION = "the arm goes to the position, with the tool as near to the goal as it can be there"
    NEAREST_POSITION = "the arm goes as near to the position as it can"
    PATH = "the arm follows the whole path"
    PARTIAL_PATH = "the arm follows the first part of the path, as far as it can"
    STEERING = "the arm moves as the twists say"
    LIVE = "the arm takes one sweep of CCDIK a tick"
    HOLDING = "the arm comes to rest"
    GOING_HOME = "the arm goes home"
    REFUSED = "nothing comes of the goal; the arm goes on as it was"

    EXECUTED = "the motion is over, and the arm is where it was led"
    MISSED = "the motion is over, and the arm is not where it was led"
    REPLACED = "something else leads the arm now"

    @property
    def is_end(self) -> bool:
        """Whether this ends a goal that was answered before."""
        return self in (Outcome.EXECUTED, Outcome.MISSED, Outcome.REPLACED)

    @property
    def is_pursued(self) -> bool:
        """Whether the arm is on its way to the goal now, and an end will follow."""
        return self in (
            Outcome.REACHED,
            Outcome.NEAREST_ORIENTATION,
            Outcome.NEAREST_POSITION,
            Outcome.PATH,
            Outcome.PARTIAL_PATH,
        )

    @property
    def is_full(self) -> bool:
        """Whether the answer is all that was asked for."""
        return self in (Outcome.REACHED, Outcome.PATH)
