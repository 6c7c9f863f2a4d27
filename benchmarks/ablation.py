"""What the parts of CCDIK are worth: the closed form of the structure, and the sweeps.

Each variant is a search of its own; they take turns at the same goals, so that all meet the same noise.
"""

from __future__ import annotations

import numpy as np

from benchmarks.arms import arms, sampled, tool_directions
from benchmarks.compiled import GoalRows
from ik_solver_ros import Chain, Goal, SolverOptions, Status
from ik_solver_ros.solvers.ccdik.answers import new_search
from ik_solver_ros.solvers.ccdik.search import search_answer
from ik_solver_ros.solvers.ccdik.structure import ArmSearch
from ik_solver_ros.solvers.problem import prepare
from ik_solver_ros.solvers.solution import STATUSES

VARIANTS = ("as it is", "without structure", "without structure and sweeps")
TURNS = 3  # of every variant; the median counts
OPTIONS = SolverOptions()


def measure(goals: int = 2000) -> None:
    print(f"{goals} sampled approaches an arm, at 1e-6 m and 1e-6 rad, from mid-range; means of compiled code.\n")
    print("| variant | arm | reached | mean [us] | starts a goal |\n|---|---|---|---|---|")
    means = {name: [] for name in VARIANTS}
    for arm, chain in arms().items():
        _, p, r = sampled(chain, np.random.default_rng(12), goals)
        asked = [Goal.approach(*goal) for goal in zip(p, tool_directions(chain, r))]
        for name, (reached, mean, starts) in compared(chain, asked).items():
            print(f"| {name} | {arm} | {100 * reached:.2f} % | {mean:.2f} | {starts:.2f} |", flush=True)
            means[name].append(mean)
    whole, descents, alone = (np.array(mean) for mean in means.values())
    print(f"\nThe structure: {_span(descents[:-1] / whole[:-1])} as fast on the arms that have it.")
    ratios = alone / descents
    verdict = "they help" if ratios.min() > 1.05 else "they help little, or not at all"
    print(f"The sweeps: {_span(ratios)} as fast with them; {verdict}.")


def _span(ratios) -> str:
    return f"{ratios.min():.2f} to {ratios.max():.2f} times"


def compared(chain: Chain, goals: list[Goal]) -> dict[str, tuple[float, float, float]]:
    """(share that is reached, mean time [us], mean number of starts) of each variant."""
    searches = {name: search_of(chain, name) for name in VARIANTS}
    rows = {name: GoalRows(chain, goals) for name in VARIANTS}
    starts = {name: starts_of(search, chain, goals) for name, search in searches.items()}  # this warms up, too
    # Where nothing sweeps the second start is left out: it would be the first one over again.
    assert searches[VARIANTS[2]].sweep_every == 0
    means = {name: [] for name in VARIANTS}
    for _ in range(TURNS):
        for name, search in searches.items():
            means[name].append(rows[name].mean(search))
    reached = STATUSES.index(Status.REACHED)
    return {
        name: (float(np.mean(rows[name].codes == reached)), float(np.median(means[name])), float(starts[name].mean()))
        for name in VARIANTS
    }


def search_of(chain: Chain, variant: str) -> ArmSearch:
    """The search of a variant. It is never given back: nobody else shall have one that does not sweep."""
    search = new_search(chain.body, chain.waist_arm if variant == VARIANTS[0] else None, OPTIONS)
    if variant == VARIANTS[2]:
        search.sweep_every = 0
    return search


def starts_of(search: ArmSearch, chain: Chain, goals: list[Goal]) -> np.ndarray:
    """How many starts the search takes for each goal."""
    starts = []
    for goal in goals:
        prepare(search.problem, chain.body, goal, chain.mid.tolist(), OPTIONS)
        restarts = search_answer(search)[1]
        starts.append(restarts if search.sweep_every == 0 and restarts > 1 else 1 + restarts)
    return np.array(starts)
