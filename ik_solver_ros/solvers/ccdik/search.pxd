cimport cython

from ik_solver_ros.kinematics.kernels cimport copy, largest_step
from ik_solver_ros.kinematics.quaternion cimport vec
from ik_solver_ros.kinematics.shapes cimport Posture
from ik_solver_ros.solvers.ccdik.generic cimport search_exact, solve_generic, work
from ik_solver_ros.solvers.ccdik.nearest cimport descend_to_nearest
from ik_solver_ros.solvers.ccdik.structure cimport ArmSearch, closed_form, missed_by, solve_by_structure
from ik_solver_ros.solvers.problem cimport Problem, chord_errors, pose_errors, set_start

cdef double INF
cdef double MENDED
cdef double NEARLY
cdef double SAME_POSITION
cdef double NO_FLIP
cdef double STILL

@cython.locals(miss=double, best=Posture, final=bint, own=bint)
cpdef work search_answer(ArmSearch search) noexcept nogil

@cython.locals(i=Py_ssize_t)
cdef bint _inside(Problem problem) noexcept nogil

@cython.locals(n=Py_ssize_t, targets=int, errors=vec, there=bint, done=work)
cdef work _search_on(ArmSearch search, double miss) noexcept nogil

@cython.locals(here=vec, there=vec)
cdef void _keep_branch(ArmSearch search) noexcept nogil
