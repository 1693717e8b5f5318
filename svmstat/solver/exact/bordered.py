"""R, the inverse of the bordered kernel matrix of the free rows, computed afresh.

With K̃ = K + c·EE', E the indicators of the sums that are given (see `basis`), A = K̃⁻¹, V = AE and P = (E'AE)⁻¹ the
blocks of R are c·I − P, VP and A − VPV'. For the one sum Σβ, E is a column of ones.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from svmstat._tools.arrays import Floats
from svmstat._tools.compiled import compiled, sum_of
from svmstat.solver.gram import Gram, Rows
from svmstat.solver.problem import Sums
from svmstat.solver.solution import Basis

INDEPENDENT = 1e-8
"""A row whose Schur complement is below this share of its diagonal entry is left out.

Of its own: kernel values of a row far from all others may be many times theirs.
"""

REGULAR = 1e-15
"""The same for free rows that a path has found to be independent."""

_OUTWEIGHS = 4.0
"""Of the mean |K_ii|: c where that of the `_typical` leaves a direction negative, as of a K that has negative ones."""

_LAPACK_FROM = 300
"""From so many rows on LAPACK is quicker in spite of its threads."""


def bordered_inverse(K: Floats, group: Rows, lead: int) -> tuple[Rows, Floats]:
    """Independent rows of K (m, m) and R over them; ``group`` (m,) tells which of the ``lead`` sums a row belongs to.

    Returns
    -------
    rows : (r,) the independent rows
    R : (r + lead, r + lead), in the order (b, rows)
    """
    m = len(K)
    R = np.zeros((m + lead, m + lead))
    if m < _LAPACK_FROM:
        rows = np.arange(m)
        r = int(bordered_block(np.ascontiguousarray(K), group, rows, INDEPENDENT, R, lead))
        return rows[:r], R[: r + lead, : r + lead].copy()
    size = np.abs(K.diagonal())
    for c in (float(_typical(size)), _OUTWEIGHS * float(size.mean())):
        root = np.sqrt(size + c) if c > 0.0 else np.ones(m)
        scaled = K + c * (group[:, None] == group[None, :])
        scaled /= root[:, None]
        scaled /= root
        factor, pivots, rank, _ = lapack.dpstrf(scaled, lower=1, tol=INDEPENDENT)
        left = pivots[rank:] - 1
        complements = scaled[left, left] - (factor[rank:, :rank] ** 2).sum(axis=1)
        if rank == m or complements.min() >= -INDEPENDENT:
            break
    rows = pivots[:rank].astype(np.int64) - 1
    R = np.zeros((rank + lead, rank + lead))
    if rank > 0:
        A, _ = lapack.dpotri(factor[:rank, :rank], lower=1)
        A = np.ascontiguousarray(np.tril(A) + np.tril(A, -1).T)
        A /= root[rows, None]
        A /= root[rows]
        _border(A, group, rows, c, R, lead)
    return rows, R


@compiled()
def _typical(size):
    """The geometric mean of those of ``size`` (m,) that are positive, 0 if none is."""
    total, positive = 0.0, 0
    for a in range(size.shape[0]):
        if size[a] > 0.0:
            total += np.log(size[a])
            positive += 1
    return np.exp(total / positive) if positive > 0 else 0.0


@compiled()
def bordered_block(K, group, rows, least, R, lead):
    """Write R for the independent ones of ``rows`` (m,) of K into R[: r + lead, : r + lead]; their number r.

    They come to stand first in ``rows``, in the order of R. Independent are rows whose Schur complement exceeds
    ``least``, a share of their diagonal entry.
    """
    m = rows.shape[0]
    M, size, chosen = np.empty((m, m)), np.empty(m), np.zeros(m, np.bool_)
    for a in range(m):
        size[a] = abs(K[rows[a], rows[a]])
    c, larger = _typical(size), _OUTWEIGHS * sum_of(size) / max(m, 1)
    if _invert(K, group, rows, c, least, M, size, chosen):
        c = larger
        _invert(K, group, rows, c, least, M, size, chosen)
    before, places, r, last = rows.copy(), np.empty(m, np.int64), 0, m
    for a in range(m):
        if chosen[a]:
            places[r] = a
            r += 1
    for a in range(m - 1, -1, -1):
        if not chosen[a]:
            last -= 1
            places[last] = a
    for a in range(m):
        rows[a] = before[places[a]]
    for a in range(r):
        for j in range(r):
            M[a, j] = M[places[a], places[j]]
    _border(M, group, rows[:r], c, R, lead)
    return r


@compiled()
def _border(A, group, rows, c, R, lead):
    """Write R for the rows (r,), where the leading block of A is the inverse of K + c·EE' over them.

    The border row of a class without rows, and its column, are zero. One sum is that of a first class alone.
    """
    r = rows.shape[0]
    V, Q, P = np.zeros((r, 2)), np.zeros((2, 2)), np.zeros((2, 2))
    for a in range(r):
        for j in range(r):
            V[a, group[rows[j]]] += A[a, j]
    for a in range(r):
        for g in range(2):
            Q[group[rows[a]], g] += V[a, g]
    if Q[0, 0] != 0.0 and Q[1, 1] != 0.0:
        determinant = Q[0, 0] * Q[1, 1] - Q[0, 1] * Q[1, 0]
        P[0, 0], P[1, 1] = Q[1, 1] / determinant, Q[0, 0] / determinant
        P[0, 1], P[1, 0] = -Q[0, 1] / determinant, -Q[1, 0] / determinant
    else:
        for g in range(2):
            P[g, g] = 1.0 / Q[g, g] if Q[g, g] != 0.0 else 0.0
    for g in range(lead):
        for k in range(lead):
            R[g, k] = (c if g == k and Q[g, g] != 0.0 else 0.0) - P[g, k]
    for a in range(r):
        for g in range(lead):
            R[a + lead, g] = R[g, a + lead] = V[a, 0] * P[0, g] + V[a, 1] * P[1, g]
    for a in range(r):
        for j in range(r):
            R[a + lead, j + lead] = A[a, j]
            for g in range(lead):
                R[a + lead, j + lead] -= R[a + lead, g] * V[j, g]


@compiled(inside=True)
def _invert(K, group, rows, c, least, M, size, chosen):
    """M (m, m) becomes the inverse of K + c·EE' over the ``chosen`` (m,) rows; whether others are negative in it."""
    m = rows.shape[0]
    for a in range(m):
        row, g = K[rows[a]], group[rows[a]]
        for j in range(m):
            M[a, j] = row[rows[j]] + (c if group[rows[j]] == g else 0.0)
        size[a] = abs(row[rows[a]]) + c
    _sweep(M, size, least, chosen)
    negative = False
    for a in range(m):
        negative |= not chosen[a] and M[a, a] > INDEPENDENT * size[a]
    return negative


