cimport cython
from libc cimport math

from ik_solver_ros.kinematics.plane cimport at_angle, chord, value
from ik_solver_ros.kinematics.quaternion cimport cross, dot
from ik_solver_ros.kinematics.shapes cimport GroupView, Misses, Pair, Place, Posture
from ik_solver_ros.kinematics.waist_arm cimport fitted
from ik_solver_ros.solvers.ccdik.three_parallel.approach cimport exact_approach
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group cimport (
    ArmProblem, best_pitch, group_view, no_posture, offer, roll_of,
)
from ik_solver_ros.solvers.ccdik.three_parallel.scan cimport golden_section, spaced, valleys
from ik_solver_ros.solvers.ccdik.three_parallel.sinusoids cimport evaluate, exact_pairs, tip_on_axis

cdef double INF
cdef double PI
cdef double ANY_APPROACH
cdef double BEST_PITCH_ONLY
cdef Py_ssize_t CLOSER
cdef double EXACT
cdef double ROLLED

@cython.locals(best=Posture, rolled=Posture, pair=Pair, count=Py_ssize_t, k=Py_ssize_t)
cpdef Posture nearest_pose(ArmProblem problem, double tolerance, double slack) noexcept nogil

@cython.locals(front=Posture, back=Posture, floor=double)
cdef Posture _rolled_sides(ArmProblem problem, double pitches, double bound, double slack) noexcept nogil

cpdef double widened(double miss, double slack) noexcept nogil

@cython.locals(
    low=double, high=double, width=double, rolled=Posture, trial=Posture, m=Py_ssize_t, k=Py_ssize_t, i=Py_ssize_t,
    side=int, q5=double, worth=bint, place=Place, start=Place, left=double, right=double,
)
cdef Posture _least_roll(ArmProblem problem, double floor, Py_ssize_t pairs) noexcept nogil

@cython.locals(
    pitch="double complex", view=GroupView, at=GroupView, turn=double, q5=double, misses=Misses,
)
cpdef Posture roll_in_place(ArmProblem problem, Posture posture, double floor, Posture rolled) noexcept nogil
