"""Unit quaternions (x, y, z, w) and the two classic rotations between two vectors.

Vectors (3) and quaternions (4, in the order of ROS and scipy) may come as arrays or tuples; the answers are tuples of
floats, which compiled code keeps in registers. quaternion.pxd has the same functions once more, with C types, to be
put in place in compiled modules: after a change here run `python setup.py inline`.
"""

from __future__ import annotations

import math

from ik_solver_ros.kinematics.arrays import Quat, Vec


def dot(a: Vec, b: Vec) -> float:
    """The scalar product of two 3-vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vec, b: Vec) -> tuple[float, float, float]:
    """The vector product of two 3-vectors."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def add(a: Vec, b: Vec) -> tuple[float, float, float]:
    """The sum of two 3-vectors."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def sub(a: Vec, b: Vec) -> tuple[float, float, float]:
    """The difference of two 3-vectors."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def scaled(s: float, a: Vec) -> tuple[float, float, float]:
    """The 3-vector a, s times as long."""
    return s * a[0], s * a[1], s * a[2]


def multiply(a: Quat, b: Quat) -> tuple[float, float, float, float]:
    """Hamilton product: the rotation b, followed by the rotation a."""
    return (
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    )


def conjugate(q: Quat) -> tuple[float, float, float, float]:
    """The inverse of a unit quaternion."""
    return -q[0], -q[1], -q[2], q[3]


def normalized(q: Quat) -> tuple[float, float, float, float]:
    """The unit quaternion along q."""
    norm = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm


def rotate(q: Quat, v: Vec) -> tuple[float, float, float]:
    """The vector v turned by the unit quaternion q: v + w t + u x t with t = 2 u x v, u = (x, y, z)."""
    u = (q[0], q[1], q[2])
    t = scaled(2.0, cross(u, v))
    return add(add(v, scaled(q[3], t)), cross(u, t))


def turn(v: Vec, z: Vec, angle: float) -> tuple[float, float, float]:
    """The vector v turned by `angle` [rad] about the unit vector z (Rodrigues' formula)."""
    c = math.cos(angle)
    s = math.sin(angle)
    return add(add(scaled(c, v), scaled(s, cross(z, v))), scaled(dot(z, v) * (1.0 - c), z))


def from_axis_angle(axis: Vec, angle: float) -> tuple[float, float, float, float]:
    """The rotation by `angle` [rad] about the unit vector `axis`."""
    s = math.sin(0.5 * angle)
    return s * axis[0], s * axis[1], s * axis[2], math.cos(0.5 * angle)


def angle_about(q: Quat, axis: Vec) -> float:
    """The angle [rad] in [-2 pi, 2 pi] by which q turns about the unit vector `axis` (the twist of q)."""
    return 2.0 * math.atan2(q[0] * axis[0] + q[1] * axis[1] + q[2] * axis[2], q[3])


def angle_between(a: Vec, b: Vec) -> float:
    """The angle [rad] between two vectors, accurate near 0 and near pi alike."""
    c = cross(a, b)
    return math.atan2(math.sqrt(dot(c, c)), dot(a, b))


def from_two_vectors(u: Vec, v: Vec) -> tuple[float, float, float, float]:
    """The shortest rotation that takes the direction of u to that of v; any lengths, antiparallel included.

    After S. Hocevar, "Quaternion from two vectors: the final version" (2014): (u x v, |u||v| + u.v), normalised;
    opposite vectors turn by 180 degrees about some axis perpendicular to u. A zero vector gives no rotation.
    """
    lengths = math.sqrt(dot(u, u) * dot(v, v))
    if lengths == 0.0:
        return 0.0, 0.0, 0.0, 1.0
    w = lengths + dot(u, v)
    if w < 1e-12 * lengths:
        if abs(u[0]) > abs(u[2]):
            return normalized((-u[1], u[0], 0.0, 0.0))
        return normalized((0.0, -u[2], u[1], 0.0))
    c = cross(u, v)
    return normalized((c[0], c[1], c[2], w))


def from_unit_vectors(a: Vec, b: Vec) -> tuple[float, float, float, float]:
    """The shortest rotation that takes the unit vector a to the unit vector b.

    After M. B. Reynolds (2016): k = 1 + a.b, s = 1/sqrt(2 k), (s a x b, k s). Cheaper than `from_two_vectors` and
    without the antiparallel case: raises ZeroDivisionError where b = -a.
    """
    k = 1.0 + dot(a, b)
    s = 1.0 / math.sqrt(k + k)
    c = cross(a, b)
    return s * c[0], s * c[1], s * c[2], k * s
