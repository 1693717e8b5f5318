# `walk` of svmstat/solver/exact/tableau.py in Cython, with what it calls there, in events.py, basis.py, path.py
# and gram.py.

DEF MOST_CHANGES = 64
DEF WIDTH = 66
DEF BLOCK = 64
DEF DEPENDENT = 1e-10

cdef enum:
    AT_LOWER, AT_UPPER, FREE

cdef enum:
    ARRIVED, TOO_MANY_EVENTS, NO_COMPENSATION, BASIS_FULL, UNSTABLE

cdef struct Tableau:
    int64_t w
    double *T
    double *T_b
    double *side
    double *diagonal

cdef struct Point:
    double *beta
    double *g
    double *lo
    double *hi
    int8_t *status
    double *b

cdef struct Change:
    double *lo
    double *hi

cdef struct Changed:  # the rows E that have changed sides, where they stand among them, and T_EE
    int64_t e
    int64_t[WIDTH] rows
    int64_t *where
    double[WIDTH][WIDTH] block

cdef struct Factors:  # on the diagonal the reciprocals of the pivots
    double[WIDTH][WIDTH] matrix
    int64_t[WIDTH] pivots

cdef struct Combination:
    int64_t size
    int64_t *rows
    double *coefficients

cdef struct Walked:
    int8_t code
    int64_t events


cdef void change_side(Changed *E, Tableau *t, int64_t i) noexcept nogil:
    cdef int64_t a, c, last
    cdef double *row = t.T + i * t.w
    if E.where[i] < 0:
        for a in range(E.e):
            E.block[E.e][a] = row[E.rows[a]]
            E.block[a][E.e] = t.side[i] * t.side[E.rows[a]] * row[E.rows[a]]
        E.block[E.e][E.e] = row[i]
        E.rows[E.e] = i
        E.where[i] = E.e
        E.e += 1
        return
    a, last = E.where[i], E.e - 1
    for c in range(E.e):
        E.block[a][c] = E.block[last][c]
    for c in range(E.e):
        E.block[c][a] = E.block[c][last]
    E.rows[a] = E.rows[last]
    E.where[E.rows[a]] = a
    E.where[i] = -1
    E.e = last


cdef bint factor(Factors *f, Changed *E) noexcept nogil:
    cdef int64_t a, c, k, p, e = E.e
    cdef double share
    for a in range(e):
        for c in range(e):
            f.matrix[a][c] = E.block[a][c]
    for c in range(e):
        p = c
        for a in range(c + 1, e):
            if fabs(f.matrix[a][c]) > fabs(f.matrix[p][c]):
                p = a
        f.pivots[c] = p
        if f.matrix[p][c] == 0.0:
            return False
        if p != c:
            for k in range(e):
                f.matrix[c][k], f.matrix[p][k] = f.matrix[p][k], f.matrix[c][k]
        f.matrix[c][c] = 1.0 / f.matrix[c][c]
        for a in range(c + 1, e):
            share = f.matrix[a][c] * f.matrix[c][c]
            f.matrix[a][c] = share
            for k in range(c + 1, e):
                f.matrix[a][k] -= share * f.matrix[c][k]
    return True


cdef void solve(Factors *f, int64_t e, double *x) noexcept nogil:
    cdef int64_t a, c
    for c in range(e):
        x[c], x[f.pivots[c]] = x[f.pivots[c]], x[c]
    for c in range(e):
        for a in range(c + 1, e):
            x[a] -= f.matrix[a][c] * x[c]
    for c in range(e - 1, -1, -1):
        x[c] *= f.matrix[c][c]
        for a in range(c):
            x[a] -= f.matrix[a][c] * x[c]


cdef inline void clear(double *target, int64_t m) noexcept nogil:
    cdef int64_t i
    for i in range(m):
        target[i] = 0.0


cdef inline void add(Combination *terms, int64_t row, double coefficient) noexcept nogil:
    terms.rows[terms.size] = row
    terms.coefficients[terms.size] = coefficient
    terms.size += 1


