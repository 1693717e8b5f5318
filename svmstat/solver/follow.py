"""From one exact solution to many others, each along its own path of bounds.

Only rows near an event take part in a path: the near set, and the rows far inside the margin error whose own bound
moves. All other rows are brought up to date once, at the end, where the certificate on every row tells whether one of
them was overrun.
"""

import numpy as np
from numba import njit

from svmstat.solver.gram import combine
from svmstat.solver.path import ARRIVED, AT_LOWER, AT_UPPER, BASIS_FULL, FIXED, FREE, _exclude, move
from svmstat.solver.solution import certify

OVERRUN = 5
"""The path arrived, but the certificate does not hold on some row."""


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
def follow(
    stored, diagonal_block, near, room, beta0, h0, b0, status0, lo0, hi0, members0, inverse0, new_lo, new_hi,
    tolerance, max_events, beta, h, interval, violation, gap, code, events,
):  # fmt: skip
    """Move the solution (β⁰, h⁰, b⁰) for the bounds (lo⁰, hi⁰) to each row of (new_lo, new_hi).

    Parameters
    ----------
    stored : (n, n) kernel matrix
    diagonal_block : (w, w) its block of the near rows
    near : (w,) the rows near an event, among them every free row
    room : how many further rows may take part in one path
    beta0, h0, b0, status0, lo0, hi0 : (n,) and b a scalar: the exact solution to set off from
    members0 : (m,) places of the free rows in ``near``
    inverse0 : (m + 1, m + 1) R, in the order of ``members0``
    new_lo, new_hi : (B, n)
    tolerance, max_events : of each path
    beta, h : (B, n) results
    interval : (B, 2) results
    violation, gap, code, events : (B,) results
    """
    n, w, m0 = beta0.shape[0], near.shape[0], members0.shape[0]
    width = w + room
    K = np.empty((width, width))
    K[:w, :w] = diagonal_block
    rows = np.empty(width, np.int64)
    rows[:w] = near
    place = np.full(n, -1, np.int64)
    for a in range(w):
        place[near[a]] = a
    capacity = min(width, m0 + max(32, m0 // 8)) + 2
    inverse = np.empty((capacity, capacity))
    members = np.empty(capacity, np.int64)
    x = np.empty(capacity)
    residual = np.empty(capacity)
    scalars = np.empty(1)

    for q in range(new_lo.shape[0]):
        lo1, hi1 = new_lo[q], new_hi[q]
        size = w
        for i in range(n):
            if place[i] < 0 and (lo1[i] != lo0[i] or hi1[i] != hi0[i]):
                if active_bound_moves(status0[i], beta0[i], b0 - h0[i], lo0[i], hi0[i], lo1[i], hi1[i]):
                    if size < width:
                        rows[size] = i
                    size += 1
        beta[q] = beta0
        h[q] = h0
        if size > width:
            code[q] = BASIS_FULL
            continue
        for a in range(w, size):
            source = stored[rows[a]]
            for c in range(a + 1):
                K[a, c] = K[c, a] = source[rows[c]]

        part_beta, g = np.empty(size), np.empty(size)
        lo, hi, dlo, dhi = np.empty(size), np.empty(size), np.zeros(size), np.zeros(size)
        status = np.empty(size, np.int8)
        for a in range(size):
            i = rows[a]
            part_beta[a], g[a], status[a] = beta0[i], b0 - h0[i], status0[i]
            lo[a], hi[a] = lo1[i], hi1[i]
        m = m0
        members[:m] = members0
        for a in range(m):
            g[members[a]] = 0.0
        inverse[: m + 1, : m + 1] = inverse0
        moves = False
        for a in range(size):
            i = rows[a]
            if lo1[i] == lo0[i] and hi1[i] == hi0[i]:
                continue
            if not active_bound_moves(status0[i], beta0[i], g[a], lo0[i], hi0[i], lo1[i], hi1[i]):
                if hi1[i] <= lo1[i]:
                    status[a] = FIXED
                elif status0[i] == FIXED:
                    status[a] = AT_LOWER if g[a] >= 0.0 else AT_UPPER
                continue
            moves = True
            if status0[i] == FREE:
                for c in range(m):
                    if members[c] == a:
                        m = _exclude(members, m, inverse, c)
                        break
                status[a] = AT_UPPER if beta0[i] > hi1[i] or beta0[i] > 0.0 else AT_LOWER
            elif status0[i] == FIXED:
                status[a] = AT_UPPER if g[a] < 0.0 else AT_LOWER
            if status[a] == AT_UPPER:
                hi[a], dhi[a] = beta0[i], hi1[i] - beta0[i]
            else:
                lo[a], dlo[a] = beta0[i], lo1[i] - beta0[i]

        events[q] = 0
        code[q] = ARRIVED
        scalars[0] = b0
        if moves:
            ds = np.zeros(size)
            code[q], m, events[q] = move(
                K, part_beta, g, lo, hi, dlo, dhi, ds, status, members, m, inverse, scalars, max_events
            )
            if code[q] != ARRIVED:
                continue
            changed = np.empty(size, np.int64)
            delta = np.empty(size)
            n_changed = 0
            for a in range(size):
                i = rows[a]
                if part_beta[a] != beta0[i]:
                    part_beta[a] = min(max(part_beta[a], lo1[i]), hi1[i])
                    beta[q, i] = part_beta[a]
                    changed[n_changed] = i
                    delta[n_changed] = beta0[i] - part_beta[a]
                    n_changed += 1
            combine(stored, changed[:n_changed], delta[:n_changed], h[q])
        interval[q, 0], interval[q, 1], violation[q], gap[q] = certify(h[q], beta[q], lo1, hi1)

        if violation[q] > 0.01 * tolerance and m > 0:
            for a in range(m):
                changed[a] = rows[members[a]]
                residual[a + 1] = scalars[0] - h[q, changed[a]]
            residual[0] = beta[q].sum()
            inside = True
            for a in range(m + 1):
                total = 0.0
                for c in range(m + 1):
                    total -= inverse[a, c] * residual[c]
                x[a] = total
            for a in range(m):
                value = beta[q, changed[a]] + x[a + 1]
                inside = inside and lo1[changed[a]] < value < hi1[changed[a]]
            if inside:
                for a in range(m):
                    beta[q, changed[a]] += x[a + 1]
                    delta[a] = -x[a + 1]
                combine(stored, changed[:m], delta[:m], h[q])
                interval[q, 0], interval[q, 1], violation[q], gap[q] = certify(h[q], beta[q], lo1, hi1)
        if violation[q] > tolerance:
            code[q] = OVERRUN
