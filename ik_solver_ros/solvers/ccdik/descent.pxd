cimport cython
from libc cimport math

from ik_solver_ros.kinematics.kernels cimport Frames, Row, copy, joint_frames
from ik_solver_ros.kinematics.quaternion cimport add, cross, dot, quat, rotate, scaled, sub, turn, vec
from ik_solver_ros.solvers.problem cimport Problem

cdef double ONLY_EXACT
cdef double SLOW
cdef int PATIENCE
cdef double TWO_PI

ctypedef (Py_ssize_t, bint) outcome

cdef class Descent(Frames):
    cdef vec residual[3]
    cdef vec trial_residual[3]
    cdef vec jacobian[3][32]
    cdef double hessian[32][32]
    cdef double factor[32][32]
    cdef double gradient[32]
    cdef double step[32]
    cdef Py_ssize_t free[32]
    cdef Row trial

@cython.locals(
    p=vec, rotation=quat, d1=vec, d2=vec, z=vec, a=vec, b=vec, k=Py_ssize_t, i=Py_ssize_t,
    lower=double, upper=double, old=double, w=double, cosine=double, sine=double, angle=double,
)
cpdef void sweep(Problem problem, Descent place, Row q, vec weights) noexcept nogil

@cython.locals(best=double, at_lower=double, at_upper=double)
cpdef double best_angle(double angle, double cosine, double sine, double lower, double upper) noexcept nogil

@cython.locals(
    n=Py_ssize_t, m=Py_ssize_t, i=Py_ssize_t, a=Py_ssize_t, k=Py_ssize_t, iteration=Py_ssize_t, slow=int,
    cost=double, trial_cost=double, damping=double, steepest=double, g=double, gain=double, moved=double,
    at_lower=bint, at_upper=bint, accepted=bint, done=bint, only_exact=bint,
)
cpdef outcome descend(
    Problem problem, Descent place, int targets, Row q, vec weights, double enough
) noexcept nogil

@cython.locals(p=vec, rotation=quat, r=vec, t=Py_ssize_t, w=double, cost=double)
cpdef double residual_at(
    Problem problem, Descent place, int targets, Row q, vec weights, bint trial
) noexcept nogil

@cython.locals(t=Py_ssize_t, limit=double)
cdef bint _within(Problem problem, Descent place, int targets, vec weights) noexcept nogil

@cython.locals(j=Py_ssize_t, t=Py_ssize_t, p=vec, z=vec, v=vec, w=double)
cpdef void fill_jacobian(Problem problem, Descent place, int targets, vec weights) noexcept nogil

@cython.locals(i=Py_ssize_t, j=Py_ssize_t, k=Py_ssize_t, h=double)
cpdef void fill_hessian(Problem problem, Descent place, int targets, bint second_order) noexcept nogil

@cython.locals(a=Py_ssize_t, b=Py_ssize_t, c=Py_ssize_t, k=Py_ssize_t, total=double)
cdef bint _solve_free(Descent place, Py_ssize_t m, double damping) noexcept nogil
