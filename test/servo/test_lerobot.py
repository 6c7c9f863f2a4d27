"""LeRobot's files, in and out.

The judge is the published formula of huggingface/lerobot (src/lerobot/motors/motors_bus.py, `_normalize` and
`_unnormalize` at 7427f31), written down here once more.
"""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unkind_servos import DirectPort, unkind

from ik_solver_ros.errors import CalibrationError
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.servo import feetech
from ik_solver_ros.servo.bus import RegisterBus
from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.feetech_by_hand import FeetechByHand
from ik_solver_ros.servo.lerobot import closing, from_lerobot, to_lerobot
from ik_solver_ros.tools.calibrate.take_over import Given, TakeOver

ROW = {"id": 1, "drive_mode": 0, "homing_offset": -1470, "range_min": 758, "range_max": 3292}
NAMES = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper"]
TICK = math.tau / 4096.0


def degrees(ticks, row):
    """MotorNormMode.DEGREES."""
    return (ticks - (row["range_min"] + row["range_max"]) / 2.0) * 360.0 / 4095.0


def percent(ticks, row, heeds_drive_mode=True):
    """MotorNormMode.RANGE_0_100, of the gripper."""
    bounded = min(row["range_max"], max(row["range_min"], ticks))
    share = (bounded - row["range_min"]) / (row["range_max"] - row["range_min"]) * 100.0
    return 100.0 - share if heeds_drive_mode and row["drive_mode"] else share


def of_percent(value, row):
    """The goal of a gripper."""
    bounded = min(100.0, max(0.0, 100.0 - value if row["drive_mode"] else value))
    return int(bounded / 100.0 * (row["range_max"] - row["range_min"]) + row["range_min"])


def file_of(tmp_path, **rows):
    path = tmp_path / "my_follower.json"
    path.write_text(json.dumps(rows))
    return path


def arm(**changed):
    return {name: ROW | {"id": i + 1} | changed.get(name, {}) for i, name in enumerate(NAMES)}


@pytest.fixture
def so101():
    return load_chain("urdf/so101.urdf")


def test_what_its_file_says(tmp_path):
    path = file_of(tmp_path, shoulder_pan=ROW, gripper=ROW | {"id": 6, "drive_mode": 1})
    pan, gripper = from_lerobot(path).joints
    assert (pan.zero, pan.direction, pan.homing_offset, gripper.direction) == (2025, 1, -1470, -1)
    path.write_text('{"shoulder_pan": {"id": 1}}')
    with pytest.raises(CalibrationError, match="not a calibration of LeRobot's: KeyError"):
        from_lerobot(path)


@given(
    low=st.integers(0, 2000), high=st.integers(2100, 3800), ticks=st.integers(0, 4095), offset=st.integers(-2047, 2047)
)
def test_angles_are_lerobots_degrees(tmp_path_factory, low, high, ticks, offset):
    """But for the half tick of a middle between two, and that LeRobot has 4095 ticks in a turn."""
    row = ROW | {"range_min": low, "range_max": high, "homing_offset": offset}
    joint = from_lerobot(file_of(tmp_path_factory.mktemp("lerobot"), elbow_flex=row)).joints[0]
    expected = math.radians(degrees(ticks, row)) * 4095.0 / 4096.0
    assert joint.position(ticks) == pytest.approx(expected, abs=0.51 * TICK)
    assert (joint.min, joint.max, joint.homing_offset) == (low, high, offset)


@pytest.mark.parametrize("drive_mode", [0, 1])
@pytest.mark.parametrize("ticks", [2000, 2400, 3200])
def test_a_gripper_that_lerobot_closes_is_closed(tmp_path, so101, drive_mode, ticks):
    row = {"drive_mode": drive_mode, "range_min": 2000, "range_max": 3200}
    rows = arm(gripper=row, wrist_roll={"range_min": 0, "range_max": 4095})
    taken = TakeOver(so101, Given(), None, print).take(file_of(tmp_path, **rows), "feetech")
    gripper = taken.joints[-1]
    urdf = so101.model.joints["gripper"]
    at_zero, at_hundred = (gripper.position(of_percent(value, rows["gripper"])) for value in (0.0, 100.0))
    assert at_zero == pytest.approx(urdf.lower, abs=TICK)  # closed, by the URDF
    assert at_hundred == pytest.approx(urdf.lower + 1200 * TICK, abs=TICK)
    assert gripper.ticks(urdf.lower) == (3200 if drive_mode else 2000)
    share = percent(ticks, rows["gripper"]) / 100.0
    assert gripper.position(ticks) == pytest.approx(urdf.lower + share * 1200 * TICK, abs=TICK)


def test_what_is_said_of_the_gripper_goes_before_the_file(tmp_path, so101):
    path = file_of(tmp_path, **arm(wrist_roll={"range_min": 0, "range_max": 4095}))
    asked = []

    def ask(question, live):
        asked.append(question)
        return "max" if "closed" in question else ""

    for told, who in ((Given(closed="max"), None), (Given(), ask)):
        gripper = TakeOver(so101, told, who, print).take(path, "feetech").joints[-1]
        assert gripper.ticks(so101.model.joints["gripper"].lower) == 3292 and gripper.direction == -1
    assert len(asked) == 6  # and where the others have their 0
    taken = TakeOver(so101, Given({"gripper": 800, "elbow_flex": 1990}, ("elbow_flex",)), None, print).take(
        path, "feetech"
    )
    elbow, gripper = taken.joints[2], taken.joints[-1]
    assert (elbow.zero, elbow.direction, gripper.zero) == (1990, -1, 800)
    with pytest.raises(CalibrationError, match="has no joint 'elbow'; there are: elbow_flex"):
        TakeOver(so101, Given({"elbow": 1}), None, print).take(path, "feetech")


