from __future__ import annotations

import math

import numpy as np
import pytest
from conftest import URDF
from geometry_msgs.msg import Pose
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ik_solver_ros import load_chain
from ik_solver_ros.errors import GoalError, TrajectoryError
from ik_solver_ros.ros.common import convert
from ik_solver_ros.trajectory.trajectory import Trajectory


def test_there_and_back():
    times = np.array([0.1, 0.25, 1.5])
    there = Trajectory(("a", "b"), times, np.arange(6.0).reshape(3, 2), np.ones((3, 2)), None)
    message = convert.trajectory_msg(there, 1234567890.123456)
    assert message.header.stamp.sec == 1234567890
    assert convert.seconds(message.header.stamp) == pytest.approx(1234567890.123456, abs=1e-6)
    back = convert.trajectory_from(message)
    assert back.joint_names == there.joint_names and back.accelerations is None
    np.testing.assert_allclose(back.times, times, atol=1e-9)
    np.testing.assert_array_equal(back.positions, there.positions)


def test_at_once_is_stamp_zero():
    message = convert.trajectory_msg(Trajectory(("a",), np.array([1.0]), np.zeros((1, 1))), None)
    assert convert.seconds(message.header.stamp) == 0.0


def test_times_that_round_up_to_a_second():
    message = convert.trajectory_msg(Trajectory(("a",), np.array([0.9999999999]), np.zeros((1, 1))), 1.9999999999)
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (2, 0)
    assert convert.seconds(message.points[0].time_from_start) == 1.0


@pytest.mark.parametrize("sizes", [[2, 1], [1, 1], [2, 0], [0, 0]])
def test_points_of_the_wrong_size(sizes):
    points = [JointTrajectoryPoint(positions=[0.0] * size) for size in sizes]
    with pytest.raises(TrajectoryError, match="positions of .* points of 2 joints"):
        convert.trajectory_from(JointTrajectory(joint_names=["a", "b"], points=points))


def test_velocities_in_some_points_only():
    points = [JointTrajectoryPoint(positions=[0.0], velocities=v) for v in ([0.0], [])]
    with pytest.raises(TrajectoryError, match="velocities of 0, 1 numbers"):
        convert.trajectory_from(JointTrajectory(joint_names=["a"], points=points))


def test_joint_states_by_name():
    message = JointState(name=["x", "b", "a"], position=[9.0, 2.0, 1.0])
    assert convert.joint_positions(message, ["a", "b"]).tolist() == [1.0, 2.0]
    with pytest.raises(GoalError, match="missing: c"):
        convert.joint_positions(message, ["a", "c"])
    with pytest.raises(GoalError, match="finite"):
        convert.joint_positions(JointState(name=["a"], position=[np.nan]), ["a"])
    with pytest.raises(GoalError, match="missing: b"):
        convert.joint_positions(JointState(name=["a", "b"], position=[1.0]), ["a", "b"])


def pose(position, quat=(0.0, 0.0, 0.0, 1.0)) -> Pose:
    return convert.pose_msg(position, quat, "", convert.time_msg(0.0)).pose


AXIS = load_chain(URDF / "so101.urdf").tool_axis


@pytest.mark.parametrize(
    ("position", "quat", "part"),
    [
        ((math.nan, 0.0, 0.1), (0, 0, 0, 1), "position"),
        ((0.2, math.inf, 0.1), (0, 0, 0, 1), "position"),
        ((0.2, 0.0, 0.1), (0, 0, 0, 0), "norm is 0"),
        ((0.2, 0.0, 0.1), (0, 0, 0, 2), "norm is 2"),
        ((0.2, 0.0, 0.1), (0, math.nan, 0, 1), "quat_xyzw"),
    ],
)
def test_nonsense_is_no_goal(position, quat, part):
    with pytest.raises(GoalError, match=part):
        convert.goal_from(pose(position, quat), np.eye(4), AXIS, "pose", 0.1)


def test_a_nearly_unit_quaternion_is_normalised():
    goal, note = convert.goal_from(
        pose((0.2, 0.0, 0.1), (0, 0.6 * 1.0005, 0, 0.8 * 1.0005)), np.eye(4), AXIS, "pose", 0.1
    )
    np.testing.assert_allclose(goal.quat_xyzw, [0, 0.6, 0, 0.8], atol=1e-9)
    assert note == ""


def test_what_of_a_pose_counts():
    turned = Rotation.from_euler("xyz", [0.3, 0.4, 0.5])
    for mode in ("position", "approach", "pose"):
        goal, _ = convert.goal_from(pose((0.2, 0.0, 0.1), turned.as_quat()), np.eye(4), AXIS, mode, 0.1)
        assert (goal.direction is not None, goal.quat_xyzw is not None) == (mode == "approach", mode == "pose")
        if mode == "approach":
            np.testing.assert_allclose(goal.direction, turned.apply(np.array(AXIS)), atol=1e-9)


def test_flat_goals_are_lifted_where_their_frame_stands_upright():
    yaw = (0.0, 0.0, math.sin(0.3), math.cos(0.3))
    message = pose((0.2, 0.1, 0.0), yaw)
    table = np.eye(4)
    table[2, 3] = 0.5
    goal, note = convert.goal_from(message, table, AXIS, "pose", 0.1)
    np.testing.assert_allclose(goal.position, [0.2, 0.1, 0.6])
    np.testing.assert_allclose(goal.direction, [math.cos(0.6), math.sin(0.6), 0.0], atol=1e-9)
    assert note.startswith("2D goal: the tip 0.1 m above it") and message.position.z == 0.0  # not ours to change
    leaning = np.eye(4)
    leaning[:3, :3] = Rotation.from_euler("x", 90, degrees=True).as_matrix()
    goal, note = convert.goal_from(message, leaning, AXIS, "pose", 0.1)
    assert goal.quat_xyzw is not None and note == ""
