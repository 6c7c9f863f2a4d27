from __future__ import annotations

import time

import numpy as np
import pytest

from ik_solver_ros.arm.servos import servo_arm
from ik_solver_ros.errors import ArmError, TrajectoryError
from ik_solver_ros.servo import maestro, ssc32
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.emulated.port import EmulatedPort, emulate
from ik_solver_ros.servo.emulated.traits import KIND, PRECISE
from ik_solver_ros.servo.families import FAMILIES, load
from ik_solver_ros.servo.pulse_codec import Status
from ik_solver_ros.trajectory.trajectory import Trajectory

from .conftest import BOARDS, cycle_of, run

NAMES, SPEED = ("a", "b"), 2.0
US = FAMILIES["ssc32"].per_tick


def test_golden_frames():
    assert ssc32.pulses({0: 1500, 1: 1600.4}) == b"#0P1500#1P1600\r"
    assert ssc32.pulses({3: 0}) == b"#3P0\r"
    assert maestro.pulses({2: 1500}).hex(" ") == "84 02 70 2e"
    assert ssc32.status(b"+") == Status() and ssc32.status(b"") is None
    assert maestro.status(b"\0\0") == Status() and maestro.status(b"\0") is None


def test_what_boards_say():
    assert ssc32.status(b"!") == Status(("the board refused a line",))
    assert ssc32.width_question(7, False) == b"QP7\r" and ssc32.width(b"\x96", False) == 1500.0
    assert ssc32.width(b"\0", False) == 0.0 and ssc32.width(b".+!", False) is None  # those are other answers
    assert ssc32.width_question(7, True) == b"QU7\r" and ssc32.width(b"1503\r", True) == 1503.0
    assert ssc32.width(b"*\r", True) == 0.0 and ssc32.width(b"15", True) is None and ssc32.width(b".\r", True) is None
    assert ssc32.greeted(b"SSC32-V2.50USB\r") and ssc32.greeted(b"SSC32-V2") is None
    assert maestro.status(b"\x41\0") == Status(
        ("Maestro: serial signal error", "Maestro: script stack error"), stopped=True
    )
    assert maestro.status(b"\0\1").troubles == ("Maestro: script program counter error",)
    pulse = (4 * 1503).to_bytes(2, "little")
    assert maestro.width_question(2, True) == b"\x90\x02" and maestro.width(pulse, True) == 1503.0
    assert maestro.width(b"\x10\0", True) is None and maestro.width(b"\x10\0" + pulse, True) == 1503.0  # errors, late
    assert maestro.status(pulse) is None and maestro.status(pulse + b"\0\0") == Status()


@pytest.mark.parametrize("protocol", BOARDS)
def test_emulated_boards_understand_what_is_sent_in_any_pieces(protocol):
    codec = load(FAMILIES[protocol].codec)
    board = load(FAMILIES[protocol].emulator)({0: 1500.0, 7: 1000.0}, KIND)
    data, replies = codec.pulses({0: 1600, 7: 900, 9: 1500}) + codec.question, []
    for i in range(len(data)):
        replies += board.feed(data[i : i + 1], 0.0)
    assert board.widths == {0: 1600.0, 7: 900.0} and codec.status(b"".join(replies)) == Status()
    board.advance(0.02)
    assert board.positions == {0: 1550.0, 7: 950.0}
    board.feed(codec.pulses({0: 0}), 0.02)
    board.advance(1.0)
    assert board.positions == {0: 1550.0, 7: 900.0}  # without a pulse it stays


@pytest.fixture(params=BOARDS)
def rig(request, tmp_path):
    joints = tuple(ServoJoint(n, i, 1, 1500, 700, 2300, US) for i, n in enumerate(NAMES))
    calibration = Calibration(request.param, 115_200, joints)
    start = {"b": joints[1].position(1800)}
    with emulate(calibration, start, str(tmp_path / "port"), PRECISE) as port:
        arm = servo_arm(calibration, Port(port.url, 115_200), start=start)
        yield port, port.bus, cycle_of(arm, SPEED)
        arm.close()


def go(cycle, positions, seconds):
    points = Trajectory(NAMES, np.array([seconds]), np.array([positions]), np.zeros((1, 2)))
    cycle.accept("arm", points, time.monotonic(), None)


def test_no_pulse_before_it_is_asked_for_and_none_that_leaps(rig):
    _, board, cycle = rig
    run(cycle, 0.2)
    assert board.writes == [] and not cycle.enabled
    with pytest.raises(TrajectoryError, match="the torque is off"):
        go(cycle, [0.0, 0.0], 1.0)
    cycle.enable()
    go(cycle, [0.5, -0.5], 1.0)
    run(cycle, 1.4)
    assert board.positions[0] == pytest.approx(1500 + 0.5 / US, abs=1.0)
    assert board.positions[1] == pytest.approx(1500 - 0.5 / US, abs=1.0)
    assert max(abs(w.goal - w.position) * US for w in board.writes) < SPEED * 0.15
    reading = cycle.step(time.monotonic)
    assert not reading.measured and reading.positions == pytest.approx([0.5, -0.5], abs=2 * US)


def test_a_board_that_was_away_must_be_enabled_again(rig):
    port, board, cycle = rig
    run(cycle, 0.1)
    cycle.enable()
    go(cycle, [0.5, -0.5], 1.0)
    run(cycle, 0.5)
    port.unplug()
    run(cycle, 0.3)
    assert not cycle.connected
    board.restart()
    port.plug()
    run(cycle, 0.5)
    assert cycle.connected and "torque lost" in cycle.fault
    seen = len(board.writes)
    with pytest.raises(TrajectoryError, match="torque lost"):
        go(cycle, [0.0, 0.0], 1.0)
    cycle.enable()
    run(cycle, 0.2)
    assert max(abs(w.goal - w.position) * US for w in board.writes[seen:]) < SPEED * 0.15


def test_a_board_that_does_not_answer(tmp_path):
    joints = (ServoJoint("a", 0, 1, 1500, 700, 2300, US),)
    with EmulatedPort(load(FAMILIES["maestro"].emulator)({0: 1500.0}, KIND), str(tmp_path / "port")) as port:
        arm = servo_arm(Calibration("ssc32", 115_200, joints), Port(port.url, 115_200))
        with pytest.raises(ArmError, match="no answer from the ssc32 board"):
            arm.open()
        assert not arm.port.is_open


@pytest.mark.parametrize("protocol", BOARDS)
def test_a_board_is_asked_again_before_it_is_given_up(protocol, tmp_path):
    """One that answers late, or only the second time, is there."""
    joints = (ServoJoint("a", 0, 1, 1500, 700, 2300, US),)
    lost = []

    def late(reply):
        return [(0.15, reply)]

    def once(reply):
        lost.append(reply)
        return [(0.0, reply)] if len(lost) > 1 else []

    for faults in (late, once):
        board = load(FAMILIES[protocol].emulator)({0: 1500.0}, KIND)
        with EmulatedPort(board, str(tmp_path / "port"), faults=faults) as port:
            arm = servo_arm(Calibration(protocol, 115_200, joints), Port(port.url, 115_200))
            arm.open()
            assert arm.samples()["a"].ticks == 1500
            arm.port.close()
