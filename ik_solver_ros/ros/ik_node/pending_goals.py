"""PendingGoals: a goal waits until robot, joints and its frame are known. The newest counts.

Nothing blocks: what has to wait is tried again by a timer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from rclpy.node import Node
from std_msgs.msg import Header

from ik_solver_ros.errors import GoalError, IkSolverError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.ros.common.parameters import value
from ik_solver_ros.ros.ik_node.goal_frames import GoalFrames
from ik_solver_ros.ros.ik_node.goal_status import GoalStatus
from ik_solver_ros.session.reply import Joints, Reply
from ik_solver_ros.session.session import ArmSession

# What a message asks for, given the session, the transform of its frame to base_link (4, 4), and the joints.
Act = Callable[[ArmSession, Array, Joints], Reply]
Ready = Callable[[], tuple[ArmSession, Joints]]  # raises IkSolverError while one is missing
AGAIN = 0.02  # [s] between tries


class _Goal(NamedTuple):
    source: str  # the topic
    header: Header
    act: Act
    received: float  # [s] of the machine's steady clock


class PendingGoals:
    """Answers goals as soon as they can be, or refuses them when `goal_timeout` or `tf_timeout` is over."""

    def __init__(self, node: Node, status: GoalStatus, ready: Ready, answer: Callable[[Reply], None]) -> None:
        self._node, self._status, self._ready, self._answer = node, status, ready, answer
        self._frames = GoalFrames(node, value(node, "frame_prefix"))
        self._robot_known_at = 0.0  # [s] of the same clock as a goal's
        self._goal: _Goal | None = None
        self._timer = node.create_timer(AGAIN, self._try)
        self._timer.cancel()

    def robot_is_known(self) -> None:
        """From now on there is a session."""
        self._robot_known_at = time.monotonic()

    def take(self, source: str, header: Header, act: Act, age: float = 0.0) -> None:
        """A goal has come, `age` [s] ago, and waited since for us to have time."""
        self._status.begin(header.stamp)
        self._goal = _Goal(source, header, act, time.monotonic() - age)
        self._timer.reset()
        self._try()

    def forget(self) -> None:
        """Something else than the goal that waits shall be done."""
        self._goal = None
        self._timer.cancel()

    def transform(self, header: Header, session: ArmSession, joints: Joints) -> Array:
        """From a message's frame to base_link (4, 4), as far as it is known now. Raises UnknownFrameError."""
        transform = self._frames.transform(session.chain, header, joints.q, last=True)
        assert transform is not None  # the last try finds one, or raises
        return transform

    def _try(self) -> None:
        goal = self._goal
        if goal is None:
            return
        try:
            reply = self._reply(goal)
        except IkSolverError as error:
            self.forget()
            self._status.refuse(goal.source, error)
            return
        if reply is not None:
            self.forget()
            self._answer(reply)

    def _reply(self, goal: _Goal) -> Reply | None:
        """The reply to a goal; None where it has to wait."""
        waited, patience = time.monotonic() - goal.received, value(self._node, "goal_timeout")
        try:
            session, joints = self._ready()
        except IkSolverError:
            if waited < patience:
                return None
            raise
        too_early = self._robot_known_at - goal.received
        if too_early > patience:
            raise GoalError("goal_timeout", patience, f"the goal came {too_early:.1f} s before the solver was ready")
        is_last = waited >= value(self._node, "tf_timeout")
        transform = self._frames.transform(session.chain, goal.header, joints.q, is_last)
        return None if transform is None else goal.act(session, transform, joints)
