cimport cython

cdef unsigned long long GAMMA
cdef unsigned long long MASK
cdef unsigned long long MIX_1
cdef unsigned long long MIX_2

cdef class Random:
    cdef unsigned long long state

@cython.locals(z="unsigned long long")
cpdef double uniform(Random random) noexcept nogil
