"""Hobby servos, which go where their pulse says, and what their boards have in common."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ik_solver_ros.servo.emulated.emulator import Emulator
from ik_solver_ros.servo.emulated.mechanics import Drive, EmulatedServo
from ik_solver_ros.servo.emulated.traits import UNKIND, Traits


class HobbyServo(EmulatedServo):
    """One servo; its position is the pulse [us] that it stands at, its id the channel. Its sensor is its own affair.

    The board moves its pulse, `width` [us], to `wanted` [us], by `rate` [us/s] and `acceleration` [us/s^2]; 0 is none.
    """

    turn = 4000.0

    def __init__(self, servo_id: int, position: float, traits: Traits) -> None:
        self.width = self.wanted = 0.0
        self.rate = self.acceleration = math.inf
        self._slew = 0.0  # [us/s] of the pulse
        super().__init__(servo_id, position, traits)

    @property
    def energized(self) -> bool:
        """Whether it gets a pulse."""
        return self.width > 0.0 and self.away <= 0.0

    def restart(self, seconds: float = 0.0) -> None:
        """As after a loss of power: no pulse."""
        self.width = self.wanted = 0.0
        self.why = "restart"
        self.notice()
        super().restart(seconds)

    def pulse(self, width: float, rate: float = math.inf) -> None:
        """Let its pulse go to a width, 0 for none."""
        self.why = "pulse"
        if width == 0.0 or (self.width == 0.0 and self.traits.first_pulse_at_once):
            self.width = width
        elif self.width == 0.0:
            self.width = self.position
        self.wanted, self.rate = width, rate
        if rate == self.acceleration == math.inf:
            self.width = width
        self.notice()

    def move(self, seconds: float) -> None:
        """Move for a while."""
        self._move_pulse(seconds)
        if self.energized:
            self.drive(self.width, Drive(self.traits.hobby_top_speed), seconds)
        else:
            self.coast(seconds)

    def _move_pulse(self, seconds: float) -> None:
        way = self.wanted - self.width
        if not way or not self.width:
            self._slew = 0.0
            return
        fastest = self.rate
        if self.acceleration < math.inf:
            change = self.acceleration * seconds
            fastest = min(fastest, math.sqrt(2.0 * self.acceleration * abs(way)), abs(self._slew) + change)
        self._slew = math.copysign(fastest, way)
        self.width = self.wanted if fastest * seconds >= abs(way) else self.width + self._slew * seconds


class PulseBoardEmulator(Emulator[HobbyServo]):
    """A board, with a servo on each channel. `baud` [bit/s] is what it listens at."""

    baud = 115_200
    any_rate = False  # a board on USB has none

    def __init__(self, positions: Mapping[int, float], traits: Traits = UNKIND) -> None:
        """Servos at `positions` [us] by channel."""
        super().__init__({channel: HobbyServo(channel, at, traits) for channel, at in positions.items()}, traits)
        self.deaf_until = -math.inf  # [s]

    @property
    def widths(self) -> dict[int, float]:
        """All pulses [us], by channel."""
        return {channel: servo.width for channel, servo in self.servos.items()}

    def set_up(self, calibration: Any) -> None:
        """The calibration's rate."""
        self.baud = calibration.baud

    def restart(self, seconds: float = 0.0) -> None:
        """As after a loss of power: no pulses."""
        self.received = b""
        for servo in self.servos.values():
            servo.restart(seconds)

    def listening(self, now: float) -> bool:
        """Whether it understands what has come in; if not it is gone."""
        wrong = self.traits.check_baud and not self.any_rate and self.rate not in (None, self.baud)
        if wrong or now < self.deaf_until:
            self.received = b""
        return bool(self.received)

    def pulse(self, channel: int, width: float, now: float, rate: float = math.inf, asked: float | None = None) -> None:
        """Set a pulse [us], at so many us/s; asked: what was asked for, where that is another."""
        if channel not in self.servos:
            return
        asked = width if asked is None else asked
        self.enter(channel, "pulse", asked, "taken" if asked == width else "clamped")
        self.note(now, channel, asked, self.servos[channel].energized, width)
        self.servos[channel].pulse(width, rate)

    def width(self, channel: int) -> float:
        """The pulse of a channel [us]; 0 where there is none."""
        return self.widths.get(channel, 0.0)
