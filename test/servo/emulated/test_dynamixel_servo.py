"""The XL330: each trait on and off."""

from __future__ import annotations

import pytest

from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.emulated.port import emulate
from ik_solver_ros.servo.emulated.register_servos import DynamixelEmulator
from ik_solver_ros.servo.emulated.traits import KIND
from ik_solver_ros.servo.registers import ACTION, CLEAR, FACTORY_RESET, PING, REBOOT, REG_WRITE, write_data

ALERT, RANGE, ACCESS = 0x80, 0x04, 0x07
OVERLOADED = 1 << 5


@pytest.fixture
def bench(wire):
    return lambda **traits: wire(DynamixelEmulator, **traits)


@pytest.mark.parametrize("trait", [True, False])
def test_the_eeprom_is_locked_by_torque(bench, trait):
    wire, _servo = bench(dxl_eeprom_lock=trait)
    assert wire.write("operating_mode", 4) == 0
    wire.write("torque_enable", 1)
    assert wire.write("operating_mode", 1) == (ACCESS if trait else 0)
    assert wire.read("operating_mode") == (4 if trait else 1)
    assert wire.emulator.log[-1].outcome == ("refused" if trait else "taken")
    assert wire.write("acceleration", 5) == 0


@pytest.mark.parametrize("trait", [True, False])
def test_a_goal_outside_the_limits_is_refused(bench, trait):
    wire, servo = bench(dxl_limits=trait)
    servo.set("max_position", 3000)
    wire.write("torque_enable", 1)
    assert wire.write("goal_position", 3500) == (RANGE if trait else 0)
    wire.wait(1.0)
    assert servo.position == (2048.0 if trait else 3500.0)
    assert len(wire.emulator.writes) == (0 if trait else 1)


def test_several_turns_in_the_modes_that_know_them(bench):
    wire, servo = bench(dxl_limits=True, dxl_modes=True, dxl_turns=True)
    wire.write("operating_mode", 4)
    wire.write("torque_enable", 1)
    assert wire.write("goal_position", 6000) == 0
    wire.wait(3.0)
    assert servo.position == 6000.0 and wire.read("position") == 6000


@pytest.mark.parametrize("trait", [True, False])
def test_turns_are_counted_without_torque_and_forgotten_with_it(bench, trait):
    wire, servo = bench(dxl_turns=trait)
    servo.position = 5000.0
    assert wire.read("position") == 5000
    wire.write("torque_enable", 1)
    assert wire.read("position") == (904 if trait else 5000)
    wire.write("torque_enable", 0)
    servo.position = -10.0
    assert wire.read("position") == (-4106 if trait else -10)
    assert wire.send(1, CLEAR, bytes([1, 0x44, 0x58, 0x4C, 0x22]))
    assert wire.read("position") == (4086 if trait else -10)


@pytest.mark.parametrize("trait", [True, False])
def test_the_homing_offset_is_added(bench, trait):
    wire, _servo = bench(dxl_offset=trait)
    wire.write("homing_offset", 500)
    assert wire.read("position") == (2548 if trait else 2048)
    wire.write("homing_offset", 1500)  # more than mode 3 heeds
    assert wire.read("position") == 2048


def test_reverse_mode(bench):
    wire, servo = bench(dxl_modes=True)
    wire.write("drive_mode", 1)
    assert wire.read("position") == -2048
    wire.write("torque_enable", 1)
    wire.write("goal_position", -1948)
    wire.wait(1.0)
    assert servo.position == 1948.0 and wire.read("position") == -1948


def test_velocity_and_pwm_mode_ignore_positions(bench):
    wire, servo = bench(dxl_modes=True)
    wire.write("operating_mode", 1)
    wire.write("torque_enable", 1)
    wire.write("goal_position", 3000)
    wire.wait(0.5)
    assert servo.position == 2048.0
    wire.write("goal_speed", 10)
    wire.wait(1.0)
    assert servo.position == pytest.approx(2048.0 + 10.0 * wire.codec.velocity_unit)
    wire.write("torque_enable", 0)
    wire.write("operating_mode", 16)
    wire.write("goal_pwm", 0)
    wire.write("torque_enable", 1)
    before = servo.position
    wire.wait(0.5)
    assert servo.position == before


def test_torque_by_a_goal_where_drive_mode_says_so(bench):
    wire, servo = bench(dxl_modes=True)
    wire.write("goal_position", 2100)
    assert not servo.energized
    wire.write("drive_mode", 8)
    wire.write("goal_position", 2110)
    assert servo.energized and servo.changes[-1].why == "goal_position"


@pytest.mark.parametrize("trait", [True, False])
def test_an_overload_takes_its_torque_until_it_is_rebooted(bench, trait):
    wire, servo = bench(dxl_shutdown=trait)
    wire.write("torque_enable", 1)
    servo.blocked = True
    wire.write("goal_position", 3000)
    wire.wait(1.9)
    assert servo.energized and servo.error() == 0
    wire.wait(0.2)
    assert servo.energized is not trait
    assert wire.read("hardware_error") == (OVERLOADED if trait else 0)
    if trait:
        assert wire.write("torque_enable", 1) == ALERT and wire.read("torque_enable") == 0
        assert wire.send(1, REBOOT) and wire.read("position") is None
        wire.wait(0.4)
        assert wire.read("hardware_error") == 0 and wire.write("torque_enable", 1) == 0 and servo.energized
        assert [(change.torque, change.why) for change in servo.changes[:2]] == [
            (True, "torque_enable"),
            (False, "shutdown"),
        ]


