"""What became of the goals of a demonstration: for the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from rich.table import Table

from ik_solver_ros.tools.demo.goals import Pose


class Result(NamedTuple):
    """One goal, judged by what was measured."""

    position_error: float  # [m]
    angle_error: float  # [rad]
    answer: str  # what ik_node said
    reached: bool


def results_table(goals: Sequence[Pose], results: Sequence[Result]) -> Table:
    """A row for each goal."""
    table = Table("goal", "x [m]", "y [m]", "z [m]", "error [mm]", "error [deg]", "measured", "ik_node says")
    for i, (goal, result) in enumerate(zip(goals, results), 1):
        table.add_row(
            str(i),
            *(f"{v:+.3f}" for v in goal.position),
            f"{1e3 * result.position_error:.3f}",
            f"{np.degrees(result.angle_error):.3f}",
            "reached" if result.reached else "MISSED",
            result.answer,
        )
    return table


def summary(results: Sequence[Result]) -> str:
    """All goals in a line."""
    reached = sum(result.reached for result in results)
    position = max(result.position_error for result in results)
    angle = max(result.angle_error for result in results)
    return f"{reached}/{len(results)} goals reached, worst {1e3 * position:.2f} mm, {np.degrees(angle):.2f} deg"
