"""Those that solve a quadratic program for each step: differential inverse kinematics, run until it is there."""

from __future__ import annotations

import numpy as np

from benchmarks.arms import URDFS
from benchmarks.peers import Solver
from benchmarks.peers.descents import homogeneous, scene_of, without_shapes
from ik_solver_ros import Chain

THERE = 1e-7  # of the error [m] and [rad] at which the steps end


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


def make_oink(arm: str, chain: Chain) -> Solver:
    from roboplan.core import CartesianConfiguration
    from roboplan.optimal_ik import FrameTask, Oink, PositionLimit

    scene = scene_of(without_shapes(arm), chain)
    solver = Oink(scene, "arm")
    limits, step = [PositionLimit(solver)], np.zeros(solver.num_variables)
    full_step = np.zeros(len(scene.getCurrentJointPositions()))

    def run(p, r, d):
        tasks = [FrameTask(solver, scene, CartesianConfiguration(chain.base_link, chain.tip_link, homogeneous(p, r)))]
        q = chain.mid
        for _ in range(100):
            full = scene.toFullJointPositions("arm", q)
            scene.setJointPositions(full)
            scene.forwardKinematics(full, chain.tip_link)
            solver.solveIk(scene, tasks, limits, step)
            full_step[solver.v_indices] = step
            q = np.clip(scene.integrate(full, full_step)[solver.q_indices], chain.lower, chain.upper)
            if np.abs(step).max() < THERE:
                break
        return q

    return run


def make_mink(arm: str, chain: Chain) -> Solver:
    import mink
    import mujoco

    spec = mujoco.MjSpec.from_file(str(URDFS[arm]))
    spec.compiler.fusestatic = False  # keep the tip, which is a link without a joint
    spec.compiler.boundmass, spec.compiler.boundinertia = 1e-3, 1e-6  # these URDFs are of kinematics alone
    model = spec.compile()
    places = [int(model.joint(name).qposadr[0]) for name in chain.joint_names]
    configuration, limits = mink.Configuration(model), [mink.ConfigurationLimit(model)]
    task = mink.FrameTask(chain.tip_link, "body", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)

    def run(p, r, d):
        start = np.zeros(model.nq)
        start[places] = chain.mid
        configuration.update(start)
        task.set_target(mink.SE3(np.concatenate([np.roll(r, 1), p])))
        for _ in range(100):
            rates = mink.solve_ik(configuration, [task], 1.0, "daqp", damping=1e-6, limits=limits)
            configuration.integrate_inplace(rates, 1.0)
            if np.abs(task.compute_error(configuration)).max() < THERE:
                break
        return np.clip(configuration.q[places], chain.lower, chain.upper)

    return run
