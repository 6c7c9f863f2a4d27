"""Look for better answers than are known: python -m benchmarks.nearest.optimise [--arms a b] [--kinds pose] ...

May be stopped at any time: what was found is written after each arm, and a further run with another --seed begins
from it.
"""

from __future__ import annotations

import argparse
import time
from multiprocessing import Pool

import numpy as np

from benchmarks.nearest.judge import KINDS, Goal, errors, improves, read_goals, with_best, write_goals
from benchmarks.nearest.search import BY, search


def main() -> None:
    parser = argparse.ArgumentParser(description="Look for better answers than are known, and write them down.")
    parser.add_argument("--arms", nargs="+", help="only these")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, help="only these")
    parser.add_argument("--agreed", type=int, default=10**9, help="only goals on whose answer fewer starts agree")
    parser.add_argument("--starts", type=int, default=40, help="random starts for each goal")
    parser.add_argument("--seed", type=int, default=0, help="of the starts")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    goals = {goal.id: goal for goal in read_goals()}
    groups: dict[str, list[Goal]] = {}
    for goal in goals.values():
        wanted = not options.kinds or goal.kind in options.kinds
        if wanted and fewest(goal) < options.agreed and (not options.arms or goal.arm.name in options.arms):
            groups.setdefault(goal.arm.name, []).append(goal)
    with Pool(options.jobs) as pool:
        work = [(group, options.starts, options.seed) for group in groups.values()]
        for done, (found, spent) in enumerate(pool.imap_unordered(improved, work), 1):
            better = sum(_better(goals[goal.id], goal) for goal in found)
            goals.update((goal.id, goal) for goal in found)
            write_goals(goals.values())
            weak = sum(fewest(goal) < 3 for goal in found)
            name, each = found[0].arm.name, spent / len(found)
            print(
                f"{done}/{len(work)} {name}: {better} of {len(found)} better, {weak} found by fewer than 3 starts, "
                f"{each:.2f} s a goal",
                flush=True,
            )


def fewest(goal: Goal) -> int:
    """How many starts agree on the goal's best in all that was asked for."""
    return min(goal.best.agree, default=0) if goal.best is not None else 0


def improved(work: tuple[list[Goal], int, int]) -> tuple[list[Goal], float]:
    """The goals with the best that is known now, and the time it took [s]."""
    goals, starts, seed = work
    began, out = time.perf_counter(), []
    for k, goal in enumerate(goals):
        q, agree = search(goal, np.random.default_rng([seed, k]), starts)
        if goal.best is None or improves(errors(goal, q), goal.best.errors):
            out.append(with_best(goal, q, BY, agree))
        else:
            out.append(with_best(goal, np.array(goal.best.q), goal.best.by, agree))
    return out, time.perf_counter() - began


def _better(before: Goal, after: Goal) -> bool:
    return before.best is None or (after.best is not None and improves(after.best.errors, before.best.errors))


if __name__ == "__main__":
    main()
