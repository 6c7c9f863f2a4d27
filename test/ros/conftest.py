"""A node of our own to talk to the nodes under test, over real DDS, each in a namespace of its own."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PointStamped, PoseArray, PoseStamped, TwistStamped
from rcl_interfaces.srv import SetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.common.qos import READ_STATUS_QOS
from ik_solver_ros.ros.processes import NodeProcess
from ik_solver_ros.session.outcome import Outcome

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
        self.ends: list[dict[str, str]] = []  # of goals that were accepted
        self.reports: list[DiagnosticStatus] = []
        self.diagnostics: list[DiagnosticArray] = []
        self.processes: list[NodeProcess] = []  # of the nodes that it talks to
        self.create_subscription(JointState, "joint_states", self.states.append, qos_profile_sensor_data)
        self.create_subscription(PoseStamped, "sim_node/tip_pose", self.tips.append, qos_profile_sensor_data)
        self.create_subscription(JointTrajectory, FOLLOWER, self.trajectories.append, 100)
        self.create_subscription(DiagnosticStatus, "ik_node/status", self._on_status, READ_STATUS_QOS)
        for node in ("sim_node", "servo_node"):
            self.create_subscription(DiagnosticStatus, f"{node}/status", self.reports.append, READ_STATUS_QOS)
        self.create_subscription(DiagnosticArray, "/diagnostics", self.diagnostics.append, 10)
        self.goal = self.create_publisher(PoseStamped, "goal_pose", 10)
        self.point = self.create_publisher(PointStamped, "clicked_point", 10)
        self.joint_states = self.create_publisher(JointState, "joint_states", 10)
        self.follower = self.create_publisher(JointTrajectory, FOLLOWER, 10)
        self.gripper = self.create_publisher(JointTrajectory, GRIPPER, 10)
        self.path = self.create_publisher(PoseArray, "goal_path", 10)
        self.twist = self.create_publisher(TwistStamped, "ik_node/delta_twist_cmds", 10)
        self.arm = JointState()  # what `stream` publishes
        self._streaming = self.create_timer(0.02, lambda: self.joint_states.publish(self.arm))
        self._streaming.cancel()

    def _on_status(self, message: DiagnosticStatus) -> None:
        known = values(message)
        if Outcome[known["outcome"]].is_end:
            self.ends.append(known)
        else:
            self.answers.append(message)

    def stream(self, names: Sequence[str], positions: Sequence[float]) -> None:
        """Be an arm that stands still: publish its joint_states while we spin."""
        self.arm = JointState(name=["extra", *names], position=[7.0, *map(float, positions)])
        self._streaming.reset()

    def silence(self) -> None:
        """Publish no more joint_states."""
        self._streaming.cancel()

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
        """Publish a goal, stamped, and return ik_node's answer to it."""
        stamp = message.header.stamp = self.get_clock().now().to_msg()
        mark = f"{stamp.sec}.{stamp.nanosec:09d}"
        self.until(publisher.get_subscription_count)
        publisher.publish(message)
        return self.until(lambda: next((a for a in self.answers if values(a).get("goal_stamp") == mark), None))

    def ended(self, answer: DiagnosticStatus) -> dict[str, str]:
        """The end of a goal that was answered."""
        goal_id = values(answer)["goal_id"]
        return self.until(lambda: next((end for end in self.ends if end["goal_id"] == goal_id), None))

    def sent(self, answer: DiagnosticStatus) -> JointTrajectory:
        """The trajectory of the goal that was answered last: by its duration, which the answer has."""
        duration = float(values(answer)["motion_time_s"])

        def found() -> JointTrajectory | None:
            lasts = ((t, t.points[-1].time_from_start) for t in reversed(self.trajectories))
            return next((t for t, last in lasts if abs(convert.seconds(last) - duration) < 1e-5 * (1 + duration)), None)

        return self.until(found)

    def diagnosed(self, condition) -> DiagnosticStatus:
        """Wait for a /diagnostics of these nodes, from now on, for which `condition` is true."""
        heard = len(self.diagnostics)
        return self.until(
            lambda: next((s for array in self.diagnostics[heard:] for s in array.status if condition(s)), None)
        )

    def reported(self, publisher, message) -> DiagnosticStatus:
        """Publish a trajectory and return sim_node's answer."""
        before = len(self.reports)
        publisher.publish(message)
        self.until(lambda: len(self.reports) > before)
        return self.reports[-1]

    def latest(self) -> dict[str, float]:
        """The joints as published last."""
        return dict(zip(self.states[-1].name, self.states[-1].position))


def set_parameter(peer, name, value):
    client = peer.create_client(SetParameters, "ik_node/set_parameters")
    assert client.wait_for_service(10.0)
    request = SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
    future = client.call_async(request)
    peer.until(future.done)
    return future.result().results[0]


def values(status: DiagnosticStatus) -> dict[str, str]:
    return {pair.key: pair.value for pair in status.values}


class Stage:
    """Starts nodes in one namespace, and ends them."""

    def __init__(self, directory: Path) -> None:
        self.namespace = f"/t{next(_numbers)}"
        self.directory = directory
        self.peer = Peer(self.namespace)
        self.processes: list[NodeProcess] = []
        self.peer.processes = self.processes

    def start(self, node: str, **parameters) -> NodeProcess:
        process = NodeProcess(node, self.directory / f"{node}.log", parameters, f"__ns:={self.namespace}")
        self.processes.append(process)
        return process

    def start_ik(self, **parameters) -> NodeProcess:
        process = self.start("ik_node", **{"description_file": str(URDF / "so101.urdf")} | parameters)
        peer = self.peer
        self.wait(lambda: "ready for goals" in process.log.read_text(), process)
        # What counts is whom ik_node has found: its readers of trajectories, and our publishers its readers.
        followers, name = str(len(self.processes)), f"{self.namespace.lstrip('/')}/ik_node: goals"
        seen = len(peer.diagnostics)

        def found() -> bool:
            said = [s for array in peer.diagnostics[seen:] for s in array.status if s.name == name]
            return any(values(s)["followers"] == followers and (followers == "1" or s.level == OK) for s in said)

        self.wait(found, process)
        publishers = (peer.goal, peer.point, peer.path, peer.twist)
        self.wait(lambda: all(p.get_subscription_count() for p in publishers), process)
        self.wait(lambda: peer.joint_states.get_subscription_count() > 1, process)  # one is the peer itself
        return process

    def start_sim(self, **parameters) -> NodeProcess:
        process = self.start("sim_node", **{"description_file": str(URDF / "so101.urdf")} | parameters)
        peer = self.peer
        self.wait(lambda: peer.states and peer.tips and peer.follower.get_subscription_count() > 1, process)
        return process

    def start_servos(self, **parameters) -> NodeProcess:
        emulated = {
            "description_file": str(URDF / "so101.urdf"),
            "protocol": "emulated:feetech",
            "emulation": "precise",
        }
        process = self.start("servo_node", **emulated | parameters)
        peer = self.peer
        self.wait(lambda: peer.states and peer.follower.get_subscription_count() > 1, process)
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
