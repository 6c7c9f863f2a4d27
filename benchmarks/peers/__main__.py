"""Inverse kinematics of others and ours side by side, in one table: make peers.

The goals are sampled by forward kinematics, so all of them have a solution; each peer gets the goal, the start
(mid-range) and the limits in the way that it takes them, see `PEERS`. Blocks of goals are interleaved in one run, so
that all meet the same noise and each its own warm caches; every answer is judged by the same forward kinematics: the
tip's position, and where the tool points. What is not installed is left out.
"""

from __future__ import annotations

import math
import sys
import time

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.arms import URDFS, arms, sampled, tool_directions
from benchmarks.machine import here, silenced
from benchmarks.peers import Solver, closed_form, descents, programs
from ik_solver_ros import Chain

PEERS = {  # how each is asked
    "ik_solver_ros": (closed_form.make_ik_solver_ros, "solve(): position and tool direction, 1e-6 m and 1e-6 rad"),
    "eaik": (
        closed_form.make_eaik,
        "its analytic call, and in Python the choice of an exact solution in the limits: the full pose",
    ),
    "roboticstoolbox": (
        descents.make_roboticstoolbox,
        "ik_LM in C++: the full pose, limits on, tolerance 1e-12, its 100 random restarts",
    ),
    "pytracik": (descents.make_pytracik, "TRAC-IK: the full pose, 5 ms, 1e-6"),
    "simple_ik": (
        descents.make_simple_ik,
        "RoboPlan's SimpleIk: the full pose, 1e-6, restarts for 5 ms",
    ),
    "pinocchio": (
        descents.make_pinocchio,
        "damped least squares in Python as in its manual: the full pose, 200 steps, clamped to the limits",
    ),
    "ikpy": (descents.make_ikpy, "inverse_kinematics: the full pose, scipy's bounded least squares"),
    "pybullet": (descents.make_pybullet, "calculateInverseKinematics: the full pose, 200 iterations, limits given"),
    "placo": (programs.make_placo, "its QP solver, 100 steps of a position task and an axis-align task"),
    "oink": (
        programs.make_oink,
        "RoboPlan's OInK: the full pose, up to 100 steps of a frame task, position limits",
    ),
    "mink": (programs.make_mink, "the full pose, up to 100 steps of a frame task, position limits, QPs by DAQP"),
}
BLOCK = 25  # goals that a solver gets in a row
ROUNDING = 1e-6  # [rad or m] by which limits may be passed, for those who keep them in single precision


def main(names: list[str], goals: int = 200) -> None:
    print(f"{here()}; {goals} sampled goals an arm\n")
    for name, (_, how) in PEERS.items():
        print(f"- {name}: {how}")
    print("\n| arm | solver | 1 mm, 0.5 deg | 1e-6 | outside limits | median [us] | mean | p99 | median in ours |")
    print("|---|---|---|---|---|---|---|---|---|")
    for arm, chain in arms(names or tuple(URDFS)).items():
        compare(arm, chain, goals)


def compare(arm: str, chain: Chain, goals: int) -> None:
    solvers: dict[str, Solver] = {}
    for name, (make, _) in PEERS.items():
        try:
            with silenced():
                solvers[name] = make(arm, chain)
        except Exception as error:  # noqa: PERF203 - a peer that is not there, or that cannot take this arm
            print(f"{arm}, {name}: {type(error).__name__}: {str(error)[:100]}", file=sys.stderr)
    _, p, r = sampled(chain, np.random.default_rng(13), goals)
    d = tool_directions(chain, r)
    spent: dict[str, list[float]] = {name: [] for name in solvers}
    answers: dict[str, list[np.ndarray]] = {name: [] for name in solvers}
    for block in range(0, goals, BLOCK):
        for name, solver in solvers.items():
            solver(p[block - 1], r[block - 1], d[block - 1])  # to warm up
            for i in range(block, min(block + BLOCK, goals)):
                began = time.perf_counter()
                q = solver(p[i], r[i], d[i])
                spent[name].append(1e6 * (time.perf_counter() - began))
                answers[name].append(q)
    ours = np.median(spent["ik_solver_ros"])
    for name in solvers:
        near = exact = outside = 0
        for i, q in enumerate(answers[name]):
            if q is None or not np.isfinite(q).all():
                continue
            position, quat = chain.forward(q)
            off = np.linalg.norm(position - p[i])
            tool = Rotation.from_quat(quat).as_matrix() @ chain.tool_axis
            angle = math.atan2(float(np.linalg.norm(np.cross(tool, d[i]))), float(tool @ d[i]))
            inside = bool((q >= chain.lower - ROUNDING).all() and (q <= chain.upper + ROUNDING).all())
            outside += not inside
            near += inside and off < 1e-3 and angle < math.radians(0.5)
            exact += inside and off < 1e-6 and angle < 1e-6
        t, share = np.array(spent[name]), 100 / goals
        print(
            f"| {arm} | {name} | {share * near:.1f} % | {share * exact:.1f} % | {outside} | {np.median(t):.1f} "
            f"| {t.mean():.1f} | {np.percentile(t, 99):.1f} | {np.median(t) / ours:.1f} x |",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
