"""The wizard, led by somebody who moves emulated servos by hand."""

from __future__ import annotations

import json

import pytest

from ik_solver_ros.calibrate import EDGE, calibrate
from ik_solver_ros.cli import main
from ik_solver_ros.errors import CalibrationError
from ik_solver_ros.servo import dynamixel, feetech
from ik_solver_ros.servo.bus import Port, TableBus
from ik_solver_ros.servo.calibration import load_calibration
from ik_solver_ros.servo.emulated import EmulatedBus, EmulatedPort, EmulatedServo

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
            servo.position = ZERO
        elif "positive" in question:
            servo.position = ZERO + (-300 if self.current in self.backwards else 300)
        elif "whole range" in question:
            for position in (LOW, HIGH, ZERO):
                servo.position = position
                servo.advance(0.0)
                self.lived.append(live())
        for one in self.bus.servos.values():
            one.advance(0.0)
        if live is not None:
            self.lived.append(live())
        return ""


@pytest.fixture(params=[feetech, dynamixel], ids=lambda codec: codec.name)
def wired(request, tmp_path):
    codec = request.param
    servos = [EmulatedServo(codec, i + 1, 1500) for i in range(6)]
    with EmulatedPort(EmulatedBus(codec, servos), str(tmp_path / "port")) as emulated:
        port = Port(emulated.url, 1_000_000)
        port.open()
        yield emulated, TableBus(port, codec), codec
        port.close()


def test_the_whole_way(so101, wired, tmp_path):
    emulated, bus, codec = wired
    hand = Hand(emulated.bus, backwards={3, 5}, ids=["j 1", "9", "x", "1"])
    out = tmp_path / "arm.yaml"
    calibrate(so101, bus, codec.name, out, hand.ask, hand.said.append)
    found = load_calibration(out)
    assert [joint.name for joint in found.joints] == [*so101.joint_names, "gripper"]
    assert [joint.direction for joint in found.joints] == [1, 1, -1, 1, -1, 1]
    assert all((j.zero, j.min, j.max) == (ZERO, LOW + EDGE, HIGH - EDGE) for j in found.joints)
    assert any("seen 900 to 3100" in text for text in hand.lived)
    assert "gripper_frame_link at x 0.39" in hand.lived[-1]  # all joints at zero
    assert not any(servo.get("torque_enable") for servo in emulated.bus.servos.values())
    assert any("'9': one of 1, 2, 3, 4, 5, 6 is wanted" in text for text in hand.said)


def test_no_servo_answers(so101, wired, tmp_path):
    emulated, bus, codec = wired
    for servo in emulated.bus.servos.values():
        servo.silent = True
    with pytest.raises(CalibrationError, match="no servo answers on .* at 1000000 baud; is it powered"):
        calibrate(so101, bus, codec.name, tmp_path / "arm.yaml", Hand(emulated.bus).ask, print)


def test_too_few_servos(so101, wired, tmp_path):
    emulated, bus, codec = wired
    for i in (4, 5, 6):
        emulated.bus.servos[i].silent = True
    with pytest.raises(CalibrationError, match="no servo is left for joint 'wrist_flex'"):
        calibrate(so101, bus, codec.name, tmp_path / "arm.yaml", Hand(emulated.bus).ask, print)
    assert not (tmp_path / "arm.yaml").exists()


def test_a_calibration_of_lerobots_is_taken_over(tmp_path, capsys):
    source, out = tmp_path / "arm.json", tmp_path / "arm.yaml"
    row = {"drive_mode": 0, "homing_offset": -12, "range_min": 800, "range_max": 3290}
    names = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper"]
    source.write_text(json.dumps({name: row | {"id": i + 1} for i, name in enumerate(names)}))
    assert main(["calibrate", "urdf/so101.urdf", "--lerobot", str(source), "--out", str(out)]) == 0
    assert [joint.zero for joint in load_calibration(out).joints] == [2045] * 6
    assert "zero is the middle of each range" in capsys.readouterr().out


def test_a_port_is_wanted(capsys, tmp_path):
    assert main(["calibrate", "urdf/so101.urdf", "--out", str(tmp_path / "arm.yaml")]) == 2
    assert "--port" in capsys.readouterr().err
    assert main(["calibrate", "urdf/so101.urdf", "--port", "/dev/nowhere", "--out", str(tmp_path / "arm.yaml")]) == 2
    assert "/dev/nowhere cannot be opened" in capsys.readouterr().err
