"""The wizard, led by somebody who moves emulated servos by hand."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from ik_solver_ros.cli.main import main
from ik_solver_ros.errors import ArmError, CalibrationError
from ik_solver_ros.servo import lx16a
from ik_solver_ros.servo.bus import Port, RegisterBus
from ik_solver_ros.servo.calibration import load_calibration
from ik_solver_ros.servo.emulated.lx16a import Lx16aEmulator
from ik_solver_ros.servo.emulated.port import EmulatedPort
from ik_solver_ros.servo.emulated.pulse_boards import Ssc32Emulator
from ik_solver_ros.servo.emulated.traits import KIND, UNKIND
from ik_solver_ros.servo.families import FAMILIES, load
from ik_solver_ros.servo.lx16a_bus import Lx16aBus
from ik_solver_ros.servo.lx16a_by_hand import Lx16aByHand
from ik_solver_ros.tools.calibrate import pulse_driven
from ik_solver_ros.tools.calibrate.measure import EDGE
from ik_solver_ros.tools.calibrate.pulse_driven import MIDDLE, SLOWLY
from ik_solver_ros.tools.calibrate.wizard import calibrate

ZERO, LOW, HIGH = 2000, 900, 3100


class Hand:
    """Answers the questions, and moves the servo that is asked about."""

    def __init__(self, bus, backwards=(), ids=()):
        self.bus, self.backwards, self.ids = bus, backwards, list(ids)
        self.current, self.said, self.lived = 0, [], []

    def ask(self, question, live):
        servo = self.bus.servos.get(self.current)
        if "id of its servo" in question:
            answer = self.ids.pop(0) if self.ids else str(self.current + 1)
            if answer.isdigit():
                self.current = int(answer)
            return answer
        if "at 0" in question:
            self.lead(servo, live, ZERO)
        elif "positive" in question:
            self.lead(servo, live, ZERO + (-300 if self.current in self.backwards else 300))
        elif "whole range" in question:
            self.lead(servo, live, LOW, HIGH, ZERO)
        for one in self.bus.servos.values():
            one.advance(0.0)
        if live is not None:
            self.lived.append(live())
        return ""

    def lead(self, servo, live, *ends):
        """By hand, so that it can be followed."""
        for end in ends:
            while servo.position != end:
                servo.position += min(max(end - servo.position, -500), 500)
                servo.advance(0.0)
                self.lived.append(live())
            self.lived.append(live())


@contextmanager
def opened(servos, tmp_path, baud, faults=None):
    with EmulatedPort(servos, str(tmp_path / "port"), faults=faults) as emulated:
        port = Port(emulated.url, baud)
        port.open()
        yield port
        port.close()


@pytest.fixture(params=[name for name, family in FAMILIES.items() if load(family.bus) is RegisterBus])
def wired(request, tmp_path):
    servos = load(FAMILIES[request.param].emulator)({i + 1: 1500 for i in range(6)}, KIND)
    with opened(servos, tmp_path, 1_000_000) as port:
        yield servos, port, request.param


def test_servos_that_did_not_answer_are_asked_again(tmp_path):
    """A reply may be lost, or come when this computer was busy with something else."""
    servos, lost = load(FAMILIES["feetech"].emulator)({i + 1: 1500 for i in range(6)}, KIND), []

    def first_replies_are_lost(reply):
        if len(lost) < 4:
            lost.append(reply)
            return []
        return [(0.0, reply)]

    with opened(servos, tmp_path, 1_000_000, first_replies_are_lost) as port:
        by_hand = load(FAMILIES["feetech"].by_hand)(FAMILIES["feetech"].bus_on(port))
        assert by_hand.found(range(1, 9)) == [1, 2, 3, 4, 5, 6]
        lost.clear()
        assert by_hand.position(2) == 1500


def test_the_whole_way(so101, wired, tmp_path):
    servos, port, protocol = wired
    hand = Hand(servos, backwards={3, 5}, ids=["j 1", "9", "x", "1"])
    out = tmp_path / "arm.yaml"
    calibrate(so101, port, protocol, out, hand.ask, hand.said.append)
    found = load_calibration(out)
    assert [joint.name for joint in found.joints] == [*so101.joint_names, "gripper"]
    assert [joint.direction for joint in found.joints] == [1, 1, -1, 1, -1, 1]
    edge = round(EDGE / FAMILIES[protocol].per_tick)
    assert all((j.zero, j.min, j.max) == (ZERO, LOW + edge, HIGH - edge) for j in found.joints)
    assert any("seen 900 to 3100" in text for text in hand.lived)
    assert "gripper_frame_link at x 0.39" in hand.lived[-1]  # all joints at zero
    assert not any(servo.get("torque_enable") for servo in servos.servos.values())
    assert any("'9': one of 1, 2, 3, 4, 5, 6 is wanted" in text for text in hand.said)


def test_no_servo_answers(so101, wired, tmp_path):
    servos, port, protocol = wired
    for servo in servos.servos.values():
        servo.silent = True
    with pytest.raises(CalibrationError, match="no servo answers on .* at 1000000 baud; is it powered"):
        calibrate(so101, port, protocol, tmp_path / "arm.yaml", Hand(servos).ask, print)


def test_too_few_servos(so101, wired, tmp_path):
    servos, port, protocol = wired
    for i in (4, 5, 6):
        servos.servos[i].silent = True
    with pytest.raises(CalibrationError, match="no servo is left for joint 'wrist_flex'"):
        calibrate(so101, port, protocol, tmp_path / "arm.yaml", Hand(servos).ask, print)
    assert not (tmp_path / "arm.yaml").exists()


def test_a_port_that_cannot_be_opened(capsys, tmp_path):
    assert main(["calibrate", "urdf/so101.urdf", "--port", "/dev/nowhere", "--out", str(tmp_path / "arm.yaml")]) == 2
    assert "/dev/nowhere cannot be opened" in capsys.readouterr().err


def test_lx16a(so101, tmp_path):
    servos = Lx16aEmulator(dict.fromkeys(range(1, 7), 400.0), KIND)
    ids = ["j 1", "1", "", "", "", "", ""]
    current = 0

    def ask(question, live):
        nonlocal current
        if "id of its servo" in question:
            answer = ids.pop(0)
            current += not answer.startswith("j")
            return answer
        if current <= 6 and "joint" not in question:
            ways = {"at 0": [500.0], "positive": [560.0], "whole range": [0.0, 0.0, 900.0, 900.0, 500.0]}
            for ticks in next((ways[words] for words in ways if words in question), []):
                servos.servos[current].position = ticks
                live()
        return ""

    with opened(servos, tmp_path, 115_200) as port:
        calibrate(so101, port, "lx16a", tmp_path / "arm.yaml", ask, print)
    edge = round(EDGE / FAMILIES["lx16a"].per_tick)
    assert [(j.id, j.direction, j.zero, j.min, j.max) for j in load_calibration(tmp_path / "arm.yaml").joints] == [
        (i + 1, 1, 500, edge, 900 - edge) for i in range(6)
    ]
    goals = [write.goal for write in servos.writes]
    assert max(goals) - min(goals) >= 10 and goals[0] == goals[-1] == 400
    assert not any(servo.torque for servo in servos.servos.values())


def test_an_lx16a_that_does_not_let_go_is_not_said_to_be_free(tmp_path):
    """Its torque is asked for after it was taken off: once it hears nothing of that, then it keeps it for good."""
    servos = Lx16aEmulator({1: 400.0}, KIND)
    with opened(servos, tmp_path, 115_200) as port:
        by_hand = Lx16aByHand(Lx16aBus(port))
        deaf = 1
        obey = servos.obey

        def obeying(now):
            nonlocal deaf
            packets, _ = lx16a.parse(servos.received)
            if deaf and any(command == lx16a.TORQUE_WRITE for _, command, _ in packets):
                deaf -= 1
                servos.received = b""
            return obey(now)

        servos.obey = obeying
        servos.servos[1].torque = True
        by_hand.release([1])
        assert not servos.servos[1].torque
        deaf, servos.servos[1].torque = 9, True
        with pytest.raises(CalibrationError, match="keeps its torque on"):
            by_hand.release([1])


def wait_for_the_end(board):
    """Until all that was sent has arrived."""
    deadline = time.monotonic() + 10.0
    while any(board.widths.values()) and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.mark.parametrize("protocol", [name for name, family in FAMILIES.items() if not family.measures])
def test_a_board_is_driven(so101, tmp_path, protocol, monkeypatch):
    monkeypatch.setattr(pulse_driven, "PAUSE", 1e-3)
    board = load(FAMILIES[protocol].emulator)(dict.fromkeys(range(8), 1400.0), KIND)
    said = []
    script = {
        "channel of": ["0", "0", "5", "x", "1", "2", "3", "n"],
        "at 0": ["+40", "oops", "", "", "", "", ""],
        "positive": ["+10", "", "+200", "", "-200", "", "+100", "", "+100", "", "+100", ""],
        "from 0 now": ["none", "-3", "20", "", "9", "9", "9"],
        "one end": ["900", "", "900", "", "900", "", "3000", "", "900", ""],
        "other end": ["2100", "", "2100", "", "2100", "", "900", "", "2100", ""],
        "support": [""],
    }

    def ask(question, live):
        assert live is None
        return next(answers for words, answers in script.items() if words in question).pop(0)

    with opened(board, tmp_path, 115_200) as port:
        calibrate(so101, port, protocol, tmp_path / "arm.yaml", ask, said.append)
        wait_for_the_end(board)
    assert not any(script.values())
    joints = load_calibration(tmp_path / "arm.yaml").joints
    assert [joint.id for joint in joints] == [0, 5, 1, 2, 3]
    assert [joint.direction for joint in joints] == [1, -1, 1, 1, 1]
    assert [joint.zero for joint in joints] == [MIDDLE + 40, MIDDLE, MIDDLE, MIDDLE, MIDDLE]
    assert [(joint.min, joint.max) for joint in joints] == [(900, 2100)] * 3 + [(900, 2500), (900, 2100)]
    degrees = [20.0 / 210.0, 0.09, 0.09, 0.09, 0.09]
    np.testing.assert_allclose([np.degrees(joint.per_tick) for joint in joints], degrees, rtol=1e-9)
    pulses = {}
    for write in board.writes:
        pulses.setdefault(write.servo_id, []).append(write.goal)
    assert sorted(pulses) == [0, 1, 2, 3, 5]
    for widths in pulses.values():
        assert widths[0] == MIDDLE and widths[-1] == 0.0
        assert np.abs(np.diff(widths[:-1])).max() <= SLOWLY
    assert any("gripper_frame_link should be at x 0.39" in text for text in said)
    assert any("'0': a channel from 0 to 31 that is not taken" in text for text in said)


def test_no_pulse_is_left_when_somebody_leaves(so101, tmp_path):
    board = Ssc32Emulator({0: 1400.0}, KIND)
    answers = iter([""])

    def ask(question, live):
        try:
            return next(answers)
        except StopIteration:
            raise KeyboardInterrupt from None

    with opened(board, tmp_path, 115_200) as port:
        with pytest.raises(KeyboardInterrupt):
            calibrate(so101, port, "ssc32", tmp_path / "arm.yaml", ask, print)
        wait_for_the_end(board)
    assert [write.goal for write in board.writes] == [MIDDLE, 0.0]
    assert not (tmp_path / "arm.yaml").exists()


def test_a_board_at_another_rate_gets_no_pulse(so101, tmp_path):
    board = Ssc32Emulator({0: 1400.0}, replace(UNKIND, arduino=False))
    silent = pytest.raises(ArmError, match="answers at 9600 baud, and not at 115200: .* or calibrate's --baud")
    with opened(board, tmp_path, 115_200) as port, silent:
        calibrate(so101, port, "ssc32", tmp_path / "arm.yaml", lambda question, live: "", print)
    assert board.writes == []
