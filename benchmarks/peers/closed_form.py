"""Ours, and EAIK: closed forms, where an arm has one."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.peers import Solver
from ik_solver_ros import Chain, Goal, solve


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
