"""LeRobot's calibrations: JSON files with an id, a drive_mode, a homing_offset, a range_min and a range_max by motor.

What they mean is what huggingface/lerobot does with them, in src/lerobot/motors/motors_bus.py (7427f31, `_normalize`):
degrees are (ticks - (range_min + range_max) / 2) * 360 / 4095, whatever drive_mode says; a gripper is 0 at range_min
and 100 at range_max, or the other way round where drive_mode is 1 on Feetech's servos (`apply_drive_mode`). Homing
offsets are the servos' own. Motors that can turn without end ("wrist_roll", and Koch's "shoulder_pan") are not
measured: their range is written as 0 to 4095. Nothing says where a URDF has a joint at 0, or which way it counts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ik_solver_ros.errors import CalibrationError
from ik_solver_ros.servo.calibration import NEARLY, Calibration, ServoJoint, check_joint, distinct
from ik_solver_ros.servo.families import FAMILIES

TURN = 4096
UNMEASURED = (0, TURN - 1)  # the range of a motor that LeRobot does not measure
UNMEASURED_MOTORS = {"wrist_roll", "shoulder_pan"}
GRIPPER = "gripper"
FARTHEST = {"feetech": 2047, "dynamixel": 1024}  # [ticks] of a homing offset: what fits; what position mode heeds


def from_lerobot(path: Path, protocol: str = "feetech") -> Calibration:
    """A calibration that LeRobot wrote; zero is the middle of each range, and every joint counts as its servo does.

    But for Feetech's motors whose drive_mode is 1, which count backwards; Dynamixel's do that by themselves.
    Raises CalibrationError, of ranges that were measured across the seam too, and OSError.
    """
    family = FAMILIES[protocol]
    if protocol not in FARTHEST:
        raise CalibrationError(f"{path}: LeRobot has no {protocol} servos; feetech or dynamixel is wanted")
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        joints = tuple(
            ServoJoint(
                name,
                int(row["id"]),
                -1 if row.get("drive_mode") and protocol == "feetech" else 1,
                round((int(row["range_min"]) + int(row["range_max"])) / 2),
                int(row["range_min"]),
                int(row["range_max"]),
                family.per_tick,
                int(row["homing_offset"]),
            )
            for name, row in data.items()
        )
    except (json.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise CalibrationError(f"{path}: not a calibration of LeRobot's: {type(error).__name__} {error}") from error
    for joint in joints:
        check_joint(path, joint, family)
        _check(path, joint, protocol)
    return Calibration(protocol, family.baud, distinct(path, joints))


def _check(path: Path, joint: ServoJoint, protocol: str) -> None:
    where = f"{path}: joint {joint.name!r}"
    if joint.min < 0 or joint.max >= TURN:
        raise CalibrationError(f"{where}: [{joint.min}, {joint.max}] is not within a turn, 0 to 4095", joint=joint.name)
    if joint.max - joint.min >= NEARLY * TURN and not unmeasured(joint):
        raise CalibrationError(
            f"{where}: [{joint.min}, {joint.max}] is nearly a turn: it passed 4095 to 0 while LeRobot measured it "
            f"(huggingface/lerobot#3586); calibrate again, with `calibrate` or LeRobot, its middle at the middle",
            joint=joint.name,
        )
    if abs(joint.homing_offset or 0) > FARTHEST[protocol]:
        raise CalibrationError(
            f"{where}: homing_offset = {joint.homing_offset}: position mode heeds none beyond {FARTHEST[protocol]}; "
            f"calibrate with `calibrate`",
            joint=joint.name,
        )


def unmeasured(joint: ServoJoint) -> bool:
    """Whether a joint is one of those whose range LeRobot does not measure."""
    return joint.name in UNMEASURED_MOTORS and (joint.min, joint.max) == UNMEASURED


def cut(joint: ServoJoint, limits: tuple[float, float]) -> ServoJoint:
    """A joint with no more than the URDF's range about its zero, [rad]; infinite limits take nothing away."""
    ends = [joint.zero + joint.direction * limit / joint.per_tick for limit in limits if math.isfinite(limit)]
    if len(ends) < len(limits):
        return joint
    return replace(joint, min=max(joint.min, math.ceil(min(ends))), max=min(joint.max, math.floor(max(ends))))


def closing(joint: ServoJoint, closed: str, limits: tuple[float, float]) -> ServoJoint:
    """A gripper whose closed end, "min" or "max" of its ticks, is the URDF's: of its limits [rad] the one nearer to 0.

    Raises CalibrationError where the URDF has no such limits.
    """
    if not all(map(math.isfinite, limits)):
        raise CalibrationError(
            f"joint {joint.name!r} has no limits in the URDF: give its zero instead", joint=joint.name
        )
    shut, wide = sorted(limits, key=abs)
    direction = (1 if closed == "min" else -1) * (1 if wide > shut else -1)
    end = joint.min if closed == "min" else joint.max
    return replace(joint, direction=direction, zero=end - round(direction * shut / joint.per_tick))


def to_lerobot(calibration: Calibration, path: Path, limits: Mapping[str, tuple[float, float]]) -> list[str]:
    """Write a calibration as LeRobot reads it; what differs there, in sentences.

    limits: by joint, the URDF's [rad], which tell the gripper's closed end. Raises CalibrationError and OSError.
    """
    if calibration.protocol not in FARTHEST:
        raise CalibrationError(f"LeRobot has no {calibration.protocol} servos; feetech or dynamixel is wanted")
    rows, notes = {}, []
    for joint in calibration.joints:
        if joint.homing_offset is None:
            raise CalibrationError(
                f"joint {joint.name!r} has no homing_offset, which LeRobot would write into its servo: calibrate again",
                joint=joint.name,
            )
        backwards = False
        if joint.name == GRIPPER:
            shut, wide = sorted(limits[joint.name], key=abs)
            backwards = (wide > shut) != (joint.direction > 0)  # closed where its ticks are most
            if backwards and calibration.protocol == "dynamixel":
                notes.append(f"{joint.name}: 0 is open and 100 closed, for LeRobot does not turn Dynamixel's round")
        else:
            notes.append(_seen_by_lerobot(joint))
        rows[joint.name] = {
            "id": joint.id,
            "drive_mode": int(backwards and calibration.protocol == "feetech"),
            "homing_offset": joint.homing_offset,
            "range_min": joint.min,
            "range_max": joint.max,
        }
    path.write_text(json.dumps(rows, indent=4) + "\n", encoding="utf-8")
    return notes


def _seen_by_lerobot(joint: ServoJoint) -> str:
    degrees = (joint.zero - (joint.min + joint.max) / 2.0) * 360.0 / (TURN - 1)
    way = "the same way" if joint.direction > 0 else "the other way"
    return f"{joint.name}: where the URDF has 0, LeRobot has {degrees:.1f} degrees, and counts {way}"
