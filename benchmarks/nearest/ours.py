"""The answers of `ik_solver_ros`, as its README says: solve(chain, goal, q0)."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.nearest.arm import Arm, Array
from benchmarks.nearest.judge import Goal
from ik_solver_ros import Goal as Wanted
from ik_solver_ros import load_chain, solve


def make(arm: Arm) -> Callable[[Goal], Array]:
    chain = load_chain(arm.urdf, arm.base, arm.tip, arm.tool.tolist())
    if chain.joint_names != arm.joints:
        raise ValueError(f"{arm.name}: joints {chain.joint_names}, and not {arm.joints}")
    return lambda goal: solve(chain, asked(goal), goal.q0).q


def asked(goal: Goal) -> Wanted:
    if goal.quaternion is not None:
        return Wanted.pose(goal.position, goal.quaternion)
    if goal.direction is not None:
        return Wanted.approach(goal.position, goal.direction)
    return Wanted.point(goal.position)
