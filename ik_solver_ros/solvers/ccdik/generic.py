"""CCDIK for any chain: a search for an exact answer, then descents to the nearest one.

1. From q0, then from sample postures near the goal and from random ones, a descent, every other time after a sweep. A
   goal that is out of reach is recognised by descents to its position alone.
2. Where nothing is exact: descents from many starts, the weights of approach and roll sinking by stages, which makes
   position, approach and roll strictly prior to one another.
"""

from __future__ import annotations

from ik_solver_ros.kinematics.constants import INF, PI, SAMPLES
from ik_solver_ros.kinematics.kernels import Row, copy, largest_step, room
from ik_solver_ros.kinematics.quaternion import dot, sub
from ik_solver_ros.solvers.ccdik.constants import NEAR, SAME_POSITION, W1, W2
from ik_solver_ros.solvers.ccdik.descent import Descent, descend, sweep
from ik_solver_ros.solvers.problem import Problem, chord_errors
from ik_solver_ros.solvers.random import Random, uniform

FAR = 24  # random starts beside the nearest samples, where a position seems to be out of reach
SAME_ANGLE = 1e-4  # [rad] answers nearer than this are equal; then the nearer to q0 wins


class Starts:
    """Where descents begin: the sample postures nearest to a goal, then random ones."""

    def __init__(self) -> None:
        self.costs = room(0.0, SAMPLES)
        self.near = room(0, NEAR)
        self.random = Random()


class Search(Descent):
    """A search for the answer to a problem: the rows that it works on, and its answer."""

    def __init__(self) -> None:
        super().__init__()
        self.problem = Problem()
        self.starts = Starts()
        self.position_starts = Starts()
        self.q = Row()
        self.best = Row()
        self.answer = Row()
        # (w1, w2) on the way to the nearest answer
        self.stages = [(0.3, 0.1), (0.03, 1e-3), (3e-3, 1e-5), (1e-3, 1e-6)]
        # Of so many starts one begins with a sweep, 0: none does. Near singular postures a sweep often finds the
        # wrong basin.
        self.sweep_every = 2


def solve_generic(search: Search) -> tuple[int, int]:
    """(iterations, restarts): an exact answer, else the nearest one found, in `search.answer`."""
    n = search.problem.body.n
    weights = (search.problem.scale, W1, W2)
    targets = search.problem.targets
    total = 0
    prepare_starts(search.problem, search.starts, targets, search.problem.seed)
    beyond = sub(search.problem.position, search.problem.body.origin_p[0])
    if dot(beyond, beyond) > search.problem.body.reach * search.problem.body.reach:
        iterations, _ = reach_position(search)
        return orient_in_place(search, iterations)
    for restart in range(search.problem.max_restarts + 1):
        if restart == 1 and search.sweep_every == 0:
            continue  # without a sweep the second descent from q0 is the first one again
        begin(search.problem, search.starts, restart, search.q)
        if search.sweep_every > 0 and restart % search.sweep_every == search.sweep_every - 1:
            sweep(search.problem, search, search.q, weights)
        iterations, reached = descend(search.problem, search, targets, search.q, weights, True)
        total += iterations
        if reached:
            copy(search.q, search.answer, n)
            return total, restart
        if restart == 2:
            iterations, reached = reach_position(search)
            total += iterations
            if not reached:
                return orient_in_place(search, total)
    return _nearest(search, total)


def _nearest(search: Search, total: int) -> tuple[int, int]:
    """The same where nothing is exact, after `total` iterations."""
    n = search.problem.body.n
    targets = search.problem.targets
    copy(search.problem.start, search.best, n)
    best_errors = (INF, INF, INF)
    best_step = INF
    prepare_starts(search.problem, search.starts, targets, search.problem.seed)
    for restart in range(search.problem.max_restarts + 1):
        begin(search.problem, search.starts, restart, search.q)
        # Half of them go by the position alone at first, lest a far direction draw all away from it.
        if restart % 2 == 1:
            iterations, _ = descend(search.problem, search, 0, search.q, (search.problem.scale, 0.0, 0.0), True)
            total += iterations
        total += descend_to_nearest(search, search.q, restart % 2)
        errors = chord_errors(search.problem, targets, search.q)
        step = largest_step(search.q, search.problem.start, n)
        if _better(search.problem, errors, step, best_errors, best_step):
            copy(search.q, search.best, n)
            best_errors = errors
            best_step = step
    # Near a singular posture an exact answer can look like a near miss; with all weights back, a descent tells.
    copy(search.best, search.q, n)
    iterations, reached = descend(search.problem, search, targets, search.q, (search.problem.scale, W1, W2), False)
    if reached:
        copy(search.q, search.best, n)
    copy(search.best, search.answer, n)
    return total + iterations, search.problem.max_restarts


