"""Where the tip can be, and how freely the tool can be aimed there: a picture."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from scipy.spatial import cKDTree

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.quaternion import rotate
from ik_solver_ros.solvers.batch import BatchSolution, solve_batch
from ik_solver_ros.solvers.solution import SolverOptions

CELLS = 56  # of a picture, each way
FAN, SPHERE = 36, 48  # directions that are tried at each place, at most: within the arm's plane, or all round
WITHIN = 1e-3, math.radians(2.0)  # [m], [rad] that count as reached
BUDGET, PILOT, FEWEST = 7.0, 24, 8  # [s] for a slice; goals by which it is estimated; directions at the least
# Many directions cannot be had, and a full search for them takes minutes. What is found from the nearest of the samples
# and, where that fails, by a few restarts, is as much within 1 %, or more.
SAMPLES, ONCE, BRIEF = 20_000, SolverOptions(max_restarts=0), SolverOptions(max_restarts=3, max_iterations=30)
IN_PLANE = 0.1  # sine of the angle between the tool and the arm's plane, by which it may be off for its offsets


class Slice(NamedTuple):
    """Places in a plane, and the fraction of directions that the tool can have there; nan where the tip cannot be."""

    across: Array  # (c,) [m]
    up: Array  # (c,) [m]
    fraction: Array  # (c, c), rows by `up`
    names: tuple[str, str]


class _Samples:
    """The arm in postures at random: where the tip is then, and where the tool points."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._q = np.random.default_rng(0).uniform(*chain.finite_limits, (SAMPLES, chain.n))
        poses = [chain.forward(q) for q in self._q]
        self.tips = np.array([p for p, _ in poses])
        self._scale = max(float(np.linalg.norm(self.tips.std(axis=0))), 1e-6)
        directions = np.array([rotate(quat, chain.tool_axis) for _, quat in poses])
        self._tree = cKDTree(np.hstack([self.tips / self._scale, directions]))

    def reached(self, places: Array, directions: Array) -> npt.NDArray[np.bool_]:
        """Whether the tool can have each direction (m, 3) at its place (m, 3), from two starts: (m,)."""
        _, nearest = self._tree.query(np.hstack([places / self._scale, directions]))
        good = _good(solve_batch(self.chain, places, directions, q0=self._q[nearest], options=ONCE))
        rest = np.flatnonzero(~good)
        good[rest] = _good(solve_batch(self.chain, places[rest], directions[rest], options=BRIEF))
        return good


def reachable(chain: Chain, progress: Callable[[float], None] = lambda _: None) -> list[Slice]:
    """The arm's vertical plane, and the level of its middle. progress: called with the fraction that is done."""
    samples = _Samples(chain)
    tips = samples.tips
    low, high = tips.min(axis=0), tips.max(axis=0)
    span = 0.55 * float((high - low).max())
    middle = 0.5 * (low + high)
    steps = np.linspace(-span, span, CELLS)
    level = float(np.median(tips[:, 2]))
    grid = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    side = np.column_stack([middle[0] + grid[:, 0], np.zeros(len(grid)), middle[2] + grid[:, 1]])
    top = np.column_stack([middle[0] + grid[:, 0], middle[1] + grid[:, 1], np.full(len(grid), level)])
    out = []
    for k, (places, names) in enumerate(((side, ("x", "z")), (top, ("x", "y")))):
        fraction = _fractions(samples, places, progress, 0.5 * k)
        i, j = "xyz".index(names[0]), "xyz".index(names[1])
        out.append(Slice(middle[i] + steps, middle[j] + steps, fraction.reshape(CELLS, CELLS), names))
    return out


