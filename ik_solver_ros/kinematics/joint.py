"""Joint: one joint of a URDF, read from what the parser made of it; what is wrong with it is kept, not raised."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ik_solver_ros.errors import AxisError, CycleError, LimitError, UnknownLinkError, UrdfError, UrdfSyntaxError, listed
from ik_solver_ros.kinematics.arrays import Array, read_only

MOVING = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True)
class Mimic:
    """position = multiplier * position of `joint` + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class Joint:
    """One joint of the URDF. Lengths in m, angles in rad; what the file leaves out is nan."""

    name: str
    type: str
    parent: str
    child: str
    origin_p: Array  # (3,) from the parent link to the joint
    origin_q: Array  # (4,) xyzw
    axis: Array  # (3,) unit, in the joint's frame
    lower: float  # -inf for continuous joints
    upper: float
    velocity: float  # limit [rad/s or m/s]
    effort: float  # limit [N m or N]
    mimic: Mimic | None
    fault: UrdfError | None = None  # why no chain may have it; it is fixed then, or follows its mimic tag

    @property
    def meant_to_move(self) -> bool:
        """Whether it moves, or would but for its fault."""
        return self.type != "fixed" or self.fault is not None

    def transform(self, position: float) -> Array:
        """The homogeneous transform (4, 4) from the parent link to the child link."""
        out = np.eye(4)
        out[:3, :3] = Rotation.from_quat(self.origin_q).as_matrix()
        out[:3, 3] = self.origin_p
        motion = np.eye(4)
        if self.type == "prismatic":
            motion[:3, 3] = self.axis * position
        elif self.type in MOVING:
            motion[:3, :3] = Rotation.from_rotvec(self.axis * position).as_matrix()
        return np.asarray(out @ motion)


def read_joint(raw: Any, links: tuple[str, ...]) -> Joint:
    """The joint that urdf_parser_py has parsed. A bad axis or bad limits are its fault.

    Raises UnknownLinkError, and AxisError for an origin that is not finite: nothing below it has a place.
    """
    name = str(raw.name)
    for role, link in (("parent", raw.parent), ("child", raw.child)):
        if link not in links:
            raise UnknownLinkError(f"the {role} of joint {name!r},", str(link), links)
    xyz = _vector(raw.origin.xyz if raw.origin else None, (0.0, 0.0, 0.0), f"origin xyz of joint {name!r}", name)
    rpy = _vector(raw.origin.rpy if raw.origin else None, (0.0, 0.0, 0.0), f"origin rpy of joint {name!r}", name)
    mimic = None
    if raw.mimic is not None:
        multiplier = 1.0 if raw.mimic.multiplier is None else float(raw.mimic.multiplier)
        offset = 0.0 if raw.mimic.offset is None else float(raw.mimic.offset)
        mimic = Mimic(str(raw.mimic.joint), multiplier, offset)
    kind, axis, lower, upper = str(raw.type), np.array([1.0, 0.0, 0.0]), 0.0, 0.0
    fault: UrdfError | None = None
    try:
        if kind in MOVING:
            axis = _axis(raw, name)
            lower, upper = _limits(raw, name)
    except LimitError as error:
        fault = error
        if mimic is None:
            kind = "fixed"
        else:  # follows another joint, whatever its own limits are
            lower, upper = -math.inf, math.inf
    except AxisError as error:
        kind, fault = "fixed", error
    return Joint(
        name=name,
        type=kind,
        parent=str(raw.parent),
        child=str(raw.child),
        origin_p=read_only(xyz),
        origin_q=read_only(Rotation.from_euler("xyz", rpy).as_quat()),
        axis=read_only(axis),
        lower=lower,
        upper=upper,
        velocity=float(raw.limit.velocity) if raw.limit else math.nan,
        effort=float(raw.limit.effort) if raw.limit else math.nan,
        mimic=mimic if kind != "fixed" else None,
        fault=fault,
    )


def with_mimics_checked(joints: Mapping[str, Joint]) -> dict[str, Joint]:
    """The same joints; those that mimic nobody, or each other in a ring, are at fault and stand still."""
    out = dict(joints)
    for joint in joints.values():
        fault = _mimic_fault(joint, joints)
        if fault is not None:
            out[joint.name] = replace(joint, type="fixed", lower=0.0, upper=0.0, mimic=None, fault=fault)
    return out


def _mimic_fault(joint: Joint, joints: Mapping[str, Joint]) -> UrdfError | None:
    followed = [joint.name]
    while (mimic := joints[followed[-1]].mimic) is not None:
        if mimic.joint not in joints:
            if len(followed) > 1:  # the fault of the last of them
                return None
            return UrdfSyntaxError(
                f"joint {joint.name!r} mimics {mimic.joint!r}, which is not a joint; there are: {listed(joints)}",
                element=joint.name,
            )
        if mimic.joint in followed:
            ring = [*followed[followed.index(mimic.joint) :], mimic.joint]
            return CycleError(
                f"joint {joint.name!r} mimics in a ring, which no joint leads: {' -> '.join(ring)}", element=joint.name
            )
        followed.append(mimic.joint)
    return None


def _axis(raw: Any, name: str) -> Array:
    axis = _vector(raw.axis, (1.0, 0.0, 0.0), f"axis of joint {name!r}", name)
    length = float(np.linalg.norm(axis))
    if length < 1e-9:
        raise AxisError(f"axis of joint {name!r} is {axis.tolist()}: an axis must have a length", element=name)
    return axis / length


def _limits(raw: Any, name: str) -> tuple[float, float]:
    if raw.type == "continuous":
        return -math.inf, math.inf
    if raw.limit is None:
        raise LimitError(
            f"{raw.type} joint {name!r} has no <limit>: give lower and upper, or make it continuous", joint=name
        )
    lower, upper = float(raw.limit.lower), float(raw.limit.upper)
    if not (math.isfinite(lower) and math.isfinite(upper)):
        raise LimitError(
            f"{raw.type} joint {name!r} has the limits lower={lower}, upper={upper}: both must be finite numbers",
            joint=name,
            lower=lower,
            upper=upper,
        )
    if lower > upper:
        raise LimitError(
            f"{raw.type} joint {name!r} has lower={lower} above upper={upper}; are they swapped?",
            joint=name,
            lower=lower,
            upper=upper,
        )
    return lower, upper


def _vector(value: Any, default: tuple[float, float, float], what: str, element: str) -> Array:
    out = np.array(default if value is None else value, dtype=float)
    if not np.isfinite(out).all():
        raise AxisError(f"{what} is {out.tolist()}: three finite numbers are needed", element=element)
    return out
