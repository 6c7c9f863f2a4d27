"""sim_node: an arm in PyBullet (or the kinematic mock) that takes joint trajectories as ros2_control's controllers do.

Besides joint_states it publishes ~/tip_pose, where the simulation has the tip.
"""

from __future__ import annotations

import sys
import time

from geometry_msgs.msg import PoseStamped
from rclpy.node import Node

from ik_solver_ros.arm.backends import BACKENDS, simulated_arm
from ik_solver_ros.arm.base import SimulatedArm
from ik_solver_ros.control.follower_group import FollowerGroup
from ik_solver_ros.control.late_followers import LateFollowers
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.ros.arm_node.arm_driver import ArmDriver
from ik_solver_ros.ros.arm_node.arm_node import ArmNode
from ik_solver_ros.ros.arm_node.controllers import PARAMS as CONTROLLER_PARAMS
from ik_solver_ros.ros.arm_node.controllers import controllers, followers, named_positions
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.common.health import Tell
from ik_solver_ros.ros.common.parameters import DESCRIPTION_PARAMS, FRAME_PREFIX, Param, value
from ik_solver_ros.ros.common.spin import run
from ik_solver_ros.ros.common.steady_clock import SteadyClock
from ik_solver_ros.ros.common.throttled_warnings import ThrottledWarnings
from ik_solver_ros.session.reply import Level

PARAMS = (
    *DESCRIPTION_PARAMS,
    FRAME_PREFIX,
    Param(
        "backend",
        "auto",
        "what moves: physics, positions alone, or physics where PyBullet is installed",
        choices=("auto", *BACKENDS),
    ),
    Param("gui", False, "show PyBullet's window"),
    Param("floor", True, "a ground plane at z = 0"),
    Param("publish_rate", 100.0, "[Hz] of joint_states and ~/tip_pose", 1.0, 240.0),
    Param("initial_positions", [], "of the chain's joints [rad or m]; empty: zero, or the limit nearest to it"),
    *CONTROLLER_PARAMS,
)
BEHIND = 0.05  # [s] that physics may be late by before steps are skipped


class SimDriver(ArmDriver):
    """Physics, by a steady clock of its own."""

    fatal = "the simulation ended"

    def __init__(self, node: Node, steady: SteadyClock, chain: Chain) -> None:
        self._arm = arm = _simulator(node, chain)
        groups = controllers(node, chain, arm.joint_names)
        arm.open()
        for note in arm.notes:
            node.get_logger().info(note)
        self._followers = LateFollowers(FollowerGroup(followers(groups, arm.read().positions)), arm.time_step)
        super().__init__(node, steady, arm.joint_names, groups, self._followers)
        self.summary = f" in {arm.name}"
        self._chain = chain
        self._base_frame = value(node, "frame_prefix") + chain.base_link
        self._tip = node.create_publisher(PoseStamped, "~/tip_pose", 10)
        self._warnings = ThrottledWarnings(node)
        self._simulated = bool(node.get_parameter("use_sim_time").value)
        self._period = 1.0 / value(node, "publish_rate")
        self._physics = 0.0  # [s] on the steady clock that physics has come to
        self._skipped = self._skipped_before = 0.0  # [s] of physics, as this machine is too slow

    def examine(self, tell: Tell) -> None:
        """How the simulation is."""
        slow = self._skipped > self._skipped_before
        sentence = "too slow a machine: steps of physics are skipped" if slow else "running"
        level = Level.WARN if slow else Level.OK
        tell(level, "arm", sentence, backend=self._arm.name, skipped_s=self._skipped, joint_states="measured")
        self._skipped_before = self._skipped

    def lead(self) -> None:
        """Let physics go on with the clock."""
        publish_at = self._physics = time.monotonic()
        while self.going_on():
            self._skip_what_is_late()
            while self._physics <= time.monotonic() and self.going_on():
                with self._lock:
                    setpoints = self._followers.advance(self._time())
                self._arm.write(*setpoints)
                self._arm.advance()
                self._physics += self._arm.time_step
                if self._physics >= publish_at:
                    publish_at = max(publish_at + self._period, self._physics)
                    self._measure()
            time.sleep(max(self._physics - time.monotonic(), 0.0))

    def close(self) -> None:
        """End the simulation."""
        self._arm.close()

    def _time(self) -> float:
        """Where the followers are: in simulated time, or as far as physics has come."""
        return self._steady.now() if self._simulated else self._physics

    def _skip_what_is_late(self) -> None:
        """Whoever plans goes by the clock: rather skip steps than let the arm lag behind its commands."""
        behind = time.monotonic() - self._physics
        if behind > BEHIND:
            self._physics += behind
            self._skipped += behind
            cause = "physics cannot keep up with real time on this machine: some of its steps are skipped"
            self._warnings.warn("behind", cause)

    def _measure(self) -> None:
        """Let the followers see where the joints are, and publish it."""
        reading = self._arm.read()
        with self._lock:
            self._followers.supervise(reading.positions, reading.velocities)
            endings = self._followers.endings()
        for controller, ending in endings:
            self._input.ended(controller, ending)
        state = self._joint_state(reading)
        pose = self._arm.link_pose(self._chain.base_link, self._chain.tip_link)
        self._publish(self._states, state)
        self._publish(self._tip, convert.pose_msg(*pose, self._base_frame, state.header.stamp))


def _simulator(node: Node, chain: Chain) -> SimulatedArm:
    initial = named_positions(chain, "initial_positions", value(node, "initial_positions"))
    return simulated_arm(
        value(node, "backend"), chain.model, initial, gui=value(node, "gui"), floor=value(node, "floor")
    )


def main(args: list[str] | None = None) -> int:
    """Run sim_node."""
    return run(lambda: ArmNode("sim_node", PARAMS, SimDriver), args)


if __name__ == "__main__":
    sys.exit(main())
