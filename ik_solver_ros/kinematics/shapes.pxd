from ik_solver_ros.kinematics.quaternion cimport vec

cdef struct Turning:
    vec fixed
    vec even
    vec odd

cdef struct Target:
    Turning point
    Turning tool
    Turning side
    double size
    double middle

cdef struct Sinusoid:
    double mean
    double complex swing

cdef struct Corner:
    double cosine
    double sine

cdef struct GroupView:
    double q1
    double q5
    double complex reach
    double complex hand
    Sinusoid match
    Sinusoid sine
    Sinusoid cosine

cdef struct Misses:
    double first
    double second

cdef struct Posture:
    double miss
    double second
    double elbow
    double step
    double total
    double q1
    double q2
    double q3
    double q4
    double q5

cdef struct Roots:
    double first
    double second
    bint found

cdef struct Place:
    double miss
    double q5
    int side

cdef struct Pair:
    double q1
    double q5

cdef struct Valley:
    double miss
    double q5
    Posture best
