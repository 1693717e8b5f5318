"""The exact solution by a short factor G of K = GG', where free rows depend on each other as far as K can tell.

An active set in the space of G: min ½‖G'β‖² − s'β within the box, the sum of each group given: Σβ = 0, or those of
the classes where these are hulls. The free rows M are kept as the QR decomposition of their rows of (G, τE), whose
condition is the root of that of K_MM, so that f keeps its digits where h is a millionth of the margins and less. E
(n, lead) tells the groups: τ adds a constant to the kernel within each, which given sums do not feel, and makes of
every sum one more column.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.compiled import clear, compiled, copy_into
from svmstat._tools.doubles import EPS
from svmstat.solver.active import downdate, share_in_box, solve_lower, solve_upper
from svmstat.solver.case import Case
from svmstat.solver.solution import middle, settled

_DEPENDENT = 64.0 * EPS
"""A row of which no more than this share is outside the space of the others is one of that space."""

_AT_BOUND = 4.0 * EPS
"""Rows that are nearer to a bound than this share of their box are at it."""

_ENOUGH = 8.0 * EPS
"""A violation up to this share of the largest |h| is rounding."""

_EVENTS_PER_COLUMN, _EVENTS_PER_ROW = 60, 4
"""After so many the best that was reached is kept: each row may have to come to its bound, or leave it."""

_BLURRED = 45.0
"""Another K, whose values are off by so many units in the last place: those of two machines may be."""


class Factored(NamedTuple):
    """(G, τE), row by row and column by column, and what the sums are to be.

    Attributes
    ----------
    rows : (n, k) of G and τE, k − lead columns and lead
    columns : (k, n) the same
    group : (n,) the sum that each row is in
    target : (lead,) the sums
    tau : τ
    nothing : the squared distance at which hulls meet, and nothing is left to be done; negative where there are none
    """

    rows: Floats
    columns: Floats
    group: NDArray[np.int64]
    target: Floats
    tau: float
    nothing: float


class Active(NamedTuple):
    """The free rows and the QR decomposition of their rows of (G, τE), changed in place.

    Attributes
    ----------
    members : (k,) the free rows are the first of them
    size : (1,) how many they are
    Q : (k, k) orthonormal rows
    R : (k, k) upper triangular: row members[b] of (G, τE) is Σ_a R[a, b] Q[a]
    """

    members: NDArray[np.int64]
    size: NDArray[np.int64]
    Q: Floats
    R: Floats


def finish(case: Case, G: Floats, beta: Floats, h: Floats) -> int:
    """From a feasible β to the solution for K = GG', β and h = s − Kβ, both (n,) and in place; the events it took."""
    tau = float(np.sqrt(np.einsum("ik,ik->i", G, G).max())) or 1.0
    group, target = case.sums.group, case.sums.target
    rows = np.column_stack([G, tau * (group[:, None] == np.arange(case.lead))])
    factor = Factored(rows, np.ascontiguousarray(rows.T), group, target, tau, case.nothing)
    most = _EVENTS_PER_COLUMN * rows.shape[1] + _EVENTS_PER_ROW * len(rows)
    return int(walk(factor, case.linear, case.lo, case.hi, beta, h, most))


def unsettled(case: Case, G: Floats, beta: Floats, h: Floats) -> float:
    """By how much the f of a solution (β, h), both (n,), changes if values of K are off in their last digits.

    A factor without columns that are small in all rows is as far from K as the K of another machine: its K_ij is off by
    last places of √(K_ii K_jj).
    """
    squares = G**2
    own = squares.sum(axis=1, keepdims=True)
    shares = np.divide(squares, own, out=np.zeros_like(squares), where=own > 0.0).max(axis=0)
    other, other_h = beta.copy(), np.empty(len(h))
    finish(case, G[:, shares > _BLURRED * EPS], other, other_h)
    return float(case.gram.ordinary.spread(other_h - h))


@compiled()
def walk(factor, linear, lo, hi, beta, h, most):
    """From a feasible β to the solution for K = GG', β and h (n,) in place; the number of events, at most ``most``."""
    k = factor.rows.shape[1]
    active = Active(np.empty(k, np.int64), np.zeros(1, np.int64), np.zeros((k, k)), np.zeros((k, k)))
    room, events = np.empty((2, k)), 0
    _follow(factor, linear, beta, h, room[0])
    for j in range(beta.shape[0]):
        if lo[j] < beta[j] < hi[j]:
            _enter(active, factor, lo, hi, beta, h, j, room)
    _follow(factor, linear, beta, h, room[0])
    while events < most and not _meet(factor, beta, h):
        if active.size[0] == 0 or _step(active, factor, lo, hi, beta, h, room):
            _follow(factor, linear, beta, h, room[0])
            j = _worst(active, factor, lo, hi, beta, h, room[0])
            if j < 0:
                return events
            _enter(active, factor, lo, hi, beta, h, j, room)
        events += 1
    _follow(factor, linear, beta, h, room[0])
    return events


