"""Time-optimal motions within velocity, acceleration and jerk limits, from any state of motion (ruckig).

The points of a planned trajectory lie at the moments where some joint's jerk changes. Between them every position is
a cubic in time, which quintic interpolation through position, velocity and acceleration gives back exactly: a dozen
points say it all, at any rate that a follower may read them.
"""

from __future__ import annotations

import numpy as np
import ruckig

from ik_solver_ros.errors import TrajectoryError
from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.trajectory import State, Trajectory

SHORTEST = 0.01  # [s] a trajectory to where the arm stands already still takes this long
SAME_TIME = 1e-6  # [s] switching times nearer than this are one point


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
    request.synchronization = ruckig.Synchronization.Phase
    motion = _calculate(request)
    if _leaves(motion, start, limits):
        request.synchronization = ruckig.Synchronization.No
        motion = _calculate(request)
    return _sampled(motion, limits.joint_names, end)


def plan_stop(start: State, limits: MotionLimits) -> Trajectory:
    """From `start` to rest as soon as the limits allow. Raises TrajectoryError where ruckig refuses."""
    request = _request(start, limits)
    request.control_interface = ruckig.ControlInterface.Velocity
    request.target_velocity = [0.0] * len(start.position)
    request.synchronization = ruckig.Synchronization.No
    return _sampled(_calculate(request), limits.joint_names, None)


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
    request.max_velocity = limits.velocity.tolist()
    request.max_acceleration = limits.acceleration.tolist()
    request.max_jerk = limits.jerk.tolist()
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
    slack = 1e-9
    for i, extrema in enumerate(motion.position_extrema):
        low = min(limits.lower[i], start.position[i])
        high = max(limits.upper[i], start.position[i])
        if extrema.min < low - slack or extrema.max > high + slack:
            return True
    return False


def _sampled(motion: ruckig.Trajectory, joint_names: tuple[str, ...], end: State | None) -> Trajectory:
    moments = {motion.duration}
    for profile in motion.profiles[0]:
        moments.update(np.cumsum([*profile.brake.t, *profile.t, *profile.accel.t]).tolist())
    times: list[float] = []
    for moment in sorted(moments):
        if SAME_TIME < moment <= motion.duration and (not times or moment - times[-1] > SAME_TIME):
            times.append(moment)
    if times:
        times[-1] = max(times[-1], motion.duration)
    else:
        times = [SHORTEST]
    states = [motion.at_time(t) for t in times]
    positions, velocities, accelerations = (np.array(part) for part in zip(*states))
    last = end or State.at_rest(positions[-1])
    positions[-1], velocities[-1], accelerations[-1] = last
    return Trajectory(joint_names, np.array(times), positions, velocities, accelerations)