cdef void four_rows(Doubles out, Doubles r0, Doubles r1, Doubles r2, Doubles r3,
                    double *c, int64_t w) noexcept nogil:
    cdef int64_t i
    cdef double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3]
    for i in range(w):
        out[i] += c0 * r0[i] + c1 * r1[i] + c2 * r2[i] + c3 * r3[i]


cdef void one_row(Doubles out, Doubles row, double c, int64_t w) noexcept nogil:
    cdef int64_t i
    for i in range(w):
        out[i] += c * row[i]


cdef double rates(Tableau *t, Changed *E, double *v, Combination *terms, double *out) noexcept nogil:
    cdef int64_t a, c, i
    cdef int64_t *r
    cdef double[4] four
    cdef double b_rate = 0.0
    for a in range(E.e):
        add(terms, E.rows[a], v[a])
    clear(out, t.w)
    for a in range(0, terms.size - 3, 4):
        r = terms.rows + a
        for c in range(4):
            four[c] = terms.coefficients[a + c] * t.side[r[c]]
        four_rows(out, t.T + r[0] * t.w, t.T + r[1] * t.w, t.T + r[2] * t.w, t.T + r[3] * t.w, four, t.w)
    for a in range(terms.size - terms.size % 4, terms.size):
        one_row(out, t.T + terms.rows[a] * t.w, terms.coefficients[a] * t.side[terms.rows[a]], t.w)
    for i in range(t.w):
        out[i] *= t.side[i]
    for a in range(terms.size):
        b_rate += terms.coefficients[a] * t.T_b[terms.rows[a]]
    for a in range(E.e):
        out[E.rows[a]] = v[a]
    return b_rate


cdef inline double time_for(double room, double pace, double noise, double never) noexcept nogil:
    cdef bint shrinks = pace > noise
    return (larger(room, 0.0) if shrinks else never) / (pace if shrinks else 1.0)


cdef inline int64_t least(double *times, int64_t size, double *before) noexcept nogil:
    # The place or −1; its time is put in the place of ``before``.
    cdef int64_t a, place = -1
    for a in range(size):
        if times[a] < before[0]:
            before[0], place = times[a], a
    return place


cdef int64_t first_free_event(Point *at, Change *change, int64_t *free, int64_t n_free, double *speed, double *when,
                              Doubles times) noexcept nogil:
    cdef int64_t a, i
    cdef double above, below
    for a in range(n_free):
        i = free[a]
        above = time_for(at.hi[i] - at.beta[i], speed[a] - change.hi[i], 0.0, when[0])
        below = time_for(at.beta[i] - at.lo[i], change.lo[i] - speed[a], 0.0, when[0])
        times[a] = smaller(above, below)
    return least(times, n_free, when)


cdef int64_t first_bound_event(int64_t w, Doubles g, Doubles slope, Doubles outward, double noise, double *when,
                               Doubles times) noexcept nogil:
    # The row or −1; its time is put in the place of ``when``.
    cdef int64_t start, size, a, i, place, row = -1
    cdef int earlier
    cdef double first
    for start in range(0, w, BLOCK):
        size, earlier, first = min(BLOCK, w - start), 0, when[0]
        for i in range(start, start + size):
            earlier |= larger(outward[i] * g[i], 0.0) < -outward[i] * slope[i] * first
        if earlier:
            for a in range(size):
                i = start + a
                times[a] = time_for(outward[i] * g[i], -outward[i] * slope[i], noise, first)
            place = least(times, size, when)
            if place >= 0:
                row = start + place
    return row


cdef inline double bound_rate(Point *at, Change *change, int64_t i) noexcept nogil:
    return change.lo[i] if at.status[i] == AT_LOWER else change.hi[i] if at.status[i] == AT_UPPER else 0.0


cdef int64_t compensator(Point *at, int64_t w, double total) noexcept nogil:
    cdef int64_t i, chosen = -1
    for i in range(w):
        if at.hi[i] > at.lo[i] and (
            (total < 0.0 and at.status[i] == AT_LOWER and (chosen < 0 or at.g[i] < at.g[chosen]))
            or (total > 0.0 and at.status[i] == AT_UPPER and (chosen < 0 or at.g[i] > at.g[chosen]))
        ):
            chosen = i
    return chosen


