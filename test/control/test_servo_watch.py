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
    for when, wanted in ((0.4, []), (0.9, []), (1.1, ["a"]), (1.2, ["a"])):
        assert watch.silent(one, 5.0 + when * SILENT_AFTER) == wanted
    for when, wanted in ((1.3, ["a"]), (1.8, ["a"]), (2.5, ["a", "b"])):
        assert watch.silent({}, 5.0 + when * SILENT_AFTER) == wanted
    assert watch.silent(both, 5.0 + 3.0 * SILENT_AFTER) == []


def test_nobody_is_silent_whom_a_stalled_computer_has_not_asked():
    watch = SilenceWatch(("a",))
    watch.reset(5.0)
    assert watch.silent({}, 5.0 + 20.0 * SILENT_AFTER) == []  # one request, long after
    assert watch.silent({"a": sample()}, 5.0 + 20.2 * SILENT_AFTER) == []


def test_a_new_beginning():
    watch = SilenceWatch(("a",))
    watch.reset(0.0)
    assert [watch.silent({}, now) for now in (0.9, 1.0, 1.1)] == [[], [], ["a"]]
    watch.reset(1.0)
    assert watch.silent({}, 1.0) == []


def test_torque():
    assert without_torque({"a": sample(), "b": sample(torque=False), "c": sample()}) == ["b"]
