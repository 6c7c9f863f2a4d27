"""Arrays and tuples of numbers, as the whole package names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Vec: TypeAlias = Sequence[float] | Array  # three numbers
Quat: TypeAlias = Sequence[float] | Array  # four: x, y, z, w
Pose: TypeAlias = tuple[tuple[float, float, float], tuple[float, float, float, float]]  # position, quaternion


def read_only(values: object) -> Array:
    """A copy of numbers as an array that cannot be written to."""
    out = np.array(values, dtype=np.float64)
    out.flags.writeable = False
    return out


class ChainArrays(NamedTuple):
    """A chain of n joints as read-only arrays: joint i applies its origin, then turns about its axis, or slides."""

    slides: npt.NDArray[np.bool_]  # (n,) whether a joint slides; the others turn
    endless: npt.NDArray[np.bool_]  # (n,) whether a hinge has no limits
    origin_p: Array  # (n, 3) [m] from the frame of joint i-1 (or the base) to joint i
    origin_q: Array  # (n, 4) xyzw
    axis: Array  # (n, 3) unit, in the joint's frame
    tip_p: Array  # (3,) [m] from the last joint's frame to the tip
    tip_q: Array  # (4,) xyzw
    lower: Array  # (n,) [rad or m], -inf for endless joints
    upper: Array  # (n,) [rad or m], inf for endless joints

    def finite_limits(self) -> tuple[Array, Array]:
        """Lower and upper limits, (n,) each, to draw samples within: one turn, from -pi to pi, of endless joints."""
        lower = np.where(np.isfinite(self.lower), self.lower, -np.pi)
        return lower, np.where(np.isfinite(self.upper), self.upper, np.pi)
