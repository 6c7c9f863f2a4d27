"""Recognising the arm with a waist, three parallel hinges and a last hinge (waist_arm.py) in a chain."""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation

from ik_solver_ros.kinematics.arrays import Array, ChainArrays
from ik_solver_ros.kinematics.constants import ON_AXIS
from ik_solver_ros.kinematics.kernels import Body, Frames, Row, joint_frames, tip_frame
from ik_solver_ros.kinematics.quaternion import rotate
from ik_solver_ros.kinematics.waist_arm import WaistArm

HINGES = 5  # of four joints one is missing: it turns nothing, and stays at zero
PARALLEL = 1e-4  # [rad] hinges that differ by less are parallel; what remains is mended by a descent
EXACT = 1e-8  # [m], [rad] a chain that differs by less is such an arm to all purposes


def find_waist_arm(chain: ChainArrays, body: Body, tool: Array) -> WaistArm | None:
    """The constants of a chain that is such an arm, None of any other. tool (2, 3): see Chain."""
    n = len(chain.slides)
    if not HINGES - 1 <= n <= HINGES or chain.slides.any():
        return None
    frames = Frames()
    tip_p, tip_q = joint_frames(body, Row(), frames)
    _, origins, axes = (np.array(column) for column in frames.columns(n))
    along = axes[1]
    parallel = [bool(np.linalg.norm(np.cross(axis, along)) < PARALLEL) for axis in axes]
    # Which joint is which hinge; the one that is missing is in the place after the last joint.
    joints = [0, 1, 2, 3, 4] if n == HINGES or parallel[3] else [0, 1, 2, 4, 3]
    last = joints[4] if joints[4] < n else None
    if not parallel[2] or (joints[3] < n and not parallel[3]):
        return None
    if any(np.linalg.norm(np.cross(axes[i], along)) < 0.1 for i in (0, last) if i is not None):
        return None  # a waist or a last hinge parallel to the group moves in its plane
    signs = np.array([np.sign(axes[i] @ along) if i < n else 0.0 for i in joints])
    signs[0] = 1.0
    if last is not None:
        signs[4] = 1.0
    first = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
    first /= np.linalg.norm(first)
    basis = np.array([first, np.cross(along, first), along])
    origin = origins[1]
    points, turns = (origins - origin) @ basis.T, axes @ basis.T
    plane = points[:, 0] + 1j * points[:, 1]
    upper_arm, forearm = complex(plane[2] - plane[1]), complex(plane[3] - plane[2])
    if min(abs(upper_arm), abs(forearm)) < 1e-3:
        return None

    def turning(vector: Array) -> list[Array]:
        if last is None:
            return [vector, np.zeros(3), np.zeros(3)]
        fixed = turns[last] * (turns[last] @ vector)
        return [fixed, vector - fixed, np.cross(turns[last], vector)]

    tip = turning(basis @ (np.array(tip_p) - origin) - points[-1])
    tip[0] = tip[0] + points[-1]
    directions = [turning(basis @ np.array(rotate(tip_q, axis))) for axis in tool]
    limits = np.array([np.append(chain.lower, 0.0), np.append(chain.upper, 0.0)])[:, joints]
    ends = np.sort(np.where(signs == 0.0, 0.0, signs * limits), axis=0)
    # A joint without limits has no ends: whatever stands in their place is as good as any other posture.
    ends_at = np.where(np.isfinite(ends), ends, 0.0)
    stretched, folded = (abs(upper_arm) + abs(forearm)) ** 2, (abs(upper_arm) - abs(forearm)) ** 2
    spans = [stretched, folded, *(abs(upper_arm + forearm * np.exp(1j * q3)) ** 2 for q3 in ends_at[:, 2].tolist())]
    units = np.exp(1j * ends_at[:, 1:4]).T.tolist()

    arm = WaistArm([origin, *basis], [points[0], turns[0]], [upper_arm, forearm, plane[3]])
    arm.set_tool(tip, directions[0], directions[1])
    arm.set_limits(ends[0].tolist(), ends[1].tolist(), joints, signs.tolist())
    rng = np.random.default_rng(0)
    deviation = max(_deviation(arm, body, tool, rng.uniform(-np.pi, np.pi, HINGES)) for _ in range(8))
    radius = float(np.linalg.norm(tip[1]))  # at which the last hinge turns the tip
    arm.set_ends(spans, units, bool(deviation < EXACT and not EXACT < radius < ON_AXIS))
    return arm


def _deviation(arm: WaistArm, body: Body, tool: Array, q: Array) -> float:
    """By how much the tip and the tool [m, 1] of these numbers differ from the chain's at q."""
    angles = np.array(arm.part("sign")) * q[arm.part("joint")]
    c, s = math.cos(angles[4]), math.sin(angles[4])
    tip, direction = (np.array([1.0, c, s]) @ np.array(arm.part(name)) for name in ("tip", "tool"))
    for angle, hinge in ((angles[3], arm.upper_arm + arm.forearm), (angles[2], arm.upper_arm), (angles[1], 0j)):
        turn = Rotation.from_rotvec([0.0, 0.0, angle]).as_matrix()
        pivot = np.array([hinge.real, hinge.imag, 0.0])
        tip, direction = pivot + turn @ (tip - pivot), turn @ direction
    waist_point = np.array(arm.part("waist_point"))
    turn = Rotation.from_rotvec(angles[0] * np.array(arm.part("waist_axis"))).as_matrix()
    tip, direction = waist_point + turn @ (tip - waist_point), turn @ direction
    basis = np.array(arm.part("basis"))
    p, r = tip_frame(body, Row(q))
    of_tip = np.linalg.norm(arm.part("origin") + basis.T @ tip - p)
    return float(max(of_tip, np.linalg.norm(basis.T @ direction - rotate(r, tool[0]))))
