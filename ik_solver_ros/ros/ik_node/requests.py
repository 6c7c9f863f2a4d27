"""GoalTopics: the messages that ask ik_node for something, each turned into what a session is asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from geometry_msgs.msg import PointStamped, PoseArray, PoseStamped, TwistStamped
from rclpy.node import Node

from ik_solver_ros.errors import IkSolverError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.quaternion import rotate
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.common.parameters import value
from ik_solver_ros.ros.ik_node.goal_status import GoalStatus
from ik_solver_ros.ros.ik_node.pending_goals import PendingGoals, Ready
from ik_solver_ros.session.reply import Joints, Reply
from ik_solver_ros.session.session import ArmSession
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.trajectory.motion import Motion

X = (1.0, 0.0, 0.0)  # of a goal_approach's frame: where its tool shall point


class GoalTopics:
    """goal_pose, goal_approach, clicked_point, goal_path, ~/delta_twist_cmds. Of each, the latest message counts."""

    def __init__(
        self,
        node: Node,
        status: GoalStatus,
        ready: Ready,
        answer: Callable[[Reply], None],
        take_over: Callable[[Motion], None],
    ) -> None:
        """answer: have the arm do what a reply says, and make it known. take_over: send a motion that is no goal's."""
        self._node, self._status, self._ready, self._answer, self._take_over = node, status, ready, answer, take_over
        self.pending = PendingGoals(node, status, ready, answer)
        for message_type, topic, act in (
            (PoseStamped, "goal_pose", self._reach_pose),
            (PoseStamped, "goal_approach", self._reach_approach),
            (PointStamped, "clicked_point", self._reach_point),
            (PoseArray, "goal_path", self._trace),
        ):
            node.create_subscription(message_type, topic, partial(self._on_goal, topic, act), 1)
        node.create_subscription(TwistStamped, "~/delta_twist_cmds", self._on_twist, 1)

    def on_dragged(self, feedback: Any) -> None:
        """The tip was dragged in RViz: an InteractiveMarkerFeedback."""
        self.pending.take("drag", feedback.header, partial(self._reach_pose, feedback))

    def _on_goal(self, topic: str, act: Callable[..., Reply], message: Any, info: Mapping[str, int]) -> None:
        age = time.time() - 1e-9 * info["received_timestamp"]
        self.pending.take(topic, message.header, partial(act, message), age)

    def _reach_pose(self, message: Any, session: ArmSession, transform: Array, joints: Joints) -> Reply:
        height, mode = value(self._node, "goal_2d_height"), session.settings.goal_mode
        goal, note = convert.goal_from(message.pose, transform, session.chain.tool_axis, mode, height)
        reply = session.reach(goal, joints)
        return reply._replace(sentence=note + reply.sentence)

    def _reach_approach(self, message: PoseStamped, session: ArmSession, transform: Array, joints: Joints) -> Reply:
        position, quat = convert.pose_in(message.pose, transform)
        return session.reach(Goal.approach(position, rotate(quat, X)), joints)

    def _reach_point(self, message: PointStamped, session: ArmSession, transform: Array, joints: Joints) -> Reply:
        point = message.point
        position = transform[:3, :3] @ (point.x, point.y, point.z) + transform[:3, 3]
        return session.reach(Goal.point(position), joints)

    def _trace(self, message: PoseArray, session: ArmSession, transform: Array, joints: Joints) -> Reply:
        poses = [convert.pose_in(pose, transform) for pose in message.poses]
        if poses and (stop := session.stop(joints)) is not None:
            self._take_over(stop)
        return session.trace(poses, joints)

    def _on_twist(self, message: TwistStamped) -> None:
        try:
            session, joints = self._ready()
            rotation = self.pending.transform(message.header, session, joints)[:3, :3]
            self.pending.forget()
            linear, angular = (rotation @ (v.x, v.y, v.z) for v in (message.twist.linear, message.twist.angular))
            reply = session.steer(linear, angular, joints)
            if reply.is_news:
                self._status.begin()
            self._answer(reply)
        except IkSolverError as error:
            self._status.begin()
            self._status.refuse("delta_twist_cmds", error)
