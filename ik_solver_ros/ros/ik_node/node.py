"""ik_node: goals in, joint trajectories out.

goal_pose, goal_approach, clicked_point, goal_path, ~/delta_twist_cmds
    -> requests -> session -> joint_trajectory_controller/joint_trajectory, ~/status
"""

from __future__ import annotations

import sys

from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from ik_solver_ros.errors import GoalError, IkSolverError
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.common.description import when_described
from ik_solver_ros.ros.common.health import Health, Tell
from ik_solver_ros.ros.common.parameters import declare, value, warn_of_unknown
from ik_solver_ros.ros.common.spin import run
from ik_solver_ros.ros.common.steady_clock import SteadyClock
from ik_solver_ros.ros.ik_node.goal_status import GoalStatus
from ik_solver_ros.ros.ik_node.measured_joints import MeasuredJoints
from ik_solver_ros.ros.ik_node.params import PARAMS
from ik_solver_ros.ros.ik_node.requests import GoalTopics
from ik_solver_ros.ros.ik_node.robot import session_of, settings
from ik_solver_ros.ros.ik_node.services import Services
from ik_solver_ros.ros.ik_node.view import View
from ik_solver_ros.session.reply import Joints, Level, Reply
from ik_solver_ros.session.session import ArmSession
from ik_solver_ros.trajectory.motion import Motion

TRAJECTORIES = "joint_trajectory_controller/joint_trajectory"  # ros2_control's name


class IkNode(Node):
    """Messages in, replies out; what is between is the session's. All it knows of the arm is its joint_states."""

    def __init__(self) -> None:
        super().__init__("ik_node")
        declare(self, PARAMS, self._configure)
        self._session: ArmSession | None = None  # until the robot is known
        self._view: View | None = None
        self._steady = SteadyClock(self, self._on_jump)
        self._joints = MeasuredJoints(self)
        self._status = GoalStatus(self)
        self._topics = GoalTopics(self, self._status, self._ready, self._answer, self._take_over)
        self._trajectories = self.create_publisher(JointTrajectory, TRAJECTORIES, 10)
        self._commands = Services(self, self._status, self._topics.pending, self._ready, self._answer)
        self._arrival_timer = self.create_timer(3600.0, self._look_for_arrival)
        self._arrival_timer.cancel()
        when_described(self, self._use)
        if value(self, "live"):
            self.create_timer(1.0 / value(self, "live_rate"), self._on_tick)
        Health(self, self._examine)

    def _use(self, chain: Chain) -> None:
        self._session = session = session_of(self, chain, self._steady.now)
        self._status.replace()  # what an earlier description's session planned is void
        self._view = View(self, session.chain, self._topics.on_dragged, self._commands.actions, self._view)
        self._topics.pending.robot_is_known()
        warn_of_unknown(self)
        self.get_logger().info("ready for goals")

    def _configure(self) -> None:
        if self._session is not None:
            self._session.configure(settings(self))

    def _ready(self) -> tuple[ArmSession, Joints]:
        """The session, and where the joints are. Raises GoalError while one is missing, or whoever moves the arm."""
        if self._session is None:
            raise GoalError("robot_description", None, "no robot is known yet; publish one, or set description_file")
        joints = self._joints.of(self._session.chain)
        if not self._trajectories.get_subscription_count():
            raise GoalError(TRAJECTORIES, 0, "nobody subscribes to it, so nothing would move")
        return self._session, joints

    def _answer(self, reply: Reply) -> None:
        """Have the arm do what a reply says, and make it known."""
        if reply.motion is not None:
            self._send(reply.motion)
        if not reply.is_news:
            self._status.replace()
            return
        self._status.answer(reply)
        if reply.outcome.is_pursued:
            self._wait_for_arrival()
        if self._session is not None and self._view is not None:
            self._view.show(reply, self._session.others)

    def _take_over(self, motion: Motion) -> None:
        """Lead the arm by a motion that is no goal's."""
        self._send(motion)
        self._status.replace()

    def _send(self, motion: Motion) -> None:
        stamp = None if motion.start is None else self._steady.stamp(motion.start)
        self._trajectories.publish(convert.trajectory_msg(motion.trajectory, stamp))

    def _wait_for_arrival(self) -> None:
        if self._session is not None:
            self._arrival_timer.timer_period_ns = int(1e9 * self._session.arrival.wait(self._steady.now()))
            self._arrival_timer.reset()

    def _look_for_arrival(self) -> None:
        """The motion should be over by now, and the arm where it was led."""
        self._arrival_timer.cancel()
        session = self._session
        if session is None or self._status.ledger.pursued is None:
            return
        now, tip_error = self._steady.now(), (0.0, 0.0)
        try:
            q = self._joints.of(session.chain).q
            fault, tip_error = session.arrival.fault(q, now), session.arrival.tip_error(q, now)
        except GoalError as error:
            fault = f"where the arm is is not known: {error}" if session.arrival.is_late(now) else None
        if fault is None:
            self._wait_for_arrival()
        else:
            self._status.finish(fault, tip_error)

    def _on_jump(self) -> None:
        """Simulated time has leapt: what was planned is void; where the arm is, its joint_states say."""
        self.get_logger().warning("the simulated time has leapt: the motion under way is given up")
        if self._session is not None:
            self._session.forget()
            self._status.replace()

    def _on_tick(self) -> None:
        if self._session is None or self._session.sweep.goal is None:
            return
        try:
            session, joints = self._ready()
            motion = session.live(joints)
        except IkSolverError as error:
            self._session.sweep.end()
            self._status.refuse("live", error)
            return
        if motion is not None:
            self._send(motion)

    def _examine(self, tell: Tell) -> None:
        """How the node is, once a second."""
        level, sentence = Level.OK, "ready for goals"
        try:
            session, joints = self._ready()
            if self._view is not None and not session.planner.moving(self._steady.now()):
                self._view.put_tip(joints.q)
        except IkSolverError as error:
            level, sentence = Level.WARN, str(error)
        if self._view is not None:
            self._view.refresh()
        ledger = self._status.ledger
        tell(
            level,
            "goals",
            sentence,
            robot="" if self._session is None else self._session.chain.model.name,
            solver=value(self, "solver"),
            last=self._status.last,
            followers=self._trajectories.get_subscription_count(),
            **ledger.counts(),
            refused=ledger.refused,
        )


def main(args: list[str] | None = None) -> int:
    """Run ik_node."""
    return run(IkNode, args)


if __name__ == "__main__":
    sys.exit(main())
