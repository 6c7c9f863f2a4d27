"""A servo whose joint somebody moves by hand: followed over its seam, and waited for while it is silent."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from ik_solver_ros.errors import BusError, CalibrationError, SilentServoError
from ik_solver_ros.servo.by_hand import ByHand
from ik_solver_ros.servo.continuous import Continuous
from ik_solver_ros.tools.calibrate.dialogue import Show

TRIES, PAUSE = 120, 0.5  # how often a silent servo is asked, and how long after each [s]

T = TypeVar("T")


def patiently(servos: ByHand, read: Callable[[], T], show: Show) -> T:
    """What is read, while the servo or the port is waited for. Raises CalibrationError where they do not come back."""
    for tried in range(TRIES):
        try:
            if not servos.port.is_open:
                servos.port.open()
            return read()
        except (SilentServoError, BusError) as error:
            if tried == 0:
                show(f"\n  {error}: look at power and cables; waiting (Ctrl-C ends, what is done is kept)")
            last = error
        time.sleep(PAUSE)
    raise CalibrationError(f"given up after {TRIES * PAUSE:g} s: {last}") from last


class Watched:
    """Readings of one servo [ticks], continuous from the first on."""

    def __init__(self, servos: ByHand, servo_id: int, turn: int | None, show: Show) -> None:
        self._servos, self._id, self._show = servos, servo_id, show
        self._ticks = Continuous(self._reading(), turn)

    def _reading(self) -> int:
        return patiently(self._servos, lambda: self._servos.position(self._id), self._show)

    def look(self) -> int:
        """Where it is now. Raises CalibrationError where it was moved too fast to be followed."""
        ticks = self._reading()
        return self._ticks.follow(self._reading() if self._ticks.is_far(ticks) else ticks)  # one may be damaged

    def settled(self) -> int:
        """Where it stands: the middle one of three readings."""
        return sorted(self.look() for _ in range(3))[1]
