"""The goals, drawn anew: python -m benchmarks.nearest.goals. What is known of goals that stay as they are is kept."""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np

from benchmarks.nearest.arm import Arm, Array, load, names
from benchmarks.nearest.judge import GOALS, Goal, read_goals, write_goals
from benchmarks.nearest.search import descend
from benchmarks.nearest.task import Task, pinned, reach

WITHIN, FAR = 12, 6  # goals of a kind: at positions that are reached, and at such that are not
AWAY = ("far", "far", "close", "close", "above", "below")


def main() -> None:
    known = {goal.id: goal for goal in read_goals()} if GOALS.exists() else {}
    goals = []
    for name in names():
        for goal in drawn(load(name)):
            before = known.get(goal.id)
            same = before is not None and replace(before, best=None) == goal
            goals.append(before if same else goal)
    write_goals(goals)
    print(f"{len(goals)} goals of {len(names())} arms, {sum(goal.best is not None for goal in goals)} with answers")


def drawn(arm: Arm) -> list[Goal]:
    rng = np.random.default_rng(zlib.crc32(arm.name.encode()))
    model = pinned(arm.name)
    goals = []
    for k in range(WITHIN):
        position = model.forward(arm.sample(rng, 1)[0])[0]
        goals.append(_goal(arm, rng, f"approach/{k:02}", position, direction=_unit(rng, 3)))
    for k in range(WITHIN):
        position = model.forward(arm.sample(rng, 1)[0])[0]
        goals.append(_goal(arm, rng, f"pose/{k:02}", position, quaternion=_unit(rng, 4)))
    for k, where in enumerate(AWAY):
        goals.append(_goal(arm, rng, f"far_pose/{k:02}", away(arm, rng, where), quaternion=_unit(rng, 4)))
    for k, where in enumerate(AWAY):
        goals.append(_goal(arm, rng, f"far_point/{k:02}", away(arm, rng, where)))
    return goals


def away(arm: Arm, rng: np.random.Generator, where: str) -> Array:
    """A position (3,) that the tip cannot reach. Above is on the vertical through the first joint, below is beside it.

    Near the base of an arm that gets everywhere there is none; then it is a far one.
    """
    foot, most = arm.steps[0][0][:3, 3], reach(arm.name)
    for k in range(60):
        if where == "close" and k < 40:
            step = _unit(rng, 3) * rng.uniform(0.0, 0.35)
        elif where == "above":
            step = np.array([0.0, 0.0, rng.uniform(1.02, 1.5)])
        elif where == "below":
            step = np.array([*rng.uniform(-0.3, 0.3, size=2), -rng.uniform(1.02, 1.5)])
        else:
            step = _unit(rng, 3) * rng.uniform(1.02, 1.5)
        position = foot + most * step
        task = Task(Goal(f"{arm.name}/far_point/00", (), tuple(position)))
        ends = [descend(task, q, 1) for q in arm.sample(rng, 30)]
        if min(float(np.linalg.norm(task.at(q).off)) for q in ends) > 1e-3:
            return position
    raise RuntimeError(f"{arm.name}: nothing is out of reach")


def _goal(arm: Arm, rng: np.random.Generator, what: str, position: Array, **wanted: Array) -> Goal:
    rounded = {name: _rounded(value, 9) for name, value in wanted.items()}
    return Goal(f"{arm.name}/{what}", _rounded(arm.sample(rng, 1)[0], 6), _rounded(position, 9), **rounded)


def _rounded(values: Array, digits: int) -> tuple[float, ...]:
    return tuple(round(float(value), digits) + 0.0 for value in values)


def _unit(rng: np.random.Generator, size: int) -> Array:
    vector = rng.normal(size=size)
    return vector / np.linalg.norm(vector)


if __name__ == "__main__":
    main()
