"""Logs, and what the judge reads in them."""

from __future__ import annotations

import pytest

from ik_solver_ros.servo.emulated import judge
from ik_solver_ros.servo.emulated.register_servos import FeetechEmulator
from ik_solver_ros.servo.emulated.traits import KIND
from ik_solver_ros.servo.registers import WRITE

from .conftest import Wire


@pytest.fixture
def bench(wire):
    return lambda **traits: wire(FeetechEmulator, **traits)


def test_the_fastest_motion(bench):
    wire, _servo = bench()
    wire.write("torque_enable", 1)
    wire.write("goal_velocity", 400)
    wire.write("goal_position", 2148)
    wire.wait(10.0)
    most = judge.fastest_motion(wire.emulator)
    assert most.value == pytest.approx(400.0, rel=0.01) and most.servo_id == 1 and most.time < 0.31
    assert judge.fastest_motion(wire.emulator, begin=5.0).value == 0.0
    assert judge.fastest_motion(wire.emulator, window=0.5).value == pytest.approx(200.0, rel=0.01)


def test_a_jump_between_two_long_rests_is_seen(bench):
    wire, servo = bench()
    wire.write("torque_enable", 1)
    wire.wait(100.0)
    wire.write("goal_position", 2088)
    wire.wait(100.0)
    assert judge.fastest_motion(wire.emulator).value == pytest.approx(40.0 / judge.WINDOW, rel=0.01)
    assert len(servo.trace) < 20


def test_a_fall_is_no_driven_motion(bench):
    wire, _servo = bench(pull=-20.0, fall_speed=100.0)
    wire.write("torque_enable", 1)
    wire.wait(1.0)
    wire.write("torque_enable", 0)
    wire.wait(2.0)
    assert judge.fastest_motion(wire.emulator, begin=1.1).value == 0.0
    assert judge.fastest_motion(wire.emulator, begin=1.1, driven=False).value == pytest.approx(100.0, rel=0.01)
    assert judge.drop(wire.emulator, 1, begin=1.0) == pytest.approx(200.0, abs=2.0)


def test_the_fastest_command(bench):
    wire, _servo = bench()
    wire.write("torque_enable", 1)
    for i in range(50):
        wire.write("goal_position", 2048 + 2 * i)
        wire.wait(0.01)
    assert judge.fastest_command(wire.emulator).value == pytest.approx(200.0)
    wire.wait(1.0)
    wire.write("goal_position", 2300)
    jump = 2300 - (2048 + 98)
    assert judge.fastest_command(wire.emulator).value == pytest.approx(jump / judge.WINDOW)
    assert judge.greatest_written_lead(wire.emulator).value == pytest.approx(jump)


def test_torque_and_who_asked_for_it(bench):
    wire, _servo = bench(sts_goal_turns_torque_on=True)
    wire.write("torque_enable", 1)
    wire.wait(1.0)
    wire.write("torque_enable", 0)
    wire.wait(1.0)
    wire.write("goal_position", 2500)
    wire.wait(1.0)
    (first, second) = judge.torque_on(wire.emulator)
    assert (first.why, first.asked, first.moved) == ("torque_enable", True, 0.0)
    assert (second.time, second.why, second.asked) == (2.0, "goal_position", False)
    assert second.moved == pytest.approx(452.0) and judge.unasked_torque(wire.emulator) == [second]
    assert [judge.torque_at(wire.emulator, 1, time) for time in (0.5, 1.5, 2.5)] == [True, False, True]


def test_how_far_the_goal_was_ahead(bench):
    wire, servo = bench()
    wire.write("torque_enable", 1)
    servo.blocked = True
    for i in range(1, 11):
        wire.write("goal_position", 2048 + 10 * i)
        wire.wait(0.1)
    lead = judge.greatest_lead(wire.emulator)
    assert lead.value == 100.0 and lead.time > 0.9
    wire.write("torque_enable", 0)
    wire.wait(1.0)
    assert judge.greatest_lead(wire.emulator, begin=1.5).value == 0.0


def test_the_log_says_what_became_of_each_write(bench):
    wire, servo = bench(sts_limits=True, sts_lock=True)
    servo.set("max_position", 3000)
    for name, value in (("goal_position", 2000), ("goal_position", 3500), ("min_position", 5), ("model", 3)):
        wire.write(name, value)
    assert [entry[2:] for entry in judge.orders(wire.emulator)] == [
        ("goal_position", 2000, "taken"),
        ("goal_position", 3500, "clamped"),
        ("min_position", 5, "unsaved"),
        ("model", 3, "ignored"),
    ]
    assert wire.read("model") == 777
    wire.send(1, WRITE, bytes([24, 9]))  # which has no name here
    assert wire.emulator.log[-1][2:] == ("address 24", 9, "taken")
    assert len(judge.orders(wire.emulator, 1, "goal_position", "clamped")) == 1


def test_nothing_happened():
    emulator = FeetechEmulator({1: 2048}, KIND)
    assert judge.fastest_motion(emulator).value == judge.greatest_lead(emulator).value == 0.0
    assert judge.fastest_command(emulator) == judge.NOTHING and judge.drop(emulator, 1) == 0.0


def test_a_brown_out_while_goals_go_on_being_written():
    """What hardware users see, and what a driver must not let happen: by the default traits, and nothing else."""
    emulator = FeetechEmulator({1: 2048})
    wire = Wire(emulator)
    wire.write("goal_position", 2048)
    wire.write("torque_enable", 1)
    wire.wait(1.0)
    emulator.servos[1].restart(0.5)
    for _ in range(100):
        wire.write("goal_position", 2048)
        wire.wait(0.01)
    (unasked,) = judge.unasked_torque(emulator)
    assert unasked.why == "goal_position" and unasked.moved > 30.0
    assert judge.drop(emulator, 1, begin=1.0, end=1.5) > 40.0
    assert judge.fastest_motion(emulator, begin=1.4).value > 300.0
