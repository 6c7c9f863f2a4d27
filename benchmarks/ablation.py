"""What the parts of CCDIK are worth: the closed form of the structure, and the sweeps.

Each variant is compiled in a process of its own, with a cache of its own: the parts are constants of the code.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import replace

import numpy as np

VARIANTS = ("as it is", "without structure", "without structure and sweeps")


def measure(goals: int = 2000) -> None:
    print(f"{goals} sampled approaches an arm, at 1e-6 m and 1e-6 rad, from mid-range; means of compiled code.\n")
    print("| variant | arm | reached | mean [us] | starts a goal |\n|---|---|---|---|---|")
    means = {}
    for name in VARIANTS:
        with tempfile.TemporaryDirectory() as cache:
            environment = os.environ | {"NUMBA_CACHE_DIR": cache}
            command = [sys.executable, "-m", "benchmarks.ablation", name, str(goals)]
            table = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
        print(table, end="", flush=True)
        means[name] = [float(line.split("|")[4]) for line in table.splitlines() if line.startswith("|")]
    whole, descents, alone = (np.array(mean) for mean in means.values())
    print(f"\nThe structure: {_span(descents[:-1] / whole[:-1])} as fast on the arms that have it.")
    verdict = "they help" if (alone / descents).min() > 1.05 else "they help little, or not at all, on most arms"
    print(f"The sweeps: {_span(alone / descents)} as fast with them; {verdict}.")


def _span(ratios) -> str:
    return f"{ratios.min():.2f} to {ratios.max():.2f} times"


def variant(name: str, goals: int) -> None:
    from benchmarks.arms import arms, sampled, tool_directions
    from benchmarks.bars import compiled_mean
    from ik_solver_ros import Goal, Status, solve
    from ik_solver_ros.solvers.ccdik import generic

    if name == "without structure and sweeps":
        generic.SWEEP_EVERY = 0  # before anything is compiled
    for arm, chain in arms().items():
        if name != "as it is":
            chain = replace(chain, waist_arm=None)
        _, p, r = sampled(chain, np.random.default_rng(12), goals)
        asked = [Goal.approach(*goal) for goal in zip(p, tool_directions(chain, r))]
        answers = [solve(chain, goal) for goal in asked]
        reached = np.mean([answer.status is Status.REACHED for answer in answers])
        restarts = 1 + np.mean([answer.restarts for answer in answers])
        print(
            f"| {name} | {arm} | {100 * reached:.2f} % | {compiled_mean(chain, asked):.2f} | {restarts:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    variant(sys.argv[1], int(sys.argv[2]))
