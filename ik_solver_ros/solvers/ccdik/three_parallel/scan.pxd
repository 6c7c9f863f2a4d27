cimport cython
from libc cimport math

from ik_solver_ros.kinematics.plane cimport size_of
from ik_solver_ros.kinematics.quaternion cimport dot
from ik_solver_ros.kinematics.shapes cimport Place, Posture, Roots, Valley
from ik_solver_ros.kinematics.waist_arm cimport WaistArm, fitted
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group cimport ArmProblem, no_posture
from ik_solver_ros.solvers.ccdik.three_parallel.sinusoids cimport evaluate, roots

cdef double INF
cdef double PI
cdef double TWO_PI
cdef double ANY_APPROACH
cdef Py_ssize_t CLOSER
cdef double SIDEWAYS
cdef Py_ssize_t SCANNED
cdef Py_ssize_t BENT_SAMPLES
cdef Py_ssize_t ROLL_SAMPLES
cdef Py_ssize_t SECTIONS
cdef Py_ssize_t ROLL_SECTIONS
cdef double GOLDEN

@cython.locals(least=Py_ssize_t, side=int, start=Place, valley=Valley, k=Py_ssize_t, low=double, high=double)
cpdef Posture valleys(ArmProblem problem, double bound, Posture best) noexcept nogil

@cython.locals(lower=double, upper=double, k=Py_ssize_t, across=double, limit=double, bends=Roots)
cpdef void sample(ArmProblem problem) noexcept nogil

cpdef Py_ssize_t spaced(WaistArm arm) noexcept nogil

@cython.locals(k=Py_ssize_t)
cdef void _insert(ArmProblem problem, double angle) noexcept nogil

@cython.locals(
    size=double, tool=double, swing=double, margin=double, k=Py_ssize_t, side=int, before=double, trial=Posture,
)
cdef Posture _scan(ArmProblem problem, double bound, Posture best) noexcept nogil

@cython.locals(
    found=Py_ssize_t, smallest=double, side=int, k=Py_ssize_t, f=double, before=double, after=double,
)
cdef Py_ssize_t _least(ArmProblem problem) noexcept nogil

@cython.locals(x=double, fx=double, y=double, side=double, right=bint, trial=Posture)
cpdef Valley golden_section(
    ArmProblem problem, Place start, double low, double high, double floor, Posture best
) noexcept nogil
