from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from conftest import tool_direction
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ik_solver_ros import Goal, solve
from ik_solver_ros.errors import GoalError
from ik_solver_ros.trajectory.cartesian import PathOptions, plan_tip_path
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.trajectory import State

DOWN = [1.0, 0.0, 0.0, 0.0]
SQUARE = [[0.2, -0.1, 0.03], [0.2, 0.1, 0.03], [0.25, 0.1, 0.05], [0.25, -0.1, 0.03]]


@pytest.fixture(scope="module")
def limits(so101):
    return MotionLimits.from_urdf(so101.joint_names, so101.lower, so101.upper, so101.velocity_limit)


@pytest.fixture(scope="module")
def start(so101):
    return solve(so101, Goal.approach(SQUARE[0], [0.0, 0.0, -1.0])).q


def followed(chain, motion, start, every=1e-3):
    times = np.arange(0.0, motion.trajectory.duration + every, every)
    states = [motion.trajectory.state(t, State.at_rest(start)) for t in times]
    frames = [chain.forward(state.position) for state in states]
    return (
        State(*(np.array(part) for part in zip(*states))),
        np.array([p for p, _ in frames]),
        np.array([tool_direction(chain, r) for _, r in frames]),
    )


def off_the_lines(points, corners):
    best = np.full(len(points), np.inf)
    for a, b in pairwise(corners):
        a, b = np.array(a), np.array(b)
        share = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        best = np.minimum(best, np.linalg.norm(points - a - share[:, np.newaxis] * (b - a), axis=1))
    return best.max()


@pytest.mark.parametrize("rounding", [0.0, 2e-3])
def test_the_tip_keeps_to_the_lines_and_the_joints_to_their_limits(so101, limits, start, rounding):
    motion = plan_tip_path(
        so101, start, SQUARE[1:], [DOWN] * 3, limits, PathOptions(mode="approach", rounding=rounding)
    )
    assert motion.fraction == 1.0 and motion.reason == ""
    state, tips, tools = followed(so101, motion, start)
    assert off_the_lines(tips, SQUARE) <= 1e-3 + rounding
    assert np.degrees(np.arccos(np.clip(-tools[:, 2], -1.0, 1.0))).max() <= 0.5
    assert (np.abs(state.velocity) <= limits.velocity * (1 + 1e-6)).all()
    assert (np.abs(state.acceleration) <= limits.acceleration * 1.01).all()
    np.testing.assert_allclose(tips[-1], SQUARE[-1], atol=1e-4)
    # It stops at the corners, or goes round them.
    stops = np.sum((np.abs(state.velocity[100:-100]) < 1e-2).all(axis=1))
    assert stops > 0 if rounding == 0.0 else stops == 0


def test_a_speed_of_the_tip_is_kept(so101, limits, start):
    motion = plan_tip_path(so101, start, SQUARE[1:2], [DOWN], limits, PathOptions(mode="approach", speed=0.05))
    _, tips, _ = followed(so101, motion, start)
    assert np.linalg.norm(np.diff(tips, axis=0), axis=1).max() / 1e-3 <= 0.05 * 1.01
    assert motion.trajectory.duration == pytest.approx(0.2 / 0.05, rel=0.2)


def test_what_is_out_of_reach_is_left_out(so101, limits, start):
    motion = plan_tip_path(
        so101, start, [[0.3, 0.1, 0.03], [0.9, 0.1, 0.03]], [DOWN] * 2, limits, PathOptions(mode="position")
    )
    assert 0.1 < motion.fraction < 0.6 and motion.reason
    _, tips, _ = followed(so101, motion, start)
    assert off_the_lines(tips, [SQUARE[0], [0.3, 0.1, 0.03], [0.9, 0.1, 0.03]]) <= 1e-3


def test_a_path_that_goes_nowhere_is_done(so101, limits, start):
    tip, quat = so101.forward(start)
    motion = plan_tip_path(so101, start, [tip], [quat], limits)
    assert motion.trajectory is None and motion.fraction == 1.0


def test_poses_that_are_not_finite_are_refused(so101, limits, start):
    with pytest.raises(GoalError, match="pose 1"):
        plan_tip_path(so101, start, [[np.nan, 0.0, 0.0]], [DOWN], limits)


def test_a_mode_that_there_is_not_is_refused():
    with pytest.raises(GoalError, match="mode = 'orientation': one of pose, approach, position is wanted"):
        PathOptions(mode="orientation")


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_random_lines_keep_the_limits_as_far_as_they_go(so101, limits, seed):
    rng = np.random.default_rng(seed)
    start = rng.uniform(0.8 * so101.lower + 0.2 * so101.upper, 0.2 * so101.lower + 0.8 * so101.upper)
    tip = np.array(so101.forward(start)[0])
    corners = [tip, *(tip + np.cumsum(rng.uniform(-0.05, 0.05, (3, 3)), axis=0))]
    motion = plan_tip_path(so101, start, corners[1:], [DOWN] * 3, limits, PathOptions(mode="position", rounding=1e-3))
    if motion.trajectory is None:
        return
    state, tips, _ = followed(so101, motion, start, 2e-3)
    assert off_the_lines(tips, corners) <= 2e-3
    assert (np.abs(state.velocity) <= limits.velocity * (1 + 1e-6)).all()
    assert (state.position >= so101.lower - 1e-6).all() and (state.position <= so101.upper + 1e-6).all()


@settings(max_examples=30, deadline=None)
@example(12, "pose")  # of which a first part can be done: cut off, the curve is not the one that was looked at before
@given(st.integers(0, 2**32 - 1), st.sampled_from(["position", "approach", "pose"]))
def test_a_joint_that_comes_to_its_limit_on_the_way_stays_there(so101, limits, seed, mode):
    rng = np.random.default_rng(seed)
    start = rng.uniform(so101.lower, so101.upper)
    tip, quat = so101.forward(start)
    corner = tip + rng.uniform(-0.1, 0.1, 3)
    motion = plan_tip_path(so101, start, [corner], [quat], limits, PathOptions(mode=mode))
    if motion.trajectory is None:
        return
    state, tips, tools = followed(so101, motion, start, 4e-3)
    assert (state.position >= so101.lower - 1e-9).all() and (state.position <= so101.upper + 1e-9).all()
    assert off_the_lines(tips, [tip, corner]) <= 1e-3
    if mode != "position":
        assert np.degrees(np.arccos(np.clip(tools @ tool_direction(so101, quat), -1.0, 1.0))).max() <= 0.5
