"""DimOS's comparison of Pink and RoboPlan's OInK: 200 goals an arm, 1 mm and 0.01 rad, ten attempts, no self-collision.

Protocol and figures: https://github.com/dimensionalOS/dimos/pull/3334 (benchmark_ik_backends.py and .md, 2026-08-03).
Goals are forward kinematics of random configurations without self-collision, numpy's default_rng(0); the first attempt
is from zero, nine more from random configurations, and an answer that collides is one more attempt. Which of their
draws collide takes the meshes of UFACTORY, which are not in this repository; the places of those that do are below,
found with them. With XARM_DESCRIPTION=.../xarm_ros2/xarm_description, of a checkout of
https://github.com/xArm-Developer/xarm_ros2, answers are checked for collisions, too; without it that step is left out.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.machine import silenced
from benchmarks.peers.descents import scene_of
from benchmarks.records.common import OTHERS, Pose, duration, inside, judge_of, miss, release, row, table
from ik_solver_ros import Chain, Goal, Status, load_chain, solve, solve_all

GOALS, WARMUP, ATTEMPTS = 200, 10, 10
NEAR, TURNED = 1e-3, 1e-2  # [m], [rad]
TURN = 0.99 * np.pi  # of UFACTORY's "limited" joints
LIMITS = {  # [rad], what xarm_device.urdf.xacro makes of limited:=true
    "xarm6": [(-TURN, TURN), (-2.059, 2.0944), (-TURN, 0.19198), (-TURN, TURN), (-1.69297, TURN), (-TURN, TURN)],
    "xarm7": [
        (-TURN, TURN), (-2.18, 2.18), (-TURN, TURN), (-0.11, TURN), (-TURN, TURN), (-1.75, TURN), (-TURN, TURN),
    ],
}  # fmt: skip
COLLIDING = {  # of the draws of default_rng(0), in their order
    "xarm6": {
        4, 6, 8, 16, 27, 32, 34, 40, 43, 46, 51, 58, 68, 69, 79, 88, 98, 107, 116, 118, 119, 122, 124, 133, 135, 188,
        190, 195, 205, 216, 227, 228, 233, 235, 239, 242,
    },
    "xarm7": {
        0, 3, 14, 15, 20, 21, 22, 38, 57, 75, 94, 96, 119, 121, 144, 151, 154, 161, 166, 173, 184, 195, 204, 207, 212,
        217, 220, 222, 228, 231, 239, 240,
    },
}  # fmt: skip
PUBLISHED = {  # reached [%]; median, 95th percentile and mean [s], on 16 cores
    "xarm6": {"Pink": (87.5, 29.6e-3, 512.2e-3, 123.8e-3), "OInK": (84.5, 31.3e-3, 99.8e-3, 38.4e-3)},
    "xarm7": {"Pink": (99.0, 8.6e-3, 207.5e-3, 38.9e-3), "OInK": (97.0, 5.1e-3, 66.5e-3, 16.4e-3)},
}
HAND = ("left_outer_knuckle", "left_finger", "left_inner_knuckle", "right_outer_knuckle", "right_finger",
        "right_inner_knuckle")  # fmt: skip
Starts = Iterator[np.ndarray]  # (n,) each [rad]
Solver = Callable[[int, Starts], Iterator["np.ndarray | None"]]  # of goal i the configurations found, None for none


def measure() -> None:
    with_meshes = "XARM_DESCRIPTION" in os.environ
    print(f"Self-collision of the answers is {'checked' if with_meshes else 'not checked: no XARM_DESCRIPTION'}.\n")
    table("arm", "solver", "reached", "median", "p95", "mean", "position error, median", "attempts, mean")
    for name, published in PUBLISHED.items():
        for who, (share, *figures) in published.items():
            row(name, f"{who}, published", f"{share} %", *map(duration, figures), "", "")
        compare(name)


def compare(name: str) -> None:
    text = description(name)
    chain = load_chain(text, base_link="link_base", tip_link="link_tcp", tool_axis="z")
    judge = judge_of(text, chain)
    goals = [judge(q) for q in draws(name, chain)]
    collides = collision_check(text, chain)
    titles = {"Pink": release("pin-pink"), "OInK": release("roboplan")}
    for who, make in (("Pink", pink), ("OInK", oink), ("ik_solver_ros", ours)):
        try:
            with silenced():
                solver = make(text, chain, goals)
        except ImportError as error:
            print(f"{name}, {who}: {error}", file=sys.stderr)
            continue
        rng = np.random.default_rng(1)
        times, errors, counts = [], [], []
        for i, goal in enumerate(goals):
            began = time.perf_counter()
            q, count = first_free(solver(i, starts(chain, rng)), collides)
            spent = time.perf_counter() - began
            if i < WARMUP:
                continue
            times.append(spent)
            counts.append(count)
            if q is not None and inside(chain, q) and near(judge(q), goal):
                errors.append(np.linalg.norm(miss(judge(q), goal)[:3]))
        figures = (np.median(times), np.percentile(times, 95), np.mean(times))
        title = f"{who}, here ({titles[who]})" if who in titles else who
        error = f"{1e3 * np.median(errors):.2g} mm"
        share = f"{100 * len(errors) / GOALS:.1f} %"
        row(name, title, share, *map(duration, figures), error, f"{np.mean(counts):.2f}")


def starts(chain: Chain, rng: np.random.Generator) -> Starts:
    yield np.zeros(chain.n)
    while True:
        yield rng.uniform(chain.lower, chain.upper)


def first_free(
    found: Iterator[np.ndarray | None], collides: Callable[[np.ndarray], bool]
) -> tuple[np.ndarray | None, int]:
    """The first answer without a collision of up to ten attempts, and which one it was."""
    count = 0
    for q in islice(found, ATTEMPTS):
        count += 1
        if q is not None and not collides(q):
            return q, count
    return None, count


def near(reached: Pose, goal: Pose) -> bool:
    off = miss(reached, goal)
    return bool(np.linalg.norm(off[:3]) <= NEAR and np.linalg.norm(off[3:]) <= TURNED)


def draws(name: str, chain: Chain) -> list[np.ndarray]:
    """The configurations of their goals, those of the warm-up first."""
    rng, kept, k = np.random.default_rng(0), [], 0
    while len(kept) < GOALS + WARMUP:
        q = rng.uniform(chain.lower, chain.upper)
        if k not in COLLIDING[name]:
            kept.append(q)
        k += 1
    return kept


def description(name: str) -> str:
    """The URDF of benchmarks/arms/others with their limits, and with collision meshes where there are some."""
    root = ElementTree.parse(OTHERS / f"{name}.urdf").getroot()
    joints = {joint.get("name"): joint for joint in root.iter("joint")}
    for k, (lower, upper) in enumerate(LIMITS[name]):
        joints[f"joint{k + 1}"].find("limit").attrib.update(lower=repr(lower), upper=repr(upper))
    if "XARM_DESCRIPTION" in os.environ:
        links = {link.get("name"): link for link in root.iter("link")}
        for link, mesh in meshes(name).items():
            geometry = ElementTree.SubElement(ElementTree.SubElement(links[link], "collision"), "geometry")
            ElementTree.SubElement(geometry, "mesh", filename=f"package://xarm_description/meshes/{mesh}")
    return ElementTree.tostring(root, encoding="unicode")


def meshes(name: str) -> dict[str, str]:
    """The mesh of each link."""
    arm = [f"link{k + 1}" for k in range(len(LIMITS[name]))]
    base, ending = ("base", "stl") if name == "xarm6" else ("link_base", "STL")
    out = {"link_base": f"{name}/visual/{base}.{ending}", "xarm_gripper_base_link": "gripper/base_link.STL"}
    return out | {k: f"{name}/visual/{k}.{ending}" for k in arm} | {k: f"gripper/{k}.STL" for k in HAND}


def xarm_scene(text: str, chain: Chain):
    """RoboPlan's scene of the arm; neighbours, and the parts of the gripper, may touch."""
    root = ElementTree.fromstring(text)
    palm = "xarm_gripper_base_link"
    pairs = {(joint.find("parent").get("link"), joint.find("child").get("link")) for joint in root.findall("joint")}
    pairs |= {(a, b) for a in HAND for b in HAND if a < b} | {(palm, link) for link in HAND}
    pairs |= {("link6", link) for link in (palm, "left_outer_knuckle", "right_outer_knuckle")}  # of both, as theirs
    description = os.environ.get("XARM_DESCRIPTION")
    if description is None:
        return scene_of(text, chain)
    scene = scene_of(text, chain, (str(Path(description).resolve().parent),))
    for a, b in pairs:
        scene.setCollisions(a, b, False)
    return scene


def collision_check(text: str, chain: Chain) -> Callable[[np.ndarray], bool]:
    if "XARM_DESCRIPTION" not in os.environ:
        return lambda q: False
    scene = xarm_scene(text, chain)
    return lambda q: scene.hasCollisions(scene.toFullJointPositions("arm", q))


def ours(text: str, chain: Chain, goals: list[Pose]) -> Solver:
    """`solve` from zero; where that collides from random starts, and after four of them every branch."""
    made = [Goal.pose(goal[:3, 3], Rotation.from_matrix(goal[:3, :3]).as_quat()) for goal in goals]

    def candidates(i: int, starts: Starts) -> Iterator[np.ndarray | None]:
        for start in islice(starts, 5):
            found = solve(chain, made[i], start)
            yield found.q if found.status is Status.REACHED else None
        for found in solve_all(chain, made[i], np.zeros(chain.n)):
            yield found.q if found.status is Status.REACHED else None

    return candidates


def tried(attempt: Callable, goal: Pose, starts: Starts) -> Iterator[np.ndarray | None]:
    """An attempt from each start; as in DimOS one that ends in an error is the last."""
    for start in starts:
        try:
            yield attempt(goal, start)
        except Exception:  # noqa: PERF203 - of whatever kind: a limit is passed, or the program has no solution
            return


