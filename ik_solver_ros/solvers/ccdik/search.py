"""CCDIK: the default solver. The goal exactly, or the nearest answer: position first, then approach, then roll.

Where the arm is a waist, three parallel hinges and a last hinge, its structure gives the answer (structure.py: there
the group of parallel hinges is one joint of CCDIK, moved to its best in closed form). Any other chain is searched by
sweeps and descents (generic.py, descent.py).
"""

from __future__ import annotations

import math

import numpy as np

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Array, tool_of, unpacked
from ik_solver_ros.solvers.ccdik.descent import chord_errors, pose_errors
from ik_solver_ros.solvers.ccdik.generic import (
    SAME_POSITION,
    descend_to_nearest,
    problem_of,
    search_exact,
    solve_generic,
)
from ik_solver_ros.solvers.ccdik.structure import MENDED, NEARLY, closed_form, solve_by_structure
from ik_solver_ros.solvers.goal import Goal, unpacked_goal
from ik_solver_ros.solvers.solution import Attempt, SolverOptions, unpacked_options

NO_FLIP = 0.1  # [rad or m] an answer this near to q0 is on its branch


def ccdik(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """The goal exactly, or the nearest answer found: position first, then approach, then roll."""
    return Attempt(
        *search(chain.arrays.kind, chain.packed, chain.waist_arm, goal.packed, goal.targets, q0, options.packed)
    )


@njit
def search(kind, packed, waist_arm, packed_goal, targets, q0, packed_options):
    """(q, iterations, restarts) of the best answer to a packed goal, see `ccdik`."""
    goal = unpacked_goal(packed_goal, targets, tool_of(kind.shape[0], packed), np.zeros((2, 3)))
    return search_unpacked(kind, packed, waist_arm, goal, q0, unpacked_options(packed_options))


@njit
def search_unpacked(kind, packed, waist_arm, goal, q0, options):
    """The same, with goal and options unpacked."""
    answer, error = q0, math.inf
    if waist_arm is not None and goal.targets > 0:
        answer, error, done = closed_form(waist_arm, goal, q0, options)
        exact = error <= 0.5 * options.orientation_tolerance
        hopeless = MENDED <= error < math.inf  # to mend: the position is in place, the direction cannot be had
        if done and not options.track and (exact or hopeless) and _inside(packed, q0):
            return answer, 0, 0
    return _search_fallback(unpacked(kind, packed), waist_arm, goal, q0, answer, error, options)


@njit
def _inside(packed, q):
    """Whether q is inside the limits of a packed chain."""
    n = q.shape[0]
    within = True
    for i in range(n):
        within = within and packed[10 * n + i] <= q[i] <= packed[11 * n + i]
    return within


@njit
def _search_fallback(body, waist_arm, goal, q0, answer, error, options):
    """The same where `closed_form` had nothing exact to say, or where a branch is to be kept to."""
    start = q0.copy()
    for i in range(start.shape[0]):
        start[i] = min(max(start[i], body.chain.lower[i]), body.chain.upper[i])
    p, first, second = chord_errors(body.chain, goal, start)
    if p <= 0.5 * options.position_tolerance and max(first, second) <= 0.5 * options.orientation_tolerance:
        return start, 0, 0  # the arm is there already
    problem = problem_of(body, goal, start, options)
    if waist_arm is not None:
        q, iterations, restarts = solve_by_structure(problem, waist_arm, answer, error)
        if error < NEARLY:
            p, first, second = chord_errors(body.chain, goal, q)
            if max(first, second) > options.orientation_tolerance:
                q, iterations, restarts = search_exact(problem, q)
    else:
        q, iterations, restarts = solve_generic(problem)
    if options.track and np.max(np.abs(q - start)) > NO_FLIP:
        q = _keep_branch(problem, q)
    return q, iterations, restarts


@njit
def _keep_branch(problem, answer):
    """The nearest answer on the branch of q0, unless `answer` is nearer by more than the hysteresis."""
    chain, goal, options = problem.body.chain, problem.goal, problem.options
    q = problem.start.copy()
    descend_to_nearest(problem, q, 1 if goal.targets > 0 else 0)
    here, there = pose_errors(chain, goal, q), pose_errors(chain, goal, answer)
    if here[0] > max(there[0] + SAME_POSITION, options.position_tolerance):
        return answer
    if here[1] - there[1] > options.hysteresis or here[2] - there[2] > options.hysteresis:
        return answer
    return q
