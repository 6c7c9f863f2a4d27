"""ssik's comparison with EAIK: every answer to 200 poses of each arm, whatever the limits of its joints.

Protocol and figures: https://pypi.org/project/ssik/8.2.0/ and scripts/regen_bench.py of its repository: random
configurations within 0.5 rad of zero in every joint, numpy's default_rng(0), ten more to warm up, one call a pose for
all answers, no limits. Ours keeps to limits, so "none" are those of one turn of every joint. The rows with the arm's
own limits are not theirs: poses are of configurations all over the limits. Answers that differ by whole turns are one.
What there is to find is the union of what all find that is right to 1e-5 m and rad; "more than once" counts answers
that are equal but for whole turns (ssik is told not to list these). Where a wrist is singular the answers are a curve,
and places on it count each. Arms of six joints, of which ssik and benchmarks/arms have the very same model; of seven
there is no number of answers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module

import numpy as np

from benchmarks.machine import silenced
from benchmarks.records.common import OTHERS, Pose, duration, judge_of, miss, pose_of, release, row, table
from ik_solver_ros import Chain, Goal, Status, load_chain, solve_all
from ik_solver_ros.kinematics.load import with_limits

POSES, WARMUP = 200, 10
ARMS = {  # our file: ssik's module, base and tip; as published: EAIK's and ssik's mean [s] and number of answers
    "ur5e": ("universal_robots.ur5e_ik", "base_link", "tool0", (4e-6, "4-8"), (20e-6, "2-8")),
    "unitree_z1": ("unitree.z1_ik", "link00", "link06", (4e-6, "4-8"), (20e-6, "4-8")),
    "denso_vs060": ("denso.vs060_ik", "base_link", "J6", (4e-6, "8"), (10e-6, "4-8")),
    "xarm6": ("ufactory.xarm6_ik", "link_base", "link_eef", None, (450e-6, "8-16")),
    "kinova_gen3_lite": ("kinova.gen3_lite_ik", "base_link", "end_effector_link", None, (350e-6, "1-12")),
}
RIGHT = 1e-5  # [m] and [rad] in each of the six
APART = 0.02  # [rad] answers that differ by less in every joint, whole turns aside, are one
Solver = Callable[[Pose, Goal], "list[np.ndarray]"]
Judge = Callable[[np.ndarray], Pose]


def measure() -> None:
    table(
        "arm", "limits", "solver", "answers a pose", "of all there are", "more than once", "largest error", "median",
        "mean",
    )  # fmt: skip
    for name, (module, base, tip, eaik, ssik) in ARMS.items():
        chain = load_chain(OTHERS / f"{name}.urdf", base_link=base, tip_link=tip)
        if eaik is None:
            row(name, "none", "EAIK, published", "refuses this arm", "", "", "", "", "")
        for who, figures in (("EAIK", eaik), ("ssik", ssik)):
            if figures is not None:
                row(name, "none", f"{who}, published", figures[1], "", "", "", "", duration(figures[0]))
        turn = np.full(chain.n, np.pi)
        free = with_limits(chain, -turn, turn)
        theirs = _ssik(module, chain)
        everything = {"EAIK": _eaik(free), "ssik": theirs(False) if theirs else None, "ik_solver_ros": _ours(free)}
        judge = judge_of(OTHERS / f"{name}.urdf", chain)
        rng = np.random.default_rng(0)
        near_zero = [judge(rng.uniform(-0.5, 0.5, chain.n)) for _ in range(POSES + WARMUP)]
        compare((name, "none"), judge, near_zero, everything)
        everywhere = [judge(rng.uniform(chain.lower, chain.upper)) for _ in range(POSES + WARMUP)]
        limited = {"ssik": theirs(True) if theirs else None, "ik_solver_ros": _ours(chain)}
        compare((name, "its own"), judge, everywhere, limited)


def compare(title: tuple[str, str], judge: Judge, poses: list[Pose], solvers: dict[str, Solver | None]) -> None:
    goals = [Goal.from_matrix(pose) for pose in poses]
    titles = {"EAIK": f"EAIK, here ({release('EAIK')})", "ssik": f"ssik, here ({release('ssik')})"}
    found: dict[str, list[list[np.ndarray]]] = {}
    spent: dict[str, list[float]] = {}
    for who, solver in solvers.items():
        if solver is None:
            continue
        spent[who], found[who] = [], []
        for pose, goal in zip(poses, goals):
            began = time.perf_counter()
            answers = solver(pose, goal)
            spent[who].append(time.perf_counter() - began)
            found[who].append([q for q in answers if (np.abs(miss(judge(q), pose)) <= RIGHT).all()])
    different = {who: [distinct(answers) for answers in rows[WARMUP:]] for who, rows in found.items()}
    union = [distinct([q for rows in different.values() for q in rows[i]]) for i in range(POSES)]
    there_are = sum(map(len, union))
    for who, rows in different.items():
        got = sum(any(same(q, other) for other in rows[i]) for i in range(POSES) for q in union[i])
        given = sum(map(len, found[who][WARMUP:]))
        counts = [len(answers) for answers in rows]
        worst = max(np.abs(miss(judge(q), poses[WARMUP + i])).max() for i in range(POSES) for q in rows[i])
        times = np.array(spent[who][WARMUP:])
        row(
            *title, titles.get(who, who), f"{min(counts)}-{max(counts)}", f"{100 * got / there_are:.1f} %",
            given - sum(counts), f"{worst:.0e}", duration(np.median(times)), duration(times.mean()),
        )  # fmt: skip


def same(q: np.ndarray, other: np.ndarray) -> bool:
    return bool((np.abs((q - other + np.pi) % (2 * np.pi) - np.pi) <= APART).all())


def distinct(answers: list[np.ndarray]) -> list[np.ndarray]:
    out: list[np.ndarray] = []
    for q in answers:
        if not any(same(q, other) for other in out):
            out.append(q)
    return out


def _ours(chain: Chain) -> Solver:
    return lambda pose, goal: [one.q for one in solve_all(chain, goal) if one.status is Status.REACHED]


def _ssik(module: str, chain: Chain) -> Callable[[bool], Solver] | None:
    """By whether limits count; None where ssik is not there, or means another arm."""
    try:
        arm = import_module(f"ssik.prebuilt.{module}")
    except ImportError as error:
        print(f"ssik: {error}", file=sys.stderr)
        return None
    q = np.linspace(-0.5, 0.4, chain.n)
    assert np.allclose(arm.fk(q)[:3, 3], chain.forward(q)[0], atol=1e-9), f"{module} is another arm than ours"

    def by(limits: bool) -> Solver:
        how = {"respect_limits": limits, "enumerate_windings": False}
        return lambda pose, goal: [one.q for one in arm.solve(pose, **how)]

    return by


def _eaik(chain: Chain) -> Solver | None:
    """Its analytic answers, those that it calls exact; None where it knows no decomposition of the arm."""
    try:
        from eaik.IK_HP import HPRobot
    except ImportError as error:
        print(f"EAIK: {error}", file=sys.stderr)
        return None
    _, origins, axes = chain.joint_frames(np.zeros(chain.n))
    home = pose_of(*chain.forward(np.zeros(chain.n)))
    with silenced():
        robot = HPRobot(axes, np.diff(np.vstack([np.zeros(3), origins, home[:3, 3]]), axis=0))
    if not robot.hasKnownDecomposition():
        return None

    def run(pose: Pose, goal: Goal) -> list[np.ndarray]:
        wanted = pose.copy()
        wanted[:3, :3] = pose[:3, :3] @ home[:3, :3].T
        found = robot.IK(wanted)
        return [np.asarray(q) for q, inexact in zip(found.Q, found.is_LS) if not inexact]

    return run
