cimport cython

from ik_solver_ros.kinematics.kernels cimport copy
from ik_solver_ros.kinematics.quaternion cimport dot, sub, vec
from ik_solver_ros.solvers.ccdik.descent cimport descend, outcome, sweep
from ik_solver_ros.solvers.ccdik.nearest cimport Search, consider, draw, forget, is_exact, to_position
from ik_solver_ros.solvers.ccdik.starts cimport begin, prepare_starts
from ik_solver_ros.solvers.problem cimport chord_errors

cdef double FINEST
cdef double ONLY_EXACT
cdef double W1
cdef double W2
cdef Py_ssize_t QUICK_STARTS
cdef Py_ssize_t FAR_STARTS
cdef Py_ssize_t POSITION_STARTS
cdef Py_ssize_t LEAST_STARTS
cdef Py_ssize_t AGREED

ctypedef (Py_ssize_t, Py_ssize_t) work

@cython.locals(
    beyond=vec, starts=Py_ssize_t, quick=Py_ssize_t, total=Py_ssize_t, restart=Py_ssize_t, iterations=Py_ssize_t,
    reached=bint,
)
cpdef work solve_generic(Search search) noexcept nogil

@cython.locals(targets=int, weights=vec, total=Py_ssize_t, iterations=Py_ssize_t, restart=Py_ssize_t, reached=bint)
cpdef work search_exact(Search search, Py_ssize_t first, Py_ssize_t last) noexcept nogil

@cython.locals(total=Py_ssize_t, k=Py_ssize_t)
cdef outcome _nearest_position(Search search) noexcept nogil

@cython.locals(
    restarts=Py_ssize_t, restart=Py_ssize_t, weights=vec, iterations=Py_ssize_t, reached=bint,
)
cdef work _nearest(Search search, Py_ssize_t total) noexcept nogil
