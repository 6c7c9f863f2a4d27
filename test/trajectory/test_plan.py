from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ik_solver_ros.errors import GoalError, TrajectoryError
from ik_solver_ros.trajectory.limits import ASSUMED_VELOCITY, MotionLimits
from ik_solver_ros.trajectory.motion import MotionPlanner
from ik_solver_ros.trajectory.plan import plan, plan_stop
from ik_solver_ros.trajectory.trajectory import State

NAMES = ("a", "b", "c")
LIMITS = MotionLimits.from_urdf(
    NAMES, np.array([-2.0, -1.0, 0.0]), np.array([2.0, 1.0, 0.3]), np.array([3.0, 1.0, 0.1])
)

inside = st.tuples(st.floats(-2.0, 2.0), st.floats(-1.0, 1.0), st.floats(0.0, 0.3)).map(np.array)


def samples(trajectory, origin, rate=500.0):
    times = np.arange(0.0, trajectory.duration + 0.05, 1.0 / rate)
    states = [trajectory.state(t, origin) for t in times]
    return State(*(np.array(part) for part in zip(*states)))


def assert_within_limits(motion: State, slack=1e-6):
    for i in range(len(NAMES)):
        assert motion.position[:, i].min() >= LIMITS.lower[i] - slack
        assert motion.position[:, i].max() <= LIMITS.upper[i] + slack
        assert np.abs(motion.velocity[:, i]).max() <= LIMITS.velocity[i] * (1 + slack)
        assert np.abs(motion.acceleration[:, i]).max() <= LIMITS.acceleration[i] * (1 + slack)


@given(inside, inside)
def test_from_rest_to_rest(start, target):
    trajectory = plan(State.at_rest(start), target, LIMITS)
    assert (np.diff(trajectory.times) > 0).all() and trajectory.times[0] > 0
    assert trajectory.positions[-1].tolist() == target.tolist()
    assert not trajectory.velocities[-1].any()
    motion = samples(trajectory, State.at_rest(start))
    assert_within_limits(motion)
    np.testing.assert_allclose(motion.position[0], start, atol=1e-12)


@given(inside, inside)
def test_from_rest_the_way_is_straight(start, target):
    motion = samples(plan(State.at_rest(start), target, LIMITS), State.at_rest(start), rate=100.0)
    way = target - start
    if np.linalg.norm(way) > 0.01:
        off = motion.position - start
        along = off @ way / (way @ way)
        np.testing.assert_allclose(off, along[:, np.newaxis] * way, atol=1e-6)


@given(inside, inside, inside, st.floats(0.05, 0.95))
def test_a_new_goal_bends_the_motion(start, first, second, share):
    origin = State.at_rest(start)
    old = plan(origin, first, LIMITS)
    bend = old.state(share * old.duration, origin)
    new = plan(bend, second, LIMITS)
    motion = samples(new, bend)
    assert_within_limits(motion)
    for k in range(3):
        np.testing.assert_allclose(motion[k][0], bend[k], atol=1e-8)
    assert new.positions[-1].tolist() == second.tolist()


@given(inside, inside, st.floats(0.05, 0.95))
def test_stopping(start, target, share):
    origin = State.at_rest(start)
    old = plan(origin, target, LIMITS)
    bend = old.state(share * old.duration, origin)
    stop = plan_stop(bend, LIMITS)
    motion = samples(stop, bend)
    assert_within_limits(motion)
    assert not motion.velocity[-1].any()
    assert stop.duration <= 0.25 + 2 * 0.1 + 1e-6  # the ramp, and the jerk at both its ends


def test_few_points_say_it_all():
    trajectory = plan(State.at_rest(np.zeros(3)), np.array([1.0, -0.5, 0.2]), LIMITS)
    assert len(trajectory.times) <= 8


def test_where_it_is_already():
    trajectory = plan(State.at_rest(np.zeros(3)), np.zeros(3), LIMITS)
    assert trajectory.duration > 0.0 and trajectory.positions.tolist() == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nonsense_is_refused(bad):
    rest = State.at_rest(np.zeros(3))
    with pytest.raises(TrajectoryError, match="finite"):
        plan(rest, np.array([0.0, bad, 0.0]), LIMITS)
    with pytest.raises(TrajectoryError, match="finite"):
        plan(State.at_rest(np.array([bad, 0.0, 0.0])), np.zeros(3), LIMITS)


def test_what_a_urdf_lacks_is_assumed_and_said():
    limits = MotionLimits.from_urdf(("a", "b"), -np.ones(2), np.ones(2), np.array([np.nan, 2.0]))
    assert limits.velocity.tolist() == [ASSUMED_VELOCITY, 2.0]
    assert "no velocity limit for a:" in limits.assumed[0] and "acceleration" in limits.assumed[1]
    with pytest.raises(GoalError, match="ramp_time"):
        MotionLimits.from_urdf(("a",), -np.ones(1), np.ones(1), np.ones(1), ramp_time=0.0)


def test_speed_scale_slows_but_brakes_as_hard():
    slow = LIMITS.scaled(0.5)
    assert slow.velocity.tolist() == (0.5 * LIMITS.velocity).tolist()
    assert slow.acceleration is LIMITS.acceleration


class TestMotionPlanner:
    def test_from_rest_at_once_and_in_motion_a_little_later(self):
        planner = MotionPlanner(LIMITS, replan_lead=0.02)
        at = np.array([0.1, 0.0, 0.1])
        first = planner.plan_to(np.array([1.0, 0.5, 0.2]), at, now=10.0)
        assert first.start is None and planner.moving(10.1)
        second = planner.plan_to(np.array([-1.0, 0.5, 0.2]), at, now=10.3)
        assert second.start == pytest.approx(10.32)
        expected = first.trajectory.state(0.32, first.origin)
        for got, wanted in zip(second.origin, expected):
            np.testing.assert_allclose(got, wanted)

    def test_a_sagging_arm_is_not_chased(self):
        planner = MotionPlanner(LIMITS)
        target = np.array([1.0, 0.5, 0.2])
        planner.plan_to(target, np.zeros(3), now=0.0)
        again = planner.plan_to(target, target - 0.01, now=100.0)
        assert again.start is None and again.origin.position.tolist() == target.tolist()

    def test_an_arm_that_was_moved_by_hand_starts_where_it_is(self):
        planner = MotionPlanner(LIMITS)
        planner.plan_to(np.array([1.0, 0.5, 0.2]), np.zeros(3), now=0.0)
        elsewhere = np.array([0.0, 0.0, 0.1])
        assert planner.plan_to(np.zeros(3), elsewhere, now=100.0).origin.position.tolist() == elsewhere.tolist()

    def test_stop(self):
        planner = MotionPlanner(LIMITS)
        planner.plan_to(np.array([1.0, 0.5, 0.2]), np.zeros(3), now=0.0)
        stop = planner.stop(np.zeros(3), now=0.3)
        assert stop.trajectory.duration < 0.5
        assert not planner.moving(1.0)

    def test_before_anything_was_sent(self):
        planner = MotionPlanner(LIMITS)
        assert planner.commanded(0.0) is None and not planner.moving(0.0)
