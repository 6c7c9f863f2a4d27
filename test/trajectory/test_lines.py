from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from ik_solver_ros.errors import GoalError
from ik_solver_ros.trajectory.lines import straight_lines

numbers = st.integers(0, 2**32 - 1)


def random_poses(seed, count=4):
    rng = np.random.default_rng(seed)
    return rng.uniform(-0.3, 0.3, (count, 3)), Rotation.random(count, random_state=seed % 2**31).as_quat()


def distance_to_polyline(points, corners):
    best = np.full(len(points), np.inf)
    for a, b in pairwise(corners):
        share = np.clip((points - a) @ (b - a) / max((b - a) @ (b - a), 1e-12), 0.0, 1.0)
        best = np.minimum(best, np.linalg.norm(points - a - share[:, np.newaxis] * (b - a), axis=1))
    return best


@given(numbers)
def test_stops_lie_on_the_poses_and_lines_are_straight(seed):
    p, r = random_poses(seed)
    lines = straight_lines(p, r)
    assert len(lines) == len(p) - 1
    for i, line in enumerate(lines):
        np.testing.assert_allclose(line.positions[[0, -1]], p[i : i + 2], atol=1e-12)
        assert distance_to_polyline(line.positions, p[i : i + 2]).max() < 1e-12
        assert (np.diff(line.s) > 0.0).all() and np.diff(line.s).max() <= 2e-3 + 1e-12
        ends = Rotation.from_quat(line.quats_xyzw[[0, -1]]) * Rotation.from_quat(r[i : i + 2]).inv()
        assert ends.magnitude().max() < 1e-7


@given(numbers)
def test_the_tool_turns_evenly_and_about_one_axis(seed):
    p, r = random_poses(seed, 2)
    (line,) = straight_lines(p, r)
    turns = Rotation.from_quat(line.quats_xyzw)
    steps = (turns[:-1].inv() * turns[1:]).as_rotvec()
    np.testing.assert_allclose(steps, np.tile(steps[0], (len(steps), 1)), atol=1e-9)


@settings(max_examples=40)
@given(numbers, st.floats(1e-4, 0.03))
def test_rounded_corners_are_missed_by_no_more_than_is_allowed(seed, rounding):
    p, r = random_poses(seed)
    (line,) = straight_lines(p, r, rounding=rounding)
    assert distance_to_polyline(line.positions, p).max() <= rounding + 1e-9
    np.testing.assert_allclose(line.positions[[0, -1]], p[[0, -1]], atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(line.quats_xyzw, axis=1), 1.0, atol=1e-12)
    # Smooth: where the way leads changes a little with every sample, never at once.
    way = np.diff(line.positions, axis=0) / np.diff(line.s)[:, np.newaxis]
    assert np.linalg.norm(np.diff(way, axis=0), axis=1).max() < 0.7


def test_a_corner_that_may_be_rounded_much_is_cut_by_as_much():
    p = [[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.2, 0.2, 0.0]]
    (line,) = straight_lines(p, [[0.0, 0.0, 0.0, 1.0]] * 3, rounding=0.01)
    assert 0.005 < np.linalg.norm(line.positions - p[1], axis=1).min() < 0.0101


def test_poses_at_one_place_are_one():
    quat = [0.0, 0.0, 0.0, 1.0]
    assert straight_lines([[0.1, 0.0, 0.0]] * 3, [quat] * 3) == []
    assert len(straight_lines([[0.1, 0.0, 0.0], [0.1, 0.0, 0.0], [0.2, 0.0, 0.0]], [quat] * 3)) == 1


def test_a_turn_on_the_spot_is_a_path_too():
    quats = Rotation.from_euler("z", [[0.0], [90.0]], degrees=True).as_quat()
    (line,) = straight_lines([[0.1, 0.0, 0.0]] * 2, quats)
    assert line.s[-1] == pytest.approx(0.1 * np.pi / 2)


@pytest.mark.parametrize(
    ("positions", "quats", "word"),
    [
        ([[0.0, 0.0, np.nan]], [[0.0, 0.0, 0.0, 1.0]], "finite"),
        ([[0.0, 0.0]], [[0.0, 0.0, 0.0, 1.0]], "are wanted"),
        ([[0.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]], "are wanted"),
    ],
)
def test_what_is_no_path_is_refused(positions, quats, word):
    with pytest.raises(GoalError, match=word):
        straight_lines(positions, quats)
