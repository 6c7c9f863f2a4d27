"""The demonstration's side of ROS: goals go out, ik_node's answers and what is measured of the arm come in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.common.qos import STATUS_QOS

TRAJECTORIES = "joint_trajectory_controller/joint_trajectory"


class Judge(Node):
    """Sends one goal at a time, and tells its answer by the stamp that ik_node repeats."""

    def __init__(self, driver: str) -> None:
        """driver: the node that moves the arm."""
        super().__init__("demo")
        self.joints: dict[str, float] = {}  # as measured last, by name [rad or m]
        self.answer: dict[str, str] = {}  # to the goal sent last: `message`, and the values of the status
        self._accepted = False  # whether the driver has answered the motion to that goal
        self._tip: PoseStamped | None = None
        self._goal_stamp = ""
        self._goals = self.create_publisher(PoseStamped, "goal_pose", 10)
        self._answers = self.create_subscription(DiagnosticStatus, "ik_node/status", self._on_answer, STATUS_QOS)
        self._reports = self.create_subscription(DiagnosticStatus, f"{driver}/status", self._on_report, 10)
        self.create_subscription(PoseStamped, f"{driver}/tip_pose", self._on_tip, qos_profile_sensor_data)
        self.create_subscription(JointState, "joint_states", self._on_joints, qos_profile_sensor_data)

    @property
    def connected(self) -> bool:
        """Whether all that must find each other has: the goal's way to the arm, and the answers' way back."""
        return (
            self._goals.get_subscription_count() > 0
            and self._answers.get_publisher_count() > 0
            and self._reports.get_publisher_count() > 0
            and bool(self.joints)
            and self.count_publishers(TRAJECTORIES) > 0
            and self.count_subscribers(TRAJECTORIES) > 0
            and self.count_subscribers("joint_states") > 1
        )

    @property
    def answered(self) -> bool:
        """Whether ik_node has answered the goal sent last, and the driver the motion to it."""
        return bool(self.answer) and self._accepted

    def tip(self) -> tuple[Array, Array] | None:
        """Position (3,) [m] and quaternion (4,) xyzw of the tip in base_link; None before they are measured."""
        if self._tip is None:
            return None
        pose = self._tip.pose
        return np.array(convert.position_of(pose)), np.array(convert.quaternion_of(pose))

    def send(self, position: Array, quat_xyzw: Array, frame_id: str) -> None:
        """Publish a goal for the tip: position (3,) [m], quaternion (4,) xyzw."""
        now = self.get_clock().now().to_msg()
        self._goal_stamp, self.answer, self._accepted = convert.stamp_text(now), {}, False
        self._goals.publish(convert.pose_msg(position, quat_xyzw, frame_id, now))

    def listen(self, seconds: float) -> None:
        """Hear the next message, if one comes within `seconds`."""
        rclpy.spin_once(self, timeout_sec=seconds)

    def _on_tip(self, message: PoseStamped) -> None:
        self._tip = message

    def _on_joints(self, message: JointState) -> None:
        self.joints = dict(zip(message.name, message.position))

    def _on_answer(self, message: DiagnosticStatus) -> None:
        values = {pair.key: pair.value for pair in message.values}
        if values.get("goal_stamp") == self._goal_stamp:
            self.answer = {"message": message.message} | values

    def _on_report(self, _: DiagnosticStatus) -> None:
        self._accepted = True


@contextmanager
def judge(driver: str) -> Iterator[Judge]:
    """A Judge in a context of its own; signals stay the caller's."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = Judge(driver)
        yield node
        node.destroy_node()
    finally:
        rclpy.try_shutdown()
