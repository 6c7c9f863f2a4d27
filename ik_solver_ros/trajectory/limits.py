"""MotionLimits: how fast each joint may move, and which of that had to be assumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ik_solver_ros.errors import GoalError
from ik_solver_ros.kinematics.kernels import Array

ASSUMED_VELOCITY = 1.0  # [rad/s or m/s] where a URDF has no velocity limit
RAMP_TIME = 0.25  # [s] to full speed: a URDF has no acceleration limits
JERK_TIME = 0.1  # [s] to full acceleration: nor has it jerk limits


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """Position, velocity, acceleration and jerk limits of n joints, each (n,)."""

    joint_names: tuple[str, ...]
    lower: Array  # [rad or m]
    upper: Array
    velocity: Array  # per s
    acceleration: Array  # per s^2
    jerk: Array  # per s^3
    assumed: tuple[str, ...] = ()  # sentences about values that the URDF does not have

    @staticmethod
    def from_urdf(
        joint_names: Sequence[str], lower: Array, upper: Array, velocity: Array, ramp_time: float = RAMP_TIME
    ) -> MotionLimits:
        """Limits by the URDF's velocities (nan where it has none); full speed takes `ramp_time` [s] from rest."""
        if not (np.isfinite(ramp_time) and ramp_time > 0.0):
            raise GoalError("ramp_time", ramp_time, "a positive number of seconds is wanted")
        missing = ~(np.isfinite(velocity) & (np.asarray(velocity) > 0.0))
        speed = np.where(missing, ASSUMED_VELOCITY, velocity)
        assumed = []
        if missing.any():
            names = ", ".join(name for name, gone in zip(joint_names, missing) if gone)
            assumed.append(f"the URDF has no velocity limit for {names}: {ASSUMED_VELOCITY:g} per s is assumed")
        assumed.append(
            f"a URDF has no acceleration limits: {ramp_time:g} s from rest to full speed are assumed for every joint"
        )
        acceleration = speed / ramp_time
        return MotionLimits(
            tuple(joint_names),
            np.asarray(lower, dtype=float),
            np.asarray(upper, dtype=float),
            speed,
            acceleration,
            acceleration / JERK_TIME,
            tuple(assumed),
        )

    def scaled(self, speed_scale: float) -> MotionLimits:
        """The same with all velocities times `speed_scale` in (0, 1]; the arm brakes as hard as before."""
        return MotionLimits(
            self.joint_names,
            self.lower,
            self.upper,
            self.velocity * speed_scale,
            self.acceleration,
            self.jerk,
            self.assumed,
        )
