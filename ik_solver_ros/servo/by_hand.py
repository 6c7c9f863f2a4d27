"""Servos that are moved by hand and tell where they are: what a calibration needs of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from ik_solver_ros.errors import CalibrationError, SilentServoError
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.families import Family

STEP, PAUSE = 0.006, 0.03  # [rad] of a slow move at a time, and how much later the next comes [s]
ROUNDS = 3  # in which servos are asked that have not answered yet: a reply may be lost, or come too late


@dataclass(frozen=True)
class Settings:
    """What a servo remembers without power, as far as its family has it."""

    limits: tuple[int, int]  # [ticks] between which it takes goals
    homing_offset: int | None = None  # [ticks]
    wrong: tuple[str, ...] = ()  # what keeps it from being led to positions within a turn, in words


class ByHand(Protocol):
    """Servos that share a port. All raise BusError where the port is gone, CalibrationError where one is silent."""

    port: Port
    family: Family

    def found(self, ids: Iterable[int]) -> list[int]:
        """Those that answer. Raises CalibrationError where the adapter hands back what is sent."""

    def asked(self, servo_id: int) -> tuple[bool, bytes]:
        """Whether a servo answers, asked once, and all that came back."""

    def release(self, ids: Iterable[int]) -> None:
        """Take their torque off, and make sure of it. Raises CalibrationError where one keeps it."""

    def position(self, servo_id: int) -> int:
        """Where a servo is [ticks], within a turn where it knows but one."""

    def move(self, servo_id: int, by: int) -> int:
        """Slowly by so many ticks and back, its torque on meanwhile alone; how far it came [ticks].

        Raises CalibrationError for a move through an end of what the servo takes.
        """

    def settings(self, servo_id: int) -> Settings:
        """What it remembers."""

    def put_right(self, servo_id: int) -> None:
        """Make it a servo of positions within a turn. Raises CalibrationError where it stays as it is."""

    def open_limits(self, servo_id: int) -> None:
        """Have it take goals anywhere in its turn. Raises CalibrationError where it does not."""

    def place(self, servo_id: int, low: int, high: int) -> int:
        """Have a servo count so that a range [ticks, continuous] has no seam in it; what to add to these ticks.

        Raises CalibrationError where that cannot be.
        """

    def renumber(self, servo_id: int, new: int, baud: int) -> None:
        """Give the only servo on the port another id, and a rate, and look whether it answers so; the port has it then.

        Raises CalibrationError where it does not.
        """


def answering(ids: Iterable[int], answers: Callable[[int], bool]) -> list[int]:
    """Those of the ids that answer, asked several times where need be."""
    asked = list(ids)
    found: set[int] = set()
    for _ in range(ROUNDS):
        found.update(servo_id for servo_id in asked if servo_id not in found and answers(servo_id))
    return [servo_id for servo_id in asked if servo_id in found]


def known(servo_id: int, read: Callable[[], int | None]) -> int:
    """What is read, tried several times. Raises SilentServoError where nothing comes."""
    for _ in range(ROUNDS):
        value = read()
        if value is not None:
            return value
    raise SilentServoError(f"servo {servo_id} does not answer any more")


def stroll(here: int, by: int, limits: tuple[int, int], per_tick: float) -> tuple[list[int], list[int]]:
    """The goals of a slow move there, and of the way back. Raises CalibrationError where it leaves the limits."""
    low, high = limits
    if not (low <= here <= high and low <= here + by <= high):
        raise CalibrationError(f"from {here} by {by} ticks leads outside [{low}, {high}], which its servo takes")
    steps = max(1, round(abs(by) * per_tick / STEP))
    there = [here + round(by * step / steps) for step in range(1, steps + 1)]
    return there, [*there[-2::-1], here]


def pause() -> None:
    """Until the next step of a slow move."""
    time.sleep(PAUSE)


def other_rate(port: Port, baud: int) -> None:
    """Open the port at another rate. Raises BusError."""
    if port.baud != baud or not port.is_open:
        port.close()
        port.baud = baud
        port.open()
