"""A simulation that stalls goes on where it was."""

from __future__ import annotations

import numpy as np
import pytest

from ik_solver_ros.control.follower import TrajectoryEnd, TrajectoryFollower
from ik_solver_ros.control.follower_group import FollowerGroup
from ik_solver_ros.control.late_followers import LateFollowers
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.plan import plan
from ik_solver_ros.trajectory.trajectory import State

NAMES, SPEED, PERIOD = ("a", "b"), 2.0, 1.0 / 240.0


@pytest.mark.parametrize("stall", [0.1, 1.0, 30.0])
def test_a_stall_is_no_leap(stall):
    limits = MotionLimits.from_urdf(NAMES, np.full(2, -3.0), np.full(2, 3.0), np.full(2, SPEED))
    followers = LateFollowers(FollowerGroup({"arm": (TrajectoryFollower(limits, np.zeros(2)), [0, 1])}), PERIOD)
    now = 100.0
    followers.advance(now)
    target = np.array([1.5, -1.0])
    followers.accept("arm", plan(State.at_rest(np.zeros(2)), target, limits), now)
    led = [np.zeros(2)]
    for i in range(1000):
        now += stall if i == 100 else PERIOD
        led.append(followers.advance(now)[0])
        followers.supervise(led[-1], np.zeros(2))
    assert np.abs(np.diff(led, axis=0)).max() <= 1.2 * SPEED * PERIOD
    np.testing.assert_allclose(led[-1], target, atol=1e-9)
    assert [ending.how for _, ending in followers.endings()] == [TrajectoryEnd.DONE]
    followers.hold(now)
    assert followers.setpoint("arm", now).velocity == pytest.approx(0.0)