@compiled(inside=True)
def _meet(factor, beta, h):
    """Whether hulls meet as far as can be told, h being −Kβ."""
    if factor.nothing < 0.0:
        return False
    squared = 0.0
    for i in range(beta.shape[0]):
        squared -= beta[i] * h[i]
    return squared <= factor.nothing


@compiled(inside=True)
def _follow(factor, linear, beta, h, u):
    """h = s − G(G'β); u (k,) is room."""
    r = factor.rows.shape[1] - factor.target.shape[0]
    clear(u, r)
    for i in range(beta.shape[0]):
        if beta[i] != 0.0:
            for q in range(r):
                u[q] += beta[i] * factor.rows[i, q]
    copy_into(h, linear)
    _subtract(factor, u, 1.0, h)


@compiled(inside=True)
def _subtract(factor, u, share, h):
    """h −= share · Gu."""
    for q in range(factor.rows.shape[1] - factor.target.shape[0]):
        column, x = factor.columns[q], share * u[q]
        for i in range(h.shape[0]):
            h[i] -= x * column[i]


@compiled(inside=True)
def _worst(active, factor, lo, hi, beta, h, own):
    """The bound row that violates most; −1 if none does by more than rounding. own (k,) is room."""
    crossing, worst, largest = 0.0, -1, 0.0
    for a in range(active.size[0]):
        own[a] = h[active.members[a]]
    for g in range(factor.target.shape[0]):
        low, high, up, down, size = _ends(factor, g, lo, hi, beta, h)
        largest = max(largest, size)
        if low - high > crossing:
            mean, free = _mean(active, factor, g, own)
            b = mean if free > 0 else middle(low, high)
            j = up if low - b >= b - high else down
            if not _is_free(active, j):
                crossing, worst = low - high, j
    return worst if crossing > _ENOUGH * largest else -1


@compiled(inside=True)
def _is_free(active, j):
    found = False
    for a in range(active.size[0]):
        found = found or active.members[a] == j
    return found


@compiled(inside=True)
def _ends(factor, g, lo, hi, beta, h):
    """max{h_i: β_i < hi_i} and min{h_i: β_i > lo_i} of a group, the rows where they are, and max |h_i|."""
    low, high, up, down, size = -np.inf, np.inf, -1, -1, 0.0
    for i in range(h.shape[0]):
        if factor.group[i] == g:
            size = max(size, abs(h[i]))
            if beta[i] < hi[i] and h[i] > low:
                low, up = h[i], i
            if beta[i] > lo[i] and h[i] < high:
                high, down = h[i], i
    return low, high, up, down, size


@compiled(inside=True)
def _enter(active, factor, lo, hi, beta, h, j, room):
    """Row j becomes free. While it depends on those that are, it moves with them, which changes no h, up to a bound."""
    d, v = room[0], room[1]
    row, members, largest = factor.rows[j], active.members, 0.0
    for q in range(row.shape[0]):
        largest = max(largest, abs(row[q]))
    for _ in range(members.shape[0] + 1):
        norm = _outside(active, row, d, v)
        if norm > _DEPENDENT * largest and active.size[0] < members.shape[0]:
            _append(active, j, d, v, norm)
            return
        m = active.size[0]
        solve_upper(active.R, d, m)
        slope = h[j]
        for a in range(m):
            slope -= h[members[a]] * d[a]
        sign = 1.0 if beta[j] <= lo[j] or (beta[j] < hi[j] and slope >= 0.0) else -1.0
        for a in range(m):
            d[a] *= -sign
        most = hi[j] - beta[j] if sign > 0.0 else beta[j] - lo[j]
        share, blocked = share_in_box(members, beta, d, lo, hi, m, most)
        beta[j] += max(share, 0.0) * sign
        if blocked < 0:
            beta[j] = hi[j] if sign > 0.0 else lo[j]
        _settle(lo, hi, beta, j)
        _move(active, lo, hi, beta, d, max(share, 0.0), blocked)
        if beta[j] <= lo[j] or beta[j] >= hi[j]:
            return


@compiled(inside=True)
def _step(active, factor, lo, hi, beta, h, room):
    """Towards the least for the free rows, up to the first bound: whether none is met. Sums become right on the way."""
    d, w = room[0], room[1]
    R, m = active.R, active.size[0]
    if m == 1:
        return True
    for a in range(m):
        d[a] = h[active.members[a]]
    _balance(active, factor, beta, d)
    clear(w, w.shape[0])
    for a in range(m):
        for q in range(w.shape[0]):
            w[q] += d[a] * active.Q[a, q]
    solve_upper(R, d, m)
    share, blocked = share_in_box(active.members, beta, d, lo, hi, m, 1.0)
    _move(active, lo, hi, beta, d, max(share, 0.0), blocked)
    _subtract(factor, w, max(share, 0.0), h)
    return blocked < 0


