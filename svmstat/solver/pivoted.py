"""A short factor of a kernel matrix, where its values have no more digits than it has columns for.

Pivoted Cholesky: GG' = K but for what rounding leaves of K. The free rows of a solution may depend on each other to
the last digit of K, and yet differ by √eps in G: a factor has twice the digits [Higham 2002: section 10.3].
"""

from collections.abc import Callable

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat._tools.doubles import EPS

MOST_COLUMNS = 600
"""A matrix that takes more of them has no short factor."""

_NEGATIVE = 1e4
"""A diagonal that falls below zero by more roundings is that of no positive semidefinite matrix."""

_EARLY, _LEFT_EARLY = 100, 2e-3
"""After so many columns no more than this share of the diagonal is left where the end is near."""


def short_factor(row: Callable[[int], Floats], diagonal: Floats) -> Floats | None:
    """G (n, r) of K (n, n), its columns falling; None if that takes too many, or K is zero or seen to be indefinite.

    Parameters
    ----------
    row : i → K[i], (n,)
    diagonal : (n,) of K

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 50)
    >>> K = np.exp(-((x[:, None] - x) ** 2))
    >>> G = short_factor(K.__getitem__, K.diagonal())
    >>> G.shape[1] < 15, bool(np.abs(G @ G.T - K).max() < 1e-14)
    (True, True)
    """
    left = diagonal.copy()
    least = EPS * left.max()
    G = np.zeros((len(left), min(len(left), MOST_COLUMNS)), order="F")  # memory is taken column by column
    for r in range(G.shape[1]):
        pivot = int(left.argmax())
        if left[pivot] <= least:
            is_factor = r > 0 and left.min() >= -_NEGATIVE * least
            return np.ascontiguousarray(G[:, :r]) if is_factor else None
        if r == _EARLY and left[pivot] > _LEFT_EARLY * diagonal.max():
            return None
        G[:, r] = (row(pivot) - G[:, :r] @ G[pivot, :r]) / np.sqrt(left[pivot])
        left -= G[:, r] ** 2
        left[pivot] = 0.0
    return np.ascontiguousarray(G) if left.max() <= least and left.min() >= -_NEGATIVE * least else None
