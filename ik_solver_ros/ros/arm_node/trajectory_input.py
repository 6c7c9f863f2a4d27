"""TrajectoryInput: how trajectories come to an arm's controllers, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from ik_solver_ros.control.follower import Ending, TrajectoryEnd
from ik_solver_ros.errors import IkSolverError
from ik_solver_ros.ros.arm_node.controllers import Commands, Controller
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.common.qos import STATUS_QOS
from ik_solver_ros.ros.common.throttled_warnings import ThrottledWarnings
from ik_solver_ros.session.reply import Level

FollowAction: Any = None
try:
    from ik_solver_ros.ros.arm_node.follow_action import FollowAction
except ModuleNotFoundError as missing:
    if missing.name is None or not missing.name.startswith("control_msgs"):
        raise


class TrajectoryInput:
    """For each controller a topic, and an action where control_msgs is installed; `~/status` tells of both."""

    def __init__(self, node: Node, controllers: Sequence[Controller], commands: Commands) -> None:
        self._node, self._commands = node, commands
        self._warnings = ThrottledWarnings(node)
        self._status = node.create_publisher(DiagnosticStatus, "~/status", STATUS_QOS)
        self._actions = {c.name: FollowAction(node, c, commands) for c in controllers if FollowAction is not None}
        for name in (controller.name for controller in controllers):
            node.create_subscription(JointTrajectory, f"{name}/joint_trajectory", partial(self._received, name), 10)

    def ended(self, controller: str, ending: Ending) -> None:
        """Tell how a trajectory ended; from any thread."""
        if controller in self._actions:
            self._actions[controller].ended(ending)
        if ending.how in (TrajectoryEnd.PATH_TOLERANCE, TrajectoryEnd.GOAL_TOLERANCE):
            self._node.get_logger().warning(f"{controller}: {ending.reason}")
            self._report(Level.ERROR, ending.reason, controller, ending.how.name)

    def _received(self, controller: str, message: JointTrajectory) -> None:
        try:
            stamp = convert.seconds(message.header.stamp)
            self._commands.accept(controller, convert.trajectory_from(message), stamp, None)
        except IkSolverError as error:
            cause = f"{controller} {type(error).__name__} {getattr(error, 'joint', '')} {str(error)[:20]}"
            self._warnings.warn(cause, f"{controller}: trajectory refused, the arm goes on as it was: {error}")
            self._report(Level.ERROR, f"trajectory refused: {error}", controller, "REFUSED")
        else:
            self._report(Level.OK, "trajectory accepted", controller, "ACCEPTED")

    def _report(self, level: Level, message: str, controller: str, outcome: str) -> None:
        name = f"{self._node.get_name()}: {controller}"
        self._status.publish(convert.status_msg(level, name, message, outcome=outcome))
