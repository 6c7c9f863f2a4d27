"""The pose of an arm, and which way its joints turn, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from xml.etree import ElementTree

import numpy as np

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.model import RobotModel
from ik_solver_ros.tools.calibrate.measure import reference, said

SHOWN = math.radians(30.0)  # by which a joint is moved to show its positive direction
SLIDES = 0.02  # [m] by which one that slides is
WAYS = (("forward", "backward"), ("to the left", "to the right"), ("up", "down"))  # along x, y, z of the root


def stance(chain: Chain) -> dict[str, float]:
    """The pose in which joints are put [rad or m]: all at 0, or where they come nearest to that."""
    return {joint.name: reference(joint) for joint in chain.model.commandable}


def moved(chain: Chain, name: str) -> dict[str, float]:
    """That pose with one joint moved in its positive direction [rad or m]."""
    joint = chain.model.joints[name]
    return stance(chain) | {name: reference(joint) + (SLIDES if joint.type == "prismatic" else SHOWN)}


def far_end(model: RobotModel, link: str, positions: Mapping[str, float]) -> Array:
    """Where a link ends [m] in the root: as far beyond its centre of mass as that is from its joint."""
    frame = model.transform(model.root, link, positions)
    for element in ElementTree.fromstring(model.text).iter("link"):
        origin = element.find("inertial/origin") if element.get("name") == link else None
        if origin is not None:
            middle = np.array([float(number) for number in origin.get("xyz", "0 0 0").split()])
            return np.asarray(frame[:3, :3] @ (2.0 * middle) + frame[:3, 3])
    return np.asarray(frame[:3, 3])


def pose(chain: Chain) -> str:
    """Where the joints and the tip are in the pose in which joints are put."""
    model, positions = chain.model, stance(chain)
    lines = [f"where the URDF has all joints at 0, in m from {model.root!r} (x forward, y to the left, z up):"]
    for name in [*chain.joint_names, *(joint.name for joint in chain.other_joints)]:
        joint = model.joints[name]
        at = model.transform(model.root, joint.child, positions)[:3, 3]
        instead = "" if positions[name] == 0.0 else f", put at {said(joint, positions[name])}: it cannot be at 0"
        lines.append(f"  {name} {_place(at)}{instead}")
    lines.append(f"  the tip, {chain.tip_link} {_place(model.transform(model.root, chain.tip_link, positions)[:3, 3])}")
    return "\n".join(lines)


def motion(chain: Chain, name: str) -> str:
    """Which way a joint moves what hangs on it in its positive direction."""
    model = chain.model
    joint, before, after = model.joints[name], stance(chain), moved(chain, name)
    tip = chain.tip_link if name in chain.joint_names else joint.child
    way = far_end(model, tip, after) - far_end(model, tip, before)
    frame = model.transform(model.root, joint.child, before)
    axis = frame[:3, :3] @ joint.axis
    if np.linalg.norm(way) > 0.02 * chain.reach:
        return f"positive moves {tip} {_ways(way)}"
    if joint.type == "prismatic":
        return f"positive slides {tip} {_ways(axis)}"
    return f"positive turns {joint.child} clockwise for somebody who looks {_ways(axis)} along its axis"


def _ways(way: Array) -> str:
    """The directions that make up most of a way."""
    size = float(np.abs(way).max())
    order = np.argsort(-np.abs(way))
    return " and ".join(WAYS[i][0 if way[i] > 0.0 else 1] for i in order if abs(way[i]) > 0.4 * size)


def _place(at: Array) -> str:
    return f"at x {at[0]:.3f}, y {at[1]:.3f}, z {at[2]:.3f}"
