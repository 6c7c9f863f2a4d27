"""TRAC-IK's table: 10,000 poses of random configurations, from the middle of the limits, to 1e-5 in all six numbers.

Protocol and figures: https://bitbucket.org/traclabs/trac_ik (README, as of v1.5.1 of 2019-07), of which
https://github.com/JafarAbdi/trac_ik is a copy. The mean is over all goals, failures included; theirs may take 5 ms.
Rows of that table whose very arm is in benchmarks/arms. Joints without limits are sampled over one turn.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.arms import sampled
from benchmarks.machine import silenced
from benchmarks.records.common import Pose, duration, find, inside, judge_of, miss, pose_of, release, row, table
from ik_solver_ros import Chain, Goal, solve, solve_batch

# Our file: the name there; reached and mean time [s] by KDL, by KDL with TRACLabs' restarts and by TRAC-IK.
PUBLISHED = {
    "fanuc_m430ia2f": ("Fanuc M-430iA/2F", (21.08, 3.98e-3), (88.69, 0.84e-3), (99.93, 0.36e-3)),
    "panda": ("Franka Emika Panda", (62.02, 2.11e-3), (93.21, 0.79e-3), (99.88, 0.37e-3)),
    "jaco_j2n6s300": ("Jaco2", (26.25, 3.77e-3), (97.85, 0.47e-3), (99.92, 0.35e-3)),
}
LIMIT, EPSILON = 0.005, 1e-5  # [s], and [m] and [rad] in each of the six
BLOCK = 1000  # goals that a solver gets in a row, so that all meet the same noise
Answers = list[np.ndarray | None]


def measure(goals: int = 10_000) -> None:
    table("arm", "solver", "reached", "outside limits", "mean", "median", "p99", "longest")
    for name, (title, kdl, restarts, tracik) in PUBLISHED.items():
        for who, (share, mean) in (("KDL", kdl), ("KDL, with restarts", restarts), ("TRAC-IK", tracik)):
            row(title, f"{who}, published", f"{share:.2f} %", "", duration(mean), "", "", "")
        compare(name, title, goals)


def compare(name: str, title: str, goals: int) -> None:
    urdf, chain = find(name)
    judge = judge_of(urdf, chain)
    q, p, r = sampled(chain, np.random.default_rng(0), goals)
    poses = [pose_of(*pose) for pose in zip(p, r)]
    ours = [Goal.pose(*pose) for pose in zip(p, r)]
    solvers = {"ik_solver_ros, solve()": lambda i: solve(chain, ours[i]).q}
    theirs = _tracik(str(urdf), chain)
    if theirs is not None:
        solvers = {f"TRAC-IK, here ({release('pytracik')})": lambda i: theirs(poses[i]), **solvers}
    spent = {who: np.empty(goals) for who in solvers}
    answers: dict[str, Answers] = {who: [] for who in solvers}
    batch, each = np.empty((goals, chain.n)), 0.0
    for block in range(0, goals, BLOCK):
        for who, solver in solvers.items():
            solver(block - 1)  # to warm up
            for i in range(block, min(block + BLOCK, goals)):
                began = time.perf_counter()
                found = solver(i)
                spent[who][i] = time.perf_counter() - began
                answers[who].append(found)
        some = slice(block, block + BLOCK)
        began = time.perf_counter()
        batch[some] = solve_batch(chain, p[some], quats_xyzw=r[some], threads=1).q
        each += (time.perf_counter() - began) / goals
    wanted = [judge(one) for one in q]
    for who, times in spent.items():
        failed, outside = _judged(chain, judge, answers[who], wanted)
        figures = (times.mean(), np.median(times), np.percentile(times, 99), times.max())
        row(title, who, f"{100 - 100 * len(failed) / goals:.2f} %", outside, *map(duration, figures))
    batch_failed, outside = _judged(chain, judge, list(batch), wanted)
    reached = f"{100 - 100 * len(batch_failed) / goals:.2f} %"
    row(title, "ik_solver_ros, solve_batch, one thread", reached, outside, duration(each), "", "", "")
    for i in batch_failed:
        print(f"\nNot reached: {name}, goal of q = {q[i].tolist()}: answer {batch[i].tolist()}", flush=True)


def _judged(chain: Chain, judge, answers: Answers, wanted: list[Pose]) -> tuple[list[int], int]:
    """The goals not reached within the limits, and how many answers are outside of them."""
    failed, outside = [], 0
    for i, q in enumerate(answers):
        within = q is not None and bool(np.isfinite(q).all()) and inside(chain, q)
        outside += q is not None and not within
        if not within or (np.abs(miss(judge(q), wanted[i])) > EPSILON).any():
            failed.append(i)
    return failed, outside


def _tracik(urdf: str, chain: Chain):
    """Goal to answer by TRAC-IK from the middle of the limits; None where it is not installed."""
    try:
        from trac_ik import TracIK
    except ImportError:
        return None
    with silenced():
        solver = TracIK(chain.base_link, chain.tip_link, urdf, timeout=LIMIT, epsilon=EPSILON)
    return lambda pose: solver.ik(pose[:3, 3], pose[:3, :3], chain.mid.copy())
