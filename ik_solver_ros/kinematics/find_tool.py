"""Where the tool points, where nobody says so; and what is doubtful about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ik_solver_ros.errors import GoalError
from ik_solver_ros.kinematics.arrays import Array, ChainArrays
from ik_solver_ros.kinematics.chain import Wrist
from ik_solver_ros.kinematics.hand import ROLL_WITHIN, Hand
from ik_solver_ros.kinematics.kernels import Body, Frames, Row, joint_frames

ROLL_AT_TIP_WITHIN = np.radians(60.0)  # a last hinge with the tip on it rolls, if this near to the line before it
SNAP_WITHIN = np.radians(3.0)  # a line this near to an axis of the tip's frame is meant as that axis
SLIDE_ACROSS = np.radians(80.0)  # jaws that slide at more than this to the tool open across it
ASTRAY = np.radians(60.0)  # fingers farther than this off the tool axis make it doubtful
FAR = 0.01  # [m] fingers nearer than this to the last joint tell no direction
AT = 1e-6  # [m] two points nearer than this are one
AXES = {sign + name: (-1.0 if sign else 1.0) * np.eye(3)["xyz".index(name)] for name in "xyz" for sign in ("", "-")}


class Fingers(NamedTuple):
    """How the fingers of the tip's hand lie, in the tip's frame."""

    places: Array  # (k, 3) [m] of their first joints
    slides: Array  # (s, 3) unit, of those that slide


class Tool(NamedTuple):
    """A tool axis (3,) in the tip's frame, why it is that, how the last hinge lies to it, and what is doubtful."""

    axis: Array
    reason: str
    wrist: Wrist
    doubts: tuple[str, ...] = ()


class _Guess(NamedTuple):
    """A tool axis (3,), of any length, why it is that, and whether the joints tell it."""

    axis: Array
    reason: str
    sure: bool
    doubts: tuple[str, ...] = ()


class _Zero(NamedTuple):
    """The end of a chain with all joints at zero, in the tip's frame; the tip is the origin."""

    joints: Array  # (n, 3) [m]
    axes: Array  # (n, 3) unit
    slides: tuple[bool, ...]  # (n,)
    towards: Array | None  # (3,) unit, to the tip from the nearest joint that is not there itself
    at_tip: bool  # whether the last joint is where the tip is

    @property
    def hinge(self) -> Array | None:
        """(3,) unit, the last joint's axis; None where it slides, but for a gantry, which has no other axes."""
        return None if self.slides[-1] and not all(self.slides) else np.asarray(self.axes[-1])


def fingers_of(hand: Hand, tip_link: str) -> Fingers:
    """The fingers of `hand`, seen from one of its links."""
    to_tip = np.linalg.inv(hand.frames[tip_link])
    frames = [to_tip @ hand.place(joint) for joint in hand.fingers]
    slides = [f[:3, :3] @ j.axis for f, j in zip(frames, hand.fingers) if j.type == "prismatic"]
    return Fingers(np.array([f[:3, 3] for f in frames]).reshape(-1, 3), np.array(slides).reshape(-1, 3))


def find_tool(arrays: ChainArrays, body: Body, fingers: Fingers, tip_link: str, last_joint: str) -> Tool:
    """Where the tool points: the roll axis of the wrist, else the line from the last joint to the tip."""
    zero = _zero(arrays, body)
    found = _by_geometry(zero, fingers, last_joint)
    if re.search("(^|[^a-zA-Z0-9])tool0$", tip_link) and found.axis @ AXES["z"] < np.cos(ROLL_WITHIN):
        found = _by_custom(found)
    axis = np.where(np.abs(found.axis) < 1e-6, 0.0, found.axis)
    axis = axis / np.linalg.norm(axis)
    return Tool(axis, found.reason, wrist_of(zero, axis), found.doubts)


def given_tool(arrays: ChainArrays, body: Body, given: str | Sequence[float]) -> Tool:
    """The tool axis as somebody named it. Raises GoalError."""
    axis = _parse_axis(given)
    return Tool(axis, "as given", wrist_of(_zero(arrays, body), axis))


def wrist_of(zero: _Zero, axis: Array) -> Wrist:
    """How the last hinge lies to the tool."""
    along = zero.hinge is not None and abs(zero.hinge @ axis) > np.cos(np.radians(1.0))
    return Wrist.ROLL if along else Wrist.ACROSS


def named_axis(axis: Array) -> str:
    """An axis as tool_axis is written: "x", "-z", or three numbers."""
    for name, unit in AXES.items():
        if axis @ unit > np.cos(np.radians(0.1)):
            return name
    return "'" + " ".join(f"{number:.3g}" for number in axis) + "'"


def _zero(arrays: ChainArrays, body: Body) -> _Zero:
    n, frames = len(arrays.slides), Frames()
    tip_p, tip_q = joint_frames(body, Row(), frames)
    _, origins, axes = (np.array(column) for column in frames.columns(n))
    to_tip = Rotation.from_quat(tip_q).as_matrix().T
    joints = (origins - np.array(tip_p)) @ to_tip.T
    distances = np.linalg.norm(joints, axis=1)
    away = np.flatnonzero(distances > AT)
    towards = -joints[away[-1]] / distances[away[-1]] if away.size else None
    return _Zero(joints, axes @ to_tip.T, tuple(arrays.slides.tolist()), towards, bool(distances[-1] <= AT))


