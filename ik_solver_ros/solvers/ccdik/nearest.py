"""Descents to a nearest answer from where an arm is: position strictly before approach, approach before roll.

What can be had in full is held in place while what comes after it is made as small as can be, by the method of
multipliers (Hestenes 1969, Powell 1969): after each descent the target that is held moves against what is left of its
error. Of what can not be had in full the weights tell what comes first.
"""

from __future__ import annotations

import math

from ik_solver_ros.kinematics.constants import INF
from ik_solver_ros.kinematics.kernels import Row, copy, largest_step, tip_frame
from ik_solver_ros.kinematics.quaternion import add, cross, dot, from_two_vectors, rotate, scaled, sub
from ik_solver_ros.kinematics.waist_arm import fitted
from ik_solver_ros.solvers.ccdik.constants import ENOUGH, FINE, FINEST, ONLY_EXACT, SAME_POSITION
from ik_solver_ros.solvers.ccdik.descent import Descent, descend
from ik_solver_ros.solvers.ccdik.starts import Starts
from ik_solver_ros.solvers.problem import Problem, chord_errors, pose_errors

SAME_ANGLE = 1e-4  # [rad] answers nearer than this are equal; then the nearer to q0 wins
ROUNDS = 12  # of descents, at most, until what is held is in place
PULL_1, PULL_2 = 0.3, 0.1  # weights of approach and roll that draw a start towards both
HELD = 0.03  # weight of what is made small, where all that comes before it is held
STRICT = 1e-2  # weight of what comes next, of what comes before it, where that cannot be had in full
SURE = 1e-4  # of the reach: what is held this well is put in place by a last descent without the rest


class Search(Descent):
    """A search for the answer to a problem: the rows that it works on, and its answer."""

    def __init__(self) -> None:
        super().__init__()
        self.problem = Problem()
        self.starts = Starts()
        self.position_starts = Starts()
        self.q = Row()
        self.before = Row()
        self.answer = Row()  # the best so far...
        self.errors = (INF, INF, INF)  # ...by how much it misses, see `pose_errors`...
        self.longest = INF  # ...the largest step to it from q0...
        self.agreed = 0  # ...and how often it has been found again
        # Of so many starts one begins with a sweep, 0: none does. Near singular postures a sweep often finds the
        # wrong basin.
        self.sweep_every = 2


def forget(search: Search) -> None:
    """Begin anew: no answer has been found yet."""
    copy(search.problem.start, search.answer, search.problem.body.n)
    search.errors = (INF, INF, INF)
    search.longest = INF
    search.agreed = 0


def draw(search: Search, q: Row) -> int:
    """Descend from q, in place, roughly towards position, approach and roll at once; returns the iterations."""
    weights = (search.problem.scale, PULL_1, PULL_2)
    iterations, _ = descend(search.problem, search, search.problem.targets, q, weights, ENOUGH)
    return iterations


def to_position(search: Search, q: Row) -> int:
    """Descend from q, in place, to the nearest position; returns the iterations."""
    iterations, _ = descend(search.problem, search, 0, q, (search.problem.scale, 0.0, 0.0), FINE)
    return iterations


def to_approach(search: Search, q: Row) -> int:
    """From a q that is at the nearest position on to the nearest approach there; returns the iterations."""
    n = search.problem.body.n
    scale = search.problem.scale
    total = 0
    missed = chord_errors(search.problem, 0, q)[0]
    allowed = max(missed + SAME_POSITION, search.problem.position_tolerance)
    copy(q, search.before, n)
    if missed <= search.problem.position_tolerance:
        total = _hold(search, q, 1, (scale, HELD, 0.0), 1)
        if chord_errors(search.problem, 0, q)[0] <= allowed:
            return total
        copy(search.before, q, n)  # at a singular posture nothing holds the position
    first, _ = descend(search.problem, search, 1, q, (scale, STRICT, 0.0), FINE)
    second, _ = descend(search.problem, search, 1, q, (scale, 0.1 * STRICT, 0.0), FINEST)
    total += first + second + to_position(search, q)
    if chord_errors(search.problem, 0, q)[0] > allowed:
        copy(search.before, q, n)
    return total


def to_roll(search: Search, q: Row) -> int:
    """From a q that is at the nearest approach on to the least roll there; returns the iterations."""
    scale = search.problem.scale
    errors = pose_errors(search.problem, q)
    if errors[2] <= search.problem.orientation_tolerance:
        return 0
    copy(q, search.before, search.problem.body.n)
    total = 0
    if search.problem.body.rolls != 0.0:
        roll_last(search.problem, q)
        now = pose_errors(search.problem, q)
        if now[2] <= search.problem.orientation_tolerance:
            return 0
    # The roll is what remains after the shortest rotation that mends the approach, so that is taken back of the target.
    across = search.problem.wanted[1]
    back = from_two_vectors(search.problem.wanted[0], _pointing(search.problem, q))
    search.problem.wanted[1] = rotate(back, across)
    if errors[0] > search.problem.position_tolerance:
        total, _ = descend(search.problem, search, 2, q, (scale, STRICT, STRICT * STRICT), FINEST)
        total += to_position(search, q)
    elif errors[1] <= search.problem.orientation_tolerance:
        total = _hold(search, q, 2, (scale, 1.0, HELD), 2)
    else:
        total = _hold(search, q, 2, (scale, HELD, STRICT * HELD), 1)
    search.problem.wanted[1] = across
    now = pose_errors(search.problem, q)
    lost = now[0] > max(errors[0] + SAME_POSITION, search.problem.position_tolerance)
    if lost or now[1] > errors[1] + search.problem.roll_slack or now[2] > errors[2]:
        copy(search.before, q, search.problem.body.n)
    return total


