"""What solvers by the Jacobian go by: the twist that is missing to the goal, and how each joint changes it."""

from __future__ import annotations

import math

import numpy as np

from ik_solver_ros.kinematics.arrays import Array, Quat
from ik_solver_ros.kinematics.kernels import Frames, Row, angular_column, joint_frames, linear_column, room
from ik_solver_ros.kinematics.quaternion import dot, from_two_vectors, multiply, rotate, scaled, sub
from ik_solver_ros.solvers.problem import Problem

NONE = (0.0, 0.0, 0.0)


class Twist(Frames):
    """Room for the missing twist at a configuration and for the Jacobian; lengths are fractions of the arm's reach."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = NONE  # the twist that would mend the tip: where it shall move...
        self.angular = NONE  # ...and how turn [rad]; zero for a point
        self.moves = room(NONE)  # how each joint moves the tip...
        self.turns = room(NONE)  # ...and how it turns it: zero for a point, not about the tool for an approach

    def rows(self, problem: Problem) -> tuple[list[float], list[list[float]]]:
        """(e, J) as they were filled in last: (m,) and (m, n), where m is 3 for a point, else 6."""
        m = 3 if problem.targets == 0 else 6
        columns = [list(self.moves[i]) + list(self.turns[i]) for i in range(problem.body.n)]
        return (list(self.linear) + list(self.angular))[:m], [[column[k] for column in columns] for k in range(m)]


def twist_and_jacobian(problem: Problem, q: Array) -> tuple[Array, Array]:
    """(e, J) at q (n,), see `Twist.rows`; for those who are not compiled."""
    twist = Twist()
    fill_twist(problem, twist, Row(q.tolist()))
    e, jacobian = twist.rows(problem)
    return np.array(e), np.array(jacobian)


def fill_twist(problem: Problem, twist: Twist, q: Row) -> None:
    """Fill in the twist that is missing at q, and the Jacobian there."""
    p, rotation = joint_frames(problem.body, q, twist)
    twist.linear = scaled(problem.scale, sub(problem.position, p))
    twist.angular = (0.0, 0.0, 0.0)
    pointing = rotate(rotation, problem.tool[0])
    if problem.targets > 0:
        mend = from_two_vectors(pointing, problem.wanted[0])
        if problem.targets > 1:
            across = rotate(mend, rotate(rotation, problem.tool[1]))
            mend = multiply(from_two_vectors(across, problem.wanted[1]), mend)
        twist.angular = _rotation_vector(mend)
    for i in range(problem.body.n):
        twist.moves[i] = scaled(problem.scale, linear_column(problem.body, twist, i, p))
        turn = (0.0, 0.0, 0.0)
        if problem.targets > 0:
            turn = angular_column(problem.body, twist, i)
            if problem.targets == 1:
                turn = sub(turn, scaled(dot(turn, pointing), pointing))
        twist.turns[i] = turn


def missing(twist: Twist) -> float:
    """The square of the missing twist's length."""
    return dot(twist.linear, twist.linear) + dot(twist.angular, twist.angular)


def downhill(twist: Twist, i: int) -> float:
    """How much joint i helps: (J^T e)_i."""
    return dot(twist.moves[i], twist.linear) + dot(twist.turns[i], twist.angular)


def tolerance_ratio(problem: Problem, twist: Twist) -> float:
    """How far the tip is from done, in tolerances: done at 1 and below."""
    offset = math.sqrt(dot(twist.linear, twist.linear)) / (problem.scale * problem.position_tolerance)
    return max(offset, math.sqrt(dot(twist.angular, twist.angular)) / problem.orientation_tolerance)


def _rotation_vector(q: Quat) -> tuple[float, float, float]:
    """The turn [rad] of a unit quaternion, the short way round, along its axis."""
    sign = -1.0 if q[3] < 0.0 else 1.0
    v = scaled(sign, (q[0], q[1], q[2]))
    length = math.sqrt(dot(v, v))
    if length < 1e-15:
        return 0.0, 0.0, 0.0
    return scaled(2.0 * math.atan2(length, sign * q[3]) / length, v)
