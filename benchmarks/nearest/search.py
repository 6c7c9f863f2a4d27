"""The least position error, then the least approach error there, then the least roll: from many starts, in stages.

Each start is brought near by a damped Gauss-Newton descent inside the limits, and from there scipy's SLSQP goes down
with what counts more as a constraint. The limits are hard throughout.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize

from benchmarks.nearest.arm import Array
from benchmarks.nearest.judge import HELD, REACHED, Errors, Goal, errors
from benchmarks.nearest.task import Task

BY = "gauss-newton + slsqp"
DONE = (REACHED, 1e-7, 1e-6)  # [m], [rad], [rad]: reached
NEAR, AGAIN = 1e-3, 16  # [rad] from the least approach, and so many at most: gone on with
MORE = 5  # times as many starts for the position, which take little
ROLLS = 24  # starts of the last stage
ENOUGH = 6  # starts that agree on a goal that is reached


@dataclass
class Ends:
    """Where the starts came to: configurations (n,) with their errors."""

    q: list[Array] = field(default_factory=list)
    errors: list[Errors] = field(default_factory=list)

    def add(self, goal: Goal, q: Array) -> Errors:
        q = goal.arm.inside(q)
        if not np.isfinite(q).all():
            return (math.inf,) * 3
        found = errors(goal, q)
        self.q.append(q)
        self.errors.append(found)
        return found

    def clear(self) -> None:
        self.q.clear()
        self.errors.clear()

    def least(self, depth: int) -> tuple[list[int], float]:
        """(Which ends have the least of error number `depth` with those before it at their least, that least)."""
        chosen, floor = list(range(len(self.q))), math.inf
        for k, same in zip(range(depth + 1), HELD):
            floor = min(self.errors[i][k] for i in chosen)
            chosen = [i for i in chosen if self.errors[i][k] <= floor + same]
        return sorted(chosen, key=lambda i: self.errors[i][depth]), floor


def search(goal: Goal, rng: np.random.Generator, starts: int) -> Array:
    """The best configuration (n,) found. What is known of the goal already plays no part."""
    task, ends = Task(goal), Ends()
    depth = 1 + (task.axis is not None) + (task.side is not None)
    begin = list(goal.arm.sample(rng, starts))
    reached = 0
    for q in begin:  # the whole goal at once
        found = ends.add(goal, descend(task, q, depth))
        reached += all(error < least for error, least in zip(found[:depth], DONE))
        if reached == ENOUGH:
            return ends.q[-1]
    place(task, ends, [*begin, *goal.arm.sample(rng, MORE * starts)])
    if depth > 1:
        aim(task, ends, begin, rng)
    if depth > 2:
        roll(task, ends, rng)
    return ends.q[ends.least(depth - 1)[0][0]]


def place(task: Task, ends: Ends, begin: list[Array]) -> None:
    """The nearest positions. SLSQP goes on where none is reached."""
    found = [descend(task, q, 1) for q in begin]
    for q in found:
        ends.add(task.goal, q)
    if ends.least(0)[1] > DONE[0]:
        ends.clear()  # of what is near, but not settled
        for q in found:
            ends.add(task.goal, approached(task, q))


def aim(task: Task, ends: Ends, begin: list[Array], rng: np.random.Generator) -> None:
    """The nearest approaches, from the best of what is in place and from some of the rest.

    And from where position and approach are a compromise, and then from places far from the least ones that were found.
    In a flat valley SLSQP stops early: what comes near to the least goes on once more.
    """
    chosen, floor = ends.least(0)
    back = approached if floor > DONE[0] else descend

    def down(q: Array, ftol: float = 1e-11) -> None:
        fixed, bounds = task.in_place(q, floor)
        ends.add(task.goal, restored(task, go_down(task.tilt, q, fixed, bounds, ftol), floor, 1))

    chosen.sort(key=lambda i: ends.errors[i][1])
    for q in [ends.q[i] for i in chosen[: len(begin)]] + [ends.q[i] for i in chosen[len(begin) :: MORE]]:
        down(q)
    for q in begin:
        q = descend(task, q, 2)
        down(q if floor < DONE[0] else approached(task, q))
    ranked = sorted(ends.least(0)[0], key=lambda i: ends.errors[i][1])
    for q in [ends.q[i] for i in ranked[: 2 * AGAIN : 2]]:
        down(back(task, astray(task, q, rng, 1), 1))
    best, least = ends.least(1)
    near = [i for i in ends.least(0)[0] if i not in best and ends.errors[i][1] < least + NEAR]
    for q in [ends.q[i] for i in near[:AGAIN]]:
        down(q, 1e-15)


def roll(task: Task, ends: Ends, rng: np.random.Generator) -> None:
    """The nearest rolls, from different nearest approaches, and from where these lead when nothing is held but them."""
    chosen, tilt = ends.least(1)
    floor = ends.least(0)[1]
    chosen = [chosen[i] for i in spread([ends.q[i] for i in chosen], ROLLS)]
    begin = [(ends.q[i], ends.errors[i][1]) for i in chosen]
    for k in rng.integers(len(chosen), size=ROLLS):
        q = astray(task, begin[int(k)][0], rng, 2)
        begin.append((q if floor < DONE[0] else approached(task, q), begin[int(k)][1]))
    for q, own in begin:
        fixed, bounds = task.in_place(q, floor)
        q = go_down(task.twist, q, [*fixed, task.in_line(own)], bounds)
        ends.add(task.goal, restored(task, q, floor, 2 if tilt < DONE[1] else 1))


def approached(task: Task, q: Array, depth: int = 1) -> Array:
    """As near as the tip comes from q (n,) on, to the last digit."""
    q = task.arm.inside(go_down(task.distance, descend(task, q, depth), [], task.bounds))
    return task.settled(q) if np.isfinite(q).all() else q


def astray(task: Task, q: Array, rng: np.random.Generator, depth: int) -> Array:
    """Q (n,) moved far along what changes the first `depth` of position and approach least."""
    slopes = task.residual(q, depth)[1]
    _, sizes, along = np.linalg.svd(slopes)
    sizes = np.pad(sizes, (0, max(len(q) - len(sizes), 0)))
    step = along.T @ (rng.normal(size=len(q)) / (1.0 + 1e3 * sizes**2))
    return task.arm.inside(q + step * rng.uniform(0.2, 3.0) / np.abs(step).max())


def spread(q: list[Array], most: int) -> list[int]:
    """Which of the configurations to take for `most` that are far apart, the first among them."""
    rows = np.array(q)
    taken, apart = [0], np.linalg.norm(rows - rows[0], axis=1)
    while len(taken) < most and apart.max() > 1e-3:
        taken.append(int(np.argmax(apart)))
        apart = np.minimum(apart, np.linalg.norm(rows - rows[taken[-1]], axis=1))
    return taken


def restored(task: Task, q: Array, floor: float, depth: int) -> Array:
    """Q (n,) put back in place to the last digit."""
    if not np.isfinite(q).all():
        return q
    return descend(task, q, depth) if floor < DONE[0] else task.settled(task.arm.inside(q))


def go_down(function: Callable, q: Array, fixed: list, bounds: list, ftol: float = 1e-11) -> Array:
    """SLSQP from q (n,)."""
    options = {"maxiter": 80, "ftol": ftol}
    found = minimize(function, q, jac=True, bounds=bounds, constraints=fixed, method="SLSQP", options=options)
    return np.asarray(found.x)


def descend(task: Task, q: Array, depth: int, most: int = 60) -> Array:
    """Damped Gauss-Newton inside the limits from q (n,), towards the first `depth` of position, approach and roll."""
    arm, damping = task.arm, 1e-3
    q = arm.inside(q)
    values, slopes = task.residual(q, depth)
    cost = values @ values
    for _ in range(most):
        gradient = slopes.T @ values
        free = ~(((q <= arm.lower) & (gradient > 0.0)) | ((q >= arm.upper) & (gradient < 0.0)))
        if cost < 1e-22 or np.linalg.norm(gradient[free]) < 1e-13:
            break
        part = slopes[:, free]
        square = part.T @ part
        step = np.zeros(arm.n)
        step[free] = -np.linalg.solve(square + damping * np.eye(len(square)), gradient[free])
        trial = arm.inside(q + step * min(1.0, 0.6 / np.abs(step).max()))
        new_values, new_slopes = task.residual(trial, depth)
        new_cost = new_values @ new_values
        if new_cost < cost:
            slow = new_cost > (1.0 - 1e-6) * cost
            q, values, slopes, cost, damping = trial, new_values, new_slopes, new_cost, max(0.2 * damping, 1e-12)
            if slow:
                break
        else:
            damping *= 8.0
            if damping > 1e6:
                break
    return q
