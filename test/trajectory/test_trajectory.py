from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ik_solver_ros.trajectory.trajectory import State, Trajectory

number = st.floats(-2.0, 2.0)
NAMES = ("a", "b")


def state(draw_from) -> State:
    return State(*(np.array(part) for part in np.reshape(draw_from, (3, 2))))


@given(st.lists(number, min_size=12, max_size=12), st.floats(0.05, 3.0), st.sampled_from([1, 2, 3]))
def test_segments_meet_their_points(numbers, duration, orders):
    """Linear segments meet positions, cubics velocities too, quintics accelerations too; and they are derivatives."""
    start, end = state(numbers[:6]), state(numbers[6:])
    trajectory = Trajectory(
        NAMES,
        np.array([duration]),
        end.position[np.newaxis],
        end.velocity[np.newaxis] if orders > 1 else None,
        end.acceleration[np.newaxis] if orders > 2 else None,
    )
    first = trajectory.between(start, trajectory.point(0), duration, 0.0)
    last = trajectory.between(start, trajectory.point(0), duration, duration)
    for k in range(orders):
        np.testing.assert_allclose(first[k], start[k], atol=1e-9)
        np.testing.assert_allclose(last[k], end[k], atol=1e-7)
    t, h = 0.4 * duration, 1e-5 * duration
    before, at, after = (trajectory.between(start, trajectory.point(0), duration, s) for s in (t - h, t, t + h))
    np.testing.assert_allclose(at.velocity, (after.position - before.position) / (2 * h), atol=1e-4)
    np.testing.assert_allclose(at.acceleration, (after.velocity - before.velocity) / (2 * h), rtol=1e-4, atol=1e-3)


def test_before_between_and_after_the_points():
    trajectory = Trajectory(NAMES, np.array([1.0, 2.0]), np.array([[1.0, 0.0], [1.0, 4.0]]))
    start = State.at_rest(np.zeros(2))
    assert trajectory.state(0.0, start).position.tolist() == [0.0, 0.0]
    assert trajectory.state(0.5, start).position.tolist() == [0.5, 0.0]
    assert trajectory.state(1.5, start).position.tolist() == [1.0, 2.0]
    assert trajectory.state(1.5, start).velocity.tolist() == [0.0, 4.0]
    for late in (2.0, 99.0):
        assert trajectory.state(late, start).position.tolist() == [1.0, 4.0]
        assert trajectory.state(late, start).velocity.tolist() == [0.0, 0.0]


def test_what_is_left_of_a_trajectory():
    rows = np.arange(6.0).reshape(3, 2)
    whole = Trajectory(NAMES, np.array([1.0, 2.0, 4.0]), rows, 10.0 * rows, 100.0 * rows)
    for t, times in ((0.5, [0.5, 1.5, 3.5]), (1.0, [1.0, 3.0]), (3.0, [1.0]), (4.0, []), (9.0, [])):
        left = whole.from_time(t)
        assert left.times.tolist() == times
        for k, column in enumerate((left.positions, left.velocities, left.accelerations)):
            assert column.tolist() == (10.0**k * rows[3 - len(times) :]).tolist()
    positions_only = Trajectory(NAMES, whole.times, rows).from_time(1.5)
    assert positions_only.velocities is None and positions_only.accelerations is None


def test_an_empty_trajectory_stays_where_it_is():
    empty = Trajectory(NAMES, np.zeros(0), np.zeros((0, 2)))
    start = State.at_rest(np.array([1.0, 2.0]))
    assert empty.duration == 0.0
    assert empty.state(5.0, start).position.tolist() == [1.0, 2.0]


def test_whole_segments_at_once():
    trajectory = Trajectory(NAMES, np.array([1.0]), np.ones((1, 2)), np.zeros((1, 2)), np.zeros((1, 2)))
    start = State.at_rest(np.zeros(2))
    many = trajectory.between(start, trajectory.point(0), 1.0, np.linspace(0.0, 1.0, 5)[:, np.newaxis])
    for i, t in enumerate(np.linspace(0.0, 1.0, 5)):
        one = trajectory.between(start, trajectory.point(0), 1.0, t)
        assert many.position[i] == pytest.approx(one.position)
        assert many.velocity[i] == pytest.approx(one.velocity)


@pytest.mark.parametrize("orders", [1, 2, 3])
def test_many_moments_at_once(orders):
    rng = np.random.default_rng(orders)
    columns = [rng.normal(size=(4, 2)) if k < orders else None for k in range(3)]
    trajectory = Trajectory(NAMES, np.array([0.1, 0.5, 0.6, 2.0]), *columns)
    start = State(*rng.normal(size=(3, 2)))
    times = np.array([0.0, 0.05, 0.1, 0.55, 1.9, 2.0, 7.0])
    states = trajectory.states(times, start)
    for i, t in enumerate(times):
        for many, one in zip(states, trajectory.state(t, start)):
            np.testing.assert_allclose(many[i], one, atol=1e-12)


def test_many_moments_of_an_empty_trajectory():
    start = State.at_rest(np.array([1.0, 2.0]))
    states = Trajectory(NAMES, np.zeros(0), np.zeros((0, 2))).states(np.array([0.0, 1.0]), start)
    assert states.position.tolist() == [[1.0, 2.0]] * 2
