"""What is asked and how an answer is judged: goals, their three errors, and which of two answers is better.

Position, approach and roll count in this order. The forward kinematics are pinocchio's where it is installed, else the
product of the URDF's transforms.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.nearest.arm import Arm, Array, load

GOALS = Path(__file__).parent / "goals.jsonl"
KINDS = ("approach", "pose", "far_pose", "far_point")
REACHED = 1e-8  # [m]
HELD = (1e-7, 1e-7, 1e-3)  # [m], [rad], [rad]: in a search for better answers errors nearer to each other are the same
LIMIT_SLACK = 1e-6  # [rad or m] by which an answer may be outside the limits, for the sake of rounding

Errors = tuple[float, float, float]  # position [m], approach [rad], roll [rad]; nan where it was not asked for


@dataclass(frozen=True)
class Best:
    """The best answer known to a goal."""

    errors: Errors
    q: tuple[float, ...]
    by: str
    found: tuple[int, int] = (0, 0)  # so many searches came to it, of so many made


@dataclass(frozen=True)
class Goal:
    """What the tip shall do, in the base's frame; m and unit vectors."""

    id: str  # arm/kind/number
    q0: tuple[float, ...]
    position: tuple[float, ...]
    direction: tuple[float, ...] | None = None  # of an approach: where the tool shall point
    quaternion: tuple[float, ...] | None = None  # of a pose: xyzw
    best: Best | None = None

    @property
    def arm(self) -> Arm:
        """Whose tip."""
        return load(self.id.split("/")[0])

    @property
    def kind(self) -> str:
        """One of KINDS."""
        return self.id.split("/")[1]

    @property
    def point(self) -> Array:
        """(3,) the position."""
        return np.array(self.position)

    def wanted(self) -> tuple[Array | None, Array | None]:
        """Where the tool's axis and its side shall point, (3,) each; None for what is not asked for."""
        if self.quaternion is None:
            return (None if self.direction is None else unit(self.direction)), None
        matrix, arm = rotation(self.quaternion), self.arm
        return matrix @ arm.tool, matrix @ arm.side


def unit(vector: Iterable[float]) -> Array:
    out = np.array([*vector], dtype=float)
    return out / np.linalg.norm(out)


def rotation(quaternion: Iterable[float]) -> Array:
    """The matrix (3, 3) of a quaternion xyzw."""
    x, y, z, w = unit(quaternion)
    v = np.array([x, y, z])
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return (w * w - v @ v) * np.eye(3) + 2.0 * np.outer(v, v) + 2.0 * w * cross


def angle_between(a: Array, b: Array) -> float:
    """[rad], exact near 0 and near pi."""
    return math.atan2(float(np.linalg.norm(cross(a, b))), float(a @ b))


def cross(a: Array, b: Array) -> Array:
    """(3,) some ten times as fast as numpy's on single vectors."""
    (a0, a1, a2), (b0, b1, b2) = a.tolist(), b.tolist()
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


def mended(side: Array, points: Array, wanted: Array) -> Array:
    """`side` (3,), perpendicular to `points`, after the shortest rotation from `points` to `wanted`; unit vectors."""
    both = points + wanted
    return side - both * (side @ wanted) / max(1.0 + points @ wanted, 1e-12)


def errors(goal: Goal, q: Array) -> Errors:
    """By what a configuration (n,) misses the goal."""
    arm = goal.arm
    position, matrix = kinematics(arm.name)(q)
    axis, side = goal.wanted()
    off = float(np.linalg.norm(position - goal.point))
    if axis is None:
        return off, math.nan, math.nan
    points = matrix @ arm.tool
    if side is None:
        return off, angle_between(points, axis), math.nan
    return off, angle_between(points, axis), angle_between(mended(matrix @ arm.side, points, axis), side)


@cache
def kinematics(name: str) -> Callable[[Array], tuple[Array, Array]]:
    """The forward kinematics of an arm by its name."""
    try:
        from benchmarks.nearest.pinned import Pinned
    except ImportError:
        return load(name).forward
    return Pinned(load(name)).forward


def outside(arm: Arm, q: Array) -> bool:
    """Whether a configuration (n,) breaks a limit, or is none."""
    if q.shape != (arm.n,) or not np.isfinite(q).all():
        return True
    return bool((q < arm.lower - LIMIT_SLACK).any() or (q > arm.upper + LIMIT_SLACK).any())


def verdict(mine: Errors, best: Errors, slack: Errors) -> tuple[str, str]:
    """("better" | "as good" | "worse", by which error): the first error that differs by more than its slack decides."""
    for name, a, b, by in zip(("position", "approach", "roll"), mine, best, slack):
        if math.isnan(b):
            break
        if abs(a - b) > by:
            return ("better" if a < b else "worse"), name
    return "as good", ""


def improves(mine: Errors, best: Errors, by: Errors = HELD) -> bool:
    """Whether an answer is better by more than `by`, while what counts more is held to HELD."""
    for a, b, least, held in zip(mine, best, by, HELD):
        if math.isnan(b) or a > b + held:
            return False
        if a < b - least:
            return True
    return False


def read_goals(path: Path = GOALS) -> list[Goal]:
    return [_goal(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def write_goals(goals: Iterable[Goal], path: Path = GOALS) -> None:
    text = "".join(_line(goal) + "\n" for goal in goals)
    path.write_text(text, encoding="utf-8")


def with_best(goal: Goal, q: Array, by: str, found: tuple[int, int] = (0, 0)) -> Goal:
    """The goal with q (n,), rounded as it is written, as the best answer known."""
    rounded = tuple(round(float(value), 10) for value in q)
    return replace(goal, best=Best(errors(goal, np.array(rounded)), rounded, by, found))


def _goal(row: dict[str, Any]) -> Goal:
    best = row.get("best")
    if best is not None:
        three = tuple(math.nan if value is None else value for value in best["errors"])
        best = Best(three, tuple(best["q"]), best["by"], tuple(best["found"]))
    wanted = {name: tuple(row[name]) for name in ("direction", "quaternion") if name in row}
    return Goal(row["id"], tuple(row["q0"]), tuple(row["position"]), best=best, **wanted)


def _line(goal: Goal) -> str:
    row: dict[str, Any] = {"id": goal.id, "position": goal.position}
    if goal.direction is not None:
        row["direction"] = goal.direction
    if goal.quaternion is not None:
        row["quaternion"] = goal.quaternion
    row["q0"] = goal.q0
    if goal.best is not None:
        three = [None if math.isnan(value) else round(value, 12) for value in goal.best.errors]
        row["best"] = {"errors": three, "q": goal.best.q, "by": goal.best.by, "found": goal.best.found}
    return json.dumps(row, separators=(",", ":"))
