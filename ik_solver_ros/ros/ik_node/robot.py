"""The session of a robot, by its URDF and ik_node's parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import numpy as np
from rclpy.node import Node

from ik_solver_ros.collision.guard import CollisionGuard
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.load import with_limits
from ik_solver_ros.ros.common.joint_limits import joint_limits
from ik_solver_ros.ros.common.parameters import value
from ik_solver_ros.servo.calibration import load_calibration
from ik_solver_ros.session.session import ArmSession
from ik_solver_ros.session.settings import Settings
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.reference.ccdik_published import ccdik_step
from ik_solver_ros.solvers.solution import SolverOptions
from ik_solver_ros.solvers.solve import solve
from ik_solver_ros.trajectory.limits import MotionLimits

OF_SOLVER = ("position_tolerance", "orientation_tolerance", "max_iterations", "max_restarts", "seed", "elbow")


def settings(node: Node) -> Settings:
    """The session's settings as the node's parameters have them now."""
    options = SolverOptions(**{name: value(node, name) for name in OF_SOLVER})
    return Settings(options=options, **{f.name: value(node, f.name) for f in fields(Settings) if f.name != "options"})


def session_of(node: Node, chain: Chain, clock: Callable[[], float]) -> ArmSession:
    """The session of a robot, its solver loaded. Raises IkSolverError where a parameter does not fit the robot."""
    log = node.get_logger()
    given = joint_limits(node, chain.joint_names)
    chain = _calibrated(node, chain)
    limits = MotionLimits.from_urdf(
        chain.joint_names, chain.lower, chain.upper, chain.velocity_limit, value(node, "ramp_time"), given
    )
    if (limits.lower != chain.lower).any() or (limits.upper != chain.upper).any():
        chain = with_limits(chain, limits.lower, limits.upper)
    log.info(
        f"{chain.model.name}: {chain.n} joints from {chain.base_link} to {chain.tip_link} "
        f"({', '.join(chain.joint_names)}); "
        f"the tool points along {(np.round(chain.tool_axis, 3) + 0.0).tolist()} of the tip, {chain.tool_axis_reason}; "
        f"wrist: {chain.wrist.value}"
    )
    for doubt in chain.doubts:
        log.warning(doubt)
    _load_solver(node, chain)
    guard = CollisionGuard(
        chain,
        floor_height=value(node, "floor_height"),
        margin=value(node, "collision_margin"),
        ignored=[pair for pair in value(node, "collision_ignored") if pair],
    )
    for sentence in (*limits.assumed, *guard.notes):
        log.info(sentence)
    home = value(node, "home")
    return ArmSession(
        chain,
        limits,
        guard,
        home=home if len(home) else None,
        replan_lead=value(node, "replan_lead"),
        clock=clock,
        settings=settings(node),
    )


def _calibrated(node: Node, chain: Chain) -> Chain:
    """The chain within the ranges of its servos, where a calibration is given."""
    path = value(node, "calibration")
    if not path:
        return chain
    calibration = load_calibration(Path(path))
    calibration.fit({j.name: (j.lower, j.upper) for j in chain.model.joints.values()}, chain.joint_names)
    ranges = {joint.name: joint.limits for joint in calibration.joints}
    low, high = np.transpose([ranges[name] for name in chain.joint_names])
    return with_limits(chain, np.maximum(chain.lower, low), np.minimum(chain.upper, high))


def _load_solver(node: Node, chain: Chain) -> None:
    """Solve something, so that the first goal does not wait for what is imported when it is first needed."""
    pose = Goal.pose(*chain.forward(chain.mid))
    solve(chain, pose, solver=value(node, "solver"))
    if value(node, "live"):
        ccdik_step(chain, pose, chain.mid)
