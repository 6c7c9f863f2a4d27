"""joint_limits.<joint>.{min,max}_position, max_velocity, max_acceleration, max_jerk: what a URDF does not say."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rclpy.node import Node

from ik_solver_ros.ros.common.parameters import Param, declare, value
from ik_solver_ros.trajectory.limits import GIVEN

UNITS = {"position": "[rad or m]", "velocity": "[per s]", "acceleration": "[per s^2]", "jerk": "[per s^3]"}


def joint_limits(node: Node, joint_names: Sequence[str]) -> dict[str, dict[str, float]]:
    """Declare these parameters for the joints, and return those that were set, by joint."""
    given: dict[str, dict[str, float]] = {}
    for name in joint_names:
        for what in GIVEN:
            parameter = f"joint_limits.{name}.{what}"
            if not node.has_parameter(parameter):
                unit = UNITS[what.split("_")[1]]
                declare(node, [Param(parameter, math.nan, f"{unit} of {name}; nan: as the URDF says, or assumed")])
            number = value(node, parameter)
            if not math.isnan(number):
                given.setdefault(name, {})[what] = number
    return given
