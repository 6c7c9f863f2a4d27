"""Arrivals: messages that are answered as soon as it is known where their frame is. The newest counts."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from rclpy.node import Node
from std_msgs.msg import Header

from ik_solver_ros.errors import IkSolverError
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.ros.common.parameters import value
from ik_solver_ros.ros.ik_node.goal_frames import GoalFrames
from ik_solver_ros.ros.ik_node.goal_status import GoalStatus

# To a message, given the chain, the transform of its frame to base_link (4, 4), and the joints (n,).
Answer = Callable[[Chain, Array, Array], None]
AGAIN = 0.02  # [s] after which tf2 is asked again


class Arrivals:
    """Nothing blocks: what has to wait for tf2 is tried again by a timer, until `tf_timeout`."""

    def __init__(self, node: Node, goals: GoalStatus, ready: Callable[[], tuple[Chain, Array]]) -> None:
        """ready: the chain and where its joints are; raises IkSolverError while one is missing."""
        self.frames = GoalFrames(node, value(node, "frame_prefix"))
        self._node, self._goals, self._ready = node, goals, ready
        self._pending: Callable[[], None] | None = None
        self._timer = node.create_timer(AGAIN, self._on_timer)
        self._timer.cancel()

    def take(self, source: str, header: Header, answer: Answer) -> None:
        """A message has come that is a goal."""
        self._goals.begin(header.stamp)
        self.forget()
        self._try(source, header, answer, time.monotonic() + value(self._node, "tf_timeout"))

    def forget(self) -> None:
        """Something else than the one that waits shall be done."""
        self._pending = None
        self._timer.cancel()

    def _try(self, source: str, header: Header, answer: Answer, deadline: float) -> None:
        try:
            chain, joints = self._ready()
            transform = self.frames.transform(chain, header, joints, last=time.monotonic() >= deadline)
            if transform is None:
                self._pending = partial(self._try, source, header, answer, deadline)
                self._timer.reset()
                return
            answer(chain, transform, joints)
        except IkSolverError as error:
            self._goals.refuse(source, error)

    def _on_timer(self) -> None:
        pending = self._pending
        self.forget()
        if pending is not None:
            pending()
