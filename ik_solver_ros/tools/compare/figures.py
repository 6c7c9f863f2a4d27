"""What was measured, as pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, PercentFormatter

from ik_solver_ros.tools.compare.measure import OUT, PAST, RATE, SETTLED, STEPS, STRETCH, Results
from ik_solver_ros.tools.compare.stretch import stretch_errors

DPI = 100
SLOWEST = 0.2  # [rad/s] that is drawn of those who do not move at all
COLORS = {
    "ccdik": "#1a7f37",
    "ccdik_published": "#7cc36a",
    "ccd": "#0b5394",
    "ccd_alternative": "#6fa8dc",
    "fabrik": "#b45f06",
    "jacobian_transpose": "#990000",
    "jacobian_transpose_fixed": "#e06666",
    "jacobian_pinv": "#674ea7",
    "dls": "#111111",
    "autodiff": "#c27ba0",
    "analytic": "#f1c232",
    "scipy": "#76a5af",
    "pybullet": "#999999",
}
WIDTHS = {"ccdik": 3.0, "ccdik_published": 2.2}
LINES = {"jacobian_transpose_fixed": "--", "ccd_alternative": "--", "scipy": ":", "pybullet": ":"}


def draw(results: Results, directory: Path) -> list[Path]:
    """Write the pictures into a directory; returns where they are."""
    directory.mkdir(parents=True, exist_ok=True)
    pictures = {
        "solved": _solved,
        "joints": _joints,
        "convergence": _convergence,
        "paths": _paths,
        "stretch": _stretch,
    }
    out = []
    for name, picture in pictures.items():
        path = directory / f"compare_{name}.png"
        picture(results).savefig(path, dpi=DPI)
        out.append(path)
    return out


def _style(solver: str) -> dict[str, Any]:
    return {
        "color": COLORS.get(solver, "0.5"),
        "linewidth": WIDTHS.get(solver, 1.5),
        "linestyle": LINES.get(solver, "-"),
        "label": solver,
    }


def _solved(results: Results) -> Figure:
    """A map of the fractions reached: solvers down, arms across, loose and tight, points and approaches."""
    run, arms = results.solvers, results.arms
    figure = Figure(figsize=(14.0, 9.5), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    titles = {"loose": "to 1 mm (0.5 deg)", "tight": "to 1e-6 m (1e-6 rad)"}
    for row, kind in enumerate(("point", "approach")):
        for column, (which, title) in enumerate(titles.items()):
            axes = panels[row, column]
            fractions = np.full((len(run), len(arms)), np.nan)
            for i, solver in enumerate(run):
                for k, arm in enumerate(arms):
                    cell = results.cells.get((solver, arm, kind))
                    if cell is not None:
                        fractions[i, k] = getattr(cell, which)
                        dark = 0.25 < fractions[i, k] < 0.85
                        axes.text(
                            k,
                            i,
                            f"{100 * fractions[i, k]:.0f}",
                            ha="center",
                            va="center",
                            fontsize=8.5,
                            color="black" if dark else "white",
                        )
            axes.imshow(fractions, cmap="RdYlGn", vmin=0.0, vmax=1.0, aspect="auto")
            axes.set_title(f"{'points' if kind == 'point' else 'approaches'} reached {title} [%]", fontsize=10)
            axes.set_xticks(range(len(arms)), arms, rotation=40, ha="right", fontsize=9)
            axes.set_yticks(range(len(run)), run, fontsize=9)
            axes.set_facecolor("0.93")
    return figure


def _joints(results: Results) -> Figure:
    """Time, and fraction of points reached, over the number of joints."""
    figure = Figure(figsize=(12.5, 4.8), layout="constrained")
    time, reached = figure.subplots(1, 2)
    counts = sorted({int(arm.split()[0]) for _, arm, _ in results.cells if arm.endswith("joints")})
    for solver in results.solvers:
        known = [(n, results.cells.get((solver, f"{n} joints", "point"))) for n in counts]
        cells = {n: cell for n, cell in known if cell is not None}
        if cells:
            style = {"marker": "o", "markersize": 3.5, **_style(solver)}
            time.loglog(list(cells), [1e6 * cell.time for cell in cells.values()], **style)
            reached.plot(list(cells), [cell.loose for cell in cells.values()], **style)
    time.set_ylabel("median time of a point to 1 mm [us]")
    reached.set_ylabel("points reached to 1 mm")
    reached.yaxis.set_major_formatter(PercentFormatter(1.0))
    reached.set_xscale("log")
    for axes in (time, reached):
        axes.set_xticks(counts, [str(n) for n in counts])
        axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
        axes.set_xlabel("joints")
        axes.grid(alpha=0.3)
    reached.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def _convergence(results: Results) -> Figure:
    """Median error over the iterations that are allowed, from random starts."""
    names = list(dict.fromkeys(arm for _, arm in results.convergence))
    figure = Figure(figsize=(12.5, 4.8), layout="constrained")
    panels = np.atleast_1d(figure.subplots(1, len(names), sharey=True))
    for axes, arm in zip(panels, names):
        for solver in results.solvers:
            if (solver, arm) in results.convergence:
                error = np.maximum(results.convergence[solver, arm], 1e-17)
                axes.loglog(STEPS, error, marker="o", markersize=3, **_style(solver))
        axes.set_title(f"{arm}: from a random start, no new ones", fontsize=10)
        axes.set_xlabel("iterations allowed")
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("median distance of the tip from the goal [m]")
    panels[-1].legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def _paths(results: Results) -> Figure:
    """The fastest joint along the three paths."""
    figure = Figure(figsize=(13.0, 9.0), layout="constrained")
    panels = figure.subplots(3, 2, width_ratios=(1.5, 1.0))
    run = results.solvers
    for row, path in enumerate((PAST, STRETCH, OUT)):
        over, peak = panels[row]
        for solver in run:
            speed = results.sweeps[solver, path].joint_speed[0, SETTLED:]
            over.semilogy((SETTLED + np.arange(len(speed))) / RATE, np.maximum(speed, 1e-3), **_style(solver))
        peaks = [max(results.sweeps[solver, path].peak, SLOWEST) for solver in run]
        peak.bar(range(len(run)), peaks, color=[COLORS.get(solver, "0.5") for solver in run])
        for i, solver in enumerate(run):
            if path != OUT:
                missed = results.sweeps[solver, path].missed
                peak.text(i, peaks[i] * 1.1, f"{100 * missed:.0f}%", ha="center", fontsize=7.5)
        peak.set_yscale("log")
        peak.yaxis.set_minor_formatter(NullFormatter())
        peak.set_ylim(0.8 * SLOWEST, 4.0 * max(peaks))
        over.set_title(f"{path}, from one start", fontsize=10)
        over.set_ylabel("fastest joint [rad/s]")
        over.set_xlabel("time [s]")
        over.set_ylim(bottom=1e-2)
        over.grid(alpha=0.3)
        title = "the fastest, of all starts" + ("" if path == OUT else "; above: frames more than 1 mm off")
        peak.set_title(title, fontsize=10)
        peak.set_xticks(range(len(run)), run if row == 2 else [""] * len(run), rotation=60, ha="right", fontsize=8)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), fontsize=9, ncols=7, loc="outside upper center")
    return figure


def _stretch(results: Results) -> Figure:
    """Digits near full stretch, by both forms of the law of cosines."""
    true, half, cosine = stretch_errors()
    figure = Figure(figsize=(7.5, 4.6), layout="constrained")
    axes = figure.subplots()
    floor = 1e-18
    axes.loglog(true, np.maximum(cosine, floor), ".", color="#990000", label="arc cosine")
    axes.loglog(true, np.maximum(half, floor), ".", color="#1a7f37", label="half angle")
    axes.axhline(1e-9, color="0.5", linewidth=1.0, linestyle="--")
    axes.set_xlabel("bend of the elbow, 0 is stretched [rad]")
    axes.set_ylabel("error of the bend [rad]")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure
