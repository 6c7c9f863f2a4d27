"""ArmClient: move an arm from a script. It needs ik_node, and sim_node, servo_node or ros2_control.

with ArmClient() as arm:
    arm.move_to((0.2, 0.0, 0.1), direction=(0, 0, -1))
    arm.gripper(0.0)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PointStamped, Pose, PoseArray, PoseStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from ik_solver_ros.errors import (
    ArmTimeoutError,
    GoalError,
    GoalMissedError,
    GoalRefusedError,
    GoalReplacedError,
    listed,
)
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.common.qos import READ_STATUS_QOS
from ik_solver_ros.ros.common.spin import shut_down
from ik_solver_ros.session.outcome import Outcome
from ik_solver_ros.solvers.goal import finite_vector
from ik_solver_ros.trajectory.trajectory import Trajectory

ERRORS = {Outcome.MISSED: GoalMissedError, Outcome.REPLACED: GoalReplacedError}
STILL = 1e-3  # [rad or m] by which joints at rest may tremble
STILL_FOR = 0.25  # [s] without more than that a joint is at rest


class Answer(NamedTuple):
    """What ik_node made of a goal."""

    goal_id: int
    outcome: str  # the name of an Outcome: REACHED, NEAREST_ORIENTATION, NEAREST_POSITION, PATH, PARTIAL_PATH
    sentence: str
    values: dict[str, str]  # position_error_m, approach_error_rad, roll_error_rad, motion_time_s, ...

    @property
    def reached(self) -> bool:
        """Whether the goal is reached as it was meant."""
        return Outcome[self.outcome].is_full


class ArmClient:
    """Every call returns when the arm is there, unless wait=False. Not thread-safe."""

    def __init__(self, namespace: str = "", *, gripper: str = "gripper", timeout: float = 30.0) -> None:
        """namespace: of the arm's nodes. gripper: its joint. timeout [s]: for a node to answer, and for a motion to
        end beyond what it says it takes. Raises ArmTimeoutError where there is no ik_node.
        """
        self._own_context = not rclpy.ok()
        if self._own_context:
            rclpy.init()
        self.timeout, self._gripper = timeout, gripper
        self._node = Node("arm_client", namespace=namespace)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._states: JointState | None = None
        self._said: list[tuple[str, dict[str, str]]] = []
        make = self._node.create_publisher
        self._goals = {
            "goal_pose": make(PoseStamped, "goal_pose", 1),
            "goal_approach": make(PoseStamped, "goal_approach", 1),
            "clicked_point": make(PointStamped, "clicked_point", 1),
            "goal_path": make(PoseArray, "goal_path", 1),
        }
        self._fingers = make(JointTrajectory, "gripper_controller/joint_trajectory", 1)
        self._node.create_subscription(JointState, "joint_states", self._on_states, qos_profile_sensor_data)
        self._node.create_subscription(DiagnosticStatus, "ik_node/status", self._on_status, READ_STATUS_QOS)
        try:
            listening = "ik_node does not listen to goals; is it running, in this namespace and ROS_DOMAIN_ID?"
            self._until(lambda: all(p.get_subscription_count() for p in self._goals.values()), listening)
            self._until(lambda: self._states is not None, "there are no joint_states; does the arm run?")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Leave; the arm goes on with what it does."""
        self._executor.shutdown()
        self._node.destroy_node()
        if self._own_context:
            shut_down()

    def __enter__(self) -> ArmClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def joints(self) -> dict[str, float]:
        """All joints as measured last [rad or m]. Raises ArmTimeoutError where they are silent."""
        self._states = None
        self._until(lambda: self._states is not None, "joint_states are silent")
        assert self._states is not None
        return dict(zip(self._states.name, self._states.position))

    def move_to(
        self,
        position: npt.ArrayLike,
        direction: npt.ArrayLike | None = None,
        quat_xyzw: npt.ArrayLike | None = None,
        *,
        frame: str = "",
        wait: bool = True,
    ) -> Answer:
        """The tip to a position (3,) [m]: any way round, or with the tool along `direction` (3,), or turned as
        `quat_xyzw` (4,) says (of which counts what ik_node's goal_mode says). frame: empty is base_link.

        Raises GoalError, GoalRefusedError, GoalMissedError, GoalReplacedError and ArmTimeoutError. A goal out of
        reach is no error: see the answer's `reached` and `sentence`, and ik_node's `on_unreachable`.
        """
        at = finite_vector("position", position, 3)
        if direction is not None and quat_xyzw is not None:
            raise GoalError("direction", direction, "either a direction or a quat_xyzw is wanted, not both")
        if direction is not None:
            return self._send("goal_approach", PoseStamped(pose=_pose(at, _along(direction))), frame, wait)
        if quat_xyzw is not None:
            return self._send(
                "goal_pose", PoseStamped(pose=_pose(at, finite_vector("quat_xyzw", quat_xyzw, 4))), frame, wait
            )
        message = PointStamped()
        message.point.x, message.point.y, message.point.z = at.tolist()
        return self._send("clicked_point", message, frame, wait)

    def follow_path(
        self,
        positions: Sequence[npt.ArrayLike],
        quats_xyzw: Sequence[npt.ArrayLike],
        *,
        frame: str = "",
        wait: bool = True,
    ) -> Answer:
        """Straight lines from pose to pose: (m, 3) [m] and (m, 4). Raises as move_to does."""
        if len(positions) != len(quats_xyzw):
            raise GoalError("quats_xyzw", len(quats_xyzw), f"one for each of the {len(positions)} positions is wanted")
        poses = [
            _pose(finite_vector("positions", p, 3), finite_vector("quats_xyzw", q, 4))
            for p, q in zip(positions, quats_xyzw)
        ]
        return self._send("goal_path", PoseArray(poses=poses), frame, wait)

    def wait(self, answer: Answer) -> None:
        """Until a goal was executed. Raises GoalMissedError, GoalReplacedError, ArmTimeoutError."""

        def ended() -> tuple[str, Outcome] | None:
            for sentence, values in self._said:
                if values.get("goal_id") == str(answer.goal_id) and (outcome := Outcome[values["outcome"]]).is_end:
                    return sentence, outcome
            return None

        motion = float(answer.values.get("motion_time_s", 0.0))
        sentence, outcome = self._until(ended, f"goal {answer.goal_id} did not come to its end", motion)
        if outcome in ERRORS:
            raise ERRORS[outcome](f"goal {answer.goal_id}: {sentence}")

    def home(self) -> None:
        """To ik_node's home, and until the arm rests. Raises GoalRefusedError, ArmTimeoutError."""
        self._call("home")
        self._until_still()

    def hold(self) -> None:
        """Come to rest now. Raises GoalRefusedError, ArmTimeoutError."""
        self._call("hold")
        self._until_still()

    def gripper(self, position: float, seconds: float = 1.0) -> float:
        """Move the gripper's joint; returns where it is in the end [rad or m]: short of it where it holds something.

        Raises GoalError where there is no such joint, ArmTimeoutError.
        """
        if self._gripper not in self.joints:
            raise GoalError("gripper", self._gripper, f"one of the arm's joints is wanted: {listed(self.joints)}")
        target = finite_vector("position", [position], 1)
        trajectory = Trajectory((self._gripper,), np.array([seconds]), target[None, :], np.zeros((1, 1)))
        nobody = "nobody listens to gripper_controller/joint_trajectory"
        self._until(lambda: self._fingers.get_subscription_count(), nobody)
        self._fingers.publish(convert.trajectory_msg(trajectory, None))
        self._spin(0.9 * seconds)
        self._until_still()
        return self.joints[self._gripper]

    def _send(self, topic: str, message: Any, frame: str, wait: bool) -> Answer:
        message.header.frame_id = frame
        message.header.stamp = stamp = self._node.get_clock().now().to_msg()
        mark = convert.stamp_text(stamp)
        self._said.clear()
        self._goals[topic].publish(message)

        def answered() -> tuple[str, dict[str, str]] | None:
            return next((said for said in self._said if said[1].get("goal_stamp") == mark), None)

        sentence, values = self._until(answered, "ik_node does not answer a goal")
        if values["outcome"] == Outcome.REFUSED.name:
            raise GoalRefusedError(sentence)
        answer = Answer(int(values["goal_id"]), values["outcome"], sentence, values)
        if wait:
            self.wait(answer)
        return answer

    def _call(self, service: str) -> None:
        client = self._node.create_client(Trigger, f"ik_node/{service}")
        self._until(client.service_is_ready, f"ik_node has no service {service}")
        future = client.call_async(Trigger.Request())
        self._until(future.done, f"ik_node does not answer {service}")
        response = future.result()
        if not response.success:
            raise GoalRefusedError(response.message)

    def _until_still(self) -> None:
        """Until no joint moves any more."""
        since, before = time.monotonic(), self.joints
        deadline = since + self.timeout
        while time.monotonic() - since < STILL_FOR:
            now = self.joints
            if any(abs(now[name] - before.get(name, np.inf)) > STILL for name in now):
                since, before = time.monotonic(), now
            if time.monotonic() > deadline:
                raise ArmTimeoutError(f"the arm did not come to rest within {self.timeout:g} s")

    def _until(self, condition: Callable[[], Any], otherwise: str, longer: float = 0.0) -> Any:
        deadline = time.monotonic() + self.timeout + longer
        while not (result := condition()):
            if time.monotonic() > deadline:
                raise ArmTimeoutError(f"{otherwise} (waited for {self.timeout + longer:.3g} s)")
            self._executor.spin_once(timeout_sec=0.05)
        return result

    def _spin(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=left)

    def _on_states(self, message: JointState) -> None:
        self._states = message

    def _on_status(self, message: DiagnosticStatus) -> None:
        self._said.append((message.message, {pair.key: pair.value for pair in message.values}))


def _along(direction: npt.ArrayLike) -> np.ndarray:
    """A quaternion whose x axis points along a direction."""
    wanted = finite_vector("direction", direction, 3)
    if not np.linalg.norm(wanted) > 1e-9:
        raise GoalError("direction", direction, "a direction other than zero is wanted")
    turn, _ = Rotation.align_vectors([wanted], [[1.0, 0.0, 0.0]])
    return np.asarray(turn.as_quat())


def _pose(position: np.ndarray, quat_xyzw: np.ndarray) -> Pose:
    pose: Pose = convert.pose_msg(position, quat_xyzw, "", convert.time_msg(0.0)).pose
    return pose
