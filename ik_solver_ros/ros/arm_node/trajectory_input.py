"""TrajectoryInput: how trajectories come to an arm's controllers, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from ik_solver_ros.control.follower import Ending, TrajectoryEnd
from ik_solver_ros.control.tolerances import Tolerances
from ik_solver_ros.errors import IkSolverError
from ik_solver_ros.ros.arm_node.controllers import Controller
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.common.throttled_warnings import Warnings
from ik_solver_ros.trajectory.trajectory import State, Trajectory

FollowAction: Any = None
try:
    from ik_solver_ros.ros.arm_node.follow_action import FollowAction
except ModuleNotFoundError as missing:
    if missing.name is None or not missing.name.startswith("control_msgs"):
        raise


class TrajectoryInput:
    """For each controller a topic, and an action where control_msgs is installed; `~/status` tells of both."""

    def __init__(
        self,
        node: Node,
        accept: Callable[[str, Trajectory, float, Tolerances | None], int],
        hold: Callable[[str], None],
        desired: Callable[[str], State],
    ) -> None:
        """Each is given a controller's name. accept: also a trajectory, its stamp [s of the ROS clock; 0: at once] and
        tolerances, and returns the trajectory's number; it raises an IkSolverError for what it refuses.
        """
        self._node, self._accept, self._hold, self._desired = node, accept, hold, desired
        self._warnings = Warnings(node)
        self._status = node.create_publisher(DiagnosticStatus, "~/status", 10)
        self._actions: dict[str, Any] = {}

    def serve(self, controller: Controller) -> None:
        """Take trajectories for a controller from now on."""
        name = controller.name
        if FollowAction is not None:
            self._actions[name] = FollowAction(
                self._node,
                controller,
                partial(self._accept, name),
                partial(self._hold, name),
                partial(self._desired, name),
            )
        self._node.create_subscription(JointTrajectory, f"{name}/joint_trajectory", partial(self._received, name), 10)

    def ended(self, controller: str, ending: Ending) -> None:
        """Tell how a trajectory ended; from any thread."""
        if controller in self._actions:
            self._actions[controller].ended(ending)
        if ending.how in (TrajectoryEnd.PATH_TOLERANCE, TrajectoryEnd.GOAL_TOLERANCE):
            self._node.get_logger().warning(f"{controller}: {ending.reason}")
            self._report(DiagnosticStatus.ERROR, ending.reason, controller, ending.how.name)

    def _received(self, controller: str, message: JointTrajectory) -> None:
        try:
            stamp = convert.seconds(message.header.stamp)
            self._accept(controller, convert.trajectory_from(message), stamp, None)
        except IkSolverError as error:
            cause = f"{controller} {type(error).__name__} {getattr(error, 'joint', '')} {str(error)[:20]}"
            self._warnings.warn(cause, f"{controller}: trajectory refused, the arm goes on as it was: {error}")
            self._report(DiagnosticStatus.ERROR, f"trajectory refused: {error}", controller, "REFUSED")
        else:
            self._report(DiagnosticStatus.OK, "trajectory accepted", controller, "ACCEPTED")

    def _report(self, level: bytes, message: str, controller: str, outcome: str) -> None:
        name = f"{self._node.get_name()}: {controller}"
        self._status.publish(convert.status_msg(level, name, message, outcome=outcome))
