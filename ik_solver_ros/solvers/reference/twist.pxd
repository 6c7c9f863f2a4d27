cimport cython
from libc cimport math

from ik_solver_ros.kinematics.kernels cimport Frames, Row, angular_column, joint_frames, linear_column
from ik_solver_ros.kinematics.quaternion cimport dot, from_two_vectors, multiply, quat, rotate, scaled, sub, vec
from ik_solver_ros.solvers.problem cimport Problem

cdef class Twist(Frames):
    cdef vec linear
    cdef vec angular
    cdef vec moves[32]
    cdef vec turns[32]
    @cython.locals(m=Py_ssize_t, i=Py_ssize_t, k=Py_ssize_t)
    cpdef tuple rows(self, Problem problem)

@cython.locals(twist=Twist)
cpdef tuple twist_and_jacobian(Problem problem, q)

@cython.locals(p=vec, rotation=quat, pointing=vec, across=vec, mend=quat, turn=vec, i=Py_ssize_t)
cpdef void fill_twist(Problem problem, Twist twist, Row q) noexcept nogil

cpdef double missing(Twist twist) noexcept nogil
cpdef double downhill(Twist twist, Py_ssize_t i) noexcept nogil

@cython.locals(offset=double)
cpdef double tolerance_ratio(Problem problem, Twist twist) noexcept nogil

@cython.locals(sign=double, v=vec, length=double)
cdef vec _rotation_vector(quat q) noexcept nogil
