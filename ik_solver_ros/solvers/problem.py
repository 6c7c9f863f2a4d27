"""Problem: a goal for an arm, as compiled code sees it, and the grading of an answer to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ik_solver_ros.kinematics.arrays import Quat, Vec
from ik_solver_ros.kinematics.constants import INF, TWO_PI
from ik_solver_ros.kinematics.kernels import Body, Row, clamp, copy, tip_frame
from ik_solver_ros.kinematics.quaternion import angle_between, dot, from_two_vectors, rotate, sub
from ik_solver_ros.solvers.codes import NEAREST_ORIENTATION, NEAREST_POSITION, REACHED

if TYPE_CHECKING:
    from ik_solver_ros.solvers.goal import Goal
    from ik_solver_ros.solvers.solution import SolverOptions

NOWHERE = (0.0, 0.0, 0.0)


class Problem:
    """What is asked of an arm, and from where.

    `targets` is the number of directions that are wanted: none of a point, 1 of an approach (`tool[0]` along
    `wanted[0]`), 2 of a pose (`tool[1]` along `wanted[1]` as well). Functions that take a number of targets beside the
    problem look at so many of them only: with 0 at the position alone.
    """

    def __init__(self) -> None:
        self.targets = 0
        self.position = NOWHERE  # [m] in base_link
        self.tool = [NOWHERE, NOWHERE]  # unit, in the tip frame
        self.wanted = [NOWHERE, NOWHERE]  # unit, in base_link
        self.q0 = Row()  # where the arm is [rad or m]
        self.start = Row()  # the same, inside the limits
        self.options: SolverOptions | None = None
        self.scale = 1.0  # [1/m] makes lengths fractions of the arm's reach

    def set_options(self, body: Body, options: SolverOptions) -> None:
        """Whose problem it is, and how it is to be solved."""
        self.body = body
        if options is self.options:
            return
        self.options = options
        self.position_tolerance = options.position_tolerance
        self.orientation_tolerance = options.orientation_tolerance
        self.max_iterations = options.max_iterations
        self.max_restarts = options.max_restarts
        self.seed = options.seed
        self.roll_slack = options.roll_slack
        self.elbow = options.elbow_sign
        self.track = options.track
        self.hysteresis = options.hysteresis

    def directions(self) -> tuple[list[Vec], list[Vec]]:
        """(tool, wanted): the directions that are wanted."""
        k = range(self.targets)
        return [self.tool[i] for i in k], [self.wanted[i] for i in k]


def prepare(problem: Problem, body: Body, goal: Goal, start: Sequence[float], options: SolverOptions) -> Problem:
    """Take a goal for a chain, where it is (n,), and how the answer is to be sought; returns the problem."""
    problem.set_options(body, options)
    x, y, z, a, b, c, d = goal.numbers
    set_goal(problem, goal.targets, (x, y, z), (a, b, c, d))
    problem.q0.fill(start)
    set_start(problem)
    return problem


def set_goal(problem: Problem, targets: int, position: Vec, rest: Quat) -> None:
    """Take a goal: rest is an approach's direction, a zero after it, or a pose's quaternion."""
    problem.targets = targets
    problem.position = (position[0], position[1], position[2])
    problem.tool[0] = problem.body.tool[0]
    problem.tool[1] = problem.body.tool[1]
    problem.wanted[0] = (0.0, 0.0, 0.0)
    problem.wanted[1] = (0.0, 0.0, 0.0)
    problem.scale = 1.0 / max(problem.body.reach, 1e-6)
    if targets == 1:
        problem.wanted[0] = (rest[0], rest[1], rest[2])
    elif targets == 2:
        problem.wanted[0] = rotate(rest, problem.tool[0])
        problem.wanted[1] = rotate(rest, problem.tool[1])


def set_start(problem: Problem) -> None:
    """After `problem.q0` has been filled: the start, inside the limits."""
    copy(problem.q0, problem.start, problem.body.n)
    clamp(problem.body, problem.start)


def chord_errors(problem: Problem, targets: int, q: Row) -> tuple[float, float, float]:
    """(position [m], chord of the approach, chord of the roll): |p - p*|, |d1 - d1*|, |d2 - d2*|."""
    p, rotation = tip_frame(problem.body, q)
    offset = sub(p, problem.position)
    first = 0.0
    second = 0.0
    if targets > 0:
        c = sub(rotate(rotation, problem.tool[0]), problem.wanted[0])
        first = math.sqrt(dot(c, c))
    if targets > 1:
        c = sub(rotate(rotation, problem.tool[1]), problem.wanted[1])
        second = math.sqrt(dot(c, c))
    return math.sqrt(dot(offset, offset)), first, second


def pose_errors(problem: Problem, q: Row) -> tuple[float, float, float]:
    """(position [m], approach [rad], roll [rad]) by which the tip misses the goal at q.

    The roll is what remains about the tool axis after the shortest rotation that would mend the approach.
    """
    p, rotation = tip_frame(problem.body, q)
    offset = sub(p, problem.position)
    approach = 0.0
    roll = 0.0
    if problem.targets > 0:
        pointing = rotate(rotation, problem.tool[0])
        approach = angle_between(pointing, problem.wanted[0])
        if problem.targets > 1:
            mended = from_two_vectors(pointing, problem.wanted[0])
            roll = angle_between(rotate(mended, rotate(rotation, problem.tool[1])), problem.wanted[1])
    return math.sqrt(dot(offset, offset)), approach, roll


def settle(problem: Problem, q: Row) -> None:
    """Make an answer one that may be given: endless joints in the turn nearest to q0, all inside the limits.

    An answer that is not finite becomes q0.
    """
    for i in range(problem.body.n):
        if not -INF < q.at[i] < INF:
            copy(problem.q0, q, problem.body.n)
            break
    for i in range(problem.body.n):
        if problem.body.endless[i]:
            q.at[i] = q.at[i] + TWO_PI * math.floor((problem.q0.at[i] - q.at[i]) / TWO_PI + 0.5)
    clamp(problem.body, q)


def status_code(problem: Problem, position: float, approach: float, roll: float) -> int:
    """Which part of the goal an answer with these errors holds: one of codes.py."""
    if position > problem.position_tolerance:
        return NEAREST_POSITION
    if max(approach, roll) > problem.orientation_tolerance:
        return NEAREST_ORIENTATION
    return REACHED
