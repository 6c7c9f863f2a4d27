"""CCDIK for any chain: a search for an exact answer, then descents to the nearest one.

1. From q0, then from sample postures near the goal and from random ones, a descent, every other time after a sweep. A
   goal that is out of reach is recognised by descents to its position alone.
2. Where nothing is exact: descents from many starts, the weights of approach and roll sinking by stages, which makes
   position, approach and roll strictly prior to one another.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.kernels import CONTINUOUS, Array, Packed
from ik_solver_ros.kinematics.quaternion import dot, sub
from ik_solver_ros.solvers.ccdik.descent import Budget, chord_errors, descend, sweep
from ik_solver_ros.solvers.goal import GoalArrays
from ik_solver_ros.solvers.random import seeded, uniform
from ik_solver_ros.solvers.solution import Settings

EXACT_WEIGHTS = (0.5, 0.5)  # (w1, w2) while an exact answer is sought
STAGES = ((0.3, 0.1), (0.03, 1e-3), (3e-3, 1e-5), (1e-3, 1e-6))  # (w1, w2) on the way to the nearest answer
# Of so many starts one begins with a sweep, 0: none does. Near singular postures a sweep often finds the wrong basin.
SWEEP_EVERY = 2
NEAR = 8  # sample postures that are tried before random ones
FAR = 24  # random ones beside them, where a position seems to be out of reach
SAME_POSITION, SAME_ANGLE = 1e-7, 1e-4  # [m], [rad] answers nearer than this are equal; then the nearer to q0 wins


class Problem(NamedTuple):
    """A goal for a chain, and what its answer is sought by."""

    body: Packed
    goal: GoalArrays
    point: GoalArrays  # the goal's position alone
    start: Array  # (n,) q0, inside the limits
    scale: float  # [1/m] makes lengths fractions of the arm's reach
    exact: Budget  # of descents to an exact answer
    nearest: Budget  # and of those to the nearest one
    options: Settings


@njit
def problem_of(body, goal, start, options):
    """The Problem of a goal (GoalArrays) for a packed chain."""
    tolerances = options.position_tolerance, options.orientation_tolerance
    return Problem(
        body,
        goal,
        GoalArrays(goal.position, 0, goal.tool, goal.wanted),
        start,
        1.0 / max(body.reach, 1e-6),
        Budget(tolerances[0], tolerances[1], options.max_iterations, True),
        Budget(tolerances[0], tolerances[1], options.max_iterations, False),
        options,
    )


@njit
def solve_generic(problem):
    """(q, iterations, restarts): an exact answer, else the nearest one found."""
    body, goal, point, start, scale, exact, nearest, options = problem
    chain = body.chain
    weights = (scale, EXACT_WEIGHTS[0], EXACT_WEIGHTS[1])
    total = 0
    state = seeded(options.seed)
    near = nearest_postures(body, goal, scale)
    beyond = sub(goal.position, chain.origin_p[0])
    if dot(beyond, beyond) > body.reach * body.reach:
        q, _, iterations = reach_position(problem)
        return orient_in_place(problem, q, iterations)
    for restart in range(options.max_restarts + 1):
        q = start_configuration(problem, near, restart, state)
        if SWEEP_EVERY > 0 and restart % SWEEP_EVERY == SWEEP_EVERY - 1:
            sweep(chain, goal, q, weights)
        iterations, reached = descend(chain, goal, q, weights, exact)
        total += iterations
        if reached:
            return q, total, restart
        if restart == 2:
            q, reached, iterations = reach_position(problem)
            total += iterations
            if not reached:
                return orient_in_place(problem, q, total)

    best = start.copy()
    best_errors = (math.inf, math.inf, math.inf)
    best_step = math.inf
    state = seeded(options.seed)
    for restart in range(options.max_restarts + 1):
        q = start_configuration(problem, near, restart, state)
        # Half of them go by the position alone at first, lest a far direction draw all away from it.
        if restart % 2 == 1:
            iterations, _ = descend(chain, point, q, (scale, 0.0, 0.0), exact)
            total += iterations
        total += descend_to_nearest(problem, q, restart % 2)
        errors = chord_errors(chain, goal, q)
        step = np.max(np.abs(q - start))
        if _better(errors, step, best_errors, best_step, options.position_tolerance):
            best[:] = q
            best_errors, best_step = errors, step
    # Near a singular posture an exact answer can look like a near miss; with all weights back, a descent tells.
    q = best.copy()
    iterations, reached = descend(chain, goal, q, weights, nearest)
    return (q if reached else best), total + iterations, options.max_restarts


@njit
def search_exact(problem, answer):
    """(q, iterations, restarts): an exact answer found from the nearest postures or random ones, else `answer`."""
    goal, scale, options = problem.goal, problem.scale, problem.options
    near = nearest_postures(problem.body, goal, scale)
    weights = (scale, EXACT_WEIGHTS[0], EXACT_WEIGHTS[1])
    state = seeded(options.seed)
    total = 0
    for restart in range(2, options.max_restarts + 1):
        q = start_configuration(problem, near, restart, state)
        iterations, reached = descend(problem.body.chain, goal, q, weights, problem.exact)
        total += iterations
        if reached:
            return q, total, restart
    return answer, total, options.max_restarts


@njit
def descend_to_nearest(problem, q, stage):
    """Descend from q, in place, to the nearest answer, beginning with this of the STAGES; returns the iterations."""
    chain, goal, scale = problem.body.chain, problem.goal, problem.scale
    total = 0
    for k in range(stage, len(STAGES) if goal.targets > 0 else 1):
        iterations, _ = descend(chain, goal, q, (scale, STAGES[k][0], STAGES[k][1]), problem.nearest)
        total += iterations
    # However small w1 is, it holds the tip off the position a little; this takes the little back.
    iterations, _ = descend(chain, problem.point, q, (scale, 0.0, 0.0), problem.exact)
    return total + iterations


@njit
def reach_position(problem):
    """(q, whether the position is reached, iterations): the nearest position from q0 and from the nearest postures."""
    body, point, scale = problem.body, problem.point, problem.scale
    near = nearest_postures(body, point, scale)
    best = problem.start.copy()
    least, total = math.inf, 0
    state = seeded(body.postures.shape[0])
    for k in range(1, 2 + NEAR + FAR):
        q = start_configuration(problem, near, k, state)
        iterations, reached = descend(body.chain, point, q, (scale, 0.0, 0.0), problem.nearest)
        total += iterations
        if reached:
            return q, True, total
        error = chord_errors(body.chain, point, q)[0]
        if error < least - SAME_POSITION:
            least = error
            best[:] = q
    return best, False, total


@njit
def orient_in_place(problem, q, iterations):
    """(q, iterations, restarts): from the nearest position q, what can be had of approach and roll at no cost of it."""
    chain, point = problem.body.chain, problem.point
    if problem.goal.targets > 0:
        oriented = q.copy()
        iterations += descend_to_nearest(problem, oriented, len(STAGES) - 1)
        if chord_errors(chain, point, oriented)[0] <= chord_errors(chain, point, q)[0] + SAME_POSITION:
            q = oriented
    return q, iterations, 0


@njit
def nearest_postures(body, goal, scale):
    """The NEAR sample postures whose tip is nearest to the goal, nearest first: their indices."""
    m = body.tips.shape[0]
    costs = np.empty(m)
    for k in range(m):
        tip = body.tips[k]
        cost = 0.0
        for i in range(3):
            cost += (scale * (tip[i] - goal.position[i])) ** 2
            if goal.targets > 0:
                cost += (EXACT_WEIGHTS[0] * (tip[3 + i] - goal.wanted[0, i])) ** 2
        costs[k] = cost
    out = np.empty(NEAR, dtype=np.int64)
    for k in range(NEAR):
        out[k] = np.argmin(costs)
        costs[out[k]] = math.inf
    return out


@njit
def start_configuration(problem, near, restart, state):
    """Where descent number `restart` begins: twice at q0, then at the nearest postures, then anywhere in the limits."""
    body = problem.body
    if restart < 2:
        return problem.start.copy()
    if restart < 2 + NEAR:
        return body.postures[near[restart - 2]].copy()
    chain = body.chain
    q = problem.start.copy()
    for i in range(q.shape[0]):
        u = uniform(state)
        if chain.kind[i] == CONTINUOUS:
            q[i] += math.pi * (2.0 * u - 1.0)
        else:
            q[i] = chain.lower[i] + u * (chain.upper[i] - chain.lower[i])
    return q


@njit
def _better(errors, step, best_errors, best_step, position_tolerance):
    """Position first, then approach, then roll, then the smaller largest joint step."""
    reached = errors[0] <= position_tolerance and best_errors[0] <= position_tolerance
    if not reached and abs(errors[0] - best_errors[0]) > SAME_POSITION:
        return errors[0] < best_errors[0]
    if abs(errors[1] - best_errors[1]) > SAME_ANGLE:
        return errors[1] < best_errors[1]
    if abs(errors[2] - best_errors[2]) > SAME_ANGLE:
        return errors[2] < best_errors[2]
    return step < best_step
