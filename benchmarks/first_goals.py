"""Whether every goal is answered: single goals, each of a publisher that is new, to an ik_node that has just started.

Six more participants make discovery as busy as it is where several nodes start at once. A goal is sent when its
publisher has found ik_node's reader, and only then; how soon ik_node finds the reader of its answer is its own affair.
"""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import ExitStack

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from benchmarks.stage import URDF, ik_node, joint_state
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.common.qos import STATUS_QOS

STARTS, EACH, PEERS = 20, 10, 6
TRAJECTORIES = "joint_trajectory_controller/joint_trajectory"
WITHIN = 20.0  # [s] to be found, and to be answered
PEER = """
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from sensor_msgs.msg import JointState
rclpy.init()
node = rclpy.create_node("peer")
node.create_subscription(DiagnosticStatus, "ik_node/status", lambda _: None, 10)
node.create_subscription(JointState, "joint_states", lambda _: None, 10)
rclpy.spin(node)
"""


class Participant:
    """A node in a context, and so a DDS participant, of its own."""

    def __init__(self, name: str) -> None:
        self.context = Context()
        self.context.init()
        self.node = Node(name, context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)

    def until(self, condition) -> bool:
        deadline = time.monotonic() + WITHIN
        while not condition():
            if time.monotonic() > deadline:
                return False
            self.executor.spin_once(timeout_sec=0.02)
        return True

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()


def measure() -> None:
    chain = load_chain(URDF)
    pose = chain.forward(np.array([0.3, -0.4, 0.5, 0.6, 0.2]))
    outcomes: dict[str, int] = {}
    with ExitStack() as stack:
        for _ in range(PEERS):
            process = subprocess.Popen([sys.executable, "-c", PEER], stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        arm = stack.enter_context(Participant("arm"))
        states = arm.node.create_publisher(JointState, "joint_states", 10)
        arm.node.create_subscription(JointTrajectory, TRAJECTORIES, lambda _: None, 10)
        at_home = joint_state(chain, np.zeros(chain.n))
        for _ in range(STARTS):
            with ik_node():
                for number in range(EACH):
                    outcome = one_goal(number, chain, pose, lambda: states.publish(at_home))
                    outcomes[outcome] = outcomes.get(outcome, 0) + 1
    answered = sum(count for outcome, count in outcomes.items() if outcome in ("REACHED", "REFUSED"))
    print(f"{answered} of {STARTS * EACH} goals of fresh publishers answered by {STARTS} fresh ik_nodes: {outcomes}")


def one_goal(number: int, chain, pose, be_there) -> str:
    """Send one goal from a participant that is new; returns what became of it."""
    answers: list[dict[str, str]] = []

    def heard(message: DiagnosticStatus) -> None:
        answers.append({pair.key: pair.value for pair in message.values})

    with Participant(f"sender_{number}") as sender:
        goals = sender.node.create_publisher(PoseStamped, "goal_pose", 1)
        sender.node.create_subscription(DiagnosticStatus, "ik_node/status", heard, STATUS_QOS)

        def found() -> bool:
            be_there()
            return bool(goals.get_subscription_count())

        if not sender.until(found):
            return "ik_node not found"
        stamp = sender.node.get_clock().now().to_msg()
        goals.publish(convert.pose_msg(*pose, chain.base_link, stamp))
        mark = f"{stamp.sec}.{stamp.nanosec:09d}"

        def answered() -> bool:
            be_there()
            return any(answer.get("goal_stamp") == mark for answer in answers)

        if not sender.until(answered):
            return "no answer"
        return next(answer["outcome"] for answer in answers if answer.get("goal_stamp") == mark)
