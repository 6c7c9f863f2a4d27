"""How a new trajectory continues from what is followed already: in time (its delay) and in space (a ramp to it)."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ik_solver_ros.control.validation import PER_SEGMENT, PositionRange, check_from_first_point, check_motion
from ik_solver_ros.errors import TrajectoryError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.trajectory.jog import joined
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.plan import plan
from ik_solver_ros.trajectory.trajectory import State, Trajectory, quintic

ACCELERATION_SLACK = 1.01  # factor by which the way to a first point may exceed the acceleration limits
LONGEST_DELAY = 0.06  # [s] that the joints may be behind the plan of whoever leads them
DELAYS, REFINEMENTS = 61, 3  # tried at once, and how often that is done between the best one's neighbours
SHORT_DETOUR = 0.05  # [s] that a ramp may take longer than the way that it replaces


def begins_gently(trajectory: Trajectory, origin: State, limits: MotionLimits) -> bool:
    """Whether the way from `origin` to the first point keeps the limits, where the points say how to pass them."""
    if trajectory.velocities is None or trajectory.accelerations is None:
        return True
    duration = float(trajectory.times[0])
    moments = np.linspace(0.0, duration, PER_SEGMENT + 1)[:, np.newaxis]
    _, velocity, acceleration = trajectory.between(origin, trajectory.point(0), duration, moments)
    return bool(
        (np.abs(velocity) <= limits.velocity * (1.0 + 1e-6)).all()
        and (np.abs(acceleration) <= limits.acceleration * ACCELERATION_SLACK).all()
    )


def estimate_delay(new: Trajectory, followed: Trajectory, origin: State, elapsed: float, limits: MotionLimits) -> float:
    """How much later [s] than their planner thinks the joints come to where `new` leaves what is followed now.

    That one began in `origin`, `elapsed` [s] before the start of the new one. What was stamped 0 began when it arrived
    here, a little after it was sent. Planned motions have constant jerk between points, so from the right origin the
    quintic to the first point is a cubic: its two highest coefficients vanish (see Trajectory.between).
    """
    if new.velocities is None or new.accelerations is None or elapsed >= followed.duration:
        return 0.0
    if begins_gently(new, followed.state(max(elapsed, 0.0), origin), limits):
        return 0.0
    first, duration = new.point(0), float(new.times[0])

    def higher_coefficients(delays: Array) -> Array:
        """The sum of their squares, (m,), for delays (m,)."""
        fourth, fifth = quintic(followed.states(elapsed + delays, origin), first, duration)[4:]
        return np.asarray((fourth**2 + fifth**2).sum(axis=1))

    low, high = 0.0, LONGEST_DELAY
    for _ in range(REFINEMENTS):
        delays = np.linspace(low, high, DELAYS)
        best, step = float(delays[np.argmin(higher_coefficients(delays))]), (high - low) / (DELAYS - 1)
        low, high = max(best - step, 0.0), best + step
    return best if begins_gently(new, followed.state(max(elapsed + best, 0.0), origin), limits) else 0.0


def join(trajectory: Trajectory, origin: State, limits: MotionLimits, reach: PositionRange) -> Trajectory:
    """The trajectory from `origin` on. Raises TrajectoryError where it cannot be followed safely.

    Where its sender thought the joints elsewhere, so that its first point is too near in time, and where its points
    say how they are passed, it is joined by a ramp within the limits, and followed that much later: at the first point
    that this brings no detour to, or else at the one with the least.
    """
    fault: TrajectoryError | None = None
    try:
        check_motion(trajectory, origin, limits, reach)
        if begins_gently(trajectory, origin, limits):
            return trajectory
    except TrajectoryError as error:
        if trajectory.velocities is None or trajectory.accelerations is None:
            raise
        check_from_first_point(trajectory, limits, reach)
        fault = error
    best, least = None, np.inf
    for i in _points_to_join_at(trajectory.times):
        with suppress(TrajectoryError):
            ramp = plan(origin, trajectory.point(i), limits)
            detour = ramp.duration - float(trajectory.times[i])
            if detour < least:
                ramped = joined([ramp, trajectory.from_time(float(trajectory.times[i]))])
                check_motion(ramped, origin, limits, reach)
                best, least = ramped, detour
            if least < SHORT_DETOUR:
                break
    if best is not None:
        return best
    if fault is not None:
        raise fault
    return trajectory


def _points_to_join_at(times: Array) -> list[int]:
    """Points where a trajectory may be joined: the first ones, then ever fewer, and the last."""
    wanted = times[0] + np.concatenate([np.arange(8) * 0.02, 0.2 * 1.5 ** np.arange(12)])
    later = np.minimum(np.searchsorted(times, wanted), len(times) - 1)
    return sorted({*range(min(4, len(times))), *later.tolist(), len(times) - 1})
