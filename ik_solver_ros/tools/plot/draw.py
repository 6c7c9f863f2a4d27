"""Pictures of a run: joints over time, and the way of the tip."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from ik_solver_ros.control.run_record import Run
from ik_solver_ros.errors import RecordError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.session.outcome import Outcome
from ik_solver_ros.trajectory.trajectory import State

RATE = 0.002  # [s] between samples of what was commanded
MOST = 20_000  # samples of it
ROWS = ("position", "velocity", "acceleration")
MARKS = {
    Outcome.REFUSED.name: "tab:red",
    Outcome.MISSED.name: "tab:red",
    Outcome.REPLACED.name: "0.6",
    Outcome.EXECUTED.name: "tab:green",
}


def draw_run(run: Run, path: Path, begin: float = 0.0, end: float = np.inf) -> None:
    """Draw what happened between `begin` and `end` [s] into a PNG, PDF or SVG, as the name of `path` says.

    Lines are what was commanded, dots what was measured. Raises RecordError where nothing happened then.
    """
    end = min(end, run.duration)
    if not begin < end:
        raise RecordError(f"nothing is on record from {begin:g} s on; the run is {run.duration:.3g} s long")
    times = np.arange(0.0, end, max(RATE, end / MOST))
    commanded = State(*(column[times >= begin] for column in run.commanded(times)))
    times = times[times >= begin]
    measured = (run.times >= begin) & (run.times <= end)

    matplotlib.use("Agg")
    figure = Figure(figsize=(13.0, 8.0), layout="constrained")
    grid = figure.add_gridspec(6, 2, width_ratios=(2.2, 1.0))
    axes: list[Any] = []
    for row, (what, values) in enumerate(zip(ROWS, commanded)):
        axis = figure.add_subplot(grid[2 * row : 2 * row + 2, 0], sharex=axes[0] if axes else None)
        for i, name in enumerate(run.chain.joint_names):
            axis.plot(times, values[:, i], color=f"C{i}", linewidth=1.2, label=name)
            seen = {"position": run.positions, "velocity": run.velocities}.get(what)
            if seen is not None:
                axis.plot(run.times[measured], seen[measured, i], ".", color=f"C{i}", markersize=2.0, alpha=0.5)
        axis.set_ylabel(f"{what} [{_unit(run, row)}]")
        axis.grid(alpha=0.3)
        axes.append(axis)
    _mark_events(run, axes, begin, end)
    axes[0].legend(loc="upper left", ncols=run.chain.n, fontsize=8, frameon=False, bbox_to_anchor=(0.0, 1.17))
    axes[-1].set_xlabel("time [s]; lines: commanded, dots: measured")

    ways = {"commanded": _tips(run, commanded.position), "measured": _tips(run, run.positions[measured])}
    for rows, (x, y) in ((slice(0, 3), (0, 1)), (slice(3, 6), (0, 2))):
        axis = figure.add_subplot(grid[rows, 1])
        axis.plot(ways["commanded"][:, x], ways["commanded"][:, y], color="tab:blue", linewidth=1.2, label="commanded")
        axis.plot(
            ways["measured"][:, x], ways["measured"][:, y], ".", color="tab:orange", markersize=2.0, label="measured"
        )
        for way in ways.values():
            if len(way):
                axis.plot(*way[0, [x, y]], "o", color="0.3", markersize=5, fillstyle="none")
                axis.plot(*way[-1, [x, y]], "s", color="0.3", markersize=5, fillstyle="none")
        axis.set_xlabel(f"{'xyz'[x]} [m]")
        axis.set_ylabel(f"{'xyz'[y]} [m]")
        axis.set_aspect("equal", adjustable="datalim")
        axis.grid(alpha=0.3)
    figure.axes[3].set_title(f"the tip, from above and from the side ({run.chain.base_link})", fontsize=9)
    figure.axes[3].legend(fontsize=8, frameon=False)
    figure.savefig(path, dpi=110)


def _mark_events(run: Run, axes: list[Any], begin: float, end: float) -> None:
    """A line where a goal came, or was done with, and its outcome at the foot of it."""
    foot = {"xycoords": ("data", "axes fraction"), "rotation": 90, "fontsize": 6, "va": "bottom", "ha": "right"}
    for when, outcome, _ in run.events:
        if begin <= when <= end and outcome != "ACCEPTED":
            color = MARKS.get(outcome, "tab:blue")
            for axis in axes:
                axis.axvline(when, color=color, linewidth=0.7, alpha=0.5, zorder=0)
            axes[-1].annotate(outcome.lower(), (when, 0.02), color=color, **foot)


def _tips(run: Run, positions: Array) -> Array:
    """Where the tip was, (k, 3), for joint positions (k, n) as far as these are known."""
    known = positions[np.isfinite(positions).all(axis=1)]
    return np.array([run.chain.forward(q)[0] for q in known]).reshape(-1, 3)


def _unit(run: Run, order: int) -> str:
    kinds = {run.chain.model.joints[name].type for name in run.chain.joint_names}
    length = "m" if kinds == {"prismatic"} else "rad" if "prismatic" not in kinds else "rad or m"
    return length + ("", "/s", "/s$^2$")[order]
