"""The STS3215: each trait on and off."""

from __future__ import annotations

import pytest

from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.emulated.port import emulate
from ik_solver_ros.servo.emulated.register_servos import FeetechEmulator
from ik_solver_ros.servo.emulated.traits import KIND, UNKIND
from ik_solver_ros.servo.registers import ACTION, BROADCAST, PING, REG_WRITE, SYNC_WRITE, sync_write_data, write_data

OVERLOADED = 1 << 5


@pytest.fixture
def bench(wire):
    return lambda **traits: wire(FeetechEmulator, **traits)


@pytest.mark.parametrize("trait", [True, False])
def test_a_goal_other_than_where_it_is_turns_torque_on(bench, trait):
    wire, servo = bench(sts_goal_turns_torque_on=trait)
    wire.write("goal_position", 2048)
    assert not servo.energized
    wire.write("goal_position", 2100)
    assert servo.energized is trait and wire.read("torque_enable") == trait
    if trait:
        assert [(change.torque, change.why) for change in servo.changes] == [(True, "goal_position")]
        wire.write("torque_enable", 0)
        data = sync_write_data(wire.codec, 42, 2, {1: (500).to_bytes(2, "little")})
        wire.send(BROADCAST, SYNC_WRITE, data)
        assert servo.energized


@pytest.mark.parametrize("trait", [True, False])
def test_the_seam(bench, trait):
    wire, servo = bench(at=4090.0, sts_seam=trait)
    servo.position += 10.0
    assert wire.read("position") == (4 if trait else 4100)
    servo.position -= 4110.0
    assert wire.read("position") == (4086 if trait else -10)


def test_across_the_seam_it_goes_the_long_way_round(bench):
    wire, servo = bench(at=4090.0, sts_seam=True)
    wire.write("goal_position", 10)
    wire.write("torque_enable", 1)
    wire.wait(5.0)
    assert servo.position == 10.0  # and not 4106


def test_phase_makes_it_count_turns(bench):
    wire, servo = bench(at=4090.0, sts_seam=True, sts_phase=0x1C)
    servo.position += 100.0
    assert wire.read("position") == 4190
    servo.restart()
    assert wire.read("position") == 94  # which it forgot


@pytest.mark.parametrize("trait", [True, False])
def test_the_homing_offset_shifts(bench, trait):
    wire, servo = bench(sts_offset=trait, sts_seam=True)
    servo.homing_offset = 100
    assert wire.read("position") == (1948 if trait else 2048)
    servo.homing_offset = -1000
    assert wire.read("position") == (3048 if trait else 2048)
    wire.write("torque_enable", 1)
    wire.write("goal_position", 3000)
    wire.wait(2.0)
    assert wire.read("position") == 3000 and servo.position == (2000.0 if trait else 3000.0)


@pytest.mark.parametrize("trait", [True, False])
def test_locked_registers_are_lost_with_a_restart(bench, trait):
    wire, servo = bench(sts_lock=trait)
    assert wire.read("lock") == 1
    wire.write("min_position", 500)
    assert wire.read("min_position") == 500 and wire.emulator.log[-1].outcome == ("unsaved" if trait else "taken")
    servo.restart()
    assert wire.read("min_position") == (0 if trait else 500)
    wire.write("lock", 0)
    wire.write("min_position", 600)
    servo.restart()
    assert wire.read("min_position") == 600 and wire.read("lock") == 1


@pytest.mark.parametrize("trait", [True, False])
def test_its_own_limits_clamp_goals_and_move_it_when_torque_comes(bench, trait):
    wire, servo = bench(at=1000.0, sts_limits=trait, sts_stale_goal=True)
    servo.set("min_position", 1200)
    servo.set("max_position", 3000)
    wire.write("goal_position", 1000)
    assert wire.emulator.log[-1].outcome == ("clamped" if trait else "taken")
    assert wire.read("goal_position") == 1000
    wire.write("torque_enable", 1)
    wire.wait(1.0)
    assert servo.position == (1200.0 if trait else 1000.0)


