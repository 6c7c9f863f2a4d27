cimport cython

from ik_solver_ros.kinematics.kernels cimport Row, clamp, copy, largest_step
from ik_solver_ros.kinematics.quaternion cimport vec
from ik_solver_ros.kinematics.shapes cimport Posture
from ik_solver_ros.solvers.ccdik.descent cimport descend, outcome
from ik_solver_ros.solvers.ccdik.generic cimport work
from ik_solver_ros.solvers.ccdik.nearest cimport Search, consider, forget, to_position
from ik_solver_ros.solvers.ccdik.three_parallel.approach cimport nearest_approach
from ik_solver_ros.solvers.ccdik.three_parallel.branches cimport exact_postures
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group cimport ArmProblem, keep, no_posture, take_problem
from ik_solver_ros.solvers.ccdik.three_parallel.roll cimport nearest_pose
from ik_solver_ros.solvers.ccdik.three_parallel.sinusoids cimport both_sides
from ik_solver_ros.solvers.ccdik.three_parallel.unreachable cimport nearest_reach
from ik_solver_ros.solvers.problem cimport Problem

cdef double INF
cdef double ONLY_EXACT
cdef double W1
cdef double W2
cdef double ANY_APPROACH
cdef double EXACT
cdef double MENDED
cdef double NEARLY
cdef double SAME_POSTURE

cdef class ArmSearch(Search):
    cdef ArmProblem arm
    cdef bint has_structure
    cdef Row nearest
    cdef Row numbers

@cython.locals(tolerance=double, best=Posture, own=bint)
cpdef Posture closed_form(ArmSearch search, Row now) noexcept nogil

@cython.locals(n=Py_ssize_t, total=Py_ssize_t, position_only=vec, iterations=Py_ssize_t, reached=bint)
cpdef work solve_by_structure(ArmSearch search, double miss) noexcept nogil

cpdef double missed_by(Posture posture) noexcept nogil

@cython.locals(
    n=Py_ssize_t, targets=int, weights=vec, total=Py_ssize_t, iterations=Py_ssize_t, reached=bint, shortest=double,
    step=double, k=Py_ssize_t,
)
cdef outcome _mend(ArmSearch search) noexcept nogil

@cython.locals(count=Py_ssize_t, k=Py_ssize_t)
cdef work _out_of_reach(ArmSearch search, Py_ssize_t iterations) noexcept nogil
