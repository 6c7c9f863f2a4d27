cimport cython

from ik_solver_ros.solvers.ccdik.descent cimport descend
from ik_solver_ros.solvers.ccdik.starts cimport begin, prepare_starts
from ik_solver_ros.solvers.ccdik.structure cimport ArmSearch
from ik_solver_ros.solvers.ccdik.three_parallel.branches cimport exact_postures
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group cimport keep, take_problem

cdef double ONLY_EXACT
cdef double W1
cdef double W2
cdef double EXACT

@cython.locals(tolerance=double, k=Py_ssize_t)
cpdef list branches(ArmSearch search)

@cython.locals(targets=int, k=Py_ssize_t, reached=bint)
cpdef list reached_from(ArmSearch search, Py_ssize_t starts)
