cimport cython
from libc cimport math

from ik_solver_ros.kinematics.kernels cimport Frames, Row, copy, joint_frames, tip_frame
from ik_solver_ros.kinematics.quaternion cimport (
    add, angle_about, angle_between, conjugate, dot, from_axis_angle, from_two_vectors, multiply, quat, rotate,
    scaled, sub, vec,
)
from ik_solver_ros.solvers.problem cimport Problem, prepare
from ik_solver_ros.solvers.random cimport uniform
from ik_solver_ros.solvers.reference.restarts cimport Restarts, keep_best

cdef double TWO_PI
cdef int POSITION
cdef int APPROACH
cdef int ROLL

@cython.locals(search=Restarts, frames=Frames, restarts=Py_ssize_t)
cpdef object ccdik_published(chain, goal, q0, options)

@cython.locals(problem=Problem)
cpdef object ccdik_step(chain, goal, q)

cpdef int serves(Py_ssize_t i, Py_ssize_t n, int targets) noexcept nogil

@cython.locals(
    n=Py_ssize_t, i=Py_ssize_t, target=int, effector=vec, tip_rotation=quat, approach=vec, roll=vec, origin=vec,
    parent=quat, hinge=vec, axis=vec, lower=double, upper=double, old=double, towards=quat, rotation=quat,
    angle=double, moved=quat,
)
cpdef void sweep(Problem problem, Frames frames, Row q) noexcept nogil

@cython.locals(p=vec, rotation=quat, offset=vec, angle=double, k=Py_ssize_t)
cdef double _tolerance_ratio(Problem problem, Row q) noexcept nogil

@cython.locals(restart=Py_ssize_t, sweeps=Py_ssize_t)
cdef Py_ssize_t _anneal(Restarts search, Frames frames) noexcept nogil

@cython.locals(i=Py_ssize_t, lower=double, upper=double, span=double, moved=double)
cdef void _shake(Restarts search, double heat) noexcept nogil
