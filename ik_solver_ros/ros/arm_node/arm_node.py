"""ArmNode: the node of any arm that takes joint trajectories as ros2_control's controllers do.

`joint_trajectory_controller/joint_trajectory` leads the joints of the chain, `gripper_controller/joint_trajectory` all
others; `joint_states` says where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rclpy.node import Node

from ik_solver_ros.errors import listed
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.ros.arm_node.arm_driver import ArmDriver
from ik_solver_ros.ros.common.description import when_described
from ik_solver_ros.ros.common.health import Health, Tell
from ik_solver_ros.ros.common.parameters import Param, declare, warn_of_unknown
from ik_solver_ros.ros.common.steady_clock import SteadyClock
from ik_solver_ros.session.reply import Level


class ArmNode(Node):
    """Waits for a robot, has its arm led by a driver, and ends it."""

    def __init__(
        self, name: str, params: Sequence[Param], drive: Callable[[Node, SteadyClock, Chain], ArmDriver]
    ) -> None:
        """drive: makes the driver of a robot's arm; it raises an IkSolverError where that cannot be."""
        super().__init__(name)
        declare(self, params)
        self._drive = drive
        self._driver: ArmDriver | None = None  # until the robot is known
        self._steady = SteadyClock(self, self._on_jump)
        Health(self, self._examine)
        when_described(self, self._use)

    def _use(self, chain: Chain) -> None:
        name = self.get_name()
        if self._driver is not None:
            self.get_logger().warning(f"another robot_description is ignored: restart {name} to change the robot")
            return
        self._driver = driver = self._drive(self, self._steady, chain)
        warn_of_unknown(self)
        driver.start()
        groups = "; ".join(f"{c.name}: {listed(c.limits.joint_names)}" for c in driver.controllers)
        self.get_logger().info(f"ready: {chain.model.name}{driver.summary} ({groups})")

    def _on_jump(self) -> None:
        """Simulated time has leapt: no stamp means what it did."""
        self.get_logger().warning("the simulated time has leapt: the arm is held")
        if self._driver is not None:
            self._driver.hold()

    def _examine(self, tell: Tell) -> None:
        """How the arm is, once a second."""
        if self._driver is None:
            tell(Level.WARN, "arm", "waiting for robot_description")
        else:
            self._driver.examine(tell)

    def destroy_node(self) -> None:
        """End the driver, then the node."""
        if self._driver is not None:
            self._driver.end()
        super().destroy_node()
