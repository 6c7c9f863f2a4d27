cimport cython

from ik_solver_ros.kinematics.quaternion cimport (
    add, cross, dot, from_axis_angle, multiply, pose, quat, rotate, scaled, sub, vec,
)

cdef double ROLLS

cdef class Row:
    cdef double at[32]
    @cython.locals(i=Py_ssize_t)
    cpdef void fill(self, values) except *
    @cython.locals(i=Py_ssize_t)
    cpdef list values(self, Py_ssize_t n)

cdef class Body:
    cdef readonly Py_ssize_t n
    cdef bint slides[32]
    cdef bint endless[32]
    cdef vec origin_p[32]
    cdef quat origin_q[32]
    cdef vec axis[32]
    cdef double lower[32]
    cdef double upper[32]
    cdef vec tip_p
    cdef quat tip_q
    cdef vec tool[2]
    cdef readonly double reach
    cdef readonly double rolls
    cdef double samples[256][32]
    cdef vec tips[256]
    cdef vec pointing[256]
    @cython.locals(row=Row, p=vec, r=quat, i=Py_ssize_t)
    cpdef void sample(self, Py_ssize_t k, posture) except *

@cython.locals(axis=vec, pointing=vec, off_axis=vec, across=vec)
cdef double _rolls(Body body)

cdef class Frames:
    cdef quat parents[32]
    cdef vec origins[32]
    cdef vec axes[32]
    @cython.locals(i=Py_ssize_t)
    cpdef tuple columns(self, Py_ssize_t n)

@cython.locals(p=vec, r=quat, z=vec, i=Py_ssize_t)
cpdef pose joint_frames(Body chain, Row q, Frames frames) noexcept nogil

@cython.locals(p=vec, r=quat, i=Py_ssize_t)
cpdef pose tip_frame(Body chain, Row q) noexcept nogil

cpdef vec linear_column(Body chain, Frames frames, Py_ssize_t i, vec p) noexcept nogil
cpdef vec angular_column(Body chain, Frames frames, Py_ssize_t i) noexcept nogil

@cython.locals(i=Py_ssize_t)
cpdef void copy(Row source, Row target, Py_ssize_t n) noexcept nogil

@cython.locals(i=Py_ssize_t)
cpdef void clamp(Body chain, Row q) noexcept nogil

@cython.locals(i=Py_ssize_t, largest=double)
cpdef double largest_step(Row q, Row other, Py_ssize_t n) noexcept nogil
