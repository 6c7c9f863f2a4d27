"""Say once, not a thousand times: warnings by cause, each at most every few seconds."""

from __future__ import annotations

from rclpy.node import Node

EVERY = 10.0  # [s] the same cause is warned of no more often than this
KEPT = 64  # causes remembered


class ThrottledWarnings:
    """A throttle by cause; rclpy's own throttles by the line of code, which hides one cause behind another."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._said: dict[str, float] = {}

    def warn(self, cause: str, message: str) -> None:
        """Log `message` as a warning unless `cause` was warned of just now."""
        now = self._node.get_clock().now().nanoseconds * 1e-9
        if abs(now - self._said.get(cause, -1e9)) < EVERY:
            return
        self._said.pop(cause, None)
        self._said[cause] = now
        if len(self._said) > KEPT:
            del self._said[next(iter(self._said))]
        self._node.get_logger().warning(message)
