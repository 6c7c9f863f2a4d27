"""TrajectoryFollower: what the joints shall do now, by joint_trajectory_controller's rules. Pure; time is passed in.

A trajectory is checked whole before it is accepted, and refused whole with a reason. An accepted one replaces the
old one at its start time, from the state that the old one has then: there is never a step. All times are seconds
on one steady clock of the caller's.

Every accepted trajectory has a number, and ends in one way or another: see `Ending`.
"""

from __future__ import annotations

from contextlib import suppress
from enum import Enum
from itertools import count
from typing import NamedTuple

import numpy as np

from ik_solver_ros.control.tolerances import Tolerances
from ik_solver_ros.errors import TrajectoryError, listed
from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.plan import plan, plan_stop
from ik_solver_ros.trajectory.trajectory import State, Trajectory

FIRST_POINT_WITHIN = 0.01  # [rad or m] a first point at time 0 must be where the joints are
STOPPED_VELOCITY = 1e-3  # [per s] the last point must be at rest within this
POSITION_SLACK = 1e-3  # [rad or m] a trajectory may pass the limits by this; the command is clamped all the same
VELOCITY_SLACK = 1.05  # and exceed the velocity limits by this factor
ACCELERATION_SLACK = 1.01  # and, on the way to its first point, the acceleration limits by this one
PER_SEGMENT = 12  # samples of each segment that are checked
LONGEST_DELAY = 0.06  # [s] that the joints may be behind the plan of whoever leads them
DELAYS, REFINEMENTS = 61, 3  # tried at once, and how often that is done between the best one's neighbours
SHORT_DETOUR = 0.05  # [s] that a ramp may take longer than the way that it replaces
FARTHEST_START = 60.0  # [s] ahead: one that would start later comes from a clock that is wrong


_numbers = count(1)  # of all trajectories that any follower accepted


class Outcome(Enum):
    """How a trajectory can end."""

    DONE = "the goal is reached"
    REPLACED = "another trajectory took its place"
    HELD = "the arm was told to hold"
    PATH_TOLERANCE = "off the path by more than its tolerance"
    GOAL_TOLERANCE = "not at the goal in time"


class Ending(NamedTuple):
    """The end of a trajectory."""

    number: int
    outcome: Outcome
    reason: str  # a sentence


