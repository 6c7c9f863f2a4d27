"""Following a path: no jump where there need be none, and hysteresis where there is no exact answer."""

from __future__ import annotations

import math

import numpy as np
import pytest
from conftest import MORE, tool_direction

from ik_solver_ros import Goal, SolverOptions, Status, Tracker, load_chain, solve
from ik_solver_ros.errors import GoalError
from ik_solver_ros.solvers.track import extrapolated_start, idle_motions


def smooth(chain, rng, points=300):
    s = np.linspace(0.0, 1.0, points)[:, None]
    wave = sum(rng.normal(size=chain.n) * np.sin(2 * np.pi * (k * s + rng.uniform(size=chain.n))) / k for k in (1, 2))
    return chain.mid + 0.49 * (chain.upper - chain.lower) * wave / np.abs(wave).max(axis=0)


def follow(chain, goals, q, options=SolverOptions()):  # noqa: B008 (it cannot be changed)
    tracker = Tracker(chain, q, options=options)
    return [tracker.solve(goal) for goal in goals]


@pytest.mark.parametrize("kind", ["approach", "pose"])
def test_no_jump_on_a_feasible_path(arm, kind):
    """Through full ranges, limits and singular postures: no step is over 1.5 times the path's own largest."""
    rng = np.random.default_rng(41)
    for _ in range(3):
        path = smooth(arm, rng)
        goals = []
        for q in path[1:]:
            p, quat = arm.forward(q)
            goals.append(Goal.pose(p, quat) if kind == "pose" else Goal.approach(p, tool_direction(arm, quat)))
        answers = follow(arm, goals, path[0])
        assert all(answer.status is Status.REACHED for answer in answers)
        steps = np.abs(np.diff([path[0], *(answer.q for answer in answers)], axis=0)).max()
        assert steps <= 1.5 * np.abs(np.diff(path, axis=0)).max()


def test_an_elbow_goes_straight_through_where_it_is_straight(seed_arm):
    """Where the branches meet, the way it came decides: the elbow is bent the other way afterwards."""
    path = np.zeros((41, 5))
    path[:, 1], path[:, 3] = 0.3, 0.4
    path[:, 2] = np.linspace(0.4, -0.4, 41) - 0.06  # straight somewhere between
    goals = [Goal.pose(*seed_arm.forward(q)) for q in path[1:]]
    answers = follow(seed_arm, goals, path[0])
    np.testing.assert_allclose([answer.q for answer in answers], path[1:], atol=1e-4)


def unreachable(chain, rng):
    path = chain.mid + 0.3 * (smooth(chain, rng) - chain.mid)
    direction = rng.normal(size=3)
    return [Goal.approach(chain.forward(q)[0], direction) for q in path]


def test_the_hysteresis_bounds_what_is_given_up(chain):
    rng = np.random.default_rng(42)
    flips = {}
    for degrees in (0.0, 20.0):
        options = SolverOptions(hysteresis=math.radians(degrees))
        rng, flips[degrees] = np.random.default_rng(42), 0
        for _ in range(6):
            goals = unreachable(chain, rng)
            answers = follow(chain, goals, solve(chain, goals[0]).q, options)
            for goal, answer in list(zip(goals, answers))[::25]:
                best = solve(chain, goal)
                assert answer.position_error < 1e-6
                assert answer.approach_error <= best.approach_error + math.radians(degrees) + 2e-3
            flips[degrees] += int(np.sum(np.abs(np.diff([a.q for a in answers], axis=0)).max(axis=1) > 0.3))
    assert flips[20.0] <= flips[0.0]


def test_what_a_redundant_arm_may_do_idly_is_not_carried_on():
    chain = load_chain(MORE / "panda.urdf")
    q = chain.mid + 0.3
    goal = Goal.approach(chain.forward(q)[0], [0, 0, -1])
    idle = idle_motions(chain, goal, q)
    assert idle.shape == (2, 7)
    np.testing.assert_allclose(chain.jacobian(q)[:3] @ idle.T, 0.0, atol=1e-12)
    start = extrapolated_start(chain, goal, q, q - 0.01 * idle[0])
    assert np.abs(start - q).max() <= 0.01
    np.testing.assert_array_equal(extrapolated_start(chain, goal, q, q), q)


def test_a_tracker_is_where_it_was_last(so101):
    tracker = Tracker(so101)
    assert (tracker.q == so101.mid).all()
    answer = tracker.solve(Goal.point([0.2, 0.0, 0.2]))
    assert (tracker.q == answer.q).all()
    tracker.restart(so101.lower)
    assert (tracker.q == so101.lower).all()
    tracker.q[:] = 9.0
    assert (tracker.q == so101.lower).all(), "what it gives out is a copy"
    with pytest.raises(GoalError, match="q0"):
        tracker.restart([0.0, math.inf, 0, 0, 0])
    assert (tracker.q == so101.lower).all()


def test_q_before_of_old_goes_on_working(so101):
    goal, q, before = Goal.point([0.2, 0.0, 0.2]), so101.mid, so101.mid - 0.01
    with pytest.warns(DeprecationWarning, match="Tracker"):
        old = solve(so101, goal, q, q_before=before, options=SolverOptions(track=True))
    start = extrapolated_start(so101, goal, q, before)
    assert old.q.tobytes() == solve(so101, goal, start, options=SolverOptions(track=True)).q.tobytes()
    with pytest.warns(DeprecationWarning), pytest.raises(GoalError, match="q_before"):
        solve(so101, goal, q, q_before=[0.0, math.inf, 0, 0, 0])
