"""MotionLimits: how fast each joint may move, and which of that had to be assumed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ik_solver_ros.errors import GoalError, listed
from ik_solver_ros.kinematics.arrays import Array

ASSUMED_VELOCITY = 1.0  # [rad/s or m/s] where a URDF has no velocity limit
RAMP_TIME = 0.25  # [s] to full speed: a URDF has no acceleration limits
JERK_TIME = 0.1  # [s] to full acceleration: nor has it jerk limits
GIVEN = ("min_position", "max_position", "max_velocity", "max_acceleration", "max_jerk")  # as MoveIt names them


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
        joint_names: Sequence[str],
        lower: Array,
        upper: Array,
        velocity: Array,
        ramp_time: float = RAMP_TIME,
        given: Mapping[str, Mapping[str, float]] | None = None,
    ) -> MotionLimits:
        """Limits by the URDF's velocities (nan where it has none); full speed takes `ramp_time` [s] from rest.

        given: by joint, any of GIVEN in their place; nan is as good as none. Positions can only be narrowed. Raises
        GoalError for values that are no limits, naming joint and value.
        """
        if not (np.isfinite(ramp_time) and ramp_time > 0.0):
            raise GoalError("ramp_time", ramp_time, "a positive number of seconds is wanted")
        own = {what: _column(joint_names, given or {}, what) for what in GIVEN}
        low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
        _check_positions(joint_names, low, high, own)
        low = np.where(np.isnan(own["min_position"]), low, own["min_position"])
        high = np.where(np.isnan(own["max_position"]), high, own["max_position"])

        speed = np.where(np.isnan(own["max_velocity"]), velocity, own["max_velocity"])
        missing = ~(np.isfinite(speed) & (speed > 0.0))
        speed = np.where(missing, ASSUMED_VELOCITY, speed)
        assumed = []
        if missing.any():
            names = ", ".join(name for name, gone in zip(joint_names, missing) if gone)
            assumed.append(f"the URDF has no velocity limit for {names}: {ASSUMED_VELOCITY:g} per s is assumed")
        ramped = np.isnan(own["max_acceleration"])
        acceleration = np.where(ramped, speed / ramp_time, own["max_acceleration"])
        if ramped.any():
            whose = "every joint" if ramped.all() else ", ".join(n for n, gone in zip(joint_names, ramped) if gone)
            assumed.append(
                f"a URDF has no acceleration limits: {ramp_time:g} s from rest to full speed are assumed for {whose}"
            )
        jerk = np.where(np.isnan(own["max_jerk"]), acceleration / JERK_TIME, own["max_jerk"])
        return MotionLimits(tuple(joint_names), low, high, speed, acceleration, jerk, tuple(assumed))

    def scaled(self, speed_scale: float) -> MotionLimits:
        """The same with all velocities times `speed_scale` in (0, 1]; the arm brakes as hard as before."""
        return replace(self, velocity=self.velocity * speed_scale)


def _column(joint_names: Sequence[str], given: Mapping[str, Mapping[str, float]], what: str) -> Array:
    """What was given of one kind, (n,), nan where nothing was."""
    unknown = set(given) - set(joint_names)
    if unknown:
        raise GoalError("joint_limits", sorted(unknown), f"the joints are {listed(joint_names)}")
    values = np.array([float(given.get(name, {}).get(what, np.nan)) for name in joint_names])
    wrong = np.isinf(values) | (what.startswith("max_") and what != "max_position") & (values <= 0.0)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise GoalError(f"joint_limits.{joint_names[i]}.{what}", values[i], "a positive finite number is wanted")
    return values


def _check_positions(joint_names: Sequence[str], lower: Array, upper: Array, own: Mapping[str, Array]) -> None:
    for i, name in enumerate(joint_names):
        low, high = own["min_position"][i], own["max_position"][i]
        for what, value in (("min_position", low), ("max_position", high)):
            if value < lower[i] or value > upper[i]:
                raise GoalError(
                    f"joint_limits.{name}.{what}",
                    value,
                    f"within the URDF's [{lower[i]:g}, {upper[i]:g}] is wanted: limits can be narrowed, not widened",
                )
        low, high = (x if np.isfinite(x) else y for x, y in ((low, lower[i]), (high, upper[i])))
        if not low < high:
            raise GoalError(f"joint_limits.{name}", [low, high], "a min_position below the max_position is wanted")
