"""Between messages and the objects of the package. Every number is checked before it is used."""

from __future__ import annotations

import math
from array import array
from collections.abc import Container, Sequence

import numpy as np
from builtin_interfaces.msg import Duration, Time
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from geometry_msgs.msg import Pose, PoseStamped
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ik_solver_ros.errors import GoalError, TrajectoryError, listed
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.quaternion import rotate
from ik_solver_ros.session.reply import Level
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.trajectory.trajectory import Trajectory

UPRIGHT = 0.999  # cosine of how far the z axis of a frame may lean away from base_link's for it to stand upright


def seconds(stamp: Time | Duration) -> float:
    """A time or duration message in s."""
    return float(stamp.sec + 1e-9 * stamp.nanosec)


def time_msg(t: float) -> Time:
    """Seconds as a time message."""
    nanoseconds = round(t * 1e9)
    return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def stamp_text(stamp: Time) -> str:
    """A stamp in every digit, as `goal_stamp` in ik_node's status repeats that of a goal."""
    return f"{stamp.sec}.{stamp.nanosec:09d}"


def trajectory_msg(trajectory: Trajectory, start: float | None) -> JointTrajectory:
    """A trajectory that begins at `start` [s of the ROS clock]; None is stamped 0, which means at once."""
    message = JointTrajectory(joint_names=list(trajectory.joint_names))
    if start is not None:
        message.header.stamp = time_msg(start)
    points = []
    for i, t in enumerate(trajectory.times.tolist()):
        nanoseconds = round(t * 1e9)
        point = JointTrajectoryPoint()
        point.time_from_start.sec, point.time_from_start.nanosec = nanoseconds // 10**9, nanoseconds % 10**9
        # An array goes in as it is; of a list, the message would check every number.
        point.positions = array("d", trajectory.positions[i])
        if trajectory.velocities is not None:
            point.velocities = array("d", trajectory.velocities[i])
        if trajectory.accelerations is not None:
            point.accelerations = array("d", trajectory.accelerations[i])
        points.append(point)
    message.points = points
    return message


def trajectory_from(message: JointTrajectory) -> Trajectory:
    """The trajectory of a message. Raises TrajectoryError where its points do not have the sizes of its joints."""
    names = tuple(message.joint_names)
    if not message.points:
        return Trajectory(names, np.zeros(0), np.zeros((0, len(names))))
    columns: dict[str, Array | None] = {}
    for what in ("positions", "velocities", "accelerations"):
        sizes = {len(getattr(point, what)) for point in message.points}
        if sizes == {0} and what != "positions":
            columns[what] = None
        elif sizes == {len(names)}:
            columns[what] = np.array([getattr(point, what) for point in message.points])
        else:
            raise TrajectoryError(
                f"{what} of {listed(sorted(sizes))} numbers in points of {len(names)} joints: "
                "every point needs one for each"
            )
    positions = columns["positions"]
    assert positions is not None
    times = np.array([seconds(point.time_from_start) for point in message.points])
    return Trajectory(names, times, positions, columns["velocities"], columns["accelerations"])


def joint_positions(message: JointState, names: Sequence[str]) -> Array:
    """The positions of the joints `names`, (n,). Raises GoalError for missing joints and non-finite numbers."""
    known = dict(zip(message.name, message.position))
    missing = [name for name in names if name not in known]
    if missing:
        raise GoalError("joint_states", list(message.name), f"joints are missing: {listed(missing)}")
    out = np.array([known[name] for name in names], dtype=float)
    if not np.isfinite(out).all():
        raise GoalError("joint_states", out.tolist(), "finite positions are wanted")
    return out


def other_positions(message: JointState, known: Container[str]) -> dict[str, float]:
    """The finite positions of all joints that are `known`, by name."""
    pairs = zip(message.name, message.position)
    return {name: position for name, position in pairs if name in known and math.isfinite(position)}


def position_of(pose: Pose) -> tuple[float, float, float]:
    """x, y, z [m]."""
    return pose.position.x, pose.position.y, pose.position.z


def quaternion_of(pose: Pose) -> tuple[float, float, float, float]:
    """x, y, z, w."""
    return pose.orientation.x, pose.orientation.y, pose.orientation.z, pose.orientation.w


def pose_in(pose: Pose, transform: Array) -> tuple[Array, Array]:
    """Position (3,) and quaternion (4,) xyzw of a pose seen through a transform (4, 4). Raises GoalError."""
    goal = Goal.pose(position_of(pose), quaternion_of(pose))
    rotation = Rotation.from_matrix(transform[:3, :3]) * Rotation.from_quat(goal.quat_xyzw)
    return transform[:3, :3] @ goal.position + transform[:3, 3], rotation.as_quat()


def goal_from(pose: Pose, transform: Array, tool_axis: Array, mode: str, height_2d: float) -> tuple[Goal, str]:
    """The goal that a pose means in a mode, seen through a transform (4, 4), and what to say of it. Raises GoalError.

    z exactly 0 with a yaw only, in a frame that stands upright, is what RViz's 2D Goal Pose sends: the tip goes to
    `height_2d` [m] above it.
    """
    position, quat = pose_in(pose, transform)
    is_flat = pose.position.z == 0.0 and pose.orientation.x == 0.0 and pose.orientation.y == 0.0
    if is_flat and transform[2, 2] > UPRIGHT:
        note = f"2D goal: the tip {height_2d:g} m above it, the tool along the arrow; "
        return Goal.approach(position + height_2d * transform[:3, 2], rotate(quat, (1.0, 0.0, 0.0))), note
    return goal_of(position, quat, tool_axis, mode), ""


def goal_of(position: Array, quat_xyzw: Array, tool_axis: Array, mode: str) -> Goal:
    """What of a pose in base_link counts in a mode."""
    if mode == "position":
        return Goal.point(position)
    if mode == "approach":
        return Goal.approach(position, rotate(quat_xyzw, tool_axis))
    return Goal.pose(position, quat_xyzw)


def pose_msg(position: Array, quat_xyzw: Array, frame_id: str, stamp: Time) -> PoseStamped:
    """A PoseStamped."""
    message = PoseStamped()
    message.header.frame_id, message.header.stamp = frame_id, stamp
    point, quat = message.pose.position, message.pose.orientation
    point.x, point.y, point.z = (float(v) for v in position)
    quat.x, quat.y, quat.z, quat.w = (float(v) for v in quat_xyzw)
    return message


def status_msg(level: Level, name: str, message: str, **values: object) -> DiagnosticStatus:
    """A DiagnosticStatus; numbers are written with six digits."""

    def text(value: object) -> str:
        return f"{value:.6g}" if isinstance(value, float) and math.isfinite(value) else str(value)

    pairs = [KeyValue(key=key, value=text(value)) for key, value in values.items()]
    return DiagnosticStatus(level=bytes([level]), name=name, message=message, hardware_id="", values=pairs)
