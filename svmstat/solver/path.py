"""Exact path following: an optimal solution moved along a straight line of problem data.

While lower bounds, upper bounds and linear term move as lo + t·dlo, hi + t·dhi, s + t·ds, t: 0 → 1, the optimal
β, b and the gradient g = Kβ + b − s are piecewise linear in t. Between two events the free set M obeys

    [[0, 1'], [1, K_MM]] (ḃ, β̇_M) = (−Σ_E β̇_E, ṡ_M − K_ME β̇_E)                                        (1)

with E the rows that sit on a moving bound; an event is a free β reaching a bound or the gradient of a bound
row reaching zero. R, the inverse of the bordered matrix in (1), follows each event by a rank-one change.

References: Cauwenberghs & Poggio (2000); Hastie, Rosset, Tibshirani & Zhu (2004); Best (1996).
"""

import numpy as np
from numba import njit

from svmstat.solver.gram import combine
from svmstat.solver.solution import AT_LOWER, AT_UPPER, FREE

ARRIVED, TOO_MANY_EVENTS, NO_COMPENSATION, BASIS_FULL, UNSTABLE = 0, 1, 2, 3, 4
"""How a move ended. Everything but ARRIVED sends the problem to the rough solver."""

DEPENDENT = 1e-10
"""A row whose Schur complement is below this share of its K_ii depends on the free rows."""