def search_exact(search: Search) -> tuple[int, int]:
    """(iterations, restarts): an exact answer from the nearest samples or random ones, in `search.answer`, else none
    and that stays as it is.
    """
    weights = (search.problem.scale, W1, W2)
    prepare_starts(search.problem, search.starts, search.problem.targets, search.problem.seed)
    total = 0
    for restart in range(2, search.problem.max_restarts + 1):
        begin(search.problem, search.starts, restart, search.q)
        iterations, reached = descend(search.problem, search, search.problem.targets, search.q, weights, True)
        total += iterations
        if reached:
            copy(search.q, search.answer, search.problem.body.n)
            return total, restart
    return total, search.problem.max_restarts


def descend_to_nearest(search: Search, q: Row, stage: int) -> int:
    """Descend from q, in place, to the nearest answer, beginning with this of the stages; returns the iterations."""
    targets = search.problem.targets
    scale = search.problem.scale
    total = 0
    for k in range(stage, 4 if targets > 0 else 1):
        weights = (scale, search.stages[k][0], search.stages[k][1])
        iterations, _ = descend(search.problem, search, targets, q, weights, False)
        total += iterations
    # However small w1 is, it holds the tip off the position a little; this takes the little back.
    iterations, _ = descend(search.problem, search, 0, q, (scale, 0.0, 0.0), True)
    return total + iterations


def reach_position(search: Search) -> tuple[int, bool]:
    """(iterations, whether the position is reached): the nearest position from q0 and from the nearest samples, in
    `search.answer`.
    """
    n = search.problem.body.n
    prepare_starts(search.problem, search.position_starts, 0, SAMPLES)
    copy(search.problem.start, search.answer, n)
    least = INF
    total = 0
    for k in range(1, 2 + NEAR + FAR):
        begin(search.problem, search.position_starts, k, search.q)
        iterations, reached = descend(search.problem, search, 0, search.q, (search.problem.scale, 0.0, 0.0), False)
        total += iterations
        if reached:
            copy(search.q, search.answer, n)
            return total, True
        error = chord_errors(search.problem, 0, search.q)[0]
        if error < least - SAME_POSITION:
            least = error
            copy(search.q, search.answer, n)
    return total, False


def orient_in_place(search: Search, iterations: int) -> tuple[int, int]:
    """(iterations, restarts): from the nearest position, `search.answer`, what can be had of approach and roll at no
    cost of it.
    """
    if search.problem.targets > 0:
        copy(search.answer, search.q, search.problem.body.n)
        iterations += descend_to_nearest(search, search.q, 3)
        oriented = chord_errors(search.problem, 0, search.q)[0]
        if oriented <= chord_errors(search.problem, 0, search.answer)[0] + SAME_POSITION:
            copy(search.q, search.answer, search.problem.body.n)
    return iterations, 0


def prepare_starts(problem: Problem, starts: Starts, targets: int, seed: int) -> None:
    """Find the NEAR sample postures whose tip is nearest to the goal, nearest first, and seed the random ones."""
    starts.random.state = seed
    for k in range(SAMPLES):
        d = sub(problem.body.tips[k], problem.position)
        cost = problem.scale * problem.scale * dot(d, d)
        if targets > 0:
            d = sub(problem.body.pointing[k], problem.wanted[0])
            cost += W1 * W1 * dot(d, d)
        starts.costs[k] = cost
    for i in range(NEAR):
        best = 0
        for k in range(1, SAMPLES):
            if starts.costs[k] < starts.costs[best]:
                best = k
        starts.near[i] = best
        starts.costs[best] = INF


def begin(problem: Problem, starts: Starts, restart: int, q: Row) -> None:
    """Put q where descent number `restart` begins: twice at q0, then at the nearest samples, then anywhere inside."""
    if restart < 2:
        copy(problem.start, q, problem.body.n)
        return
    for i in range(problem.body.n):
        if restart < 2 + NEAR:
            q.at[i] = problem.body.samples[starts.near[restart - 2]][i]
            continue
        u = uniform(starts.random)
        if problem.body.endless[i]:
            q.at[i] = problem.start.at[i] + PI * (2.0 * u - 1.0)
        else:
            q.at[i] = problem.body.lower[i] + u * (problem.body.upper[i] - problem.body.lower[i])


def _better(
    problem: Problem,
    errors: tuple[float, float, float],
    step: float,
    best_errors: tuple[float, float, float],
    best_step: float,
) -> bool:
    """Position first, then approach, then roll, then the smaller largest joint step."""
    tolerance = problem.position_tolerance
    reached = errors[0] <= tolerance and best_errors[0] <= tolerance
    if not reached and abs(errors[0] - best_errors[0]) > SAME_POSITION:
        return errors[0] < best_errors[0]
    if abs(errors[1] - best_errors[1]) > SAME_ANGLE:
        return errors[1] < best_errors[1]
    if abs(errors[2] - best_errors[2]) > SAME_ANGLE:
        return errors[2] < best_errors[2]
    return step < best_step
