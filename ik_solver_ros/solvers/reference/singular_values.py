"""Singular values of a few rows, by turning them until each is perpendicular to all others.

Source: M. R. Hestenes, "Inversion of matrices by biorthogonalization and related results" (1958), the one-sided method
of Jacobi. Rotations of two rows at a time, which together are U^T, make of J = U S V^T the rows of S V^T: perpendicular
ones, whose lengths are the singular values. Whatever is turned along with the rows, of J s = e the e, becomes U^T e.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from ik_solver_ros.kinematics.kernels import room

ROUNDS = 30  # over all pairs of rows; six rows take some five
PERPENDICULAR = 1e-15  # cosine of the angle between two rows


class Rows:
    """Room for up to six rows J, (6, n), and for the right sides of J s = e."""

    def __init__(self, rows: Iterable[Iterable[float]] = (), right: Iterable[float] = ()) -> None:
        self.at = [room(0.0) for _ in range(6)]
        self.right = room(0.0, 6)
        for i, row in enumerate(rows):
            for k, x in enumerate(row):
                self.at[i][k] = x
        for i, x in enumerate(right):
            self.right[i] = x

    def values(self, n: int) -> tuple[list[list[float]], list[float]]:
        """(rows, right sides), six of each."""
        return [[self.at[i][k] for k in range(n)] for i in range(6)], [self.right[i] for i in range(6)]


def separate(rows: Rows, n: int) -> None:
    """Turn the rows and right sides, in place, until the rows are perpendicular."""
    for _ in range(ROUNDS):
        done = True
        for j in range(1, 6):
            for i in range(j):
                done = _turn(rows, i, j, n) and done
        if done:
            break


def product(rows: Rows, i: int, j: int, n: int) -> float:
    """The scalar product of two rows; of a row and itself the square of a singular value, when they are separate."""
    total = 0.0
    for k in range(n):
        total += rows.at[i][k] * rows.at[j][k]
    return total


def _turn(rows: Rows, i: int, j: int, n: int) -> bool:
    """Turn two rows until they are perpendicular; True where they were."""
    first = product(rows, i, i, n)
    second = product(rows, j, j, n)
    both = product(rows, i, j, n)
    if abs(both) <= PERPENDICULAR * math.sqrt(first * second):
        return True
    # The smaller of the two angles, by its tangent: t^2 + 2 z t = 1.
    z = (second - first) / (2.0 * both)
    t = (1.0 if z >= 0.0 else -1.0) / (abs(z) + math.sqrt(1.0 + z * z))
    c = 1.0 / math.sqrt(1.0 + t * t)
    s = c * t
    for k in range(n):
        x = rows.at[i][k]
        y = rows.at[j][k]
        rows.at[i][k] = c * x - s * y
        rows.at[j][k] = s * x + c * y
    x = rows.right[i]
    y = rows.right[j]
    rows.right[i] = c * x - s * y
    rows.right[j] = s * x + c * y
    return False