_FAST = {"nnan", "nsz"}


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _apply(inverse, size, vector, out):
    """out = R · vector over the leading ``size`` entries."""
    for a in range(size):
        out[a] = 0.0
    for c in range(size):
        row, factor = inverse[c], vector[c]
        for a in range(size):
            out[a] += factor * row[a]


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _schur(gram, members, m, inverse, j, border, z):
    """z = R·(1, K_Mj) and the Schur complement of row j given the free rows."""
    border[0] = 1.0
    row = gram[j]
    for a in range(m):
        border[a + 1] = row[members[a]]
    _apply(inverse, m + 1, border, z)
    sigma = row[j]
    for a in range(m + 1):
        sigma -= border[a] * z[a]
    return sigma


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _schur_refined(gram, members, m, inverse, j, border, z):
    """`_schur` with one step of iterative refinement of z; border and z are those that it left."""
    residual, step = np.empty(m + 1), np.empty(m + 1)
    residual[0] = 1.0
    for a in range(m):
        residual[0] -= z[a + 1]
    for a in range(m):
        row = gram[members[a]]
        total = border[a + 1] - z[0]
        for c in range(m):
            total -= row[members[c]] * z[c + 1]
        residual[a + 1] = total
    _apply(inverse, m + 1, residual, step)
    sigma = gram[j, j]
    for a in range(m + 1):
        z[a] += step[a]
        sigma -= border[a] * z[a]
    return sigma


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _include(members, m, inverse, j, z, sigma, diagonal_j):
    """Border R by row j (its z and Schur complement given); returns the new number of free rows."""
    if m == 0:
        inverse[0, 0] = -diagonal_j
        inverse[0, 1] = inverse[1, 0] = 1.0
        inverse[1, 1] = 0.0
    else:
        size = m + 1
        for a in range(size):
            scaled = z[a] / sigma
            row = inverse[a]
            for c in range(size):
                row[c] += scaled * z[c]
        for a in range(size):
            inverse[a, size] = inverse[size, a] = -z[a] / sigma
        inverse[size, size] = 1.0 / sigma
    members[m] = j
    return m + 1


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def exclude(members, m, inverse, position):
    """Take the free row at ``position`` out of R; returns the new number of free rows."""
    if m > 1:
        size = m + 1
        p = position + 1
        pivot = inverse[p, p]
        for a in range(size):
            if a != p:
                scaled = inverse[a, p] / pivot
                row, source = inverse[a], inverse[p]
                for c in range(size):
                    row[c] -= scaled * source[c]
        last = size - 1
        if p != last:
            for a in range(size):
                inverse[a, p] = inverse[a, last]
            for a in range(size):
                inverse[p, a] = inverse[last, a]
            inverse[p, p] = inverse[last, last]
    members[position] = members[m - 1]
    return m - 1


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _enter(gram, beta, lo, hi, status, members, m, inverse, j, inward, border, z, scalars):
    """Make row j free, ``inward`` (+1 or −1) being the way its β may go.

    If the column of j depends on the free rows there is a direction along which no gradient changes: β slides along
    it until a row meets a bound, and that row gives its place to j. Returns the number of free rows and the row that
    went to a bound (−1 if none; j itself if it slid to its other bound).
    """
    if m == 0:
        status[j] = FREE
        return _include(members, m, inverse, j, z, 1.0, gram[j, j]), -1
    sigma = _schur(gram, members, m, inverse, j, border, z)
    scale = abs(gram[j, j])
    for a in range(m + 1):
        scale += abs(border[a] * z[a])
    if sigma <= 1e-5 * scale:
        sigma = _schur_refined(gram, members, m, inverse, j, border, z)
    if sigma > DEPENDENT * scale:
        status[j] = FREE
        return _include(members, m, inverse, j, z, sigma, gram[j, j]), -1

    room = hi[j] - beta[j] if inward > 0 else beta[j] - lo[j]
    blocking = -1
    largest = 0.0
    for a in range(m):
        largest = max(largest, abs(z[a + 1]))
    for a in range(m):
        rate = -inward * z[a + 1]
        if abs(rate) > 1e-9 * largest:
            i = members[a]
            distance = (hi[i] - beta[i]) / rate if rate > 0 else (lo[i] - beta[i]) / rate
            distance = max(distance, 0.0)
            if distance < room or (blocking >= 0 and distance == room and abs(rate) > abs(z[blocking + 1])):
                room = distance
                blocking = a
    for a in range(m):
        beta[members[a]] -= inward * room * z[a + 1]
    scalars[0] -= inward * room * z[0]
    if blocking < 0:
        status[j] = AT_UPPER if inward > 0 else AT_LOWER
        beta[j] = hi[j] if inward > 0 else lo[j]
        return m, j
    beta[j] += inward * room
    leaver = members[blocking]
    up = -inward * z[blocking + 1] > 0
    status[leaver] = AT_UPPER if up else AT_LOWER
    beta[leaver] = hi[leaver] if up else lo[leaver]
    m = exclude(members, m, inverse, blocking)
    if m > 0:
        sigma = _schur(gram, members, m, inverse, j, border, z)
    status[j] = FREE
    return _include(members, m, inverse, j, z, sigma, gram[j, j]), leaver


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def complete_basis(gram, beta, lo, hi, status, members, m, inverse, scalars):
    """Border R by the free rows that are not among its m members; dependent ones slide to a bound. Returns m."""
    n = beta.shape[0]
    border = np.empty(inverse.shape[0])
    z = np.empty(inverse.shape[0])
    inside = np.zeros(n, np.bool_)
    for a in range(m):
        inside[members[a]] = True
    for j in range(n):
        if status[j] == FREE and not inside[j]:
            inward = 1.0 if hi[j] - beta[j] < beta[j] - lo[j] else -1.0
            m, _ = _enter(gram, beta, lo, hi, status, members, m, inverse, j, inward, border, z, scalars)
    return m


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _bound_rate(i, status, dlo, dhi):
    """How fast the β of a row at a bound moves with it."""
    if status[i] == AT_LOWER:
        return dlo[i]
    if status[i] == AT_UPPER:
        return dhi[i]
    return 0.0


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _direction(gram, members, m, inverse, drive, dsum, rhs, x, slope):
    """Solve (1) for (ḃ, β̇_M) = x and form the slope ġ of every gradient; returns whether it can be trusted."""
    n = drive.shape[0]
    rhs[0] = -dsum
    for a in range(m):
        rhs[a + 1] = -drive[members[a]]
    _apply(inverse, m + 1, rhs, x)
    for i in range(n):
        slope[i] = drive[i] + x[0]
    combine(gram, members[:m], x[1:], slope)
    scale = abs(x[0])
    for a in range(m):
        scale += abs(x[a + 1]) * gram[members[a], members[a]]
    correction = np.empty(0)
    for attempt in range(3):
        total = dsum
        worst = 0.0
        for a in range(m):
            total += x[a + 1]
            worst = max(worst, abs(slope[members[a]]))
        if max(worst, abs(total)) <= 1e-10 * scale:
            return True
        if attempt == 2:
            return max(worst, abs(total)) <= 1e-7 * scale
        rhs[0] = -total
        for a in range(m):
            rhs[a + 1] = -slope[members[a]]
        if correction.shape[0] == 0:
            correction = np.empty(m + 1)
        _apply(inverse, m + 1, rhs, correction)
        for a in range(m + 1):
            x[a] += correction[a]
        for i in range(n):
            slope[i] += correction[0]
        combine(gram, members[:m], correction[1:], slope)
    return True


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _next_event(beta, gradient, lo, hi, dlo, dhi, status, members, m, x, slope, noise, remaining):
    """The first event within ``remaining``: its time, its row (−1 if none) and the row's place in M (−1 if bound)."""
    when = remaining
    row = -1
    place = -1
    for i in range(beta.shape[0]):
        outward = 1.0 if status[i] == AT_LOWER else -1.0 if status[i] == AT_UPPER else 0.0
        towards = -outward * slope[i]
        if towards > noise and outward * gradient[i] < towards * when and (hi[i] > lo[i] or dhi[i] > dlo[i]):
            when = max(outward * gradient[i] / towards, 0.0)
            row = i
    for a in range(m):
        i = members[a]
        closing = x[a + 1] - dhi[i]
        if closing > 0.0 and hi[i] - beta[i] < closing * when:
            when = max((hi[i] - beta[i]) / closing, 0.0)
            row, place = i, a
        closing = dlo[i] - x[a + 1]
        if closing > 0.0 and beta[i] - lo[i] < closing * when:
            when = max((beta[i] - lo[i]) / closing, 0.0)
            row, place = i, a
    return when, row, place


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _compensator(gradient, lo, hi, status, dsum):
    """With no free row: the bound row that b meets first on its way to where Σβ̇ can be balanced (−1 if none)."""
    chosen = -1
    for i in range(gradient.shape[0]):
        if hi[i] > lo[i] and (
            (dsum < 0.0 and status[i] == AT_LOWER and (chosen < 0 or gradient[i] < gradient[chosen]))
            or (dsum > 0.0 and status[i] == AT_UPPER and (chosen < 0 or gradient[i] > gradient[chosen]))
        ):
            chosen = i
    return chosen


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def move(gram, beta, gradient, lo, hi, dlo, dhi, ds, status, members, m, inverse, scalars, max_events):
    """Follow the optimal solution from t = 0 to t = 1; every array is changed in place.

    Parameters
    ----------
    gram : (n, n) kernel matrix of the rows that may take part
    beta, gradient : (n,) optimal for (lo, hi, s) at t = 0, gradient zero on the free rows
    lo, hi, dlo, dhi, ds : (n,) data and their total change
    status : (n,) partition codes
    members, m : the m free rows, in the order of ``inverse``
    inverse : (cap + 1, cap + 1), its leading (m + 1, m + 1) block is R
    scalars : (1,) the intercept b
    max_events : after so many events the move gives up

    Returns
    -------
    (code, m, events)
    """
    n = beta.shape[0]
    width = inverse.shape[0]
    border, z, rhs, x = np.empty(width), np.empty(width), np.empty(width), np.zeros(width)
    drive, slope = np.empty(n), np.empty(n)
    moving = np.empty(n, np.int64)
    rates = np.empty(n)
    n_moving = 0
    dsum = 0.0
    activity = 0.0
    for i in range(n):
        drive[i] = -ds[i]
        if dlo[i] != 0.0 or dhi[i] != 0.0:
            moving[n_moving] = i
            rates[n_moving] = _bound_rate(i, status, dlo, dhi)
            dsum += rates[n_moving]
            activity += abs(dlo[i]) + abs(dhi[i])
            n_moving += 1
    combine(gram, moving[:n_moving], rates, drive)
    lo_end, hi_end = lo + dlo, hi + dhi

    remaining = 1.0
    events = 0
    while True:
        if m == 0:
            if abs(dsum) > 1e-13 * activity:
                j = _compensator(gradient, lo, hi, status, dsum)
                if j < 0:
                    return NO_COMPENSATION, m, events
                shift = gradient[j]
                scalars[0] -= shift
                for i in range(n):
                    gradient[i] -= shift
                rate = _bound_rate(j, status, dlo, dhi)
                if rate != 0.0:
                    dsum -= rate
                    for i in range(n):
                        drive[i] -= rate * gram[j, i]
                m, _ = _enter(gram, beta, lo, hi, status, members, m, inverse, j, 1.0, border, z, scalars)
                gradient[j] = 0.0
                events += 1
                continue
            x[0] = 0.0
            for i in range(n):
                slope[i] = drive[i]
        elif not _direction(gram, members, m, inverse, drive, dsum, rhs, x, slope):
            return UNSTABLE, m, events

        scale = abs(x[0])
        for a in range(m):
            scale += abs(x[a + 1]) * abs(gram[members[a], members[a]])
            slope[members[a]] = 0.0
        when, row, place = _next_event(
            beta, gradient, lo, hi, dlo, dhi, status, members, m, x, slope, 1e-13 * scale, remaining
        )

        for i in range(n):
            gradient[i] += when * slope[i]
        for a in range(m):
            beta[members[a]] += when * x[a + 1]
        scalars[0] += when * x[0]
        remaining -= when
        for c in range(n_moving):
            i = moving[c]
            lo[i] = lo_end[i] - remaining * dlo[i] if row >= 0 else lo_end[i]
            hi[i] = hi_end[i] - remaining * dhi[i] if row >= 0 else hi_end[i]
            if status[i] == AT_LOWER:
                beta[i] = lo[i]
            elif status[i] == AT_UPPER:
                beta[i] = hi[i]
        if row < 0:
            return ARRIVED, m, events

        events += 1
        if events > max_events:
            return TOO_MANY_EVENTS, m, events
        if place >= 0:
            up = x[place + 1] - dhi[row] > 0.0 and abs(hi[row] - beta[row]) <= abs(beta[row] - lo[row])
            status[row] = AT_UPPER if up else AT_LOWER
            beta[row] = hi[row] if up else lo[row]
            m = exclude(members, m, inverse, place)
            gone = row
        else:
            if m + 2 > width:
                return BASIS_FULL, m, events
            gradient[row] = 0.0
            inward = 1.0 if status[row] == AT_LOWER else -1.0
            rate = _bound_rate(row, status, dlo, dhi)
            if rate != 0.0:
                dsum -= rate
                for i in range(n):
                    drive[i] -= rate * gram[row, i]
            m, gone = _enter(gram, beta, lo, hi, status, members, m, inverse, row, inward, border, z, scalars)
        if gone >= 0:
            rate = _bound_rate(gone, status, dlo, dhi)
            if rate != 0.0:
                dsum += rate
                for i in range(n):
                    drive[i] += rate * gram[gone, i]
