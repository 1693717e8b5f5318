"""The exact solution by a short factor G of K = GG', where free rows depend on each other as far as K can tell.

An active set in the space of G: min ½‖G'β‖² − s'β within the box, Σβ = 0. The free rows M are kept as the QR
decomposition of their rows of (G, τ), whose condition is the root of that of K_MM, so that f keeps its digits where h
is a millionth of the margins and less. τ adds a constant to the kernel, which Σβ = 0 does not feel, and makes of the
sum one more column.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.compiled import clear, compiled, copy_into
from svmstat.solver.active import downdate, share_in_box, solve_lower, solve_upper
from svmstat.solver.case import Case
from svmstat.solver.gram import Floats
from svmstat.solver.solution import middle, settled

_EPS = float(np.finfo(float).eps)

_DEPENDENT = 64.0 * _EPS
"""A row of which no more than this share is outside the space of the others is one of that space."""

_AT_BOUND = 4.0 * _EPS
"""Rows that are nearer to a bound than this share of their box are at it."""

_ENOUGH = 8.0 * _EPS
"""A violation up to this share of the largest |h| is rounding."""

_EVENTS_PER_COLUMN, _EVENTS_PER_ROW = 60, 4
"""After so many the best that was reached is kept: each row may have to come to its bound, or leave it."""

_BLURRED = 45.0
"""Another K, whose values are off by so many units in the last place: those of two machines may be."""


class Factored(NamedTuple):
    """(G, τ), row by row and column by column.

    Attributes
    ----------
    rows : (n, k) of G and τ, k − 1 columns and one
    columns : (k, n) the same
    """

    rows: Floats
    columns: Floats


class Active(NamedTuple):
    """The free rows and the QR decomposition of their rows of (G, τ), changed in place.

    Attributes
    ----------
    members : (k,) the free rows are the first of them
    size : (1,) how many they are
    Q : (k, k) orthonormal rows
    R : (k, k) upper triangular: row members[b] of (G, τ) is Σ_a R[a, b] Q[a]
    """

    members: NDArray[np.int64]
    size: NDArray[np.int64]
    Q: Floats
    R: Floats


def finish(case: Case, G: Floats, beta: Floats, h: Floats) -> int:
    """From a feasible β to the solution for K = GG', β and h = s − Kβ, both (n,) and in place; the events it took."""
    tau = float(np.sqrt(np.einsum("ik,ik->i", G, G).max())) or 1.0
    rows = np.column_stack([G, np.full(len(G), tau)])
    factor = Factored(rows, np.ascontiguousarray(rows.T))
    most = _EVENTS_PER_COLUMN * rows.shape[1] + _EVENTS_PER_ROW * len(rows)
    return int(walk(factor, case.linear, case.lo, case.hi, beta, h, most))


def unsettled(case: Case, G: Floats, beta: Floats, h: Floats) -> float:
    """By how much the f of a solution (β, h), both (n,), changes if values of K are off in their last digits.

    A factor without its last columns is as far from K as the K of another machine.
    """
    size = (G**2).max(axis=0)
    other, other_h = beta.copy(), np.empty(len(h))
    finish(case, G[:, size > _BLURRED * _EPS * size[0]], other, other_h)
    return float(np.ptp(other_h - h))


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
    while events < most:
        if active.size[0] == 0 or _step(active, factor, lo, hi, beta, h, room):
            _follow(factor, linear, beta, h, room[0])
            j = _worst(active, lo, hi, beta, h)
            if j < 0:
                return events
            _enter(active, factor, lo, hi, beta, h, j, room)
        events += 1
    _follow(factor, linear, beta, h, room[0])
    return events


@compiled(inside=True)
def _follow(factor, linear, beta, h, u):
    """h = s − G(G'β); u (k,) is room."""
    r = factor.rows.shape[1] - 1
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
    for q in range(factor.rows.shape[1] - 1):
        column, x = factor.columns[q], share * u[q]
        for i in range(h.shape[0]):
            h[i] -= x * column[i]


@compiled(inside=True)
def _worst(active, lo, hi, beta, h):
    """The bound row that violates most; −1 if none does by more than rounding."""
    low, high, largest, up, down = -np.inf, np.inf, 0.0, -1, -1
    for i in range(h.shape[0]):
        largest = max(largest, abs(h[i]))
        if beta[i] < hi[i] and h[i] > low:
            low, up = h[i], i
        if beta[i] > lo[i] and h[i] < high:
            high, down = h[i], i
    if low - high <= _ENOUGH * largest:
        return -1
    m = active.size[0]
    b = _mean(active, h) if m > 0 else middle(low, high)
    worst = up if low - b >= b - high else down
    for a in range(m):
        if active.members[a] == worst:
            return -1
    return worst


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
    """Towards the least for the free rows, up to the first bound: whether none is met. Σβ becomes zero on the way."""
    d, w = room[0], room[1]
    Q, R, m, k = active.Q, active.R, active.size[0], active.members.shape[0]
    if m == 1:
        return True
    mean, tau = _mean(active, h), factor.rows[0, k - 1]
    for a in range(m):
        d[a] = h[active.members[a]] - mean
    solve_lower(R, d, m)
    along, across = 0.0, 0.0
    for a in range(m):
        one = Q[a, k - 1] / tau  # R'one = 1: τ is the last column of the rows
        along += one * d[a]
        across += one * one
    shift = (along + _excess(beta)) / across
    clear(w, k)
    for a in range(m):
        d[a] -= shift * Q[a, k - 1] / tau
        for q in range(k):
            w[q] += d[a] * Q[a, q]
    solve_upper(R, d, m)
    share, blocked = share_in_box(active.members, beta, d, lo, hi, m, 1.0)
    _move(active, lo, hi, beta, d, max(share, 0.0), blocked)
    _subtract(factor, w, max(share, 0.0), h)
    return blocked < 0


@compiled(inside=True)
def _excess(beta):
    """Σβ, zero where it is rounding."""
    excess, size = 0.0, 0.0
    for i in range(beta.shape[0]):
        excess += beta[i]
        size += abs(beta[i])
    return excess if abs(excess) > _ENOUGH * size else 0.0


@compiled(inside=True)
def _mean(active, h):
    mean, m = 0.0, active.size[0]
    for a in range(m):
        mean += h[active.members[a]] / m
    return mean


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
