"""The newest message of a topic, taken when it is asked for.

An executor wakes for every message, which at 100 Hz costs rclpy more than all the rest of a node at rest. Here the
middleware keeps the newest one, and nobody is woken.
"""

from __future__ import annotations

from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy


class _NeverExecuted(CallbackGroup):
    """Executors leave out what must not be executed now; this never may."""

    def can_execute(self, entity: Any) -> bool:
        return False

    def beginning_execution(self, entity: Any) -> bool:
        return False

    def ending_execution(self, entity: Any) -> None:
        pass


class LatestMessage:
    """A best-effort reader of one topic that keeps the newest message only."""

    def __init__(self, node: Node, message_type: type, topic: str) -> None:
        qos = QoSProfile(
            depth=1,
            history=HistoryPolicy.KEEP_LAST,
            reliability=ReliabilityPolicy.BEST_EFFORT,
            durability=DurabilityPolicy.VOLATILE,
        )
        self._type = message_type
        self._subscription = node.create_subscription(
            message_type, topic, lambda _: None, qos, callback_group=_NeverExecuted()
        )
        self._newest: Any = None
        self._received = 0.0

    def take(self) -> tuple[Any, float]:
        """The newest message, or None, and when it was received [s of the system clock]."""
        handle = self._subscription.handle
        with handle:
            while (taken := handle.take_message(self._type, False)) is not None:
                self._newest, info = taken
                self._received = 1e-9 * info["received_timestamp"]
        return self._newest, self._received
