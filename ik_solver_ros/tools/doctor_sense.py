"""Whether a chain makes sense at all: what no arm is, though each part of it may be right."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ik_solver_ros.errors import listed
from ik_solver_ros.kinematics.chain import Chain, Wrist
from ik_solver_ros.kinematics.quaternion import rotate

MANY = 12  # joints; no arm that this package is for has more
STILL = 1e-6  # [m/rad, rad/rad] a joint that does less moves nothing
POSTURES = 32  # that are looked at
NEAR, ASTRAY = 1e-3, np.radians(60.0)  # [m], [rad]


class Finding(NamedTuple):
    """A sentence about the robot; a warning says what to mend."""

    warning: bool
    text: str


def tip_moves(chain: Chain) -> bool:
    """Whether any joint moves the tip."""
    return bool(_motion(chain)[0].max() > STILL)


def nonsense(chain: Chain) -> list[Finding]:
    """Warnings, where there are any."""
    tip, tool = _motion(chain)
    out = []
    if tip.max() <= STILL:
        out.append("no joint moves the tip: the lengths of the links, or the tip, are wrong")
    else:
        out += [
            f"joint {name!r} moves neither the tip nor the tool: is the tip, or the tool axis, the one you mean?"
            for name, *most in list(zip(chain.joint_names, tip, tool))[:-1]
            if max(most) <= STILL
        ]
    if chain.n == 1:
        kind = "line" if chain.arrays.slides[0] else "circle"
        out.append(f"one joint: the tip can only be on a {kind}; is the tip the one you mean?")
    if chain.n > MANY:
        out.append(f"{chain.n} joints in a row are more than any arm has: is the tip the one you mean?")
    stuck = [name for name, low, high in zip(chain.joint_names, chain.lower, chain.upper) if low == high]
    if stuck:
        out.append(f"lower and upper limits are the same, and the joint cannot move: {listed(stuck)}")
    if _like_a_propeller(chain):
        out.append(
            f"the last joint, {chain.joint_names[-1]!r}, turns the tool like a propeller, across its own axis: if the "
            "tool points along that axis, write tool_axis:=..."
        )
    return [Finding(True, text) for text in out]


def _motion(chain: Chain) -> tuple[np.ndarray, np.ndarray]:
    """How much each joint moves the tip [m or m/rad], and the tool's direction [rad/rad], at most: (n,) each."""
    rng = np.random.default_rng(0)
    tip, tool = np.zeros(chain.n), np.zeros(chain.n)
    for q in rng.uniform(*chain.finite_limits, (POSTURES, chain.n)):
        jacobian = chain.jacobian(q)
        direction = rotate(chain.forward(q)[1], chain.tool_axis)
        tip = np.maximum(tip, np.linalg.norm(jacobian[:3], axis=0))
        tool = np.maximum(tool, np.linalg.norm(np.cross(jacobian[3:].T, direction), axis=1))
    return tip, tool


def _like_a_propeller(chain: Chain) -> bool:
    """Whether the last hinge goes through the tip, across the tool and across the hinge before it."""
    if (
        chain.n < 2
        or chain.wrist is Wrist.ROLL
        or chain.arrays.slides[-2:].any()
        or chain.tool_axis_reason == "as given"
    ):
        return False
    p, quat = chain.forward(np.zeros(chain.n))
    _, origins, axes = chain.joint_frames(np.zeros(chain.n))
    from_hinge = np.linalg.norm(np.cross(p - origins[-1], axes[-1]))
    across = abs(rotate(quat, chain.tool_axis) @ axes[-1]) < np.cos(ASTRAY)
    return bool(from_hinge < NEAR and across and abs(axes[-2] @ axes[-1]) < np.cos(ASTRAY))
