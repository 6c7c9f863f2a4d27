cimport cython
from libc cimport math

from ik_solver_ros.kinematics.kernels cimport Body, Row, clamp, copy, tip_frame
from ik_solver_ros.kinematics.quaternion cimport (
    angle_between, dot, from_two_vectors, pose, quat, rotate, sub, vec,
)

cdef double INF
cdef double TWO_PI
cdef int REACHED
cdef int NEAREST_ORIENTATION
cdef int NEAREST_POSITION

cdef class Problem:
    cdef readonly Body body
    cdef object options
    cdef readonly int targets
    cdef readonly vec position
    cdef vec tool[2]
    cdef vec wanted[2]
    cdef readonly Row q0
    cdef readonly Row start
    cdef readonly double scale
    cdef double position_tolerance
    cdef double orientation_tolerance
    cdef Py_ssize_t max_iterations
    cdef Py_ssize_t max_restarts
    cdef unsigned long long seed
    cdef double roll_slack
    cdef double elbow
    cdef bint track
    cdef double hysteresis
    cpdef void set_options(self, Body body, options) except *

cpdef Problem prepare(Problem problem, Body body, goal, start, options)

cpdef void set_goal(Problem problem, int targets, vec position, quat rest) noexcept nogil

cpdef void set_start(Problem problem) noexcept nogil

@cython.locals(p=vec, rotation=quat, offset=vec, c=vec, first=double, second=double)
cpdef vec chord_errors(Problem problem, int targets, Row q) noexcept nogil

@cython.locals(p=vec, rotation=quat, offset=vec, pointing=vec, mended=quat, approach=double, roll=double)
cpdef vec pose_errors(Problem problem, Row q) noexcept nogil

@cython.locals(i=Py_ssize_t)
cpdef void settle(Problem problem, Row q) noexcept nogil

cpdef int status_code(Problem problem, double position, double approach, double roll) noexcept nogil
