# Written by `python setup.py inline` from quaternion.py

from libc cimport math

ctypedef (double, double, double) vec
ctypedef (double, double, double, double) quat
ctypedef (vec, quat) pose

cpdef inline double dot(vec a, vec b) noexcept nogil:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]

cpdef inline vec cross(vec a, vec b) noexcept nogil:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]

cpdef inline vec add(vec a, vec b) noexcept nogil:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]

cpdef inline vec sub(vec a, vec b) noexcept nogil:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]

cpdef inline vec scaled(double s, vec a) noexcept nogil:
    return s * a[0], s * a[1], s * a[2]

cpdef inline quat multiply(quat a, quat b) noexcept nogil:
    return (
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    )

cpdef inline quat conjugate(quat q) noexcept nogil:
    return -q[0], -q[1], -q[2], q[3]

cpdef inline quat normalized(quat q) noexcept nogil:
    norm = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm

cpdef inline vec rotate(quat q, vec v) noexcept nogil:
    u = (q[0], q[1], q[2])
    t = scaled(2.0, cross(u, v))
    return add(add(v, scaled(q[3], t)), cross(u, t))

cpdef inline vec turn(vec v, vec z, double angle) noexcept nogil:
    c = math.cos(angle)
    s = math.sin(angle)
    return add(add(scaled(c, v), scaled(s, cross(z, v))), scaled(dot(z, v) * (1.0 - c), z))

cpdef inline quat from_axis_angle(vec axis, double angle) noexcept nogil:
    s = math.sin(0.5 * angle)
    return s * axis[0], s * axis[1], s * axis[2], math.cos(0.5 * angle)

cpdef inline double angle_about(quat q, vec axis) noexcept nogil:
    return 2.0 * math.atan2(q[0] * axis[0] + q[1] * axis[1] + q[2] * axis[2], q[3])

cpdef inline double angle_between(vec a, vec b) noexcept nogil:
    c = cross(a, b)
    return math.atan2(math.sqrt(dot(c, c)), dot(a, b))

cpdef inline quat from_two_vectors(vec u, vec v) noexcept nogil:
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

cpdef inline quat from_unit_vectors(vec a, vec b) noexcept nogil:
    k = 1.0 + dot(a, b)
    s = 1.0 / math.sqrt(k + k)
    c = cross(a, b)
    return s * c[0], s * c[1], s * c[2], k * s
