"""Time-optimal motions within velocity, acceleration and jerk limits, from any state of motion (ruckig).

The points of a planned trajectory lie at the moments where some joint's jerk changes. Between them every position is
a cubic in time, which quintic interpolation through position, velocity and acceleration gives back exactly: a dozen
points say it all, at any rate that a follower may read them.
"""

from __future__ import annotations

import numpy as np
import ruckig

from ik_solver_ros.errors import TrajectoryError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.trajectory import State, Trajectory

SHORTEST = 0.01  # [s] a trajectory to where the arm stands already still takes this long
SLACK = 1e-9  # [rad or m] by which rounding may pass a limit
SAME_TIME = 2e-6  # [s] switching times nearer than this are one point
BEFORE_END = 3e-4  # [s] and those nearer to the end are left out: ruckig meets its target to some 1e-9 only
SPARE = 1e-5  # fraction of the limits that is left for what rounded times and switching times in one point make of it
DIGITS = 9  # of times: a message has nanoseconds, and over a short stretch what it rounds off would be felt


def plan(start: State, target: Array | State, limits: MotionLimits) -> Trajectory:
    """From `start`, in motion or at rest, to `target`: positions (n,) to rest at, or a state to pass through.

    Raises TrajectoryError for what is not finite and where ruckig refuses.

    All joints arrive together, on a straight line in joint space from rest. Where waiting for the others would
    carry a joint past its limits, each joint goes by itself.
    """
    request = _request(start, limits)
    end = target if isinstance(target, State) else State.at_rest(_checked(target, "target"))
    request.target_position = end.position.tolist()
    request.target_velocity = end.velocity.tolist()
    request.target_acceleration = end.acceleration.tolist()
    request.max_velocity = np.maximum(request.max_velocity, np.abs(end.velocity)).tolist()
    request.synchronization = ruckig.Synchronization.Phase
    motion = _calculate(request)
    if _leaves(motion, start, limits):
        request.synchronization = ruckig.Synchronization.No
        motion = _calculate(request)
    positions, velocities, accelerations, times = _points(motion, DIGITS if not end.velocity.any() else None)
    positions[-1], velocities[-1], accelerations[-1] = end
    return Trajectory(limits.joint_names, times, positions, velocities, accelerations)


def plan_velocity(start: State, velocity: Array, limits: MotionLimits) -> Trajectory:
    """From `start` to `velocity` (n,) as soon as the limits allow, wherever that leads: see `leaves`.

    Raises TrajectoryError for what is not finite and where ruckig refuses.
    """
    request = _request(start, limits)
    request.control_interface = ruckig.ControlInterface.Velocity
    request.target_velocity = _checked(velocity, "velocity").tolist()
    request.max_velocity = np.maximum(request.max_velocity, np.abs(velocity)).tolist()
    request.synchronization = ruckig.Synchronization.No
    positions, velocities, accelerations, times = _points(_calculate(request), None)
    velocities[-1], accelerations[-1] = velocity, 0.0
    return Trajectory(limits.joint_names, times, positions, velocities, accelerations)


def plan_stop(start: State, limits: MotionLimits) -> Trajectory:
    """From `start` to rest as soon as the limits allow. Raises TrajectoryError where ruckig refuses."""
    return plan_velocity(start, np.zeros(len(start.position)), limits)


def leaves(trajectory: Trajectory, start: State, limits: MotionLimits) -> bool:
    """Whether any joint passes its limits, or its start where that lies outside them; of planned trajectories.

    Between points the jerk is constant, so a position has its extremes at points and where the velocity is zero.
    """
    assert trajectory.velocities is not None and trajectory.accelerations is not None
    t = np.diff(trajectory.times, prepend=0.0)[:, np.newaxis]
    x, v, a = (
        np.vstack([first, rest[:-1]])
        for first, rest in zip(start, (trajectory.positions, trajectory.velocities, trajectory.accelerations))
    )
    jerk = (trajectory.accelerations - a) / t
    turns = [trajectory.positions]
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(a * a - 2.0 * jerk * v)
        for when in ((-a + root) / jerk, (-a - root) / jerk, np.where(jerk == 0.0, -v / a, np.nan)):
            within = np.where((when > 0.0) & (when < t), when, 0.0)
            turns.append(x + within * (v + within * (0.5 * a + within * jerk / 6.0)))
    low, high = np.min(turns, axis=(0, 1)), np.max(turns, axis=(0, 1))
    return bool(
        (low < np.minimum(limits.lower, start.position) - SLACK).any()
        or (high > np.maximum(limits.upper, start.position) + SLACK).any()
    )


def _checked(values: Array, name: str) -> Array:
    out = np.asarray(values, dtype=float)
    if not np.isfinite(out).all():
        raise TrajectoryError(f"{name} = {out.tolist()}: finite numbers are wanted")
    return out


def _request(start: State, limits: MotionLimits) -> ruckig.InputParameter:
    request = ruckig.InputParameter(len(start.position))
    request.current_position = _checked(start.position, "position").tolist()
    request.current_velocity = _checked(start.velocity, "velocity").tolist()
    request.current_acceleration = _checked(start.acceleration, "acceleration").tolist()
    request.max_velocity = ((1.0 - SPARE) * limits.velocity).tolist()
    request.max_acceleration = ((1.0 - SPARE) * limits.acceleration).tolist()
    request.max_jerk = ((1.0 - SPARE) * limits.jerk).tolist()
    return request


def _calculate(request: ruckig.InputParameter) -> ruckig.Trajectory:
    motion = ruckig.Trajectory(request.degrees_of_freedom)
    try:
        result = ruckig.Ruckig(request.degrees_of_freedom).calculate(request, motion)
    except ruckig.RuckigError as error:
        raise TrajectoryError(f"no motion can be planned: {error}") from error
    if int(result) < 0:
        raise TrajectoryError(f"no motion can be planned: ruckig says {result}")
    return motion


def _leaves(motion: ruckig.Trajectory, start: State, limits: MotionLimits) -> bool:
    """Whether any joint passes its limits, or its start where that lies outside them."""
    for i, extrema in enumerate(motion.position_extrema):
        low = min(limits.lower[i], start.position[i])
        high = max(limits.upper[i], start.position[i])
        if extrema.min < low - SLACK or extrema.max > high + SLACK:
            return True
    return False


def _points(motion: ruckig.Trajectory, digits: int | None) -> tuple[Array, Array, Array, Array]:
    """Positions, velocities, accelerations (k, n) and times (k,) [s], rounded, wherever some joint's jerk changes."""
    moments = {motion.duration}
    for profile in motion.profiles[0]:
        moments.update(np.cumsum([*profile.brake.t, *profile.t, *profile.accel.t]).tolist())
    times: list[float] = []
    for exact in sorted(moments):
        moment = exact if digits is None else round(exact, digits)
        if SAME_TIME < exact <= motion.duration and (not times or moment - times[-1] > SAME_TIME):
            times.append(moment)
    times = [t for t in times if t < moment - BEFORE_END] + [moment] if times else [SHORTEST]
    states = [motion.at_time(t) for t in times]
    positions, velocities, accelerations = (np.array(part) for part in zip(*states))
    return positions, velocities, accelerations, np.array(times)
