"""ArrivalWatch: whether the arm has come to where its motion led it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.trajectory.motion import AT_REST_WITHIN, MotionPlanner

PATIENCE = 1.0  # [s] after a motion's end that the arm may take to arrive
ARRIVED_WITHIN = 0.005  # [rad or m] of where it was led; when patience is over, AT_REST_WITHIN counts
LOOK_AGAIN = 0.02  # [s]


class ArrivalWatch:
    """Looks at the measured joints once the motion sent last is over."""

    def __init__(self, joint_names: Sequence[str], planner: MotionPlanner) -> None:
        self._names, self._planner = joint_names, planner

    def wait(self, now: float) -> float:
        """How long it makes no sense to look [s]: until the motion is over, or a moment after a look in vain."""
        left = self._planner.ends() - now
        return left if left > 0.0 else LOOK_AGAIN

    def is_late(self, now: float) -> bool:
        """Whether patience is over."""
        return now >= self._planner.ends() + PATIENCE

    def fault(self, q: Array, now: float) -> str | None:
        """What keeps joints measured at q (n,) from having arrived: nothing (""), a sentence, or None: look again."""
        if self._planner.moving(now):
            return None
        state = self._planner.commanded(now)
        assert state is not None  # a motion was sent, so there is a command
        error = np.abs(state.position - q)
        worst = int(np.argmax(error))
        if error[worst] <= (AT_REST_WITHIN if self.is_late(now) else ARRIVED_WITHIN):
            return ""
        if not self.is_late(now):
            return None
        return f"missed: joint {self._names[worst]!r} is {error[worst]:.3g} from where it was led"
