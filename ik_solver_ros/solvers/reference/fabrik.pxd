cimport cython
from libc cimport math

from ik_solver_ros.kinematics.quaternion cimport (
    add, angle_between, conjugate, cross, dot, from_axis_angle, multiply, quat, rotate, scaled, sub, turn, vec,
)
from ik_solver_ros.solvers.problem cimport Problem, prepare
from ik_solver_ros.solvers.reference.restarts cimport Restarts, keep_best, randomise

cdef double INF
cdef double PI
cdef double COINCIDENT
cdef Py_ssize_t CYCLES
cdef Py_ssize_t HALVINGS
cdef double AIMED

cdef class Skeleton(Restarts):
    cdef double cone
    cdef vec base
    cdef vec bone[32]
    cdef Py_ssize_t last[32]
    cdef vec points[33]
    cdef vec wishes[33]
    cdef vec axes[32]
    cdef double off_now
    cdef readonly double off_hinges

cdef vec _vec(v)

@cython.locals(problem=Problem, search=Skeleton, restarts=Py_ssize_t)
cpdef object fabrik(chain, goal, q0, options)

@cython.locals(n=Py_ssize_t, restart=Py_ssize_t, passes=Py_ssize_t, offset=vec, error=double)
cdef Py_ssize_t _descend(Skeleton search) noexcept nogil

@cython.locals(n=Py_ssize_t, i=Py_ssize_t, p=vec, r=quat)
cdef void _place(Skeleton search) noexcept nogil

cdef quat _through(Skeleton search, quat r, Py_ssize_t i) noexcept nogil

@cython.locals(n=Py_ssize_t, i=Py_ssize_t, end=vec, way=vec, length=double, far=double)
cdef void _reach_back(Skeleton search) noexcept nogil

@cython.locals(
    n=Py_ssize_t, i=Py_ssize_t, j=Py_ssize_t, k=Py_ssize_t, p=vec, r=quat, bone=vec, way=vec, wish=vec, end=vec,
    missed=vec, length=double, far=double,
)
cdef void _reach_forth(Skeleton search) noexcept nogil

@cython.locals(
    j=Py_ssize_t, k=Py_ssize_t, m=Py_ssize_t, largest=double, z=vec, v=vec, w=vec, before=quat, hinge=quat, sine=double,
    cosine=double, angle=double,
)
cdef void _aim(Skeleton search, quat r, Py_ssize_t i, vec wish) noexcept nogil

@cython.locals(j=Py_ssize_t, rest=vec, across=vec, size=double, aimed=vec)
cdef vec _in_cone(Skeleton search, quat r, Py_ssize_t i, vec wish) noexcept nogil

@cython.locals(k=Py_ssize_t, good=double, bad=double, middle=double)
cdef void _straighten(Skeleton search, Py_ssize_t i) noexcept nogil

@cython.locals(k=Py_ssize_t, rest=vec, now=vec, origin=quat, hinge=quat)
cdef double _bent(Skeleton search, Py_ssize_t i, double fraction) noexcept nogil
