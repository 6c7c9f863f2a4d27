"""Inverse kinematics of others and ours side by side, in one table: make peers.

The goals are sampled by forward kinematics, so all of them have a solution; each peer gets the goal, the start
(mid-range) and the limits in the way that it takes them, see `HOW`. Blocks of goals are interleaved in one run, so that
all meet the same noise and each its own warm caches; every answer is judged by the same forward kinematics: the tip's
position, and where the tool points. What is not installed is left out.
"""

from __future__ import annotations

import math
import os
import platform
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.arms import URDFS, arms, sampled, tool_directions
from ik_solver_ros import Chain, Goal, solve

HOW = {
    "ik_solver_ros": "solve(): position and tool direction, 1e-6 m and 1e-6 rad",
    "eaik": "its analytic call, and in Python the choice of an exact solution in the limits: the full pose",
    "roboticstoolbox": "ik_LM in C++: the full pose, limits on, tolerance 1e-12, its 100 random restarts",
    "pytracik": "TRAC-IK: the full pose, 5 ms, 1e-6",
    "placo": "its QP solver, 100 steps of a position task and an axis-align task",
    "pinocchio": "damped least squares in Python as in its manual: the full pose, 200 steps, clamped to the limits",
    "ikpy": "inverse_kinematics: the full pose, scipy's bounded least squares",
    "pybullet": "calculateInverseKinematics: the full pose, 200 iterations, limits given",
}
BLOCK = 25  # goals that a solver gets in a row
Solver = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]  # (position, quaternion, direction) -> q


def main(names: list[str], goals: int = 200) -> None:
    print(f"Python {platform.python_version()}, {cpu()}, {time.strftime('%Y-%m-%d')}; {goals} sampled goals an arm\n")
    for name, how in HOW.items():
        print(f"- {name}: {how}")
    print("\n| arm | solver | 1 mm, 0.5 deg | 1e-6 | outside limits | median [us] | mean | p99 | median in ours |")
    print("|---|---|---|---|---|---|---|---|---|")
    for arm, chain in arms(names or tuple(URDFS)).items():
        compare(arm, chain, goals)