cdef inline void to_bound(Point *at, int64_t i, bint up) noexcept nogil:
    at.status[i] = AT_UPPER if up else AT_LOWER
    at.beta[i] = at.hi[i] if up else at.lo[i]


cdef int64_t slide(Point *at, int64_t j, double inward, int64_t *members, int64_t m, double *speed,
                   double *far) noexcept nogil:
    # The place of the free row that is at its bound, or −1; how far it is is put into ``far``.
    cdef int64_t a, i, blocking = -1
    cdef double distance, largest = 0.0, room = at.hi[j] - at.beta[j] if inward > 0 else at.beta[j] - at.lo[j]
    for a in range(m):
        largest = larger(largest, fabs(speed[a]))
    for a in range(m):
        i = members[a]
        if fabs(speed[a]) > 1e-9 * largest:
            distance = larger(((at.hi[i] if speed[a] > 0 else at.lo[i]) - at.beta[i]) / speed[a], 0.0)
            if distance < room or (blocking >= 0 and distance == room and fabs(speed[a]) > fabs(speed[blocking])):
                room, blocking = distance, a
    for a in range(m):
        at.beta[members[a]] += room * speed[a]
    far[0] = room
    return blocking


cdef void drop(int64_t i, int64_t *free, int64_t *n_free) noexcept nogil:
    cdef int64_t a
    for a in range(n_free[0]):
        if free[a] == i:
            free[a] = free[n_free[0] - 1]
            break
    n_free[0] -= 1


