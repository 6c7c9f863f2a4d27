cimport cython
from libc cimport math

from ik_solver_ros.kinematics.plane cimport at, chord, size_of, squared, unit, value
from ik_solver_ros.kinematics.quaternion cimport dot, vec
from ik_solver_ros.kinematics.shapes cimport GroupView, Misses, Posture
from ik_solver_ros.kinematics.waist_arm cimport fitted
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group cimport (
    ArmProblem, best_pitch, group_view, no_posture, offer,
)
from ik_solver_ros.solvers.ccdik.three_parallel.sinusoids cimport tip_on_axis

cdef double INF
cdef double NAN
cdef double PI
cdef double TWO_PI
cdef double ANY_APPROACH
cdef Py_ssize_t KEPT
cdef double SAME
cdef Py_ssize_t BENDS
cdef int WAYS

@cython.locals(
    lower=double, upper=double, bends=Py_ssize_t, margin=double, least=double, m=Py_ssize_t, k=Py_ssize_t, way=int,
    q1=double, q5=double, best=Posture, kept=Py_ssize_t, first=Py_ssize_t,
)
cpdef Py_ssize_t nearest_reach(ArmProblem problem) noexcept nogil

cdef double _across(ArmProblem problem, double q5) noexcept nogil

@cython.locals(lower=double, upper=double, across=double, half=double, angle=double)
cdef double _waist(ArmProblem problem, double q5, int way) noexcept nogil

@cython.locals(
    view=GroupView, point=vec, across=double, a="double complex", b="double complex", within=Posture, k=int, m=int,
    in_line="double complex", rest="double complex", turn_2="double complex", turn_3="double complex",
    turn_4="double complex",
)
cdef Posture _reach_out(ArmProblem problem, double q1, double q5, Posture best) noexcept nogil

cdef double complex _turn_4(ArmProblem problem, double complex in_line, int way) noexcept nogil

@cython.locals(tip="double complex")
cdef Posture _point(
    ArmProblem problem, GroupView view, double across, double complex turn_3, double complex turn_4, Posture best
) noexcept nogil

@cython.locals(tip="double complex", distance=double, misses=Misses)
cdef Posture _end(
    ArmProblem problem, GroupView view, double across, double complex turn_2, double complex turn_3,
    double complex turn_4, Posture best,
) noexcept nogil
