cimport cython
from libc cimport math

from ik_solver_ros.kinematics.plane cimport at
from ik_solver_ros.kinematics.quaternion cimport dot
from ik_solver_ros.kinematics.shapes cimport Pair, Posture, Roots, Turning
from ik_solver_ros.kinematics.waist_arm cimport WaistArm, fitted
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group cimport ArmProblem, best_pitch

cdef double ON_AXIS
cdef double SIDEWAYS

@cython.locals(tip=double, tool=double)
cpdef bint tip_on_axis(WaistArm arm) noexcept nogil

@cython.locals(across=double, q1=double, x=double)
cpdef Posture evaluate(ArmProblem problem, double q5, double side, double floor, Posture best) noexcept nogil

cpdef Posture both_sides(ArmProblem problem, double floor, Posture best) noexcept nogil

@cython.locals(wanted=Turning, found=Roots)
cdef double _facing(ArmProblem problem, double side) noexcept nogil

@cython.locals(size=double, x=double, middle=double, half=double)
cpdef Roots roots(double even, double odd, double value, double near) noexcept nogil

@cython.locals(
    tip=Turning, tool=Turning, point=Turning, wanted=Turning, size=double, along=bint, even=double, odd=double,
    rest=double, skew=double, ratio=double, waists=Roots, bends=Roots, count=Py_ssize_t, k=int, m=int, q1=double,
    q5=double, c=double, s=double,
)
cpdef Py_ssize_t exact_pairs(ArmProblem problem) noexcept nogil
