"""CCDIK's answers, graded: one goal, or many of them, in one call of compiled code each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.constants import INF
from ik_solver_ros.kinematics.kernels import Body, Row
from ik_solver_ros.kinematics.waist_arm import WaistArm
from ik_solver_ros.solvers.ccdik.search import search_answer
from ik_solver_ros.solvers.ccdik.structure import ArmSearch
from ik_solver_ros.solvers.codes import NO_FAULT
from ik_solver_ros.solvers.goal_numbers import check_goal
from ik_solver_ros.solvers.problem import Problem, pose_errors, prepare, set_goal, settle, status_code
from ik_solver_ros.solvers.solution import Attempt

try:
    import cython
except ImportError:
    from ik_solver_ros import uncompiled as cython  # type: ignore[no-redef]

if TYPE_CHECKING:
    from ik_solver_ros.kinematics.chain import Chain
    from ik_solver_ros.solvers.goal import Goal
    from ik_solver_ros.solvers.solution import SolverOptions

IDLE: list[ArmSearch] = []  # searches that nobody is using: as many as threads have searched at once


class Answer:
    """A configuration, graded: what becomes a Solution."""

    def __init__(self, q: list[float], code: int, errors: tuple[float, float, float], work: tuple[int, int]) -> None:
        self.q = q  # n [rad or m]
        self.code = code  # see codes.py
        self.position_error, self.approach_error, self.roll_error = errors
        self.iterations, self.restarts = work


def new_search(body: Body, arm: WaistArm | None, options: SolverOptions) -> ArmSearch:
    """A search for answers of a chain; `give_back` it when it is done."""
    try:
        search = IDLE.pop()
    except IndexError:
        search = ArmSearch()
    search.problem.set_options(body, options)
    search.set_arm(arm)
    return search


def give_back(search: ArmSearch) -> None:
    """Let others use a search."""
    IDLE.append(search)


def find_answer(body: Body, arm: WaistArm | None, goal: Goal, start: Sequence[float], options: SolverOptions) -> Answer:
    """CCDIK's answer to a Goal from `start` (n,) with these SolverOptions."""
    search = new_search(body, arm, options)
    prepare(search.problem, body, goal, start, options)
    with cython.nogil:
        work = search_answer(search)
        settle(search.problem, search.answer)
        errors = pose_errors(search.problem, search.answer)
    answer = _answer(search.problem, search.answer, errors, work)
    give_back(search)
    return answer


def ccdik(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """CCDIK as a solver among others, see search.py: `solve` itself takes a shorter way."""
    answer = find_answer(chain.body, chain.waist_arm, goal, q0.tolist(), options)
    return Attempt(np.array(answer.q), answer.iterations, answer.restarts)


def grade(body: Body, goal: Goal, start: Sequence[float], q: Sequence[float], options: SolverOptions) -> Answer:
    """A configuration q (n,) that somebody answered with, put inside the limits."""
    search = new_search(body, None, options)
    prepare(search.problem, body, goal, start, options)
    search.answer.fill(q)
    settle(search.problem, search.answer)
    answer = _answer(search.problem, search.answer, pose_errors(search.problem, search.answer), (0, 0))
    give_back(search)
    return answer


def _answer(problem: Problem, q: Row, errors: tuple[float, float, float], work: tuple[int, int]) -> Answer:
    code = status_code(problem, errors[0], errors[1], errors[2])
    return Answer(q.values(problem.body.n), code, errors, work)


class Rows:
    """Goals (m, 7) of so many targets, starts (m, n), and room for their answers; see BatchSolution."""

    def __init__(self, targets: int, goals: Array, starts: Array, q: Array, codes: Any, errors: Array) -> None:
        self.targets = targets
        self.goals = goals
        self.starts = starts
        self.q = q  # (m, n); rows of goals that are not valid stay as they are, here and below
        self.codes = codes  # (m,) int64
        self.errors = errors  # (m, 3)


def answer_rows(search: ArmSearch, rows: Rows, first: int, last: int) -> None:
    """Answer the goals from `first` up to `last`."""
    with cython.nogil:
        for i in range(first, last):
            _answer_row(search, rows, i)


def _answer_row(search: ArmSearch, rows: Rows, i: int) -> None:
    n = search.problem.body.n
    for k in range(n):
        if not -INF < rows.starts[i, k] < INF:
            return
        search.problem.q0.at[k] = rows.starts[i, k]
    for k in range(7):
        search.numbers.at[k] = rows.goals[i, k]
    if check_goal(rows.targets, search.numbers) != NO_FAULT:
        return
    position = (search.numbers.at[0], search.numbers.at[1], search.numbers.at[2])
    rest = (search.numbers.at[3], search.numbers.at[4], search.numbers.at[5], search.numbers.at[6])
    set_goal(search.problem, rows.targets, position, rest)
    search_answer(search)
    settle(search.problem, search.answer)
    errors = pose_errors(search.problem, search.answer)
    rows.codes[i] = status_code(search.problem, errors[0], errors[1], errors[2])
    for k in range(n):
        rows.q[i, k] = search.answer.at[k]
    rows.errors[i, 0] = errors[0]
    rows.errors[i, 1] = errors[1]
    rows.errors[i, 2] = errors[2]
