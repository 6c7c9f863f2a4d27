r"""sim_node: an arm in PyBullet (or the kinematic mock) that takes joint trajectories as ros2_control's controllers do.

joint_trajectory_controller/joint_trajectory -> follower of the chain's joints  \
    gripper_controller/joint_trajectory          -> follower of all other joints    -> arm -> joint_states, ~/tip_pose
"""

from __future__ import annotations

import sys
import threading
import time
from importlib.util import find_spec

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from ik_solver_ros.arm.base import Reading, SimulatedArm
from ik_solver_ros.arm.bullet import BulletArm
from ik_solver_ros.arm.mock import MockArm
from ik_solver_ros.control.follower import Ending, TrajectoryFollower
from ik_solver_ros.control.tolerances import Tolerances
from ik_solver_ros.errors import ArmError
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.ros.arm_node.controllers import PARAMS as CONTROLLER_PARAMS
from ik_solver_ros.ros.arm_node.controllers import controllers
from ik_solver_ros.ros.arm_node.trajectory_input import TrajectoryInput
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.common.description import when_described
from ik_solver_ros.ros.common.health import Health, Tell
from ik_solver_ros.ros.common.parameters import DESCRIPTION_PARAMS, FRAME_PREFIX, Param, declare, value, warn_of_unknown
from ik_solver_ros.ros.common.spin import run
from ik_solver_ros.ros.common.steady_clock import SteadyClock
from ik_solver_ros.ros.common.throttled_warnings import Warnings
from ik_solver_ros.trajectory.trajectory import State, Trajectory

PARAMS = (
    *DESCRIPTION_PARAMS,
    FRAME_PREFIX,
    Param(
        "backend",
        "auto",
        "what moves: physics, positions alone, or physics where PyBullet is installed",
        choices=("auto", "pybullet", "mock"),
    ),
    Param("gui", False, "show PyBullet's window"),
    Param("floor", True, "a ground plane at z = 0"),
    Param("publish_rate", 100.0, "[Hz] of joint_states and ~/tip_pose", 1.0, 240.0),
    Param("initial_positions", [], "of the chain's joints [rad or m]; empty: zero, or the limit nearest to it"),
    *CONTROLLER_PARAMS,
)

BEHIND = 0.05  # [s] that physics may be late by before steps are skipped


