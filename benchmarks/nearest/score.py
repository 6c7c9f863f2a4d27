"""Judge anybody's answers: python -m benchmarks.nearest.score answers.jsonl, or --ours for those of ik_solver_ros.

A file of answers has a line for each goal: {"id": "so101/pose/03", "q": [...], "us": 42.0}. `us`, the microseconds that
it took, may be left out; q may be null where there is no answer. Goals that the file does not name are left out of the
score.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.nearest.arm import Array
from benchmarks.nearest.judge import (
    KINDS,
    REACHED,
    Errors,
    Goal,
    errors,
    improves,
    outside,
    read_goals,
    verdict,
    with_best,
    write_goals,
)

# [m], [rad], [rad] by which an answer is worse, or better. A hair more than 0.1 degrees, as a solver may give away just
# that much of the approach for the roll.
SLACK = (1e-5, math.radians(0.101), math.radians(0.5))
COLUMNS = ("goals", "as good", "worse position", "worse approach", "worse roll", "limits broken", "better", "mean")
HEAD = "".join(f" {name} |" for name in COLUMNS)
UNITS = (("mm", 1e3), ("deg", math.degrees(1.0)), ("deg", math.degrees(1.0)))


@dataclass(frozen=True)
class Answer:
    """What somebody made of a goal."""

    q: Array | None  # (n,)
    us: float = math.nan  # microseconds


@dataclass(frozen=True)
class Score:
    """An answer, judged against the best that is known."""

    goal: Goal
    answer: Answer
    errors: Errors
    what: str  # of COLUMNS, in the singular sense: "as good", "better", "worse position" ...

    @property
    def lost(self) -> float:
        """How much worse, in SLACK of the error that decides; inf where there is no answer inside the limits."""
        if not self.what.startswith("worse"):
            return math.inf if self.what == "limits broken" else 0.0
        k = ("position", "approach", "roll").index(self.what.split()[1])
        return (self.errors[k] - self.goal.best.errors[k]) / SLACK[k]


def main() -> None:
    parser = argparse.ArgumentParser(description="Judge answers to the goals of this benchmark.")
    parser.add_argument("answers", nargs="?", type=Path, help="a file of JSON lines")
    parser.add_argument("--ours", action="store_true", help="ask ik_solver_ros now")
    parser.add_argument("--arms", nargs="+", help="only these")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, help="only these")
    parser.add_argument(
        "--by", choices=("joints", "arm"), default="joints", help="a row for each number of joints, or arm"
    )
    parser.add_argument("--worst", type=int, default=20, help="how many of the worst answers to list")
    parser.add_argument("--improve", metavar="NAME", help="write what is better into goals.jsonl, found by NAME")
    options = parser.parse_args()
    if options.ours == (options.answers is not None):
        parser.error("a file of answers, or --ours")
    everything = read_goals()
    goals = chosen(everything, options.arms, options.kinds)
    if options.ours:
        from benchmarks.nearest import ours

        answers = answered(goals, ours.make)
    else:
        answers = read_answers(options.answers)
    scores = [score(goal, answers[goal.id]) for goal in goals if goal.id in answers]
    print_table(scores, options.by)
    print_worst(scores, options.worst)
    if options.improve:
        better = {one.goal.id: one for one in scores if one.what == "better"}
        after = [improved(goal, better.get(goal.id), options.improve) for goal in everything]
        write_goals(after)
        print(f"\n{sum(a is not b for a, b in zip(after, everything))} better answers written")


def chosen(goals: Iterable[Goal], arms: list[str] | None, kinds: list[str] | None) -> list[Goal]:
    """The goals with a known answer, of these arms and kinds; None is all."""
    return [
        goal
        for goal in goals
        if goal.best is not None and (not arms or goal.arm.name in arms) and (not kinds or goal.kind in kinds)
    ]


def answered(goals: list[Goal], make: Callable) -> dict[str, Answer]:
    """The answers of a solver: `make` of an arm gives what takes a goal and gives q (n,) or None."""
    answers, solver, arm = {}, None, None
    for goal in goals:
        if goal.arm is not arm:
            arm, solver = goal.arm, make(goal.arm)
            solver(goal)  # to warm up
        answers[goal.id] = answered_by(solver, goal)
    return answers


def answered_by(solver: Callable[[Goal], Array | None], goal: Goal) -> Answer:
    began = time.perf_counter()
    q = solver(goal)
    return Answer(q, 1e6 * (time.perf_counter() - began))


def read_answers(path: Path) -> dict[str, Answer]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {
        row["id"]: Answer(None if row["q"] is None else np.array(row["q"], dtype=float), row.get("us", math.nan))
        for row in rows
    }


def write_answers(answers: dict[str, Answer], path: Path) -> None:
    rows = (
        {"id": name, "q": None if one.q is None else [float(value) for value in one.q], "us": round(one.us, 2)}
        for name, one in answers.items()
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def score(goal: Goal, answer: Answer) -> Score:
    if answer.q is None:
        return Score(goal, answer, (math.inf,) * 3, "worse position")
    if outside(goal.arm, answer.q):
        return Score(goal, answer, (math.inf,) * 3, "limits broken")
    found = errors(goal, goal.arm.inside(answer.q))
    if improves(found, goal.best.errors, SLACK):
        return Score(goal, answer, found, "better")
    kind, which = verdict(found, goal.best.errors, SLACK)
    return Score(goal, answer, found, f"worse {which}" if kind == "worse" else "as good")


def improved(goal: Goal, found: Score | None, name: str) -> Goal:
    """The goal with the answer as the best known, if it is still better when nothing is spent of what is held."""
    if found is None:
        return goal
    q = goal.arm.inside(found.answer.q)
    if goal.best.errors[0] > REACHED:
        from benchmarks.nearest.task import Task  # which needs pinocchio

        q = Task(goal).settled(q)
    return with_best(goal, q, name) if improves(errors(goal, q), goal.best.errors, SLACK) else goal


def print_table(scores: list[Score], by: str) -> None:
    print(f"| {by} | kind |{HEAD}\n|---|---|" + "---|" * len(COLUMNS))
    groups: dict[tuple, list[Score]] = {}
    for one in scores:
        key = one.goal.arm.n if by == "joints" else one.goal.arm.name
        groups.setdefault((key, one.goal.kind), []).append(one)
        groups.setdefault(("all", one.goal.kind), []).append(one)
    order = sorted(groups, key=lambda key: (key[0] == "all", by == "joints" and key[0], KINDS.index(key[1])))
    if by == "arm":
        order = sorted(groups, key=lambda key: key[0] == "all")
    for key in order:
        print(f"| {key[0]} | {key[1]} |{cells(groups[key])}")


def cells(scores: list[Score]) -> str:
    """A row of the table, under HEAD."""
    mean = np.mean([one.answer.us for one in scores])
    shares = [f"{100.0 * np.mean([one.what == name for one in scores]):.1f} %" for name in COLUMNS[1:-2]]
    better = sum(one.what == "better" for one in scores)
    spent = "" if math.isnan(mean) else f"{mean:.3g} us" if mean < 1e3 else f"{mean / 1e3:.3g} ms"
    return f" {len(scores)} | " + " | ".join([*shares, str(better), spent]) + " |"


def print_worst(scores: list[Score], most: int) -> None:
    """The answers that lose most, and all that are better."""
    lost = sorted((one for one in scores if one.lost > 0.0), key=lambda one: one.lost, reverse=True)
    better = [one for one in scores if one.what == "better"]
    for title, ones in ((f"worst of {len(lost)} that are worse", lost[:most]), ("better than known", better[:most])):
        if ones:
            print(f"\n{title}: position, approach, roll against the best known")
        for one in ones:
            best = one.goal.best
            triples = [row for row in zip(one.errors, best.errors, UNITS) if not math.isnan(row[1])]
            pairs = ", ".join(f"{a * size:.4f}/{b * size:.4f} {unit}" for a, b, (unit, size) in triples)
            print(f"  {one.goal.id}: {one.what}: {pairs} (found by {best.found[0]} of {best.found[1]} searches)")


if __name__ == "__main__":
    main()
