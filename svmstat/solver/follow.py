"""From one exact solution to many others, each along its own path of bounds.

Only rows near an event take part in a path; the others are brought up to date once, at the end, where the certificate
on every row, with freshly computed gradients, tells whether one of them was overrun.
"""

import numpy as np
from numba import njit

from svmstat.solver.basis import exclude
from svmstat.solver.gram import combine
from svmstat.solver.path import ARRIVED, BASIS_FULL, move
from svmstat.solver.solution import AT_LOWER, AT_UPPER, FIXED, FREE, certify, doubtful, settle
from svmstat.solver.tableau import correct, walk

OVERRUN, NOT_TRIED = 5, 6
"""The path arrived, but the certificate does not hold on some row; no path was followed."""

_TOGETHER = 4


@njit(cache=True, nogil=True)
def active_bound_moves(status, beta, g, lo0, hi0, lo1, hi1):
    """Whether a change of a row's bounds changes its β, at first sight."""
    if status == FIXED:
        return (g < 0.0 and hi1 > hi0) or (g > 0.0 and lo1 < lo0)
    if status == AT_UPPER:
        return hi1 != hi0
    if status == AT_LOWER:
        return lo1 != lo0
    return beta > hi1 or beta < lo1 or hi1 <= lo1


@njit(cache=True, nogil=True)
def open_box(signs, upper, lo, hi):
    """Write the bounds of β for upper bounds (n,) of α into lo, hi (n,)."""
    for i in range(signs.shape[0]):
        lo[i] = 0.0 if signs[i] > 0.0 else -upper[i]
        hi[i] = upper[i] if signs[i] > 0.0 else 0.0


@njit(cache=True, nogil=True)
def two_classes(signs, uppers):
    """Whether rows of both signs have an upper bound > 0, for each of (B, n)."""
    both = np.empty(uppers.shape[0], np.bool_)
    for q in range(uppers.shape[0]):
        positive, negative = 0.0, 0.0
        for i in range(signs.shape[0]):
            positive = max(positive, signs[i] * uppers[q, i])
            negative = min(negative, signs[i] * uppers[q, i])
        both[q] = negative < 0.0 < positive
    return both


@njit(cache=True, nogil=True)
def set_off(rows, size, beta0, h0, b0, status0, lo0, hi0, lo1, hi1, beta, g, lo, hi, dlo, dhi, status):
    """Load the first ``size`` of ``rows`` into the arrays of a path.

    A free row that the new bounds cut off sits on a bound that moves from its β to the new one.
    """
    for a in range(size):
        i = rows[a]
        beta[a], status[a], g[a] = beta0[i], status0[i], b0 - h0[i]
        lo[a], hi[a], dlo[a], dhi[a] = lo1[i], hi1[i], 0.0, 0.0
        if status[a] == FREE:
            g[a] = 0.0
        if lo1[i] == lo0[i] and hi1[i] == hi0[i]:
            continue
        if not active_bound_moves(status0[i], beta0[i], g[a], lo0[i], hi0[i], lo1[i], hi1[i]):
            if hi1[i] <= lo1[i]:
                status[a] = FIXED
            elif status0[i] == FIXED:
                status[a] = AT_LOWER if g[a] >= 0.0 else AT_UPPER
            continue
        if status0[i] == FREE:
            status[a] = AT_UPPER if beta0[i] > hi1[i] or beta0[i] > 0.0 else AT_LOWER
        elif status0[i] == FIXED:
            status[a] = AT_UPPER if g[a] < 0.0 else AT_LOWER
        if status[a] == AT_UPPER:
            hi[a], dhi[a] = beta0[i], hi1[i] - beta0[i]
        else:
            lo[a], dlo[a] = beta0[i], lo1[i] - beta0[i]


@njit(cache=True, nogil=True)
def _moved(status0, beta0, h0, b0, lo0, hi0, lo1, hi1, rows):
    """Write the rows whose β has to move into ``rows`` (n,); returns their number."""
    m = 0
    for i in range(lo0.shape[0]):
        if (lo1[i] != lo0[i] or hi1[i] != hi0[i]) and active_bound_moves(
            status0[i], beta0[i], b0 - h0[i], lo0[i], hi0[i], lo1[i], hi1[i]
        ):
            rows[m] = i
            m += 1
    return m


@njit(cache=True, nogil=True)
def stay_all(
    beta0, h0, b0, status0, lo0, hi0, signs, uppers, tolerance, beta, h, interval, violation, gap, code
):  # fmt: skip
    """Where no β has to move the solution is β⁰ still; results as in `certify_all`, on no kernel value."""
    n = beta0.shape[0]
    moved = np.empty(n, np.int64)
    lo1, hi1 = np.empty(n), np.empty(n)
    for q in range(uppers.shape[0]):
        open_box(signs, uppers[q], lo1, hi1)
        if _moved(status0, beta0, h0, b0, lo0, hi0, lo1, hi1, moved) == 0:
            beta[q], h[q] = beta0, h0
            interval[q, 0], interval[q, 1], violation[q], gap[q] = certify(h0, beta0, lo1, hi1)
            if violation[q] <= tolerance:
                code[q] = ARRIVED


