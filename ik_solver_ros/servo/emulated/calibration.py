"""The calibration of servos that fit a robot exactly: for emulated ones."""

from __future__ import annotations

import numpy as np

from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.families import FAMILIES, TURN

TRAVEL = 0.02  # [m] of a whole range of what slides


def emulated_calibration(chain: Chain, protocol: str) -> Calibration:
    """One servo for each joint, the chain's first, in the middle where the joint is at 0, its range the joint's."""
    family = FAMILIES[protocol]
    first = max(family.ticks[0], 0)
    last = min(family.ticks[1], first + round(TURN / family.per_tick) - 1)  # one turn of those that can do several
    middle = (first + last + 1) // 2
    joints = []
    for i, name in enumerate([*chain.joint_names, *(joint.name for joint in chain.other_joints)]):
        joint = chain.model.joints[name]
        per_tick = TRAVEL / (last - first) if joint.type == "prismatic" else family.per_tick
        low, high = (
            int(np.clip(middle + position / per_tick, first, last)) if np.isfinite(position) else end
            for position, end in ((joint.lower, first), (joint.upper, last))
        )
        joints.append(ServoJoint(name, i + 1, 1, middle, low, high, per_tick))
    return Calibration(protocol, family.baud, tuple(joints))
