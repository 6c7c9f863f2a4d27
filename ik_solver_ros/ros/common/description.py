"""Where a node gets its robot from: a parameter, a file, or the topic robot_description, in this order."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from std_msgs.msg import String

from ik_solver_ros.errors import IkSolverError
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common.parameters import value
from ik_solver_ros.ros.common.qos import LATCHED_QOS


def when_described(node: Node, use: Callable[[Chain], None]) -> None:
    """Call `use` with the chain: at once where a parameter has the robot, else for each new robot_description.

    Raises UrdfError, GoalError or OSError where description_file or the names are wrong. A bad robot_description,
    parameter or message, is logged, and the topic's next one is waited for.
    """
    last, accepted = "", False

    def received(message: String) -> None:
        nonlocal last, accepted
        if message.data == last:
            return
        last = message.data
        try:
            use(_load(node, message.data))
            accepted = True
        except IkSolverError as error:
            node.get_logger().error(f"robot_description refused: {error}")

    text, file = value(node, "robot_description"), value(node, "description_file")
    if text:
        received(String(data=text))
        if accepted:
            return
    elif file:
        use(_load(node, file))
        return
    node.create_subscription(String, "robot_description", received, LATCHED_QOS)
    node.get_logger().info("waiting for the robot on the topic robot_description")


def _load(node: Node, source: str) -> Chain:
    return load_chain(
        source,
        value(node, "base_link") or None,
        value(node, "tip_link") or None,
        value(node, "tool_axis") or None,
    )
