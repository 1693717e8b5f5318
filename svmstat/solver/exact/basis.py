"""The free rows M of a path and R, the inverse of their bordered kernel matrix, row by row larger or smaller.

There is a border row for each sum that is given: one, [[0, 1'], [1, K_MM]], for Σβ, or two, e₊ and e₋, the indicators
of the classes, where each class has its sum. ``lead`` is their number. The border row of a class without a free row,
and its column, are zero in R: its multiplier does not move.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.compiled import clear, compiled
from svmstat.solver.gram import Rows, combine
from svmstat.solver.solution import AT_LOWER, AT_UPPER, FREE, Basis
from svmstat.solver.twofold import lost_in

DEPENDENT = 1e-10
"""A row whose Schur complement is below this share of its K_ii depends on the free rows."""

_FAST = {"nnan", "nsz"}


class Point(NamedTuple):
    """What moves along a path: a solution and its box, arrays that are changed in place.

    Attributes
    ----------
    beta, g : (n,) the solution and its gradient Kβ + b − s
    lo, hi : (n,) the box
    status : (n,) partition codes
    b : (lead,) the multipliers
    """

    beta: Floats
    g: Floats
    lo: Floats
    hi: Floats
    status: NDArray[np.int8]
    b: Floats


class Free(NamedTuple):
    """The free rows and R, changed in place, with room for more.

    Attributes
    ----------
    members : (width,) the free rows are the first of them
    inverse : (width, width) R is its leading block, in the order (b, members); members never fill it
    size : (1,) how many they are
    """

    members: NDArray[np.int64]
    inverse: Floats
    size: NDArray[np.int64]


def with_room(rows: Rows, R: Floats, room: int) -> Free:
    """The free rows (m,) and R (m + lead, m + lead), with room for so many more rows."""
    width = len(R) + room
    members, inverse = np.empty(width, np.int64), np.empty((width, width))
    members[: len(rows)], inverse[: len(R), : len(R)] = rows, R
    return Free(members, inverse, np.array([len(rows)]))


def basis_in(free: Free, lead: int) -> Basis:
    """What is free now, as a basis of its own."""
    m = int(free.size[0])
    return Basis(free.members[:m].copy(), free.inverse[: m + lead, : m + lead].copy())


@compiled(inside=True)
def free_in(sums, free, g):
    """How many of the free rows are in border row g."""
    if sums.target.shape[0] == 1:
        return free.size[0]
    count = 0
    for a in range(free.size[0]):
        if sums.group[free.members[a]] == g:
            count += 1
    return count


@compiled(fastmath=_FAST)
def apply(inverse, size, vector, out):
    """out = R · vector over the leading ``size`` entries."""
    clear(out, size)
    for c in range(size):
        row, factor = inverse[c], vector[c]
        for a in range(size):
            out[a] += factor * row[a]


@compiled(inside=True, fastmath=_FAST)
def _schur(K, sums, free, j, border, z):
    """z = R·(e_j, K_Mj), e_j one in the border row of j, and the Schur complement of row j given the free rows."""
    members, inverse, m, lead = free.members, free.inverse, free.size[0], sums.target.shape[0]
    if m == 0:
        for g in range(lead):
            clear(inverse[g], lead)
    clear(border, lead)
    border[sums.group[j]] = 1.0
    row = K[j]
    for a in range(m):
        border[a + lead] = row[members[a]]
    apply(inverse, m + lead, border, z)
    sigma = row[j]
    for a in range(m + lead):
        sigma -= border[a] * z[a]
    return sigma


@compiled(inside=True, fastmath=_FAST)
def _schur_refined(K, sums, free, j, border, z):
    """`_schur` with one step of iterative refinement of z; border and z are those that it left."""
    members, inverse, m, lead = free.members, free.inverse, free.size[0], sums.target.shape[0]
    residual, step = np.empty(m + lead), np.empty(m + lead)
    for g in range(lead):
        residual[g] = border[g]
    for a in range(m):
        residual[sums.group[members[a]]] -= z[a + lead]
    for a in range(m):
        row = K[members[a]]
        total = border[a + lead] - z[sums.group[members[a]]]
        for c in range(m):
            total -= row[members[c]] * z[c + lead]
        residual[a + lead] = total
    apply(inverse, m + lead, residual, step)
    sigma = K[j, j]
    for a in range(m + lead):
        z[a] += step[a]
        sigma -= border[a] * z[a]
    return sigma


@compiled(inside=True, fastmath=_FAST)
def _include(sums, free, j, z, sigma):
    """Border R by row j (its z and Schur complement given).

    With the first free row of a class its border row joins R too: β_j is what the class leaves to it, and stationarity
    of row j gives the multiplier. z is R·(0, K_Mj) then, and the Schur complement that of K_jj.
    """
    inverse, m, lead = free.inverse, free.size[0], sums.target.shape[0]
    size = m + lead
    g = sums.group[j]
    if free_in(sums, free, g) == 0:
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
    free.members[m] = j
    free.size[0] = m + 1


@compiled(inside=True, fastmath=_FAST)
def exclude(sums, free, position):
    """Take the free row at ``position`` out of R."""
    members, inverse, m, lead = free.members, free.inverse, free.size[0], sums.target.shape[0]
    if m > 1:
        size = m + lead
        p = position + lead
        g = sums.group[members[position]]
        if free_in(sums, free, g) == 1:
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
    free.size[0] = m - 1


@compiled(inside=True, borrowing=True, fastmath=_FAST)
def to_bound(point, i, up):
    """Put row i on its upper or lower bound."""
    point.status[i] = AT_UPPER if up else AT_LOWER
    point.beta[i] = point.hi[i] if up else point.lo[i]


@compiled(inside=True, borrowing=True, fastmath=_FAST)
def slide(point, j, inward, members, rates):
    """Let free rows (m,) slide at these rates, at which no gradient changes, until j or one of them meets a bound.

    Returns how far, and the place of the free row that is at its bound (−1 if it is j); of several the fastest.
    """
    beta, lo, hi = point.beta, point.lo, point.hi
    room = hi[j] - beta[j] if inward > 0 else beta[j] - lo[j]
    blocking = -1
    largest = 0.0
    for a in range(members.shape[0]):
        largest = max(largest, abs(rates[a]))
    for a in range(members.shape[0]):
        i, rate = members[a], rates[a]
        if abs(rate) > 1e-9 * largest:
            distance = max((hi[i] - beta[i]) / rate if rate > 0 else (lo[i] - beta[i]) / rate, 0.0)
            if distance < room or (blocking >= 0 and distance == room and abs(rate) > abs(rates[blocking])):
                room, blocking = distance, a
    for a in range(members.shape[0]):
        beta[members[a]] += room * rates[a]
    return room, blocking


@compiled(inside=True, fastmath=_FAST)
def enter(K, sums, point, free, j, inward, border, z):
    """Make row j free, ``inward`` (+1 or −1) being the way its β may go.

    If the column of j depends on the free rows there is a direction along which no gradient changes: β slides along
    it until a row meets a bound, and that row gives its place to j. Returns the row that went to a bound (−1 if none;
    j itself if it slid to its other bound).
    """
    m, lead, leaver = free.size[0], sums.target.shape[0], -1
    sigma = _schur(K, sums, free, j, border, z)
    if m > 0 and free_in(sums, free, sums.group[j]) > 0:
        scale = abs(K[j, j])
        for a in range(m + lead):
            scale += abs(border[a] * z[a])
        if sigma <= 1e-5 * scale:
            sigma = _schur_refined(K, sums, free, j, border, z)
        if sigma <= DEPENDENT * scale:
            for a in range(m + lead):
                z[a] *= -inward
            room, blocking = slide(point, j, inward, free.members[:m], z[lead:])
            for g in range(lead):
                point.b[g] += room * z[g]
            if blocking < 0:
                to_bound(point, j, inward > 0)
                return j
            point.beta[j] += inward * room
            leaver = free.members[blocking]
            to_bound(point, leaver, z[blocking + lead] > 0)
            exclude(sums, free, blocking)
            sigma = _schur(K, sums, free, j, border, z)
    point.status[j] = FREE
    _include(sums, free, j, z, sigma)
    return leaver


@compiled(fastmath=_FAST)
def complete_basis(K, sums, point, free):
    """Border R by the free rows that are not among its members; dependent ones slide to a bound."""
    border, z = np.empty(free.inverse.shape[0]), np.empty(free.inverse.shape[0])
    inside = np.zeros(point.beta.shape[0], np.bool_)
    for a in range(free.size[0]):
        inside[free.members[a]] = True
    for j in range(point.beta.shape[0]):
        if point.status[j] == FREE and not inside[j]:
            inward = 1.0 if point.hi[j] - point.beta[j] < point.beta[j] - point.lo[j] else -1.0
            enter(K, sums, point, free, j, inward, border, z)


@compiled()
def exclude_where(sums, free, bound):
    """Take the rows that are ``bound`` (n,), and so free no more, out of R."""
    for position in range(free.size[0] - 1, -1, -1):
        if bound[free.members[position]]:
            exclude(sums, free, position)


SETTLED, BLOCKED, MOVED = 0, 1, 2
"""How a Newton correction ended: there was nothing to correct; a free row would meet a bound; it was made."""


@compiled()
def newton_correction(sums, lo, hi, beta, h, b, rows, R, least, x):
    """Correct the free rows (m,) and b in place, by x = −R·(sums − target, b − h_M), so that their g becomes zero.

    Nothing is done where no |g| exceeds ``least`` and the sums are exact to rounding, or where a bound would be met.
    x is (m + lead,); h is left to the caller.
    """
    m, lead = rows.shape[0], sums.target.shape[0]
    residual, lost = np.empty(m + lead), np.zeros(lead)
    size, worst, excess = 0.0, 0.0, 0.0
    for g in range(lead):
        residual[g] = -sums.target[g]
    for i in range(beta.shape[0]):  # the rounding of plain sums would pass for an excess
        g = sums.group[i]
        grown = residual[g] + beta[i]
        lost[g] += lost_in(residual[g], beta[i], grown)
        residual[g] = grown
        size += abs(beta[i])
    for g in range(lead):
        residual[g] += lost[g]
        excess = max(excess, abs(residual[g]))
    for a in range(m):
        residual[a + lead] = b[sums.group[rows[a]]] - h[rows[a]]
        worst = max(worst, abs(residual[a + lead]))
    if m == 0 or (worst <= least and excess <= 1e-15 * size):
        return SETTLED
    clear(x, m + lead)
    for c in range(m + lead):
        row, factor = R[c], residual[c]
        for a in range(m + lead):
            x[a] -= factor * row[a]
    for a in range(m):
        if not lo[rows[a]] < beta[rows[a]] + x[a + lead] < hi[rows[a]]:
            return BLOCKED
    for a in range(m):
        beta[rows[a]] += x[a + lead]
    for g in range(lead):
        b[g] += x[g]
    return MOVED


@compiled(inside=True)
def correct_free(K, sums, lo, hi, beta, h, b, free, least, rounds):
    """Newton corrections of the free rows, h = s − Kβ brought up to date with them."""
    m, lead = free.size[0], sums.target.shape[0]
    rows, x = free.members[:m], np.empty(m + lead)
    for _ in range(rounds):
        if newton_correction(sums, lo, hi, beta, h, b, rows, free.inverse, least, x) != MOVED:
            return
        for a in range(m):
            x[a + lead] *= -1.0
        combine(K, rows, x[lead:], h)
