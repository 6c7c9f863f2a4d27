"""The Robotics Toolbox's own tables of its solvers on the Panda: 10,000 poses, 30 steps a search, 100 searches, 1e-6.

Protocol and figures: the notebooks of "Manipulator Differential Kinematics" by J. Haviland and P. Corke,
https://github.com/jhavl/dkt (Part 1/4 without limits, Part 2/6 with them; aef11b6 of 2023-07). Their tolerance is on
half the squared length of the error, metres and radians together: 1.4 mm or 1.4 mrad. Ours is at 1e-6 m and 1e-6 rad,
with limits always. Theirs begin at a random configuration, ours at the middle of the limits. Their tables say how many
searches it took, and not how many goals were given up after 100 of them; a longest of 101 says that some were.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from benchmarks.arms import sampled
from benchmarks.peers.descents import elementary_transforms
from benchmarks.records.common import Pose, duration, find, inside, judge_of, miss, pose_of, release, row, table
from ik_solver_ros import Goal, solve

STEPS, SEARCHES, TOLERANCE = 30, 100, 1e-6
EXACT = 1e-5  # [m] and [rad] in each of the six
OURS = ("ik_solver_ros, solve()", "on")
BLOCK = 250  # goals that a solver gets in a row, so that all meet the same noise
METHODS = {  # name: call and its options; as published: mean time [s] without limits and with, searches with limits
    "Newton-Raphson": ("ik_NR", {"pinv": True}, 149.0e-6, 3229.9e-6, "30.25, 101 at most"),
    "Gauss-Newton": ("ik_GN", {"pinv": True}, 151.8e-6, 4499.8e-6, "29.92, 101 at most"),
    "LM Wampler 1e-4": ("ik_LM", {"k": 1e-4, "method": "wampler"}, 41.0e-6, 1044.7e-6, "27.56, 101 at most"),
    "LM Chan 0.1": ("ik_LM", {"k": 0.1, "method": "chan"}, 25.2e-6, 113.8e-6, "5.92, 101 at most"),
    "LM Sugihara 1e-4": ("ik_LM", {"k": 1e-4, "method": "sugihara"}, 36.6e-6, 157.8e-6, "5.68, 101 at most"),
}
Answer = tuple[np.ndarray, "int | None"]  # a configuration, and the searches it took
Solver = Callable[[int], Answer]  # of goal i


def measure(goals: int = 10_000) -> None:
    urdf, chain = find("panda")
    judge = judge_of(urdf, chain)
    _, p, r = sampled(chain, np.random.default_rng(0), goals)
    poses = [pose_of(*pose) for pose in zip(p, r)]
    ours = [Goal.pose(*pose) for pose in zip(p, r)]
    solvers: dict[tuple[str, str], Solver] = {OURS: lambda i: (solve(chain, ours[i]).q, None)}
    try:
        transforms = elementary_transforms(chain)
        for name, (call, options, *_) in METHODS.items():
            for limits in ("off", "on"):
                how = {"ilimit": STEPS, "slimit": SEARCHES, "tol": TOLERANCE, "joint_limits": limits == "on", **options}
                solvers[name, limits] = _theirs(getattr(transforms, call), how, poses)
    except ImportError as error:
        print(f"roboticstoolbox: {error}", file=sys.stderr)
    spent = {title: np.empty(goals) for title in solvers}
    answers: dict[tuple[str, str], list[Answer]] = {title: [] for title in solvers}
    for block in range(0, goals, BLOCK):
        for title, solver in solvers.items():
            solver(block - 1)  # to warm up
            for i in range(block, min(block + BLOCK, goals)):
                began = time.perf_counter()
                found = solver(i)
                spent[title][i] = time.perf_counter() - began
                answers[title].append(found)
    print(f"Here: {release('roboticstoolbox-python')}.\n")
    table("solver", "limits", "", "reached", "1e-5 in all six", "searches, mean", "mean", "median", "p99")
    for name, (_, _, free, limited, searches) in METHODS.items():
        for limits, mean, count in (("off", free, ""), ("on", limited, searches)):
            row(name, limits, "published", "", "", count, duration(mean), "", "")
            if (name, limits) in answers:
                asked = chain if limits == "on" else None
                row(name, limits, "here", *_figures(answers[name, limits], spent[name, limits], poses, (judge, asked)))
    row(*OURS, "here", *_figures(answers[OURS], spent[OURS], poses, (judge, chain)))


def _figures(answers: list[Answer], spent: np.ndarray, poses: list[Pose], by: tuple) -> list[str]:
    """The cells of a row; by: the judge, and the chain whose limits count, or None."""
    judge, chain = by
    reached = exact = 0
    for (q, _), pose in zip(answers, poses):
        if chain is not None and not inside(chain, q):
            continue
        off = miss(judge(q), pose)
        reached += 0.5 * off @ off < TOLERANCE
        exact += bool((np.abs(off) <= EXACT).all())
    shares = [f"{100 * count / len(poses):.2f} %" for count in (reached, exact)]
    searches = "" if answers[0][1] is None else f"{np.mean([count for _, count in answers]):.2f}"
    return [*shares, searches, *map(duration, (spent.mean(), np.median(spent), np.percentile(spent, 99)))]


def _theirs(call: Callable, how: dict, poses: list[Pose]) -> Solver:
    def run(i: int) -> tuple[np.ndarray, int]:
        found = call(poses[i], **how)
        return found.q, found.searches

    return run
