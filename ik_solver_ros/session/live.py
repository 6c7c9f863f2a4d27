"""LiveSweep: the live mode, in which the arm takes one sweep of CCDIK a tick, so that the algorithm can be watched."""

from __future__ import annotations

import numpy as np

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.reference.ccdik_published import ccdik_step

SETTLED = 1e-6  # [rad or m] a sweep that moves no joint by more is the last


class LiveSweep:
    """A goal and where the sweeps towards it have come to."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self.goal: Goal | None = None  # None where there is nothing to sweep towards
        self._q = chain.mid

    def begin(self, goal: Goal, q: Array) -> None:
        """Sweep towards a goal, from q (n,)."""
        self.goal, self._q = goal, self._chain.clamped(q)

    def end(self) -> None:
        """Sweep no more."""
        self.goal = None

    def step(self) -> Array | None:
        """Where another sweep brings the joints (n,); None where there is no goal, or nothing left to gain."""
        if self.goal is None:
            return None
        q = ccdik_step(self._chain, self.goal, self._q)
        if np.max(np.abs(q - self._q)) < SETTLED:
            self.goal = None
            return None
        self._q = q
        return q
