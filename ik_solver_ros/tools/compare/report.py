"""What was measured, as a page of Markdown."""

from __future__ import annotations

from collections.abc import Callable

from ik_solver_ros.tools.compare.claims import CLAIMS, COLUMNS, findings
from ik_solver_ros.tools.compare.code_lines import lines_of
from ik_solver_ros.tools.compare.measure import BALLS, OUT, PAST, RESTARTS, STARTS, STRETCH, Cell, Results


def report(results: Results) -> str:
    """The page; its pictures are those of `figures.draw`."""
    run, arms = results.solvers, results.arms
    out = [
        "# What was measured",
        "",
        f"Written by `python -m ik_solver_ros compare` ({results.seconds:.0f} s, {results.goals} goals an arm and a "
        f"kind, 100 iterations a start, {RESTARTS} new starts).",
        "Goals are where the tip is at random configurations inside the limits; the search starts in the middle of the",
        "ranges. Times are medians of calls of `solve()` from Python, on one core. A dash: the solver does not take",
        "that arm, or serves no directions.",
        "",
    ]
    for solver, package in results.missing.items():
        out += [f"**{solver} was not run:** {package} is not installed.", ""]
    if findings(results):
        out += ["## The claims", "", *_claims(results), ""]
    out += ["## Points reached", "", "Share at 1 mm, and at 1e-6 m, in %.", ""]
    out += _table(results, run, arms, "point", lambda c: f"{100 * c.loose:.0f} / {100 * c.tight:.0f}")
    out += ["", "## Approaches reached", "", "Share at 1 mm and 0.5 deg, and at 1e-6 m and 1e-6 rad, in %.", ""]
    out += _table(results, run, arms, "approach", lambda c: f"{100 * c.loose:.0f} / {100 * c.tight:.0f}")
    out += ["", "## Time for a point", "", "Median of a call [us] at 1 mm, goals that were missed included.", ""]
    out += _table(results, run, arms, "point", lambda c: f"{1e6 * c.time:.0f}")
    out += ["", "## Time for an approach", "", "Median of a call [us] at 1 mm and 0.5 deg.", ""]
    out += _table(results, run, arms, "approach", lambda c: f"{1e6 * c.time:.0f}")
    out += ["", "## Iterations for a point", "", "Median, at 1 mm. PyBullet tells no number: those it was allowed.", ""]
    out += _table(results, run, arms, "point", lambda c: f"{c.iterations:.0f}")
    out += ["", "## Limits, hinges, lines", "", *_special(results, run)]
    out += ["", "## Paths", "", *_paths(results, run), ""]
    return "\n".join(out)


def _claims(results: Results) -> list[str]:
    found = findings(results)
    columns = [column for column in COLUMNS if (next(iter(CLAIMS)), column) in found]
    out = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for row, claims in CLAIMS.items():
        said = dict(zip(COLUMNS, claims))
        cells = [f"{said[c]} — **{found[row, c].verdict}**: {found[row, c].text}" for c in columns]
        out.append(f"| {row} | " + " | ".join(cells) + " |")
    return out


def _table(results: Results, run: list[str], arms: list[str], kind: str, show: Callable[[Cell], str]) -> list[str]:
    out = ["| solver | " + " | ".join(arms) + " |", "|---" * (len(arms) + 1) + "|"]
    for solver in run:
        cells = [results.cells.get((solver, arm, kind)) for arm in arms]
        if any(cells):
            out.append(f"| {solver} | " + " | ".join(show(c) if c else "-" for c in cells) + " |")
    return out


def _special(results: Results, run: list[str]) -> list[str]:
    out = [
        "Answers outside the limits before they were clamped; by how much the solver's own points lay off what the "
        "hinges allow (median of the worst arm); lines of code of the solver's file, and of those that it builds on.",
        "",
        "| solver | outside limits | off the hinges | lines | beneath |",
        "|---|---|---|---|---|",
    ]
    for solver in run:
        cells = [cell for (s, _, _), cell in results.cells.items() if s == solver]
        outside, offset = max(cell.outside for cell in cells), max(cell.off_hinges for cell in cells)
        own, shared = lines_of(solver)
        out.append(f"| {solver} | {outside:.0%} at most | {1e3 * offset:.1f} mm | {own} | {shared or '-'} |")
    out += [f"\n{solver} refuses {arm}: {why}." for (solver, arm), why in results.refused.items()]
    return out


def _paths(results: Results, run: list[str]) -> list[str]:
    out = [
        "A point goal every 20 ms along a line at 0.1 m/s (out of reach: round the arm), each solved from the answer "
        f"before, without new starts, on an arm of five hinges and 1 m; from {STARTS} postures near the first. Share "
        "of frames with the tip more than 1 mm off, and the fastest joint [rad/s], the median of the starts. Out of "
        "reach every frame is off; a calm answer needs 0.5 rad/s there.",
        "",
        f"| solver | {PAST} | {STRETCH} | {BALLS} | {OUT} |",
        "|---|---|---|---|---|",
    ]
    for solver in run:
        cells = []
        for path in (PAST, STRETCH, BALLS, OUT):
            sweep = results.sweeps.get((solver, path))
            missed = "" if sweep is None or path == OUT else f"{sweep.missed:.0%}, "
            cells.append("-" if sweep is None else f"{missed}{sweep.peak:.1f}")
        out.append(f"| {solver} | " + " | ".join(cells) + " |")
    return out
