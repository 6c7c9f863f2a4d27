"""Who is silent, and who has no torque."""

from __future__ import annotations

import numpy as np

from ik_solver_ros.arm.servos import Sample
from ik_solver_ros.control.servo_watch import FORGOTTEN, LAG, SILENT_AFTER, SilenceWatch, TrackingWatch, TroubleWatch


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


def test_troubles_are_believed_when_they_are_said_twice():
    watch = TroubleWatch()
    good = sample()._replace(obeys=True, goal=2048)
    bad = {
        "torque": sample(torque=False),
        "goal": good._replace(obeys=False, goal=0),
        "fault": good._replace(faults=["voltage", "overloaded"]),
    }
    for what, one in bad.items():
        assert not any(watch.troubles({"a": one, "b": good}).values())
        for _ in range(FORGOTTEN):
            assert not any(watch.troubles({"a": good, "b": good}).values()), "a damaged reply is forgotten"
        watch.troubles({"a": one})
        found = watch.troubles({"a": one, "b": good})
        assert found[what].keys() == {"a"} and sum(len(joints) for joints in found.values()) == 1
    for _ in range(3):
        assert not any(watch.troubles({"a": good._replace(faults=["voltage"])}).values())


def test_an_overload_that_comes_and_goes_is_told():
    """As each new goal clears it."""
    watch, good = TroubleWatch(), sample()._replace(obeys=True, goal=2048)
    overloaded = good._replace(faults=["overloaded"])
    assert not any(watch.troubles({"a": overloaded}).values())
    for _ in range(FORGOTTEN // 2):
        assert not any(watch.troubles({"a": good}).values())
    assert watch.troubles({"a": overloaded})["fault"] == {"a": "overloaded"}


def test_a_joint_may_be_where_it_was_led_a_moment_ago():
    watch = TrackingWatch(np.array([0.1, 0.1]))
    assert not watch.behind(np.array([5.0, 5.0])).any(), "it has not been led anywhere"
    for i in range(101):
        watch.lead(0.01 * i, np.array([0.02 * i, 0.0]))
        assert i >= 15 or not watch.behind(np.array([5.0, 5.0])).any(), "it is let come there"
    late = 2.0 * (LAG + 0.01)  # [rad] behind, at 2 rad/s
    np.testing.assert_array_equal(watch.behind(np.array([2.0 - late - 0.09, 0.09])), [False, False])
    np.testing.assert_array_equal(watch.behind(np.array([2.0 - late - 0.13, 0.0])), [True, False])
    np.testing.assert_array_equal(watch.behind(np.array([2.0, -0.11])), [False, True])
    watch.reset(np.array([True, False]))
    np.testing.assert_array_equal(watch.behind(np.array([9.0, 1.0])), [False, True])
    watch.lead(1.01, np.array([5.0, 0.0]))
    np.testing.assert_array_equal(watch.behind(np.array([9.0, 1.0])), [False, True])
    watch.reset()
    assert not watch.behind(np.array([0.0, 1.0])).any()
