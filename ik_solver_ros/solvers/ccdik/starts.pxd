cimport cython

from ik_solver_ros.kinematics.kernels cimport Row, copy
from ik_solver_ros.kinematics.quaternion cimport dot, sub, vec
from ik_solver_ros.solvers.problem cimport Problem
from ik_solver_ros.solvers.random cimport Random, uniform

cdef double INF
cdef double PI
cdef Py_ssize_t SAMPLES
cdef Py_ssize_t NEAR
cdef double W1

cdef class Starts:
    cdef double costs[256]
    cdef Py_ssize_t near[8]
    cdef Random random

@cython.locals(k=Py_ssize_t, i=Py_ssize_t, best=Py_ssize_t, d=vec, cost=double)
cpdef void prepare_starts(Problem problem, Starts starts, int targets, unsigned long long seed) noexcept nogil

@cython.locals(i=Py_ssize_t, u=double)
cpdef void begin(Problem problem, Starts starts, Py_ssize_t restart, Row q) noexcept nogil