def test_the_nearest_limit_may_be_across_the_seam(bench):
    wire, servo = bench(at=3000.0, sts_limits=True, sts_seam=True)
    servo.set("min_position", 100)
    servo.set("max_position", 3000)
    wire.write("torque_enable", 1)
    wire.write("goal_position", 4000)
    wire.wait(2.0)
    assert servo.position == 100.0


def test_goal_velocity_and_acceleration_limit_it(bench):
    wire, servo = bench()
    wire.write("torque_enable", 1)
    wire.write("goal_velocity", 100)
    wire.write("goal_position", 3000)
    wire.wait(1.0)
    assert servo.position == pytest.approx(2148.0, abs=0.5)
    wire.write("goal_velocity", 0)  # the greatest, by the factory's Phase
    wire.wait(1.0)
    assert servo.position == 3000.0
    wire.write("acceleration", 10)  # 1000 ticks/s^2
    wire.write("goal_position", 3900)
    wire.wait(0.5)
    assert servo.position == pytest.approx(3125.0, abs=3.0)
    wire.wait(3.0)
    assert servo.position == pytest.approx(3900.0, abs=0.1)


def test_speed_0_is_no_motion_by_another_phase(bench):
    wire, servo = bench(sts_phase=0x04)
    wire.write("torque_enable", 1)
    wire.write("goal_position", 3000)
    wire.wait(1.0)
    assert servo.position == 2048.0


@pytest.mark.parametrize("trait", [True, False])
def test_an_overload_takes_most_of_its_torque_and_says_so(bench, trait):
    wire, servo = bench(sts_overload=trait, sts_goal_clears_overload=trait, pull=-60.0)
    wire.write("torque_enable", 1)
    servo.blocked, servo.stops = True, (1900.0, 3000.0)
    wire.write("goal_position", 2500)
    wire.wait(1.9)
    assert wire.read("load") == 1000 and servo.error() == 0
    wire.wait(0.2)
    assert servo.error() == (OVERLOADED if trait else 0) and wire.read("torque_enable") == 1
    assert wire.read("load") == (200 if trait else 1000)
    servo.blocked = False
    wire.wait(1.0)
    assert (servo.position < 2048.0) is trait
    assert wire.write("goal_position", 2501) == 0 and servo.error() == 0
    wire.wait(1.0)
    assert servo.position == pytest.approx(2441.0, abs=1.0)


@pytest.mark.parametrize("trait", [True, False])
def test_voltage_and_heat_cut_its_output(bench, trait):
    wire, servo = bench(sts_unloading=trait, sts_max_voltage=80, sts_supply=7.4)
    wire.write("torque_enable", 1)
    wire.wait(0.1)
    assert servo.energized and servo.error() == 0
    servo.supply = 8.4
    wire.wait(0.1)
    assert servo.energized is not trait and wire.read("torque_enable") == 1 and wire.read("voltage") == 84
    assert servo.error() == (1 if trait else 0)
    servo.supply, servo.temperature = 7.4, 80.0
    wire.wait(0.1)
    assert servo.error() == (1 << 2 if trait else 0)
    servo.temperature = 40.0
    wire.wait(0.1)
    assert servo.energized and servo.error() == 0


@pytest.mark.parametrize("trait", [True, False])
def test_operating_modes(bench, trait):
    wire, servo = bench(sts_modes=trait, sts_stale_goal=True)
    wire.write("goal_position", 2048)
    wire.write("operating_mode", 1)
    wire.write("torque_enable", 1)
    wire.write("goal_velocity", -200)
    wire.wait(1.0)
    assert servo.position == pytest.approx(1848.0 if trait else 2048.0)
    wire.write("operating_mode", 3)
    wire.write("goal_velocity", 0)
    wire.write("goal_position", 300)
    wire.wait(2.0)
    assert servo.position == pytest.approx(2148.0 if trait else 300.0)


def test_128_makes_here_the_middle_for_good(bench):
    wire, servo = bench(at=500.0, sts_modes=True, sts_offset=True, sts_seam=True)
    wire.write("torque_enable", 128)
    assert wire.read("position") == 2048 and wire.read("torque_enable") == 0 and wire.read("homing_offset") == -1548
    servo.restart()
    assert wire.read("position") == 2048


