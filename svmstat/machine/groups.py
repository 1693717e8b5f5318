"""Which rows are the same observation, and sums of kernel values over them.

Rows that agree in predictors and class are one row of the problem, their weights added; so a weight of two and a row
given twice are the same fit, digit by digit, and no two rows of the problem are copies of each other. Rows of weight
zero take no part and are predicted. Rows that agree in predictors are one point: its f is computed once, and new rows
at the same point have it too.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.repeats import changes, distinct_rows, first_copies
from svmstat.kernels import Kernel, Precomputed, Rows, values_between
from svmstat.solver import Gram, LowRank

Indices = NDArray[np.intp]

_MANY = 5000
"""Rows from which on a factor of the gram matrix is used: below, what comes after a fit needs the matrix anyway."""

_LONGER = 10
"""How many times as many rows as columns the factor has at least."""

_ROUNDING = 1e-9
"""By what share rounding may take |K_ij|² beyond K_ii K_jj."""

_CHUNK = 2**22
"""Kernel values that are computed at a time for a prediction."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Which rows are the same observation.

    Attributes
    ----------
    first : (G,) a row of each group; the groups are in the order of their values
    of_row : (n,) the group of each row, −1 for a row of weight zero
    weights : (G,) sums of the case weights
    share : (n,) the part of its group's weight that a row has
    point : (G,) the first group with the same predictors
    """

    first: Indices
    of_row: Indices
    weights: Floats
    share: Floats
    point: Indices

    def to_rows(self, values: Indices) -> Indices:
        """What the groups (G,) have, for the rows (n,); −1 for a row of weight zero."""
        return np.where(self.of_row >= 0, values[self.of_row], -1)

    def shared(self, values: Floats) -> Floats:
        """What the groups (G, …) have, given out to the rows (n, …) in proportion to their weights."""
        return values[self.of_row] * self.share.reshape(-1, *(1,) * (values.ndim - 1))

    def reweighted(self, weights: Floats) -> "Groups":
        """The same groups for other weights (n,), zero where they were."""
        used = self.of_row >= 0
        totals = np.bincount(self.of_row[used], weights[used], len(self.first)).astype(float)
        return replace(self, weights=totals, share=_shares(self.of_row, weights, totals))


def group_rows(X: Floats, labels: Floats | Indices, weights: Floats) -> Groups:
    """Find the rows of positive weight that agree in X (n, p) and label (n,).

    Examples
    --------
    >>> groups = group_rows(np.array([[2.0], [1.0], [2.0]]), np.array([1.0, 1.0, 1.0]), np.array([1.0, 1.0, 0.5]))
    >>> groups.first, groups.weights, groups.point
    (array([1, 0]), array([1. , 1.5]), array([0, 1]))
    """
    used = np.flatnonzero(weights > 0)
    found = distinct_rows(X[used], weights[used], labels[used])
    of_row = np.full(len(labels), -1)
    of_row[used] = found.of_row
    first = used[found.first]
    new = np.ones(len(first), bool)
    new[1:] = changes(X[first])  # the groups are in the order of their predictors
    point = np.maximum.accumulate(np.where(new, np.arange(len(first)), 0))
    return Groups(first, of_row, found.weights, _shares(of_row, weights, found.weights), point)


def _shares(of_row: Indices, weights: Floats, totals: Floats) -> Floats:
    """The part (n,) that each row has of the weight of its group, for totals (G,)."""
    share, used = np.zeros(len(weights)), np.flatnonzero((of_row >= 0) & (weights > 0))
    share[used] = weights[used] / totals[of_row[used]]
    return share


def point_by_point(X: Floats, known: Floats, values: Floats, compute: Callable[[Floats], Floats]) -> Floats:
    """Values (m,) or (m, P) for rows X (m, p): those of equal ``known`` rows (n, p), the others once for each point.

    The last bit of a sum may depend on where its row stands in a block; what is equal must not come out different.
    """
    place, n = first_copies(X, known), len(known)
    new = np.flatnonzero(place == n + np.arange(len(X)))
    if len(new) == len(X):
        return compute(X)
    computed = np.empty((n + len(X), *values.shape[1:]))
    computed[:n] = values
    computed[n + new] = compute(X[new])
    return computed[place]


def source(kernel: Kernel, X: Floats, first: Indices) -> Rows:
    """The kernel on the rows ``first`` of X."""
    if isinstance(kernel, Precomputed):
        return kernel.bind(X[np.ix_(first, first)])
    return kernel.bind(X[first])


def gram_of(kernel: Kernel, X: Floats, first: Indices) -> Gram:
    """The gram matrix of the rows ``first`` of X: by its factor where that is short and the rows are many."""
    factor = kernel.features(X[first]) if len(first) >= _MANY else None
    if factor is not None and _LONGER * factor.shape[1] <= len(first):
        return LowRank(factor)
    gram = Gram(source(kernel, X, first))
    return outweighed(gram) if kernel.may_be_indefinite and gram.fits else gram


def outweighed(gram: Gram) -> Gram:
    """The matrix, or K + c where K is seen to have negative eigenvalues: Kβ is the same, for Σβ = 0.

    Bounds on rounding and the choice of rows rest on |K_ij| ≤ √(K_ii K_jj), which holds, but for a small factor, where
    c is twice the largest |K_ij|.
    """
    K = gram.complete()
    most = np.maximum(K.max(axis=1), -K.min(axis=1))
    largest = most.max()
    if (most**2 <= (1.0 + _ROUNDING) * largest * K.diagonal()).all():
        return gram
    c = 2.0 * float(largest)
    return Gram(Precomputed().bind(K + c), constant=c)


def expansion(
    kernel: Kernel, X: Floats, points: Floats, rows: Indices, coefficients: Floats,
    products: Callable[[Floats, Floats], Floats],
) -> Floats:  # fmt: skip
    """Σ_a coefficients[a] · K(x, points[rows[a]]) for each row of X; coefficients (m, P), one sum a column.

    ``products`` multiplies kernel values (k, m) by the coefficients.
    """
    values = np.zeros((len(X), *coefficients.shape[1:]))
    if len(rows) == 0:
        return values
    if isinstance(kernel, Precomputed):
        return products(kernel(X, points)[:, rows], coefficients)
    size, at = max(1, _CHUNK // len(rows)), values_between(kernel, X, points[rows])
    for start in range(0, len(X), size):
        some = slice(start, start + size)
        values[some] = products(at(some), coefficients)
    return values
