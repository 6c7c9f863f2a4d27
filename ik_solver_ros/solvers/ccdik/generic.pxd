cimport cython

from ik_solver_ros.kinematics.kernels cimport Row, copy, largest_step
from ik_solver_ros.kinematics.quaternion cimport dot, sub, vec
from ik_solver_ros.solvers.ccdik.descent cimport Descent, descend, outcome, sweep
from ik_solver_ros.solvers.problem cimport Problem, chord_errors
from ik_solver_ros.solvers.random cimport Random, uniform

cdef double INF
cdef double PI
cdef Py_ssize_t SAMPLES
cdef Py_ssize_t NEAR
cdef Py_ssize_t FAR
cdef double W1
cdef double W2
cdef double SAME_POSITION
cdef double SAME_ANGLE

ctypedef (Py_ssize_t, Py_ssize_t) work

cdef class Starts:
    cdef double costs[256]
    cdef Py_ssize_t near[8]
    cdef Random random

cdef class Search(Descent):
    cdef readonly Problem problem
    cdef readonly Starts starts
    cdef Starts position_starts
    cdef Row q
    cdef Row best
    cdef readonly Row answer
    cdef (double, double) stages[4]
    cdef public Py_ssize_t sweep_every

@cython.locals(
    n=Py_ssize_t, weights=vec, targets=int, total=Py_ssize_t, beyond=vec, iterations=Py_ssize_t, restart=Py_ssize_t,
    reached=bint,
)
cpdef work solve_generic(Search search) noexcept nogil

@cython.locals(
    n=Py_ssize_t, targets=int, best_errors=vec, errors=vec, best_step=double, step=double, iterations=Py_ssize_t,
    restart=Py_ssize_t, reached=bint,
)
cdef work _nearest(Search search, Py_ssize_t total) noexcept nogil

@cython.locals(weights=vec, total=Py_ssize_t, iterations=Py_ssize_t, restart=Py_ssize_t, reached=bint)
cpdef work search_exact(Search search) noexcept nogil

@cython.locals(
    targets=int, scale=double, total=Py_ssize_t, k=Py_ssize_t, weights=vec, iterations=Py_ssize_t,
)
cpdef Py_ssize_t descend_to_nearest(Search search, Row q, Py_ssize_t stage) noexcept nogil

@cython.locals(
    n=Py_ssize_t, k=Py_ssize_t, total=Py_ssize_t, least=double, error=double, iterations=Py_ssize_t, reached=bint,
)
cpdef outcome reach_position(Search search) noexcept nogil

@cython.locals(oriented=double)
cpdef work orient_in_place(Search search, Py_ssize_t iterations) noexcept nogil

@cython.locals(k=Py_ssize_t, i=Py_ssize_t, best=Py_ssize_t, d=vec, cost=double)
cpdef void prepare_starts(Problem problem, Starts starts, int targets, unsigned long long seed) noexcept nogil

@cython.locals(i=Py_ssize_t, u=double)
cpdef void begin(Problem problem, Starts starts, Py_ssize_t restart, Row q) noexcept nogil

@cython.locals(tolerance=double, reached=bint)
cdef bint _better(Problem problem, vec errors, double step, vec best_errors, double best_step) noexcept nogil
