"""The calibration of servos that fit a robot exactly: for emulated ones."""

from __future__ import annotations

import numpy as np

from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.servo.calibration import FAMILIES, Calibration, ServoJoint

MIDDLE, LAST = 2048, 4095  # [ticks]
SLIDE = 1e-5  # [m] of a tick of what slides


def emulated_calibration(chain: Chain, protocol: str) -> Calibration:
    """One servo for each joint, the chain's first, in the middle where the joint is at 0, its range the joint's."""
    family = FAMILIES[protocol]
    joints = []
    for i, name in enumerate([*chain.joint_names, *(joint.name for joint in chain.other_joints)]):
        joint = chain.model.joints[name]
        per_tick = SLIDE if joint.type == "prismatic" else family.per_tick
        low, high = (
            int(np.clip(MIDDLE + position / per_tick, 0, LAST)) if np.isfinite(position) else end
            for position, end in ((joint.lower, 0), (joint.upper, LAST))
        )
        joints.append(ServoJoint(name, i + 1, 1, MIDDLE, low, high, per_tick))
    return Calibration(protocol, family.baud, tuple(joints))
