"""The recorder: a node that only listens, and writes what it hears into a file."""

from __future__ import annotations

import time
from pathlib import Path

import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Point, PointStamped, PoseArray, PoseStamped
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from ik_solver_ros.control.run_record import Recorder
from ik_solver_ros.errors import IkSolverError
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.common.description import when_described
from ik_solver_ros.ros.common.parameters import DESCRIPTION_PARAMS, declare
from ik_solver_ros.ros.common.spin import shut_down


class RecordNode(Node):
    """Listens to joint_states, joint_trajectory_controller/joint_trajectory and the nodes' status."""

    def __init__(self, recorder: Recorder, parameters: dict[str, str]) -> None:
        overrides = [rclpy.Parameter(name, value=text) for name, text in parameters.items() if text]
        super().__init__("record", parameter_overrides=overrides)
        declare(self, DESCRIPTION_PARAMS)
        self._recorder = recorder
        self._known = False
        when_described(self, self._use)

    def _use(self, chain: Chain) -> None:
        if self._known:
            return
        self._known = True
        self._recorder.robot(chain)
        self.create_subscription(JointState, "joint_states", self._on_states, qos_profile_sensor_data)
        self.create_subscription(
            JointTrajectory, "joint_trajectory_controller/joint_trajectory", self._on_trajectory, 100
        )
        self._base = chain.base_link
        self.create_subscription(PoseStamped, "goal_pose", self._on_goal, 10)
        self.create_subscription(PointStamped, "clicked_point", self._on_point, 10)
        self.create_subscription(PoseArray, "goal_path", self._on_path, 10)
        for source in ("ik_node", "sim_node", "servo_node"):
            self.create_subscription(
                DiagnosticStatus,
                f"{source}/status",
                lambda message, source=source: self._on_status(source, message),
                100,
            )

    def _now(self) -> float:
        return float(self.get_clock().now().nanoseconds * 1e-9)

    def _on_states(self, message: JointState) -> None:
        t = convert.seconds(message.header.stamp) or self._now()
        self._recorder.state(t, list(message.name), message.position.tolist(), message.velocity.tolist())

    def _on_trajectory(self, message: JointTrajectory) -> None:
        try:
            trajectory = convert.trajectory_from(message)
        except IkSolverError as error:
            self._recorder.event(self._now(), "record", "MALFORMED", str(error))
            return
        self._recorder.trajectory(self._now(), convert.seconds(message.header.stamp), trajectory)

    def _on_goal(self, message: PoseStamped) -> None:
        self._note_goal(message.header.frame_id, [message.pose.position])

    def _on_point(self, message: PointStamped) -> None:
        self._note_goal(message.header.frame_id, [message.point])

    def _on_path(self, message: PoseArray) -> None:
        self._note_goal(message.header.frame_id, [pose.position for pose in message.poses])

    def _note_goal(self, frame: str, points: list[Point]) -> None:
        if frame.removeprefix("/") in ("", self._base):  # of other frames no film is drawn
            self._recorder.goal(self._now(), [[p.x, p.y, p.z] for p in points])

    def _on_status(self, source: str, message: DiagnosticStatus) -> None:
        outcome = next((pair.value for pair in message.values if pair.key == "outcome"), "")
        self._recorder.event(self._now(), source, outcome, message.message)


def record(path: Path, seconds: float | None, parameters: dict[str, str]) -> int:
    """Record until interrupted, or for so many seconds. Returns the number of lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rclpy.init()
    with path.open("w", encoding="utf-8") as file:
        recorder = Recorder(file)
        node = RecordNode(recorder, parameters)
        deadline = None if seconds is None else time.monotonic() + seconds
        try:
            while deadline is None or time.monotonic() < deadline:
                rclpy.spin_once(node, timeout_sec=0.2)
        except (KeyboardInterrupt, ExternalShutdownException):
            pass
        node.destroy_node()
        shut_down()
    return recorder.lines
