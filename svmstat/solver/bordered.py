"""R, the inverse of the bordered kernel matrix [[0, 1'], [1, K]] of the free rows, computed afresh.

With the sum of each class given there are two border rows: see `basis`.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg import lapack

from svmstat.solver.gram import Floats, Gram, Rows
from svmstat.solver.solution import Basis

_LEAST_PIVOT = 1e-8
"""A row whose Schur complement is below this share of the largest diagonal entry is left out."""

_LAPACK_FROM = 300
"""From so many rows on LAPACK is quicker in spite of its threads."""


def bordered_inverse(K: Floats, group: Rows | None = None) -> tuple[Rows, Floats]:
    """Independent rows of K (m, m) and R over them; ``group`` (m,) is the class of each row where each has its sum.

    With K̃ = K + c·11', A = K̃⁻¹, v = A1 and q = 1'v the blocks of R are c − 1/q, v/q and A − vv'/q.

    Returns
    -------
    rows : (r,) the independent rows
    R : (r + 1, r + 1), in the order (b, rows); (r + 2, r + 2) for two classes
    """
    if group is not None:
        return _of_classes(K, group)
    if len(K) == 0:
        return np.empty(0, np.intp), np.zeros((1, 1))
    size = np.abs(K.diagonal())
    c = float(size.mean())
    rows, A = _inverse(K + c, _LEAST_PIVOT * (c + float(size.max())))
    if len(rows) == 0:
        return rows, np.zeros((1, 1))
    v = A.sum(axis=1)
    q = v.sum()
    R = np.empty((len(rows) + 1, len(rows) + 1))
    R[0, 0] = c - 1.0 / q
    R[0, 1:] = R[1:, 0] = v / q
    R[1:, 1:] = A - np.outer(v, v / q)
    return rows, R


def _of_classes(K: Floats, group: Rows) -> tuple[Rows, Floats]:
    """The same with E, the indicators of the classes, in the place of 1.

    Q = E'AE is a matrix then, and the blocks are c·I − Q⁻¹, Q⁻¹E'A and A − AEQ⁻¹E'A; zero for a class without rows.
    """
    if len(K) == 0:
        return np.empty(0, np.intp), np.zeros((2, 2))
    c = float(np.abs(K.diagonal()).mean())
    shifted = K + c * (group[:, None] == group[None, :])
    rows, A = _inverse(shifted, _LEAST_PIVOT * (c + float(np.abs(K.diagonal()).max())))
    R = np.zeros((len(rows) + 2, len(rows) + 2))
    if len(rows) == 0:
        return rows, R
    classes = np.unique(group[rows])
    inside = [group[rows] == g for g in classes]
    V = np.array([A[:, of_class].sum(axis=1) for of_class in inside])
    Q = np.linalg.inv(np.array([V[:, of_class].sum(axis=1) for of_class in inside]))
    R[np.ix_(classes, classes)] = c * np.eye(len(classes)) - Q
    R[2:, 2:] = A
    for k, g in enumerate(classes):
        column = sum(Q[k, j] * V[j] for j in range(len(classes)))
        R[2:, g] = R[g, 2:] = column
        R[2:, 2:] -= np.outer(column, V[k])
    return rows, R


def _inverse(M: Floats, least: float) -> tuple[Rows, Floats]:
    """Rows of a positive semidefinite M chosen by their Schur complements, while these exceed ``least``, and M_rr⁻¹."""
    if len(M) < _LAPACK_FROM:
        chosen = _sweep(M, least)
        rows = np.flatnonzero(chosen)
        return rows, M[np.ix_(rows, rows)]
    factor, pivots, rank, _ = lapack.dpstrf(M, lower=1, tol=least)
    A, _ = lapack.dpotri(factor[:rank, :rank], lower=1)
    return pivots[:rank] - 1, np.tril(A) + np.tril(A, -1).T


@njit(cache=True, nogil=True, error_model="numpy")
def _sweep(M, least):
    """Invert a symmetric M (m, m) in place by sweeps on the largest diagonal entry left; which rows it was.

    Where a step is refused because the entry is ≤ ``least`` the rows done so far hold the inverse of their block.
    Only the lower triangle is worked on, which holds −M⁻¹ at the end.
    """
    m = M.shape[0]
    done = np.zeros(m, np.bool_)
    column = np.empty(m)
    for _ in range(m):
        k = -1
        for i in range(m):
            if not done[i] and (k < 0 or M[i, i] > M[k, k]):
                k = i
        pivot = M[k, k]
        if pivot <= least:
            break
        done[k] = True
        column[:k] = M[k, :k]
        column[k:] = M[k:, k]
        for i in range(m):
            factor = column[i] / pivot
            target = M[i, : i + 1]
            for j in range(i + 1):
                target[j] -= factor * column[j]
        M[k, :k] = column[:k] / pivot
        M[k:, k] = column[k:] / pivot
        M[k, k] = -1.0 / pivot
    for i in range(m):
        for j in range(i + 1):
            M[i, j] = M[j, i] = -M[i, j]
    return done


@njit(cache=True, nogil=True)
def bordered_block(K, rows, R):
    """Write the inverse of [[0, 1'], [1, K_rr]] for the independent ones of ``rows`` (m,) into R; their number.

    They come to stand first in ``rows``, in the order of R[: r + 1, : r + 1].
    """
    m = rows.shape[0]
    if m == 0:
        return 0
    M = np.empty((m, m))
    c, largest = 0.0, 0.0
    for a in range(m):
        size = abs(K[rows[a], rows[a]])
        c += size / m
        largest = max(largest, size)
    for a in range(m):
        for j in range(m):
            M[a, j] = K[rows[a], rows[j]] + c
    chosen = _sweep(M, _LEAST_PIVOT * (c + largest))
    places = np.flatnonzero(chosen)
    r = places.shape[0]
    rows[:] = np.concatenate((rows[places], rows[np.flatnonzero(~chosen)]))
    if r == 0:  # the zero matrix
        R[0, 0] = 0.0
        return 0
    v = np.zeros(r)
    for a in range(r):
        for j in range(r):
            v[a] += M[places[a], places[j]]
    q = v.sum()
    R[0, 0] = c - 1.0 / q
    for a in range(r):
        R[0, a + 1] = R[a + 1, 0] = v[a] / q
        for j in range(r):
            R[a + 1, j + 1] = M[places[a], places[j]] - v[a] * (v[j] / q)
    return r


@njit(cache=True, nogil=True)
def bordered_classes(K, group, rows, R):
    """`bordered_block` for two classes: R[: m + 2, : m + 2] as in `bordered_inverse`, however nearly rows depend."""
    m = rows.shape[0]
    R[: m + 2, : m + 2] = 0.0
    if m == 0:
        return True
    M = np.empty((m, m))
    c = 0.0
    for a in range(m):
        c += abs(K[rows[a], rows[a]]) / m
    for a in range(m):
        for j in range(m):
            M[a, j] = K[rows[a], rows[j]] + (c if group[rows[a]] == group[rows[j]] else 0.0)
    if not _sweep(M, 1e-15 * c).all():
        return False
    V, Q = np.zeros((m, 2)), np.zeros((2, 2))
    for a in range(m):
        for j in range(m):
            V[a, group[rows[j]]] += M[a, j]
    for a in range(m):
        Q[group[rows[a]]] += V[a]
    for g in range(2):  # an empty class has a border of zeros
        if Q[g, g] == 0.0:
            Q[g, g] = 1.0
            R[g, g] = 1.0 - c
    determinant = Q[0, 0] * Q[1, 1] - Q[0, 1] * Q[1, 0]
    P = np.array([[Q[1, 1], -Q[0, 1]], [-Q[1, 0], Q[0, 0]]]) / determinant
    for g in range(2):
        R[g, g] += c
        for k in range(2):
            R[g, k] -= P[g, k]
    for a in range(m):
        for g in range(2):
            R[a + 2, g] = R[g, a + 2] = V[a, 0] * P[0, g] + V[a, 1] * P[1, g]
    for a in range(m):
        for j in range(m):
            R[a + 2, j + 2] = M[a, j] - R[a + 2, 0] * V[j, 0] - R[a + 2, 1] * V[j, 1]
    return True


def fresh_basis(gram: Gram, free: NDArray[np.bool_], group: Rows | None) -> Basis:
    """The basis of the independent ones among the ``free`` rows (n,)."""
    rows = np.flatnonzero(free)
    independent, inverse = bordered_inverse(gram.block(rows), None if group is None else group[rows])
    return Basis(rows[independent], inverse)