def pink(text: str, chain: Chain, goals: list[Pose]) -> Solver:
    """Up to 200 steps of 0.05 s of a frame task and a faint posture task, with DimOS's weights; QPs by ProxQP."""
    import pinocchio
    import proxsuite  # noqa: F401 - what it takes for solver="proxqp"
    from pink import Configuration, solve_ik
    from pink.tasks import FrameTask, PostureTask

    model = pinocchio.buildModelFromXML(text)
    data, places = model.createData(), [model.joints[model.getJointId(name)].idx_q for name in chain.joint_names]

    def attempt(goal: Pose, start: np.ndarray) -> np.ndarray | None:
        full = pinocchio.neutral(model)
        full[places] = start
        configuration = Configuration(model, data, full)
        frame = FrameTask(chain.tip_link, position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6, gain=0.5)
        frame.set_target(pinocchio.SE3(goal[:3, :3], goal[:3, 3]))
        posture = PostureTask(cost=1e-3)
        posture.set_target_from_configuration(configuration)
        for _ in range(200):
            q = configuration.q[places]
            if near(configuration.get_transform_frame_to_world(chain.tip_link).homogeneous, goal):
                return q
            rates = solve_ik(configuration, [frame, posture], 0.05, solver="proxqp", damping=1e-8, safety_break=True)
            configuration.integrate_inplace(rates, 0.05)
            if not inside(chain, configuration.q[places]):
                return None
        return None

    return lambda i, starts: tried(attempt, goals[i], starts)


def oink(text: str, chain: Chain, goals: list[Pose]) -> Solver:
    """Up to 100 whole steps of a frame task with limits on positions, clamped to these."""
    from roboplan.core import CartesianConfiguration
    from roboplan.optimal_ik import FrameTask, Oink, PositionLimit

    scene = xarm_scene(text, chain)
    solver = Oink(scene, "arm")
    limits, step = [PositionLimit(solver)], np.zeros(solver.num_variables)
    full_step = np.zeros(len(scene.getCurrentJointPositions()))

    def attempt(goal: Pose, start: np.ndarray) -> np.ndarray | None:
        tasks = [FrameTask(solver, scene, CartesianConfiguration("", chain.tip_link, goal))]
        q = start
        for _ in range(101):
            full = scene.toFullJointPositions("arm", q)
            scene.setJointPositions(full)
            if near(scene.forwardKinematics(full, chain.tip_link), goal):
                return q
            solver.solveIk(scene, tasks, limits, step)
            full_step[solver.v_indices] = step
            q = np.clip(scene.integrate(full, full_step)[solver.q_indices], chain.lower, chain.upper)
        return None

    return lambda i, starts: tried(attempt, goals[i], starts)