def _pointing(problem: Problem, q: Row) -> tuple[float, float, float]:
    _, rotation = tip_frame(problem.body, q)
    return rotate(rotation, problem.tool[0])


def roll_last(problem: Problem, q: Row) -> None:
    """Turn the last hinge, in place, to where the roll is least; it must do nothing but roll the tool."""
    last = problem.body.n - 1
    lower = problem.body.lower[last]
    upper = problem.body.upper[last]
    now = q.at[last]
    _, rotation = tip_frame(problem.body, q)
    pointing = rotate(rotation, problem.tool[0])
    mended = from_two_vectors(pointing, problem.wanted[0])
    side = rotate(mended, rotate(rotation, problem.tool[1]))
    sine = dot(cross(side, problem.wanted[1]), problem.wanted[0])
    turn = problem.body.rolls * math.atan2(sine, dot(side, problem.wanted[1]))
    q.at[last] = fitted(now + turn, lower, upper, problem.start.at[last])
    if q.at[last] != q.at[last]:
        at_lower = math.cos(lower - now - turn)
        at_upper = math.cos(upper - now - turn)
        q.at[last] = lower if at_lower > at_upper else upper


def consider(search: Search) -> int:
    """From `search.q`, at the nearest position, on to a nearest answer, which is kept where it is the best so far.

    Returns the iterations.
    """
    errors = pose_errors(search.problem, search.q)
    if errors[0] > max(search.errors[0] + SAME_POSITION, search.problem.position_tolerance):
        return 0
    total = 0
    if search.problem.targets > 0:
        total += to_approach(search, search.q)
        errors = pose_errors(search.problem, search.q)
        if _compared(search.problem, (errors[0], errors[1] - search.problem.roll_slack, 0.0), search.errors) > 0:
            return total
    if search.problem.targets > 1:
        total += to_roll(search, search.q)
        errors = pose_errors(search.problem, search.q)
    order = _compared(search.problem, errors, search.errors)
    longest = largest_step(search.q, search.problem.start, search.problem.body.n)
    if order == 0:
        search.agreed += 1
    if order < 0:
        search.agreed = 0
        search.errors = errors
    if order < 0 or (order == 0 and longest < search.longest):
        copy(search.q, search.answer, search.problem.body.n)
        search.longest = longest
    return total


def is_exact(search: Search) -> bool:
    """Whether the best answer so far serves the goal in full."""
    if search.errors[0] > search.problem.position_tolerance:
        return False
    return max(search.errors[1], search.errors[2]) <= search.problem.orientation_tolerance


def descend_to_nearest(search: Search, q: Row, drawn: bool) -> int:
    """Descend from q, in place, to a nearest answer, drawn to all of the goal first or not; returns the iterations."""
    targets = search.problem.targets
    total = draw(search, q) if drawn and targets > 0 else 0
    total += to_position(search, q)
    if targets > 0:
        total += to_approach(search, q)
    if targets > 1:
        total += to_roll(search, q)
    return total


def _compared(problem: Problem, errors: tuple[float, float, float], best: tuple[float, float, float]) -> int:
    """-1 where `errors` are better than the best, 0 where they are equal, else 1: position, approach, then roll."""
    reached = errors[0] <= problem.position_tolerance and best[0] <= problem.position_tolerance
    if not reached and abs(errors[0] - best[0]) > SAME_POSITION:
        return -1 if errors[0] < best[0] else 1
    if abs(errors[1] - best[1]) > SAME_ANGLE:
        return -1 if errors[1] < best[1] else 1
    if abs(errors[2] - best[2]) > SAME_ANGLE:
        return -1 if errors[2] < best[2] else 1
    return 0


def _hold(search: Search, q: Row, targets: int, weights: tuple[float, float, float], held: int) -> int:
    """Descend from q, in place, with the position held (held 1), or the approach as well (2)."""
    position = search.problem.position
    wanted = search.problem.wanted[0]
    total = 0
    off = 0.0
    for _round in range(ROUNDS):
        iterations, _ = descend(search.problem, search, targets, q, weights, ENOUGH if targets == 1 else FINEST)
        total += iterations
        left = add(scaled(1.0 / weights[0], search.residual[0]), sub(search.problem.position, position))
        off = dot(left, left)
        search.problem.position = sub(search.problem.position, left)
        if held == 2:
            left = add(scaled(1.0 / weights[1], search.residual[1]), sub(search.problem.wanted[0], wanted))
            off += dot(left, left) / (weights[0] * weights[0])
            search.problem.wanted[0] = sub(search.problem.wanted[0], left)
        if off * weights[0] * weights[0] <= SURE * SURE:
            break
    search.problem.position = position
    search.problem.wanted[0] = wanted
    iterations, _ = descend(search.problem, search, held - 1, q, weights, ONLY_EXACT)
    return total + iterations
