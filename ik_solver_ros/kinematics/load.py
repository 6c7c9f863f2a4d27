"""load_chain: from a URDF to the serial chain that the solvers work on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from ik_solver_ros.errors import UnsupportedJointError, listed
from ik_solver_ros.kinematics.arrays import Array, ChainArrays, read_only
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.constants import MOST_JOINTS, SAMPLES
from ik_solver_ros.kinematics.find_tip import FoundTip, find_tip
from ik_solver_ros.kinematics.find_tool import Fingers, find_tool, fingers_of, given_tool
from ik_solver_ros.kinematics.find_waist_arm import find_waist_arm
from ik_solver_ros.kinematics.hand import Hands
from ik_solver_ros.kinematics.joint import Joint
from ik_solver_ros.kinematics.kernels import Body, Frames, Row, angular_column, joint_frames, linear_column
from ik_solver_ros.kinematics.model import RobotModel, load_model

KINDS = ("revolute", "continuous", "prismatic")
RANK_FLOOR = 0.02  # of the largest singular value, see _direction_rank


def load_chain(
    source: str | os.PathLike[str] | RobotModel,
    base_link: str | None = None,
    tip_link: str | None = None,
    tool_axis: str | Sequence[float] | None = None,
) -> Chain:
    """The chain from `base_link` to `tip_link` of a URDF.

    source: the path of a URDF, its text, or a RobotModel. Without names, the base is the root of the tree and
    the tip the end of the one serial chain there is; grippers are seen as such and left off. tool_axis: "x", "-z"
    or three numbers, in the tip frame; without it the roll axis of the wrist, else the line from the last joint
    to the tip. What of that is a guess is said in the chain's `doubts`, and so are joints off the chain that cannot
    be used.

    Raises UrdfError (see `ik_solver_ros.errors`) naming the element at fault, AmbiguousTipError listing the
    candidates, GoalError for a bad tool_axis, FileNotFoundError for a path that leads nowhere.
    """
    model = source if isinstance(source, RobotModel) else load_model(source)
    base = model.root if base_link is None else base_link
    hands = Hands(model)
    tip, doubts = find_tip(hands, base) if tip_link is None else FoundTip(tip_link)
    path = _checked(model.path(base, tip), base, tip)
    tool_by = _fingers(hands, tip) if tool_axis is None else tool_axis
    broken = [joint for joint in model.joints.values() if joint.fault is not None]
    faults = [f"a joint off the chain is taken {_as(joint)}: {joint.fault}" for joint in broken]
    return _chain(model, (base, tip), path, tool_by, (*doubts, *faults))


def _checked(path: Sequence[Joint], base: str, tip: str) -> Sequence[Joint]:
    """The path itself. Raises UrdfError where it is no serial chain."""
    joints = [joint for joint in path if joint.meant_to_move]
    for joint in joints:
        if joint.fault is not None and joint.mimic is None:
            raise joint.fault
        if joint.type not in KINDS:
            raise UnsupportedJointError(
                f"joint {joint.name!r} on the chain is of type {joint.type!r}; a serial chain is made of "
                f"{listed(KINDS)} and fixed joints",
                element=joint.name,
            )
        if joint.mimic is not None:
            raise UnsupportedJointError(
                f"joint {joint.name!r} on the chain mimics {joint.mimic.joint!r}; each joint of a chain must move by "
                f"itself: name a tip_link before it, such as {joint.parent!r}",
                element=joint.name,
            )
    if not joints:
        raise UnsupportedJointError(f"no joint between {base!r} and {tip!r} moves; nothing to solve", element=tip)
    if len(joints) > MOST_JOINTS:
        raise UnsupportedJointError(
            f"{len(joints)} joints between {base!r} and {tip!r} move; a chain may have {MOST_JOINTS}", element=tip
        )
    return path


def _as(broken: Joint) -> str:
    return "for fixed" if broken.mimic is None else f"to follow {broken.mimic.joint!r} without limits"


def _fingers(hands: Hands, tip: str) -> Fingers:
    """The fingers on the body of the tip."""
    top, model = tip, hands.model
    while (joint := model.joint_above(top)) is not None and not joint.meant_to_move:
        top = joint.parent
    return fingers_of(hands.at(top, {joint.name for joint in model.path(model.root, tip)}), tip)


def _chain(
    model: RobotModel,
    ends: tuple[str, str],
    path: Sequence[Joint],
    tool_by: str | Sequence[float] | Fingers,
    doubts: tuple[str, ...],
) -> Chain:
    """tool_by: the tool axis as given, or what it is found by."""
    joints = [joint for joint in path if joint.type != "fixed"]
    arrays = _fold(path)
    reach = _reach(arrays)
    bare = Body(arrays, np.eye(3)[:2], reach)  # with any tool, for the forward kinematics by which the tool is found
    if isinstance(tool_by, Fingers):
        found = find_tool(arrays, bare, tool_by, ends[1], joints[-1].name)
    else:
        found = given_tool(arrays, bare, tool_by)
    tool = read_only([found.axis, _across(found.axis)])
    body = Body(arrays, tool, reach)
    for k, posture in enumerate(_postures(arrays).tolist()):
        body.sample(k, posture)
    return Chain(
        joint_names=tuple(joint.name for joint in joints),
        base_link=ends[0],
        tip_link=ends[1],
        tool=tool,
        tool_axis_reason=found.reason,
        arrays=arrays,
        mid=read_only([0.5 * (j.lower + j.upper) if np.isfinite(j.lower) else 0.0 for j in joints]),
        velocity_limit=read_only([abs(joint.velocity) or np.nan for joint in joints]),
        effort_limit=read_only([abs(joint.effort) or np.nan for joint in joints]),
        wrist=found.wrist,
        direction_rank=_direction_rank(arrays, body, found.axis),
        reach=reach,
        body=body,
        waist_arm=find_waist_arm(arrays, body, tool),
        model=model,
        doubts=(*doubts, *found.doubts),
    )


def with_limits(chain: Chain, lower: Array, upper: Array) -> Chain:
    """The same chain with these position limits (n,), within its own."""
    joints = dict(chain.model.joints)
    for name, low, high in zip(chain.joint_names, lower.tolist(), upper.tolist()):
        kind = joints[name].type
        if kind == "continuous" and np.isfinite([low, high]).all():
            kind = "revolute"
        joints[name] = replace(joints[name], type=kind, lower=low, upper=high)
    model = replace(chain.model, joints=joints)
    new = load_chain(model, chain.base_link, chain.tip_link, chain.tool_axis.tolist())
    return replace(new, tool_axis_reason=chain.tool_axis_reason, wrist=chain.wrist, doubts=chain.doubts)


def _fold(path: Sequence[Joint]) -> ChainArrays:
    """The arrays of a path of joints, each fixed joint folded into the origin of the next moving one."""
    types, origin_p, origin_q, axis, lower, upper = [], [], [], [], [], []
    p, r = np.zeros(3), Rotation.identity()
    for joint in path:
        p = p + r.as_matrix() @ joint.origin_p
        r = r * Rotation.from_quat(joint.origin_q)
        if joint.type != "fixed":
            types.append(joint.type)
            origin_p.append(p)
            origin_q.append(r.as_quat())
            axis.append(joint.axis)
            lower.append(joint.lower)
            upper.append(joint.upper)
            p, r = np.zeros(3), Rotation.identity()
    slides, endless = (np.array([kind == wanted for kind in types]) for wanted in ("prismatic", "continuous"))
    for flags in (slides, endless):
        flags.flags.writeable = False
    return ChainArrays(
        slides=slides,
        endless=endless,
        origin_p=read_only(origin_p),
        origin_q=read_only(origin_q),
        axis=read_only(axis),
        tip_p=read_only(p),
        tip_q=read_only(r.as_quat()),
        lower=read_only(lower),
        upper=read_only(upper),
    )


def _across(axis: Array) -> Array:
    """A unit vector perpendicular to `axis`."""
    side = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    return np.asarray(side / np.linalg.norm(side))


def _direction_rank(arrays: ChainArrays, body: Body, tool_axis: Array) -> int:
    """The rank of d(position, tool direction)/dq at generic configurations: the most of a few fixed random ones.

    What a joint adds by less than `RANK_FLOOR` of the largest singular value does not count: on SO-101 the roll
    moves the tip by its 8 mm offset, which is mathematically a fifth direction and practically none.
    """
    rng, frames = np.random.default_rng(0), Frames()
    lower, upper = arrays.finite_limits()
    scale = max(_reach(arrays), 1e-3)
    best = 0
    for _ in range(16):
        q = rng.uniform(lower, upper)
        p, quat = joint_frames(body, Row(q), frames)
        direction = Rotation.from_quat(quat).as_matrix() @ tool_axis
        linear = np.array([linear_column(body, frames, i, p) for i in range(body.n)])
        angular = np.array([angular_column(body, frames, i) for i in range(body.n)])
        rows = np.vstack([linear.T / scale, np.cross(angular, direction).T])
        values = np.linalg.svd(rows, compute_uv=False)
        best = max(best, int(np.sum(values > RANK_FLOOR * values[0])))
    return best


def _postures(arrays: ChainArrays) -> Array:
    """The arm in `SAMPLES` ways, (m, n), that cover its ranges evenly: M. Roberts' R-sequence, frac(i / phi^j)."""
    n = len(arrays.slides)
    phi = 2.0
    for _ in range(64):
        phi = (1.0 + phi) ** (1.0 / (n + 1))
    unit = (np.arange(1, SAMPLES + 1)[:, None] * phi ** -np.arange(1.0, n + 1)) % 1.0
    lower, upper = arrays.finite_limits()
    return np.asarray(lower + unit * (upper - lower))


def _reach(arrays: ChainArrays) -> float:
    """Upper bound of |tip - first joint| [m], from the lengths of the links and the sliding ranges."""
    slide = arrays.slides
    travel = float(np.sum(np.maximum(np.abs(arrays.lower[slide]), np.abs(arrays.upper[slide]))))
    return float(np.sum(np.linalg.norm(arrays.origin_p[1:], axis=1)) + np.linalg.norm(arrays.tip_p)) + travel
