"""Solvers that go by derivatives: the derivatives are right, and each does what its book says."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_q, random_urdf, tool_direction
from hypothesis import given, settings
from hypothesis import strategies as st

from ik_solver_ros import Goal, SolverOptions, load_chain
from ik_solver_ros.kinematics.kernels import Body, Frames, Row
from ik_solver_ros.solvers.problem import Problem, prepare
from ik_solver_ros.solvers.reference.autodiff import cost_of
from ik_solver_ros.solvers.reference.ccd import sweep
from ik_solver_ros.solvers.reference.jacobian_pinv import jacobian_pinv_step
from ik_solver_ros.solvers.reference.singular_values import Rows, product, separate
from ik_solver_ros.solvers.reference.twist import twist_and_jacobian
from ik_solver_ros.tools.compare.chains import chain_of, hinges

TYPES = st.lists(st.sampled_from(["revolute", "continuous", "prismatic"]), min_size=1, max_size=6)
SEED = st.integers(0, 2**32 - 1)
KIND = st.sampled_from(["point", "approach", "pose"])


def made_up(types, seed, kind):
    chain = load_chain(random_urdf(seed, types), tip_link=f"link{len(types) - 1}")
    rng = np.random.default_rng(seed)
    p, quat = chain.forward(random_q(chain, rng))
    goal = {
        "point": Goal.point(p),
        "approach": Goal.approach(p, tool_direction(chain, quat)),
        "pose": Goal.pose(p, quat),
    }[kind]
    return chain, goal, random_q(chain, rng)


@given(TYPES, SEED, KIND)
def test_the_task_s_jacobian_lessens_what_is_missing(types, seed, kind):
    """Near the goal e shrinks as J says: e(q + dq) = e(q) - J dq."""
    chain, _, q = made_up(types, seed, kind)
    p, quat = chain.forward(q)
    near = {
        "point": Goal.point(p + 1e-3),
        "approach": Goal.approach(p + 1e-3, tool_direction(chain, quat) + 1e-3),
        "pose": Goal.pose(p + 1e-3, quat),
    }[kind]
    problem = prepare(Problem(), chain.body, near, q.tolist(), SolverOptions())
    e, jacobian = twist_and_jacobian(problem, q)
    dq = np.random.default_rng(seed).uniform(-1e-4, 1e-4, chain.n)
    after, _ = twist_and_jacobian(problem, q + dq)
    np.testing.assert_allclose(after, e - jacobian @ dq, atol=2e-6)


@settings(max_examples=25)
@given(TYPES, SEED, KIND)
def test_the_automatic_gradient_is_the_slope(types, seed, kind):
    pytest.importorskip("casadi")
    chain, goal, q = made_up(types, seed, kind)
    cost = cost_of(chain, goal.targets)
    target = np.concatenate([goal.position, goal.directions(chain)[1].ravel()])
    _, slope = cost(q, target)
    slope = slope.full().ravel()
    for i in range(chain.n):
        d = np.zeros(chain.n)
        d[i] = 1e-6
        np.testing.assert_allclose(slope[i], float(cost(q + d, target)[0] - cost(q - d, target)[0]) / 2e-6, atol=1e-6)


@given(st.lists(st.sampled_from(["continuous", "revolute"]), min_size=1, max_size=6), SEED, st.booleans())
def test_a_sweep_of_ccd_never_goes_away(types, seed, from_base):
    """Each angle is the best for its joint alone, where no limit cuts it short."""
    chain, goal, q = made_up(types, seed, "point")
    n = chain.n
    free = chain.arrays._replace(lower=np.full(n, -1e3), upper=np.full(n, 1e3))
    body, row = Body(free, chain.tool.tolist(), chain.reach), Row(q.tolist())
    sweep(prepare(Problem(), body, goal, q.tolist(), SolverOptions()), Frames(), row, from_base)
    before = np.linalg.norm(chain.forward(q)[0] - goal.position)
    assert np.linalg.norm(chain.forward(row.values(n))[0] - goal.position) <= before + 1e-7


@given(SEED, st.integers(1, 32), st.sampled_from([0.0, 1e-9, 1e-3, 1.0]))
def test_rows_are_separated_as_by_singular_values(seed, n, thin):
    """Perpendicular rows as long as numpy's singular values, and the same least solution of J s = e."""
    rng = np.random.default_rng(seed)
    jacobian, e = rng.normal(size=(6, n)), rng.normal(size=6)
    jacobian[4] = thin * jacobian[4] + jacobian[0] - jacobian[1]  # nearly of lower rank, or so altogether
    rows = Rows(jacobian.tolist(), e.tolist())
    separate(rows, n)
    squares = np.array([[product(rows, i, j, n) for j in range(6)] for i in range(6)])
    found = np.sort(np.sqrt(np.diag(squares)))[::-1]
    values = np.zeros(6)
    values[: min(6, n)] = np.linalg.svd(jacobian, compute_uv=False)
    np.testing.assert_allclose(found, values, atol=1e-14 * values[0])
    off = squares - np.diag(np.diag(squares))
    assert np.abs(off).max() <= 1e-14 * values[0] ** 2
    turned, right = rows.values(n)
    kept = found > 1e-6 * found[0]
    order = np.argsort(-np.diag(squares))
    step = sum(right[k] / squares[k, k] * np.array(turned[k]) for k in order[kept])
    np.testing.assert_allclose(
        step, np.linalg.pinv(jacobian, 1e-6) @ e, atol=1e-9 * np.abs(step).max() / found[kept].min()
    )


def test_the_pseudo_inverse_draws_the_rest_of_the_joints_to_the_middle():
    chain = hinges(10)
    rng = np.random.default_rng(71)
    for _ in range(10):
        q = random_q(chain, rng, margin=0.1)
        goal, at = Goal.point(chain.forward(q)[0] + 0.02), q
        for _ in range(40):
            at = jacobian_pinv_step(chain, Goal.point(goal.position + rng.uniform(-2e-3, 2e-3, 3)), at)
        assert np.linalg.norm(chain.forward(at)[0] - goal.position) < 5e-3
        assert np.linalg.norm(at - chain.mid) < np.linalg.norm(q - chain.mid)


def test_ten_steps_a_frame_follow_a_moving_point():
    chain = chain_of("zyyyx")
    q = np.array([0.3, -0.8, 0.9, 0.4, 0.0])
    start = chain.forward(q)[0]
    for k in range(100):
        goal = start + 0.1 * np.array([np.sin(0.05 * k), np.cos(0.05 * k) - 1.0, 0.0])
        after = jacobian_pinv_step(chain, Goal.point(goal), q)
        assert np.abs(after - q).max() < 0.1 and (np.abs(after) <= chain.upper).all()
        q = after
        assert np.linalg.norm(chain.forward(q)[0] - goal) < 2e-3
