cimport cython
from libc cimport math

from ik_solver_ros.kinematics.plane cimport turned
from ik_solver_ros.kinematics.quaternion cimport add, cross, dot, scaled, sub, vec
from ik_solver_ros.kinematics.shapes cimport Target, Turning

cdef double NAN
cdef double SLACK
cdef double TWO_PI

cdef class WaistArm:
    cdef vec origin
    cdef vec basis[3]
    cdef vec waist_point
    cdef vec waist_axis
    cdef readonly double complex upper_arm
    cdef readonly double complex forearm
    cdef readonly double complex wrist
    cdef Turning tip
    cdef Turning tool
    cdef Turning side
    cdef double lower[5]
    cdef double upper[5]
    cdef Py_ssize_t joint[5]
    cdef double sign[5]
    cdef double spans[4]
    cdef double complex ends_2[2]
    cdef double complex ends_3[2]
    cdef double complex ends_4[2]
    cdef readonly bint exact

@cython.locals(offset=vec, point=Turning)
cpdef Target target(WaistArm arm, vec position, vec pointing, vec across) noexcept nogil

cpdef vec in_basis(WaistArm arm, vec v) noexcept nogil

@cython.locals(fixed=vec)
cdef Turning _turning_back(vec axis, vec v) noexcept nogil

cpdef double fitted(double angle, double lower, double upper, double near) noexcept nogil

@cython.locals(elbow="double complex", wrist="double complex")
cpdef double elbow_height(
    double complex upper_arm, double complex forearm, vec up, double q2, double q3
) noexcept nogil
