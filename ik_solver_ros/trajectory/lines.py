"""Straight lines of the tip through poses, its orientation turned evenly along each, corners kept or rounded.

The path coordinate s is the length of the way, or LEVER times the turn where that is more: both then change smoothly
with s. A corner is rounded by averaging the path over a window that slides along it (a cubic B-spline), which leaves
straight parts as they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation, Slerp

from ik_solver_ros.errors import GoalError
from ik_solver_ros.kinematics.arrays import Array

LEVER = 0.1  # [m] a turn of 1 rad counts as so much of a way
SAME = 1e-6  # [m] poses nearer than this are one
STEPS = 12  # bisections for the width of the window


class TipPath(NamedTuple):
    """m poses of the tip along a path that is gone through without a stop."""

    s: Array  # (m,) [m] from 0 on, strictly increasing
    positions: Array  # (m, 3) [m]
    quats_xyzw: Array  # (m, 4)


def straight_lines(
    positions: npt.ArrayLike, quats_xyzw: npt.ArrayLike, *, step: float = 2e-3, rounding: float = 0.0
) -> list[TipPath]:
    """The way through the poses, positions (k, 3) [m] and quats_xyzw (k, 4), sampled at most `step` [m] apart.

    rounding: by how much [m] the tip may miss a corner so as not to stop there (LEVER scales it for the orientation).
    With 0 the tip stops at every pose, and each line is a path of its own; else all is one path. Poses that
    follow one another at the same place are taken for one; no path is left where all are. Raises GoalError.
    """
    p, r = np.asarray(positions, dtype=float), np.asarray(quats_xyzw, dtype=float)
    if p.ndim != 2 or p.shape[1] != 3 or r.shape != (len(p), 4):
        raise GoalError("path", (p.shape, r.shape), "positions (k, 3) and quaternions (k, 4) are wanted")
    if not (np.isfinite(p).all() and np.isfinite(r).all()):
        bad = int(np.argmin(np.isfinite(p).all(axis=1) & np.isfinite(r).all(axis=1)))
        raise GoalError(f"pose {bad} of the path", [*p[bad].tolist(), *r[bad].tolist()], "finite numbers are wanted")
    if not np.isfinite(step) or step <= 0.0:
        raise GoalError("step", step, "a positive length in m is wanted")
    turns = Rotation.from_quat(r)
    ways = np.linalg.norm(np.diff(p, axis=0), axis=1)
    ways = np.maximum(ways, LEVER * (turns[:-1].inv() * turns[1:]).magnitude()) if len(p) > 1 else ways
    kept = np.concatenate([[True], ways > SAME])
    corners = np.concatenate([[0.0], np.cumsum(ways[ways > SAME])])
    p, turns = p[kept], turns[kept]
    if len(p) < 2:
        return []
    if rounding > 0.0 and len(p) > 2:
        return [_rounded(corners, p, turns, step, rounding)]
    return [_sampled(corners[i : i + 2] - corners[i], p[i : i + 2], turns[i : i + 2], step) for i in range(len(p) - 1)]


def _sampled(corners: Array, p: Array, turns: Rotation, step: float) -> TipPath:
    count = max(8, int(np.ceil(corners[-1] / step)) + 1)
    s = np.linspace(0.0, corners[-1], count)
    positions = np.column_stack([np.interp(s, corners, p[:, k]) for k in range(3)])
    quats = Slerp(corners, turns)(s).as_quat()
    flips = np.cumprod(np.sign(np.concatenate([[1.0], np.sum(quats[1:] * quats[:-1], axis=1)])) + 0.0)
    return TipPath(s, positions, quats * np.where(flips == 0.0, 1.0, flips)[:, np.newaxis])


def _rounded(corners: Array, p: Array, turns: Rotation, step: float, rounding: float) -> TipPath:
    """The path averaged over the widest window that takes the tip no farther than `rounding` from where it was."""
    fine = _sampled(corners, p, turns, min(step, rounding / 3.0, corners[-1] / 64.0))
    values = np.hstack([fine.positions, fine.quats_xyzw])
    spacing = fine.s[1]
    narrow, wide = 0, len(fine.s) // 4
    best = values
    for _ in range(STEPS):
        if wide - narrow <= 1:
            break
        half = (narrow + wide) // 2
        smooth = _averaged(values, half)
        off = np.linalg.norm(smooth[:, :3] - values[:, :3], axis=1)
        cosine = np.sum(smooth[:, 3:] * values[:, 3:], axis=1) / np.linalg.norm(smooth[:, 3:], axis=1)
        turned = 2.0 * LEVER * np.arccos(np.clip(cosine, -1.0, 1.0))
        if max(off.max(), turned.max()) <= rounding:
            narrow, best = half, smooth
        else:
            wide = half
    # It has no features that are smaller than the window, so not all of the samples are needed.
    stride = max(1, int(min(step, narrow * spacing / 4.0) / spacing))
    kept = np.unique([*range(0, len(best), stride), len(best) - 1])
    best = best[kept]
    quats = best[:, 3:] / np.linalg.norm(best[:, 3:], axis=1)[:, np.newaxis]
    return TipPath(kept * spacing, best[:, :3], quats)


def _averaged(values: Array, half: int) -> Array:
    """Rows (m, k) averaged over `half` of them on either side, weighed by a cubic B-spline; the ends stay."""
    u = 2.0 * np.abs(np.arange(-half, half + 1)) / (half + 1)
    weights = np.where(u < 1.0, 2.0 / 3.0 - u**2 + 0.5 * u**3, (2.0 - u) ** 3 / 6.0)
    weights /= weights.sum()
    # Beyond its ends the path goes straight on.
    before = 2.0 * values[0] - values[half:0:-1]
    after = 2.0 * values[-1] - values[-2 : -half - 2 : -1]
    padded = np.vstack([before, values, after])
    return np.column_stack([np.convolve(column, weights, mode="valid") for column in padded.T])