def draw_reachable(chain: Chain, slices: list[Slice], path: Path) -> None:
    """Draw them into a PNG, PDF or SVG, as the name of `path` says."""
    matplotlib.use("Agg")
    figure = Figure(figsize=(12.0, 5.6), layout="constrained")
    most = 100.0 * max(float(np.nanmax(piece.fraction, initial=0.01)) for piece in slices)
    titles = "from the side (y = 0)", "from above"
    for k, piece in enumerate(slices):
        axis = figure.add_subplot(1, 2, k + 1)
        image = axis.pcolormesh(piece.across, piece.up, 100.0 * piece.fraction, cmap="viridis", vmin=0.0, vmax=most)
        axis.set_aspect("equal")
        axis.set_facecolor("0.93")
        axis.plot(0.0, 0.0, "k+", markersize=9)
        axis.set_xlabel(f"{piece.names[0]} [m]")
        axis.set_ylabel(f"{piece.names[1]} [m]")
        axis.set_title(titles[k], fontsize=10)
    which = "of the directions within the arm's vertical plane" if _planar(chain) else "of all directions"
    figure.colorbar(image, ax=figure.axes, label=f"share {which} that the tool can have [%]")
    figure.suptitle(f"{chain.model.name}: where {chain.tip_link!r} can be; grey: nowhere (+ is {chain.base_link!r})")
    figure.savefig(path, dpi=110)


def _planar(chain: Chain) -> bool:
    """Whether the tool stays in the vertical plane through the first joint and the tip."""
    if chain.direction_rank == 5 or chain.arrays.slides[0]:
        return False
    rng, off = np.random.default_rng(0), []
    for q in rng.uniform(*chain.finite_limits, (64, chain.n)):
        p, quat = chain.forward(q)
        _, origins, axes = chain.joint_frames(q)
        if abs(axes[0][2]) < 1.0 - IN_PLANE:
            return False
        across = np.cross([0.0, 0.0, 1.0], p - origins[0])
        off.append(abs(rotate(quat, chain.tool_axis) @ across) / max(float(np.linalg.norm(across)), 1e-9))
    return bool(np.median(off) < IN_PLANE)


def _fractions(samples: _Samples, places: Array, progress: Callable[[float], None], begin: float) -> Array:
    """Of (m, 3) places, the fraction of directions that the tool can have there (m,); nan out of reach."""
    fraction = np.full(len(places), np.nan)
    inside = np.flatnonzero(solve_batch(samples.chain, places).position_error < WITHIN[0])
    pieces = np.array_split(inside, max(1, len(inside) // 100))
    planar = _planar(samples.chain)
    pilot = inside[:: max(1, len(inside) // PILOT)]
    began = time.perf_counter()
    _shares(samples, places[pilot], planar, FEWEST)
    each = (time.perf_counter() - began) / max(1, len(pilot) * FEWEST)
    affordable = int(BUDGET / (each * max(1, len(inside)))) if each > 0.0 else SPHERE
    count = min(FAN if planar else SPHERE, max(FEWEST, affordable))
    for done, piece in enumerate(pieces):
        fraction[piece] = _shares(samples, places[piece], planar, count)
        progress(begin + 0.5 * (done + 1) / len(pieces))
    return fraction


def _shares(samples: _Samples, places: Array, planar: bool, count: int) -> Array:
    """The fraction of `count` directions that the tool can have at each of (m, 3) places, (m,)."""
    directions = _fans(samples.chain, places, count) if planar else np.tile(_sphere(count), (len(places), 1, 1))
    good = samples.reached(np.repeat(places, count, axis=0), directions.reshape(-1, 3))
    return np.asarray(good.reshape(-1, count).mean(axis=1))


def _good(found: BatchSolution) -> npt.NDArray[np.bool_]:
    return np.asarray((found.position_error < WITHIN[0]) & (found.approach_error < WITHIN[1]))


def _fans(chain: Chain, places: Array, count: int) -> Array:
    """Directions in the vertical plane through the first joint and each place, (m, count, 3)."""
    first = chain.model.transform(chain.base_link, chain.model.joints[chain.joint_names[0]].child, {})[:3, 3]
    out = places[:, :2] - first[:2]
    out /= np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-9)
    angles = np.linspace(0.0, 2.0 * math.pi, count, endpoint=False)
    level = out[:, None, :] * np.cos(angles)[None, :, None]
    height = np.broadcast_to(np.sin(angles)[None, :, None], (len(places), count, 1))
    return np.concatenate([level, height], axis=2)


def _sphere(count: int) -> Array:
    """Directions evenly all round (count, 3): a Fibonacci lattice."""
    k = np.arange(count) + 0.5
    z, turn = 1.0 - 2.0 * k / count, math.pi * (1.0 + math.sqrt(5.0)) * k
    radius = np.sqrt(1.0 - z * z)
    return np.column_stack([radius * np.cos(turn), radius * np.sin(turn), z])