@contextmanager
def silenced():
    """Nothing written to the standard output's descriptor meanwhile."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def compare(arm: str, chain: Chain, goals: int) -> None:
    solvers: dict[str, Solver] = {}
    for name in HOW:
        try:
            with silenced():  # C++ parsers talk
                solvers[name] = globals()[f"make_{name}"](arm, chain)
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
            inside = bool((q >= chain.lower - 1e-9).all() and (q <= chain.upper + 1e-9).all())
            outside += not inside
            near += inside and off < 1e-3 and angle < math.radians(0.5)
            exact += inside and off < 1e-6 and angle < 1e-6
        t, share = np.array(spent[name]), 100 / goals
        print(
            f"| {arm} | {name} | {share * near:.1f} % | {share * exact:.1f} % | {outside} | {np.median(t):.1f} "
            f"| {t.mean():.1f} | {np.percentile(t, 99):.1f} | {np.median(t) / ours:.1f} x |",
            flush=True,
        )


def make_ik_solver_ros(arm: str, chain: Chain) -> Solver:
    return lambda p, r, d: solve(chain, Goal.approach(p, d)).q


def make_eaik(arm: str, chain: Chain) -> Solver:
    from eaik.IK_HP import HPRobot

    _, origins, axes = chain.joint_frames(np.zeros(chain.n))
    tip, quat = chain.forward(np.zeros(chain.n))
    robot = HPRobot(axes, np.diff(np.vstack([np.zeros(3), origins, tip]), axis=0))._robot
    home = Rotation.from_quat(quat).as_matrix().T
    pose, half = np.eye(4), 0.5 * (chain.upper - chain.lower) + 1e-6

    def run(p, r, d):
        pose[:3, :3], pose[:3, 3] = Rotation.from_quat(r).as_matrix() @ home, p
        found = robot.calculate_IK(pose)
        for least_squares in (False, True):  # exact solutions first
            for q, inexact in zip(found.Q, found.is_LS):
                q = q + 2 * np.pi * np.round((chain.mid - q) / (2 * np.pi))
                if bool(inexact) == least_squares and (abs(q - chain.mid) <= half).all():
                    return np.clip(q, chain.lower, chain.upper)
        return np.asarray(found.Q[0]) if len(found.Q) else None

    return run


def make_roboticstoolbox(arm: str, chain: Chain) -> Solver:
    import roboticstoolbox

    steps = []
    for joint in chain.model.path(chain.base_link, chain.tip_link):
        steps.append(roboticstoolbox.ET.SE3(_homogeneous(joint.origin_p, joint.origin_q)))
        if joint.type == "fixed":
            continue
        turn = Rotation.align_vectors([joint.axis], [[0.0, 0.0, 1.0]])[0]
        there = _homogeneous(np.zeros(3), turn.as_quat())
        steps.append(roboticstoolbox.ET.SE3(there))
        steps.append(roboticstoolbox.ET.Rz(qlim=[joint.lower, joint.upper]))
        steps.append(roboticstoolbox.ET.SE3(there.T))
    ets = roboticstoolbox.ETS(steps)
    return lambda p, r, d: ets.ik_LM(_homogeneous(p, r), q0=chain.mid.copy(), ilimit=30, slimit=100, tol=1e-12)[0]


def _homogeneous(p, quat):
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = Rotation.from_quat(quat).as_matrix(), p
    return out


def make_pytracik(arm: str, chain: Chain) -> Solver:
    from trac_ik import TracIK

    tracik = TracIK(chain.base_link, chain.tip_link, str(URDFS[arm]), timeout=0.005, epsilon=1e-6)

    def run(p, r, d):
        return tracik.ik(p, Rotation.from_quat(r).as_matrix(), chain.mid.copy())

    return run


def make_placo(arm: str, chain: Chain) -> Solver:
    import placo

    robot = placo.RobotWrapper(str(URDFS[arm]), placo.Flags.ignore_collisions)
    solver = placo.KinematicsSolver(robot)
    solver.mask_fbase(True)
    solver.enable_joint_limits(True)
    place = solver.add_position_task(chain.tip_link, np.zeros(3))
    place.configure("place", "soft", 1.0)
    align = solver.add_axisalign_task(chain.tip_link, np.array(chain.tool_axis), np.array([0.0, 0.0, 1.0]))
    align.configure("align", "soft", 0.1)

    def run(p, r, d):
        for name, value in zip(chain.joint_names, chain.mid):
            robot.set_joint(name, value)
        place.target_world, align.targetAxis_world = p, d
        for _ in range(100):
            robot.update_kinematics()
            solver.solve(True)
        return np.array([robot.get_joint(name) for name in chain.joint_names])

    return run


def make_pinocchio(arm: str, chain: Chain) -> Solver:
    import pinocchio

    model = pinocchio.buildModelFromUrdf(str(URDFS[arm]))
    names = [name for name in model.names[1:] if name not in chain.joint_names]
    model = pinocchio.buildReducedModel(model, [model.getJointId(n) for n in names], pinocchio.neutral(model))
    data, frame = model.createData(), model.getFrameId(chain.tip_link)

    def run(p, r, d):
        goal, q = pinocchio.SE3(Rotation.from_quat(r).as_matrix(), p), chain.mid.copy()
        for _ in range(200):
            pinocchio.forwardKinematics(model, data, q)
            error = pinocchio.log(pinocchio.updateFramePlacement(model, data, frame).actInv(goal)).vector
            if np.linalg.norm(error) < 1e-7:
                break
            jacobian = pinocchio.computeFrameJacobian(model, data, q, frame)
            step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-6 * np.eye(6), error)
            q = np.clip(pinocchio.integrate(model, q, step), chain.lower, chain.upper)
        return q

    return run


def make_ikpy(arm: str, chain: Chain) -> Solver:
    import ikpy.chain

    elements = [chain.base_link]
    for joint in chain.model.path(chain.base_link, chain.tip_link):
        elements += [joint.name, joint.child]
    peer = ikpy.chain.Chain.from_urdf_file(str(URDFS[arm]), base_elements=elements)
    moving = [i for i, link in enumerate(peer.links) if link.name in chain.joint_names]
    peer.active_links_mask = np.array([i in moving for i in range(len(peer.links))])
    start = np.zeros(len(peer.links))
    start[moving] = chain.mid

    def run(p, r, d):
        matrix = Rotation.from_quat(r).as_matrix()
        return peer.inverse_kinematics(p, matrix, orientation_mode="all", initial_position=start)[moving]

    return run


def make_pybullet(arm: str, chain: Chain) -> Solver:
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    body = pybullet.loadURDF(str(URDFS[arm]), useFixedBase=True, physicsClientId=client)
    infos = [pybullet.getJointInfo(body, i, client) for i in range(pybullet.getNumJoints(body, client))]
    moving = [info for info in infos if info[2] != pybullet.JOINT_FIXED]
    tip = next(info[0] for info in infos if info[12].decode() == chain.tip_link)
    order = [[info[1].decode() for info in moving].index(name) for name in chain.joint_names]
    lower, upper, mid = ([0.0] * len(moving) for _ in range(3))
    for k, where in enumerate(order):
        lower[where], upper[where], mid[where] = chain.lower[k], chain.upper[k], chain.mid[k]
    spans = [b - a for a, b in zip(lower, upper)]

    def run(p, r, d):
        for info, value in zip(moving, mid):
            pybullet.resetJointState(body, info[0], value, physicsClientId=client)
        found = pybullet.calculateInverseKinematics(
            body, tip, p, r, lower, upper, spans, mid, maxNumIterations=200, residualThreshold=1e-8,
            physicsClientId=client,
        )  # fmt: skip
        return np.array(found)[order]

    return run


def cpu() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


if __name__ == "__main__":
    main(sys.argv[1:])
