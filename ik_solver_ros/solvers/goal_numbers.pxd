cimport cython
from libc cimport math

from ik_solver_ros.kinematics.kernels cimport Row

cdef double INF
cdef int NO_FAULT
cdef int POSITION_NOT_FINITE
cdef int REST_NOT_FINITE
cdef int REST_OF_WRONG_LENGTH
cdef double SHORTEST
cdef double NORM_SLACK
cdef double HUGE

@cython.locals(k=Py_ssize_t, largest=double, total=double, norm=double)
cpdef int check_goal(int targets, Row numbers) noexcept nogil
