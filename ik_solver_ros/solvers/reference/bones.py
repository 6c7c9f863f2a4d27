"""A chain of hinges as points and bones, which `fabrik` goes by."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ik_solver_ros.errors import UnsupportedChainError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.quaternion import conjugate, rotate

COINCIDENT = 1e-6  # [m] hinges that are nearer are one joint


class Bones(NamedTuple):
    """A chain as points and bones."""

    base: Array  # (3,) [m] the first joint's place
    bone: Array  # (n, 3) [m] from each hinge to the next, in the frame that it turns; zero where they coincide
    last: npt.NDArray[np.int64]  # (n,) of the hinges that coincide with this one, the last


@lru_cache(maxsize=32)
def bones_of(chain: Chain) -> Bones:
    """The Bones of a chain. Raises UnsupportedChainError."""
    sliding = [name for name, slides in zip(chain.joint_names, chain.arrays.slides) if slides]
    if sliding:
        raise UnsupportedChainError("fabrik", chain, f"{' and '.join(sliding)} slides, and a bone has a fixed length")
    n = chain.n
    parents, origins, axes = chain.joint_frames(np.zeros(n))
    following, bone, last = chain.forward(np.zeros(n))[0], np.zeros((n, 3)), np.arange(n)
    together = [sum(np.linalg.norm(origins[max(i - 2, 0) : i + 3] - origins[i], axis=1) < COINCIDENT) for i in range(n)]
    for i in range(n - 1, -1, -1):
        here = origins[i]
        if together[i] < 3:  # not of a ball
            here = here + axes[i] * (axes[i] @ (following - here))
        offset = following - here
        if np.linalg.norm(offset) > COINCIDENT:
            bone[i] = rotate(conjugate(parents[i]), offset)
        elif i + 1 < n:
            last[i] = last[i + 1]
        following = here
    return Bones(following, bone, last)
