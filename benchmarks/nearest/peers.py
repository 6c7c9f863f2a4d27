"""Inverse kinematics of others, each asked as its own documentation has it for a single goal within limits: see HOW.

All of them get the same URDF, of the arm alone, the same goal and the same start. A maker of a solver takes an arm and
gives what takes a goal and gives a configuration (n,).
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from benchmarks.nearest.arm import Arm, Array
from benchmarks.nearest.judge import Goal, cross, rotation

STEPS = 300  # of those that take single steps: 3 s at 100 Hz, as in placo's example of random targets
Solver = Callable[[Goal], Array]

HOW = {
    "ik_solver_ros": "`solve(chain, goal, q0)`",
    "placo": f"its QP solver, {STEPS} steps of a soft frame task (1, 1), or position and axis-align, limits on speed",
    "lerobot": f"placo as LeRobot's `RobotKinematics` has it, weights 1 and 0.01 (0 for a point), {STEPS} of its steps",
    "mink": f"a frame task (1, 1, LM damping 1) and the configuration limit, {STEPS} steps or until 1e-6 is reached",
    "pink": f"a frame task (1, 1), daqp, dt 0.01, damping 1e-8, {STEPS} steps or until 1e-8 is reached",
    "pyroki": "its basic example: pose cost (50, 10) and soft limits (100) by jaxls; it takes no start",
}
KINDS = {  # what each can be asked for
    "ik_solver_ros": ("approach", "pose", "far_pose", "far_point"),
    "placo": ("approach", "pose", "far_pose", "far_point"),
    "lerobot": ("pose", "far_pose", "far_point"),
    "mink": ("approach", "pose", "far_pose", "far_point"),
    "pink": ("approach", "pose", "far_pose", "far_point"),
    "pyroki": ("pose", "far_pose", "far_point"),
}


def urdf(arm: Arm) -> str:
    """The arm alone: its joints and limits, with inertias that every reader takes."""
    robot = ElementTree.Element("robot", name=arm.name)
    mujoco = ElementTree.SubElement(robot, "mujoco")  # which else melts the tip into the last moving link
    ElementTree.SubElement(mujoco, "compiler", fusestatic="false", discardvisual="true")
    links = ["base", *(f"arm_link_{k}" for k in range(1, arm.n + 1)), "tip"]
    for name in links:
        inertial = ElementTree.SubElement(ElementTree.SubElement(robot, "link", name=name), "inertial")
        ElementTree.SubElement(inertial, "mass", value="0.1")
        diagonal = dict.fromkeys(("ixx", "iyy", "izz"), "0.001")
        ElementTree.SubElement(inertial, "inertia", **diagonal, **dict.fromkeys(("ixy", "ixz", "iyz"), "0"))
    rows = [*zip(arm.joints, arm.steps, zip(arm.lower, arm.upper)), ("tip_joint", (arm.end, None, False), (0.0, 0.0))]
    for k, (name, (fixed, axis, slides), limits) in enumerate(rows):
        kind = "fixed" if axis is None else "prismatic" if slides else "revolute"
        kind = kind if np.isfinite(limits).all() else "continuous"
        joint = ElementTree.SubElement(robot, "joint", name=name, type=kind)
        ElementTree.SubElement(joint, "parent", link=links[k])
        ElementTree.SubElement(joint, "child", link=links[k + 1])
        ElementTree.SubElement(joint, "origin", xyz=_text(fixed[:3, 3]), rpy=_text(roll_pitch_yaw(fixed[:3, :3])))
        if axis is not None:
            ElementTree.SubElement(joint, "axis", xyz=_text(axis))
            ends = {} if kind == "continuous" else dict(zip(("lower", "upper"), (repr(float(end)) for end in limits)))
            ElementTree.SubElement(joint, "limit", effort="100", velocity="10", **ends)
    return ElementTree.tostring(robot, encoding="unicode")


def _text(numbers: Array) -> str:
    return " ".join(repr(float(number)) for number in numbers)


def roll_pitch_yaw(matrix: Array) -> Array:
    """(3,) [rad] as a URDF has it, of a rotation (3, 3)."""
    pitch = math.atan2(-matrix[2, 0], math.hypot(matrix[0, 0], matrix[1, 0]))
    if math.hypot(matrix[0, 0], matrix[1, 0]) < 1e-9:  # yaw and roll are about one axis: all of it is roll
        return np.array([math.copysign(1.0, pitch) * math.atan2(matrix[0, 1], matrix[1, 1]), pitch, 0.0])
    return np.array([math.atan2(matrix[2, 1], matrix[2, 2]), pitch, math.atan2(matrix[1, 0], matrix[0, 0])])


def written(arm: Arm) -> str:
    """The path of a file with the arm's URDF."""
    path = Path(tempfile.mkdtemp()) / f"{arm.name}.urdf"
    path.write_text(urdf(arm), encoding="utf-8")
    return str(path)


def target(goal: Goal) -> Array:
    """A transform (4, 4) to ask the tip to take; of an approach that which is the least turn from the start."""
    out = np.eye(4)
    out[:3, 3] = goal.position
    now = goal.arm.forward(np.array(goal.q0))[1]
    axis = goal.wanted()[0]
    if goal.quaternion is not None:
        out[:3, :3] = rotation(goal.quaternion)
    elif axis is not None:
        points = now @ goal.arm.tool
        half = np.array([*cross(points, axis), 1.0 + points @ axis])
        out[:3, :3] = rotation(half) @ now
    else:
        out[:3, :3] = now
    return out


def turning_cost(goal: Goal) -> list[float]:
    """What an error of orientation about each axis of the tip costs: of an approach none about the tool's."""
    if goal.kind == "far_point":
        return [0.0, 0.0, 0.0]
    return [1.0, 1.0, 1.0] if goal.quaternion is not None else (1.0 - abs(goal.arm.tool)).round(9).tolist()


