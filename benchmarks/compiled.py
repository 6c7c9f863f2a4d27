"""The time of the search alone: many goals, answered in one thread by one call of compiled code."""

from __future__ import annotations

import time

import numpy as np

from ik_solver_ros import Chain, Goal, SolverOptions
from ik_solver_ros.solvers.ccdik.answers import Rows, answer_rows, give_back, new_search
from ik_solver_ros.solvers.ccdik.structure import ArmSearch


class GoalRows:
    """Goals of one kind, all from mid-range, and room for their answers, as solve_batch hands them to compiled code."""

    def __init__(self, chain: Chain, goals: list[Goal]) -> None:
        m = len(goals)
        self.q, self.codes, errors = np.full((m, chain.n), np.nan), np.full(m, -1, dtype=np.int64), np.empty((m, 3))
        numbers = np.array([goal.numbers for goal in goals])
        self._rows = Rows(goals[0].targets, numbers, np.tile(chain.mid, (m, 1)), self.q, self.codes, errors)

    def mean(self, search: ArmSearch) -> float:
        """The mean time [us] of an answer; all are answered once.

        In it are the reading and checking of a goal's numbers, the search, the grading of its answer by forward
        kinematics, and the writing of answer and errors. Not in it is anything of Python: no Goal, no Solution, no
        threads, and the one call for all of the goals does not count.
        """
        began = time.perf_counter()
        answer_rows(search, self._rows, 0, len(self.codes))
        return 1e6 * (time.perf_counter() - began) / len(self.codes)


def compiled_mean(chain: Chain, goals: list[Goal], repeats: int = 3) -> float:
    """The least of a few such means [us], after one to warm up."""
    search, rows = new_search(chain.body, chain.waist_arm, SolverOptions()), GoalRows(chain, goals)
    rows.mean(search)
    best = min(rows.mean(search) for _ in range(repeats))
    give_back(search)
    return best
