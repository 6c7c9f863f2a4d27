"""Tracker: answers to goal after goal along a path, on one branch."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.solution import Solution, SolverOptions
from ik_solver_ros.solvers.solve import DEFAULT_OPTIONS, solve_from
from ik_solver_ros.solvers.track import extrapolated_start

CONTINUED = 0.2  # [rad or m] a step of a joint that is longer does not continue a path


class Tracker:
    """Follows a path: each answer is the next one on the branch of the one before.

    It remembers the last two answers, so that a singular posture, where branches meet, is passed the way it was come
    to, and keeps to the branch also where another one has a nearer answer (see `SolverOptions.hysteresis`).
    """

    def __init__(
        self, chain: Chain, q0: npt.ArrayLike | None = None, *, options: SolverOptions = DEFAULT_OPTIONS
    ) -> None:
        """Begin at q0 (n,) [rad or m], by default the middle of the joints' ranges. Raises GoalError."""
        self._chain = chain
        self._options = dataclasses.replace(options, track=True)
        self.restart(q0)

    def restart(self, q0: npt.ArrayLike | None = None) -> None:
        """Forget the path and begin anew at q0 (n,). Raises GoalError."""
        self._q = self._chain.mid if q0 is None else self._chain.checked(q0, "q0")
        self._before: Array | None = None  # where the arm was before, where that is known
        self._begins = True

    @property
    def q(self) -> Array:
        """(n,) the last answer [rad or m], or where the path begins."""
        return np.array(self._q)

    def solve(self, goal: Goal) -> Solution:
        """The answer to the path's next goal."""
        start = self._q
        if self._before is not None:
            start = extrapolated_start(self._chain, goal, self._q, self._before)
        solution = solve_from(self._chain, goal, np.asarray(start).tolist(), options=self._options)
        # The first goal may be far from where the arm is; what leads there says nothing about the path.
        far = self._begins and np.abs(solution.q - self._q).max() > CONTINUED
        self._before, self._q, self._begins = None if far else self._q, solution.q, False
        return solution
