"""The LX-16A: all its commands, and each trait on and off."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ik_solver_ros.servo import lx16a
from ik_solver_ros.servo.emulated.lx16a import Lx16aEmulator
from ik_solver_ros.servo.emulated.traits import KIND


class Wire:
    def __init__(self, at, traits):
        self.emulator, self.now = Lx16aEmulator(at, traits), 0.0
        self.emulator.advance(0.0)

    def send(self, command, *values, servo_id=1):
        data = b"".join(value.to_bytes(size, "little", signed=value < 0) for value, size in values)
        return self.emulator.feed(lx16a.frame(servo_id, command, data), self.now)

    def ask(self, command, servo_id=1):
        replies = self.send(command, servo_id=servo_id)
        return lx16a.parse(b"".join(replies))[0][0].data if replies else None

    def number(self, command):
        return int.from_bytes(self.ask(command), "little", signed=True)

    def move(self, goal, milliseconds):
        self.send(1, (goal, 2), (milliseconds, 2))

    def wait(self, seconds):
        self.now += seconds
        self.emulator.advance(self.now)


@pytest.fixture
def bench():
    def make(at=500.0, pull=0.0, **traits):
        wire = Wire({1: at}, replace(KIND, **traits))
        wire.emulator.servos[1].pull = pull
        return wire, wire.emulator.servos[1]

    return make


def test_a_move_brings_torque_and_takes_its_time(bench):
    wire, servo = bench()
    assert wire.number(32) == 0
    wire.move(600, 1000)
    wire.wait(0.5)
    assert servo.position == pytest.approx(550.0) and wire.number(32) == 1
    assert [(change.torque, change.why) for change in servo.changes] == [(True, "MOVE")]
    wire.wait(1.0)
    assert wire.number(28) == 600 and wire.ask(2) == bytes([600 & 255, 600 >> 8, 1000 & 255, 1000 >> 8])
    wire.move(0, 0)
    wire.wait(0.1)
    assert servo.position == pytest.approx(600.0 - 0.1 * KIND.lx_top_speed)


def test_a_move_that_waits_and_one_that_is_stopped(bench):
    wire, servo = bench()
    wire.send(7, (700, 2), (1000, 2))
    wire.wait(0.5)
    assert servo.position == 500.0 and wire.ask(8)[:2] == (700).to_bytes(2, "little")
    wire.send(11)
    wire.wait(0.5)
    wire.send(12)
    wire.wait(1.0)
    assert servo.position == pytest.approx(600.0)
    assert [write.goal for write in wire.emulator.writes] == [700]


def test_unloading_makes_it_limp_and_loading_holds_it_where_it_is(bench):
    wire, servo = bench()
    wire.move(600, 0)
    wire.wait(1.0)
    wire.send(31, (0, 1))
    servo.position = 400.0
    wire.send(31, (1, 1))
    wire.wait(1.0)
    assert servo.position == 400.0 and servo.changes[-1].why == "TORQUE"


@pytest.mark.parametrize("trait", [True, False])
def test_command_36_reads_a_setting(bench, trait):
    wire, servo = bench(lx_alarm_setting=trait, lx_unloading=True)
    assert wire.number(36) == (7 if trait else 0)
    servo.temperature = 90.0
    assert wire.number(36) == (7 if trait else 1)
    wire.send(35, (2, 1))
    assert wire.number(36) == (2 if trait else 1)


@pytest.mark.parametrize("trait", [True, False])
def test_motor_mode_ignores_positions(bench, trait):
    wire, servo = bench(lx_motor_mode=trait)
    wire.send(31, (1, 1))
    wire.send(29, (1, 1), (0, 1), (-500, 2))
    assert wire.ask(30) == b"\x01\x00" + (-500).to_bytes(2, "little", signed=True)
    wire.move(600, 0)
    assert wire.emulator.log[-1].outcome == ("ignored" if trait else "taken")
    wire.wait(0.5)
    assert servo.position == pytest.approx(500.0 - 0.25 * KIND.lx_top_speed if trait else 600.0)
    assert (wire.number(28) < 500) is trait
    servo.restart()
    wire.move(600, 0)
    wire.wait(2.0)
    assert servo.position == 600.0


@pytest.mark.parametrize("trait", [True, False])
def test_angle_limits(bench, trait):
    wire, servo = bench(lx_limits=trait)
    wire.send(20, (300, 2), (700, 2))
    wire.move(900, 0)
    wire.wait(2.0)
    assert servo.position == (700.0 if trait else 900.0)
    assert wire.emulator.writes[-1].goal == 900 and wire.emulator.writes[-1].target == servo.position
    servo.restart()
    assert wire.ask(21) == bytes([300 & 255, 300 >> 8, 700 & 255, 700 >> 8])


@pytest.mark.parametrize("trait", [True, False])
def test_an_offset_is_kept_once_it_was_saved(bench, trait):
    wire, servo = bench(at=20.0, lx_offset=trait)
    wire.send(17, (50, 1))
    assert wire.number(28) == (-30 if trait else 20) and wire.number(19) == 50
    servo.restart()
    assert wire.number(19) == 0
    wire.send(17, (-50, 1))
    wire.send(18)
    servo.restart()
    assert wire.number(28) == (70 if trait else 20) and servo.homing_offset == -50


@pytest.mark.parametrize("trait", [True, False])
def test_no_torque_while_it_is_too_hot_or_the_voltage_wrong(bench, trait):
    wire, servo = bench(lx_unloading=trait)
    wire.send(24, (60, 1))
    wire.send(22, (6000, 2), (8000, 2))
    wire.move(600, 0)
    wire.wait(1.0)
    servo.temperature = 70.0
    wire.wait(0.1)
    assert servo.energized is not trait and wire.number(26) == 70
    servo.temperature = 50.0
    wire.wait(0.1)
    assert servo.energized
    servo.supply = 5.0
    wire.wait(0.1)
    assert servo.energized is not trait and wire.number(27) == 5000


def test_a_new_id_and_everyone_at_once(bench):
    wire, servo = bench()
    wire.send(13, (5, 1), servo_id=254)
    assert wire.ask(14, 254) == b"\x05" and wire.ask(28, 1) is None and wire.ask(28, 5) is not None
    assert wire.ask(28, 254) is None
    wire.send(33, (1, 1), servo_id=5)
    assert wire.ask(34, 5) == b"\x01" and wire.ask(23, 5) and wire.ask(25, 5) == b"\x55"
    wire.send(1, (0, 1), servo_id=5)  # too short
    assert wire.emulator.log[-1].outcome == "ignored" and not servo.energized


def test_another_rate_is_not_heard(bench):
    wire, _servo = bench(check_baud=True)
    wire.emulator.rate = 9600
    assert wire.ask(28) is None
    wire.emulator.rate = 115_200
    assert wire.ask(28) is not None


def test_a_restart(bench):
    wire, servo = bench(pull=-20.0, fall_speed=500.0)
    wire.move(500, 0)
    wire.wait(0.1)
    before = servo.position
    servo.restart(0.2)
    wire.wait(0.1)
    assert wire.ask(28) is None
    wire.wait(0.2)
    assert wire.number(32) == 0 and servo.position < before - 10.0