cdef Walked walk(Tableau *t, Point *at, Change *change, int64_t max_events) noexcept nogil:
    cdef int64_t w = t.w, n_free = 0, n_moving = 0, events = 0, a, c, i, row, place, blocking
    cdef vector[double] reals = vector[double](8 * w + WIDTH)
    cdef vector[int64_t] wholes = vector[int64_t](4 * w + WIDTH)
    cdef double *rate = reals.data()
    cdef double *answer = rate + w
    cdef double *outward = rate + 2 * w
    cdef double *lo_end = rate + 3 * w
    cdef double *hi_end = rate + 4 * w
    cdef double *speed = rate + 5 * w
    cdef double *times = rate + 6 * w
    cdef int64_t *free = wholes.data()
    cdef int64_t *moving = free + w
    cdef double[WIDTH] v
    cdef Changed E
    cdef Factors small
    cdef Combination terms
    cdef double remaining = 1.0, total, shift, pace, b_rate, scale, when, left, inward, sigma, room
    cdef bint up
    E.e, E.where = 0, free + 2 * w
    terms.rows, terms.coefficients = free + 3 * w, rate + 7 * w
    for i in range(w):
        E.where[i] = -1
    for i in range(w):
        lo_end[i], hi_end[i] = at.lo[i] + change.lo[i], at.hi[i] + change.hi[i]
        if change.lo[i] != 0.0 or change.hi[i] != 0.0:
            moving[n_moving] = i
            n_moving += 1
        if at.status[i] == FREE:
            free[n_free] = i
            n_free += 1
        elif t.side[i] < 0.0:
            if E.e == MOST_CHANGES:
                return Walked(BASIS_FULL, 0)
            change_side(&E, t, i)
        if at.hi[i] > at.lo[i] or change.hi[i] > change.lo[i]:
            outward[i] = 1.0 if at.status[i] == AT_LOWER else -1.0 if at.status[i] == AT_UPPER else 0.0

    while True:
        if n_free == 0:  # b moves to the row that can make up for what the bounds take
            total = 0.0
            for c in range(n_moving):
                total += bound_rate(at, change, moving[c])
            row = compensator(at, w, total)
            if row < 0:
                return Walked(NO_COMPENSATION, events)
            if E.e >= MOST_CHANGES:
                return Walked(BASIS_FULL, events)
            shift = at.g[row]
            at.b[0] -= shift
            for i in range(w):
                at.g[i] -= shift
            at.status[row], outward[row] = FREE, 0.0
            free[n_free] = row
            n_free += 1
            change_side(&E, t, row)
            events += 1
            continue
        if not factor(&small, &E):
            return Walked(UNSTABLE, events)

        clear(v, E.e)
        terms.size = 0
        for c in range(n_moving):
            i = moving[c]
            pace = bound_rate(at, change, i)
            if pace == 0.0:
                continue
            if E.where[i] >= 0:
                v[E.where[i]] += pace
            else:
                add(&terms, i, pace)
                for a in range(E.e):
                    v[a] -= pace * t.side[i] * t.side[E.rows[a]] * t.T[i * w + E.rows[a]]
        solve(&small, E.e, v)
        b_rate = rates(t, &E, v, &terms, rate)
        scale = fabs(b_rate)
        for a in range(n_free):
            speed[a] = rate[free[a]]
            rate[free[a]] = 0.0
            scale += fabs(speed[a]) * t.diagonal[free[a]]

        when = remaining
        place = first_free_event(at, change, free, n_free, speed, &when, times)
        row = first_bound_event(w, at.g, rate, outward, 1e-13 * scale, &when, times)
        if row >= 0:
            place = -1
        elif place >= 0:
            row = free[place]

        one_row(at.g, rate, when, w)
        for a in range(n_free):
            at.beta[free[a]] += when * speed[a]
        at.b[0] += when * b_rate
        remaining -= when
        left = remaining if row >= 0 else 0.0
        for c in range(n_moving):
            i = moving[c]
            at.lo[i] = lo_end[i] - left * change.lo[i] if left > 0.0 else lo_end[i]
            at.hi[i] = hi_end[i] - left * change.hi[i] if left > 0.0 else hi_end[i]
            if at.status[i] == AT_LOWER:
                at.beta[i] = at.lo[i]
            elif at.status[i] == AT_UPPER:
                at.beta[i] = at.hi[i]
        if row < 0:
            return Walked(ARRIVED, events)
        events += 1
        if events > max_events:
            return Walked(TOO_MANY_EVENTS, events)
        if E.e >= MOST_CHANGES:
            return Walked(BASIS_FULL, events)

        if place >= 0:
            up = speed[place] - change.hi[row] > 0.0 and (
                fabs(at.hi[row] - at.beta[row]) <= fabs(at.beta[row] - at.lo[row])
            )
            to_bound(at, row, up)
            outward[row] = -1.0 if up else 1.0
            at.g[row] = 0.0
            drop(row, free, &n_free)
            change_side(&E, t, row)
            continue

        if at.status[row] == FREE:  # only if something is not a number
            return Walked(UNSTABLE, events)
        at.g[row] = 0.0
        inward = outward[row]
        terms.size, scale = 0, t.diagonal[row]
        if E.where[row] >= 0:
            clear(v, E.e)
            v[E.where[row]] = 1.0
            solve(&small, E.e, v)
            sigma = v[E.where[row]]
        else:
            for a in range(E.e):
                v[a] = -t.side[row] * t.side[E.rows[a]] * t.T[row * w + E.rows[a]]
            solve(&small, E.e, v)
            sigma = t.T[row * w + row]
            for a in range(E.e):
                sigma += t.T[row * w + E.rows[a]] * v[a]
                scale += fabs(t.T[row * w + E.rows[a]] * v[a])
            add(&terms, row, 1.0)
        if sigma <= DEPENDENT * scale:
            # The row depends on the free ones: β slides where no gradient changes, until a row stops it.
            b_rate = rates(t, &E, v, &terms, answer)
            for a in range(n_free):
                speed[a] = inward * answer[free[a]]
            place = slide(at, row, inward, free, n_free, speed, &room)
            at.b[0] += inward * room * b_rate
            if place < 0:
                to_bound(at, row, inward > 0)
                outward[row] = -inward
                continue
            at.beta[row] += inward * room
            blocking, up = free[place], speed[place] > 0
            to_bound(at, blocking, up)
            outward[blocking] = -1.0 if up else 1.0
            at.g[blocking] = 0.0
            drop(blocking, free, &n_free)
            change_side(&E, t, blocking)
        at.status[row], outward[row] = FREE, 0.0
        free[n_free] = row
        n_free += 1
        change_side(&E, t, row)
