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
from svmstat.solver.case import Case
from svmstat.solver.gram import Floats
from svmstat.solver.solution import middle

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
    room = np.empty((4, k))
    _follow(factor, linear, beta, h, room[0])
    for j in range(beta.shape[0]):
        if lo[j] < beta[j] < hi[j]:
            _enter(active, factor, lo, hi, beta, h, j, room)
    _follow(factor, linear, beta, h, room[0])
    events = 0
    while events < most:
        if active.size[0] == 0 or _step(active, factor, lo, hi, beta, h, room):
            _follow(factor, linear, beta, h, room[0])
            j = _worst(active, lo, hi, beta, h)
            if j < 0:
                break
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
    c, v, delta = room[0], room[1], room[2]
    row, members, largest = factor.rows[j], active.members, 0.0
    for q in range(row.shape[0]):
        largest = max(largest, abs(row[q]))
    for _ in range(members.shape[0] + 1):
        norm = _outside(active, row, c, v)
        if norm > _DEPENDENT * largest and active.size[0] < members.shape[0]:
            _append(active, j, c, v, norm)
            return
        m = active.size[0]
        _upper_solve(active.R, m, c, delta)
        slope = h[j]
        for a in range(m):
            slope -= h[members[a]] * delta[a]
        sign = 1.0 if beta[j] <= lo[j] or (beta[j] < hi[j] and slope >= 0.0) else -1.0
        for a in range(m):
            delta[a] *= -sign
        own = (hi[j] - beta[j]) if sign > 0.0 else (beta[j] - lo[j])
        share, blocked = _share(active, lo, hi, beta, delta, own)
        beta[j] += share * sign
        if blocked < 0:
            beta[j] = hi[j] if sign > 0.0 else lo[j]
        beta[j] = _settled(lo[j], hi[j], beta[j])
        _move(active, lo, hi, beta, delta, share, blocked)
        if beta[j] <= lo[j] or beta[j] >= hi[j]:
            return


@compiled(inside=True)
def _step(active, factor, lo, hi, beta, h, room):
    """Towards the least for the free rows, up to the first bound: whether none is met. Σβ becomes zero on the way."""
    z, y, w, delta = room[0], room[1], room[2], room[3]
    Q, R, m, k = active.Q, active.R, active.size[0], active.members.shape[0]
    if m == 1:
        return True
    mean, excess, tau = _mean(active, h), _excess(beta), factor.rows[0, k - 1]
    along, across = 0.0, 0.0
    for a in range(m):
        total = h[active.members[a]] - mean
        for b in range(a):
            total -= R[b, a] * z[b]
        z[a] = total / R[a, a]
        one = Q[a, k - 1] / tau  # R'one = 1: τ is the last column of the rows
        along += one * z[a]
        across += one * one
    shift = (along + excess) / across
    clear(w, k)
    for a in range(m):
        y[a] = z[a] - shift * Q[a, k - 1] / tau
        for q in range(k):
            w[q] += y[a] * Q[a, q]
    _upper_solve(R, m, y, delta)
    share, blocked = _share(active, lo, hi, beta, delta, 1.0)
    _move(active, lo, hi, beta, delta, share, blocked)
    _subtract(factor, w, share, h)
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
def _upper_solve(R, m, right, x):
    """Rx = right, all (m,)."""
    for a in range(m - 1, -1, -1):
        total = right[a]
        for b in range(a + 1, m):
            total -= R[a, b] * x[b]
        x[a] = total / R[a, a]


@compiled(inside=True)
def _share(active, lo, hi, beta, delta, most):
    """How much of a step δ (m,) of the free rows the box has room for, at most so much, and which stops it, or −1."""
    share, blocked = most, -1
    for a in range(active.size[0]):
        i, d = active.members[a], delta[a]
        if d != 0.0:
            left = ((hi[i] if d > 0.0 else lo[i]) - beta[i]) / d
            if left < share:
                share, blocked = max(left, 0.0), a
    return share, blocked


@compiled(inside=True)
def _move(active, lo, hi, beta, delta, share, blocked):
    """A share of a step δ (m,). Rows that come to a bound with the one that stops it are free no more."""
    for a in range(active.size[0]):
        beta[active.members[a]] += share * delta[a]
    if blocked < 0:
        return
    i = active.members[blocked]
    beta[i] = hi[i] if delta[blocked] > 0.0 else lo[i]
    for a in range(active.size[0] - 1, -1, -1):
        i = active.members[a]
        beta[i] = _settled(lo[i], hi[i], beta[i])
        if beta[i] <= lo[i] or beta[i] >= hi[i]:
            _remove(active, a)


@compiled(inside=True)
def _settled(lo, hi, beta):
    margin = _AT_BOUND * (hi - lo)
    if beta <= lo + margin:
        return lo
    return hi if beta >= hi - margin else beta


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
    """Without a column R is no triangle: rotations of neighbouring rows make one of it."""
    Q, R, m, k = active.Q, active.R, active.size[0], active.members.shape[0]
    for b in range(place, m - 1):
        active.members[b] = active.members[b + 1]
        for a in range(b + 2):
            R[a, b] = R[a, b + 1]
    for a in range(place, m - 1):
        x, y = R[a, a], R[a + 1, a]
        length = np.hypot(x, y)
        if length > 0.0:
            cos, sin = x / length, y / length
            for b in range(a, m - 1):
                R[a, b], R[a + 1, b] = cos * R[a, b] + sin * R[a + 1, b], cos * R[a + 1, b] - sin * R[a, b]
            for q in range(k):
                Q[a, q], Q[a + 1, q] = cos * Q[a, q] + sin * Q[a + 1, q], cos * Q[a + 1, q] - sin * Q[a, q]
        R[a + 1, a] = 0.0
    active.size[0] = m - 1
