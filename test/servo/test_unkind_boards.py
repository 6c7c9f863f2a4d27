"""Boards as they come from the factory, on wires as they are: rates, limits, errors, restarts."""

from __future__ import annotations

import termios
import time
from dataclasses import replace

import numpy as np
import pytest

from ik_solver_ros.arm.servos import servo_arm
from ik_solver_ros.errors import ArmError, BusError
from ik_solver_ros.servo import ssc32
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.emulated.port import EmulatedPort, emulate
from ik_solver_ros.servo.emulated.traits import UNKIND
from ik_solver_ros.servo.families import FAMILIES, load
from ik_solver_ros.trajectory.trajectory import Trajectory

from .conftest import BOARDS, cycle_of, run

SPEED = 2.0  # [rad/s]
US = FAMILIES["ssc32"].per_tick
SSC32U = replace(UNKIND, arduino=False, pause_every=0.0)
SKETCH = replace(UNKIND, arduino=True, arduino_boot=0.0, pause_every=0.0)
PATIENCE = 10.0  # [s]


def calibration_of(protocol, joints=2, baud=115_200, low=700, high=2300):
    return Calibration(protocol, baud, tuple(ServoJoint(f"j{i}", i, 1, 1500, low, high, US) for i in range(joints)))


@pytest.fixture
def plugged(tmp_path):
    """An arm on an emulated board that is set up for it; another arm, as of a program started anew, on a board."""
    opened = []

    def make(protocol, traits=SSC32U, on=None, start=0.0, **which):
        calibration = calibration_of(protocol, **which)
        at = {joint.name: start for joint in calibration.joints}
        if on is None:
            on = emulate(calibration, at, str(tmp_path / "port"), traits)
            on.plug()
            opened.append(on.unplug)
        arm = servo_arm(calibration, Port(on.url, calibration.baud), start=at)
        opened.append(arm.close)
        return on, arm

    yield make
    for close in reversed(opened):
        close()


def until(condition, work=lambda: None):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        work()


def go(cycle, positions, seconds=0.5):
    n = len(positions)
    points = Trajectory(cycle.arm.joint_names, np.array([seconds]), np.array([positions]), np.zeros((1, n)))
    cycle.accept("arm", points, time.monotonic(), None)


def stepped_until(cycle, condition):
    def step():
        cycle.step(time.monotonic)
        time.sleep(0.003)

    until(condition, step)


def told_until(cycle, text):
    """What the cycle tells, until it tells this."""
    told = []

    def tells():
        told.extend(event.text for event in cycle.events())
        return any(text in one for one in told)

    stepped_until(cycle, tells)
    return told


# The wire


def test_an_ssc32u_from_the_factory_is_found_at_its_rate(tmp_path):
    asked = 115_200
    board = load(FAMILIES["ssc32"].emulator)({0: 1500.0}, SSC32U)
    with EmulatedPort(board, str(tmp_path / "port")) as port:
        arm = servo_arm(calibration_of("ssc32", 1), Port(port.url, asked))
        with pytest.raises(
            ArmError, match=f"answers at 9600 baud, and not at {asked}: set baud: 9600 in the cal.*button"
        ):
            arm.open()
        assert not arm.port.is_open and arm.port.baud == asked
        arm = servo_arm(calibration_of("ssc32", 1), Port(port.url, 9600))
        arm.open()
        assert arm.samples()["j0"].ticks == 1500 and board.log == board.log.__class__()
        arm.close()


def test_a_maestro_from_the_factory_ignores_usb(tmp_path):
    with EmulatedPort(load(FAMILIES["maestro"].emulator)({0: 1500.0}, UNKIND), str(tmp_path / "port")) as port:
        arm = servo_arm(calibration_of("maestro", 1), Port(port.url, 115_200))
        with pytest.raises(ArmError, match=r"no answer from the maestro board on .*'USB Dual Port'.*ttyACM"):
            arm.open()


class Tape(Port):
    """A port that remembers what is written."""

    def __init__(self, url, baud):
        super().__init__(url, baud)
        self.written = b""

    def write(self, data):
        self.written += data
        super().write(data)


