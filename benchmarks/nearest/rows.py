"""The answers of other solvers and ours, judged in one table: python -m benchmarks.nearest.rows [--peers mink pink] ...

Goals are taken in blocks, a block by one solver after the other, so that all meet the same noise. What is not installed
is left out, with a line that says so. With --write the answers go to a folder, a file for each solver, as score.py
takes them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from benchmarks.machine import here, silenced
from benchmarks.nearest import peers
from benchmarks.nearest.judge import KINDS, Goal, read_goals
from benchmarks.nearest.score import HEAD, Answer, Score, answered_by, cells, chosen, score, write_answers

ARMS = ["so101", "so_arm100", "px100", "px150", "xarm6", "ur5e", "panda"]
BLOCK = 6  # goals that a solver gets in a row
MEDIANS = " mean, in ours | position, over the best | approach, over the best |"  # medians of what is in the limits


def main() -> None:
    parser = argparse.ArgumentParser(description="Ask others and ik_solver_ros for answers, and judge them.")
    parser.add_argument("--arms", nargs="+", default=ARMS, help=f"by default {' '.join(ARMS)}")
    parser.add_argument("--peers", nargs="+", choices=list(peers.HOW), default=list(peers.HOW))
    parser.add_argument("--write", type=Path, help="a folder for the answers")
    options = parser.parse_args()
    print(f"{here()}; {', '.join(options.arms)}\n")
    answers: dict[str, dict[str, Answer]] = {}
    goals = chosen(read_goals(), options.arms, None)
    for arm in options.arms:
        ask([goal for goal in goals if goal.arm.name == arm], options.peers, answers)
    print(f"| kind | solver |{HEAD}{MEDIANS}\n|---|---|" + "---|" * (HEAD + MEDIANS).count("|"))
    for kind in KINDS:
        for name, found in answers.items():
            scores = [score(goal, found[goal.id]) for goal in goals if goal.id in found and goal.kind == kind]
            if scores:
                print(f"| {kind} | {name} |{cells(scores)}{times(scores, answers)}{medians(scores)}")
    if options.write:
        options.write.mkdir(parents=True, exist_ok=True)
        for name, found in answers.items():
            write_answers(found, options.write / f"{name}.jsonl")


def ask(goals: list[Goal], names: list[str], answers: dict[str, dict[str, Answer]]) -> None:
    """Add the answers to the goals of one arm, by the names of the solvers."""
    arm, solvers = goals[0].arm, {}
    for name in names:
        try:
            with silenced():
                solvers[name] = getattr(peers, f"make_{name}")(arm)
                warm_up(solvers[name], [goal for goal in goals if goal.kind in peers.KINDS[name]])
        except Exception as error:  # noqa: PERF203 - a peer that is not there, or that cannot take this arm
            print(f"{arm.name}, {name} left out: {type(error).__name__}: {str(error)[:100]}", file=sys.stderr)
    for first in range(0, len(goals), BLOCK):
        for name, solver in solvers.items():
            for goal in goals[first : first + BLOCK]:
                if goal.kind in peers.KINDS[name]:
                    answers.setdefault(name, {})[goal.id] = answered_by(solver, goal)


def times(scores: list[Score], answers: dict[str, dict[str, Answer]]) -> str:
    """The mean time in that of ours for the same goals."""
    ours = answers.get("ik_solver_ros")
    if not ours:
        return "  |"
    return f" {sum(one.answer.us for one in scores) / sum(ours[one.goal.id].us for one in scores):.1f} x |"


def medians(scores: list[Score]) -> str:
    """Cells under MEDIANS: by how much the errors are beyond those of the best known."""
    over = np.array([np.subtract(one.errors, one.goal.best.errors) for one in scores if np.isfinite(one.errors[0])])
    if len(over) == 0:
        return "  |  |"
    angle = "" if np.isnan(over[:, 1]).any() else f"{round(np.degrees(np.median(over[:, 1])), 1) + 0.0} deg"
    return f" {round(1e3 * np.median(over[:, 0]), 2) + 0.0} mm | {angle} |"


def warm_up(solver: peers.Solver, goals: list[Goal]) -> None:
    """One goal of each kind."""
    for goal in {goal.kind: goal for goal in goals}.values():
        solver(goal)


if __name__ == "__main__":
    main()
