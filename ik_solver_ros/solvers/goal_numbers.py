"""The seven numbers of a goal: its position, then a direction and a zero, or a quaternion, or zeros."""

from __future__ import annotations

import math

from ik_solver_ros.kinematics.constants import INF
from ik_solver_ros.kinematics.kernels import Row
from ik_solver_ros.solvers.codes import NO_FAULT, POSITION_NOT_FINITE, REST_NOT_FINITE, REST_OF_WRONG_LENGTH

SHORTEST = 1e-9  # a direction shorter than this has none
NORM_SLACK = 1e-3  # a quaternion this near to unit length is normalised, any other is refused
HUGE = 1e100  # the square of a longer one may be too large for a number


def check_goal(targets: int, numbers: Row) -> int:
    """Normalise a goal's direction or quaternion in place; returns what is wrong with the goal, see codes.py."""
    for k in range(3):
        if not -INF < numbers.at[k] < INF:
            return POSITION_NOT_FINITE
    if targets == 0:
        return NO_FAULT
    largest = 0.0
    for k in range(3, 7):
        if not -INF < numbers.at[k] < INF:
            return REST_NOT_FINITE
        largest = max(largest, abs(numbers.at[k]))
    if targets == 1 and largest > HUGE:
        for k in range(3, 7):
            numbers.at[k] = numbers.at[k] / largest
    total = 0.0
    for k in range(3, 7):
        total += numbers.at[k] * numbers.at[k]
    norm = math.sqrt(total)
    if not norm >= SHORTEST or (targets == 2 and abs(norm - 1.0) > NORM_SLACK):
        return REST_OF_WRONG_LENGTH
    for k in range(3, 7):
        numbers.at[k] = numbers.at[k] / norm
    return NO_FAULT
