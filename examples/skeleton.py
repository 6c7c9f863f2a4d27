"""URDFs made of bones: a list of joints with what follows each, drawn as rods and balls."""

from __future__ import annotations

import math
from typing import NamedTuple

SKIN, BALL = "0.25 0.45 0.75 1", "0.9 0.55 0.15 1"
DENSITY = 300.0  # [kg/m^3]


class Bone(NamedTuple):
    """A joint and the rod behind it."""

    name: str
    axis: str  # as "0 0 1"
    rod: tuple[float, float, float]  # [m] to the next joint; zero for joints that coincide
    lower: float  # [rad or m]; of a continuous joint nothing
    upper: float
    kind: str = "revolute"


def skeleton(name: str, bones: list[Bone], root: tuple[float, float, float], thick: float = 0.02) -> str:
    """The URDF of a chain of bones whose first joint is at `root` [m]; its tip is the link "tip"."""
    parts, offset = [_link("base_link", (0.0, 0.0, 0.0), 1e-3)], root
    for parent, bone in zip(["base_link", *(b.name + "_link" for b in bones)], bones):
        limit = f'<limit lower="{bone.lower}" upper="{bone.upper}" effort="200" velocity="6"/>'
        parts.append(_link(f"{bone.name}_link", bone.rod, thick))
        parts.append(
            f'<joint name="{bone.name}" type="{bone.kind}"><parent link="{parent}"/><child link="{bone.name}_link"/>'
            f'<origin xyz="{_text(offset)}"/><axis xyz="{bone.axis}"/>{limit if bone.kind != "continuous" else ""}'
            "</joint>"
        )
        offset = bone.rod
    parts.append(
        f'<link name="tip"/><joint name="end" type="fixed"><parent link="{bones[-1].name}_link"/><child link="tip"/>'
        f'<origin xyz="{_text(offset)}"/></joint>'
    )
    return f'<robot name="{name}">{"".join(parts)}</robot>'


def _link(name: str, rod: tuple[float, float, float], thick: float) -> str:
    length = math.hypot(*rod)
    mass = max(DENSITY * math.pi * thick**2 * length, 0.02)
    middle = tuple(0.5 * x for x in rod)
    moment = mass * max(length**2 / 12.0, thick**2)
    shapes = _visual((0.0, 0.0, 0.0), "0 0 0", f'<sphere radius="{1.4 * thick}"/>', BALL)
    if length > 0.0:
        tilt = f"0 {math.acos(rod[2] / length)} {math.atan2(rod[1], rod[0])}"
        shapes += _visual(middle, tilt, f'<cylinder radius="{thick}" length="{length}"/>', SKIN)
    return (
        f'<link name="{name}"><inertial><origin xyz="{_text(middle)}"/><mass value="{mass}"/><inertia ixx="{moment}" '
        f'iyy="{moment}" izz="{moment}" ixy="0" ixz="0" iyz="0"/></inertial>{shapes}</link>'
    )


def _visual(at: tuple[float, ...], rpy: str, shape: str, color: str) -> str:
    return (
        f'<visual><origin xyz="{_text(at)}" rpy="{rpy}"/><geometry>{shape}</geometry>'
        f'<material name="{color.replace(" ", "_")}"><color rgba="{color}"/></material></visual>'
    )


def _text(vector: tuple[float, ...]) -> str:
    return " ".join(str(x) for x in vector)
