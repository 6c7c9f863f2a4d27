"""Boards with hobby servos: each trait on and off."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ik_solver_ros.servo import maestro
from ik_solver_ros.servo.emulated.pulse_boards import MaestroEmulator, Ssc32Emulator
from ik_solver_ros.servo.emulated.traits import KIND


def board(emulator_class, *at, **traits):
    made = emulator_class(dict(enumerate(at or (1500.0,))), replace(KIND, **traits))
    made.advance(0.0)
    for servo in made.servos.values():
        servo.pull = 0.0
    return made


def test_opening_its_port_restarts_an_arduino():
    one = board(Ssc32Emulator, arduino=True, arduino_boot=1.6)
    one.feed(b"#0P1500\r", 0.0)
    assert one.widths == {0: 1500.0}
    one.opened(1.0)
    assert one.widths == {0: 0.0} and one.servos[0].changes[-1].why == "restart"
    assert one.feed(b"#0P1600\rVER\r", 1.5) == [] and one.widths == {0: 0.0}
    assert one.feed(b"VER\r", 2.7) == [b"SSC32-ARDUINO-1.1\r"]
    other = board(Ssc32Emulator, arduino=False)
    other.feed(b"#0P1500\r", 0.0)
    other.opened(1.0)
    assert other.widths == {0: 1500.0} and other.feed(b"VER\r", 1.0) == [b"SSC32-V2.50USB\r"]


def test_a_servo_without_pulses_is_limp():
    one = board(Ssc32Emulator, fall_speed=100.0)
    one.servos[0].pull = -20.0
    one.feed(b"#0P1500\r", 0.0)
    one.advance(1.0)
    assert one.positions[0] == pytest.approx(1480.0, abs=0.5)
    one.feed(b"#0P0\r", 1.0)
    one.advance(2.0)
    assert one.positions[0] < 1400.0 and not one.servos[0].trace[-1].torque


def test_the_sketch_takes_a_line_whole_or_not_at_all():
    for line in (b"#0P1600#1P3000\r", b"#0P1600X5\r", b"#0P1600#1P\r"):
        one = board(Ssc32Emulator, 1500.0, 1500.0, arduino=True)
        one.feed(line, 0.0)
        assert one.widths[0] == 0.0, line
    assert one.log[-1].outcome == "ignored"
    other = board(Ssc32Emulator, 1500.0, 1500.0, arduino=False)
    other.feed(b"#0P1600#1P3000\r", 0.0)
    assert other.widths == {0: 1600.0, 1: 0.0}


@pytest.mark.parametrize("trait", [True, False])
def test_the_sketch_does_not_hear_lines_of_more_than_120_characters(trait):
    one = board(Ssc32Emulator, *[1500.0] * 20, arduino=trait)
    one.feed("".join(f"#{i}P1500" for i in range(17)).encode() + b"\r", 0.0)
    assert (one.widths[0] == 0.0) is trait
    one.feed("".join(f"#{i}P1500" for i in range(16)).encode() + b"\r", 0.0)
    assert one.widths[0] == 1500.0


def test_the_sketch_moves_its_pulses_slowly_after_the_first():
    one = board(Ssc32Emulator, arduino=True)
    one.feed(b"#0P1000\r", 0.0)
    assert one.widths[0] == 1000.0  # that one has to come from somewhere
    one.feed(b"#0P2000\r", 0.0)
    one.advance(0.1)
    assert one.widths[0] == pytest.approx(1250.0) and one.feed(b"Q\r", 0.1) == [b"+"]
    one.feed(b"STOP0\r", 0.1)
    one.advance(0.5)
    assert one.widths[0] == pytest.approx(1250.0) and one.feed(b"Q\rQP0\r", 0.5) == [b".", b"\x7d"]


def test_the_sketch_stays_where_it_is_when_nobody_speaks():
    one = board(Ssc32Emulator, arduino=True)
    one.feed(b"#0P1000\r", 0.0)
    one.feed(b"#0P2000S100\r", 0.0)
    one.advance(5.0)
    assert one.widths[0] == pytest.approx(1100.0)
    other = board(Ssc32Emulator, arduino=False)
    other.feed(b"#0P1000\r", 0.0)
    other.feed(b"#0P2000S100\r", 0.0)
    other.advance(5.0)
    assert other.widths[0] == pytest.approx(1500.0)


def test_more_channels_than_fit_a_frame_are_slower():
    for count, share in ((32, 1.0), (64, 20.0 / 22.24)):  # pulses take 8 * (2500 + 7 * 40) us then
        one = board(Ssc32Emulator, *[1500.0] * count, arduino=True)
        for i in range(count):
            one.feed(f"#{i}P2500\r".encode(), 0.0)
        one.feed(b"#0P2000\r", 0.0)
        one.advance(0.1)
        assert one.widths[0] == pytest.approx(2500.0 - 250.0 * share)


def test_the_sketch_says_that_it_refused_a_line():
    one = board(Ssc32Emulator, arduino=True)
    for line in (b"#0P1600X5\r", b"#1P1500\r", b"#0P99\r", b"HELLO\r", b"STOP7\r", b"#" * 121 + b"\r"):
        one.feed(line, 0.0)
        assert one.feed(b"Q\rQ\r", 0.0) == [b"!", b"."], line
    assert one.widths == {0: 0.0}
    other = board(Ssc32Emulator, arduino=False)
    other.feed(b"HELLO\r", 0.0)
    assert other.feed(b"Q\r", 0.0) == [b"."]


def test_the_sketch_says_in_us_what_it_pulses_and_that_it_started_anew():
    one = board(Ssc32Emulator, arduino=True)
    assert one.feed(b"QU0\r", 0.0) == [b"*\r"]
    one.feed(b"VER\r#0P1503\r", 0.0)
    assert one.feed(b"QU0\rQU7\r", 0.0) == [b"1503\r", b"0\r"]
    one.restart()
    assert one.feed(b"QU0\r", 0.0) == [b"*\r"]
    assert board(Ssc32Emulator, arduino=False).feed(b"QU0\r", 0.0) == []


def test_timed_moves_of_a_group():
    one = board(Ssc32Emulator, 1500.0, 1500.0)
    one.feed(b"#0P1500#1P1500T1000\r", 0.0)
    one.feed(b"#0P1600#1P1800T1000\r", 0.0)
    one.advance(0.5)
    assert one.widths == pytest.approx({0: 1550.0, 1: 1650.0})


def test_the_first_move_of_a_channel_is_untimed():
    for trait, width in ((True, 1800.0), (False, 1550.0)):
        one = board(Ssc32Emulator, first_pulse_at_once=trait)
        one.feed(b"#0P1800S100\r", 0.0)
        one.advance(0.5)
        assert one.widths[0] == pytest.approx(width)


@pytest.mark.parametrize("trait", [True, False])
def test_an_ssc32u_leaves_the_factory_at_9600(trait):
    one = board(Ssc32Emulator, board_factory_baud=trait, check_baud=True)
    one.rate = 115_200
    assert one.feed(b"Q\r", 0.0) == ([] if trait else [b"."])
    one.rate = 9600
    assert one.feed(b"Q\r", 0.0) == ([b"."] if trait else [])


@pytest.mark.parametrize("trait", [True, False])
def test_a_maestro_clamps_silently_and_tells_it(trait):
    one = board(MaestroEmulator, maestro_limits=trait)
    one.feed(maestro.pulses({0: 700.0}), 0.0)
    assert one.widths[0] == (992.0 if trait else 700.0) and one.log[-1].outcome == ("clamped" if trait else "taken")
    (reply,) = one.feed(bytes([maestro.GET_POSITION, 0]), 0.0)
    assert int.from_bytes(reply, "little") == 4 * one.widths[0]
    assert one.writes[-1].goal == 700.0 and one.writes[-1].target == one.widths[0]
    one.limits[0] = (500.0, 2500.0)
    one.feed(maestro.pulses({0: 700.0}), 0.0)
    assert one.widths[0] == 700.0
    one.feed(maestro.pulses({0: 0.0}), 0.0)
    assert one.widths[0] == 0.0


@pytest.mark.parametrize("trait", [True, False])
def test_a_maestro_from_the_factory_waits_for_its_rate(trait):
    one = board(MaestroEmulator, maestro_uart=trait)
    assert one.feed(bytes([maestro.GET_ERRORS]), 0.0) == ([] if trait else [b"\0\0"])
    one.uart = one.uart and bool(one.feed(b"\xaa", 0.0)) and one.uart
    assert one.feed(bytes([maestro.GET_ERRORS]), 0.0) == [b"\0\0"]


@pytest.mark.parametrize("trait", [True, False])
def test_an_error_stops_all_pulses_of_a_maestro(trait):
    one = board(MaestroEmulator, 1500.0, 1500.0, maestro_error_stops=trait)
    one.feed(maestro.pulses({0: 1500.0, 1: 1600.0}), 0.0)
    one.feed(b"\x05", 0.0)
    assert one.widths == ({0: 0.0, 1: 0.0} if trait else {0: 1500.0, 1: 1600.0})
    assert one.feed(bytes([maestro.GET_ERRORS]), 0.0) == [b"\x10\0"]
    assert one.feed(bytes([maestro.GET_ERRORS]), 0.0) == [b"\0\0"]


def test_a_maestros_other_commands():
    one = board(MaestroEmulator, 1500.0, 1500.0)
    one.feed(maestro.pulses({0: 1000.0}), 0.0)
    one.feed(bytes([0x87, 0, 4, 0]), 0.0)  # 100 us/s
    one.feed(b"\xaa\x0c\x04" + maestro.pulses({0: 2000.0})[1:], 0.0)  # by the Pololu protocol
    one.advance(1.0)
    assert one.widths[0] == pytest.approx(1100.0) and one.feed(b"\x93", 1.0) == [b"\x01"]
    one.feed(bytes([0x87, 0, 0, 0, 0x89, 0, 1, 0]), 1.0)  # 312.5 us/s^2
    one.feed(maestro.pulses({0: 2000.0}), 1.0)
    one.advance(2.0)
    assert one.widths[0] == pytest.approx(1200.0 + 312.5 / 2.0, abs=2.0)
    one.feed(bytes([0x9F, 2, 0, *maestro.pulses({0: 1200.0})[2:], *maestro.pulses({0: 1300.0})[2:]]), 2.0)
    assert one.widths[1] == 1300.0 and one.writes[-2].goal == 1200.0
    one.modes[1] = "output"
    one.feed(maestro.pulses({1: 1400.0}), 2.0)
    assert one.widths[1] == 1300.0 and one.log[-1].outcome == "ignored"
    one.modes[1] = "servo"
    one.feed(b"\xa2", 2.0)
    assert one.widths == {0: 0.0, 1: 0.0}
