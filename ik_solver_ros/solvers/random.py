"""A tiny random number generator for compiled code: seeded, portable, the same on every machine."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ik_solver_ros.jit import njit


@njit
def seeded(seed: int) -> npt.NDArray[np.uint64]:
    """The state of a generator, (1,) uint64."""
    return np.array([seed], dtype=np.uint64)


@njit
def uniform(state: npt.NDArray[np.uint64]) -> float:
    """The next number in [0, 1); advances `state`. SplitMix64 (Steele, Lea, Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) / 9007199254740992.0  # type: ignore[no-any-return]  # 2^53