@njit(cache=True, nogil=True)
def follow_tableau(
    near, T, T_b, side, diagonal, beta0, h0, b0, status0, lo0, hi0, signs, uppers, max_events, beta, code, events
):
    """Move β⁰, the solution for (lo⁰, hi⁰), to each row of ``uppers`` by its tableau.

    Parameters
    ----------
    near, T, T_b, side, diagonal : see `Tableau`
    beta0, h0, b0, status0, lo0, hi0 : (n,) and b a scalar: the exact solution to set off from
    signs, uppers : (n,) and (B, n)
    max_events : of each path
    beta : (B, n) results
    code, events : (B,) results; code is NOT_TRIED if a row outside the tableau has to move
    """
    n, w = beta0.shape[0], near.shape[0]
    place = np.full(n, -1, np.int64)
    for a in range(w):
        place[near[a]] = a
    moved = np.empty(n, np.int64)
    lo1, hi1 = np.empty(n), np.empty(n)
    part, g = np.empty(w), np.empty(w)
    lo, hi, dlo, dhi = np.empty(w), np.empty(w), np.empty(w), np.empty(w)
    status = np.empty(w, np.int8)
    scalars = np.empty(1)
    for q in range(uppers.shape[0]):
        open_box(signs, uppers[q], lo1, hi1)
        beta[q] = beta0
        events[q] = 0
        code[q] = ARRIVED
        m = _moved(status0, beta0, h0, b0, lo0, hi0, lo1, hi1, moved)
        for a in range(m):
            if place[moved[a]] < 0:
                code[q] = NOT_TRIED
        if m > 0 and code[q] == ARRIVED:
            set_off(near, w, beta0, h0, b0, status0, lo0, hi0, lo1, hi1, part, g, lo, hi, dlo, dhi, status)
            scalars[0] = b0
            code[q], events[q] = walk(T, T_b, side, diagonal, part, g, lo, hi, dlo, dhi, status, scalars, max_events)
            for a in range(w):
                beta[q, near[a]] = part[a]
            settle(beta[q], lo1, hi1)


