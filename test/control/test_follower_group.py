"""The followers of an arm together: each leads its own joints."""

from __future__ import annotations

import numpy as np
import pytest

from ik_solver_ros.control.follower import TrajectoryEnd, TrajectoryFollower
from ik_solver_ros.control.follower_group import FollowerGroup
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.trajectory import Trajectory

ARM, GRIPPER = ("a", "c"), ("b",)
HERE = np.array([0.1, 0.2, 0.3])  # of a, b, c


def follower(names, positions):
    bound = np.full(len(names), 2.0)
    return TrajectoryFollower(MotionLimits.from_urdf(names, -bound, bound, bound), positions)


@pytest.fixture
def group():
    return FollowerGroup({"arm": (follower(ARM, HERE[[0, 2]]), [0, 2]), "gripper": (follower(GRIPPER, HERE[[1]]), [1])})


def to(names, *positions, seconds=1.0):
    return Trajectory(names, np.array([seconds]), np.array([positions], dtype=float), np.zeros((1, len(names))))


def test_each_leads_its_own_joints_of_the_arm(group):
    assert [part.tolist() for part in group.advance(0.0)] == [HERE.tolist(), [0.0, 0.0, 0.0]]
    group.accept("arm", to(ARM, 1.0, 0.5), 0.0)
    group.accept("gripper", to(GRIPPER, -1.0), 0.0)
    positions, velocities = group.advance(0.5)
    assert positions[1] < HERE[1] and velocities[1] < 0.0 < velocities[0]
    assert group.advance(1.0)[0].tolist() == [1.0, -1.0, 0.5] and not group.moving(1.0)
    assert group.setpoint("arm", 1.0).position.tolist() == [1.0, 0.5]


def test_one_holds_or_all_do(group):
    for name, motion in (("arm", to(ARM, 1.0, 1.0, seconds=2.0)), ("gripper", to(GRIPPER, 1.0, seconds=2.0))):
        group.accept(name, motion, 0.0)
    group.hold(0.5, "gripper")
    assert group.moving(1.5) and abs(group.setpoint("gripper", 1.5).velocity[0]) == 0.0
    group.hold(1.0)
    assert not group.moving(2.0) and group.setpoint("arm", 2.0).position[0] < 0.95
    assert [(name, e.how) for name, e in group.endings()] == [
        ("arm", TrajectoryEnd.HELD),
        ("gripper", TrajectoryEnd.HELD),
    ]


def test_a_new_trajectory_for_one_leaves_the_other_alone(group):
    group.accept("arm", to(ARM, 1.0, 1.0), 0.0)
    group.accept("gripper", to(GRIPPER, 1.0), 0.0)
    group.accept("gripper", to(GRIPPER, 0.0, seconds=2.0), 0.3)
    assert [(name, e.how) for name, e in group.endings()] == [("gripper", TrajectoryEnd.REPLACED)]
    assert group.advance(1.0)[0][[0, 2]].tolist() == [1.0, 1.0]


def test_all_are_supervised_by_their_own_joints(group):
    group.accept("arm", to(ARM, 1.0, 1.0), 0.0)
    group.accept("gripper", to(GRIPPER, -1.0), 0.0)
    for now in np.arange(0.0, 1.5, 0.1):
        group.supervise(now, *group.advance(now))
    assert sorted((name, e.how) for name, e in group.endings()) == [
        ("arm", TrajectoryEnd.DONE),
        ("gripper", TrajectoryEnd.DONE),
    ]


def test_parking_leads_the_named_joints_slowly_and_leaves_the_others(group):
    group.go_to({"a": -1.0, "b": 0.0}, 0.0, 0.1)
    fastest, now = np.zeros(3), 0.0
    while group.moving(now):
        now += 0.01
        fastest = np.maximum(fastest, np.abs(group.advance(now)[1]))
    assert group.advance(now)[0].tolist() == [-1.0, 0.0, 0.3]
    assert (fastest <= [0.2001, 0.2001, 0.0]).all() and fastest[0] > 0.1