def test_a_slow_wire_gets_no_more_than_it_can_take(plugged):
    baud = 9600
    port, arm = plugged("ssc32", joints=6, baud=baud)
    arm.port = arm.bus.port = tape = Tape(port.url, baud)
    arm.open()
    arm.enable(np.ones(6))
    tape.written, began = b"", time.monotonic()
    goals = np.linspace(0.0, 1.0, 400)
    for goal in goals:
        arm.samples()
        arm.write(np.full(6, goal), np.zeros(6))
        time.sleep(0.0005)
        line = 6 * len("#0P1500") + len("\rQ\rQP0\r")
        assert len(tape.written) <= (time.monotonic() - began) * baud / 10.0 + 2 * line
    assert len(tape.written) > 40
    newest = {i: ServoJoint("", i, 1, 1500, 700, 2300, US).ticks(1.0) for i in range(6)}
    until(lambda: port.bus.widths == newest, arm.samples)
    assert arm.health()["possible_rate_hz"] == pytest.approx(baud / 10.0 / 47.0)


def test_what_is_newest_goes_out_before_the_port_is_let_go(plugged):
    port, arm = plugged("ssc32", joints=6, baud=9600)
    arm.open()
    arm.enable(np.ones(6))
    for goal in (0.1, 0.2, 0.3):
        arm.write(np.full(6, goal), np.zeros(6))
    arm.close()
    newest = ServoJoint("", 0, 1, 1500, 700, 2300, US).ticks(0.3)
    until(lambda: set(port.bus.widths.values()) == {newest})


def test_moves_have_neither_speed_nor_time():
    assert set(ssc32.pulses({i: 1500 + i for i in range(32)})) <= set(b"#P\r0123456789")


@pytest.mark.parametrize("protocol, traits", [("ssc32", SSC32U), ("ssc32", SKETCH), ("maestro", UNKIND)])
def test_replies_that_are_lost_late_or_repeated_change_nothing(plugged, protocol, traits):
    port, arm = plugged(protocol, traits)
    cycle = cycle_of(arm, SPEED)
    run(cycle, 0.05)
    cycle.enable()
    replies = []

    def bad(reply):
        replies.append(reply)
        kind = len(replies) % 24
        return {7: [], 15: [(0.02, reply)], 23: [(0.0, reply), (0.03, reply)]}.get(kind, [(0.0, reply)])

    port.faults = bad
    go(cycle, [0.3, -0.3])
    stepped_until(cycle, lambda: len(replies) > 60 and port.bus.widths == {0: 1691.0, 1: 1309.0})
    assert cycle.fault == "" and all(sample.torque for sample in cycle.samples.values())


# What is pulsed


def test_limits_of_a_maestros_channel_are_told(plugged):
    port, arm = plugged("maestro", UNKIND)
    cycle = cycle_of(arm, SPEED)
    run(cycle, 0.05)
    cycle.enable()
    go(cycle, [-0.9, 0.1], 0.9)
    told = told_until(cycle, "channel 0 pulses 992 us, was told 927")
    assert "narrower" in cycle.fault and "Control Center (Channel Settings)" in cycle.fault and "j1" not in told[-1]
    run(cycle, 0.3)
    assert port.bus.widths[0] == 992.0 and cycle.samples["j0"].ticks == 992 and cycle.samples["j0"].torque
    seen = len(port.bus.writes)
    cycle.enable()
    run(cycle, 0.3)
    assert cycle.fault == "" and {write.goal for write in port.bus.writes[seen:]} <= {992.0}
    go(cycle, [-0.6, 0.2], 0.6)
    stepped_until(cycle, lambda: port.bus.widths[0] == 1118.0)
    assert cycle.fault == ""


def test_an_error_of_a_maestro_is_a_loss_of_torque(plugged):
    port, arm = plugged("maestro", UNKIND, start=0.2)
    cycle = cycle_of(arm, SPEED)
    run(cycle, 0.05)
    cycle.enable()
    go(cycle, [0.5, -0.5], 2.0)
    run(cycle, 0.3)
    with port.lock:
        port.bus.fail(1, time.monotonic())
    told = told_until(cycle, "Maestro: serial overrun error")
    lost = [one for one in told if "torque lost" in one]
    assert all(name in " ".join(lost) for name in arm.joint_names), told
    seen = len(port.bus.writes)
    run(cycle, 0.3)
    assert len(port.bus.writes) == seen and not any(sample.torque for sample in cycle.samples.values())
    cycle.enable()
    run(cycle, 0.1)
    assert cycle.fault == "" and all(port.bus.widths.values())


