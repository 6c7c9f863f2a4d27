"""The default solver: exact where an exact answer exists, the nearest elsewhere, the same each time."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_q, random_urdf, tool_direction
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from ik_solver_ros import Goal, SolverOptions, Status, load_chain, solve
from ik_solver_ros.kinematics.kernels import Frames, Row, joint_frames
from ik_solver_ros.solvers.ccdik import descent
from ik_solver_ros.solvers.problem import Problem, prepare


def goal_at(chain, q, kind):
    p, quat = chain.forward(q)
    if kind == "approach":
        return Goal.approach(p, tool_direction(chain, quat))
    return Goal.pose(p, quat) if kind == "pose" else Goal.point(p)


@pytest.mark.parametrize("kind", ["point", "approach", "pose"])
def test_sampled_goals_are_reached(chain, kind):
    """At 1e-6 m and 1e-6 rad: 99.9 % of 2,000, by forward kinematics."""
    rng = np.random.default_rng(11)
    missed = 0
    for _ in range(2000):
        solution = solve(chain, goal_at(chain, random_q(chain, rng), kind))
        missed += solution.status is not Status.REACHED
        assert (solution.q >= chain.lower).all() and (solution.q <= chain.upper).all()
    assert missed <= 2


@given(
    st.lists(st.sampled_from(["revolute", "continuous", "prismatic"]), min_size=3, max_size=7),
    st.integers(0, 2**32 - 1),
)
def test_points_on_any_chain(types, seed):
    chain = load_chain(random_urdf(seed, types), tip_link=f"link{len(types) - 1}")
    solution = solve(chain, goal_at(chain, random_q(chain, np.random.default_rng(seed)), "point"))
    assert solution.position_error < 1e-6
    assert (solution.q >= chain.lower).all() and (solution.q <= chain.upper).all()


def test_the_answer_is_near_where_the_arm_is(chain):
    """A goal a small way off is answered by a small move, without a flip."""
    rng = np.random.default_rng(12)
    for _ in range(200):
        q = random_q(chain, rng, margin=0.1)
        nearby = q + rng.uniform(-0.02, 0.02, chain.n)
        solution = solve(chain, goal_at(chain, nearby, "pose"), q)
        assert solution.status is Status.REACHED
        assert np.max(np.abs(solution.q - q)) < 0.2


def test_where_the_arm_is_already(chain):
    q = random_q(chain, np.random.default_rng(13), margin=0.1)
    solution = solve(chain, goal_at(chain, q, "pose"), q)
    np.testing.assert_array_equal(solution.q, q)
    assert solution.iterations == 0


def nearest_by_scipy(chain, target, start):
    found = least_squares(lambda q: chain.forward(q)[0] - target, start, bounds=(chain.lower, chain.upper))
    return np.linalg.norm(found.fun)


def test_out_of_reach_is_the_nearest_point(chain):
    """Against scipy's bounded least squares from many starts."""
    rng = np.random.default_rng(14)
    for _ in range(5):
        direction = rng.normal(size=3)
        target = direction / np.linalg.norm(direction) * (chain.reach + rng.uniform(0.05, 3.0))
        solution = solve(chain, Goal.point(target))
        assert solution.status is Status.NEAREST_POSITION
        best = min(nearest_by_scipy(chain, target, random_q(chain, rng)) for _ in range(12))
        assert solution.position_error <= best + 1e-5


def test_position_comes_before_direction_before_roll(chain):
    """An unreachable direction costs nothing of the position; no neighbour with that position points better."""
    rng = np.random.default_rng(15)
    seen = 0
    for _ in range(60):
        p, _ = chain.forward(random_q(chain, rng, margin=0.15))
        goal = Goal.approach(p, rng.normal(size=3))
        solution = solve(chain, goal)
        assert solution.position_error < 1e-6, "the position can be reached, so it must be"
        if solution.status is Status.REACHED:
            continue
        seen += 1
        # A direction of motion that keeps the position and all limits must not bring the tool nearer.
        _, quat = chain.forward(solution.q)
        d = tool_direction(chain, quat)
        jacobian = chain.jacobian(solution.q)
        inside = (solution.q > chain.lower + 1e-4) & (solution.q < chain.upper - 1e-4)
        free = jacobian[:, inside]
        _, values, vt = np.linalg.svd(free[:3])
        null = vt[np.sum(values > 1e-3 * values[0]) :]
        slope = null @ (np.cross(free[3:].T, d) @ goal.direction)
        assert np.abs(slope).max(initial=0.0) < 5e-3  # at the curvature of an arm: some 1e-5 rad from the best
    assert seen >= 5


@pytest.mark.parametrize("kind", ["approach", "pose"])
def test_a_more_thorough_search_finds_nothing_better(chain, kind):
    """Arbitrary directions at reachable positions, against ten times the starts: within 0.1 degrees."""
    rng = np.random.default_rng(17)
    worse = 0
    for _ in range(25):
        p, _ = chain.forward(random_q(chain, rng))
        direction = rng.normal(size=3)
        quat = Rotation.random(random_state=int(rng.integers(2**31))).as_quat()
        goal = Goal.approach(p, direction) if kind == "approach" else Goal.pose(p, quat)
        found, best = solve(chain, goal), solve(chain, goal, options=SolverOptions(max_restarts=640, seed=1))
        assert found.position_error < 1e-6
        worse += found.approach_error > best.approach_error + np.radians(0.1)
    assert worse <= 1


