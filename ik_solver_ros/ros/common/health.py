"""Health: a node's share of /diagnostics, once a second (REP-107)."""

from __future__ import annotations

from collections.abc import Callable

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node

from ik_solver_ros.ros.common import convert
from ik_solver_ros.session.reply import Level

# To tell of one part: level, part, sentence, numbers.
Tell = Callable[..., None]


class Health:
    """Asks how a node is, and publishes it. Parts are named `<node with its namespace>: <part>`."""

    def __init__(self, node: Node, examine: Callable[[Tell], None]) -> None:
        """examine: called with a function `tell(level, part, sentence, **values)`, to be called for every part."""
        self._node, self._examine = node, examine
        self._found: list[DiagnosticStatus] = []
        self._name = node.get_fully_qualified_name().lstrip("/")
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        node.create_timer(1.0, self._publish)

    def _tell(self, level: Level, part: str, sentence: str, **values: object) -> None:
        self._found.append(convert.status_msg(level, f"{self._name}: {part}", sentence, **values))

    def _publish(self) -> None:
        self._found = []
        self._examine(self._tell)
        array = DiagnosticArray(status=self._found)
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(array)
