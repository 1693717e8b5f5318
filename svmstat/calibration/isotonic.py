"""Weighted isotonic regression of events on a number, by pooling adjacent violators.

A point has weights of events and of others, not their sum and a mean: shares of points are compared, and one minus a
share is had, without cancellation. Reference: Ayer, Brunk, Ewing, Reid & Silverman (1955), An empirical distribution
function for sampling with incomplete information, Annals of Mathematical Statistics 26.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.compiled import compiled


@dataclass(frozen=True, slots=True)
class Points:
    """The G distinct values of a number among n rows, in their order; rows with equal values are one point.

    Attributes
    ----------
    values : (G,) increasing
    events, others : (G,) sums of the weights of either kind; not both are zero
    of_row : (n,) which point a row belongs to; −1 for rows of weight zero or without a value, which are absent
    """

    values: Floats
    events: Floats
    others: Floats
    of_row: Codes

    @property
    def totals(self) -> Floats:
        """(G,) sums of weights."""
        return self.events + self.others


def points_of(x: Floats, event: NDArray[np.bool_], weights: Floats) -> Points:
    """The points of rows with values x (n,), NaN where there is none, and case weights (n,).

    Examples
    --------
    >>> points = points_of(np.array([2.0, 1.0, 2.0]), np.array([True, False, False]), np.array([1.0, 1.0, 0.5]))
    >>> points.values, points.events, points.others
    (array([1., 2.]), array([0., 1.]), array([1. , 0.5]))
    """
    used = (weights > 0.0) & ~np.isnan(x)
    values, places = np.unique(x[used], return_inverse=True)
    of_row = np.full(len(x), -1, np.intp)
    of_row[used] = places
    w, hit = weights[used], event[used]
    events = np.bincount(places, np.where(hit, w, 0.0), len(values)).astype(float)
    others = np.bincount(places, np.where(hit, 0.0, w), len(values)).astype(float)
    return Points(values, events, others, of_row)


@compiled(inside=True)
def pooled(events, others):
    """How many blocks G ≥ 1 points in their order are pooled into; their starts and weights, the first of (G,) each.

    The shares of events of the blocks increase strictly.
    """
    G, k = events.shape[0], 0
    starts = np.empty(G, np.int64)
    of_events, of_others = np.empty(G), np.empty(G)
    for g in range(G):
        starts[k], of_events[k], of_others[k] = g, events[g], others[g]
        while k > 0 and of_events[k - 1] * of_others[k] >= of_events[k] * of_others[k - 1]:
            k -= 1
            of_events[k] += of_events[k + 1]
            of_others[k] += of_others[k + 1]
        k += 1
    return k, starts, of_events, of_others


@compiled()
def isotonic(events, others):
    """The shares of events (G,) that increase with the points and fit them best; events, others (G,).

    They minimise Σ (events (1 − p)² + others p²), and every other proper score too.

    Examples
    --------
    >>> isotonic(np.array([0.0, 2.0, 1.0, 1.0]), np.array([1.0, 0.0, 1.0, 0.0]))
    array([0.  , 0.75, 0.75, 1.  ])
    """
    shares = np.empty(events.shape[0])
    if shares.shape[0] == 0:
        return shares
    blocks, starts, of_events, of_others = pooled(events, others)
    for k in range(blocks):
        for g in range(starts[k], starts[k + 1] if k + 1 < blocks else shares.shape[0]):
            shares[g] = of_events[k] / (of_events[k] + of_others[k])
    return shares
