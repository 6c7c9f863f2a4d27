"""Those that solve a quadratic program for each step: differential inverse kinematics, run until it is there."""

from __future__ import annotations

import numpy as np

from benchmarks.arms import URDFS
from benchmarks.peers import Solver
from ik_solver_ros import Chain


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
