"""Calibration: which servo moves which joint, which way, from where and how far. One YAML file for each arm.

    protocol: feetech
    baud: 1000000
    joints:
      shoulder_pan: {id: 1, direction: 1, zero: 2048, min: 758, max: 3292}

Positions are the servo's own ticks; `zero` is where the joint is at 0. A joint that is not turned one to one has
`per_tick` [rad or m] as well; `homing_offset` is checked against the servo's own, where it is given; `p_gain`, `i_gain`
and `d_gain` are what the servo shall have, in its own units, and are left alone where they are not given.

A range of nearly a turn is refused where the URDF's joint turns less: it was measured across the seam of the servo's
turn (4095 to 0), as in huggingface/lerobot#3586 and #3587. So is a zero more than half a turn outside the range.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from ik_solver_ros.errors import CalibrationError, listed
from ik_solver_ros.servo.families import FAMILIES, Family

GAINS = ("p_gain", "i_gain", "d_gain")
KEYS = {"id", "direction", "zero", "min", "max", "per_tick", "homing_offset", *GAINS}
NEARLY = 0.95  # of a turn that no range has by honest means,
MORE = 1.1  # unless the joint's own range by the URDF is no less than this part of it


@dataclass(frozen=True)
class ServoJoint:
    """One joint's servo."""

    name: str
    id: int
    direction: int  # 1 or -1
    zero: int  # [ticks] where the joint is at 0
    min: int  # [ticks]
    max: int  # [ticks]
    per_tick: float  # [rad or m]
    homing_offset: int | None = None
    p_gain: int | None = None
    i_gain: int | None = None
    d_gain: int | None = None

    @property
    def gains(self) -> dict[str, int]:
        """Those that are given, by the names of the registers."""
        return {name: gain for name in GAINS if (gain := getattr(self, name)) is not None}

    def position(self, ticks: float) -> float:
        """[rad or m]."""
        return self.direction * (ticks - self.zero) * self.per_tick

    def ticks(self, position: float) -> int:
        """The nearest position within the range [ticks]. Raises CalibrationError for what is not finite."""
        if not math.isfinite(position):
            raise CalibrationError(f"joint {self.name!r} to {position}: finite positions are wanted", joint=self.name)
        wanted = self.zero + self.direction * position / self.per_tick
        return round(min(max(wanted, float(self.min)), float(self.max)))

    @property
    def limits(self) -> tuple[float, float]:
        """The least and greatest position [rad or m]."""
        low, high = sorted((self.position(self.min), self.position(self.max)))
        return low, high


