"""The last look at goals: whatever is asked, none is away from the last by more than it may."""

from __future__ import annotations

import numpy as np
import pytest

from ik_solver_ros.control.speed_guard import SpeedGuard

FARTHEST = np.array([0.02, 0.005])
BOTH = np.array([True, True])


@pytest.mark.parametrize("seed", range(5))
def test_no_step_is_greater_than_it_may_be(seed):
    rng = np.random.default_rng(seed)
    guard = SpeedGuard()
    written = [guard.no_faster(rng.uniform(-1.0, 1.0, 2), FARTHEST, rng.random(2) > 0.1) for _ in range(400)]
    assert (np.abs(np.diff(written, axis=0)) <= FARTHEST * (1.0 + 1e-9)).all()


def test_what_is_slow_enough_goes_through():
    guard = SpeedGuard()
    for i in range(100):
        asked = 0.9 * i * FARTHEST
        np.testing.assert_array_equal(guard.no_faster(asked, FARTHEST, BOTH), asked)


def test_who_does_not_answer_stays_and_comes_after():
    guard = SpeedGuard()
    guard.no_faster(np.zeros(2), FARTHEST, BOTH)
    for _ in range(3):
        np.testing.assert_array_equal(guard.no_faster(FARTHEST, FARTHEST, np.array([False, True])), [0.0, 0.005])
    np.testing.assert_array_equal(guard.no_faster(4.0 * FARTHEST, FARTHEST, BOTH), [0.02, 0.01])


def test_a_new_beginning_is_anywhere():
    guard = SpeedGuard()
    guard.no_faster(np.zeros(2), FARTHEST, BOTH)
    guard.reset()
    np.testing.assert_array_equal(guard.no_faster(np.array([3.0, 3.0]), FARTHEST, BOTH), [3.0, 3.0])
