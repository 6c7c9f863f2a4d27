cimport cython

from ik_solver_ros.kinematics.shapes cimport Pair, Posture
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group cimport ArmProblem, best_pitch, no_posture
from ik_solver_ros.solvers.ccdik.three_parallel.roll cimport roll_in_place
from ik_solver_ros.solvers.ccdik.three_parallel.sinusoids cimport evaluate, exact_pairs, tip_on_axis

cdef double INF
cdef double ANY_APPROACH
cdef double EXACT
cdef Py_ssize_t BRANCHES

@cython.locals(
    on_axis=bint, preferred=double, count=Py_ssize_t, up=int, k=Py_ssize_t, best=Posture, side=Posture, floor=double,
)
cpdef Py_ssize_t exact_postures(ArmProblem problem, int targets, double tolerance) noexcept nogil
