"""Settling: hobby servos stop short of their goals, as they sag and stick; once at rest, goals are trimmed by that."""

from __future__ import annotations

import numpy as np

from ik_solver_ros.kinematics.arrays import Array, Flags

AFTER = 0.3  # [s] of rest before anything is trimmed: until then a servo is still on its way
SHARE = 0.7  # of the error that is trimmed away in a second...
FASTEST = 12.0  # [ticks/s] ...and no more than so much
NEAR = 3.5  # [ticks] that are near enough: less than servos stick, lest they are pushed to and fro for ever


class Settling:
    """What goals are trimmed by, of n joints [rad or m each]; integrates the measured error, slowly and bounded."""

    def __init__(self, most: float, servo_tick: float, per_tick: Array) -> None:
        """most: [rad] of a servo's turn, 0: nothing is trimmed; servo_tick: [rad]; per_tick: (n,) of the joints."""
        self._most, self._per_tick = most / servo_tick, per_tick
        self._ticks = np.zeros(len(per_tick))
        self._rested = 0.0  # [s] for which all joints have been led to rest

    @property
    def trim(self) -> Array:
        """What is to be added to the joints' goals, (n,)."""
        return self._ticks * self._per_tick

    def reset(self, joints: Flags | slice = slice(None)) -> None:
        """Nothing is trimmed any more of these joints, (n,) [bool], or of all."""
        self._ticks[joints] = 0.0
        self._rested = 0.0

    def advance(self, seconds: float, moving: bool, error: Array) -> None:
        """Go on by so long, in which the joints were led somewhere or held `error` (n,) away from where they shall be.

        What was trimmed stays while they move: so they sag no more, and there is no step.
        """
        self._rested = 0.0 if moving else self._rested + seconds
        if self._rested < AFTER or self._most == 0.0:
            return
        ticks = error / self._per_tick
        rate = np.where(np.abs(ticks) > NEAR, np.clip(SHARE * ticks, -FASTEST, FASTEST), 0.0)
        self._ticks = np.clip(self._ticks + rate * min(seconds, AFTER), -self._most, self._most)