class _Active(NamedTuple):
    trajectory: Trajectory
    start: float  # when its time zero is
    origin: State  # the state at time zero
    tolerances: Tolerances | None = None  # of one that is supervised

    def state(self, now: float) -> State:
        """Where it leads at `now`."""
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
    ) -> None:
        """Hold the joints at `positions` (n,), where they are measured to be."""
        self.limits = limits
        self.joint_names = limits.joint_names
        self.allow_partial = allow_partial
        self.tolerances = tolerances or Tolerances.of(limits.joint_names)
        self._number = 0  # of the trajectory that was accepted last...
        self._pursued = False  # ...and whether it has not ended yet
        self._endings: list[Ending] = []
        rest = np.array(positions, dtype=float)
        still = Trajectory(self.joint_names, np.zeros(0), np.zeros((0, len(rest))))
        # By start time; the last one that has begun is followed. The rest wait for their start.
        self._schedule = [_Active(still, 0.0, State.at_rest(rest))]
        # A joint that is found outside its limits is not thrown inside: its limits reach to where it is.
        self._lower, self._upper = np.minimum(self.limits.lower, rest), np.maximum(self.limits.upper, rest)

    def moving(self, now: float) -> bool:
        """Whether a motion is under way or waiting for its start."""
        last = self._schedule[-1]
        return now < last.start + last.trajectory.duration

    def state(self, now: float) -> State:
        """What the joints shall do at `now`; always finite and inside the limits."""
        while len(self._schedule) > 1 and self._schedule[1].start <= now:
            del self._schedule[0]
        state = self.desired(now)
        position = np.clip(state.position, self._lower, self._upper)
        self._lower = np.minimum(self.limits.lower, np.maximum(self._lower, position))
        self._upper = np.maximum(self.limits.upper, np.minimum(self._upper, position))
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
        origin = self.desired(begin)
        checked = self._without_point_at_zero(self._completed(trajectory, origin), origin)
        begin += self._delay(checked, begin)
        origin = self.desired(begin)
        if begin < now:
            # The message came late. What is followed still has gone on by its own way, a little off this one's.
            checked, begin, origin = _from(checked, now - begin), now, self.desired(now)
        joined = self._joined(checked, origin)
        self._end(Outcome.REPLACED)
        self._begin(_Active(joined, begin, origin, tolerances or self.tolerances))
        self._number = next(_numbers)
        self._pursued = True
        return self._number

    def hold(self, now: float) -> None:
        """Come to rest as soon as the limits allow, whatever was under way."""
        self._end(Outcome.HELD)
        state = self.desired(now)
        self._begin(_Active(plan_stop(state, self.limits), now, state))

    def abandon(self) -> None:
        """Nobody will ask this follower any more: what it was pursuing has ended."""
        self._end(Outcome.HELD)

    def supervise(self, now: float, positions: Array, velocities: Array) -> None:
        """Compare where the joints are measured to be, (n,) each, with where the trajectory has them.

        One that is not kept to is given up: the joints come to rest where they are. Measurements that are not finite
        say nothing.
        """
        active, tolerances = self._active(now), self._active(now).tolerances
        if tolerances is None or not (np.isfinite(positions).all() and np.isfinite(velocities).all()):
            return
        over = now - active.start - active.trajectory.duration
        off = np.abs(positions - active.state(now).position)
        if over < 0.0:
            worst = _farthest(off, tolerances.path)
            if worst is not None:
                self._give_up(now, positions, Outcome.PATH_TOLERANCE, off, tolerances.path, worst)
            return
        if not self._pursued or active is not self._schedule[-1]:
            return
        worst = _farthest(off, tolerances.goal)
        if worst is None and (np.abs(velocities) <= tolerances.stopped_velocity).all():
            self._end(Outcome.DONE)
        elif 0.0 < tolerances.goal_time < over:
            worst = int(np.argmax(np.abs(velocities))) if worst is None else worst
            self._give_up(now, positions, Outcome.GOAL_TOLERANCE, off, tolerances.goal, worst)

    def endings(self) -> list[Ending]:
        """The endings since the last call, oldest first."""
        out, self._endings = self._endings, []
        return out

    def _end(self, outcome: Outcome, reason: str = "") -> None:
        if self._pursued:
            self._pursued = False
            self._endings = [*self._endings[-99:], Ending(self._number, outcome, reason or outcome.value)]

    def _give_up(
        self, now: float, positions: Array, outcome: Outcome, off: Array, tolerance: Array, joint: int
    ) -> None:
        """Come to rest where the joints are: what holds them up is not pushed against."""
        allowed = f"{tolerance[joint]:.4g} allowed" if tolerance[joint] > 0.0 else "and does not come to rest"
        self._end(
            outcome, f"{outcome.value}: joint {self.joint_names[joint]!r} is {off[joint]:.4g} away, {allowed}; held"
        )
        state = self.desired(now)
        here = np.clip(positions, self._lower, self._upper)
        self._begin(_Active(plan(state, here, self.limits), now, state))

    def _begin(self, motion: _Active) -> None:
        """Replace whatever would still be followed when `motion` starts; until then the old one goes on."""
        earlier = [active for active in self._schedule if active.start < motion.start]
        self._schedule = [*earlier, motion]

    def _active(self, now: float) -> _Active:
        return next((a for a in reversed(self._schedule) if a.start <= now), self._schedule[0])

    def desired(self, now: float) -> State:
        """Where the trajectories lead at `now`, for those who only want to know."""
        return self._active(now).state(now)

    def _completed(self, given: Trajectory, origin: State) -> Trajectory:
        """`given` for all our joints, in our order. Raises TrajectoryError for whatever is malformed in itself."""
        names, ours = given.joint_names, self.joint_names
        unknown = [name for name in names if name not in ours]
        if unknown:
            raise TrajectoryError(
                f"unknown joints: {listed(unknown)}; the joints here are: {listed(ours)}", joint=unknown[0]
            )
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise TrajectoryError(f"joint {twice!r} is named twice", joint=twice)
        missing = [name for name in ours if name not in names]
        if missing and not self.allow_partial:
            raise TrajectoryError(
                f"joints are missing: {listed(missing)}; all of {listed(ours)} are wanted", joint=missing[0]
            )
        k, n = len(given.times), len(names)
        for what in ("positions", "velocities", "accelerations"):
            values = getattr(given, what)
            if values is None:
                continue
            if values.shape != (k, n):
                raise TrajectoryError(f"{what} of shape {values.shape}: ({k}, {n}) is wanted, {k} points of {n} joints")
            if not np.isfinite(values).all():
                point, joint = np.argwhere(~np.isfinite(values))[0]
                raise TrajectoryError(
                    f"{what}[{joint}] of point {point} is {values[point, joint]}, joint {names[joint]!r}: "
                    "finite numbers are wanted",
                    joint=names[joint],
                )
        if not np.isfinite(given.times).all() or given.times[0] < 0.0 or (np.diff(given.times) <= 0.0).any():
            raise TrajectoryError(
                "time_from_start must be finite and strictly increasing from 0 on, not "
                f"{np.round(given.times, 6).tolist()}"
            )
        if given.velocities is None and given.accelerations is not None:
            raise TrajectoryError("accelerations without velocities cannot be followed; give both")
        if given.velocities is not None:
            for name, speed in zip(names, given.velocities[-1]):
                if abs(speed) > STOPPED_VELOCITY:
                    raise TrajectoryError(
                        f"the last point has joint {name!r} moving at {speed:.4g} per s; it must be at rest", joint=name
                    )
        order = [names.index(name) if name in names else -1 for name in ours]

        def filled(values: Array | None, rest: Array) -> Array | None:
            if values is None:
                return None
            return np.stack([values[:, at] if at >= 0 else np.full(k, rest[i]) for i, at in enumerate(order)], axis=1)

        still = np.zeros(len(ours))
        positions = filled(given.positions, origin.position)
        assert positions is not None
        return Trajectory(
            ours,
            np.array(given.times, dtype=float),
            positions,
            filled(given.velocities, still),
            filled(given.accelerations, still),
        )

    def _without_point_at_zero(self, given: Trajectory, origin: State) -> Trajectory:
        if given.times[0] > 0.0:
            return given
        off = np.abs(given.positions[0] - origin.position)
        worst = int(np.argmax(off))
        if off[worst] > FIRST_POINT_WITHIN:
            name = self.joint_names[worst]
            raise TrajectoryError(
                f"the first point is at time 0, but joint {name!r} is {off[worst]:.4g} away from it; "
                "give it time to get there",
                joint=name,
            )
        if len(given.times) == 1:
            return Trajectory(given.joint_names, np.array([1e-3]), origin.position[np.newaxis])
        return _sliced(given, 1, 0.0)

    def _delay(self, trajectory: Trajectory, begin: float) -> float:
        """How much later than their planner thinks the joints come to where a new motion leaves the old one [s].

        What was stamped 0 began when it arrived here, a little after it was sent. Planned motions have constant jerk
        between points, so from the right origin the quintic to the first point is a cubic: its two highest
        coefficients vanish (see Trajectory.between).
        """
        active = self._active(begin)
        if trajectory.velocities is None or trajectory.accelerations is None or active is not self._schedule[-1]:
            return 0.0
        if begin - active.start >= active.trajectory.duration or self._begins_gently(trajectory, active.state(begin)):
            return 0.0
        first, duration = trajectory.point(0), float(trajectory.times[0])

        def amiss(delays: Array) -> Array:
            x, v, a = active.trajectory.states(begin - active.start + delays, active.origin)
            d, v0, v1 = first.position - x, v * duration, first.velocity * duration
            a0, a1 = a * duration**2, first.acceleration * duration**2
            quartic = -15.0 * d + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1
            quintic = 6.0 * d - 3.0 * (v0 + v1) - 0.5 * (a0 - a1)
            return np.asarray((quartic**2 + quintic**2).sum(axis=1))

        low, high = 0.0, LONGEST_DELAY
        for _ in range(REFINEMENTS):
            delays = np.linspace(low, high, DELAYS)
            best, step = float(delays[np.argmin(amiss(delays))]), (high - low) / (DELAYS - 1)
            low, high = max(best - step, 0.0), best + step
        return best if self._begins_gently(trajectory, active.state(begin + best)) else 0.0

    def _joined(self, trajectory: Trajectory, origin: State) -> Trajectory:
        """The trajectory from `origin` on, checked.

        Where its sender thought the joints elsewhere, so that its first point is too near in time, and where its
        points say how they are passed, it is joined by a ramp within the limits, and followed that much later: at the
        first point that this brings no detour to, or else at the one with the least.
        """
        fault: TrajectoryError | None = None
        try:
            self._check_motion(trajectory, origin)
            if self._begins_gently(trajectory, origin):
                return trajectory
        except TrajectoryError as error:
            if trajectory.velocities is None or trajectory.accelerations is None:
                raise
            self._check_itself(trajectory)
            fault = error
        best, least = None, np.inf
        for i in _spread(trajectory.times):
            with suppress(TrajectoryError):
                ramp = plan(origin, trajectory.point(i), self.limits)
                detour = ramp.duration - float(trajectory.times[i])
                if detour < least:
                    joined = _preceded(ramp, trajectory, i)
                    self._check_motion(joined, origin)
                    best, least = joined, detour
                if least < SHORT_DETOUR:
                    break
        if best is not None:
            return best
        if fault is not None:
            raise fault
        return trajectory

    def _begins_gently(self, trajectory: Trajectory, origin: State) -> bool:
        """Whether the way from `origin` to the first point keeps the limits, where the points say how to pass them."""
        if trajectory.velocities is None or trajectory.accelerations is None:
            return True
        duration = float(trajectory.times[0])
        moments = np.linspace(0.0, duration, PER_SEGMENT + 1)[:, np.newaxis]
        _, velocity, acceleration = trajectory.between(origin, trajectory.point(0), duration, moments)
        return bool(
            (np.abs(velocity) <= self.limits.velocity * (1.0 + 1e-6)).all()
            and (np.abs(acceleration) <= self.limits.acceleration * ACCELERATION_SLACK).all()
        )

    def _check_itself(self, trajectory: Trajectory) -> None:
        """Raise TrajectoryError where the fault is not the way to the first point, but lies at or after it."""
        first = trajectory.point(0)
        for name, position, lower, upper in zip(self.joint_names, first.position, self._lower, self._upper):
            if not lower - POSITION_SLACK <= position <= upper + POSITION_SLACK:
                raise TrajectoryError(
                    f"joint {name!r} would go to {position:.4g}, outside its limits [{lower:.4g}, {upper:.4g}]",
                    joint=name,
                )
        if len(trajectory.times) > 1:
            self._check_motion(_sliced(trajectory, 1, float(trajectory.times[0])), first)

    def _check_motion(self, trajectory: Trajectory, origin: State) -> None:
        """Raise TrajectoryError where the joints would pass their position or velocity limits."""
        lower = np.minimum(self._lower, origin.position) - POSITION_SLACK
        upper = np.maximum(self._upper, origin.position) + POSITION_SLACK
        allowed = self.limits.velocity * VELOCITY_SLACK + 1e-6
        k = len(trajectory.times)
        after = State(*(np.array(part) for part in zip(*(trajectory.point(i) for i in range(k)))))
        before = State(*(np.vstack([first, rest[:-1]]) for first, rest in zip(origin, after)))
        durations = np.diff(trajectory.times, prepend=0.0)[:, np.newaxis]
        moments = np.linspace(0.0, 1.0, PER_SEGMENT + 1)[:, np.newaxis, np.newaxis] * durations
        positions, velocities, _ = trajectory.between(before, after, durations, moments)  # (samples, k, n)
        outside = (positions < lower) | (positions > upper)
        if outside.any():
            at = tuple(np.argwhere(outside)[0])
            name = self.joint_names[at[2]]
            raise TrajectoryError(
                f"joint {name!r} would go to {positions[at]:.4g} on the way to point {at[1]}, outside its limits "
                f"[{self.limits.lower[at[2]]:.4g}, {self.limits.upper[at[2]]:.4g}]",
                joint=name,
            )
        fast = np.abs(velocities) > allowed
        if fast.any():
            at = tuple(np.argwhere(fast)[0])
            name = self.joint_names[at[2]]
            raise TrajectoryError(
                f"joint {name!r} would move at {abs(velocities[at]):.4g} per s on the way to point {at[1]}, above its "
                f"limit of {self.limits.velocity[at[2]]:.4g}; give it more time",
                joint=name,
            )


