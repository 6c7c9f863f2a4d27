"""Digits near full stretch: the angle of an elbow by two forms of the law of cosines."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.solvers.reference.analytic import bend


def stretch_errors(bones: tuple[float, float] = (0.3, 0.25)) -> tuple[Array, Array, Array]:
    """(bend, error by the half angle, error by the arc cosine) [rad] of an elbow ever nearer to stretch.

    Both get the same distance of the ends; the bend that belongs to exactly that number comes from rational arithmetic.
    """
    getcontext().prec = 60
    a, b = bones
    true, half, cosine = [], [], []
    for t in np.logspace(-7.5, 0.0, 160):
        d = (
            math.sqrt(a * a + b * b + 2.0 * a * b * math.cos(t))
            if t > 1e-3
            else (a + b) - a * b * t * t / (2.0 * (a + b))
        )
        long, short, ends = Fraction(a) + Fraction(b), Fraction(a) - Fraction(b), Fraction(d)
        square = (long**2 - ends**2) / (ends**2 - short**2)
        if square <= 0:
            continue
        tangent = (Decimal(square.numerator) / Decimal(square.denominator)).sqrt()
        exact = 2.0 * math.atan(float(tangent))
        true.append(exact)
        half.append(abs(bend(a, b, d) - exact))
        cosine.append(abs(math.acos(min(max((d * d - a * a - b * b) / (2.0 * a * b), -1.0), 1.0)) - exact))
    return np.array(true), np.array(half), np.array(cosine)
