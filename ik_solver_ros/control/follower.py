"""TrajectoryFollower: what the joints shall do now, by joint_trajectory_controller's rules. Pure; time is passed in.

A trajectory is checked whole before it is accepted, and refused whole with a reason. An accepted one replaces the
old one at its start time, from the state that the old one has then: there is never a step. All times are seconds
on one steady clock of the caller's.

Every accepted trajectory has a number, and ends in one way or another: see `Ending`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from itertools import count
from typing import NamedTuple

import numpy as np

from ik_solver_ros.control.splice import estimate_delay, join
from ik_solver_ros.control.tolerances import Tolerances, worst_violation
from ik_solver_ros.control.validation import PositionRange, complete, without_point_at_zero
from ik_solver_ros.errors import TrajectoryError
from ik_solver_ros.kinematics.arrays import Array, Flags
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.plan import plan, plan_stop
from ik_solver_ros.trajectory.trajectory import State, Trajectory

FARTHEST_START = 60.0  # [s] ahead: one that would start later comes from a clock that is wrong
ENDINGS_KEPT = 100  # for a caller that never asks


class TrajectoryEnd(Enum):
    """How a trajectory can end."""

    DONE = "the goal is reached"
    REPLACED = "another trajectory took its place"
    HELD = "the arm was told to hold"
    PATH_TOLERANCE = "off the path by more than its tolerance"
    GOAL_TOLERANCE = "not at the goal in time"


class Ending(NamedTuple):
    """The end of a trajectory."""

    number: int
    how: TrajectoryEnd
    reason: str  # a sentence


class _Scheduled(NamedTuple):
    trajectory: Trajectory
    start: float  # when its time zero is
    origin: State  # the state at time zero
    tolerances: Tolerances | None = None  # of one that is supervised

    @property
    def end(self) -> float:
        return self.start + self.trajectory.duration

    def state(self, now: float) -> State:
        return self.trajectory.state(max(now - self.start, 0.0), self.origin)


class TrajectoryFollower:
    """Leads the joints of `limits` along trajectories; the others of an arm belong to another follower."""

    def __init__(
        self,
        limits: MotionLimits,
        positions: Array,
        *,
        allow_partial: bool = False,
        tolerances: Tolerances | None = None,
        numbers: Iterator[int] | None = None,
    ) -> None:
        """Hold the joints at `positions` (n,), where they are measured to be.

        numbers: where trajectories get theirs from; followers that share it never give two the same.
        """
        self.limits = limits
        self.joint_names = limits.joint_names
        self.allow_partial = allow_partial
        self.tolerances = tolerances or Tolerances.of(limits.joint_names)
        self._numbers = numbers or count(1)
        self._number = 0  # of the trajectory that was accepted last...
        self._pursued = False  # ...and whether it has not ended yet
        self._endings: list[Ending] = []
        rest = np.array(positions, dtype=float)
        still = Trajectory(self.joint_names, np.zeros(0), np.zeros((0, len(rest))))
        # By start time; the last one that has begun is followed. The rest wait for their start.
        self._schedule = [_Scheduled(still, 0.0, State.at_rest(rest))]
        self._reach = PositionRange.around(rest, limits)

    def moving(self, now: float) -> bool:
        """Whether a motion is under way or waiting for its start."""
        return now < self._schedule[-1].end

    def setpoint(self, now: float) -> State:
        """Where the trajectories lead at `now`, for those who only want to know: the follower stays as it is."""
        return self._active(now).state(now)

    def advance(self, now: float) -> State:
        """Go on to `now`: what the joints shall do then, always finite and inside the limits."""
        while len(self._schedule) > 1 and self._schedule[1].start <= now:
            del self._schedule[0]
        state = self.setpoint(now)
        position = self._reach.clip(state.position)
        self._reach = self._reach.closed_behind(position, self.limits)
        return State(position, state.velocity, state.acceleration)

    def accept(
        self, trajectory: Trajectory, now: float, start: float | None = None, tolerances: Tolerances | None = None
    ) -> int:
        """Take on a trajectory that starts at `start` (None: now), and return its number. An empty one means hold.

        tolerances: others than the follower's own. Raises TrajectoryError with the reason, and goes on as before, for
        anything that cannot be followed safely.
        """
        if len(trajectory.times) == 0:
            self.hold(now)
            return self._number
        begin = now if start is None else start
        if not begin - now <= FARTHEST_START:
            raise TrajectoryError(
                f"the trajectory would start {begin - now:.3g} s from now, {FARTHEST_START:g} s at most are taken; is "
                "the clock of its sender right?"
            )
        origin = self.setpoint(begin)
        given = complete(trajectory, self.joint_names, origin, self.allow_partial)
        given = without_point_at_zero(given, origin)
        begin += self._delay(given, begin)
        if begin < now:
            # The message came late. What is followed still has gone on by its own way, a little off this one's.
            late = now - begin
            if late >= given.duration:
                raise TrajectoryError(
                    f"the trajectory ended {late - given.duration:.3g} s ago; is the clock of its sender right?"
                )
            given, begin = given.from_time(late), now
        origin = self.setpoint(begin)
        joined = join(given, origin, self.limits, self._reach)
        self._end(TrajectoryEnd.REPLACED)
        self._begin(_Scheduled(joined, begin, origin, tolerances or self.tolerances))
        self._number = next(self._numbers)
        self._pursued = True
        return self._number

    def hold(self, now: float) -> None:
        """Come to rest as soon as the limits allow, whatever was under way."""
        self._end(TrajectoryEnd.HELD)
        state = self.setpoint(now)
        self._begin(_Scheduled(plan_stop(state, self.limits), now, state))

    def give_way(self, now: float, joints: Flags, positions: Array) -> None:
        """Have these joints (n,) [bool] at rest at `positions` (n,), where they are held up; the others come to rest.

        A step of the setpoint, though not of a joint: it stands there.
        """
        self._end(TrajectoryEnd.HELD)
        state = self.setpoint(now)
        state = State(
            np.where(joints, positions, state.position),
            np.where(joints, 0.0, state.velocity),
            np.where(joints, 0.0, state.acceleration),
        )
        self._reach = PositionRange.around(state.position, self.limits)
        self._begin(_Scheduled(plan_stop(state, self.limits), now, state))

    def abandon(self) -> None:
        """Nobody will ask this follower any more: what it was pursuing has ended."""
        self._end(TrajectoryEnd.HELD)

    def supervise(self, now: float, positions: Array, velocities: Array) -> None:
        """Compare where the joints are measured to be, (n,) each, with where the trajectory has them.

        One that is not kept to is given up: the joints come to rest where they are. Measurements that are not finite
        say nothing.
        """
        active = self._active(now)
        tolerances = active.tolerances
        if tolerances is None or not (np.isfinite(positions).all() and np.isfinite(velocities).all()):
            return
        overtime = now - active.start - active.trajectory.duration
        error = np.abs(positions - active.state(now).position)
        if overtime < 0.0:
            worst = worst_violation(error, tolerances.path)
            if worst is not None:
                reason = self._reason(worst, error, tolerances.path)
                self._give_up(now, positions, TrajectoryEnd.PATH_TOLERANCE, reason)
            return
        if not self._pursued or active is not self._schedule[-1]:
            return
        worst = worst_violation(error, tolerances.goal)
        if worst is None and (np.abs(velocities) <= tolerances.stopped_velocity).all():
            self._end(TrajectoryEnd.DONE)
        elif 0.0 < tolerances.goal_time < overtime:
            worst = int(np.argmax(np.abs(velocities))) if worst is None else worst
            reason = self._reason(worst, error, tolerances.goal)
            self._give_up(now, positions, TrajectoryEnd.GOAL_TOLERANCE, reason)

    def endings(self) -> list[Ending]:
        """The endings since the last call, oldest first."""
        out, self._endings = self._endings, []
        return out

    def _active(self, now: float) -> _Scheduled:
        return next((s for s in reversed(self._schedule) if s.start <= now), self._schedule[0])

    def _delay(self, new: Trajectory, begin: float) -> float:
        active = self._active(begin)
        if active is not self._schedule[-1]:
            return 0.0
        return estimate_delay(new, active.trajectory, active.origin, begin - active.start, self.limits)

    def _begin(self, motion: _Scheduled) -> None:
        """Replace whatever would still be followed when `motion` starts; until then the old one goes on."""
        earlier = [scheduled for scheduled in self._schedule if scheduled.start < motion.start]
        self._schedule = [*earlier, motion]

    def _end(self, how: TrajectoryEnd, reason: str = "") -> None:
        if self._pursued:
            self._pursued = False
            ending = Ending(self._number, how, f"{how.value}: {reason}" if reason else how.value)
            self._endings = [*self._endings[1 - ENDINGS_KEPT :], ending]

    def _reason(self, joint: int, error: Array, tolerance: Array) -> str:
        allowed = f"{tolerance[joint]:.4g} allowed" if tolerance[joint] > 0.0 else "and does not come to rest"
        return f"joint {self.joint_names[joint]!r} is {error[joint]:.4g} away, {allowed}; held"

    def _give_up(self, now: float, positions: Array, how: TrajectoryEnd, reason: str) -> None:
        """Come to rest where the joints are: what holds them up is not pushed against."""
        self._end(how, reason)
        state = self.setpoint(now)
        self._begin(_Scheduled(plan(state, self._reach.clip(positions), self.limits), now, state))