def test_errors_of_before_are_nobodys(plugged):
    port, arm = plugged("maestro", UNKIND)
    port.bus.errors = 0x10
    cycle = cycle_of(arm, SPEED)
    run(cycle, 0.05)
    cycle.enable()
    run(cycle, 0.2)
    assert cycle.fault == ""


# Restarts


@pytest.mark.parametrize("protocol", BOARDS)
def test_a_program_started_anew_adopts_what_is_pulsed(plugged, protocol):
    port, arm = plugged(protocol, start=0.123)
    arm.open()
    arm.enable(np.ones(2))
    arm.write(np.array([0.317, -0.2]), np.zeros(2))
    arm.close()
    held = {i: ServoJoint("", i, 1, 1500, 700, 2300, US).ticks(q) for i, q in ((0, 0.317), (1, -0.2))}
    until(lambda: port.bus.widths == held)
    seen = len(port.bus.writes)
    _, again = plugged(protocol, on=port)  # its start_pose says 0
    cycle = cycle_of(again, SPEED)
    run(cycle, 0.2)
    assert all(sample.torque for sample in cycle.samples.values())
    assert again.read().positions == pytest.approx([0.317, -0.2], abs=5.5 * US)
    cycle.enable()
    run(cycle, 0.3)
    assert all(abs(width - held[i]) <= 5.0 for i, width in port.bus.widths.items())
    go(cycle, [0.1, 0.1])
    stepped_until(cycle, lambda: all(abs(width - (1500 + 0.1 / US)) <= 1.0 for width in port.bus.widths.values()))
    assert cycle.fault == ""
    steps = [abs(w.goal - held[w.servo_id]) for w in port.bus.writes[seen : seen + 2]]
    assert max(steps) < SPEED * 0.1 / US


@pytest.mark.parametrize("protocol", BOARDS)
def test_what_is_not_pulsed_is_where_it_was_declared(plugged, protocol):
    port, arm = plugged(protocol, start=0.2)
    arm.open()
    arm.bus.pulse({1: 1600})
    arm.close()
    until(lambda: port.bus.widths[1] == 1600.0)
    _, again = plugged(protocol, on=port, start=0.2)
    again.open()
    assert [sample.torque for sample in again.samples().values()] == [False, True]
    again.enable(np.ones(2))
    until(lambda: port.bus.widths == {0: 1627.0, 1: 1600.0})


def test_a_pulse_beyond_the_range_is_not_adopted(plugged):
    port, arm = plugged("maestro")
    arm.open()
    arm.bus.pulse({1: 1900})
    arm.close()
    _, again = plugged("maestro", on=port, low=1300, high=1700)
    again.open()
    with pytest.raises(ArmError, match=r"'j1' is pulsed at 1900 us, outside its calibrated range \[1300, 1700\]"):
        again.enable(np.ones(2))
    assert port.bus.widths == {0: 0.0, 1: 1900.0}


@pytest.mark.parametrize("protocol, traits", [("ssc32", SSC32U), ("ssc32", SKETCH), ("maestro", UNKIND)])
def test_a_board_that_starts_anew_meanwhile_has_lost_its_torque(plugged, protocol, traits):
    port, arm = plugged(protocol, traits)
    cycle = cycle_of(arm, SPEED)
    run(cycle, 0.05)
    cycle.enable()
    run(cycle, 0.2)
    assert cycle.fault == "" and all(port.bus.widths.values())
    with port.lock:
        port.bus.restart()
    assert any("torque lost: j0, j1" in one for one in told_until(cycle, "torque lost"))
    run(cycle, 0.2)
    assert not any(port.bus.widths.values()) and "torque lost" in cycle.fault
    cycle.enable()
    until(lambda: all(port.bus.widths.values()))


def test_a_board_that_does_not_answer_any_more(plugged):
    port, arm = plugged("ssc32")
    cycle = cycle_of(arm, SPEED)
    run(cycle, 0.05)
    cycle.enable()
    go(cycle, [0.5, 0.5], 3.0)
    run(cycle, 0.2)
    with port.lock:
        port.bus.deaf_until = time.monotonic() + 1.0
    told_until(cycle, "no answer from the ssc32 board")
    told = told_until(cycle, "connected")
    assert "torque lost" not in " ".join(told)  # it goes on pulsing
    run(cycle, 0.2)
    assert cycle.fault == "" and len(set(cycle.samples)) == 2