def _by_custom(found: _Guess) -> _Guess:
    """The axis of a tool0, of which z is not what geometry says: wrists are believed more than frames."""
    if found.sure:
        doubt = (
            f"the tool points along {named_axis(found.axis)} of tool0, {found.reason}, where the custom is z: write "
            "tool_axis:=z if that is meant"
        )
        return _Guess(found.axis, found.reason, True, (*found.doubts, doubt))
    doubt = (
        "the tool points along z of tool0, as is the custom, though the joints do not tell it: write "
        f"tool_axis:={named_axis(found.axis)} if that is meant"
    )
    return _Guess(AXES["z"], "z of tool0, as is the custom", True, (doubt,))


def _by_geometry(zero: _Zero, fingers: Fingers, last_joint: str) -> _Guess:
    if zero.towards is None:
        doubt = "every joint is where the tip is, so that nothing tells where the tool points: write tool_axis:=..."
        return _Guess(zero.axes[-1], "the axis of the last joint", False, (doubt,))
    hinge = zero.hinge
    ahead = None  # from the last joint to the fingers
    if len(fingers.places):
        middle = fingers.places.mean(axis=0) - zero.joints[-1]
        ahead = middle / np.linalg.norm(middle) if np.linalg.norm(middle) > FAR else None
    within = ROLL_AT_TIP_WITHIN if zero.at_tip else ROLL_WITHIN
    if hinge is not None and abs(hinge @ zero.towards) > np.cos(within):
        found = _Guess(hinge * np.sign(hinge @ zero.towards), "the roll axis of the wrist", True)
        if not zero.at_tip:
            return found
    elif hinge is not None and zero.at_tip:
        return _on_hinge(zero, hinge, ahead, last_joint)
    else:
        found = _Guess(_straightened(zero.towards, fingers), "the line from the last joint to the tip", False)
    if ahead is None or len(fingers.places) == 1 or found.axis @ ahead > np.cos(ASTRAY):
        return found
    doubt = (
        f"the tool points along {named_axis(found.axis)} of the tip, but its fingers are along {named_axis(ahead)}: "
        f"write tool_axis:={named_axis(_snapped(ahead))} if they grip there"
    )
    return _Guess(found.axis, found.reason, found.sure, (doubt,))


def _on_hinge(zero: _Zero, hinge: Array, ahead: Array | None, last_joint: str) -> _Guess:
    """The tip is on the last hinge, which lies across the line to it: a roll of an angled wrist, or a bend."""
    if ahead is not None and abs(hinge @ ahead) > np.cos(ROLL_WITHIN):
        return _Guess(hinge * np.sign(hinge @ ahead), "the roll axis of the wrist, towards the fingers", True)
    if ahead is not None:
        return _Guess(_snapped(ahead), "the line from the last joint to the fingers", False)
    assert zero.towards is not None
    turns_as_before = len(zero.axes) == 1 or abs(hinge @ zero.axes[-2]) > np.cos(ROLL_WITHIN)
    if not turns_as_before or zero.slides[-2:-1] == (True,):  # a SCARA's roll is along its slide
        axis = hinge * np.sign(hinge[int(np.argmax(np.abs(hinge)))])  # DH's z, mostly, which points outwards
        reason = "the last hinge, on which the tip is"
        others = [-axis, max(AXES.values(), key=lambda other: float(other @ zero.towards))]
    else:
        axis, reason = _snapped(zero.towards), "the line to the last hinge, on which the tip is"
        across = [other for other in AXES.values() if abs(other @ hinge) < np.cos(ROLL_AT_TIP_WITHIN)]
        others = [other for other in across if other @ axis < np.cos(SNAP_WITHIN)]
    choice = " or ".join(f"tool_axis:={named_axis(other)}" for other in others)
    doubt = (
        f"the tip is on the last joint, {last_joint!r}, so that the URDF does not tell where the tool points: it is "
        f"taken to point along {named_axis(axis)} of the tip; write {choice} where it does"
    )
    return _Guess(axis, reason, False, (doubt,))


def _straightened(line: Array, fingers: Fingers) -> Array:
    """A line across all jaws that slide, where it nearly is; or an axis of the frame, where it nearly is."""
    out = line
    for slide in fingers.slides:
        if abs(slide @ out) < np.cos(SLIDE_ACROSS):
            out = out - (slide @ out) * slide
    return _snapped(out / np.linalg.norm(out))


def _snapped(line: Array) -> Array:
    near = max(AXES.values(), key=lambda axis: float(axis @ line))
    return near if near @ line > np.cos(SNAP_WITHIN) else line


def _parse_axis(given: str | Sequence[float]) -> Array:
    wanted = "'x', 'y', 'z' with or without a sign, or three numbers that are not all zero"
    value: Sequence[float]
    if isinstance(given, str):
        text = given.strip().lower()
        if text.lstrip("+-") in ("x", "y", "z") and len(text) <= 2:
            sign = -1.0 if text.startswith("-") else 1.0
            return np.asarray(sign * np.eye(3)["xyz".index(text[-1])])
        try:
            value = [float(part) for part in text.replace(",", " ").split()]
        except ValueError:
            raise GoalError("tool_axis", given, wanted) from None
    else:
        value = given
    axis = np.array(value, dtype=float)
    if axis.shape != (3,) or not np.isfinite(axis).all() or np.linalg.norm(axis) < 1e-9:
        raise GoalError("tool_axis", given, wanted)
    return np.asarray(axis / np.linalg.norm(axis))
