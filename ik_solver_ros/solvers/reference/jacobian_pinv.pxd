cimport cython
from libc cimport math

from ik_solver_ros.kinematics.kernels cimport Row, clamp
from ik_solver_ros.solvers.problem cimport Problem, prepare
from ik_solver_ros.solvers.reference.restarts cimport Restarts, keep_best, randomise
from ik_solver_ros.solvers.reference.singular_values cimport Rows, product, separate
from ik_solver_ros.solvers.reference.twist cimport Twist, fill_twist, missing, tolerance_ratio

cdef double LONGEST
cdef double SMALLEST
cdef double DRAWN
cdef double NEAR

cdef class Resolved(Restarts):
    cdef Twist twist
    cdef Rows rows
    cdef Row rest
    cdef double wish[32]
    cdef double step[32]

@cython.locals(search=Resolved, restarts=Py_ssize_t)
cpdef object jacobian_pinv(chain, goal, q0, options)

@cython.locals(restart=Py_ssize_t, steps=Py_ssize_t)
cdef Py_ssize_t _descend(Resolved search) noexcept nogil

@cython.locals(n=Py_ssize_t, i=Py_ssize_t, k=Py_ssize_t, largest=double, square=double, lacking=double)
cdef void _find_step(Resolved search, double drawn) noexcept nogil

@cython.locals(i=Py_ssize_t)
cdef void _take_rows(Rows rows, Twist twist, Py_ssize_t n) noexcept nogil

@cython.locals(i=Py_ssize_t, longest=double)
cdef void _go(Resolved search) noexcept nogil
