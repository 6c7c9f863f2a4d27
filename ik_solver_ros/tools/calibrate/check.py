"""A calibration against the servos that it is of, and against the URDF: what fits, and what does not."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ik_solver_ros.errors import CalibrationError, SilentServoError
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.joint import Joint
from ik_solver_ros.servo.by_hand import ByHand
from ik_solver_ros.servo.calibration import Calibration, ServoJoint

SLACK = 17  # [ticks], 1.5 degrees, that a joint at its end is found outside its range: sag and backlash
NOTED = math.radians(1.0)  # a loss of range that is worth a word


@dataclass(frozen=True)
class Row:
    """One joint: what is said of it, and what is wrong."""

    joint: ServoJoint
    now: str  # where it is
    range: str
    wrong: tuple[str, ...]


def check(calibration: Calibration, chain: Chain, servos: ByHand | None) -> list[Row]:
    """Look at every joint; servos: None to leave them out. Nothing moves, nothing is written.

    Raises CalibrationError where the calibration is of another robot, and BusError.
    """
    limits = {joint.name: (joint.lower, joint.upper) for joint in chain.model.joints.values()}
    calibration.fit(limits, chain.joint_names)
    rows = []
    for joint in calibration.joints:
        now, wrong = ("", []) if servos is None else _servo(joint, servos)
        rows.append(Row(joint, now, _range(joint, chain.model.joints[joint.name]), tuple(wrong)))
    return rows


def table(rows: list[Row]) -> str:
    """The rows for people; ! before those that are wrong."""
    name, now = (max(len(text) for text in column) for column in ([r.joint.name for r in rows], [r.now for r in rows]))
    return "\n".join(
        f"{'!' if row.wrong else ' '} {row.joint.name:{name}}  id {row.joint.id:3}  {row.now:{now}}  {row.range}"
        + "".join(f"\n    {what}" for what in row.wrong)
        for row in rows
    )


def _range(joint: ServoJoint, urdf: Joint) -> str:
    """The range, and how much of the URDF's is lost."""
    low, high = joint.limits
    lost = [max(low - urdf.lower, 0.0), max(urdf.upper - high, 0.0)]
    unit, of = ("mm", 1e-3) if urdf.type == "prismatic" else ("deg", math.pi / 180.0)
    text = f"{low / of:.0f} to {high / of:.0f} {unit}"
    if all(map(math.isfinite, lost)) and max(lost) > (NOTED if unit == "deg" else 1e-3):
        text += f"; the URDF has {urdf.lower / of:.0f} to {urdf.upper / of:.0f}: {sum(lost) / of:.0f} are lost"
    return text


def _servo(joint: ServoJoint, servos: ByHand) -> tuple[str, list[str]]:
    """Where it is, and what of it does not fit."""
    try:
        settings, ticks = servos.settings(joint.id), servos.position(joint.id)
    except SilentServoError:
        return "silent", [f"servo {joint.id} does not answer: power, cable, id, baud?"]
    except CalibrationError as error:
        return "?", [str(error)]
    wrong = list(settings.wrong)
    if joint.homing_offset is not None and settings.homing_offset != joint.homing_offset:
        wrong.append(
            f"its homing offset is {settings.homing_offset}, the file's {joint.homing_offset}: another servo, or "
            f"it was calibrated since; calibrate again"
        )
    first, last = settings.limits
    if joint.min < first or joint.max > last:
        wrong.append(
            f"its own limits are {first} to {last}, the calibration has {joint.min} to {joint.max}: calibrate again, "
            f"which offers to open them"
        )
    if not joint.min - SLACK <= ticks <= joint.max + SLACK:
        wrong.append(f"it is at {ticks} ticks, outside {joint.min} to {joint.max}: move it back by hand")
    return f"at {ticks}", wrong