@dataclass(frozen=True)
class Calibration:
    """An arm's servos."""

    protocol: str
    baud: int
    joints: tuple[ServoJoint, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def family(self) -> Family:
        """Of its servos."""
        return FAMILIES[self.protocol]

    def with_joint(self, joint: ServoJoint) -> Calibration:
        """The same with another joint of this name."""
        return replace(self, joints=tuple(joint if joint.name == old.name else old for old in self.joints))

    def fit(self, limits: Mapping[str, tuple[float, float]], needed: Sequence[str]) -> None:
        """Raise CalibrationError where this is not a calibration of the robot.

        limits: by joint, all of the robot [rad or m]; needed: the joints of its chain.
        """
        for name in needed:
            if name not in {joint.name for joint in self.joints}:
                raise CalibrationError(
                    f"joint {name!r} of the robot has no servo; the calibration has: "
                    f"{listed(joint.name for joint in self.joints)}",
                    joint=name,
                )
        for joint in self.joints:
            if joint.name not in limits:
                raise CalibrationError(
                    f"joint {joint.name!r} of the calibration is none of the robot's: {listed(limits)}",
                    joint=joint.name,
                )
            low, high = joint.limits
            lower, upper = limits[joint.name]
            turn = (self.family.turn or math.inf) * joint.per_tick
            if high - low >= NEARLY * turn and high - low > MORE * (upper - lower):
                raise CalibrationError(
                    f"joint {joint.name!r} has the range [{joint.min}, {joint.max}], nearly a turn of its servo, but "
                    f"{math.degrees(upper - lower):.0f} degrees by the URDF: it passed 4095 to 0 when measured: "
                    f"calibrate again",
                    joint=joint.name,
                )
            if max(low, lower) >= min(high, upper):
                raise CalibrationError(
                    f"joint {joint.name!r} can go from {low:.3g} to {high:.3g} by the calibration, nothing of which is "
                    f"within the robot's limits [{lower:.3g}, {upper:.3g}]; are zero and direction right?",
                    joint=joint.name,
                )

    def dump(self, path: Path) -> None:
        """Write it down."""
        standard = self.family.per_tick
        joints = {}
        for joint in self.joints:
            row: dict[str, Any] = {"id": joint.id, "direction": joint.direction, "zero": joint.zero}
            row |= {"min": joint.min, "max": joint.max}
            if joint.per_tick != standard:
                row["per_tick"] = joint.per_tick
            if joint.homing_offset is not None:
                row["homing_offset"] = joint.homing_offset
            row |= joint.gains
            joints[joint.name] = row
        text = yaml.safe_dump({"protocol": self.protocol, "baud": self.baud, "joints": joints}, sort_keys=False)
        path.write_text(text, encoding="utf-8")


def load_calibration(path: Path) -> Calibration:
    """Read a calibration. Raises CalibrationError naming joint, value and what would be right, and OSError."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise CalibrationError(f"{path}: not YAML: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get("joints"), dict) or not data["joints"]:
        raise CalibrationError(f"{path}: protocol, baud and joints are wanted, by name")
    protocol = data.get("protocol")
    if protocol not in FAMILIES:
        raise CalibrationError(f"{path}: protocol {protocol!r} is unknown; there are: {listed(FAMILIES)}")
    baud = data.get("baud", FAMILIES[protocol].baud)
    if not isinstance(baud, int) or baud <= 0:
        raise CalibrationError(f"{path}: baud {baud!r}: a positive number is wanted")
    joints = tuple(_joint(path, str(name), row, FAMILIES[protocol]) for name, row in data["joints"].items())
    return Calibration(protocol, baud, distinct(path, joints))


def _joint(path: Path, name: str, row: Any, family: Family) -> ServoJoint:
    where = f"{path}: joint {name!r}"
    if not isinstance(row, dict):
        raise CalibrationError(f"{where}: id, direction, zero, min and max are wanted, not {row!r}", joint=name)
    unknown, missing = set(row) - KEYS, {"id", "direction", "zero", "min", "max"} - set(row)
    if unknown or missing:
        what = f"{listed(sorted(missing))} missing" if missing else f"unknown: {listed(sorted(map(str, unknown)))}"
        raise CalibrationError(f"{where}: {what}; there are: {listed(sorted(KEYS))}", joint=name)
    for key, value in row.items():
        whole = key != "per_tick"
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
            kind = "a whole number" if whole else "a number"
            raise CalibrationError(f"{where}: {key} = {value!r}: {kind} is wanted", joint=name)
    per_tick = float(row.get("per_tick", family.per_tick))
    joint = ServoJoint(
        name,
        row["id"],
        row["direction"],
        row["zero"],
        row["min"],
        row["max"],
        per_tick,
        row.get("homing_offset"),
        *(row.get(gain) for gain in GAINS),
    )
    check_joint(path, joint, family)
    return joint


def check_joint(path: Path, joint: ServoJoint, family: Family) -> None:
    """Raise CalibrationError where a joint's numbers cannot be true."""
    low, high = family.ticks
    half = (family.turn or high - low) // 2
    for wrong, text in (
        (not 0 <= joint.id <= 252, f"id = {joint.id}: 0 to 252 is wanted"),
        (joint.direction not in (1, -1), f"direction = {joint.direction}: 1 or -1 is wanted"),
        (not joint.min < joint.max, f"min = {joint.min}, max = {joint.max}: a min below the max is wanted"),
        (
            joint.min < low or joint.max > high,
            f"[{joint.min}, {joint.max}] is outside the servo's range [{low}, {high}]",
        ),
        (
            not (math.isfinite(joint.per_tick) and joint.per_tick > 0.0),
            f"per_tick = {joint.per_tick}: a positive number is wanted; which way it turns is said by direction",
        ),
        *((not 0 <= gain <= 16383, f"{name} = {gain}: 0 to 16383 is wanted") for name, gain in joint.gains.items()),
        (
            not joint.min - half <= joint.zero <= joint.max + half,
            f"zero = {joint.zero} is more than half a turn outside [{joint.min}, {joint.max}]",
        ),
        (
            family.turn is not None and joint.max - joint.min >= family.turn,
            f"[{joint.min}, {joint.max}] is a turn and more: servos are led within one",
        ),
    ):
        if wrong:
            raise CalibrationError(f"{path}: joint {joint.name!r}: {text}", joint=joint.name)


def distinct(path: Path, joints: tuple[ServoJoint, ...]) -> tuple[ServoJoint, ...]:
    """The joints. Raises CalibrationError where two have one id."""
    seen: dict[int, str] = {}
    for joint in joints:
        if joint.id in seen:
            raise CalibrationError(
                f"{path}: joints {seen[joint.id]!r} and {joint.name!r} have the same id, {joint.id}", joint=joint.name
            )
        seen[joint.id] = joint.name
    return joints
