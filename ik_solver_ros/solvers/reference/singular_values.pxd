cimport cython
from libc cimport math

cdef Py_ssize_t ROUNDS
cdef double PERPENDICULAR

cdef class Rows:
    cdef double at[6][32]
    cdef double right[6]
    @cython.locals(i=Py_ssize_t, k=Py_ssize_t)
    cpdef tuple values(self, Py_ssize_t n)

@cython.locals(i=Py_ssize_t, j=Py_ssize_t, done=bint)
cpdef void separate(Rows rows, Py_ssize_t n) noexcept nogil

@cython.locals(k=Py_ssize_t, total=double)
cpdef double product(Rows rows, Py_ssize_t i, Py_ssize_t j, Py_ssize_t n) noexcept nogil

@cython.locals(
    k=Py_ssize_t, first=double, second=double, both=double, z=double, t=double, c=double, s=double, x=double, y=double,
)
cdef bint _turn(Rows rows, Py_ssize_t i, Py_ssize_t j, Py_ssize_t n) noexcept nogil
