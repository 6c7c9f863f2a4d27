"""plan_tip_path: straight lines of the tip through poses, as a motion of the joints."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ik_solver_ros.errors import GoalError, listed
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.quaternion import from_two_vectors, multiply, rotate
from ik_solver_ros.solvers.path import PathSolution, PathTolerances, solve_path
from ik_solver_ros.solvers.solution import SolverOptions
from ik_solver_ros.solvers.solve import DEFAULT_OPTIONS
from ik_solver_ros.trajectory.jog import joined
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.lines import TipPath, straight_lines
from ik_solver_ros.trajectory.timing import joint_curve, time_path
from ik_solver_ros.trajectory.trajectory import Trajectory

STEP = 2e-3  # [m] between samples of a path at first
HALVINGS = 3  # of the step, where the tip would stray between samples
MOST = 0.95  # of what the tip may stray by; the rest is for what quintics between points make of it


MODES = ("pose", "approach", "position")


@dataclass(frozen=True)
class PathOptions:
    """How the tip is led along its path. Raises GoalError for a mode that there is not."""

    mode: str = "pose"  # what of the poses counts, one of MODES
    deviation: float = 1e-3  # [m] by which the tip may stray from the lines
    angle: float = math.radians(0.5)  # [rad] by which the tool's direction may
    rounding: float = 0.0  # [m] by which corners may be missed; 0 stops at each
    speed: float = math.inf  # [m/s] the fastest that the tip may go

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise GoalError("mode", self.mode, f"one of {listed(MODES)} is wanted")


DEFAULT_PATH = PathOptions()


class TipMotion(NamedTuple):
    """How a path of the tip can be gone."""

    trajectory: Trajectory | None  # from rest to rest; None where not even a first part can be gone
    fraction: float  # of the path that it covers
    reason: str  # why not all of it; empty where it is all


def plan_tip_path(
    chain: Chain,
    start: Array,
    positions: npt.ArrayLike,
    quats_xyzw: npt.ArrayLike,
    limits: MotionLimits,
    path: PathOptions = DEFAULT_PATH,
    options: SolverOptions = DEFAULT_OPTIONS,
) -> TipMotion:
    """Straight lines from where the tip is at `start` (n,), at rest, through all poses in base_link: positions (k, 3)
    [m] and quats_xyzw (k, 4). What comes after a part that the arm cannot do is left out.

    Raises GoalError for poses that are not finite.
    """
    tip, quat = chain.forward(start)
    p = np.vstack([tip, np.asarray(positions, dtype=float).reshape(-1, 3)])
    r = np.vstack([quat, np.asarray(quats_xyzw, dtype=float).reshape(-1, 4)])
    if path.mode == "position":
        r = np.tile(quat, (len(p), 1))
    elif path.mode == "approach" and np.isfinite(r).all():
        # The shortest turns that aim the tool: how the poses are rolled does not count.
        for i in range(1, len(r)):
            towards = rotate(r[i] / np.linalg.norm(r[i]), chain.tool_axis)
            r[i] = multiply(from_two_vectors(rotate(r[i - 1], chain.tool_axis), towards), r[i - 1])
    step = STEP
    for _ in range(HALVINGS + 1):
        lines = straight_lines(p, r, step=step, rounding=path.rounding)
        solved = _solved(chain, start, lines, path, options)
        kept = [_keeps(chain, limits, line, found.q, path) for line, found in zip(lines, solved)]
        if all(one.all() for one in kept):
            break
        step *= 0.5
    total = sum(line.s[-1] for line in lines)
    parts, done, reason = [], 0.0, ""
    for line, found, good in zip(lines, solved, kept):
        count, reason = len(found.q), found.reason
        while not good.all():  # the curve through fewer samples is another one near its end
            count = int(np.argmin(good)) + 1
            good = _keeps(chain, limits, line, found.q[:count], path)
            reason = "between two answers the tip would stray from the line: the arm comes to a singular posture"
        if count >= 2:
            parts.append(time_path(line.s[:count], found.q[:count], limits, path.speed))
            done += line.s[count - 1]
        if reason:
            break
    fraction = 1.0 if not reason else done / total
    return TipMotion(joined(parts) if parts else None, fraction, reason)


def _solved(
    chain: Chain, start: Array, lines: list[TipPath], path: PathOptions, options: SolverOptions
) -> list[PathSolution]:
    """The lines, one after another, up to the first one that the arm cannot do to its end."""
    tolerances = PathTolerances(0.5 * path.deviation, MOST * path.angle)
    q, out = start, []
    for line in lines:
        if path.mode == "position":
            directions, quats = None, None
        elif path.mode == "approach":
            directions, quats = np.array([rotate(quat, chain.tool_axis) for quat in line.quats_xyzw]), None
        else:
            directions, quats = None, line.quats_xyzw
        found = solve_path(chain, line.positions, directions, quats, q, tolerances=tolerances, options=options)
        out.append(found)
        if not found.complete:
            break
        q = found.q[-1]
    return out


def _keeps(chain: Chain, limits: MotionLimits, line: TipPath, q: Array, path: PathOptions) -> npt.NDArray[np.bool_]:
    """Whether the tip keeps to the line, and the tool to its direction, between the samples q (m, n): (m - 1,)."""
    count = len(q)
    if count < 2:
        return np.ones(0, dtype=bool)
    s = line.s[:count]
    frames = [chain.forward(row) for row in joint_curve(s, q, limits)(0.5 * (s[:-1] + s[1:]))]
    wanted = 0.5 * (line.positions[: count - 1] + line.positions[1:count])
    offset = np.linalg.norm([p for p, _ in frames] - wanted, axis=1)
    near = np.asarray(offset <= MOST * path.deviation)
    if path.mode == "position":
        return near
    tools = np.array([rotate(quat, chain.tool_axis) for quat in line.quats_xyzw[:count]])
    between = tools[:-1] + tools[1:]
    along = np.einsum("ij,ij->i", [rotate(quat, chain.tool_axis) for _, quat in frames], between)
    turned = np.arccos(np.clip(along / np.linalg.norm(between, axis=1), -1.0, 1.0))
    return np.asarray(near & (turned <= MOST * path.angle))
