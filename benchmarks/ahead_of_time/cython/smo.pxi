# svmstat/solver/rough/smo.py in Cython; the reasons stand there.
#
# A maximum is a vector instruction for GCC only with -ffinite-math-only, of the whole module: infinite numbers and what
# is not a number are told by their bits.

DEF FAR = 1e300
DEF FLAT = 1e-12
DEF ZERO = 1e-300

cdef struct Ends:
    double top
    double bottom

cdef struct Descended:
    int64_t steps
    double violation

cdef union Bits:
    double number
    uint64_t bits


cdef inline bint is_finite(double x) noexcept nogil:
    cdef Bits of
    of.number = x
    return (of.bits >> 52) & 0x7FF != 0x7FF


cdef inline double larger(double a, double b) noexcept nogil:
    return a if a > b else b


cdef inline double smaller(double a, double b) noexcept nogil:
    return a if a < b else b


cdef inline double curvature(double both, double between) noexcept nogil:
    return larger(both - 2.0 * between, FLAT * fabs(both) + ZERO)


cdef inline double promises(double top, Doubles h, Doubles cannot_fall, double diagonal_i, Doubles diagonal,
                            Doubles row_i, Doubles gains, int64_t first, int64_t stop) noexcept nogil:
    cdef int64_t k
    cdef double slack, most = 0.0
    for k in range(first, stop):
        slack = larger(top - (h[k] + cannot_fall[k]), 0.0)
        gains[k] = slack * slack / curvature(diagonal_i + diagonal[k], row_i[k])
        most = larger(most, gains[k])
    return most


cdef inline Ends move_h(Doubles h, double *row_i, double *row_j, double step, Doubles cannot_rise,
                        Doubles cannot_fall, Doubles rising, int64_t first, int64_t stop) noexcept nogil:
    cdef int64_t k
    cdef double value
    cdef Ends ends = Ends(-FAR, FAR)
    for k in range(first, stop):
        value = h[k] - step * (row_i[k] - row_j[k])
        h[k] = value
        rising[k] = value + cannot_rise[k]
        ends.top = larger(ends.top, rising[k])
        ends.bottom = smaller(ends.bottom, value + cannot_fall[k])
    return ends


cdef inline int64_t place(Doubles values, double value, Doubles places, int64_t first, int64_t stop) noexcept nogil:
    cdef int64_t k
    cdef double found = FAR
    for k in range(first, stop):
        found = smaller(found, places[k] + (0.0 if values[k] == value else FAR))
    return <int64_t>found if found < stop else -1


cdef inline void mark(int64_t k, Doubles beta, Doubles lo, Doubles hi, Doubles cannot_rise,
                      Doubles cannot_fall) noexcept nogil:
    cannot_rise[k] = 0.0 if beta[k] < hi[k] else -FAR
    cannot_fall[k] = 0.0 if beta[k] > lo[k] else FAR


cdef Descended descend(Doubles gram, int64_t n, int64_t p, Doubles lo, Doubles hi, Doubles beta, Doubles h,
                       double tolerance, int64_t max_steps) noexcept nogil:
    cdef vector[double] room = vector[double](6 * n)
    cdef Doubles diagonal = room.data(), places = diagonal + n, rising = diagonal + 2 * n, gains = diagonal + 3 * n
    cdef Doubles cannot_rise = diagonal + 4 * n, cannot_fall = diagonal + 5 * n
    cdef int64_t first, stop, k, i = 0, j = 0, steps = 0
    cdef double most, room_i, room_j, step = 0.0
    cdef Ends ends, others
    for k in range(n):
        diagonal[k] = gram[k * n + k]
        places[k] = k
        mark(k, beta, lo, hi, cannot_rise, cannot_fall)
    while True:
        first, stop = 0, p
        ends = move_h(h, gram + i * n, gram + j * n, step, cannot_rise, cannot_fall, rising, 0, p)
        if p < n:
            others = move_h(h, gram + i * n, gram + j * n, step, cannot_rise, cannot_fall, rising, p, n)
            if others.top - others.bottom > ends.top - ends.bottom:
                first, stop, ends = p, n, others
        if not (ends.top - ends.bottom > tolerance and steps < max_steps):
            return Descended(steps, ends.top - ends.bottom)
        i = place(rising, ends.top, places, first, stop)
        if i < 0:
            return Descended(steps, INFINITY)
        most = promises(ends.top, h, cannot_fall, diagonal[i], diagonal, gram + i * n, gains, first, stop)
        j = place(gains, most, places, first, stop)
        if j < 0:
            return Descended(steps, INFINITY)
        step = (ends.top - h[j]) / curvature(diagonal[i] + diagonal[j], gram[i * n + j])
        room_i, room_j = hi[i] - beta[i], beta[j] - lo[j]
        step = smaller(smaller(step, room_i), room_j)
        if not (step >= 0.0 and is_finite(step * (ends.top - h[j]))):
            return Descended(steps, INFINITY)
        beta[i] = hi[i] if step == room_i else beta[i] + step
        beta[j] = lo[j] if step == room_j else beta[j] - step
        mark(i, beta, lo, hi, cannot_rise, cannot_fall)
        mark(j, beta, lo, hi, cannot_rise, cannot_fall)
        steps += 1
