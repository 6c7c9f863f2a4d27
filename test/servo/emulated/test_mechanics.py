"""Motor, friction, gravity and play, on an STS3215."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ik_solver_ros.servo.emulated.register_servos import FeetechEmulator
from ik_solver_ros.servo.emulated.traits import KIND, UNKIND


@pytest.fixture
def held(wire):
    """A servo that holds 2048, with torque."""

    def make(**traits):
        pull = traits.pop("pull", 0.0)
        bench, servo = wire(FeetechEmulator, pull=pull, **traits)
        bench.write("goal_position", 2048)
        bench.write("torque_enable", 1)
        return bench, servo

    return make


def test_a_kind_servo_goes_where_it_is_told(held):
    bench, servo = held()
    bench.write("goal_position", 2248)
    bench.wait(0.02)
    assert servo.position == pytest.approx(2048 + 0.02 * KIND.sts_top_speed)
    bench.wait(1.0)
    assert servo.position == servo.link == 2248 and bench.read("position") == 2248


def test_it_sags_under_gravity_and_less_so_with_more_gain(held):
    bench, servo = held(pull=-14.0, sts_gains=True)
    bench.wait(1.0)
    assert servo.position == pytest.approx(2034.0, abs=0.5)
    bench.write("p_gain", 64)
    bench.wait(1.0)
    assert servo.position == pytest.approx(2041.0, abs=0.5)
    bench.write("p_gain", 16)
    bench.wait(1.0)
    assert servo.position == pytest.approx(2020.0, abs=0.5)
    bench.write("i_gain", 10)
    bench.wait(5.0)
    assert servo.position == pytest.approx(2048.0, abs=0.5)


def test_stiction_keeps_it_until_the_pull_is_greater(held):
    bench, servo = held(stiction=5.0, lag=0.030)
    bench.write("goal_position", 2052)
    bench.wait(1.0)
    assert servo.position == 2048.0
    bench.write("goal_position", 2054)
    bench.wait(1.0)
    assert 2050.0 < servo.position < 2054.0


def test_nothing_happens_in_the_dead_time_and_little_in_the_lag(held):
    bench, servo = held(dead_time=0.085, lag=0.030)
    bench.wait(0.1)
    bench.write("goal_position", 2148)
    bench.wait(0.080)
    assert servo.position == 2048.0
    bench.wait(0.035)
    assert 2048.0 + 50.0 < servo.position < 2048.0 + 75.0
    bench.wait(0.3)
    assert servo.position == pytest.approx(2148.0, abs=0.1)


def test_the_link_has_play_beyond_the_sensor(held):
    bench, servo = held(backlash=0.5)
    bench.write("goal_position", 2148)
    bench.wait(0.5)
    half = 0.25 / 360.0 * 4096.0
    assert servo.link == pytest.approx(servo.position - half)
    bench.write("goal_position", 2048)
    bench.wait(0.5)
    assert servo.link == pytest.approx(servo.position + half)
    servo.pull = -1.0
    bench.wait(0.1)
    assert servo.link == pytest.approx(servo.position - half)


def test_without_torque_it_falls_as_far_as_it_can_where_nothing_bears_it(held):
    bench, servo = held(pull=-20.0, fall_speed=100.0, fall_reach=300.0, sag=20.0)
    bench.wait(1.0)
    before = servo.position
    bench.write("torque_enable", 0)
    bench.wait(1.0)
    assert servo.position == pytest.approx(before - 100.0, abs=1.0)
    servo.supported = True
    bench.wait(1.0)
    assert servo.position == pytest.approx(before - 100.0, abs=1.0)
    servo.supported = False
    bench.wait(10.0)
    assert servo.position == pytest.approx(before - 300.0, abs=1.0)


def test_an_arm_that_never_had_torque_lies_somewhere(wire):
    bench, servo = wire(FeetechEmulator, pull=-20.0, fall_speed=100.0)
    bench.wait(5.0)
    assert servo.position == 2048.0


def test_stops_end_a_fall_and_a_motion(held):
    bench, servo = held(pull=-20.0, fall_speed=100.0)
    servo.stops = (2000.0, 2100.0)
    bench.write("goal_position", 2200)
    bench.wait(1.0)
    assert servo.position == 2100.0 and servo.effort > 0.5
    bench.write("torque_enable", 0)
    bench.wait(10.0)
    assert servo.position == 2000.0


def test_the_last_digit_of_a_reading_is_not_to_be_trusted(held):
    bench, servo = held(noise=1)
    seen = [bench.read("position") for _ in range(50)]
    assert {abs(one - 2048) for one in seen} == {0, 1} and servo.position == 2048.0


def test_half_the_output_is_half_the_speed(held):
    bench, servo = held(lag=0.030)
    bench.write("goal_position", 4000)
    bench.wait(0.1)
    assert servo.position == pytest.approx(2048.0 + 0.1 * KIND.sts_top_speed)
    bench.write("torque_limit", 500)
    bench.write("goal_position", 1000)
    bench.wait(0.1)
    assert servo.position == pytest.approx(2048.0 + 0.05 * KIND.sts_top_speed)


def test_a_load_that_is_too_heavy_goes_down(held):
    bench, servo = held(lag=0.030, pull=-60.0)
    bench.wait(1.0)
    assert servo.position == pytest.approx(1988.0, abs=0.5)
    bench.write("torque_limit", 200)
    bench.wait(0.2)
    assert servo.position < 1988.0 - 0.2 * 1000.0


def test_the_same_times_give_the_same_motion():
    def run():
        emulator = FeetechEmulator({1: 2048, 2: 2300})
        for servo in emulator.servos.values():
            servo.set("goal_position", 2500)
            servo.set("torque_enable", 1)
        for now in (0.0, 0.01, 0.027, 0.5, 1.9, 1.9, 2.0):
            emulator.advance(now)
        return emulator.positions, [list(trace) for trace in emulator.trace.values()]

    assert run() == run()


def test_a_stall_is_integrated_in_small_steps():
    """One advance of a second is many small ones: it neither overshoots nor flies."""
    at = []
    for step in (0.002, 1.0):
        emulator = FeetechEmulator({1: 2048}, replace(UNKIND, noise=0))
        emulator.advance(0.0)
        emulator.servos[1].set("goal_position", 2500)
        emulator.servos[1].set("torque_enable", 1)
        for i in range(1, round(2.0 / step) + 1):
            emulator.advance(i * step)
        at.append(emulator.servos[1].position)
    assert at[0] == pytest.approx(at[1], abs=0.5) and 2480.0 < at[0] < 2500.0
