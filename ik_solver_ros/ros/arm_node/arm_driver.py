"""ArmDriver: an arm and its controllers on ROS, from the moment the robot is known."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from ik_solver_ros.arm.base import Reading
from ik_solver_ros.control.late_followers import LateFollowers
from ik_solver_ros.control.servo_cycle import ServoCycle
from ik_solver_ros.control.tolerances import Tolerances
from ik_solver_ros.errors import IkSolverError
from ik_solver_ros.ros.arm_node.controllers import Controller
from ik_solver_ros.ros.arm_node.trajectory_input import TrajectoryInput
from ik_solver_ros.ros.common.health import Tell
from ik_solver_ros.ros.common.spin import shut_down
from ik_solver_ros.ros.common.steady_clock import SteadyClock
from ik_solver_ros.trajectory.trajectory import State, Trajectory

JOIN_WITHIN = 5.0  # [s] that the thread has to end


class ArmDriver(ABC):
    """Takes trajectories by topic and action, leads the arm in a thread of its own, and publishes joint_states."""

    summary: str  # for the log: what is driven, after the robot's name
    fatal: str  # what an error in the thread means

    def __init__(
        self,
        node: Node,
        steady: SteadyClock,
        joint_names: Sequence[str],
        controllers: Sequence[Controller],
        followed: LateFollowers | ServoCycle,
    ) -> None:
        """joint_names: the arm's, which joint_states are of. Nothing is led before `start`."""
        self.controllers = controllers
        self._node, self._steady, self._followed = node, steady, followed
        self._joint_names = list(joint_names)
        self._lock = threading.Lock()  # guards `followed`: callbacks and the thread take it for a moment
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="arm", daemon=True)
        self._states = node.create_publisher(JointState, "joint_states", 10)
        self._input = TrajectoryInput(node, controllers, self)
        node.create_service(Trigger, "~/hold", self._on_hold)

    @abstractmethod
    def lead(self) -> None:
        """Lead the arm while `going_on`, in the thread."""

    @abstractmethod
    def examine(self, tell: Tell) -> None:
        """Tell how the arm is."""

    @abstractmethod
    def close(self) -> None:
        """Leave the arm, which nobody leads any more."""

    def start(self) -> None:
        """Lead the arm from now on."""
        self._thread.start()

    def end(self) -> None:
        """End the thread, and leave the arm."""
        self._ending.set()
        self._thread.join(timeout=JOIN_WITHIN)
        self.close()

    def going_on(self) -> bool:
        """Whether the arm is still to be led."""
        return not self._ending.is_set() and bool(self._node.context.ok())

    # Trajectories, from any thread

    def accept(self, controller: str, trajectory: Trajectory, stamp: float, tolerances: Tolerances | None) -> int:
        """Take a trajectory that starts at `stamp` [s of the ROS clock; 0: at once], for its number.

        Raises TrajectoryError for what is refused.
        """
        start = None if stamp == 0.0 else self._steady.moment(stamp)
        with self._lock:
            return self._followed.accept(controller, trajectory, self._steady.now(), start, tolerances)

    def hold(self, controller: str = "") -> None:
        """Bring a controller's joints to rest, or all where none is named."""
        with self._lock:
            self._followed.hold(self._steady.now(), controller)

    def setpoint(self, controller: str) -> State:
        """Where a controller's joints are led now."""
        with self._lock:
            return self._followed.setpoint(controller, self._steady.now())

    def _on_hold(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.hold()
        response.success, response.message = True, "holding"
        return response

    # The thread

    def _run(self) -> None:
        try:
            self.lead()
        except IkSolverError as error:
            self._node.get_logger().fatal(f"{self.fatal}: {error}")
            shut_down(self._node.context)

    def _joint_state(self, reading: Reading) -> JointState:
        message = JointState(
            name=self._joint_names, position=reading.positions.tolist(), velocity=reading.velocities.tolist()
        )
        message.header.stamp = self._node.get_clock().now().to_msg()
        return message

    def _publish(self, publisher: Any, message: Any) -> None:
        try:
            publisher.publish(message)
        except Exception:  # the context may be shut down at any moment
            if self._node.context.ok():
                raise
