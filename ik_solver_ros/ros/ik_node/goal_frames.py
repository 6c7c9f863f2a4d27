"""GoalFrames: where a message's frame is, by the robot's own kinematics or by tf2."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import yaml
from builtin_interfaces.msg import Time as TimeMsg
from rclpy.node import Node
from rclpy.time import Time
from scipy.spatial.transform import Rotation
from std_msgs.msg import Header

from ik_solver_ros.errors import UnknownFrameError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain

tf2_ros: Any = None
try:
    tf2_ros = import_module("tf2_ros")
except ModuleNotFoundError as missing:
    if missing.name is None or not missing.name.startswith("tf2"):
        raise


class GoalFrames:
    """Transforms to base_link. tf2 is listened to from the first foreign frame on: /tf costs whoever hears it."""

    def __init__(self, node: Node, prefix: str) -> None:
        """prefix: of the robot's frames in messages and tf2."""
        self._node, self._prefix = node, prefix
        self._buffer: Any = None
        self._listener: Any = None

    def transform(self, chain: Chain, header: Header, joints: Array, last: bool) -> Array | None:
        """From a message's frame to base_link (4, 4), for joints at (n,); None where it may yet become known.

        last: do not wait any longer. Raises UnknownFrameError.
        """
        known = self._known(chain, header.frame_id, joints)
        return self._foreign(chain, header.frame_id, header.stamp, last) if known is None else known

    def _known(self, chain: Chain, frame: str, joints: Array) -> Array | None:
        """From a frame of the URDF to base_link (4, 4), for joints at (n,); None for other frames."""
        frame = frame.removeprefix("/").removeprefix(self._prefix)
        if frame in ("", chain.base_link):
            return np.eye(4)
        if frame not in chain.model.links:
            return None
        return chain.model.transform(chain.base_link, frame, dict(zip(chain.joint_names, joints)))

    def _foreign(self, chain: Chain, frame: str, stamp: TimeMsg, last: bool) -> Array | None:
        """From any other frame to base_link (4, 4), by tf2; None where it may yet become known.

        last: do not wait any longer, and be content with the newest transform there is, whatever the stamp: a goal
        stamped by a wall clock has none in simulated time. Raises UnknownFrameError.
        """
        frame = frame.removeprefix("/")
        if tf2_ros is None:
            raise UnknownFrameError(frame, chain.model.links, "of the robot (tf2_ros is not installed)")
        if self._buffer is None:
            self._buffer = tf2_ros.Buffer()
            self._listener = tf2_ros.TransformListener(self._buffer, self._node)
        base = self._prefix + chain.base_link
        for when in (Time.from_msg(stamp), Time())[: 2 if last else 1]:
            if self._buffer.can_transform(base, frame, when):
                return _matrix(self._buffer.lookup_transform(base, frame, when).transform)
        if not last:
            return None
        heard = yaml.safe_load(self._buffer.all_frames_as_yaml()) or {}
        others = {*heard, *(about["parent"] for about in heard.values())} - {*chain.model.links, frame}
        raise UnknownFrameError(frame, [*chain.model.links, *sorted(others)])


def _matrix(transform: Any) -> Array:
    turn, shift = transform.rotation, transform.translation
    out = np.eye(4)
    out[:3, :3] = Rotation.from_quat([turn.x, turn.y, turn.z, turn.w]).as_matrix()
    out[:3, 3] = shift.x, shift.y, shift.z
    return out
