"""Recognising the arms that `analytic` solves: a waist (or none), two or three parallel hinges, a roll (or none)."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ik_solver_ros.errors import UnsupportedChainError
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.quaternion import rotate

PARALLEL = 1e-4  # [rad] axes that differ by less are parallel, those that differ from a right angle by less are across
SHORTEST = 1e-6  # [m] a bone, or a lever, shorter than this is none


class TwoBones(NamedTuple):
    """Such an arm at its zero posture, in the frame of its plane: x and y in it, as complex numbers, z across."""

    origin: tuple  # of that frame, on the first parallel hinge, in the base frame [m]
    basis: tuple  # its axes in the base frame
    waist_point: tuple  # on the waist
    waist_axis: tuple  # zero where there is no waist
    upper_arm: complex  # from the first parallel hinge to the second [m]
    forearm: complex  # from there to the third, or 0 where that has none, and the tip lies at `hand`
    roll_point: tuple  # the tip [m] from the last parallel hinge: a point on the axis of the roll...
    roll_axis: tuple  # ...whose direction is zero where there is none...
    offset: tuple  # ...and the tip's way from it
    tool: tuple  # where the tool points
    side: tuple  # across the tool
    waist: int  # index of the joint, -1 without
    first: int  # of the first parallel hinge
    hinges: int  # how many are parallel, 2 or 3
    roll: int  # index of the joint, -1 without
    signs: tuple  # of three parallel hinges: angle = sign * joint value


@lru_cache(maxsize=32)
def two_bones_of(chain: Chain) -> TwoBones:
    """The constants of a chain that is such an arm. Raises UnsupportedChainError, saying what is not."""

    def refuse(why: str) -> UnsupportedChainError:
        return UnsupportedChainError("analytic", chain, why)

    if chain.arrays.slides.any():
        raise refuse("it has a sliding joint")
    n = chain.n
    _, origins, axes = chain.joint_frames(np.zeros(n))
    tip, tip_q = chain.forward(np.zeros(n))
    parallel = [float(np.linalg.norm(np.cross(axes[i], axes[i + 1]))) < PARALLEL for i in range(n - 1)]
    if True not in parallel:
        raise refuse("no two neighbouring hinges are parallel")
    first = parallel.index(True)
    hinges = 1 + [*parallel[first:], False].index(False)
    last = first + hinges - 1
    if hinges > 3 or first > 1 or n - 1 - last > 1:
        raise refuse(
            f"it has {first} hinges, then {hinges} parallel ones, then {n - 1 - last}; at most one, two or three, and "
            "one have a closed form here"
        )
    z = axes[first]
    if first == 1 and abs(float(axes[0] @ z)) > PARALLEL:
        raise refuse(f"the waist {chain.joint_names[0]} is not across the parallel hinges")
    roll = last + 1 if last + 1 < n else -1
    tools = [np.asarray(rotate(tip_q.tolist(), axis)) for axis in chain.tool.tolist()]
    if roll >= 0 and np.linalg.norm(np.cross(axes[roll], tools[0])) > PARALLEL:
        raise refuse(f"its last hinge {chain.joint_names[roll]} bends the tool where it would have to roll it")
    if hinges == 3 and abs(float(tools[0] @ z)) > PARALLEL:
        raise refuse("the tool does not point along the plane of the parallel hinges")
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    basis = np.array([x, np.cross(z, x), z])
    at = (origins - origins[first]) @ basis.T
    ends = at[first : last + 1, 0] + 1j * at[first : last + 1, 1]
    upper_arm = complex(ends[1] - ends[0])
    forearm = complex(ends[2] - ends[1]) if hinges == 3 else 0j
    end = basis @ (tip - origins[last])
    end[2] = (basis @ (tip - origins[first]))[2]  # where along its axis a parallel hinge lies does not matter
    axis = basis @ axes[roll] if roll >= 0 else np.zeros(3)
    on_axis = end.copy()
    if roll >= 0:
        foot = basis @ (origins[roll] - tip)
        on_axis += foot - axis * (axis @ foot)
    if abs(upper_arm) < SHORTEST or (abs(forearm) if hinges == 3 else np.linalg.norm(end[:2])) < SHORTEST:
        raise refuse("one of its two bones has no length")
    signs = [float(np.sign(axes[i] @ z)) for i in range(first, last + 1)] + [1.0] * (3 - hinges)
    return TwoBones(
        tuple(origins[first]),
        tuple(map(tuple, basis)),
        tuple(at[0]) if first else (0.0, 0.0, 0.0),
        tuple(basis @ axes[0]) if first else (0.0, 0.0, 0.0),
        upper_arm,
        forearm,
        tuple(on_axis),
        tuple(axis),
        tuple(end - on_axis),
        tuple(basis @ tools[0]),
        tuple(basis @ tools[1]),
        0 if first else -1,
        first,
        hinges,
        roll,
        tuple(signs),
    )