def test_zeros_are_looked_for_on_the_arm(tmp_path, so101):
    rows = arm(gripper={"range_min": 2000, "range_max": 3200})
    servos = unkind("feetech", [(i, 600 + i) for i in range(1, 7)])
    for servo in servos.all:
        servo.set("homing_offset", -1470)
        servo.set("goal_position", servo.says())
        servo.set("torque_enable", 1)
    port = DirectPort(servos)
    by_hand = FeetechByHand(RegisterBus(port, feetech))
    answers = {"wrist_flex": "m"}

    def ask(question, live):
        return next((answer for name, answer in answers.items() if name in question), "")  # and no small move

    taken = TakeOver(so101, Given(), ask, print, by_hand).take(file_of(tmp_path, **rows), "feetech")
    assert [joint.zero for joint in taken.joints[:5]] == [2071, 2072, 2073, 2025, 2075]
    assert not any(servo.get("torque_enable") for servo in servos.all)
    servos.all[1].set("homing_offset", 0)
    with pytest.raises(CalibrationError, match=r"servo 2 \(shoulder_lift\) has the homing offset 0, the file -1470"):
        TakeOver(so101, Given(), ask, print, by_hand).take(file_of(tmp_path, **rows), "feetech")


def test_a_range_that_lerobot_does_not_measure_is_the_urdfs(tmp_path, so101):
    path = file_of(tmp_path, **arm(wrist_roll={"range_min": 0, "range_max": 4095}))
    roll = TakeOver(so101, Given(), None, print).take(path, "feetech").joints[4]
    urdf = so101.model.joints["wrist_roll"]
    assert roll.limits == pytest.approx((urdf.lower, urdf.upper), abs=TICK)


@pytest.mark.parametrize(
    "protocol, changed, said",
    [
        ("feetech", {"elbow_flex": {"range_min": 1, "range_max": 4094}}, "'elbow_flex': .* passed 4095 to 0 while"),
        ("feetech", {"elbow_flex": {"range_min": 0, "range_max": 4095}}, "'elbow_flex': .* passed 4095 to 0 while"),
        ("feetech", {"elbow_flex": {"range_min": 3000, "range_max": 900}}, "a min below the max"),
        (
            "feetech",
            {"elbow_flex": {"homing_offset": 2100}},
            "homing_offset = 2100: position mode heeds none beyond 2047",
        ),
        ("dynamixel", {"elbow_flex": {"homing_offset": -1025}}, "homing_offset = -1.*heeds none beyond 1024"),
        ("dynamixel", {"shoulder_pan": {"range_min": 2000, "range_max": 5000}}, r"\[2000, 5000\] is not within a turn"),
        ("lx16a", {}, "LeRobot has no lx16a servos"),
    ],
)
def test_files_that_cannot_be_true_are_refused(tmp_path, protocol, changed, said):
    with pytest.raises(CalibrationError, match=said):
        from_lerobot(file_of(tmp_path, **arm(**changed)), protocol)


JOINTS = st.builds(
    lambda low, span, zero, direction, offset: (low, low + span, low + round(zero * span), direction, offset),
    st.integers(0, 1500),
    st.integers(300, 2500),
    st.floats(0.1, 0.9),
    st.sampled_from([1, -1]),
    st.integers(-2047, 2047),
)


@given(JOINTS)
def test_there_and_back(tmp_path_factory, numbers):
    low, high, zero, direction, offset = numbers
    path = tmp_path_factory.mktemp("lerobot") / "arm.json"
    limits = {"elbow_flex": (-1.7, 1.7), "gripper": (-0.17, 1.75)}
    gripper = closing(
        ServoJoint("gripper", 6, 1, 0, low, high, TICK, offset), ["min", "max"][direction > 0], limits["gripper"]
    )
    elbow = ServoJoint("elbow_flex", 3, direction, zero, low, high, TICK, offset)
    ours = Calibration("feetech", 1_000_000, (elbow, gripper))
    notes = to_lerobot(ours, path, limits)
    rows = json.loads(path.read_text())
    assert rows["elbow_flex"] == {
        "id": 3, "drive_mode": 0, "homing_offset": offset, "range_min": low, "range_max": high
    }  # fmt: skip
    assert percent(gripper.ticks(-0.17), rows["gripper"]) == 0.0
    said = float(notes[0].split("LeRobot has ")[1].split(" degrees")[0])
    assert said == pytest.approx(degrees(zero, rows["elbow_flex"]), abs=0.051)
    back = from_lerobot(path)
    again = closing(back.joints[1], "max" if rows["gripper"]["drive_mode"] else "min", limits["gripper"])
    assert again == gripper
    assert (back.joints[0].min, back.joints[0].max, back.joints[0].homing_offset) == (low, high, offset)


def test_what_lerobot_needs_and_does_not_turn_round(tmp_path):
    path = tmp_path / "arm.json"
    joint = ServoJoint("gripper", 6, -1, 2000, 800, 3000, TICK)
    with pytest.raises(CalibrationError, match="'gripper' has no homing_offset"):
        to_lerobot(Calibration("feetech", 1_000_000, (joint,)), path, {"gripper": (-0.17, 1.75)})
    noted = ServoJoint("gripper", 6, -1, 2000, 800, 3000, TICK, 0)
    notes = to_lerobot(Calibration("dynamixel", 1_000_000, (noted,)), path, {"gripper": (-0.17, 1.75)})
    assert json.loads(path.read_text())["gripper"]["drive_mode"] == 0 and "0 is open" in notes[0]
    with pytest.raises(CalibrationError, match="LeRobot has no lx16a"):
        to_lerobot(Calibration("lx16a", 115_200, (noted,)), path, {})
