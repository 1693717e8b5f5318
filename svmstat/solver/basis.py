"""The free rows M of a path and R, the inverse of their bordered kernel matrix, row by row larger or smaller.

There is one border row where Σβ is given: [[0, 1'], [1, K_MM]]. Where the sum of each class is given there are two,
e₊ and e₋, the indicators of the classes: ``group`` (n,) then holds 0 for an event and 1 for another row, and is None
otherwise. ``lead`` is the number of border rows. The border row of a class without a free row, and its column, are zero
in R: its multiplier does not move.
"""

import numpy as np
from numba import njit

from svmstat.solver.solution import AT_LOWER, AT_UPPER, FREE

DEPENDENT = 1e-10
"""A row whose Schur complement is below this share of its K_ii depends on the free rows."""

_FAST = {"nnan", "nsz"}


@njit(cache=True, nogil=True)
def lead_of(group):
    """The number of border rows."""
    if group is None:
        return 1
    return 2


@njit(cache=True, nogil=True)
def slot(group, i):
    """Which border row holds row i."""
    if group is None:
        return 0
    return group[i]


@njit(cache=True, nogil=True)
def free_in(members, m, group, g):
    """How many of the free rows are in border row g."""
    if group is None:
        return m
    count = 0
    for a in range(m):
        if group[members[a]] == g:
            count += 1
    return count


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def apply(inverse, size, vector, out):
    """out = R · vector over the leading ``size`` entries."""
    for a in range(size):
        out[a] = 0.0
    for c in range(size):
        row, factor = inverse[c], vector[c]
        for a in range(size):
            out[a] += factor * row[a]


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _schur(gram, group, members, m, inverse, j, border, z):
    """z = R·(e_j, K_Mj), e_j one in the border row of j, and the Schur complement of row j given the free rows."""
    lead = lead_of(group)
    for g in range(lead):
        border[g] = 0.0
    border[slot(group, j)] = 1.0
    row = gram[j]
    for a in range(m):
        border[a + lead] = row[members[a]]
    apply(inverse, m + lead, border, z)
    sigma = row[j]
    for a in range(m + lead):
        sigma -= border[a] * z[a]
    return sigma


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _schur_refined(gram, group, members, m, inverse, j, border, z):
    """`_schur` with one step of iterative refinement of z; border and z are those that it left."""
    lead = lead_of(group)
    residual, step = np.empty(m + lead), np.empty(m + lead)
    for g in range(lead):
        residual[g] = border[g]
    for a in range(m):
        residual[slot(group, members[a])] -= z[a + lead]
    for a in range(m):
        row = gram[members[a]]
        total = border[a + lead] - z[slot(group, members[a])]
        for c in range(m):
            total -= row[members[c]] * z[c + lead]
        residual[a + lead] = total
    apply(inverse, m + lead, residual, step)
    sigma = gram[j, j]
    for a in range(m + lead):
        z[a] += step[a]
        sigma -= border[a] * z[a]
    return sigma


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _include(group, members, m, inverse, j, z, sigma):
    """Border R by row j (its z and Schur complement given); returns the new number of free rows.

    With the first free row of a class its border row joins R too: β_j is what the class leaves to it, and stationarity
    of row j gives the multiplier. z is R·(0, K_Mj) then, and the Schur complement that of K_jj.
    """
    lead = lead_of(group)
    size = m + lead
    g = slot(group, j)
    if free_in(members, m, group, g) == 0:
        for a in range(size):
            inverse[a, g] = inverse[g, a] = -z[a]
            inverse[a, size] = inverse[size, a] = 0.0
        inverse[g, g] = -sigma
        inverse[g, size] = inverse[size, g] = 1.0
        inverse[size, size] = 0.0
    else:
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
def exclude(group, members, m, inverse, position):
    """Take the free row at ``position`` out of R; returns the new number of free rows."""
    lead = lead_of(group)
    if m > 1:
        size = m + lead
        p = position + lead
        g = slot(group, members[position])
        if free_in(members, m, group, g) == 1:
            for a in range(size):
                inverse[a, g] = inverse[g, a] = 0.0
        else:
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
def enter(gram, group, beta, lo, hi, status, members, m, inverse, j, inward, border, z, scalars):
    """Make row j free, ``inward`` (+1 or −1) being the way its β may go.

    If the column of j depends on the free rows there is a direction along which no gradient changes: β slides along
    it until a row meets a bound, and that row gives its place to j. Returns the number of free rows and the row that
    went to a bound (−1 if none; j itself if it slid to its other bound).
    """
    lead = lead_of(group)
    if m == 0:
        for g in range(lead):
            z[g] = 0.0
            for c in range(lead):
                inverse[g, c] = 0.0
        status[j] = FREE
        return _include(group, members, m, inverse, j, z, gram[j, j]), -1
    sigma = _schur(gram, group, members, m, inverse, j, border, z)
    if free_in(members, m, group, slot(group, j)) == 0:
        status[j] = FREE
        return _include(group, members, m, inverse, j, z, sigma), -1
    scale = abs(gram[j, j])
    for a in range(m + lead):
        scale += abs(border[a] * z[a])
    if sigma <= 1e-5 * scale:
        sigma = _schur_refined(gram, group, members, m, inverse, j, border, z)
    if sigma > DEPENDENT * scale:
        status[j] = FREE
        return _include(group, members, m, inverse, j, z, sigma), -1

    room = hi[j] - beta[j] if inward > 0 else beta[j] - lo[j]
    blocking = -1
    largest = 0.0
    for a in range(m):
        largest = max(largest, abs(z[a + lead]))
    for a in range(m):
        rate = -inward * z[a + lead]
        if abs(rate) > 1e-9 * largest:
            i = members[a]
            distance = (hi[i] - beta[i]) / rate if rate > 0 else (lo[i] - beta[i]) / rate
            distance = max(distance, 0.0)
            if distance < room or (blocking >= 0 and distance == room and abs(rate) > abs(z[blocking + lead])):
                room = distance
                blocking = a
    for a in range(m):
        beta[members[a]] -= inward * room * z[a + lead]
    for g in range(lead):
        scalars[g] -= inward * room * z[g]
    if blocking < 0:
        status[j] = AT_UPPER if inward > 0 else AT_LOWER
        beta[j] = hi[j] if inward > 0 else lo[j]
        return m, j
    beta[j] += inward * room
    leaver = members[blocking]
    up = -inward * z[blocking + lead] > 0
    status[leaver] = AT_UPPER if up else AT_LOWER
    beta[leaver] = hi[leaver] if up else lo[leaver]
    m = exclude(group, members, m, inverse, blocking)
    if m > 0:
        sigma = _schur(gram, group, members, m, inverse, j, border, z)
    else:
        sigma = gram[j, j]
        for g in range(lead):
            z[g] = 0.0
            for c in range(lead):
                inverse[g, c] = 0.0
    status[j] = FREE
    return _include(group, members, m, inverse, j, z, sigma), leaver


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def complete_basis(gram, group, beta, lo, hi, status, members, m, inverse, scalars):
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
            m, _ = enter(gram, group, beta, lo, hi, status, members, m, inverse, j, inward, border, z, scalars)
    return m