@compiled(inside=True)
def _sweep(M, size, least, done):
    """Invert a symmetric M (m, m) in place by sweeps on the diagonal entry that is largest beside its ``size`` (m,).

    Which rows it was tells ``done``: where a step is refused because the share is ≤ ``least`` those done so far hold
    the inverse of their block, and the others the complement to it, its sign changed.
    Only the lower triangle is worked on, which holds −M⁻¹ at the end.
    """
    m = M.shape[0]
    column = np.empty(m)
    for k in range(m):
        done[k] = False
    for _ in range(m):
        k = -1
        for i in range(m):
            if not done[i] and (k < 0 or M[i, i] * size[k] > M[k, k] * size[i]):
                k = i
        pivot = M[k, k]
        if pivot <= least * size[k]:
            break
        done[k] = True
        for i in range(m):
            column[i] = M[k, i] if i < k else M[i, k]
        for i in range(m):
            factor = column[i] / pivot
            target = M[i, : i + 1]
            for j in range(i + 1):
                target[j] -= factor * column[j]
        for i in range(m):
            if i < k:
                M[k, i] = column[i] / pivot
            else:
                M[i, k] = column[i] / pivot
        M[k, k] = -1.0 / pivot
    for i in range(m):
        for j in range(i + 1):
            M[i, j] = M[j, i] = -M[i, j]


def fresh_basis(gram: Gram, free: NDArray[np.bool_], sums: Sums) -> Basis:
    """The basis of the independent ones among the ``free`` rows (n,)."""
    rows = np.flatnonzero(free)
    independent, inverse = bordered_inverse(gram.block(rows), sums.group[rows], len(sums.target))
    return Basis(rows[independent], inverse)
