"""Solvers that go by derivatives: the derivatives are right, and each does what its book says."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_q, random_urdf, tool_direction
from hypothesis import given, settings
from hypothesis import strategies as st

from ik_solver_ros import Goal, load_chain
from ik_solver_ros.solvers.reference.autodiff import cost_of
from ik_solver_ros.solvers.reference.ccd import _sweep
from ik_solver_ros.solvers.reference.jacobian_pinv import jacobian_pinv_step
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
    }[kind].arrays(chain)
    e, jacobian = twist_and_jacobian(chain.arrays, near, q, 2.0)
    dq = np.random.default_rng(seed).uniform(-1e-4, 1e-4, chain.n)
    after, _ = twist_and_jacobian(chain.arrays, near, q + dq, 2.0)
    np.testing.assert_allclose(after, e - jacobian @ dq, atol=2e-6)


@settings(max_examples=25)
@given(TYPES, SEED, KIND)
def test_the_automatic_gradient_is_the_slope(types, seed, kind):
    pytest.importorskip("casadi")
    chain, goal, q = made_up(types, seed, kind)
    cost, arrays = cost_of(chain, goal.targets), goal.arrays(chain)
    target = np.concatenate([goal.position, arrays.wanted[: goal.targets].ravel()])
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
    before = np.linalg.norm(chain.forward(q)[0] - goal.position)
    _sweep(free, tuple(goal.position), q, from_base)
    assert np.linalg.norm(chain.forward(q)[0] - goal.position) <= before + 1e-7


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