def test_an_error_outside_the_mask_is_only_told(bench):
    wire, servo = bench(dxl_shutdown=True)
    servo.set("shutdown", 0)
    wire.write("torque_enable", 1)
    servo.supply = 8.0
    wire.wait(0.1)
    assert servo.energized and wire.write("acceleration", 0) == ALERT and wire.read("hardware_error") == 1
    servo.supply = 5.0
    wire.wait(0.1)
    assert wire.write("acceleration", 0) == 0


@pytest.mark.parametrize("trait", [True, False])
def test_the_bus_watchdog_stops_it(bench, trait):
    wire, servo = bench(dxl_watchdog=trait)
    wire.write("goal_velocity", 20)
    wire.write("torque_enable", 1)
    wire.write("bus_watchdog", 5)  # 100 ms
    wire.write("goal_position", 4000)
    wire.wait(0.09)
    wire.read("position")
    wire.wait(0.09)
    assert wire.read("bus_watchdog") == 5
    wire.wait(0.2)
    before = servo.position
    assert wire.read("bus_watchdog") == (255 if trait else 5)
    wire.wait(0.5)
    assert (servo.position == before) is trait
    assert wire.write("goal_position", 3000) == (RANGE if trait else 0)
    wire.write("bus_watchdog", 0)
    assert wire.write("goal_position", 3000) == 0


def test_profile_and_pwm_limit_it(bench):
    wire, servo = bench(pull=-20.0)
    wire.write("torque_enable", 1)
    wire.write("goal_velocity", 20)
    wire.write("goal_position", 4000)
    wire.wait(1.0)
    assert servo.position == pytest.approx(2048.0 - 20.0 + 20.0 * wire.codec.velocity_unit, abs=2.0)
    wire.write("goal_pwm", 100)  # too little to hold it
    before = servo.position
    wire.wait(0.2)
    assert servo.position < before


def test_gains(bench):
    wire, servo = bench(dxl_gains=True, pull=-14.0)
    wire.write("torque_enable", 1)
    wire.wait(0.5)
    assert servo.position == pytest.approx(2034.0, abs=0.5)
    wire.write("p_gain", 800)
    wire.wait(0.5)
    assert servo.position == pytest.approx(2041.0, abs=0.5)


@pytest.mark.parametrize("trait", [True, False])
def test_the_status_return_level(bench, trait):
    wire, _servo = bench(dxl_levels=trait)
    wire.write("status_level", 1)
    assert wire.write("acceleration", 5) == (None if trait else 0) and wire.read("acceleration") == 5
    wire.write("status_level", 0)
    assert wire.read("acceleration") == (None if trait else 5) and wire.send(1, PING)


def test_a_restart_and_the_startup_configuration(bench):
    wire, servo = bench()
    wire.write("torque_enable", 1)
    wire.write("goal_velocity", 50)
    servo.position = 2100.0
    servo.restart(0.1)
    wire.wait(0.2)
    assert [wire.read(name) for name in ("torque_enable", "goal_velocity", "goal_position")] == [0, 0, 2100]
    wire.write("startup", 1)
    servo.restart(0.1)
    wire.wait(0.2)
    assert wire.read("torque_enable") == 1 and servo.changes[-1].why == "power up"


def test_a_factory_reset(bench):
    wire, _servo = bench()
    wire.write("id", 9)
    wire.write("max_position", 3000, 9)
    wire.write("baud_rate", 3, 9)
    wire.send(9, FACTORY_RESET, b"\x02")
    wire.wait(1.0)
    assert wire.read("max_position", 9) == 4095 and wire.read("baud_rate", 9) == 3
    wire.send(9, FACTORY_RESET, b"\xff")
    wire.wait(1.0)
    assert wire.read("baud_rate", 1) == 3


def test_writes_that_wait_for_an_action(bench):
    wire, _servo = bench()
    assert wire.send(1, REG_WRITE, write_data(wire.codec, 116, (2100).to_bytes(4, "little")))
    assert wire.read("goal_position") == 2048
    assert wire.send(1, ACTION)[0].code == 0 and wire.read("goal_position") == 2100
    assert wire.send(1, ACTION)[0].code == 1  # nothing waits


def test_factory_and_set_up(tmp_path):
    factory = DynamixelEmulator({1: 2048}).servos[1]
    assert DynamixelEmulator({1: 2048}, KIND).servos[1].baud == 1_000_000
    assert factory.baud == 57_600 and factory.get("operating_mode") == 3 and factory.reply_delay == 0.0005
    joints = (ServoJoint("a", 3, 1, 2048, 1000, 3000, 0.0015), ServoJoint("b", 4, 1, 5000, 4000, 6000, 0.0015))
    port = emulate(Calibration("dynamixel", 1_000_000, joints), {"a": 0.15}, str(tmp_path / "port"))
    a, b = port.bus.servos[3], port.bus.servos[4]
    assert abs(a.get("position") - 2148) <= 1 and (a.get("min_position"), a.get("max_position")) == (1000, 3000)
    assert abs(b.get("position") - 5000) <= 1 and b.get("operating_mode") == 4 and a.baud == b.baud == 1_000_000