def test_the_reason_is_said(so101):
    solution = solve(so101, Goal.approach([0.25, 0.0, 0.15], [0.0, 1.0, 0.0]))
    assert solution.status is Status.NEAREST_ORIENTATION
    sentence = solution.sentence()
    assert "position reached" in sentence and "vertical plane" in sentence
    down = solve(so101, Goal.approach([0.25, 0.0, 0.1], [0.0, 0.0, -1.0]))  # in the plane, but past the wrist's range
    assert "wrist_flex" in down.sentence() and "limit" in down.sentence() and "plane" not in down.sentence()
    far = solve(so101, Goal.point([2.0, 0.0, 0.0]))
    assert "out of reach by 1." in far.sentence()


def test_same_seed_same_answer(chain):
    rng = np.random.default_rng(16)
    for _ in range(20):
        goal = Goal.approach(chain.forward(random_q(chain, rng))[0], rng.normal(size=3))
        a, b = solve(chain, goal), solve(chain, goal)
        assert a.q.tobytes() == b.q.tobytes()


def test_budgets_are_kept(so101):
    solution = solve(so101, Goal.point([3.0, 0, 0]), options=SolverOptions(max_iterations=3, max_restarts=2))
    assert solution.restarts <= 2 and solution.iterations <= 3 * (3 * 4 + 1)


def weighted(chain, goal, q, weights):
    """(C, r, a Descent with the frames at q) of equation (1)."""
    problem, place = prepare(Problem(), chain.body, goal, chain.mid.tolist(), SolverOptions()), descent.Descent()
    cost = descent.residual_at(problem, place, goal.targets, Row(q), weights, False)
    descent.fill_jacobian(problem, place, goal.targets, weights)
    descent.fill_hessian(problem, place, goal.targets, True)
    residual, jacobian, hessian = place.derivatives(chain.n, goal.targets)
    rows = np.array(jacobian).transpose(0, 2, 1).reshape(-1, chain.n)
    return cost, np.ravel(residual), rows, np.array(hessian)


@given(
    st.lists(st.sampled_from(["revolute", "continuous", "prismatic"]), min_size=1, max_size=6),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["point", "approach", "pose"]),
)
def test_derivatives_against_differences(types, seed, kind):
    chain = load_chain(random_urdf(seed, types), tip_link=f"link{len(types) - 1}")
    rng = np.random.default_rng(seed)
    goal = goal_at(chain, random_q(chain, rng), kind)
    q, weights = random_q(chain, rng), (1.3, 0.7, 0.4)
    cost, residual, jacobian, hessian = weighted(chain, goal, q, weights)
    assert cost == pytest.approx(0.5 * residual @ residual, abs=1e-14)

    def gradient(q):
        _, r, j, _ = weighted(chain, goal, q, weights)
        return j.T @ r

    step = 1e-6
    for i in range(chain.n):
        d = np.zeros(chain.n)
        d[i] = step
        difference = weighted(chain, goal, q + d, weights)[1] - weighted(chain, goal, q - d, weights)[1]
        np.testing.assert_allclose(jacobian[:, i], difference / (2 * step), atol=1e-7)
        np.testing.assert_allclose(hessian[:, i], (gradient(q + d) - gradient(q - d)) / (2 * step), atol=1e-7)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["point", "approach", "pose"]))
def test_a_sweep_never_makes_it_worse(seed, kind):
    types = ["revolute", "prismatic", "continuous", "revolute", "revolute"]
    chain = load_chain(random_urdf(seed, types), tip_link="link4")
    rng = np.random.default_rng(seed)
    goal = goal_at(chain, random_q(chain, rng), kind)
    q, weights = random_q(chain, rng), (1.0, 0.5, 0.5)
    row = Row(q)
    problem = prepare(Problem(), chain.body, goal, q.tolist(), SolverOptions())
    descent.sweep(problem, descent.Descent(), row, weights)
    swept = np.array(row.values(chain.n))
    assert weighted(chain, goal, swept, weights)[0] <= weighted(chain, goal, q, weights)[0] + 1e-12
    assert (swept >= chain.lower).all() and (swept <= chain.upper).all()


@given(st.floats(-7, 7), st.floats(-1, 1), st.floats(-1, 1), st.floats(-7, 7), st.floats(0, 9))
def test_best_angle_is_the_best_there_is(angle, cosine, sine, lower, width):
    upper = lower + width
    angle = float(np.clip(angle, lower, upper))
    best = descent.best_angle(angle, cosine, sine, lower, upper)
    assert lower <= best <= upper
    grid = np.linspace(lower, upper, 2001)

    def value(t):
        return cosine * np.cos(t - angle) + sine * np.sin(t - angle)

    assert value(best) >= value(grid).max() - 1e-5


def test_joint_frames_match_forward(chain):
    q = random_q(chain, np.random.default_rng(1))
    p, quat = joint_frames(chain.body, Row(q), Frames())
    expected_p, expected_quat = chain.forward(q)
    np.testing.assert_allclose(p, expected_p, atol=1e-15)
    assert (Rotation.from_quat(quat).inv() * Rotation.from_quat(expected_quat)).magnitude() < 1e-12