@njit(cache=True, nogil=True)
def follow(
    stored, block, near, room, members0, inverse0, beta0, h0, b0, status0, lo0, hi0, signs, uppers, max_events,
    beta, code, events,
):  # fmt: skip
    """Move β⁰, the solution for (lo⁰, hi⁰), to each row of ``uppers``, keeping R on the way.

    Parameters
    ----------
    stored : (n, n) kernel matrix
    block : (w, w) its block of the near rows
    near : (w,) the rows near an event, among them every free row
    room : how many further rows may take part in one path
    members0 : (m,) places of the free rows in ``near``
    inverse0 : (m + 1, m + 1) R, in the order of ``members0``
    beta0 … events : as in `follow_tableau`; code is BASIS_FULL if too many further rows have to move
    """
    n, w, m0 = beta0.shape[0], near.shape[0], members0.shape[0]
    width = w + room
    K = np.empty((width, width))
    K[:w, :w] = block
    rows = np.empty(width, np.int64)
    rows[:w] = near
    place = np.full(n, -1, np.int64)
    for a in range(w):
        place[near[a]] = a
    moved = np.empty(n, np.int64)
    lo1, hi1 = np.empty(n), np.empty(n)
    capacity = min(width, m0 + max(32, m0 // 8)) + 2
    inverse = np.empty((capacity, capacity))
    members = np.empty(capacity, np.int64)
    scalars = np.empty(1)

    for q in range(uppers.shape[0]):
        open_box(signs, uppers[q], lo1, hi1)
        beta[q] = beta0
        events[q] = 0
        m = _moved(status0, beta0, h0, b0, lo0, hi0, lo1, hi1, moved)
        size = w
        for a in range(m):
            if place[moved[a]] < 0:
                if size < width:
                    rows[size] = moved[a]
                size += 1
        if size > width:
            code[q] = BASIS_FULL
            continue
        for a in range(w, size):
            source = stored[rows[a]]
            for c in range(a + 1):
                K[a, c] = K[c, a] = source[rows[c]]
        part, g = np.empty(size), np.empty(size)
        lo, hi, dlo, dhi = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
        status = np.empty(size, np.int8)
        code[q] = ARRIVED
        if m == 0:
            continue
        set_off(rows, size, beta0, h0, b0, status0, lo0, hi0, lo1, hi1, part, g, lo, hi, dlo, dhi, status)
        m = m0
        members[:m] = members0
        inverse[: m + 1, : m + 1] = inverse0
        for a in range(m0):
            if status[members0[a]] != FREE:
                for c in range(m):
                    if members[c] == members0[a]:
                        m = exclude(None, members, m, inverse, c)
                        break
        scalars[0] = b0
        code[q], m, events[q] = move(
            K, None, part, g, lo, hi, dlo, dhi, np.zeros(size), status, members, m, inverse, scalars, max_events
        )
        for a in range(size):
            beta[q, rows[a]] = part[a]
        settle(beta[q], lo1, hi1)


@njit(cache=True, nogil=True)
def _combine_four(stored, rows, delta, h):
    """h[q] −= Σ_a delta[q, a] · stored[rows[a]] for four problems q at a time."""
    n, m = h.shape[1], rows.shape[0]
    for start in range(0, n, 512):
        stop = min(start + 512, n)
        h0, h1, h2, h3 = h[0, start:stop], h[1, start:stop], h[2, start:stop], h[3, start:stop]
        a = 0
        while a + 2 <= m:
            r, s = stored[rows[a], start:stop], stored[rows[a + 1], start:stop]
            c0, c1, c2, c3 = delta[0, a], delta[1, a], delta[2, a], delta[3, a]
            d0, d1, d2, d3 = delta[0, a + 1], delta[1, a + 1], delta[2, a + 1], delta[3, a + 1]
            for i in range(stop - start):
                h0[i] -= c0 * r[i] + d0 * s[i]
                h1[i] -= c1 * r[i] + d1 * s[i]
                h2[i] -= c2 * r[i] + d2 * s[i]
                h3[i] -= c3 * r[i] + d3 * s[i]
            a += 2
        if a < m:
            r = stored[rows[a], start:stop]
            c0, c1, c2, c3 = delta[0, a], delta[1, a], delta[2, a], delta[3, a]
            for i in range(stop - start):
                h0[i] -= c0 * r[i]
                h1[i] -= c1 * r[i]
                h2[i] -= c2 * r[i]
                h3[i] -= c3 * r[i]


@njit(cache=True, nogil=True)
def certify_all(stored, beta0, h0, signs, uppers, tolerance, beta, h, interval, violation, gap, code):
    """Bring h = s − Kβ up to date for every arrived β and check each certificate.

    Rows of β (B, n) are gathered four at a time, so that every kernel row is read once for four of them.
    """
    n, B = beta0.shape[0], beta.shape[0]
    rows = np.empty(n, np.int64)
    queue = np.empty(_TOGETHER, np.int64)
    lo, hi = np.empty(n), np.empty(n)
    waiting = 0
    for q in range(B):
        if code[q] == ARRIVED:
            queue[waiting] = q
            waiting += 1
        if waiting == 0 or (waiting < _TOGETHER and q + 1 < B):
            continue
        size = 0
        for i in range(n):
            for c in range(waiting):
                if beta[queue[c], i] != beta0[i]:
                    rows[size] = i
                    size += 1
                    break
        delta, part = np.zeros((_TOGETHER, size)), np.empty((_TOGETHER, n))
        for c in range(_TOGETHER):
            part[c] = h0
            if c < waiting:
                for a in range(size):
                    delta[c, a] = beta[queue[c], rows[a]] - beta0[rows[a]]
        if waiting == 1:
            combine(stored, rows[:size], -delta[0], part[0])
        elif size > 0:
            _combine_four(stored, rows[:size], delta, part)
        for c in range(waiting):
            k = queue[c]
            h[k] = part[c]
            open_box(signs, uppers[k], lo, hi)
            interval[k, 0], interval[k, 1], violation[k], gap[k] = certify(h[k], beta[k], lo, hi)
            if violation[k] > tolerance:
                code[k] = OVERRUN
        waiting = 0


@njit(cache=True, nogil=True)
def correct_all(stored, near, T, side, signs, uppers, tolerance, beta, h, interval, violation, gap, code):
    """Newton corrections where rounding on the way has left a violation above a hundredth of the tolerance."""
    lo, hi = np.empty(signs.shape[0]), np.empty(signs.shape[0])
    for q in range(beta.shape[0]):
        if (code[q] == ARRIVED or code[q] == OVERRUN) and violation[q] > 0.01 * tolerance:
            open_box(signs, uppers[q], lo, hi)
            if correct(stored, near, T, side, lo, hi, beta[q], h[q]):
                interval[q, 0], interval[q, 1], violation[q], gap[q] = certify(h[q], beta[q], lo, hi)
                code[q] = OVERRUN if violation[q] > tolerance else ARRIVED


@njit(cache=True, nogil=True)
def settle_all(stored, signs, uppers, tolerance, beta, h, interval, violation, gap, code):
    """Put doubtful rows at their bound, where the certificate then still holds.

    A row that rounding keeps from its bound would otherwise count as free and pin the intercept to it.
    """
    lo, hi = np.empty(signs.shape[0]), np.empty(signs.shape[0])
    for q in range(beta.shape[0]):
        if code[q] == ARRIVED:
            open_box(signs, uppers[q], lo, hi)
            rows, distance = doubtful(beta[q], lo, hi, 0.0)
            if rows.shape[0] > 0:
                part, part_h = beta[q].copy(), h[q].copy()
                part[rows] -= distance
                combine(stored, rows, distance, part_h)
                low, high, worst, total = certify(part_h, part, lo, hi)
                if worst <= tolerance:
                    beta[q], h[q] = part, part_h
                    interval[q, 0], interval[q, 1], violation[q], gap[q] = low, high, worst, total
