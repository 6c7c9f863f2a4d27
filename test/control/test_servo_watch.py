"""Who is silent, and who has no torque."""

from __future__ import annotations

from ik_solver_ros.arm.servos import Sample
from ik_solver_ros.control.servo_watch import SILENT_AFTER, SilenceWatch, without_torque


def sample(torque=True):
    return Sample(2048, 0.0, torque, 0, 12.0, 30, [])


def test_a_servo_is_silent_after_a_while_until_it_answers():
    watch = SilenceWatch(("a", "b"))
    watch.reset(5.0)
    both, one = {"a": sample(), "b": sample()}, {"b": sample()}
    assert watch.silent(one, 5.0 + 0.9 * SILENT_AFTER) == []
    assert watch.silent(one, 5.0 + 1.1 * SILENT_AFTER) == ["a"]
    assert watch.silent({}, 5.0 + 2.5 * SILENT_AFTER) == ["a", "b"]
    assert watch.silent(both, 5.0 + 3.0 * SILENT_AFTER) == []


def test_a_new_beginning():
    watch = SilenceWatch(("a",))
    watch.reset(0.0)
    assert watch.silent({}, 1.0) == ["a"]
    watch.reset(1.0)
    assert watch.silent({}, 1.0) == []


def test_torque():
    assert without_torque({"a": sample(), "b": sample(torque=False), "c": sample()}) == ["b"]
