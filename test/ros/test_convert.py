from __future__ import annotations

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

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
