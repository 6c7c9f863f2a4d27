"""MotionPlanner: what was sent to the arm last, and how the next motion continues from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.trajectory.jog import jog
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.plan import plan, plan_stop
from ik_solver_ros.trajectory.trajectory import State, Trajectory

AT_REST_WITHIN = 0.1  # [rad or m] measured joints this near to where they are commanded to be have followed...
LAG = 0.15  # [s] ...in motion also those that are this late


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

    def __init__(
        self,
        limits: MotionLimits,
        replan_lead: float = 0.02,
        check: Callable[[Trajectory, State], None] | None = None,
    ) -> None:
        """replan_lead [s]; check is given every motion but a stop: where it raises, the motion sent last goes on."""
        self.limits = limits
        self.replan_lead = replan_lead
        self._check = check
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

    def plan_to(self, target: Array, measured: Array, now: float, limits: MotionLimits | None = None) -> Motion:
        """The motion from where the arm is (measured (n,), or as commanded) to rest at `target` (n,).

        limits: others than the planner's own, to go there slowly.
        """
        origin, start = self._origin(measured, now)
        return self._send(Motion(plan(origin, target, limits or self.limits), start, origin), now)

    def plan_velocity(self, velocity: Array, duration: float, measured: Array, now: float) -> Motion:
        """The motion at `velocity` (n,) for `duration` [s], and then to rest: see `jog`."""
        origin, start = self._origin(measured, now)
        return self._send(Motion(jog(origin, velocity, duration, self.limits), start, origin), now)

    def append(self, trajectory: Trajectory, now: float, rest: Array) -> Motion:
        """This trajectory, from `rest` (n,), where the motion sent last ends, as soon as that has ended."""
        ends = self.ends()
        return self._send(Motion(trajectory, ends if ends > now else None, State.at_rest(rest)), now)

    def ends(self) -> float:
        """When the motion sent last is over [s]; 0 before the first."""
        return 0.0 if self.sent is None else self._began + self.sent.trajectory.duration

    def resting(self, measured: Array, now: float) -> Array:
        """Where an arm at rest is held (n,): as commanded, where it is there but for what it sags."""
        return self._origin(measured, now)[0].position

    def forget(self) -> None:
        """The clock, or the arm, is not what it was: the next motion begins where the arm is measured."""
        self.sent = None

    def stop(self, measured: Array, now: float) -> Motion:
        """The motion to rest as soon as the limits allow."""
        origin, start = self._origin(measured, now)
        return self._sent(Motion(plan_stop(origin, self.limits), start, origin), now)

    def _origin(self, measured: Array, now: float) -> tuple[State, float | None]:
        if self.moving(now + self.replan_lead) and self._follows(measured, now):
            state = self.commanded(now + self.replan_lead)
            assert state is not None
            return state, now + self.replan_lead
        last = self.commanded(now)
        # A held arm sags a little: the command, not the measurement, is where the next motion starts.
        if last is not None and np.max(np.abs(last.position - measured)) < AT_REST_WITHIN:
            return State.at_rest(last.position), None
        return State.at_rest(measured), None

    def _follows(self, measured: Array, now: float) -> bool:
        """Whether the arm is where it is commanded to be; it is not after a hold, or when another client moves it."""
        state = self.commanded(now)
        assert state is not None
        return bool((np.abs(state.position - measured) <= AT_REST_WITHIN + LAG * np.abs(state.velocity)).all())

    def _send(self, motion: Motion, now: float) -> Motion:
        if self._check is not None:
            self._check(motion.trajectory, motion.origin)
        return self._sent(motion, now)

    def _sent(self, motion: Motion, now: float) -> Motion:
        self.sent = motion
        self._began = now if motion.start is None else motion.start
        return motion
