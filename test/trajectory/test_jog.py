from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ik_solver_ros.errors import TrajectoryError
from ik_solver_ros.trajectory.jog import jog
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.trajectory import State

LOWER, UPPER, SPEED = np.array([-2.0, -1.0, 0.0]), np.array([2.0, 1.0, 0.3]), np.array([3.0, 1.0, 0.1])
LIMITS = MotionLimits.from_urdf(("a", "b", "c"), LOWER, UPPER, SPEED)

inside = st.tuples(st.floats(-2.0, 2.0), st.floats(-1.0, 1.0), st.floats(0.0, 0.3)).map(np.array)
velocities = st.tuples(st.floats(-4.0, 4.0), st.floats(-2.0, 2.0), st.floats(-0.2, 0.2)).map(np.array)


def at_1_khz(trajectory, start):
    times = np.arange(0.0, trajectory.duration + 0.01, 1e-3)
    return State(*(np.array(part) for part in zip(*(trajectory.state(t, start) for t in times))))


@given(inside, st.lists(velocities, min_size=1, max_size=6), st.floats(0.01, 0.3))
def test_a_stream_of_velocities_keeps_all_limits_and_ends_at_rest(start, stream, every):
    state = State.at_rest(start)
    for velocity in stream:
        trajectory = jog(state, velocity, 0.2, LIMITS)
        motion = at_1_khz(trajectory, state)
        assert (motion.position >= LOWER - 1e-6).all() and (motion.position <= UPPER + 1e-6).all()
        assert (np.abs(motion.velocity) <= SPEED * (1 + 1e-6)).all()
        assert (np.abs(motion.acceleration) <= LIMITS.acceleration * (1 + 1e-6)).all()
        assert not motion.velocity[-1].any()
        state = trajectory.state(every, state)


def test_the_velocity_is_had_where_there_is_room():
    trajectory = jog(State.at_rest(np.zeros(3) + 0.1), np.array([0.5, -0.2, 0.01]), 1.0, LIMITS)
    np.testing.assert_allclose(trajectory.state(0.9, State.at_rest(np.zeros(3))).velocity, [0.5, -0.2, 0.01], atol=1e-9)


def test_too_much_is_scaled_for_all_joints_alike():
    start = State.at_rest(np.array([-2.0, -1.0, 0.0]))
    velocity = jog(start, np.array([6.0, 1.0, 0.1]), 1.0, LIMITS).state(0.6, start).velocity
    np.testing.assert_allclose(velocity, [3.0, 0.5, 0.05], atol=1e-9)


def test_at_a_limit_it_comes_to_rest_there():
    start = State.at_rest(np.array([1.9, 0.0, 0.1]))
    end = jog(start, np.array([1.0, 0.0, 0.0]), 10.0, LIMITS).positions[-1]
    assert 1.9 < end[0] <= 2.0


def test_what_is_not_finite_is_refused():
    with pytest.raises(TrajectoryError, match="finite"):
        jog(State.at_rest(np.zeros(3)), np.array([np.nan, 0.0, 0.0]), 1.0, LIMITS)