def make_ik_solver_ros(arm: Arm) -> Solver:
    from benchmarks.nearest import ours

    return ours.make(arm)


def _stepped(arm: Arm, robot, solver, q0: tuple[float, ...]) -> Array:
    """The configuration (n,) after STEPS steps of placo's from q0."""
    for name, value in zip(arm.joints, q0):
        robot.set_joint(name, value)
    robot.update_kinematics()
    for _ in range(STEPS):
        solver.solve(True)
        robot.update_kinematics()
    return np.array([robot.get_joint(name) for name in arm.joints])


def make_placo(arm: Arm) -> Solver:
    import placo

    robot = placo.RobotWrapper(written(arm), placo.Flags.ignore_collisions)
    whole, pointing = placo.KinematicsSolver(robot), placo.KinematicsSolver(robot)
    for solver in (whole, pointing):
        solver.mask_fbase(True)
        solver.enable_velocity_limits(True)
        solver.dt = 0.01
    frame = whole.add_frame_task("tip", np.eye(4))
    frame.configure("tip", "soft", 1.0, 1.0)
    place = pointing.add_position_task("tip", np.zeros(3))
    place.configure("place", "soft", 1.0)
    align = pointing.add_axisalign_task("tip", arm.tool, np.array([0.0, 0.0, 1.0]))

    def run(goal: Goal) -> Array:
        if goal.quaternion is not None:
            frame.T_world_frame = target(goal)
            return _stepped(arm, robot, whole, goal.q0)
        place.target_world = goal.point
        align.configure("align", "soft", 0.0 if goal.direction is None else 1.0)
        if goal.direction is not None:
            align.targetAxis_world = goal.wanted()[0]
        return _stepped(arm, robot, pointing, goal.q0)

    return run


def make_lerobot(arm: Arm) -> Solver:
    import placo

    robot = placo.RobotWrapper(written(arm))
    solver = placo.KinematicsSolver(robot)
    solver.mask_fbase(True)
    frame = solver.add_frame_task("tip", np.eye(4))

    def run(goal: Goal) -> Array:
        frame.T_world_frame = target(goal)
        frame.configure("tip", "soft", 1.0, 0.0 if goal.quaternion is None else 0.01)
        return _stepped(arm, robot, solver, goal.q0)

    return run


def make_mink(arm: Arm) -> Solver:
    import mink
    import mujoco

    model = mujoco.MjModel.from_xml_string(urdf(arm))
    configuration = mink.Configuration(model)
    limits = [mink.ConfigurationLimit(model)]
    order = [model.jnt_qposadr[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)] for name in arm.joints]

    def run(goal: Goal) -> Array:
        task = mink.FrameTask("tip", "body", position_cost=1.0, orientation_cost=turning_cost(goal), lm_damping=1.0)
        task.set_target(mink.SE3.from_matrix(target(goal)))
        q = np.zeros(arm.n)
        q[order] = goal.q0
        configuration.update(q)
        for _ in range(STEPS):
            rates = mink.solve_ik(configuration, [task], 0.002, "daqp", damping=1e-3, limits=limits)
            configuration.integrate_inplace(rates, 0.002)
            error = task.compute_error(configuration)
            if np.linalg.norm(error[:3]) <= 1e-6 and np.linalg.norm(error[3:]) <= 1e-6:
                break
        return configuration.q[order].copy()

    return run


def make_pink(arm: Arm) -> Solver:
    import pink
    import pinocchio

    model = pinocchio.buildModelFromXML(urdf(arm))
    data = model.createData()

    def run(goal: Goal) -> Array:
        task = pink.FrameTask("tip", position_cost=1.0, orientation_cost=turning_cost(goal))
        task.set_target(pinocchio.SE3(target(goal)))
        q = pinocchio.integrate(model, pinocchio.neutral(model), goal.arm.inside(np.array(goal.q0)))
        configuration = pink.Configuration(model, data, q)
        for _ in range(STEPS):
            rates = pink.solve_ik(configuration, [task], 0.01, "daqp", damping=1e-8, safety_break=False)
            configuration.integrate_inplace(rates, 0.01)
            if np.linalg.norm(task.compute_error(configuration)) < 1e-8:
                break
        return pinocchio.difference(model, pinocchio.neutral(model), configuration.q)

    return run


def make_pyroki(arm: Arm) -> Solver:
    import jax
    import jax.numpy as jnp
    import jaxlie
    import jaxls
    import pyroki
    import yourdfpy

    robot = pyroki.Robot.from_urdf(yourdfpy.URDF.load(written(arm)))
    tip, joints = robot.links.names.index("tip"), robot.joint_var_cls(0)
    order = [robot.joints.actuated_names.index(name) for name in arm.joints]

    @jax.jit
    def found(wanted: jax.Array, turning: float) -> jax.Array:
        pose = jaxlie.SE3.from_matrix(wanted)
        costs = [
            pyroki.costs.pose_cost_analytic_jac(robot, joints, pose, jnp.array(tip), 50.0, turning),
            pyroki.costs.limit_cost(robot, joints, weight=100.0),
        ]
        region = jaxls.TrustRegionConfig(lambda_initial=1.0)
        problem = jaxls.LeastSquaresProblem(costs, [joints]).analyze()
        return problem.solve(verbose=False, linear_solver="dense_cholesky", trust_region=region)[joints]

    def run(goal: Goal) -> Array:
        q = found(jnp.array(target(goal)), 0.0 if goal.quaternion is None else 10.0)
        return np.array(q, dtype=float)[order]

    return run
