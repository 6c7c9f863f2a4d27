"""What all emulated servos have in common: they share a wire, hear bytes, and move while time goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, NamedTuple, TypeVar


class GoalWrite(NamedTuple):
    """What the monitor on the wire noted of a goal."""

    time: float  # [s, time.monotonic]
    servo_id: int
    goal: float  # [ticks]
    position: float  # [ticks] where the servo really was
    torque: bool


class EmulatedServo:
    """One servo. `position` [ticks] is where it really is; `silent`: it neither hears nor answers."""

    def __init__(self, servo_id: int, position: float) -> None:
        self.servo_id = servo_id
        self.position = float(position)
        self.homing_offset = 0
        self.silent = False
        self.blocked = False

    def advance(self, seconds: float) -> None:
        """Move for a while."""
        raise NotImplementedError

    def approach(self, goal: float, farthest: float) -> None:
        """Move towards a goal, no farther than that [ticks]."""
        if not self.blocked:
            self.position += min(max(goal - self.position, -farthest), farthest)


S = TypeVar("S", bound=EmulatedServo)


class Emulator(Generic[S]):
    """Servos that share a wire: bytes in, replies out. Time is passed in."""

    def __init__(self, servos: Mapping[int, S]) -> None:
        self.servos = dict(servos)
        self.writes: list[GoalWrite] = []
        self.received = b""  # and not understood yet
        self._time: float | None = None

    @property
    def positions(self) -> dict[int, float]:
        """Where all servos really are [ticks], by id."""
        return {servo_id: servo.position for servo_id, servo in self.servos.items()}

    def feed(self, data: bytes, now: float) -> list[bytes]:
        """The replies to what came in, one frame each."""
        self.advance(now)
        self.received += data
        return self.obey(now)

    def advance(self, now: float) -> None:
        """Let time go on until `now` [s]."""
        if self._time is not None:
            for servo in self.servos.values():
                servo.advance(max(now - self._time, 0.0))
        self._time = now

    def obey(self, now: float) -> list[bytes]:
        """Do what has been received, as far as it is whole, and answer."""
        raise NotImplementedError

    def hears(self, servo_id: int) -> bool:
        """Whether there is such a servo, and it is not silent."""
        return servo_id in self.servos and not self.servos[servo_id].silent

    def note(self, now: float, servo_id: int, goal: float, torque: bool) -> None:
        """Remember that a goal was written."""
        self.writes.append(GoalWrite(now, servo_id, goal, self.servos[servo_id].position, torque))
