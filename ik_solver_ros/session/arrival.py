"""ArrivalWatch: whether the arm has come to where its motion led it."""

from __future__ import annotations

import math

import numpy as np

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.quaternion import conjugate, multiply
from ik_solver_ros.trajectory.motion import AT_REST_WITHIN, MotionPlanner

PATIENCE = 1.0  # [s] after a motion's end that the arm may take to arrive
ARRIVED_WITHIN = 0.005  # [rad or m] of where it was led; when patience is over, AT_REST_WITHIN counts
LOOK_AGAIN = 0.02  # [s]


class ArrivalWatch:
    """Looks at the measured joints once the motion sent last is over."""

    def __init__(self, chain: Chain, planner: MotionPlanner) -> None:
        self._chain, self._planner = chain, planner

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
        return f"missed: joint {self._chain.joint_names[worst]!r} is {error[worst]:.3g} from where it was led"

    def tip_error(self, q: Array, now: float) -> tuple[float, float]:
        """How far the tip is from where it was led, by joints measured at q (n,): [m] and [rad]."""
        state = self._planner.commanded(now)
        if state is None:
            return 0.0, 0.0
        (here, turned), (there, wanted) = self._chain.forward(q), self._chain.forward(state.position)
        *axis, cosine = multiply(conjugate(turned), wanted)
        return math.dist(here, there), 2.0 * math.atan2(math.hypot(*axis), abs(cosine))
