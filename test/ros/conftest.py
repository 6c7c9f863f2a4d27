"""A node of our own to talk to the nodes under test, over real DDS, each in a namespace of its own."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PointStamped, PoseArray, PoseStamped, TwistStamped
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.processes import NodeProcess

URDF = Path(__file__).parents[2] / "urdf"
FOLLOWER = "joint_trajectory_controller/joint_trajectory"
GRIPPER = "gripper_controller/joint_trajectory"
OK = DiagnosticStatus.OK
_numbers = itertools.count()


@pytest.fixture(scope="session", autouse=True)
def ros():
    rclpy.init()
    yield
    rclpy.try_shutdown()


class Peer(Node):
    """Publishes what a test tells it to, and remembers all it hears."""

    def __init__(self, namespace: str) -> None:
        super().__init__("peer", namespace=namespace)
        self.states: list[JointState] = []
        self.tips: list[PoseStamped] = []
        self.trajectories: list[JointTrajectory] = []
        self.answers: list[DiagnosticStatus] = []
        self.accounts: list[dict[str, str]] = []  # of goals that were executed or replaced
        self.reports: list[DiagnosticStatus] = []
        self.create_subscription(JointState, "joint_states", self.states.append, qos_profile_sensor_data)
        self.create_subscription(PoseStamped, "sim_node/tip_pose", self.tips.append, qos_profile_sensor_data)
        self.create_subscription(JointTrajectory, FOLLOWER, self.trajectories.append, 10)
        self.create_subscription(DiagnosticStatus, "ik_node/status", self._on_status, 100)
        for node in ("sim_node", "servo_node"):
            self.create_subscription(DiagnosticStatus, f"{node}/status", self.reports.append, 10)
        self.diagnostics: list[DiagnosticArray] = []
        self.create_subscription(DiagnosticArray, "/diagnostics", self.diagnostics.append, 10)
        self.goal = self.create_publisher(PoseStamped, "goal_pose", 10)
        self.point = self.create_publisher(PointStamped, "clicked_point", 10)
        self.joint_states = self.create_publisher(JointState, "joint_states", 10)
        self.follower = self.create_publisher(JointTrajectory, FOLLOWER, 10)
        self.gripper = self.create_publisher(JointTrajectory, GRIPPER, 10)
        self.path = self.create_publisher(PoseArray, "goal_path", 10)
        self.twist = self.create_publisher(TwistStamped, "ik_node/delta_twist_cmds", 10)

    def _on_status(self, message: DiagnosticStatus) -> None:
        known = {pair.key: pair.value for pair in message.values}
        if known.get("outcome") in ("EXECUTED", "MISSED", "REPLACED"):
            self.accounts.append(known)
        else:
            self.answers.append(message)

    def until(self, condition, seconds: float = 60.0):
        """Spin until `condition` is true and return it; fail where it never is."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if result := condition():
                return result
            rclpy.spin_once(self, timeout_sec=0.02)
        raise AssertionError(f"nothing happened within {seconds} s")

    def spin(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            rclpy.spin_once(self, timeout_sec=0.01)

    def call(self, service: str, data: bool | None = None) -> Trigger.Response | SetBool.Response:
        """Call a service that takes nothing, or one that takes a bool."""
        client = self.create_client(Trigger if data is None else SetBool, service)
        assert client.wait_for_service(30.0)
        future = client.call_async(Trigger.Request() if data is None else SetBool.Request(data=data))
        self.until(future.done)
        return future.result()

    def send_goal(self, position, quat_xyzw=(0.0, 0.0, 0.0, 1.0), frame: str = "base_link") -> DiagnosticStatus:
        """Publish a goal_pose and return ik_node's answer."""
        return self.answered(self.goal, convert.pose_msg(position, quat_xyzw, frame, self.get_clock().now().to_msg()))

    def answered(self, publisher, message) -> DiagnosticStatus:
        before = len(self.answers)
        publisher.publish(message)
        self.until(lambda: len(self.answers) > before)
        return self.answers[-1]

    def reported(self, publisher, message) -> DiagnosticStatus:
        """Publish a trajectory and return sim_node's answer."""
        before = len(self.reports)
        publisher.publish(message)
        self.until(lambda: len(self.reports) > before)
        return self.reports[-1]

    def latest(self) -> dict[str, float]:
        """The joints as published last."""
        return dict(zip(self.states[-1].name, self.states[-1].position))


def values(status: DiagnosticStatus) -> dict[str, str]:
    return {pair.key: pair.value for pair in status.values}


class Stage:
    """Starts nodes in one namespace, and ends them."""

    def __init__(self, directory: Path) -> None:
        self.namespace = f"/t{next(_numbers)}"
        self.directory = directory
        self.peer = Peer(self.namespace)
        self.processes: list[NodeProcess] = []

    def start(self, node: str, **parameters) -> NodeProcess:
        process = NodeProcess(node, self.directory / f"{node}.log", parameters, f"__ns:={self.namespace}")
        self.processes.append(process)
        return process

    def start_ik(self, **parameters) -> NodeProcess:
        process = self.start("ik_node", **{"description_file": str(URDF / "so101.urdf")} | parameters)
        peer = self.peer
        self.wait(lambda: "ready for goals" in process.log.read_text(), process)
        self.wait(lambda: peer.goal.get_subscription_count() and peer.count_publishers("ik_node/status"), process)
        # The peer hears joint_states itself; the other one who does is ik_node.
        self.wait(lambda: peer.joint_states.get_subscription_count() > 1, process)
        if len(self.processes) > 1:  # an arm publishes joint_states: wait until ik_node hears them
            name = f"{self.namespace.lstrip('/')}/ik_node: goals"
            self.wait(
                lambda: any(s.name == name and s.level == OK for a in peer.diagnostics for s in a.status), process
            )
        peer.spin(0.3)
        return process

    def start_sim(self, **parameters) -> NodeProcess:
        process = self.start("sim_node", **{"description_file": str(URDF / "so101.urdf")} | parameters)
        peer = self.peer
        self.wait(lambda: peer.states and peer.tips, process)
        self.wait(lambda: peer.follower.get_subscription_count() and peer.count_publishers("sim_node/status"), process)
        peer.spin(0.3)
        return process

    def start_servos(self, **parameters) -> NodeProcess:
        emulated = {"description_file": str(URDF / "so101.urdf"), "protocol": "emulated:feetech"}
        process = self.start("servo_node", **emulated | parameters)
        peer = self.peer
        self.wait(lambda: bool(peer.states), process)
        self.wait(
            lambda: peer.follower.get_subscription_count() and peer.count_publishers("servo_node/status"), process
        )
        peer.spin(0.3)
        return process

    def wait(self, condition, process: NodeProcess) -> None:
        def checked():
            process.check()
            return condition()

        self.peer.until(checked, 120.0)

    def stop(self) -> None:
        for process in self.processes:
            process.stop()
            print(
                f"{process.node} said:\n{process.log.read_text(errors='replace')[-4000:]}"
            )  # shown where a test fails
        self.peer.destroy_node()


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    stage = Stage(tmp_path_factory.mktemp("stage"))
    yield stage
    stage.stop()


@pytest.fixture
def fresh_stage(tmp_path):
    stage = Stage(tmp_path)
    yield stage
    stage.stop()
