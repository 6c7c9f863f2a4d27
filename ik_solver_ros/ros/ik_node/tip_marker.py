"""TipMarker: drag the tip in RViz; a right click opens its menu. Needs interactive_markers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from geometry_msgs.msg import Pose
from interactive_markers import InteractiveMarkerServer, MenuHandler
from rclpy.node import Node
from visualization_msgs.msg import InteractiveMarker, InteractiveMarkerControl, InteractiveMarkerFeedback, Marker

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.ros.common import convert

NAME = "tip"
# Quaternions that turn the x axis of a control to x, y and z of the tip.
AXES = {"x": (1.0, 0.0, 0.0, 1.0), "y": (0.0, 0.0, 1.0, 1.0), "z": (0.0, 1.0, 0.0, 1.0)}


class Menu(NamedTuple):
    """What a right click offers."""

    choices: Mapping[str, tuple[str, ...]]  # of each parameter
    chosen: Callable[[str], str]  # which one of a parameter's is chosen
    choose: Callable[[str, str], None]
    actions: Mapping[str, Callable[[], object]]


class TipMarker:
    """What is dragged is a goal when it is let go of; then it snaps to what the arm can do."""

    def __init__(
        self,
        node: Node,
        frame: str,
        size: float,
        dragged: Callable[[InteractiveMarkerFeedback], None],
        menu: Menu,
    ) -> None:
        """frame: that it is shown in; size [m]. dragged: called where it is let go of."""
        self.held = False  # by somebody's mouse
        self._dragged, self._offered = dragged, menu
        self._server = InteractiveMarkerServer(node, f"{node.get_name()}/tip")
        self._menu = MenuHandler()
        self._entries: dict[int, tuple[str, str]] = {}
        for parameter, values in menu.choices.items():
            parent = self._menu.insert(parameter)
            for value in values:
                entry = self._menu.insert(value, parent=parent, callback=self._on_choice)
                self._entries[entry] = parameter, value
        for title, action in menu.actions.items():
            self._menu.insert(title, callback=lambda _, action=action: action())
        marker = InteractiveMarker(name=NAME, description="", scale=float(size))
        marker.header.frame_id = frame
        marker.pose.orientation.w = 1.0
        marker.controls = [*_handles(), _ball(size)]
        self._server.insert(marker, feedback_callback=self._on_feedback)
        self._show_choices()

    def put(self, position: Array, quat_xyzw: Array) -> None:
        """Show it at a pose of its frame."""
        stamped = convert.pose_msg(position, quat_xyzw, "", convert.time_msg(0.0))
        self._server.setPose(NAME, stamped.pose)
        self._server.applyChanges()

    def _on_feedback(self, feedback: InteractiveMarkerFeedback) -> None:
        if feedback.event_type == InteractiveMarkerFeedback.MOUSE_DOWN:
            self.held = True
        elif feedback.event_type == InteractiveMarkerFeedback.MOUSE_UP:
            self.held = False
            self._dragged(feedback)

    def _on_choice(self, feedback: InteractiveMarkerFeedback) -> None:
        self._offered.choose(*self._entries[feedback.menu_entry_id])
        self._show_choices()

    def _show_choices(self) -> None:
        for entry, (parameter, value) in self._entries.items():
            checked = self._offered.chosen(parameter) == value
            self._menu.setCheckState(entry, MenuHandler.CHECKED if checked else MenuHandler.UNCHECKED)
        self._menu.apply(self._server, NAME)
        self._server.applyChanges()


def _handles() -> list[Any]:
    """To shift it along, and turn it about, each axis."""
    out = []
    for name, quat in AXES.items():
        for mode, kind in (("move", "MOVE_AXIS"), ("turn", "ROTATE_AXIS")):
            control = InteractiveMarkerControl(
                name=f"{mode}_{name}", interaction_mode=getattr(InteractiveMarkerControl, kind)
            )
            turn, length = control.orientation, sum(x * x for x in quat) ** 0.5
            turn.x, turn.y, turn.z, turn.w = (x / length for x in quat)
            out.append(control)
    return out


def _ball(size: float) -> Any:
    """What is clicked for the menu, and dragged in the plane of the screen."""
    control = InteractiveMarkerControl(
        name="ball", interaction_mode=InteractiveMarkerControl.MOVE_3D, always_visible=True
    )
    ball = Marker(type=Marker.SPHERE, pose=Pose())
    ball.scale.x = ball.scale.y = ball.scale.z = 0.25 * float(size)
    ball.color.r, ball.color.g, ball.color.b, ball.color.a = 1.0, 0.6, 0.0, 0.6
    control.markers = [ball]
    return control
