from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ik_solver_ros.errors import TrajectoryError
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.timing import time_path
from ik_solver_ros.trajectory.trajectory import State

LIMITS = MotionLimits.from_urdf(("a", "b", "c"), np.full(3, -9.0), np.full(3, 9.0), np.array([3.0, 1.0, 0.5]))


def smooth_path(seed, count=120, length=0.4):
    rng = np.random.default_rng(seed)
    s = np.linspace(0.0, length, count)
    waves = sum(
        rng.normal(size=3) / k * np.sin(2 * np.pi * k * s[:, np.newaxis] / length + rng.uniform(0, 6, 3))
        for k in (1, 2)
    )
    return s, waves * rng.uniform(0.05, 1.0)


def at_1_khz(trajectory, start):
    times = np.arange(0.0, trajectory.duration + 0.01, 1e-3)
    return State(*(np.array(part) for part in zip(*(trajectory.state(t, State.at_rest(start)) for t in times))))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_limits_are_kept_and_used(seed):
    s, q = smooth_path(seed)
    trajectory = time_path(s, q, LIMITS)
    assert (np.diff(trajectory.times) > 0.0).all() and trajectory.times[0] > 0.0
    motion = at_1_khz(trajectory, q[0])
    velocity = np.abs(motion.velocity / LIMITS.velocity).max()
    acceleration = np.abs(motion.acceleration / LIMITS.acceleration).max()
    jerk = np.abs(np.diff(motion.acceleration, axis=0) / 1e-3 / LIMITS.jerk).max()
    assert velocity <= 1.0 + 1e-6 and acceleration <= 1.01
    assert jerk <= 1.5  # quintics between points are a little off
    assert max(velocity, acceleration, jerk) > 0.9


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_it_stays_on_the_path_and_ends_at_rest(seed):
    s, q = smooth_path(seed)
    motion = at_1_khz(time_path(s, q, LIMITS), q[0])
    fine = np.linspace(0.0, s[-1], 4000)
    curve = np.column_stack([np.interp(fine, s, q[:, i]) for i in range(3)])
    off = [np.abs(curve - position).max(axis=1).min() for position in motion.position[::20]]
    assert max(off) < 3e-3  # between samples a polyline is off by as much
    np.testing.assert_allclose(motion.position[0], q[0], atol=1e-9)
    np.testing.assert_allclose(motion.position[-1], q[-1], atol=1e-9)
    assert not motion.velocity[-1].any()


def test_a_speed_is_kept():
    s, q = smooth_path(1)
    trajectory = time_path(s, q, LIMITS, speed=0.01)
    assert trajectory.duration > 0.4 / 0.01
    assert trajectory.duration < 1.2 * 0.4 / 0.01


def test_a_narrow_place_slows_the_rest_down_no_more_than_it_must():
    s = np.linspace(0.0, 0.4, 200)
    bend = np.tanh((s - 0.2) / 0.01)
    narrow = np.column_stack([s, 0.2 * bend, 0.0 * s])
    alone = time_path(s, np.column_stack([s, 0.0 * s, 0.0 * s]), LIMITS)
    both = time_path(s, narrow, LIMITS)
    turn = time_path(np.linspace(0.0, 0.4, 20), np.linspace([0.0] * 3, [0.0, 0.4, 0.0], 20), LIMITS)
    assert both.duration < 3.0 * (alone.duration + turn.duration)


@pytest.mark.parametrize("speed", [0.0, -1.0, np.nan])
def test_a_speed_that_is_none_is_refused(speed):
    s, q = smooth_path(1)
    with pytest.raises(TrajectoryError, match="speed"):
        time_path(s, q, LIMITS, speed=speed)


def test_few_samples_will_do():
    trajectory = time_path(np.array([0.0, 0.1]), np.array([[0.0] * 3, [0.1] * 3]), LIMITS)
    np.testing.assert_allclose(trajectory.positions[-1], 0.1)
