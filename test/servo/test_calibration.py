from __future__ import annotations

import math
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ik_solver_ros.errors import CalibrationError
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.servo.calibration import ServoJoint, load_calibration

GOOD = {"id": 1, "direction": 1, "zero": 2048, "min": 758, "max": 3292}


def written(tmp_path, data):
    path = tmp_path / "arm.yaml"
    path.write_text(data if isinstance(data, str) else yaml.safe_dump(data, sort_keys=False))
    return path


def arm(**joints):
    return {"protocol": "feetech", "joints": joints}


def test_there_and_back(tmp_path):
    path = written(tmp_path, arm(a=GOOD, b=GOOD | {"id": 2, "direction": -1, "homing_offset": 12}))
    calibration = load_calibration(path)
    assert calibration.baud == 1_000_000 and [joint.id for joint in calibration.joints] == [1, 2]
    again = tmp_path / "again.yaml"
    calibration.dump(again)
    assert load_calibration(again) == calibration
    a, b = calibration.joints
    assert a.position(2048) == 0.0 and a.position(3072) == pytest.approx(math.pi / 2)
    assert b.position(3072) == pytest.approx(-math.pi / 2)
    assert b.limits == pytest.approx((-1244 * math.tau / 4096, 1290 * math.tau / 4096))


@given(st.floats(allow_nan=True, allow_infinity=True), st.sampled_from([1, -1]))
def test_a_position_is_within_the_range_or_refused(position, direction):
    joint = ServoJoint("a", 1, direction, 2048, 758, 3292, math.tau / 4096)
    if math.isfinite(position):
        assert 758 <= joint.ticks(position) <= 3292
    else:
        with pytest.raises(CalibrationError, match="'a' to (nan|-?inf): finite"):
            joint.ticks(position)


@given(st.integers(758, 3292), st.sampled_from([1, -1]))
def test_ticks_come_back(ticks, direction):
    joint = ServoJoint("a", 1, direction, 2000, 758, 3292, math.tau / 4096)
    assert joint.ticks(joint.position(ticks)) == ticks


@pytest.mark.parametrize(
    "data, said",
    [
        ("a: [", "not YAML"),
        ("hello", "protocol, baud and joints are wanted"),
        (
            {"protocol": "magic", "joints": {"a": GOOD}},
            "protocol 'magic' is unknown; there are: feetech, dynamixel, lx16a, ssc32, maestro",
        ),
        ({"protocol": "feetech", "baud": -1, "joints": {"a": GOOD}}, "baud -1"),
        (arm(a=GOOD, b=GOOD), "joints 'a' and 'b' have the same id, 1"),
        (arm(a=3), "joint 'a': id, direction, zero, min and max are wanted, not 3"),
        (arm(a={"id": 1}), "joint 'a': direction, max, min, zero missing"),
        (arm(a=GOOD | {"colour": 3}), "joint 'a': unknown: colour"),
        (arm(a=GOOD | {"direction": 2}), "joint 'a': direction = 2: 1 or -1 is wanted"),
        (arm(a=GOOD | {"direction": True}), "joint 'a': direction = True: a whole number"),
        (arm(a=GOOD | {"min": 3292}), "joint 'a': min = 3292, max = 3292: a min below the max"),
        (arm(a=GOOD | {"max": 4096}), r"joint 'a': \[758, 4096\] is outside the servo's range \[0, 4095\]"),
        (arm(a=GOOD | {"id": 300}), "joint 'a': id = 300: 0 to 252"),
        (arm(a=GOOD | {"zero": 1.5}), "joint 'a': zero = 1.5: a whole number"),
        (arm(a=GOOD | {"zero": 6000}), r"joint 'a': zero = 6000 is more than half a turn outside \[758, 3292\]"),
        (arm(a=GOOD | {"per_tick": -0.1}), "joint 'a': per_tick = -0.1: a positive number"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path, data, said):
    with pytest.raises(CalibrationError, match=said):
        load_calibration(written(tmp_path, data))


def test_it_must_fit_the_robot(tmp_path):
    calibration = load_calibration(written(tmp_path, arm(a=GOOD, b=GOOD | {"id": 2})))
    limits = {"a": (-1.5, 1.5), "b": (-1.0, 1.0), "c": (-1.0, 1.0)}
    calibration.fit(limits, ["a", "b"])
    with pytest.raises(CalibrationError, match="joint 'c' of the robot has no servo; the calibration has: a, b"):
        calibration.fit(limits, ["a", "c"])
    with pytest.raises(CalibrationError, match="joint 'b' of the calibration is none of the robot's: a"):
        calibration.fit({"a": (-1.0, 1.0)}, ["a"])
    with pytest.raises(CalibrationError, match="joint 'a' can go from -1.98 to 1.91 .* are zero and direction right"):
        calibration.fit({"a": (2.5, 3.0), "b": (-1.0, 1.0)}, ["a"])


def test_a_range_across_the_seam_is_refused(tmp_path):
    """As huggingface/lerobot#3586 has it, and as a wizard wrote it that did not see the seam."""
    for low, high in ((1, 4094), (14, 4070)):
        calibration = load_calibration(written(tmp_path, arm(a=GOOD | {"min": low, "max": high})))
        with pytest.raises(
            CalibrationError, match=rf"'a' has the range \[{low}, {high}\], nearly a turn .* 195 degrees"
        ):
            calibration.fit({"a": (-1.7, 1.7)}, ["a"])
        calibration.fit({"a": (-math.inf, math.inf)}, ["a"])


def test_the_calibrations_that_come_with_it_can_be_used():
    config = Path(__file__).parents[2] / "config"
    so101 = load_calibration(config / "so101_feetech.yaml")
    chain = load_chain(config.parent / "urdf" / "so101.urdf")
    so101.fit({joint.name: (joint.lower, joint.upper) for joint in chain.model.joints.values()}, chain.joint_names)
    for name, protocol in (("dynamixel_5dof", "dynamixel"), ("ssc32", "ssc32"), ("maestro", "maestro")):
        assert load_calibration(config / f"{name}.yaml").protocol == protocol