def _farthest(off: Array, tolerance: Array) -> int | None:
    """The joint that is farthest beyond its tolerance; None where all are within it, or have none."""
    share = np.divide(off, tolerance, out=np.zeros_like(off), where=tolerance > 0.0)
    worst = int(np.argmax(share))
    return worst if share[worst] > 1.0 else None


def _spread(times: Array) -> list[int]:
    """Points where a trajectory may be joined: the first ones, then ever fewer, and the last."""
    wanted = times[0] + np.concatenate([np.arange(8) * 0.02, 0.2 * 1.5 ** np.arange(12)])
    later = np.minimum(np.searchsorted(times, wanted), len(times) - 1)
    return sorted({*range(min(4, len(times))), *later.tolist(), len(times) - 1})


def _preceded(ramp: Trajectory, trajectory: Trajectory, i: int) -> Trajectory:
    """`ramp`, which ends as point i of `trajectory` says, and then the points after it."""

    def both(what: str) -> Array:
        return np.concatenate([getattr(ramp, what), getattr(trajectory, what)[i + 1 :]])

    times = np.concatenate([ramp.times, trajectory.times[i + 1 :] - trajectory.times[i] + ramp.duration])
    return Trajectory(trajectory.joint_names, times, both("positions"), both("velocities"), both("accelerations"))


def _from(trajectory: Trajectory, elapsed: float) -> Trajectory:
    """What is left of a trajectory that should have started `elapsed` [s] ago."""
    first = int(np.searchsorted(trajectory.times, elapsed, side="right"))
    if first == len(trajectory.times):
        raise TrajectoryError(
            f"the trajectory ended {elapsed - trajectory.duration:.3g} s ago; is the clock of its sender right?"
        )
    return _sliced(trajectory, first, elapsed)


def _sliced(trajectory: Trajectory, first: int, elapsed: float) -> Trajectory:
    def cut(values: Array | None) -> Array | None:
        return None if values is None else values[first:]

    return Trajectory(
        trajectory.joint_names,
        trajectory.times[first:] - elapsed,
        trajectory.positions[first:],
        cut(trajectory.velocities),
        cut(trajectory.accelerations),
    )
