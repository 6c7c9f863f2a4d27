# Written by `python setup.py inline` from plane.py

from libc cimport math

from ik_solver_ros.kinematics.quaternion cimport add, scaled, vec
from ik_solver_ros.kinematics.shapes cimport Corner, Sinusoid, Turning

cpdef inline double squared(double complex z) noexcept nogil:
    return z.real * z.real + z.imag * z.imag

cpdef inline double size_of(double complex z) noexcept nogil:
    return math.sqrt(z.real * z.real + z.imag * z.imag)

cpdef inline double complex unit(double complex z) noexcept nogil:
    size = math.sqrt(z.real * z.real + z.imag * z.imag)
    if size < 1e-150:
        return 1.0 + 0j
    return z.real / size + 1j * (z.imag / size)

cpdef inline double angle_of(double complex z) noexcept nogil:
    return math.atan2(z.imag, z.real)

cpdef inline double complex at_angle(double angle) noexcept nogil:
    return math.cos(angle) + 1j * math.sin(angle)

cpdef inline double complex turned(double complex z, double angle) noexcept nogil:
    return z * (math.cos(angle) + 1j * math.sin(angle))

cpdef inline Corner corner(double a2, double b2, double far2) noexcept nogil:
    size = 2.0 * math.sqrt(a2 * b2)
    if size < 1e-18:
        return Corner(1.0, -1.0)
    x = (far2 - a2 - b2) / size
    if abs(x) > 1.0 + 1e-9:
        return Corner(x, -1.0)
    x = min(max(x, -1.0), 1.0)
    return Corner(x, math.sqrt(1.0 - x * x))

cpdef inline double chord(double cosine) noexcept nogil:
    return math.sqrt(max(2.0 - 2.0 * cosine, 0.0))

cpdef inline vec at(Turning turning, double c, double s) noexcept nogil:
    return add(turning.fixed, add(scaled(c, turning.even), scaled(s, turning.odd)))

cpdef inline double value(Sinusoid wave, double complex pitch) noexcept nogil:
    return wave.mean + wave.swing.real * pitch.real + wave.swing.imag * pitch.imag

cpdef inline Sinusoid sinusoid(vec a, vec b) noexcept nogil:
    return Sinusoid(a[2] * b[2], (a[0] - 1j * a[1]) * (b[0] + 1j * b[1]))
