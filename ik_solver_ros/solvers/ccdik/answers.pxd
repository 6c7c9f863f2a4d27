cimport cython

from ik_solver_ros.kinematics.kernels cimport Body, Row
from ik_solver_ros.kinematics.quaternion cimport quat, vec
from ik_solver_ros.kinematics.waist_arm cimport WaistArm
from ik_solver_ros.solvers.ccdik.generic cimport work as work_done
from ik_solver_ros.solvers.ccdik.search cimport search_answer
from ik_solver_ros.solvers.ccdik.structure cimport ArmSearch
from ik_solver_ros.solvers.goal_numbers cimport check_goal
from ik_solver_ros.solvers.problem cimport Problem, pose_errors, prepare, set_goal, settle, status_code

cdef double INF
cdef int NO_FAULT
cdef list IDLE

cdef class Answer:
    cdef readonly list q
    cdef readonly int code
    cdef readonly double position_error
    cdef readonly double approach_error
    cdef readonly double roll_error
    cdef readonly Py_ssize_t iterations
    cdef readonly Py_ssize_t restarts

@cython.locals(search=ArmSearch)
cpdef ArmSearch new_search(Body body, arm, options)

cpdef void give_back(ArmSearch search) except *

@cython.locals(search=ArmSearch, work=work_done, errors=vec, answer=Answer)
cpdef Answer find_answer(Body body, arm, goal, start, options)

@cython.locals(search=ArmSearch, answer=Answer)
cpdef Answer grade(Body body, goal, start, q, options)

@cython.locals(code=int)
cdef Answer _answer(Problem problem, Row q, vec errors, work_done work)

cdef class Rows:
    cdef int targets
    cdef const double[:, ::1] goals
    cdef const double[:, ::1] starts
    cdef double[:, ::1] q
    cdef long long[::1] codes
    cdef double[:, ::1] errors

@cython.locals(i=Py_ssize_t)
cpdef void answer_rows(ArmSearch search, Rows rows, Py_ssize_t first, Py_ssize_t last) except *

@cython.locals(n=Py_ssize_t, k=Py_ssize_t, position=vec, rest=quat, errors=vec)
cdef void _answer_row(ArmSearch search, Rows rows, Py_ssize_t i) noexcept nogil
