"""From the decision values of all pairs of classes to class probabilities and votes [003: section 3]."""

from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from svmstat.calibration import couple, pairwise
from svmstat.solver import TOLERANCE

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

LEAST = float(np.finfo(float).tiny)
"""A probability below this counts as this in a log-likelihood."""


@dataclass(frozen=True, slots=True)
class PairMaps:
    """Platt's map of each of the P pairs, and how they are coupled.

    Attributes
    ----------
    slope, intercept : (P,) A and B
    converged : (P,) whether Newton's method reached the minimum
    totals : (K,) sums of the case weights of the classes
    coupling : "wu-lin-weng" or "hastie-tibshirani"
    kind : which decision values the maps were fitted to, "insample" or "loo"
    """

    slope: Floats
    intercept: Floats
    converged: NDArray[np.bool_]
    totals: Floats
    coupling: str
    kind: str

    def with_coupling(self, coupling: str) -> "PairMaps":
        """The same maps, coupled in another way."""
        return replace(self, coupling=coupling)

    def probabilities(self, f: Floats) -> Floats:
        """(m, K) class probabilities for decision values (m, P)."""
        return coupled(f, self.slope, self.intercept, self.totals, self.coupling)


@cache
def pairs_of(n_classes: int) -> Codes:
    """(P, 2) the pairs i < j of classes, in their order.

    Examples
    --------
    >>> pairs_of(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    pairs = np.array(list(combinations(range(n_classes), 2)), dtype=np.intp)
    pairs.setflags(write=False)
    return pairs


def coupled(f: Floats, slope: Floats, intercept: Floats, totals: Floats, method: str) -> Floats:
    """Class probabilities.

    Parameters
    ----------
    f : (..., P) decision values of the pairs
    slope, intercept : Platt's A and B, of shapes that broadcast to that of f
    totals : (..., K) weights of the classes, n_ij of the coupling being their sums; they broadcast too
    method : the coupling

    Returns
    -------
    (..., K) array
        NaN where a decision value is.

    Examples
    --------
    >>> coupled(np.array([[1.0, 2.0, 1.0]]), np.full(3, -1.0), np.zeros(3), np.ones(3), "wu-lin-weng").round(3)
    array([[0.665, 0.245, 0.09 ]])
    """
    n_classes = totals.shape[-1]
    z = slope * f + intercept
    r = pairwise(z.reshape(-1, z.shape[-1]), n_classes)
    sizes = None
    if method == "hastie-tibshirani":
        square = (n_classes, n_classes)
        each = totals[..., :, None] + totals[..., None, :]
        sizes = np.broadcast_to(each, (*z.shape[:-1], *square)).reshape(-1, *square)
    return couple(r, method, sizes).reshape(*z.shape[:-1], n_classes)


def log_likelihoods(p: Floats, codes: Codes) -> Floats:
    """(...,) log p_{y_i} for probabilities (..., n, K) and classes (n,); NaN for the class −1.

    A probability that underflows counts as 2.2e-308.
    """
    own = np.take_along_axis(p, np.broadcast_to(codes[:, None], (*p.shape[:-1], 1)), axis=-1)[..., 0]
    return np.where(codes >= 0, np.log(np.maximum(own, LEAST)), np.nan)


def vote(f: Floats, n_classes: int) -> Codes:
    """The class for which most pairs vote, (m,) for decision values (m, P); −1 where one is NaN.

    Pair (i, j) votes for i where f > 0, else for j. Of classes with equally many votes the one with the largest sum
    of decision values (of f for i, −f for j) is taken, then the first; sums that differ by no more than the tolerance
    to which f is certified are equal.

    Examples
    --------
    A wins over B, B over C, and C over A most clearly:

    >>> vote(np.array([[0.1, -3.0, 0.2]]), 3).tolist()
    [2]
    """
    i, j = pairs_of(n_classes).T
    votes, sums = np.zeros((len(f), n_classes)), np.zeros((len(f), n_classes))
    for p in range(len(i)):
        won = f[:, p] > 0
        votes[:, i[p]] += won
        votes[:, j[p]] += ~won
        sums[:, i[p]] += f[:, p]
        sums[:, j[p]] -= f[:, p]
    sums[votes < votes.max(axis=1, keepdims=True)] = -np.inf
    winner = (sums >= sums.max(axis=1, keepdims=True) - TOLERANCE).argmax(axis=1)
    winner[np.isnan(f).any(axis=1)] = -1
    return winner
