"""What all emulated servos have in common: they share a wire, hear bytes, and move while time goes on."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, Generic, NamedTuple, TypeVar

from ik_solver_ros.servo.emulated.mechanics import EmulatedServo, Sample, TorqueChange
from ik_solver_ros.servo.emulated.traits import Traits

STEP = 0.002  # [s] of time at once, at most
ENTRIES = 300_000  # of the log


class GoalWrite(NamedTuple):
    """What the monitor on the wire noted of a goal."""

    time: float  # [s, time.monotonic]
    servo_id: int
    goal: float  # [ticks] as it was written
    position: float  # [ticks] where the servo really was
    torque: bool  # before it
    target: float = math.nan  # [ticks] the goal in the coordinates of `position`


class LogEntry(NamedTuple):
    """What was written to whom, and what became of it."""

    time: float  # [s]
    servo_id: int
    what: str  # a register's name, or a command's
    value: int | float
    outcome: str  # "taken", "clamped", "refused", "ignored" or "unsaved" (taken, but lost with the next restart)


class Reply(bytes):
    """A frame, and how long [s] the servo waited with it."""

    delay = 0.0


def collided(replies: Sequence[bytes]) -> list[bytes]:
    """What arrives when several answer at once: a bit that one of them pulls low is low."""
    if len(replies) < 2:
        return list(replies)
    return [bytes(reduce(lambda a, b: a & b, column) for column in zip(*replies))]


S = TypeVar("S", bound=EmulatedServo)


class Emulator(Generic[S]):
    """Servos that share a wire: bytes in, replies out. Time is passed in.

    `rate` [bit/s] is the one the other side talks at, None for the right one. `servos` keeps them by the id that they
    began with, which is what the logs call them, too.
    """

    def __init__(self, servos: Mapping[int, S], traits: Traits) -> None:
        self.servos, self.traits = dict(servos), traits
        self.writes: list[GoalWrite] = []
        self.log: deque[LogEntry] = deque(maxlen=ENTRIES)
        self.received = b""  # and not understood yet
        self.rate: int | None = None
        self._time: float | None = None

    @property
    def positions(self) -> dict[int, float]:
        """Where all servos really are [ticks], by id."""
        return {servo_id: servo.position for servo_id, servo in self.servos.items()}

    @property
    def trace(self) -> dict[int, deque[Sample]]:
        """Where all servos were, by id."""
        return {servo_id: servo.trace for servo_id, servo in self.servos.items()}

    @property
    def changes(self) -> list[TorqueChange]:
        """Of all servos' torque, in the order of time."""
        return sorted((change for servo in self.servos.values() for change in servo.changes), key=lambda c: c.time)

    def feed(self, data: bytes, now: float) -> list[bytes]:
        """The replies to what came in, one frame each."""
        self.advance(now)
        self.received += data
        replies = self.obey(now)
        for servo in self.servos.values():
            servo.notice()
        return replies

    def advance(self, now: float) -> None:
        """Let time go on until `now` [s]."""
        gone = 0.0 if self._time is None else now - self._time
        steps = math.ceil(gone / STEP - 1e-9)
        for i in range(1, steps + 1):
            at = now - gone * (steps - i) / steps
            for servo in self.servos.values():
                servo.step(at, gone / steps)
        if self._time is None or gone > 0.0:
            self._time = now
        for servo in self.servos.values():
            servo.time = self._time

    def obey(self, now: float) -> list[bytes]:
        """Do what has been received, as far as it is whole, and answer."""
        raise NotImplementedError

    def opened(self, now: float) -> None:
        """Somebody opened the port."""

    def set_up(self, calibration: Any) -> None:
        """Be as an arm of this calibration whose maker or user set it up. The servos stay where they are."""

    def hears(self, servo_id: int) -> bool:
        """Whether there is such a servo, and it is not silent."""
        return servo_id in self.servos and self.servos[servo_id].here

    def note(self, now: float, servo_id: int, goal: float, torque: bool, target: float = math.nan) -> None:
        """Remember that a goal was written."""
        at = self.servos[servo_id].position
        self.writes.append(GoalWrite(now, servo_id, goal, at, torque, goal if math.isnan(target) else target))

    def enter(self, servo_id: int, what: str, value: float, outcome: str = "taken") -> None:
        """Remember that something was written."""
        time = self._time if self._time is not None else 0.0
        self.log.append(LogEntry(time, servo_id, what, value, outcome))
