"""SpeedGuard: the last look at goals before they go out: none is away from the last by more than the limits allow."""

from __future__ import annotations

import numpy as np

from ik_solver_ros.kinematics.arrays import Array, Flags


class SpeedGuard:
    """Remembers what was written last.

    Followers keep the limits, by their time. But they make a step as they give way, and servos miss goals while they do
    not answer: the goals after that are not to hurry.
    """

    def __init__(self) -> None:
        self._last: Array | None = None

    def reset(self) -> None:
        """Begin anew, wherever the next goals are."""
        self._last = None

    def no_faster(self, positions: Array, farthest: Array, answering: Flags) -> Array:
        """The nearest to `positions` (n,) that may be written.

        farthest: (n,) that the joints may go in this cycle; answering: (n,) [bool] joints that are written to, the
        others stay where they were led.
        """
        if self._last is not None:
            reach = np.where(answering, farthest, 0.0)
            positions = np.clip(positions, self._last - reach, self._last + reach)
        self._last = positions
        return positions
