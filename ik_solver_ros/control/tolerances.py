"""Tolerances: how far joints may be from where a trajectory has them; joint_trajectory_controller's `constraints`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ik_solver_ros.errors import ParameterError
from ik_solver_ros.kinematics.arrays import Array

STOPPED_VELOCITY = 0.01  # per s, joint_trajectory_controller's own


@dataclass(frozen=True, eq=False)
class Tolerances:
    """For n joints; 0 is no limit, as there."""

    path: Array  # (n,) [rad or m] on the way
    goal: Array  # (n,) [rad or m] at the end
    goal_time: float = 0.0  # [s] after the end to come within the goal's; 0: as long as it takes
    stopped_velocity: float = STOPPED_VELOCITY  # per s: slower is stopped

    @staticmethod
    def of(
        joint_names: Sequence[str],
        path: Mapping[str, float] | None = None,
        goal: Mapping[str, float] | None = None,
        goal_time: float = 0.0,
        stopped_velocity: float = STOPPED_VELOCITY,
    ) -> Tolerances:
        """Tolerances by joint. Raises ParameterError for what is negative or not finite."""
        columns = [np.array([float((given or {}).get(name, 0.0)) for name in joint_names]) for given in (path, goal)]
        for what, column in zip(("trajectory", "goal"), columns):
            wrong = ~(np.isfinite(column) & (column >= 0.0))
            if wrong.any():
                i = int(np.argmax(wrong))
                raise ParameterError(f"constraints.{joint_names[i]}.{what}", column[i], "a number from 0 on is wanted")
        for name, number in (("goal_time", goal_time), ("stopped_velocity_tolerance", stopped_velocity)):
            if not (np.isfinite(number) and number >= 0.0):
                raise ParameterError(f"constraints.{name}", number, "a number from 0 on is wanted")
        return Tolerances(columns[0], columns[1], float(goal_time), float(stopped_velocity))


def worst_violation(error: Array, tolerance: Array) -> int | None:
    """The joint that is farthest beyond its tolerance, (n,) each; None where all are within it, or have none."""
    ratio = np.divide(error, tolerance, out=np.zeros_like(error), where=tolerance > 0.0)
    worst = int(np.argmax(ratio))
    return worst if ratio[worst] > 1.0 else None