@compiled(inside=True)
def _balance(active, factor, beta, d):
    """From h of the free rows to R'⁻¹(h − Eb) in d (m,), with the b for which the step R⁻¹d makes every sum right."""
    Q, m, k, lead = active.Q, active.size[0], active.members.shape[0], factor.target.shape[0]
    along, across, b, free = np.zeros(lead), np.zeros((lead, lead)), np.zeros(lead), np.zeros(lead, np.int64)
    for g in range(lead):
        mean, free[g] = _mean(active, factor, g, d)
        for a in range(m):
            if factor.group[active.members[a]] == g:
                d[a] -= mean
    solve_lower(active.R, d, m)
    for g in range(lead):
        along[g] = _excess(factor, g, beta)
        for a in range(m):
            one = Q[a, k - lead + g] / factor.tau  # R'one is 1 in the group: the last columns of the rows are τE
            along[g] += one * d[a]
            for c in range(lead):
                across[g, c] += one * Q[a, k - lead + c] / factor.tau
    _solve_both(across, along, free, b)
    for a in range(m):
        for g in range(lead):
            d[a] -= b[g] * Q[a, k - lead + g] / factor.tau


@compiled(inside=True)
def _solve_both(across, along, free, b):
    """across · b = along for one group or two, all (lead, …); zero for a group with no ``free`` rows."""
    if free.min() > 0 and across.shape[0] == 2:
        determinant = across[0, 0] * across[1, 1] - across[0, 1] * across[1, 0]
        b[0] = (along[0] * across[1, 1] - along[1] * across[0, 1]) / determinant
        b[1] = (along[1] * across[0, 0] - along[0] * across[1, 0]) / determinant
        return
    for g in range(across.shape[0]):
        if free[g] > 0:
            b[g] = along[g] / across[g, g]


@compiled(inside=True)
def _excess(factor, g, beta):
    """By how much the sum of a group exceeds what it is to be, zero where that is rounding."""
    excess, size = -factor.target[g], abs(factor.target[g])
    for i in range(beta.shape[0]):
        if factor.group[i] == g:
            excess += beta[i]
            size += abs(beta[i])
    return excess if abs(excess) > _ENOUGH * size else 0.0


@compiled(inside=True)
def _mean(active, factor, g, values):
    """The mean value of the free rows of a group, of values (m,) one for each free row, and how many these are."""
    mean, free = 0.0, 0
    for a in range(active.size[0]):
        if factor.group[active.members[a]] == g:
            mean += values[a]
            free += 1
    return mean / max(free, 1), free


@compiled(inside=True)
def _move(active, lo, hi, beta, d, share, blocked):
    """A share of a step d (m,). Rows that come to a bound with the one that stops it are free no more."""
    for a in range(active.size[0]):
        beta[active.members[a]] += share * d[a]
    if blocked < 0:
        return
    i = active.members[blocked]
    beta[i] = hi[i] if d[blocked] > 0.0 else lo[i]
    for a in range(active.size[0] - 1, -1, -1):
        i = active.members[a]
        _settle(lo, hi, beta, i)
        if beta[i] <= lo[i] or beta[i] >= hi[i]:
            _remove(active, a)


@compiled(inside=True)
def _settle(lo, hi, beta, i):
    beta[i] = settled(beta[i], lo[i], hi[i], _AT_BOUND * (hi[i] - lo[i]))


@compiled(inside=True)
def _outside(active, row, c, v):
    """v (k,) is what is left of a row outside the space of the others, c (m,) its coordinates there; the norm of v."""
    copy_into(v, row)
    m, k = active.size[0], row.shape[0]
    clear(c, m)
    for _ in range(2):  # the second time takes what rounding has left of the first
        for a in range(m):
            dot = 0.0
            for q in range(k):
                dot += active.Q[a, q] * v[q]
            c[a] += dot
            for q in range(k):
                v[q] -= dot * active.Q[a, q]
    squared = 0.0
    for q in range(k):
        squared += v[q] * v[q]
    return np.sqrt(squared)


@compiled(inside=True)
def _append(active, j, c, v, norm):
    m = active.size[0]
    for a in range(m):
        active.R[a, m] = c[a]
    active.R[m, m] = norm
    for q in range(v.shape[0]):
        active.Q[m, q] = v[q] / norm
    active.members[m] = j
    active.size[0] = m + 1


@compiled(inside=True)
def _remove(active, place):
    m = active.size[0]
    downdate(active.R, active.Q, place, m)
    for a in range(place, m - 1):
        active.members[a] = active.members[a + 1]
    active.size[0] = m - 1
