"""The arms of this benchmark: what a goal and an answer are of, and forward kinematics that know of no solver.

An arm is read from its URDF by Python's own XML parser. Nothing of `ik_solver_ros` is imported here.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import yaml

Array = npt.NDArray[np.float64]

ROOT = Path(__file__).parents[2]
OTHERS = ROOT / "benchmarks" / "arms" / "others"
REFUSED = ("dobot_magician", "dobot_magician_suction")  # limits swapped; a mimicking joint on the chain
LETTERS = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
# Base, tip, and where the tool points in the tip's frame.
FIVE = {
    "so101": ("urdf/so101.urdf", "base_link", "gripper_frame_link", (0.0, 0.0, 1.0)),
    "seed_arm": ("urdf/seed_arm.urdf", "base_link", "tip_link", (0.9928201254014765, 0.11961688257849123, 0.0)),
    "reactorx_150": ("benchmarks/arms/reactorx_150.urdf", "base_link", "grasp_link", (1.0, 0.0, 0.0)),
    "youbot": ("benchmarks/arms/youbot.urdf", "arm_base", "grasp_link", (0.0, 0.0, 1.0)),
    "panda": ("benchmarks/arms/panda.urdf", "panda_link0", "flange", (0.0, 0.0, 1.0)),
}


@dataclass(frozen=True, eq=False)
class Arm:
    """A serial arm of n joints from its base to its tip; units are m and rad."""

    name: str
    urdf: Path
    base: str
    tip: str
    tool: Array  # (3,) unit, in the tip's frame: where the tool points
    side: Array  # (3,) unit, perpendicular to it
    joints: tuple[str, ...]  # n names, from the base on
    lower: Array  # (n,) -inf where a joint is endless
    upper: Array  # (n,) inf where a joint is endless
    steps: tuple[tuple[Array, Array, bool], ...]  # n of (fixed transform before (4, 4), axis (3,), whether it slides)
    end: Array  # (4, 4) fixed transform from the last joint to the tip

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    def sample(self, rng: np.random.Generator, m: int) -> Array:
        """M configurations (m, n), uniform in the limits; endless joints in one turn."""
        lower = np.where(np.isfinite(self.lower), self.lower, -math.pi)
        upper = np.where(np.isfinite(self.upper), self.upper, math.pi)
        return rng.uniform(lower, upper, size=(m, self.n))

    def inside(self, q: Array) -> Array:
        """The configuration inside the limits that is nearest to q (n,)."""
        return np.clip(q, self.lower, self.upper)

    def forward(self, q: Array) -> tuple[Array, Array]:
        """The tip in the base's frame, by the product of the URDF's transforms: position (3,), rotation (3, 3)."""
        there = np.eye(4)
        for (fixed, axis, slides), value in zip(self.steps, q):
            there = there @ fixed
            if slides:
                there[:3, 3] += there[:3, :3] @ axis * value
            else:
                there[:3, :3] = there[:3, :3] @ turn(axis, value)
        there = there @ self.end
        return there[:3, 3], there[:3, :3]

    def positions(self, q: Array) -> Array:
        """The tip's positions (m, 3) at configurations (m, n)."""
        return np.array([self.forward(row)[0] for row in q])


def turn(axis: Array, angle: float) -> Array:
    """The rotation (3, 3) about a unit axis, by Rodrigues."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * (cross @ cross)


def across(tool: Array) -> Array:
    """A unit vector (3,) perpendicular to the tool's."""
    side = np.cross(tool, np.eye(3)[np.argmin(abs(tool))])
    return side / np.linalg.norm(side)


def names() -> list[str]:
    """All the arms of the benchmark."""
    return [*FIVE, *(name for name in _rows() if name not in REFUSED)]


@cache
def load(name: str) -> Arm:
    """An arm by its name: the URDF's file without its ending."""
    if name in FIVE:
        path, base, tip, tool = FIVE[name]
        return read(ROOT / path, base, tip, tool)
    row = _rows()[name]
    sign = -1.0 if row["tool_axis"].startswith("-") else 1.0
    return read(OTHERS / f"{name}.urdf", row["base"], row["tip"], sign * np.array(LETTERS[row["tool_axis"][-1]]))


@cache
def _rows() -> dict[str, dict[str, str]]:
    rows: dict[str, dict[str, str]] = yaml.safe_load((OTHERS / "arms.yaml").read_text(encoding="utf-8"))
    return rows


def read(urdf: Path, base: str, tip: str, tool: npt.ArrayLike) -> Arm:
    """The arm from `base` to `tip` of a URDF."""
    above = {}
    for joint in ElementTree.parse(urdf).getroot().iter("joint"):
        child = joint.find("child")
        if child is not None:  # <transmission> has joints, too
            above[child.attrib["link"]] = joint
    path: list[ElementTree.Element] = []
    link = tip
    while link != base:
        path.insert(0, above[link])
        link = _element(path[0], "parent").attrib["link"]
    joints, lower, upper, steps = [], [], [], []
    fixed = np.eye(4)
    for joint in path:
        fixed = fixed @ _origin(joint)
        kind = joint.attrib["type"]
        if kind == "fixed":
            continue
        axis = joint.find("axis")
        vector = _numbers(axis.attrib["xyz"] if axis is not None else "1 0 0")
        limit = None if kind == "continuous" else _element(joint, "limit").attrib
        joints.append(joint.attrib["name"])
        lower.append(-math.inf if limit is None else float(limit.get("lower", 0.0)))
        upper.append(math.inf if limit is None else float(limit.get("upper", 0.0)))
        steps.append((fixed, vector / np.linalg.norm(vector), kind == "prismatic"))
        fixed = np.eye(4)
    tool = np.asarray(tool, dtype=float) / np.linalg.norm(tool)
    limits = np.array(lower), np.array(upper)
    return Arm(urdf.stem, urdf, base, tip, tool, across(tool), tuple(joints), *limits, tuple(steps), fixed)


def _element(joint: ElementTree.Element, tag: str) -> ElementTree.Element:
    found = joint.find(tag)
    if found is None:
        raise ValueError(f"joint {joint.attrib.get('name')!r} has no <{tag}>")
    return found


def _numbers(text: str) -> Array:
    return np.array([float(word) for word in text.split()])


def _origin(joint: ElementTree.Element) -> Array:
    """The joint's <origin> as a transform (4, 4)."""
    out, origin = np.eye(4), joint.find("origin")
    if origin is None:
        return out
    out[:3, 3] = _numbers(origin.get("xyz", "0 0 0"))
    roll, pitch, yaw = _numbers(origin.get("rpy", "0 0 0"))
    x, y, z = np.eye(3)
    out[:3, :3] = turn(z, yaw) @ turn(y, pitch) @ turn(x, roll)
    return out
