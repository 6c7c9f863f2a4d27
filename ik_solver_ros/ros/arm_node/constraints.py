"""constraints.<joint>.{trajectory,goal}, constraints.goal_time, ...: joint_trajectory_controller's tolerances."""

from __future__ import annotations

from collections.abc import Sequence

from rclpy.node import Node

from ik_solver_ros.control.tolerances import STOPPED_VELOCITY, Tolerances
from ik_solver_ros.ros.common.parameters import Param, declare, value

WHOLE = (
    Param("constraints.goal_time", 0.0, "[s] to come within the goal's tolerances; 0: as long as it takes", 0.0, 60.0),
    Param("constraints.stopped_velocity_tolerance", STOPPED_VELOCITY, "[per s] slower than this is stopped", 0.0, 10.0),
)
EACH = {"trajectory": "on the way", "goal": "at the end"}


def constraints(node: Node, joint_names: Sequence[str]) -> Tolerances:
    """Declare these parameters for the joints, and return what they say. Raises ParameterError."""
    each = [
        Param(f"constraints.{name}.{what}", 0.0, f"[rad or m] that {name} may be off {when}; 0: any", 0.0, 10.0)
        for name in joint_names
        for what, when in EACH.items()
    ]
    declare(node, [param for param in (*WHOLE, *each) if not node.has_parameter(param.name)])
    path, goal = ({name: value(node, f"constraints.{name}.{what}") for name in joint_names} for what in EACH)
    whole = [value(node, param.name) for param in WHOLE]
    return Tolerances.of(joint_names, path, goal, *whole)