def test_the_next_opening_makes_no_edge(plugged):
    port, arm = plugged("ssc32")
    settings = termios.tcgetattr(port._slave)
    settings[2] |= termios.HUPCL
    termios.tcsetattr(port._slave, termios.TCSANOW, settings)
    arm.open()
    for _ in range(3):
        arm.samples()  # which sets the terminal again and again
    assert not termios.tcgetattr(port._slave)[2] & termios.HUPCL
    arm.close()


def test_a_port_without_such_lines_stays_as_it_is():
    port = Port("loop://", 9600)
    port.keep_lines()
    port.open()
    port.keep_lines()
    port.talk_at(115_200)
    port.close()
    with pytest.raises(BusError):
        port.talk_at(9600)


# The sketch


def test_channels_that_take_several_lines(plugged):
    port, arm = plugged("ssc32", SKETCH, joints=20)
    cycle = cycle_of(arm, SPEED)
    run(cycle, 0.05)
    cycle.enable()
    go(cycle, [0.2] * 20, 0.4)
    stepped_until(cycle, lambda: set(port.bus.widths.values()) == {1627.0})
    assert cycle.fault == ""
    lines = ssc32.pulses(dict.fromkeys(range(32), 1500)).split(b"\r")
    assert lines.pop() == b"" and max(map(len, lines)) <= 120 and b"".join(lines).count(b"#") == 32


def test_a_sketch_that_starts_anew_within_a_motion_is_noticed(plugged):
    """Though the next setpoint, ten milliseconds later, brings its pulses on again."""
    port, arm = plugged("ssc32", SKETCH)
    cycle = cycle_of(arm, SPEED)
    run(cycle, 0.05)
    cycle.enable()
    go(cycle, [0.8, -0.8], 2.0)
    run(cycle, 0.5)
    with port.lock:
        port.bus.restart()
    told_until(cycle, "torque lost: j0, j1")
    seen = len(port.bus.writes)
    run(cycle, 0.2)
    assert len(port.bus.writes) == seen


def test_a_line_that_the_board_refuses_is_a_fault(plugged):
    port, arm = plugged("ssc32", SKETCH, joints=3)
    with port.lock:
        del port.bus.servos[2]  # there are fewer pins than the calibration has channels
    cycle = cycle_of(arm, SPEED)
    run(cycle, 0.05)
    cycle.enable()
    told_until(cycle, "the board refused a line")
    assert cycle.fault


def test_an_arduino_that_its_opening_does_not_reset_goes_on(plugged):
    """As with a capacitor at its RESET, or after the first opening. It tells its pulses to the us."""
    port, arm = plugged("ssc32", SKETCH)
    arm.open()
    arm.enable(np.ones(2))
    arm.write(np.array([0.317, -0.2]), np.zeros(2))
    arm.close()
    held = {0: 1702.0, 1: 1373.0}
    until(lambda: port.bus.widths == held)
    port.bus.opened = lambda now: None
    _, again = plugged("ssc32", on=port)
    again.open()
    assert [sample.ticks for sample in again.samples().values()] == list(held.values())
    seen = len(port.bus.writes)
    again.enable(np.ones(2))
    again.close()
    assert port.bus.widths == held and len(port.bus.writes) == seen


def test_an_arduino_that_was_reset_begins_where_it_was_declared(plugged):
    port, arm = plugged("ssc32", replace(SKETCH, arduino_boot=0.3), start=0.3)
    arm.open()
    arm.enable(np.ones(2))
    arm.close()
    until(lambda: all(port.bus.widths.values()))
    _, again = plugged("ssc32", on=port, start=0.3)
    again.open()
    assert not any(sample.torque for sample in again.samples().values())
    assert again.read().positions == pytest.approx(0.3, abs=US)


def test_an_older_sketch_is_understood(plugged):
    _, arm = plugged("ssc32", SSC32U)
    arm.open()
    assert not arm.bus.fine and ssc32.fine(b"SSC32-ARDUINO-1.1\r") and ssc32.fine(b"SSC32-ARDUINO-2.0\r")
    assert not ssc32.fine(b"SSC32-ARDUINO-1.0\r") and not ssc32.fine(b"")