@pytest.mark.parametrize("trait", [True, False])
def test_the_goal_stays_while_torque_is_off(bench, trait):
    wire, servo = bench(sts_stale_goal=trait)
    wire.write("torque_enable", 1)
    wire.write("goal_position", 2100)
    wire.wait(0.5)
    wire.write("torque_enable", 0)
    servo.position = 1500.0
    wire.write("torque_enable", 1)
    wire.wait(1.0)
    assert servo.position == 2100.0


def test_a_restart(bench):
    wire, servo = bench(sts_goal_after_restart="zero", pull=-20.0, fall_speed=100.0)
    for name, value in (("torque_enable", 1), ("acceleration", 50), ("goal_velocity", 500), ("torque_limit", 700)):
        wire.write(name, value)
    wire.wait(0.1)
    before = servo.position
    servo.restart(0.3)
    wire.wait(0.2)
    assert wire.read("position") is None and not servo.energized
    wire.wait(0.2)
    assert wire.read("position") == round(before - 40.0)
    assert [wire.read(name) for name in ("torque_enable", "acceleration", "goal_velocity", "torque_limit")] == [
        0,
        0,
        0,
        1000,
    ]
    assert wire.read("goal_position") == 0
    assert [(change.torque, change.why) for change in servo.changes] == [(True, "torque_enable"), (False, "restart")]


def test_torque_at_power_up_is_said_by_one_source(bench):
    wire, servo = bench(sts_torque_at_power_up=True)
    servo.restart(0.1)
    wire.wait(0.2)
    assert servo.energized and servo.changes[-1].why == "power up" and wire.read("goal_position") == 2048


@pytest.mark.parametrize("trait", [True, False])
def test_the_status_level(bench, trait):
    wire, servo = bench(sts_levels=trait)
    servo.set("status_level", 0)
    assert wire.write("acceleration", 5) == (None if trait else 0)
    assert wire.read("acceleration") == 5 and wire.send(1, PING)


def test_a_new_id_and_rate_hold_at_once(bench):
    wire, _servo = bench(check_baud=True)
    wire.emulator.rate = 1_000_000
    wire.write("lock", 0)
    wire.write("id", 7)
    assert wire.read("id", 1) is None and wire.read("id", 7) == 7
    wire.write("baud_rate", 4, 7)
    assert wire.read("id", 7) is None
    wire.emulator.rate = 115_200
    assert wire.read("id", 7) == 7
    assert wire.emulator.log[-1].servo_id == 1  # the logs go on calling it so


def test_two_with_the_same_id_talk_at_once():
    emulator = FeetechEmulator({1: 1000, 2: 2000}, KIND)
    emulator.servos[2].set("id", 1)
    frame = emulator.codec.instruction(1, 2, bytes([56, 2]))
    (reply,) = emulator.feed(frame, 0.0)
    assert emulator.codec.parse_statuses(reply)[0] == []


def test_writes_that_wait_for_an_action(bench):
    wire, _servo = bench()
    wire.write("torque_enable", 1)
    goal = write_data(wire.codec, 42, (2100).to_bytes(2, "little"))
    assert wire.send(1, REG_WRITE, goal) and wire.read("goal_position") == 2048
    assert wire.send(BROADCAST, ACTION) == []
    assert wire.read("goal_position") == 2100


def test_a_set_up_arm_reports_where_its_joints_are(tmp_path):
    joint = ServoJoint("a", 3, 1, 2048, 1000, 3000, 0.0015, homing_offset=-300)
    port = emulate(Calibration("feetech", 500_000, (joint,)), {"a": 0.15}, str(tmp_path / "port"))
    servo = port.bus.servos[3]
    assert abs(servo.get("position") - 2148) <= 1 and servo.position == 2148 - 300 and servo.homing_offset == -300
    assert (servo.get("min_position"), servo.get("max_position"), servo.baud) == (1000, 3000, 500_000)
    servo.restart()
    assert abs(servo.get("position") - 2148) <= 1 and servo.homing_offset == -300


def test_the_default_is_unkind():
    emulator = FeetechEmulator({1: 2048})
    assert emulator.traits is UNKIND and emulator.servos[1].pull == -14.0
    assert [emulator.servos[1].get(name) for name in ("id", "baud_rate", "p_gain", "lock")] == [1, 0, 32, 1]
