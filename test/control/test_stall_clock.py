"""The clock of the followers: a stall of the machine delays what moves, and is made up for when all rests."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ik_solver_ros.control.stall_clock import LATE, PERIOD, SLOWEST, StallClock


class Joints:
    until = 0.0

    def moving(self, now: float) -> bool:
        return now < self.until


@pytest.fixture
def joints():
    return Joints()


@pytest.fixture
def clock(joints):
    out = StallClock(joints.moving)
    out.reset(100.0)
    return out


def run(clock, now, seconds):
    times = [now + PERIOD * i for i in range(1, round(seconds / PERIOD) + 1)]
    return times[-1], [clock.advance(t) for t in times]


def test_without_stalls_it_is_the_callers(clock, joints):
    joints.until = 101.0
    now, seen = run(clock, 100.0, 2.0)
    assert seen[-1] == now and seen[0] == pytest.approx(100.0 + PERIOD)


def test_at_rest_a_stall_is_nothing(clock):
    assert clock.advance(105.0) == 105.0


def test_in_motion_a_stall_is_a_delay_until_the_joints_rest(clock, joints):
    joints.until = 102.0
    now, _ = run(clock, 100.0, 0.5)
    before = clock.now
    now += 0.7
    assert clock.advance(now) - before == pytest.approx(LATE * PERIOD, rel=0.1)
    delay = now - clock.now
    assert delay > 0.6
    now, seen = run(clock, now, 1.0)
    assert now - seen[-1] == pytest.approx(delay), "late it stays, and does not hurry"
    now, seen = run(clock, now, 1.5)
    assert seen[-1] == now and max(b - a for a, b in pairwise(seen)) <= delay + LATE * PERIOD


def test_it_never_goes_back(clock, joints):
    joints.until = 103.0
    now, seen = 100.0, [clock.now]
    for i in range(300):
        now += 0.3 if i % 50 == 0 else PERIOD
        assert clock.at(now) >= seen[-1]
        seen.append(clock.advance(now))
    assert all(a <= b for a, b in pairwise(seen))


def test_slow_cycles_are_usual_after_a_while(clock, joints):
    joints.until = 1000.0
    now = 100.0
    for _ in range(200):
        now += 3.0 * PERIOD
        clock.advance(now)
    before, now = clock.now, now + 3.0 * PERIOD
    assert clock.advance(now) - before == pytest.approx(3.0 * PERIOD)
    for _ in range(1000):  # but never so slow ones that a joint would leap
        before, now = clock.now, now + 1.0
        assert clock.advance(now) - before <= LATE * SLOWEST + 1e-9
