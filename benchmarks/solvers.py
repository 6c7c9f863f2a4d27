"""What each solver solves, and how long it takes next to one forward kinematics in the same run."""

from __future__ import annotations

import math
import time

import numpy as np
from scipy.spatial.transform import Rotation

from ik_solver_ros import Goal, SolverOptions, Status, load_chain, solve
from ik_solver_ros.share import share_dir

GOALS = {"ccdik": 2000, "ccdik_published": 300}
TOLERANCES = {"ccdik": SolverOptions(), "ccdik_published": SolverOptions(1e-3, math.radians(0.5), max_restarts=20)}


def sampled(chain, rng, kind):
    q = rng.uniform(chain.lower, chain.upper)
    position, quat = chain.forward(q)
    if kind == "approach":
        return Goal.approach(position, Rotation.from_quat(quat).as_matrix() @ chain.tool_axis)
    return Goal.pose(position, quat) if kind == "pose" else Goal.point(position)


def measure() -> None:
    print("Goals sampled by forward kinematics, from the middle of the ranges; times are those of Python calls.\n")
    print("| solver | arm | goals | tolerance | reached | outside limits | mean [us] | median [us] | in forward() |")
    print("|---|---|---|---|---|---|---|---|---|")
    for solver, count in GOALS.items():
        options = TOLERANCES[solver]
        for arm in ("so101", "seed_arm"):
            chain = load_chain(share_dir() / "urdf" / f"{arm}.urdf")
            for kind in ("point", "approach", "pose"):
                row(chain, solver, kind, count, options)


def row(chain, solver, kind, count, options) -> None:
    rng = np.random.default_rng(1)
    goals = [sampled(chain, rng, kind) for _ in range(count)]
    solve(chain, goals[0], solver=solver, options=options)
    forward = timed(lambda: chain.forward(chain.mid), 2000)
    times, reached, outside = [], 0, 0
    for goal in goals:
        began = time.perf_counter()
        solution = solve(chain, goal, solver=solver, options=options)
        times.append(1e6 * (time.perf_counter() - began))
        reached += solution.status is Status.REACHED
        outside += bool((solution.q < chain.lower).any() or (solution.q > chain.upper).any())
    tolerance = f"{options.position_tolerance:g} m, {math.degrees(options.orientation_tolerance):.2g} deg"
    print(
        f"| {solver} | {chain.model.name} | {count} {kind} | {tolerance} | {100 * reached / count:.2f} % | {outside} "
        f"| {np.mean(times):.0f} | {np.median(times):.0f} | {np.median(times) / forward:.1f} x |",
        flush=True,
    )


def timed(call, repeats) -> float:
    """Median time of a call [us]."""
    call()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        times.append(1e6 * (time.perf_counter() - began))
    return float(np.median(times))
