cimport cython

from ik_solver_ros.kinematics.kernels cimport Row, copy
from ik_solver_ros.solvers.problem cimport Problem, prepare
from ik_solver_ros.solvers.random cimport Random, uniform
from ik_solver_ros.solvers.reference.twist cimport Twist, fill_twist, tolerance_ratio

cdef double INF
cdef double PI

cdef class Restarts:
    cdef readonly Problem problem
    cdef Random random
    cdef readonly Row q
    cdef readonly Row best
    cdef readonly double least
    cdef readonly Py_ssize_t iterations

@cython.locals(i=Py_ssize_t, low=double, high=double)
cpdef void randomise(Restarts search) noexcept nogil

cpdef void keep_best(Restarts search, double error) noexcept nogil

@cython.locals(search=Restarts, twist=Twist, error=double)
cpdef object with_restarts(chain, goal, q0, options, descend)
