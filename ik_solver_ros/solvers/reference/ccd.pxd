cimport cython
from libc cimport math

from ik_solver_ros.kinematics.kernels cimport Frames, Row, joint_frames
from ik_solver_ros.kinematics.quaternion cimport cross, dot, quat, scaled, sub, vec
from ik_solver_ros.solvers.problem cimport Problem, chord_errors, prepare
from ik_solver_ros.solvers.reference.restarts cimport Restarts, keep_best, randomise

cdef double SHORTEST

@cython.locals(search=Restarts, frames=Frames, restarts=Py_ssize_t)
cdef object _attempt(chain, goal, q0, options, bint from_base)

@cython.locals(restart=Py_ssize_t, sweeps=Py_ssize_t)
cdef Py_ssize_t _descend(Restarts search, Frames frames, bint from_base) noexcept nogil

@cython.locals(n=Py_ssize_t, k=Py_ssize_t, i=Py_ssize_t, tip=vec, _=quat, step=double)
cpdef void sweep(Problem problem, Frames frames, Row q, bint from_base) noexcept nogil

@cython.locals(angle=double)
cdef double _angle(vec a, vec b, vec z) noexcept nogil
