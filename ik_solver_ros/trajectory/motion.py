"""MotionPlanner: what was sent to the arm last, and how the next motion continues from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.plan import plan, plan_stop
from ik_solver_ros.trajectory.trajectory import State, Trajectory

AT_REST_WITHIN = 0.1  # [rad or m] measured joints this near to the end of the last motion have followed it


class Motion(NamedTuple):
    """A trajectory and when it starts: `start` [s] on the caller's clock, None for at once, from rest."""

    trajectory: Trajectory
    start: float | None
    origin: State  # the state at its start


class MotionPlanner:
    """Plans each motion from the state that the arm is commanded to have when the motion starts.

    The caller passes the time, so that any clock will do. In motion, a new trajectory starts `replan_lead` [s]
    from now, on the old one's path: the message has that long to arrive.
    """

    def __init__(self, limits: MotionLimits, replan_lead: float = 0.02) -> None:
        self.limits = limits
        self.replan_lead = replan_lead
        self.sent: Motion | None = None
        self._began = 0.0

    def moving(self, now: float) -> bool:
        """Whether the motion sent last is still under way at `now` [s]."""
        return self.sent is not None and now < self._began + self.sent.trajectory.duration

    def commanded(self, now: float) -> State | None:
        """The state that the arm is commanded to have at `now` [s]; None before the first motion."""
        if self.sent is None:
            return None
        return self.sent.trajectory.state(max(now - self._began, 0.0), self.sent.origin)

    def to(self, target: Array, measured: Array, now: float) -> Motion:
        """The motion from where the arm is (measured (n,), or as commanded) to rest at `target` (n,)."""
        origin, start = self._origin(measured, now)
        return self._send(Motion(plan(origin, target, self.limits), start, origin), now)

    def stop(self, measured: Array, now: float) -> Motion:
        """The motion to rest as soon as the limits allow."""
        origin, start = self._origin(measured, now)
        return self._send(Motion(plan_stop(origin, self.limits), start, origin), now)

    def _origin(self, measured: Array, now: float) -> tuple[State, float | None]:
        if self.moving(now + self.replan_lead):
            state = self.commanded(now + self.replan_lead)
            assert state is not None
            return state, now + self.replan_lead
        last = self.commanded(now)
        # A held arm sags a little: the command, not the measurement, is where the next motion starts.
        if last is not None and np.max(np.abs(last.position - measured)) < AT_REST_WITHIN:
            return State.at_rest(last.position), None
        return State.at_rest(measured), None

    def _send(self, motion: Motion, now: float) -> Motion:
        self.sent = motion
        self._began = now if motion.start is None else motion.start
        return motion
