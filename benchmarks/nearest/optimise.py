"""Look for better answers than are known: python -m benchmarks.nearest.optimise [--arms a b] [--kinds pose] ...

May be stopped at any time: what was found is written after each arm, and a further run with another --seed begins
from it.
"""

from __future__ import annotations

import argparse
import time
import zlib
from multiprocessing import Pool

import numpy as np

from benchmarks.nearest.arm import Array
from benchmarks.nearest.judge import KINDS, Goal, errors, improves, read_goals, with_best, write_goals
from benchmarks.nearest.search import BY, search

SAME = (1e-6, 1e-5, 5e-3)  # [m], [rad], [rad]: a search that is not worse by more came to the best


def main() -> None:
    parser = argparse.ArgumentParser(description="Look for better answers than are known, and write them down.")
    parser.add_argument("--arms", nargs="+", help="only these")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, help="only these")
    parser.add_argument("--unsure", action="store_true", help="only goals to whose best not every search came")
    parser.add_argument("--starts", type=int, default=20, help="random starts for each goal")
    parser.add_argument("--seed", type=int, default=0, help="of the starts")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    goals = {goal.id: goal for goal in read_goals()}
    groups: dict[str, list[Goal]] = {}
    for goal in goals.values():
        wanted = (not options.kinds or goal.kind in options.kinds) and not (options.unsure and is_sure(goal))
        if wanted and (not options.arms or goal.arm.name in options.arms):
            groups.setdefault(goal.arm.name, []).append(goal)
    with Pool(options.jobs) as pool:
        work = [(group, options.starts, options.seed) for group in groups.values()]
        for done, (found, spent) in enumerate(pool.imap_unordered(searched, work), 1):
            better = sum(is_better(goals[goal.id], goal) for goal in found)
            goals.update((goal.id, goal) for goal in found)
            write_goals(goals.values())
            unsure = [goal.id.partition("/")[2] for goal in found if not is_sure(goal)]
            said = f"{better} of {len(found)} better, {spent / len(found):.2f} s each"
            print(f"{done}/{len(work)} {found[0].arm.name}: {said}; not found by every search: {unsure}", flush=True)


def is_sure(goal: Goal) -> bool:
    """Whether every search came to the best that is known."""
    return goal.best is not None and goal.best.found[0] == goal.best.found[1] > 0


def is_better(before: Goal, after: Goal) -> bool:
    return before.best is None or (after.best is not None and improves(after.best.errors, before.best.errors))


def searched(work: tuple[list[Goal], int, int]) -> tuple[list[Goal], float]:
    """The goals with the best that is known after one more search, and the time it took [s]."""
    goals, starts, seed = work
    began, out = time.perf_counter(), []
    for goal in goals:
        rng = np.random.default_rng([seed, zlib.crc32(goal.id.encode())])
        out.append(counted(goal, search(goal, rng, starts)))
    return out, time.perf_counter() - began


def counted(goal: Goal, q: Array) -> Goal:
    """The goal after a search that ended at q (n,)."""
    if goal.best is None:
        return with_best(goal, q, BY, (1, 1))
    came, made = goal.best.found
    found = errors(goal, q)
    if improves(found, goal.best.errors):
        return with_best(goal, q, BY, (1, made + 1))
    came += not improves(goal.best.errors, found, SAME)
    return with_best(goal, np.array(goal.best.q), goal.best.by, (came, made + 1))


if __name__ == "__main__":
    main()
