cimport cython

from ik_solver_ros.kinematics.shapes cimport Pair, Posture
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group cimport ArmProblem, best_pitch, no_posture
from ik_solver_ros.solvers.ccdik.three_parallel.scan cimport valleys
from ik_solver_ros.solvers.ccdik.three_parallel.sinusoids cimport both_sides, exact_pairs, tip_on_axis

cdef double INF
cdef double ANY_APPROACH
cdef double BEST_PITCH_ONLY
cdef double ALONG_WAIST

@cython.locals(best=Posture)
cpdef Posture nearest_approach(ArmProblem problem, double tolerance) noexcept nogil

@cython.locals(best=Posture, even=double, odd=double, count=Py_ssize_t)
cpdef Posture exact_approach(ArmProblem problem, double tolerance) noexcept nogil

@cython.locals(k=Py_ssize_t)
cdef Posture _serve_pairs(ArmProblem problem, Py_ssize_t count, double floor, Posture best) noexcept nogil
