cimport cython
from libc cimport math

from ik_solver_ros.kinematics.kernels cimport Row, clamp, copy
from ik_solver_ros.kinematics.quaternion cimport dot
from ik_solver_ros.solvers.problem cimport Problem, prepare
from ik_solver_ros.solvers.reference.restarts cimport Restarts, keep_best, randomise
from ik_solver_ros.solvers.reference.twist cimport Twist, downhill, fill_twist, missing, tolerance_ratio

cdef double INF
cdef double FIRST
cdef double LEAST
cdef double MOST
cdef double EASIER
cdef double HARDER

cdef class Damped(Restarts):
    cdef Twist twist
    cdef double hessian[32][32]
    cdef double downhill[32]
    cdef double factor[32][32]
    cdef Py_ssize_t free[32]
    cdef double step[32]
    cdef Row tried

@cython.locals(search=Damped, restarts=Py_ssize_t)
cpdef object dls(chain, goal, q0, options)

@cython.locals(restart=Py_ssize_t, steps=Py_ssize_t, damping=double, before=double, after=double)
cdef Py_ssize_t _descend(Damped search) noexcept nogil

@cython.locals(i=Py_ssize_t, j=Py_ssize_t, h=double)
cdef double _take_in(Damped search) noexcept nogil

@cython.locals(m=Py_ssize_t, i=Py_ssize_t, a=Py_ssize_t, at_lower=bint, at_upper=bint)
cdef double _try_step(Damped search, double damping) noexcept nogil

@cython.locals(a=Py_ssize_t, b=Py_ssize_t, k=Py_ssize_t, total=double)
cdef bint _solve_free(Damped search, Py_ssize_t m, double damping) noexcept nogil
