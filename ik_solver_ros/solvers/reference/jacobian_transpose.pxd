cimport cython

from ik_solver_ros.kinematics.kernels cimport clamp
from ik_solver_ros.kinematics.quaternion cimport add, dot, scaled, vec
from ik_solver_ros.solvers.problem cimport Problem, prepare
from ik_solver_ros.solvers.reference.restarts cimport Restarts, keep_best, randomise
from ik_solver_ros.solvers.reference.twist cimport Twist, downhill, fill_twist, tolerance_ratio

cdef double POSITION
cdef double DIRECTIONS

@cython.locals(largest=double)
cpdef object jacobian_transpose_fixed(chain, goal, q0, options)

@cython.locals(search=Restarts, twist=Twist, restarts=Py_ssize_t)
cdef object _attempt(chain, goal, q0, options, double fixed)

@cython.locals(restart=Py_ssize_t, steps=Py_ssize_t)
cdef Py_ssize_t _descend(Restarts search, Twist twist, double fixed) noexcept nogil

@cython.locals(i=Py_ssize_t, moved=vec, turned=vec, square=double, best=double, size=double)
cdef bint _step(Restarts search, Twist twist, double fixed) noexcept nogil
