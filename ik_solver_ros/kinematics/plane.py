"""Points, links and turns in a plane as complex numbers, and vectors that turn.

plane.pxd has the same functions once more, with C types, to be put in place in compiled modules: after a change here
run `python setup.py inline`.
"""

from __future__ import annotations

import math

from ik_solver_ros.kinematics.arrays import Vec
from ik_solver_ros.kinematics.quaternion import add, scaled
from ik_solver_ros.kinematics.shapes import Corner, Sinusoid, Turning


def squared(z: complex) -> float:
    """The square of |z|."""
    return z.real * z.real + z.imag * z.imag


def size_of(z: complex) -> float:
    """|z|."""
    return math.sqrt(z.real * z.real + z.imag * z.imag)


def unit(z: complex) -> complex:
    """The unit number in the direction of z; 1 for 0."""
    size = math.sqrt(z.real * z.real + z.imag * z.imag)
    if size < 1e-150:
        return 1.0 + 0j
    return z.real / size + 1j * (z.imag / size)


def angle_of(z: complex) -> float:
    """The argument of z [rad]."""
    return math.atan2(z.imag, z.real)


def at_angle(angle: float) -> complex:
    """The unit number at this angle [rad]."""
    return math.cos(angle) + 1j * math.sin(angle)


def turned(z: complex, angle: float) -> complex:
    """The complex number z, turned by `angle` [rad]."""
    return z * (math.cos(angle) + 1j * math.sin(angle))


def corner(a2: float, b2: float, far2: float) -> Corner:
    """The cosine rule: the bend from link a to link b whose ends are `far` apart; all squared."""
    size = 2.0 * math.sqrt(a2 * b2)
    if size < 1e-18:
        return Corner(1.0, -1.0)
    x = (far2 - a2 - b2) / size
    if abs(x) > 1.0 + 1e-9:
        return Corner(x, -1.0)
    x = min(max(x, -1.0), 1.0)
    return Corner(x, math.sqrt(1.0 - x * x))


def chord(cosine: float) -> float:
    """The distance between the ends of two unit vectors, 2 sin(angle / 2)."""
    return math.sqrt(max(2.0 - 2.0 * cosine, 0.0))


def at(turning: Turning, c: float, s: float) -> tuple[float, float, float]:
    """The vector where its angle has this cosine and sine."""
    return add(turning.fixed, add(scaled(c, turning.even), scaled(s, turning.odd)))


def value(wave: Sinusoid, pitch: complex) -> float:
    """The sinusoid at a pitch e^it."""
    return wave.mean + wave.swing.real * pitch.real + wave.swing.imag * pitch.imag


def sinusoid(a: Vec, b: Vec) -> Sinusoid:
    """The scalar product of a and b, where a is turned by the pitch."""
    return Sinusoid(a[2] * b[2], (a[0] - 1j * a[1]) * (b[0] + 1j * b[1]))
