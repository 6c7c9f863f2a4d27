cimport cython
from libc cimport math

from ik_solver_ros.kinematics.kernels cimport Row
from ik_solver_ros.kinematics.plane cimport (
    angle_of, at, at_angle, chord, corner, sinusoid, size_of, squared, unit, value,
)
from ik_solver_ros.kinematics.quaternion cimport cross, vec
from ik_solver_ros.kinematics.shapes cimport Corner, GroupView, Misses, Pair, Place, Posture, Sinusoid, Target
from ik_solver_ros.kinematics.waist_arm cimport WaistArm, elbow_height, fitted, target
from ik_solver_ros.solvers.problem cimport Problem

cdef double INF
cdef double SLACK
cdef double EXACT
cdef double SAME
cdef double ANY_APPROACH

cdef class ArmProblem:
    cdef WaistArm arm
    cdef Target goal
    cdef double now[5]
    cdef double elbow
    cdef Pair pairs[8]
    cdef double angles[40]
    cdef double misses[2][40]
    cdef Place places[6]
    cdef Place rolls[102]
    cdef Posture reaching[54]
    cdef Posture kept[4]
    cdef Posture branches[16]
    cdef Py_ssize_t scanned
    cdef Py_ssize_t placed
    cpdef void set_arm(self, WaistArm arm) noexcept

@cython.locals(i=Py_ssize_t)
cpdef void take_problem(ArmProblem problem, Problem asked, Row now, double elbow) noexcept nogil

cpdef Posture no_posture(double miss) noexcept nogil

cpdef void keep(ArmProblem problem, Posture posture, Row q) noexcept nogil

@cython.locals(
    rolls=bint, longer=bint, view=GroupView, size=double, least=double, ideal="double complex", swing=double,
    x=double, y=double, middle="double complex",
)
cpdef Posture best_pitch(ArmProblem problem, double q1, double q5, double floor, Posture best) noexcept nogil

@cython.locals(
    c1=double, s1=double, c5=double, s5=double, point=vec, tip=vec, d=vec, w=vec, e=vec, v=vec, f=vec, g=vec,
    sine=Sinusoid, cosine=Sinusoid, fv=Sinusoid, eg=Sinusoid, ev=Sinusoid, fg=Sinusoid,
    reach="double complex", hand="double complex",
)
cpdef GroupView group_view(ArmProblem problem, double q1, double q5, bint rolls) noexcept nogil

cpdef double roll_of(GroupView view, double complex pitch) noexcept nogil

@cython.locals(approach=double)
cdef Misses _misses(GroupView view, double floor, double complex pitch) noexcept nogil

@cython.locals(
    misses=Misses, a="double complex", b="double complex", wrist="double complex", bend=Corner,
    straight="double complex", k=int, y=double, turn_2="double complex", turn_3="double complex",
    turn_4="double complex",
)
cpdef Posture hold_pitch(
    ArmProblem problem, GroupView view, double floor, double complex pitch, Posture best
) noexcept nogil

@cython.locals(
    a="double complex", b="double complex", h2=double, r2=double, towards="double complex", k=int, side=int,
    bend=Corner, straight="double complex", rest="double complex", y=double, turn_2="double complex",
    turn_3="double complex", turn_4="double complex", turn_23="double complex", link="double complex", misses=Misses,
)
cdef Posture _ends_of_pitch(ArmProblem problem, GroupView view, double floor, Posture best) noexcept nogil

@cython.locals(
    as_good=bint, equal=bint, longer=bint, longest=double, q2=double, q3=double, q4=double, d1=double, d2=double,
    d3=double, d4=double, d5=double, away=double, height=double, step=double, total=double,
)
cpdef Posture offer(
    ArmProblem problem, GroupView view, Misses misses, double complex turn_2, double complex turn_3,
    double complex turn_4, Posture best,
) noexcept nogil
