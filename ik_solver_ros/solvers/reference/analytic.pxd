cimport cython
from libc cimport math

from ik_solver_ros.kinematics.kernels cimport Row, copy, largest_step, tip_frame
from ik_solver_ros.kinematics.plane cimport angle_of, at_angle, size_of
from ik_solver_ros.kinematics.quaternion cimport add, angle_between, cross, dot, quat, rotate, sub, turn, vec
from ik_solver_ros.kinematics.waist_arm cimport elbow_height
from ik_solver_ros.solvers.problem cimport Problem, prepare

cdef double INF
cdef double NAN
cdef double PI
cdef double SLACK
cdef double TWO_PI
cdef double SHORTEST
cdef double FAN
cdef Py_ssize_t HALVINGS
cdef double SAME
cdef vec ACROSS

ctypedef (double, double) two_angles

cdef class Arm:
    cdef vec origin
    cdef vec basis[3]
    cdef vec waist_point
    cdef vec waist_axis
    cdef double complex upper_arm
    cdef double complex forearm
    cdef vec roll_point
    cdef vec roll_axis
    cdef vec offset
    cdef vec tool
    cdef vec side
    cdef Py_ssize_t waist
    cdef Py_ssize_t first
    cdef Py_ssize_t hinges
    cdef Py_ssize_t roll
    cdef double signs[3]
    cdef vec up

cdef class Postures:
    cdef Problem problem
    cdef Arm arm
    cdef double waists[6]
    cdef double rolls[6]
    cdef Py_ssize_t planes
    cdef double free
    cdef Row best
    cdef Row trial
    cdef double least[5]
    cdef double errors[5]
    cdef Py_ssize_t tried

cdef vec _vec(v)

@cython.locals(arm=Arm, found=Postures)
cpdef object analytic(chain, goal, q0, options)

@cython.locals(long=double, short=double, to_stretch=double, to_fold=double)
cpdef double bend(double a, double b, double d) noexcept nogil

@cython.locals(steps=Py_ssize_t, step=Py_ssize_t, plane=Py_ssize_t, in_line=bint, reached=bint)
cdef void _solve(Postures found) noexcept nogil

@cython.locals(bad=double, good=double, middle=double)
cdef bint _fan(Postures found, Py_ssize_t plane, double way, Py_ssize_t step, bint in_line) noexcept nogil

@cython.locals(
    k=Py_ssize_t, way=Py_ssize_t, now=double, to_goal=vec, aside=bint, odd=double, middle=double, size=double,
    wanted=vec, waists=two_angles, waist=double, across=double, half=double, as_it_is=double, roll=double,
)
cdef void _find_planes(Postures found) noexcept nogil

cdef void _add_plane(Postures found, double waist, double roll) noexcept nogil

@cython.locals(size=double, middle=double, half=double)
cdef two_angles _nearest_roots(double even, double odd, double value, double otherwise) noexcept nogil

@cython.locals(
    i=Py_ssize_t, k=Py_ssize_t, waist=double, roll=double, p=vec, wanted=vec, tip=vec, point="double complex",
    hand="double complex", a="double complex", b="double complex", wrist="double complex", angle=double, bent=double,
    straight=double, q2=double, q3=double, wrong=bint, holds=bint,
)
cdef bint _offer(Postures found, Py_ssize_t plane, double aside, bint in_line) noexcept nogil

@cython.locals(k=Py_ssize_t, m=Py_ssize_t, p=vec, r=quat, offset=vec)
cdef bint _judge(Postures found, bint wrong) noexcept nogil

@cython.locals(side=vec)
cdef double _roll(Postures found, double waist, double angle) noexcept nogil

cdef vec _tip(Arm arm, double roll) noexcept nogil

cdef vec _in_basis(Arm arm, vec v) noexcept nogil

cdef vec _in_plane(Arm arm, vec v, double waist, bint is_place) noexcept nogil

@cython.locals(low=double, high=double)
cdef double _inside(Problem problem, Py_ssize_t i, double value) noexcept nogil

@cython.locals(angle=double, k=Py_ssize_t)
cdef double _tool_angle(Arm arm, Row q) noexcept nogil
