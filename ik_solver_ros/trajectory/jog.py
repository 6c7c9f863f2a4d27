"""Motion at a velocity, for a while, and then to rest: what a stream of velocity commands is made of.

Each command is a whole trajectory that ends at rest by itself, so the arm stops smoothly when the stream does, whoever
of sender, planner and network it was that failed.
"""

from __future__ import annotations

import numpy as np

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.plan import leaves, plan_stop, plan_velocity
from ik_solver_ros.trajectory.trajectory import State, Trajectory

STEPS = 8  # bisections for how much of a velocity can be had
SLOW = 1e-3  # of it: less is a stop


def jog(start: State, velocity: Array, duration: float, limits: MotionLimits) -> Trajectory:
    """From `start` to `velocity` (n,) and on, until `duration` [s] after the start, and then to rest.

    Where a joint would come to a position limit, all joints go so much slower that it stops before it: the tip stays
    on its way. Velocities above the limits are scaled in the same way. Raises TrajectoryError for what is not finite.
    """
    velocity = np.asarray(velocity, dtype=float)
    velocity = velocity / max(1.0, float(np.max(np.abs(velocity) / limits.velocity)))
    whole = _jogged(start, velocity, duration, limits)
    if not leaves(whole, start, limits):
        return whole
    best = plan_stop(start, limits)
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        fraction = 0.5 * (low + high)
        trial = _jogged(start, fraction * velocity, duration, limits)
        if leaves(trial, start, limits):
            high = fraction
        else:
            low, best = fraction, trial
    return best


def _jogged(start: State, velocity: Array, duration: float, limits: MotionLimits) -> Trajectory:
    up = plan_velocity(start, velocity, limits)
    parts = [up]
    if duration > up.duration:
        on = duration - up.duration
        position = up.positions[-1] + on * velocity
        still = np.zeros_like(velocity)
        parts.append(
            Trajectory(limits.joint_names, np.array([on]), *(x[np.newaxis] for x in (position, velocity, still)))
        )
    parts.append(plan_stop(parts[-1].point(len(parts[-1].times) - 1), limits))
    return joined(parts)


def joined(parts: list[Trajectory]) -> Trajectory:
    """Trajectories one after another, each beginning as the one before ends."""
    begins = np.cumsum([0.0, *(part.duration for part in parts[:-1])])
    times = np.concatenate([part.times + t for part, t in zip(parts, begins)])
    columns = ([getattr(part, what) for part in parts] for what in ("positions", "velocities", "accelerations"))
    return Trajectory(parts[0].joint_names, times, *(np.concatenate(column) for column in columns))
