from __future__ import annotations

import numpy as np
import pytest

from ik_solver_ros.errors import GoalError
from ik_solver_ros.kinematics.load import with_limits
from ik_solver_ros.trajectory.limits import JERK_TIME, MotionLimits

NAMES = ("a", "b")
LOWER, UPPER = np.array([-1.0, -2.0]), np.array([1.0, 2.0])


def limits(given, velocity=(3.0, np.nan)):
    return MotionLimits.from_urdf(NAMES, LOWER, UPPER, np.array(velocity), 0.5, given)


def test_what_is_given_takes_the_place_of_what_would_be_assumed():
    out = limits({"b": {"max_velocity": 2.0, "max_acceleration": 4.0, "max_jerk": 50.0, "min_position": -0.5}})
    np.testing.assert_allclose(out.velocity, [3.0, 2.0])
    np.testing.assert_allclose(out.acceleration, [6.0, 4.0])
    np.testing.assert_allclose(out.jerk, [6.0 / JERK_TIME, 50.0])
    np.testing.assert_allclose(out.lower, [-1.0, -0.5])
    assert len(out.assumed) == 1 and "assumed for a" in out.assumed[0] and "b" not in out.assumed[0].split("for")[-1]


def test_nan_is_as_good_as_nothing():
    nothing, nans = limits({}), limits({"a": {"max_velocity": np.nan, "max_position": np.nan}})
    assert nothing.assumed == nans.assumed and (nothing.velocity == nans.velocity).all()
    assert "no velocity limit for b" in nothing.assumed[0] and "every joint" in nothing.assumed[1]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"a": {"max_position": 1.5}}, ["joint_limits.a.max_position", "1.5", "narrowed"]),
        ({"b": {"min_position": -3.0}}, ["joint_limits.b.min_position", "-3"]),
        ({"a": {"min_position": 0.5, "max_position": 0.2}}, ["joint_limits.a", "below"]),
        ({"a": {"max_velocity": 0.0}}, ["joint_limits.a.max_velocity", "positive"]),
        ({"a": {"max_jerk": np.inf}}, ["joint_limits.a.max_jerk", "finite"]),
        ({"c": {"max_velocity": 1.0}}, ["'c'", "a, b"]),
    ],
)
def test_what_is_no_limit_is_refused_by_name(given, words):
    with pytest.raises(GoalError) as error:
        limits(given)
    assert all(word in str(error.value) for word in words)


def test_a_narrowed_chain_is_the_same_arm_within_less(chain):
    lower, upper = 0.5 * chain.lower, 0.5 * chain.upper
    new = with_limits(chain, lower, upper)
    assert (new.lower == lower).all() and (new.upper == upper).all()
    assert new.joint_names == chain.joint_names and (new.tool_axis == chain.tool_axis).all()
    np.testing.assert_allclose(new.forward(lower)[0], chain.forward(lower)[0])
