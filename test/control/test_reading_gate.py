"""The gate: no servo turns faster than it can, whatever its reply says."""

from __future__ import annotations

import pytest

from ik_solver_ros.arm.servos import Sample
from ik_solver_ros.control.reading_gate import AGREEING, SLACK_TICKS, ReadingGate

FASTEST = 1000.0  # [ticks/s]


def samples(**ticks):
    return {name: Sample(n, 0.0, True, 0, 12.0, 30, []) for name, n in ticks.items()}


@pytest.fixture
def gate():
    out = ReadingGate(FASTEST)
    for _ in range(AGREEING):
        out.plausible(samples(a=2000, b=2000), 0.0)
    return out


def test_what_a_servo_can_turn_is_believed(gate):
    for i in range(1, 20):
        now, ticks = 0.1 * i, 2000 + 100 * i
        assert gate.plausible(samples(a=ticks, b=2000), now).keys() == {"a", "b"}


def test_one_wild_reading_is_kept_out_and_the_others_are_not(gate):
    assert gate.plausible(samples(a=3000, b=2010), 0.01).keys() == {"b"}
    assert gate.plausible(samples(a=2005, b=2010), 0.02).keys() == {"a", "b"}


def test_the_longer_ago_the_last_one_is_the_more_can_be_true(gate):
    assert not gate.plausible(samples(a=2000 + SLACK_TICKS + 101), 0.1)
    assert gate.plausible(samples(a=2000 + SLACK_TICKS + 199), 0.2)


def test_readings_that_agree_are_believed_in_the_end(gate):
    believed = [bool(gate.plausible(samples(a=3000 + i), 0.01 * i)) for i in range(1, AGREEING + 1)]
    assert believed == [False] * (AGREEING - 1) + [True]


def test_readings_that_do_not_agree_are_never_believed(gate):
    assert not any(gate.plausible(samples(a=2500 + 700 * (i % 3)), 0.001 * i) for i in range(1, 100))


def test_a_servo_that_was_not_there_is_believed_when_it_says_the_same_again(gate):
    assert [bool(gate.plausible(samples(c=77), 0.01)) for _ in range(AGREEING)] == [False] * (AGREEING - 1) + [True]
    gate.reset()
    assert not gate.plausible(samples(a=2000, b=2000, c=77), 0.02)