class SimNode(Node):
    """The node. Physics has a thread and a steady clock of its own; callbacks only hand trajectories over."""

    def __init__(self) -> None:
        super().__init__("sim_node")
        declare(self, PARAMS)
        self._steady = SteadyClock(self, self._on_jump)
        self._warnings = Warnings(self)
        self._lock = threading.Lock()  # guards the followers
        self._stop = threading.Event()
        self._followers: dict[str, tuple[TrajectoryFollower, list[int]]] = {}
        self._simulated = bool(self.get_parameter("use_sim_time").value)
        self._skipped_before = 0.0
        self._skipped = 0.0  # [s] of physics, as this machine is too slow
        self._physics = 0.0  # [s] on the steady clock that physics has come to
        self._thread: threading.Thread | None = None
        self._arm: SimulatedArm | None = None
        self._states = self.create_publisher(JointState, "joint_states", 10)
        self._tip = self.create_publisher(PoseStamped, "~/tip_pose", 10)
        self._input = TrajectoryInput(self, self._accept, self._hold, self._desired)
        Health(self, self._examine)
        when_described(self, self._use)

    def _use(self, chain: Chain) -> None:
        if self._arm is not None:
            self.get_logger().warning("another robot_description is ignored: restart sim_node to change the robot")
            return
        initial = value(self, "initial_positions")
        named = (
            dict(zip(chain.joint_names, chain.checked(initial, "initial_positions").tolist())) if len(initial) else {}
        )
        self._arm = arm = self._opened(chain, named)
        self._chain = chain
        self._base_frame = value(self, "frame_prefix") + chain.base_link
        positions = arm.read().positions
        for controller in controllers(self, chain, arm.joint_names):
            name = controller.name
            follower = controller.follower(positions)
            self._followers[name] = follower, controller.where
            self._input.serve(controller)
        self.create_service(Trigger, "~/hold", self._on_hold)
        self._thread = threading.Thread(target=self._run, name="physics", daemon=True)
        self._thread.start()
        groups_text = "; ".join(f"{name}: {', '.join(f.joint_names)}" for name, (f, _) in self._followers.items())
        warn_of_unknown(self)
        self.get_logger().info(f"ready: {chain.model.name} in {arm.name} ({groups_text})")

    def _opened(self, chain: Chain, initial: dict[str, float]) -> SimulatedArm:
        backend = value(self, "backend")
        if backend == "mock" or (backend == "auto" and find_spec("pybullet") is None):
            if backend == "auto":
                self.get_logger().warning("PyBullet is not installed: the kinematic mock moves, without physics")
            mock = MockArm(chain.model, initial)
            mock.open()
            return mock
        arm = BulletArm(chain.model, initial, gui=value(self, "gui"), floor=value(self, "floor"))
        arm.open()
        for note in arm.notes:
            self.get_logger().info(note)
        return arm

    # Trajectories

    def _accept(self, controller: str, trajectory: Trajectory, stamp: float, tolerances: Tolerances | None) -> int:
        # Stamps are in ROS time; the follower's clock is steady.
        start = None if stamp == 0.0 else self._steady.moment(stamp)
        with self._lock:
            return self._followers[controller][0].accept(trajectory, self._steady.now(), start, tolerances)

    def _hold(self, controller: str) -> None:
        with self._lock:
            self._followers[controller][0].hold(self._steady.now())

    def _desired(self, controller: str) -> State:
        with self._lock:
            return self._followers[controller][0].setpoint(self._steady.now())

    def _on_hold(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        for controller in self._followers:
            self._hold(controller)
        response.success, response.message = True, "holding"
        return response

    def _on_jump(self) -> None:
        """Simulated time has leapt: no stamp means what it did."""
        self.get_logger().warning("the simulated time has leapt: the arm is held")
        for controller in self._followers:
            self._hold(controller)

    def _examine(self, tell: Tell) -> None:
        """How the simulation is, once a second."""
        arm = self._arm
        if arm is None:
            tell(DiagnosticStatus.WARN, "arm", "waiting for robot_description")
            return
        slow = self._skipped > self._skipped_before
        sentence = "too slow a machine: steps of physics are skipped" if slow else "running"
        level = DiagnosticStatus.WARN if slow else DiagnosticStatus.OK
        tell(level, "arm", sentence, backend=arm.name, skipped_s=self._skipped, joint_states="measured")
        self._skipped_before = self._skipped

    # Physics

    def _time(self) -> float:
        """Where the followers are: in simulated time, or as far as physics has come."""
        return self._steady.now() if self._simulated else self._physics

    def _run(self) -> None:
        arm = self._arm
        assert arm is not None
        n = len(arm.joint_names)
        period = 1.0 / value(self, "publish_rate")
        publish_at = self._physics = time.monotonic()
        positions, velocities = np.zeros(n), np.zeros(n)
        try:
            while not self._stop.is_set():
                behind = time.monotonic() - self._physics
                if behind > BEHIND:
                    # Whoever plans goes by the clock: rather skip steps than let the arm lag behind its commands.
                    self._physics += behind
                    self._skipped += behind
                    cause = "physics cannot keep up with real time on this machine: some of its steps are skipped"
                    self._warnings.warn("behind", cause)
                while self._physics <= time.monotonic() and not self._stop.is_set():
                    with self._lock:
                        for follower, index in self._followers.values():
                            state = follower.advance(self._time())
                            positions[index], velocities[index] = state.position, state.velocity
                    arm.write(positions, velocities)
                    arm.advance()
                    self._physics += arm.time_step
                    if self._physics >= publish_at:
                        publish_at = max(publish_at + period, self._physics)
                        self._publish(arm)
                time.sleep(max(self._physics - time.monotonic(), 0.0))
        except ArmError as error:
            self.get_logger().fatal(f"the simulation ended: {error}")
            self.context.try_shutdown()

    def _supervise(self, reading: Reading) -> None:
        """Let the followers see where the joints are, and tell how trajectories ended."""
        endings: list[tuple[str, Ending]] = []
        with self._lock:
            for controller, (follower, index) in self._followers.items():
                follower.supervise(self._time(), reading.positions[index], reading.velocities[index])
                endings.extend((controller, ending) for ending in follower.endings())
        for controller, ending in endings:
            self._input.ended(controller, ending)

    def _publish(self, arm: SimulatedArm) -> None:
        if not self.context.ok():
            self._stop.set()
            return
        reading = arm.read()
        self._supervise(reading)
        stamp = self.get_clock().now().to_msg()
        message = JointState(
            name=list(arm.joint_names),
            position=reading.positions.tolist(),
            velocity=reading.velocities.tolist(),
        )
        message.header.stamp = stamp
        pose = arm.link_pose(self._chain.base_link, self._chain.tip_link)
        try:
            self._states.publish(message)
            self._tip.publish(convert.pose_msg(*pose, self._base_frame, stamp))
        except Exception:  # the context was shut down between the check and here
            if self.context.ok():
                raise

    def destroy_node(self) -> None:
        """End the physics, then the node."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5.0)
        if self._arm is not None:
            self._arm.close()
        super().destroy_node()


def main(args: list[str] | None = None) -> int:
    """Run sim_node."""
    return run(SimNode, args)


if __name__ == "__main__":
    sys.exit(main())
