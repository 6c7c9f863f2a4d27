cimport cython
from libc cimport math

from ik_solver_ros.kinematics.kernels cimport Row, copy, largest_step, tip_frame
from ik_solver_ros.kinematics.quaternion cimport (
    add, cross, dot, from_two_vectors, quat, rotate, scaled, sub, vec,
)
from ik_solver_ros.kinematics.waist_arm cimport fitted
from ik_solver_ros.solvers.ccdik.descent cimport Descent, descend, outcome
from ik_solver_ros.solvers.ccdik.starts cimport Starts
from ik_solver_ros.solvers.problem cimport Problem, chord_errors, pose_errors

cdef double INF
cdef double ENOUGH
cdef double FINE
cdef double FINEST
cdef double ONLY_EXACT
cdef double SAME_POSITION
cdef double SAME_ANGLE
cdef int ROUNDS
cdef double PULL_1
cdef double PULL_2
cdef double HELD
cdef double STRICT
cdef double SURE

cdef class Search(Descent):
    cdef readonly Problem problem
    cdef readonly Starts starts
    cdef Starts position_starts
    cdef Row q
    cdef Row before
    cdef readonly Row answer
    cdef vec errors
    cdef double longest
    cdef Py_ssize_t agreed
    cdef public Py_ssize_t sweep_every

cpdef void forget(Search search) noexcept nogil

@cython.locals(weights=vec, iterations=Py_ssize_t)
cpdef Py_ssize_t draw(Search search, Row q) noexcept nogil

@cython.locals(iterations=Py_ssize_t)
cpdef Py_ssize_t to_position(Search search, Row q) noexcept nogil

@cython.locals(
    n=Py_ssize_t, scale=double, total=Py_ssize_t, missed=double, allowed=double, first=Py_ssize_t, second=Py_ssize_t,
)
cpdef Py_ssize_t to_approach(Search search, Row q) noexcept nogil

@cython.locals(
    scale=double, errors=vec, now=vec, lost=bint, total=Py_ssize_t, across=vec, back=quat,
)
cpdef Py_ssize_t to_roll(Search search, Row q) noexcept nogil

@cython.locals(rotation=quat)
cdef vec _pointing(Problem problem, Row q) noexcept nogil

@cython.locals(
    last=Py_ssize_t, lower=double, upper=double, now=double, rotation=quat, pointing=vec, mended=quat, side=vec,
    sine=double, turn=double, at_lower=double, at_upper=double,
)
cpdef void roll_last(Problem problem, Row q) noexcept nogil

@cython.locals(errors=vec, total=Py_ssize_t, order=int, longest=double)
cpdef Py_ssize_t consider(Search search) noexcept nogil

cpdef bint is_exact(Search search) noexcept nogil

@cython.locals(targets=int, total=Py_ssize_t)
cpdef Py_ssize_t descend_to_nearest(Search search, Row q, bint drawn) noexcept nogil

@cython.locals(reached=bint)
cdef int _compared(Problem problem, vec errors, vec best) noexcept nogil

@cython.locals(
    position=vec, wanted=vec, left=vec, total=Py_ssize_t, iterations=Py_ssize_t, off=double, _round=int,
)
cdef Py_ssize_t _hold(Search search, Row q, int targets, vec weights, int held) noexcept nogil
