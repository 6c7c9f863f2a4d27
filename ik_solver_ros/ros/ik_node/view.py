"""View: what RViz shows of an arm's session: markers of the last answer, and the tip to be dragged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rclpy.node import Node
from rclpy.parameter import Parameter

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.ros.common.parameters import value
from ik_solver_ros.ros.ik_node.markers import Markers
from ik_solver_ros.ros.ik_node.params import SOLVING
from ik_solver_ros.session.reply import Reply

TipMarker: Any = None
Menu: Any = None
try:
    from ik_solver_ros.ros.ik_node.tip_marker import Menu, TipMarker
except ModuleNotFoundError as missing:
    if missing.name is None or not missing.name.startswith("interactive_markers"):
        raise

IN_MENU = ("goal_mode", "elbow")  # parameters that the tip's menu sets


class View:
    """Of one robot."""

    def __init__(
        self,
        node: Node,
        chain: Chain,
        dragged: Callable[[Any], None],
        actions: Mapping[str, Callable[[], object]],
        earlier: View | None = None,
    ) -> None:
        """dragged: given an InteractiveMarkerFeedback where the tip was let go of. actions: further menu entries.
        earlier: of another description of the robot, in whose place this one comes.
        """
        prefix = value(node, "frame_prefix")
        self._chain = chain
        self._markers = Markers(node, chain, prefix)
        self._tip: Any = None
        if earlier is not None:
            earlier._markers.close()
            self._tip = earlier._tip
        elif TipMarker is not None:
            menu = Menu(
                {param.name: param.choices for param in SOLVING if param.name in IN_MENU},
                lambda name: str(value(node, name)),
                lambda name, choice: node.set_parameters([Parameter(name, value=choice)]),
                actions,
            )
            self._tip = TipMarker(node, prefix + chain.base_link, 0.5 * chain.reach, dragged, menu)

    def show(self, reply: Reply, others: Mapping[str, float]) -> None:
        """A reply; others: joints off the chain [rad or m], by name."""
        self._markers.show(reply, others)
        if reply.motion is not None and not reply.poses:
            self.put_tip(reply.motion.trajectory.positions[-1])

    def put_tip(self, q: Array) -> None:
        """Show the tip to be dragged where joints at q (n,) have it, unless somebody drags it."""
        if self._tip is not None and not self._tip.held:
            self._tip.put(*self._chain.forward(self._chain.clamped(q)))

    def refresh(self) -> None:
        """Show whoever has come since what was shown last."""
        self._markers.refresh()
