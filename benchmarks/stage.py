"""An ik_node in a process of its own, and a peer that sends it goals."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from ik_solver_ros.ros.common.qos import READ_STATUS_QOS
from ik_solver_ros.ros.processes import NodeProcess
from ik_solver_ros.share import share_dir

URDF = share_dir() / "urdf" / "so101.urdf"


class Peer(Node):
    """Publishes goals and joint_states, and notes when trajectories and answers come."""

    def __init__(self) -> None:
        super().__init__("bench")
        self.goals = self.create_publisher(PoseStamped, "goal_pose", 10)
        self.states = self.create_publisher(JointState, "joint_states", 10)
        self.arrivals: list[float] = []
        self.answers: list[DiagnosticStatus] = []
        topic = "joint_trajectory_controller/joint_trajectory"
        self.create_subscription(JointTrajectory, topic, lambda _: self.arrivals.append(time.perf_counter()), 10)
        self.create_subscription(DiagnosticStatus, "ik_node/status", self.answers.append, READ_STATUS_QOS)

    def until(self, condition, seconds: float = 120.0) -> bool:
        """Spin until `condition` is true; False where that takes too long."""
        deadline = time.perf_counter() + seconds
        while not condition():
            if time.perf_counter() > deadline:
                return False
            rclpy.spin_once(self, timeout_sec=0.01)
        return True


@contextmanager
def peer() -> Iterator[Peer]:
    """A Peer in a context of its own."""
    rclpy.init()
    node = Peer()
    try:
        yield node
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


@contextmanager
def ik_node(**parameters) -> Iterator[NodeProcess]:
    """An ik_node for the SO-101-like arm."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        NodeProcess("ik_node", Path(scratch) / "ik.log", {"description_file": str(URDF)} | parameters) as process,
    ):
        yield process


def joint_state(chain, q) -> JointState:
    return JointState(name=list(chain.joint_names), position=[float(x) for x in q])
