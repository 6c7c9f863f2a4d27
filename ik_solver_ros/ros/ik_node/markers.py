"""Markers: what RViz shows of a goal and its answer on ~/markers.

goal      an axis triad, an arrow for an approach, a ball for a point
reached   the triad of the tip as it will be
ghost     the robot as it will be, by its <visual>s
residual  a line from one to the other, and a sentence, where they differ
path      the way of the tip
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from geometry_msgs.msg import Point
from rclpy.node import Node
from scipy.spatial.transform import Rotation
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.geometry import Shape, visual_shapes
from ik_solver_ros.kinematics.link_frames import LinkFrames
from ik_solver_ros.ros.common.qos import LATCHED_QOS
from ik_solver_ros.session.reply import Reply
from ik_solver_ros.solvers.solution import Solution, Status
from ik_solver_ros.trajectory.motion import Motion

RED, GREEN, BLUE = (0.9, 0.1, 0.1, 1.0), (0.1, 0.7, 0.1, 1.0), (0.1, 0.3, 0.9, 1.0)
GOAL, WRONG, WAY, GHOST, TEXT = (
    (1.0, 0.6, 0.0, 1.0),
    (0.9, 0.0, 0.4, 1.0),
    (0.2, 0.7, 0.9, 1.0),
    (0.5, 0.7, 1.0, 0.35),
    (1.0, 1.0, 1.0, 1.0),
)
SAMPLES = 60  # of the way of the tip
KINDS = {"box": Marker.CUBE, "sphere": Marker.SPHERE, "cylinder": Marker.CYLINDER, "mesh": Marker.MESH_RESOURCE}


class Markers:
    """Drawn only while somebody looks; whoever comes later gets the last ones."""

    def __init__(self, node: Node, chain: Chain, frame_prefix: str) -> None:
        self._chain, self._frame = chain, frame_prefix + chain.base_link
        self._frames = LinkFrames(chain.model, chain.base_link)
        self._shapes = [shape for shape in visual_shapes(chain.model)[0] if shape.link in self._frames.links]
        self._size = float(np.clip(0.15 * chain.reach, 0.02, 0.2))  # [m] of a triad
        self._node = node
        self._publisher = node.create_publisher(MarkerArray, "~/markers", LATCHED_QOS)
        self._draw: Callable[[], list[Marker]] | None = None

    def show(self, reply: Reply, others: Mapping[str, float]) -> None:
        """An answer, the motion to it, and where joints off the chain are."""
        motion, solution = reply.motion, reply.solution
        if motion is not None and solution is not None:
            self._draw = lambda: self._answer(solution, motion, others)
        elif motion is not None and reply.poses:
            goals = [self._triad("goal", *pose, 0.6, i) for i, pose in enumerate(reply.poses)]
            self._draw = lambda: [*goals, self._way(motion)]
        self.refresh()

    def close(self) -> None:
        """Publish no more."""
        self._node.destroy_publisher(self._publisher)

    def refresh(self) -> None:
        """Publish what is to be shown, if somebody looks and has not seen it."""
        if self._draw is not None and self._publisher.get_subscription_count():
            # What was shown before is taken away in the same message, so that nothing flickers.
            self._publisher.publish(MarkerArray(markers=[Marker(action=Marker.DELETEALL), *self._draw()]))
            self._draw = None

    def _answer(self, solution: Solution, motion: Motion, others: Mapping[str, float]) -> list[Marker]:
        chain, goal = self._chain, solution.goal
        tip, quat = chain.forward(solution.q)
        out = [self._triad("reached", tip, quat, 0.6)]
        if goal.quat_xyzw is not None:
            out.append(self._triad("goal", goal.position, goal.quat_xyzw, 1.0))
        elif goal.direction is not None:
            arrow = self._marker("goal", Marker.ARROW, (0.12 * self._size, 0.25 * self._size, 0.0), GOAL)
            arrow.points = [_point(goal.position - self._size * goal.direction), _point(goal.position)]
            out.append(arrow)
        else:
            ball = self._marker("goal", Marker.SPHERE, (0.3 * self._size,) * 3, GOAL)
            _place(ball, goal.position)
            out.append(ball)
        if solution.status is not Status.REACHED:
            line = self._marker("residual", Marker.LINE_LIST, (0.06 * self._size, 0.0, 0.0), WRONG)
            line.points = [_point(goal.position), _point(tip)]
            text = self._marker("residual", Marker.TEXT_VIEW_FACING, (0.0, 0.0, 0.25 * self._size), TEXT, 1)
            _place(text, goal.position + np.array([0.0, 0.0, 1.3 * self._size]))
            text.text = solution.sentence().replace("; ", "\n").replace(" (", "\n(")
            out += [line, text]
        out.append(self._way(motion))
        frames = self._frames.at({**others} | dict(zip(chain.joint_names, solution.q)))
        for i, shape in enumerate(self._shapes):
            frame = frames[shape.link]
            out.append(self._ghost(i, shape, frame.rotation[0], frame.position[0]))
        return out

    def _way(self, motion: Motion) -> Marker:
        chain = self._chain
        way = self._marker("path", Marker.LINE_STRIP, (0.04 * self._size, 0.0, 0.0), WAY)
        states = motion.trajectory.states(np.linspace(0.0, motion.trajectory.duration, SAMPLES), motion.origin)
        way.points = [_point(chain.forward(chain.clamped(q))[0]) for q in states.position]
        return way

    def _marker(self, namespace: str, kind: int, scale: tuple, color: tuple, marker_id: int = 0) -> Marker:
        marker = Marker(ns=namespace, id=marker_id, type=kind, action=Marker.ADD)
        marker.header.frame_id = self._frame
        marker.scale.x, marker.scale.y, marker.scale.z = (float(length) for length in scale)
        marker.color = _color(color)
        marker.pose.orientation.w = 1.0
        return marker

    def _triad(self, namespace: str, position: Array, quat_xyzw: Array, share: float, marker_id: int = 0) -> Marker:
        marker = self._marker(namespace, Marker.LINE_LIST, (0.1 * share * self._size, 0.0, 0.0), GOAL, marker_id)
        axes = Rotation.from_quat(quat_xyzw).as_matrix().T
        for axis, color in zip(axes, (RED, GREEN, BLUE)):
            marker.points += [_point(position), _point(position + share * self._size * axis)]
            marker.colors += [_color(color)] * 2
        return marker

    def _ghost(self, i: int, shape: Shape, rotation: Array, position: Array) -> Marker:
        size = shape.size
        if shape.kind == "sphere":
            size = 2.0 * np.repeat(size, 3)
        elif shape.kind == "cylinder":
            size = np.array([2.0 * size[0], 2.0 * size[0], size[1]])
        marker = self._marker("ghost", KINDS[shape.kind], tuple(size), GHOST, i)
        if shape.path is not None:
            marker.mesh_resource = shape.path.as_uri()
        _place(marker, position + rotation @ shape.position, Rotation.from_matrix(rotation @ shape.rotation).as_quat())
        return marker


def _place(marker: Marker, position: Array, quat_xyzw: Array | None = None) -> None:
    marker.pose.position = _point(position)
    if quat_xyzw is not None:
        turn = marker.pose.orientation
        turn.x, turn.y, turn.z, turn.w = (float(x) for x in quat_xyzw)


def _point(position: Array) -> Point:
    x, y, z = (float(v) for v in position)
    return Point(x=x, y=y, z=z)


def _color(rgba: tuple) -> ColorRGBA:
    return ColorRGBA(**dict(zip("rgba", rgba)))
