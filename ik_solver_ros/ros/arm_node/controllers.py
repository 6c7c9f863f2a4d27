"""The controllers of an arm's node, by ros2_control's names: one leads the chain's joints, one all others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple, Protocol

import numpy as np
from rclpy.node import Node

from ik_solver_ros.control.follower import TrajectoryFollower
from ik_solver_ros.control.follower_group import Followers
from ik_solver_ros.control.tolerances import Tolerances
from ik_solver_ros.errors import GoalError, ParameterError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.ros.arm_node.constraints import constraints
from ik_solver_ros.ros.common.joint_limits import joint_limits
from ik_solver_ros.ros.common.parameters import Param, value
from ik_solver_ros.trajectory.limits import RAMP_TIME, MotionLimits
from ik_solver_ros.trajectory.trajectory import State, Trajectory

CONTROLLERS = ("joint_trajectory_controller", "gripper_controller")
PARAMS = (
    Param("allow_partial_joints_goal", False, "take trajectories for some of the joints; the others hold"),
    Param("ramp_time", RAMP_TIME, "[s] from full speed to rest when the arm is held", 0.01, 10.0),
)


class Controller(NamedTuple):
    """What leads some of an arm's joints."""

    name: str
    where: list[int]  # its joints are among the arm's
    limits: MotionLimits
    tolerances: Tolerances
    allow_partial: bool
    numbers: Iterator[int]  # for its trajectories, whichever of its followers takes them

    def follower(self, positions: Array) -> TrajectoryFollower:
        """A new one, for an arm measured at `positions` (of all its joints)."""
        return TrajectoryFollower(
            self.limits,
            positions[self.where],
            allow_partial=self.allow_partial,
            tolerances=self.tolerances,
            numbers=self.numbers,
        )


class Commands(Protocol):
    """What controllers can be told, by name; from any thread."""

    def accept(self, controller: str, trajectory: Trajectory, stamp: float, tolerances: Tolerances | None) -> int:
        """Take a trajectory that starts at `stamp` [s of the ROS clock; 0: at once], for its number.

        Raises TrajectoryError for what is refused.
        """

    def hold(self, controller: str) -> None:
        """Bring its joints to rest."""

    def setpoint(self, controller: str) -> State:
        """Where its joints are led now."""


def followers(controllers: Sequence[Controller], positions: Array) -> Followers:
    """New followers for all of an arm, measured at `positions`."""
    return {controller.name: (controller.follower(positions), controller.where) for controller in controllers}


def named_positions(chain: Chain, parameter: str, positions: Sequence[float]) -> dict[str, float]:
    """Positions [rad or m] of the chain's joints by joint, from a parameter; none where it is empty.

    Raises ParameterError.
    """
    if not len(positions):
        return {}
    try:
        return dict(zip(chain.joint_names, chain.checked(positions, parameter).tolist()))
    except GoalError as error:
        raise ParameterError(parameter, error.value, error.wanted) from None


def controllers(
    node: Node,
    chain: Chain,
    joint_names: Sequence[str],
    narrower: Mapping[str, tuple[float, float]] | None = None,
    speed_scale: float = 1.0,
) -> list[Controller]:
    """The controllers for an arm of these joints. narrower: position limits by joint that hold besides the URDF's."""
    out = []
    others = tuple(joint.name for joint in chain.other_joints if joint.name in joint_names)
    for name, names in zip(CONTROLLERS, (chain.joint_names, others)):
        if not names:
            continue
        joints = [chain.model.joints[joint] for joint in names]
        lower, upper, velocity = (np.array([getattr(j, w) for j in joints]) for w in ("lower", "upper", "velocity"))
        for i, joint in enumerate(names):
            low, high = (narrower or {}).get(joint, (-np.inf, np.inf))
            lower[i], upper[i] = max(lower[i], low), min(upper[i], high)
        given = joint_limits(node, names)
        limits = MotionLimits.from_urdf(names, lower, upper, velocity, value(node, "ramp_time"), given)
        out.append(
            Controller(
                name,
                [list(joint_names).index(joint) for joint in names],
                limits.scaled(speed_scale),
                constraints(node, names),
                value(node, "allow_partial_joints_goal"),
                count(1),
            )
        )
    return out
