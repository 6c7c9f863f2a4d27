"""The table of claims that this comparison is about, and what was measured of each.

Source of the claims: J. Selstad, "Inverse Kinematics" (zalo.github.io, 2019), "Properties of Various IK Algorithms".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ik_solver_ros.tools.compare.code_lines import lines_of
from ik_solver_ros.tools.compare.measure import BALLS, NEAR, OUT, PAST, STRETCH, Results

COLUMNS = {
    "Analytic": "analytic",
    "Automatic Differentiation": "autodiff",
    "Jacobian Transpose": "jacobian_transpose",
    "FABRIK": "fabrik",
    "Quaternion CCDIK": "ccdik_published",
}
CLAIMS = {
    "Implementation Complexity?": ("Extremely Complex", "Hard", "Hard", "Easy", "Easy"),
    "Speed": ("Extremely Fast", "Slow To Converge", "Slow To Converge", "Fast", "Fast"),
    "Hinge Joints": ("Only Hinges?", "Yes", "Yes", "No!", "Yes"),
    "Joint Limits": ("Difficult", "Yes", "No", "Conical Limits", "Yes"),
    "Hits Singularities": ("Never", "Often", "Often", "Never (w/out hinges)", "Rarely (often anneals through them)"),
    "Convergence Behaviour": (
        "Instant",
        "Stable",
        "Stable",
        "Very Well Behaved",
        "Well Behaved across short distances",
    ),
    "Number of Joints": ("Max ~5", "Arbitrary", "Arbitrary", "Arbitrary", "Arbitrary"),
}
AGREES, PARTLY, DISAGREES = "agrees", "partly", "disagrees"
FEW = ("so101", "seed_arm", "5 joints")  # arms of five hinges
MANY = "20 joints"


class Finding(NamedTuple):
    """What was measured of a claim."""

    text: str
    verdict: str


def findings(results: Results) -> dict[tuple[str, str], Finding]:
    """Row and column of the table: what was measured. A solver that was not run has none."""
    rows: dict[str, Callable[[Results, str, str], Finding]] = {
        "Implementation Complexity?": _complexity,
        "Speed": _speed,
        "Hinge Joints": _hinges,
        "Joint Limits": _limits,
        "Hits Singularities": _singularities,
        "Convergence Behaviour": _convergence,
        "Number of Joints": _joints,
    }
    return {
        (row, column): rows[row](results, solver, claim)
        for row, claims in CLAIMS.items()
        for (column, solver), claim in zip(COLUMNS.items(), claims)
        if solver in results.starts
    }


def _verdict(agrees: bool, partly: bool = False) -> str:
    return AGREES if agrees else PARTLY if partly else DISAGREES


def _complexity(results: Results, solver: str, claim: str) -> Finding:
    count = {s: sum(lines_of(s)) for s in COLUMNS.values()}
    mine, middle = count[solver], sorted(count.values())[2]
    own, shared = lines_of(solver)
    text = f"{own} lines of code" + (f", and {shared} beneath" if shared else "")
    if claim == "Extremely Complex":
        return Finding(text, _verdict(mine == max(count.values()), mine > middle))
    return Finding(text, _verdict((mine > middle) == (claim == "Hard"), mine == middle))


def _speed(results: Results, solver: str, claim: str) -> Finding:
    """Extremely fast: below 100 us a call. Fast: below 1 ms. Slow to converge: above, or half the goals are missed."""
    texts, slow, quick = [], [], []
    for kind in ("point", "approach"):
        cells = [results.cells[solver, arm, kind] for arm in FEW if (solver, arm, kind) in results.cells]
        if not cells:
            continue
        time, tight = float(np.median([c.time for c in cells])), float(np.mean([c.tight for c in cells]))
        texts.append(f"{kind} {1e6 * time:.0f} us to 1 mm, {tight:.0%} reached to 1e-6 m")
        slow.append(time >= 1e-3 or tight < 0.5)
        quick.append(time < 1e-4)
    text = "; ".join(texts)
    if claim == "Slow To Converge":
        return Finding(text, _verdict(all(slow), any(slow) or not any(quick)))
    if claim == "Extremely Fast":
        return Finding(text, _verdict(all(quick), any(quick)))
    return Finding(text, _verdict(not any(slow), not all(slow)))


def _hinges(results: Results, solver: str, claim: str) -> Finding:
    solved = [results.cells[solver, arm, "point"].loose for arm in FEW if (solver, arm, "point") in results.cells]
    reached = float(np.mean(solved))
    if claim == "Only Hinges?":
        slides = (solver, "slider") not in results.refused
        return Finding(
            f"{reached:.0%} of points; a sliding joint is {'taken' if slides else 'refused'}", _verdict(not slides)
        )
    if claim == "No!":
        offset = max(results.cells[solver, arm, "point"].off_hinges for arm in FEW)
        balls = results.cells[solver, "balls", "point"].loose
        many = results.cells[solver, MANY, "point"].loose
        text = (
            f"projected: {reached:.0%} of points with five hinges, {many:.0%} with twenty, {balls:.0%} with balls; its "
            f"points lie up to {1e3 * offset:.0f} mm (median) off"
        )
        return Finding(text, _verdict(reached < 0.5 and many < 0.5, reached < 0.9))
    return Finding(f"{reached:.0%} of points with five hinges", _verdict(reached > 0.9, reached > 0.5))


def _limits(results: Results, solver: str, claim: str) -> Finding:
    cells = [cell for (s, _, kind), cell in results.cells.items() if s == solver and kind == "point"]
    outside = float(np.mean([cell.outside for cell in cells]))
    reached = float(
        np.mean([results.cells[solver, arm, "point"].loose for arm in FEW if (solver, arm, "point") in results.cells])
    )
    text = f"{outside:.0%} of answers outside before clamping, {reached:.0%} of points reached within"
    if claim == "Difficult":
        return Finding(text, _verdict(reached < 0.9))
    if claim == "No":
        return Finding(f"{text} (clamped at every step)", _verdict(outside > 0.0, reached < 0.9))
    if claim == "Conical Limits":
        return Finding(f"cones exactly, for balls; hinges: {text}", _verdict(reached < 0.9, True))
    return Finding(text, _verdict(outside == 0.0 and reached > 0.9, outside == 0.0))


def _singularities(results: Results, solver: str, claim: str) -> Finding:
    """Frames in which the tip needlessly misses by a millimetre, on the two sweeps through singular postures."""
    least = min(sweep.missed for (_, path), sweep in results.sweeps.items() if path == STRETCH)
    past, stretch = results.sweeps[solver, PAST], results.sweeps[solver, STRETCH]
    lost = max(past.missed, stretch.missed - least)
    text = (
        f"past the waist {past.missed:.0%} of frames missed, {past.peak:.0f} rad/s at most; at "
        f"stretch {stretch.missed - least:.0%}, {stretch.peak:.0f} rad/s"
    )
    if claim.startswith("Never (w/out"):
        balls = results.sweeps[solver, BALLS].missed
        floor = min(sweep.missed for (_, path), sweep in results.sweeps.items() if path == BALLS)
        return Finding(
            f"balls at stretch: {balls - floor:.0%} of frames missed; hinges: {text}", _verdict(balls - floor < 0.05)
        )
    if claim == "Often":
        return Finding(text, _verdict(lost > 0.1, lost > 0.02))
    return Finding(text, _verdict(lost < (0.05 if claim == "Never" else 0.1), lost < 0.2))


def _convergence(results: Results, solver: str, claim: str) -> Finding:
    near, far = results.starts[solver]
    jitter = results.sweeps[solver, OUT].peak
    smooth = min(sweep.peak for (_, path), sweep in results.sweeps.items() if path == OUT)
    text = (
        f"from one start {near:.0%} of points up to {NEAR:g} rad a joint away, {far:.0%} of any; out of reach "
        f"{jitter:.1f} rad/s at most"
    )
    calm = jitter < 2.0 * smooth
    if claim == "Instant":
        return Finding(f"one pass; {text}", _verdict(near > 0.98 and far > 0.98))
    if claim.startswith("Well"):
        return Finding(text, _verdict(near > 0.9 and calm, near > far))
    return Finding(text, _verdict(calm and near > 0.9, calm or near > 0.9))


def _joints(results: Results, solver: str, claim: str) -> Finding:
    taken = [arm for s, arm, kind in results.cells if s == solver and kind == "point" and arm.endswith("joints")]
    most = max((int(arm.split()[0]) for arm in taken), default=0)
    if claim == "Max ~5":
        return Finding(f"up to {most} here", _verdict(most <= 6))
    cell = results.cells.get((solver, MANY, "point"))
    if cell is None:
        return Finding(f"up to {most} here", DISAGREES)
    return Finding(
        f"{cell.loose:.0%} of points with 20 joints, {1e6 * cell.time:.0f} us",
        _verdict(cell.loose > 0.9, cell.loose > 0.5),
    )
