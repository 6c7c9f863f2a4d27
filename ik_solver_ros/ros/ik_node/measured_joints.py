"""MeasuredJoints: where the joints are, by the newest joint_states."""

from __future__ import annotations

import time

from rclpy.node import Node
from sensor_msgs.msg import JointState

from ik_solver_ros.errors import GoalError
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.common.latest_message import LatestMessage
from ik_solver_ros.ros.common.parameters import value
from ik_solver_ros.session.reply import Joints


class MeasuredJoints:
    """Asks the middleware when it is asked itself: at rest, nobody is woken for joint_states."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._newest = LatestMessage(node, JointState, "joint_states")

    def of(self, chain: Chain) -> Joints:
        """The joints of a chain's robot. Raises GoalError where nobody says where they are, or not any more."""
        message, received = self._newest.take()
        if message is None:
            raise GoalError("joint_states", None, "none were received yet, so where the arm is is not known")
        age = time.time() - received  # the middleware stamps by the system's clock
        if age > value(self._node, "joint_states_timeout"):
            raise GoalError("joint_states", f"{age:.1f} s old", "the arm is silent, so where it is is not known")
        others = convert.other_positions(message, chain.model.joints)
        return Joints(convert.joint_positions(message, chain.joint_names), others)
