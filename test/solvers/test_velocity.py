from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ik_solver_ros import solve_velocity
from ik_solver_ros.errors import GoalError
from ik_solver_ros.kinematics.quaternion import rotate

numbers = st.integers(0, 2**32 - 1)


def random_posture(chain, seed):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.9 * chain.lower + 0.1 * chain.upper, 0.1 * chain.lower + 0.9 * chain.upper)


@given(seed=numbers)
def test_a_motion_that_the_joints_can_do_is_done(arm, seed):
    rng = np.random.default_rng(seed)
    q = random_posture(arm, seed)
    rates = rng.normal(size=arm.n)
    jacobian = arm.jacobian(q)
    assume(np.linalg.svd(jacobian[:3] / arm.reach)[1][-1] >= 0.03)  # below that it is damped
    twist = jacobian @ rates
    found = jacobian @ solve_velocity(arm, q, twist[:3], twist[3:])
    np.testing.assert_allclose(found[:3], twist[:3], atol=1e-6)


@given(seed=numbers)
def test_position_comes_before_turning(arm, seed):
    rng = np.random.default_rng(seed)
    q = random_posture(arm, seed)
    assume(np.linalg.svd(arm.jacobian(q)[:3] / arm.reach)[1][-1] >= 0.03)
    v, w = rng.normal(size=3) * 0.1, rng.normal(size=3)
    np.testing.assert_allclose(arm.jacobian(q)[:3] @ solve_velocity(arm, q, v, w), v, atol=1e-6)
    np.testing.assert_allclose(arm.jacobian(q)[:3] @ solve_velocity(arm, q, np.zeros(3), w), 0.0, atol=1e-6)


@given(seed=numbers)
def test_it_is_what_finite_differences_say(chain, seed):
    q = random_posture(chain, seed)
    v = np.array([0.01, -0.02, 0.015])
    rates = solve_velocity(chain, q, v, np.zeros(3))
    h = 1e-6
    moved = (np.array(chain.forward(q + h * rates)[0]) - np.array(chain.forward(q - h * rates)[0])) / (2 * h)
    np.testing.assert_allclose(moved, chain.jacobian(q)[:3] @ rates, atol=1e-6)


def test_near_singular_postures_the_joints_stay_finite(chain):
    for q in (np.zeros(chain.n), chain.mid):
        tool = np.array(rotate(chain.forward(q)[1], chain.tool_axis))
        for v in (tool, *np.eye(3)):
            assert np.abs(solve_velocity(chain, q, v, v)).max() < 3000.0


def test_a_joint_at_its_limit_does_not_go_farther(chain):
    q = chain.mid.copy()
    q[1] = chain.upper[1]
    for v in (np.eye(3)[i] * sign for i in range(3) for sign in (-0.1, 0.1)):
        assert solve_velocity(chain, q, v, np.zeros(3))[1] <= 1e-9


@pytest.mark.parametrize("wrong", [[1.0, 2.0], [np.nan, 0.0, 0.0], "abc"])
def test_what_is_no_velocity_is_refused(chain, wrong):
    with pytest.raises(GoalError, match="linear"):
        solve_velocity(chain, chain.mid, wrong, np.zeros(3))
    with pytest.raises(GoalError, match="angular"):
        solve_velocity(chain, chain.mid, np.zeros(3), wrong)
