"""Forward kinematics and Jacobians of a serial chain, compiled; all in the base frame.

Joint i first applies its constant origin transform (fixed joints are folded into it), then turns about or slides
along its axis by q[i].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from ik_solver_ros.kinematics.arrays import Array, ChainArrays, Pose, Quat, Vec
from ik_solver_ros.kinematics.constants import MOST_JOINTS, SAMPLES
from ik_solver_ros.kinematics.quaternion import add, cross, dot, from_axis_angle, multiply, rotate, scaled, sub

T = TypeVar("T")

ROLLS = 1e-9  # [m], [rad] a last hinge that moves tip and direction by less does nothing but roll the tool
ORIGIN = (0.0, 0.0, 0.0)
REST = (0.0, 0.0, 0.0, 1.0)


def room(value: T, count: int = MOST_JOINTS) -> list[T]:
    """A place for each joint (a list becomes an array in compiled code only where a function returns it)."""
    return [value] * count


class Row:
    """A configuration: one number for each joint [rad or m], in `at`."""

    def __init__(self, values: Iterable[float] = ()) -> None:
        self.at = room(0.0)
        self.fill(values)

    def fill(self, values: Iterable[float]) -> None:
        """Take these numbers."""
        for i, value in enumerate(values):
            self.at[i] = value

    def values(self, n: int) -> list[float]:
        """The first n numbers."""
        return [self.at[i] for i in range(n)]


class Body:
    """A chain of n joints as the kernels see it, with its tool and with sample postures to start from."""

    def __init__(self, arrays: ChainArrays, tool: Sequence[Vec] | Array, reach: float) -> None:
        self.n = len(arrays.slides)
        self.slides = _filled([bool(x) for x in arrays.slides], False)
        self.endless = _filled([bool(x) for x in arrays.endless], False)
        self.origin_p = _filled([_vec(v) for v in arrays.origin_p], ORIGIN)
        self.origin_q = _filled([_quat(v) for v in arrays.origin_q], REST)
        self.axis = _filled([_vec(v) for v in arrays.axis], ORIGIN)
        self.lower = _filled([float(x) for x in arrays.lower], 0.0)
        self.upper = _filled([float(x) for x in arrays.upper], 0.0)
        self.tip_p, self.tip_q = _vec(arrays.tip_p), _quat(arrays.tip_q)
        self.tool = [_vec(tool[0]), _vec(tool[1])]
        self.reach = float(reach)
        self.rolls = _rolls(self)  # 1 or -1 where the last hinge does nothing but roll the tool, else 0
        self.samples = [room(0.0) for _ in range(SAMPLES)]
        self.tips = room(ORIGIN, SAMPLES)
        self.pointing = room(ORIGIN, SAMPLES)

    def sample(self, k: int, posture: Sequence[float]) -> None:
        """Keep a posture (n,) as the sample k, with where its tip is and where its tool points."""
        row = Row(posture)
        p, r = tip_frame(self, row)
        for i in range(self.n):
            self.samples[k][i] = row.at[i]
        self.tips[k] = p
        self.pointing[k] = rotate(r, self.tool[0])


class Frames:
    """Room for the frames of all joints.

    parents: orientation of a joint's frame before its own motion; origins: its position [m], of a sliding joint after
    its motion; axes: direction of its axis.
    """

    def __init__(self) -> None:
        self.parents = room(REST)
        self.origins = room(ORIGIN)
        self.axes = room(ORIGIN)

    def columns(self, n: int) -> tuple[list[Quat], list[Vec], list[Vec]]:
        """(parents, origins, axes) of n joints."""
        k = range(n)
        return [self.parents[i] for i in k], [self.origins[i] for i in k], [self.axes[i] for i in k]


def _rolls(body: Body) -> float:
    axis, pointing = body.axis[body.n - 1], rotate(body.tip_q, body.tool[0])
    off_axis, across = cross(axis, body.tip_p), cross(axis, pointing)
    if body.slides[body.n - 1] or dot(off_axis, off_axis) > ROLLS * ROLLS or dot(across, across) > ROLLS * ROLLS:
        return 0.0
    return 1.0 if dot(axis, pointing) > 0.0 else -1.0


def _filled(values: list[T], rest: T) -> list[T]:
    return values + [rest] * (MOST_JOINTS - len(values))


def _vec(v: Vec) -> tuple[float, float, float]:
    return float(v[0]), float(v[1]), float(v[2])


def _quat(v: Quat) -> tuple[float, float, float, float]:
    return float(v[0]), float(v[1]), float(v[2]), float(v[3])


def joint_frames(chain: Body, q: Row, frames: Frames) -> Pose:
    """Fill the frames of all joints and return the tip's: (position [m], quaternion xyzw)."""
    p = (0.0, 0.0, 0.0)
    r = (0.0, 0.0, 0.0, 1.0)
    for i in range(chain.n):
        p = add(p, rotate(r, chain.origin_p[i]))
        r = multiply(r, chain.origin_q[i])
        z = rotate(r, chain.axis[i])
        frames.parents[i] = r
        frames.axes[i] = z
        if chain.slides[i]:
            p = add(p, scaled(q.at[i], z))
        else:
            r = multiply(r, from_axis_angle(chain.axis[i], q.at[i]))
        frames.origins[i] = p
    return add(p, rotate(r, chain.tip_p)), multiply(r, chain.tip_q)


def tip_frame(chain: Body, q: Row) -> Pose:
    """The tip alone: (position [m], quaternion xyzw)."""
    p = (0.0, 0.0, 0.0)
    r = (0.0, 0.0, 0.0, 1.0)
    for i in range(chain.n):
        p = add(p, rotate(r, chain.origin_p[i]))
        r = multiply(r, chain.origin_q[i])
        if chain.slides[i]:
            p = add(p, scaled(q.at[i], rotate(r, chain.axis[i])))
        else:
            r = multiply(r, from_axis_angle(chain.axis[i], q.at[i]))
    return add(p, rotate(r, chain.tip_p)), multiply(r, chain.tip_q)


def linear_column(chain: Body, frames: Frames, i: int, p: Vec) -> tuple[float, float, float]:
    """How joint i moves a point p that it carries: the linear part of a column of the geometric Jacobian."""
    if chain.slides[i]:
        return frames.axes[i]  # type: ignore[return-value]
    return cross(frames.axes[i], sub(p, frames.origins[i]))


def angular_column(chain: Body, frames: Frames, i: int) -> tuple[float, float, float]:
    """How joint i turns what it carries: the angular part of the same."""
    if chain.slides[i]:
        return 0.0, 0.0, 0.0
    return frames.axes[i]  # type: ignore[return-value]


def copy(source: Row, target: Row, n: int) -> None:
    """Copy n numbers."""
    for i in range(n):
        target.at[i] = source.at[i]


def clamp(chain: Body, q: Row) -> None:
    """Put q inside the limits, in place."""
    for i in range(chain.n):
        q.at[i] = min(max(q.at[i], chain.lower[i]), chain.upper[i])


def largest_step(q: Row, other: Row, n: int) -> float:
    """The largest difference of a joint [rad or m]."""
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(q.at[i] - other.at[i]))
    return largest
