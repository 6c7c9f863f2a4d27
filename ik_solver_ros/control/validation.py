"""What of a trajectory can be followed: joint_trajectory_controller's rules. Each fault is refused with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ik_solver_ros.errors import TrajectoryError, listed
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.trajectory import State, Trajectory

FIRST_POINT_WITHIN = 0.01  # [rad or m] a first point at time 0 must be where the joints are
STOPPED_VELOCITY = 1e-3  # [per s] the last point must be at rest within this
POSITION_SLACK = 1e-3  # [rad or m] a trajectory may pass the limits by this; the command is clamped all the same
VELOCITY_SLACK = 1.05  # and exceed the velocity limits by this factor
PER_SEGMENT = 12  # samples of each segment that are checked


class PositionRange(NamedTuple):
    """Where n joints may be, (n,) each [rad or m].

    A joint that is found outside its limits is not thrown inside: its range reaches to where it is, and closes behind
    it as it comes back.
    """

    lower: Array
    upper: Array

    @staticmethod
    def around(positions: Array, limits: MotionLimits) -> PositionRange:
        """The limits, and as far beyond them as the joints are."""
        return PositionRange(np.minimum(limits.lower, positions), np.maximum(limits.upper, positions))

    def clip(self, positions: Array) -> Array:
        """The nearest positions within."""
        return np.clip(positions, self.lower, self.upper)

    def closed_behind(self, positions: Array, limits: MotionLimits) -> PositionRange:
        """The range when the joints have come to `positions`, which are within it."""
        return PositionRange(
            np.minimum(limits.lower, np.maximum(self.lower, positions)),
            np.maximum(limits.upper, np.minimum(self.upper, positions)),
        )


def complete(given: Trajectory, joint_names: Sequence[str], origin: State, allow_partial: bool) -> Trajectory:
    """`given` for all of `joint_names`, in this order; joints that it does not have stay where `origin` has them.

    Raises TrajectoryError for whatever is malformed in itself.
    """
    _check_names(given.joint_names, joint_names, allow_partial)
    _check_points(given)
    k = len(given.times)
    column = {name: i for i, name in enumerate(given.joint_names)}

    def filled(values: Array, rest: Array) -> Array:
        columns = [values[:, column[n]] if n in column else np.full(k, x) for n, x in zip(joint_names, rest)]
        return np.stack(columns, axis=1)

    still = np.zeros(len(joint_names))
    return Trajectory(
        tuple(joint_names),
        np.array(given.times, dtype=float),
        filled(given.positions, origin.position),
        None if given.velocities is None else filled(given.velocities, still),
        None if given.accelerations is None else filled(given.accelerations, still),
    )


def _check_names(names: Sequence[str], wanted: Sequence[str], allow_partial: bool) -> None:
    unknown = [name for name in names if name not in wanted]
    if unknown:
        raise TrajectoryError(
            f"unknown joints: {listed(unknown)}; the joints here are: {listed(wanted)}", joint=unknown[0]
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TrajectoryError(f"joint {twice!r} is named twice", joint=twice)
    missing = [name for name in wanted if name not in names]
    if missing and not allow_partial:
        raise TrajectoryError(
            f"joints are missing: {listed(missing)}; all of {listed(wanted)} are wanted", joint=missing[0]
        )


def _check_points(given: Trajectory) -> None:
    names, k, n = given.joint_names, len(given.times), len(given.joint_names)
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
            f"time_from_start must be finite and strictly increasing from 0 on, not {np.round(given.times, 6).tolist()}"
        )
    if given.velocities is None and given.accelerations is not None:
        raise TrajectoryError("accelerations without velocities cannot be followed; give both")
    for name, speed in zip(names, given.point(k - 1).velocity):
        if abs(speed) > STOPPED_VELOCITY:
            raise TrajectoryError(
                f"the last point has joint {name!r} moving at {speed:.4g} per s; it must be at rest", joint=name
            )


def without_point_at_zero(given: Trajectory, origin: State) -> Trajectory:
    """The trajectory without a first point at time 0, which says where the joints are. Raises where they are not."""
    if given.times[0] > 0.0:
        return given
    distance = np.abs(given.positions[0] - origin.position)
    worst = int(np.argmax(distance))
    if distance[worst] > FIRST_POINT_WITHIN:
        name = given.joint_names[worst]
        raise TrajectoryError(
            f"the first point is at time 0, but joint {name!r} is {distance[worst]:.4g} away from it; "
            "give it time to get there",
            joint=name,
        )
    if len(given.times) == 1:
        return Trajectory(given.joint_names, np.array([1e-3]), origin.position[np.newaxis])
    return given.from_time(0.0)


def check_motion(trajectory: Trajectory, origin: State, limits: MotionLimits, reach: PositionRange) -> None:
    """Raise TrajectoryError where the joints, from `origin` on, would pass their position or velocity limits."""
    reach = PositionRange(np.minimum(reach.lower, origin.position), np.maximum(reach.upper, origin.position))
    k = len(trajectory.times)
    after = State(*(np.array(part) for part in zip(*(trajectory.point(i) for i in range(k)))))
    before = State(*(np.vstack([first, rest[:-1]]) for first, rest in zip(origin, after)))
    durations = np.diff(trajectory.times, prepend=0.0)[:, np.newaxis]
    moments = np.linspace(0.0, 1.0, PER_SEGMENT + 1)[:, np.newaxis, np.newaxis] * durations
    with np.errstate(over="ignore", invalid="ignore"):
        positions, velocities, _ = trajectory.between(before, after, durations, moments)  # (samples, k, n)
    # What overflows is no number, and neither within the limits nor outside.
    outside = ~((positions >= reach.lower - POSITION_SLACK) & (positions <= reach.upper + POSITION_SLACK))
    if outside.any():
        sample, point, i = np.argwhere(outside)[0]
        name = trajectory.joint_names[i]
        raise TrajectoryError(
            f"joint {name!r} would go to {positions[sample, point, i]:.4g} on the way to point {point}, outside its "
            f"limits [{limits.lower[i]:.4g}, {limits.upper[i]:.4g}]",
            joint=name,
        )
    fast = ~(np.abs(velocities) <= limits.velocity * VELOCITY_SLACK + 1e-6)
    if fast.any():
        sample, point, i = np.argwhere(fast)[0]
        name = trajectory.joint_names[i]
        raise TrajectoryError(
            f"joint {name!r} would move at {abs(velocities[sample, point, i]):.4g} per s on the way to point {point}, "
            f"above its limit of {limits.velocity[i]:.4g}; give it more time",
            joint=name,
        )


def check_from_first_point(trajectory: Trajectory, limits: MotionLimits, reach: PositionRange) -> None:
    """Raise TrajectoryError where the fault is not the way to the first point, but lies at or after it."""
    first = trajectory.point(0)
    for name, position, lower, upper in zip(trajectory.joint_names, first.position, *reach):
        if not lower - POSITION_SLACK <= position <= upper + POSITION_SLACK:
            raise TrajectoryError(
                f"joint {name!r} would go to {position:.4g}, outside its limits [{lower:.4g}, {upper:.4g}]",
                joint=name,
            )
    if len(trajectory.times) > 1:
        check_motion(trajectory.from_time(float(trajectory.times[0])), first, limits, reach)
