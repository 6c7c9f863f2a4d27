"""The adapter: echoes, latency, pauses, rates, openings. And what a bad cable does."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import pytest

from ik_solver_ros.servo import dynamixel, feetech, lx16a
from ik_solver_ros.servo.emulated.faults import OldReplies, UnseenDamage
from ik_solver_ros.servo.emulated.line import Openings
from ik_solver_ros.servo.emulated.port import EmulatedPort
from ik_solver_ros.servo.emulated.pulse_boards import Ssc32Emulator
from ik_solver_ros.servo.emulated.register_servos import FeetechEmulator
from ik_solver_ros.servo.emulated.traits import KIND
from ik_solver_ros.servo.registers import PING

serial = pytest.importorskip("serial")
PATIENCE = 5.0  # [s] for what comes; what does not come is not waited for


@pytest.fixture
def plugged(tmp_path):
    opened = []

    def make(emulator, rate=1_000_000):
        port = EmulatedPort(emulator, str(tmp_path / "port"))
        port.plug()
        line = serial.Serial(port.url, rate, timeout=PATIENCE)
        opened.append((port, line))
        return port, line

    yield make
    for port, line in opened:
        line.close()
        port.unplug()


def feetechs(**traits):
    return FeetechEmulator({1: 2048}, replace(KIND, **traits))


ASK = feetech.instruction(1, PING)
ANSWER = feetech.status(1, 0)


@pytest.mark.parametrize("trait", [True, False])
def test_an_adapter_that_echoes(plugged, trait):
    _, line = plugged(feetechs(echo=trait))
    line.write(ASK)
    assert line.read(len(ANSWER) + len(ASK) * trait) == ASK * trait + ANSWER


def test_replies_come_at_the_ticks_of_the_adapters_timer():
    port = EmulatedPort(feetechs(latency=0.016), "")
    assert port.handed_over(0.016) == pytest.approx(0.016)
    assert port.handed_over(0.0161) == pytest.approx(0.032)
    assert EmulatedPort(feetechs(), "").handed_over(0.0161) == 0.0161


def test_now_and_then_nothing_comes_for_a_while():
    port = EmulatedPort(feetechs(pause=0.1, pause_every=20.0), "")
    assert port.handed_over(19.9) == 19.9 and port.handed_over(20.05) == 20.1
    assert port.handed_over(20.2) == 20.2 and port.handed_over(40.0) == 40.1


@pytest.mark.parametrize("trait", [True, False])
def test_another_rate_is_noticed_on_the_terminal(plugged, trait):
    port, line = plugged(feetechs(check_baud=trait), 500_000)
    if not trait:
        line.write(ASK)
        assert line.read(len(ANSWER)) == ANSWER
        return
    line.write(ASK)
    deadline = time.monotonic() + PATIENCE
    while port.bus.rate != 500_000:
        assert time.monotonic() < deadline
    for rate in (128_000, 1_000_000):
        with port.lock:
            port.bus.servos[1].set("baud_rate", feetech.BAUDS.index(rate))
        line.baudrate = rate
        line.write(ASK)
        assert line.read(len(ANSWER)) == ANSWER
    assert line.in_waiting == 0


def test_an_arduino_restarts_when_its_port_is_opened(plugged):
    board = Ssc32Emulator({0: 1500.0}, replace(KIND, arduino=True, arduino_boot=0.0))
    port, line = plugged(board, 115_200)
    line.write(b"#0P1500\rQ\r")
    assert line.read(1) == b"."
    assert board.widths == {0: 1500.0}
    line.close()
    again = serial.Serial(port.url, 115_200, timeout=PATIENCE)
    again.write(b"QP0\r")
    assert again.read(1) == b"\0"
    again.close()


def test_openings_are_seen(tmp_path):
    path = tmp_path / "file"
    path.touch()
    openings = Openings(str(path))
    if not openings.descriptors:
        pytest.skip("no inotify here")
    assert not openings.any()
    os.close(os.open(path, os.O_RDONLY))
    assert openings.any() and not openings.any()
    openings.close()


CODECS = (feetech, dynamixel)


@pytest.mark.parametrize("codec", CODECS)
def test_old_replies_are_undamaged(codec):
    faults = OldReplies(1, codec.FRAMING, fraction=0.5, age=3)
    told = []
    for i in range(100):
        for servo_id in (1, 2):
            ((delay, frame),) = faults(codec.status(servo_id, 0, bytes([i, 0])))
            ((found,), _) = codec.parse_statuses(frame)
            assert found.servo_id == servo_id and delay == 0.0
            told.append(i - found.data[0])
    assert set(told) - {0} and min(set(told) - {0}) == 3 and faults.told == sum(age > 0 for age in told)


@pytest.mark.parametrize("codec", CODECS)
def test_damage_whose_check_is_right(codec):
    faults = UnseenDamage(1, codec.FRAMING, fraction=1.0)
    for i in range(100):
        ((_, frame),) = faults(codec.status(3, 0, bytes([i, 7])))
        ((found,), _) = codec.parse_statuses(frame)
        wrong = int.from_bytes(found.data, "little") ^ (i | 7 << 8)
        assert found.servo_id == 3 and found.code == 0 and bin(wrong).count("1") == 1
    bare = codec.status(3, 0)
    assert faults(bare) == [(0.0, bare)]


def test_damage_of_an_lx16a():
    ((_, frame),) = UnseenDamage(1, lx16a.FRAMING, 1.0)(lx16a.frame(3, 28, b"\1\2"))
    ((found,), _) = lx16a.parse(frame)
    assert (found.servo_id, found.code) == (3, 28) and found.data != b"\1\2"
