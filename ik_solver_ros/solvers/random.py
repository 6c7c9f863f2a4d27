"""A tiny random number generator for compiled code: seeded, portable, the same on every machine."""

from __future__ import annotations

from ik_solver_ros.solvers.splitmix import GAMMA, MASK, MIX_1, MIX_2


class Random:
    """The state of a generator."""

    def __init__(self, seed: int = 0) -> None:
        self.state = seed


def uniform(random: Random) -> float:
    """The next number in [0, 1). SplitMix64 (Steele, Lea, Flood 2014)."""
    random.state = (random.state + GAMMA) & MASK
    z = random.state
    z = ((z ^ (z >> 30)) * MIX_1) & MASK
    z = ((z ^ (z >> 27)) * MIX_2) & MASK
    z = z ^ (z >> 31)
    return (z >> 11) / 9007199254740992.0  # 2^53
