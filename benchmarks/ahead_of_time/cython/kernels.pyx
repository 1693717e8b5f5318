# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# What Python sees of the Cython kernels: shapes and types are checked at the call.

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int8_t, int64_t, uint64_t
from libcpp.vector cimport vector

cdef extern from *:
    """
    typedef double *__restrict Doubles;

    static int instructions() {
    #if defined(__x86_64__)
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) return 4;
        if (__builtin_cpu_supports("avx2")) return 3;
    #endif
        return 1;
    }
    """
    ctypedef double *Doubles
    int instructions() nogil

include "smo.pxi"
include "walk.pxi"


def level():
    """Which x86-64 level the processor has: Cython has no dispatch, so that there is a module for each."""
    return instructions()


def smo(double[:, ::1] gram, int64_t p, double[::1] lo, double[::1] hi, double[::1] beta, double[::1] h,
        double tolerance, int64_t max_steps):
    cdef Descended done
    with nogil:
        done = descend(&gram[0, 0], h.shape[0], p, &lo[0], &hi[0], &beta[0], &h[0], tolerance, max_steps)
    return done.steps, done.violation


def walk_all(double[:, ::1] T, double[::1] T_b, double[::1] side, double[::1] diagonal, double[:, ::1] beta,
             double[:, ::1] g, double[:, ::1] lo, double[:, ::1] hi, int8_t[:, ::1] status, double[::1] b,
             double[:, ::1] dlo, double[:, ::1] dhi, int64_t max_events, int8_t[::1] code, int64_t[::1] events):
    cdef Tableau t = Tableau(side.shape[0], &T[0, 0], &T_b[0], &side[0], &diagonal[0])
    cdef Point at
    cdef Change change
    cdef Walked done
    cdef int64_t q
    with nogil:
        for q in range(b.shape[0]):
            at = Point(&beta[q, 0], &g[q, 0], &lo[q, 0], &hi[q, 0], &status[q, 0], &b[q])
            change = Change(&dlo[q, 0], &dhi[q, 0])
            done = walk(&t, &at, &change, max_events)
            code[q], events[q] = done.code, done.events
