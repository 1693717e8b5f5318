"""Accumulated local effects: the arithmetic on bins, for predictions of any number of replicates and outcomes.

The predictions of a model are compared between the two edges of the bin that a row is in, all else as it is in that
row. Their mean differences are added up from bin to bin, and the sum is moved to a weighted mean of zero [Apley & Zhu
2020].
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.near import BUT_FOR_ROUNDING, tree_of

_ROUNDING = 1e-12
"""Up to this share of it a sum of weights is what was wanted, but for rounding."""


@dataclass(frozen=True, slots=True)
class Bins:
    """Rows in K bins along one column; the first holds its lower edge, each its upper one.

    Attributes
    ----------
    edges : (K + 1,) rising; observed values
    of_row : (n,) the bin of each row
    """

    edges: Floats
    of_row: Codes


def quantiles(x: Floats, weights: Floats, shares: Floats) -> Floats:
    """The least observed values (s,) that reach these shares of the weight: R's type 1, for repeated rows the same.

    Examples
    --------
    >>> quantiles(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), np.array([0.0, 0.25, 0.5, 1.0]))
    array([1., 1., 2., 3.])
    """
    order = np.argsort(x, kind="stable")
    reached = np.cumsum(weights[order])
    wanted = shares * reached[-1]
    place = np.searchsorted(reached, wanted * (1.0 - _ROUNDING))
    return np.asarray(x[order][np.minimum(place, len(x) - 1)])


def bins_of(x: Floats, weights: Floats, count: int) -> Bins:
    """At most ``count`` bins between quantiles of x (n,), weights (n,) > 0; none is empty.

    Examples
    --------
    >>> bins_of(np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4), 2)
    Bins(edges=array([1., 2., 4.]), of_row=array([0, 0, 1, 1]))
    """
    edges = np.unique(np.append(x.min(), quantiles(x, weights, np.linspace(0.0, 1.0, count + 1))))
    return Bins(edges, np.maximum(np.searchsorted(edges, x) - 1, 0))


def pooled(x: Floats, weights: Floats, count: int) -> Codes:
    """The bin (n,) of each of x (n,), at most ``count`` of about equal weight: of as few values each has one.

    A value that many rows share may leave next to none of them beside it: bins of less than half the weight that each
    would have are joined to the lighter neighbour.

    Examples
    --------
    >>> x = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0])
    >>> pooled(x, np.ones(8), 5), pooled(x, np.ones(8), 4)
    (array([0, 0, 0, 0, 1, 2, 3, 4]), array([0, 0, 0, 0, 1, 1, 2, 2]))
    """
    values, which = np.unique(x, return_inverse=True)
    if len(values) <= count:
        return which
    which = np.searchsorted(np.unique(quantiles(x, weights, np.arange(1, count + 1) / count)), x)
    return _joined(which, weights, 0.5 * weights.sum() / count)


def _joined(which: Codes, weights: Floats, least: float) -> Codes:
    """Bins of rows, each but an only one of at least that weight."""
    while True:
        which = np.unique(which, return_inverse=True)[1]
        totals = np.bincount(which, weights)
        light, last = int(totals.argmin()), len(totals) - 1
        if totals[light] >= least or last == 0:
            return which
        below = light == last or (light > 0 and totals[light - 1] <= totals[light + 1])
        which[which >= light + (not below)] -= 1


def accumulated(delta: Floats, totals: Floats) -> Floats:
    """The effect (…, K + 1, Q) at the edges, of mean differences delta (…, K, Q) and the weights (…, K) of the bins.

    Its mean is zero over the bins, of each the middle between its edges.
    """
    sums = np.cumsum(delta, axis=-2)
    effect = np.concatenate([np.zeros_like(sums[..., :1, :]), sums], axis=-2)
    middle = (effect[..., 1:, :] + effect[..., :-1, :]) / 2.0
    share = totals / totals.sum(axis=-1, keepdims=True)
    return np.asarray(effect - np.einsum("...kq,...k->...q", middle, share)[..., None, :])


def accumulated_pair(delta: Floats, totals: Floats, edges: tuple[Floats, Floats]) -> Floats:
    """The second-order effect (…, K + 1, L + 1, Q) of two columns: what they do together beyond what each does alone.

    delta (…, K, L, Q) are the mean second differences over the cells, and totals (K, L) their weights; an empty cell
    has those of the nearest one that is not, middle to middle in units of the ranges, or the mean of those that are
    equally near.
    """
    filled = delta.reshape(*delta.shape[:-3], -1, delta.shape[-1]).copy()
    for cell, nearest in _nearest_of_empty(totals, edges):
        filled[..., cell, :] = filled[..., nearest, :].mean(axis=-2)
    delta = filled.reshape(delta.shape)
    sums = np.cumsum(np.cumsum(delta, axis=-3), axis=-2)
    around = [(0, 0)] * (sums.ndim - 3) + [(1, 0), (1, 0), (0, 0)]
    effect = np.pad(sums, around)
    first = _main(effect, totals)
    second = np.swapaxes(_main(np.swapaxes(effect, -3, -2), totals.T), -3, -2)
    effect = effect - first - second
    corners = effect[..., 1:, 1:, :] + effect[..., :-1, 1:, :] + effect[..., 1:, :-1, :] + effect[..., :-1, :-1, :]
    return np.asarray(effect - np.einsum("...klq,kl->...q", corners / 4.0, totals / totals.sum())[..., None, None, :])


def _main(effect: Floats, totals: Floats) -> Floats:
    """The part (…, K + 1, 1, Q) of a surface (…, K + 1, L + 1, Q) that the first of its columns has by itself."""
    rises = np.diff(effect, axis=-3)
    middle = (rises[..., 1:, :] + rises[..., :-1, :]) / 2.0
    mean = np.einsum("...klq,kl->...kq", middle, totals / totals.sum(axis=1, keepdims=True))
    sums = np.cumsum(mean, axis=-2)
    return np.concatenate([np.zeros_like(sums[..., :1, :]), sums], axis=-2)[..., None, :]


def _nearest_of_empty(totals: Floats, edges: tuple[Floats, Floats]) -> Iterator[tuple[int, Codes]]:
    """The empty ones of the cells (K L,), each with those that take its place."""
    middles = [((each[1:] - each[0]) + (each[:-1] - each[0])) / 2.0 / (each[-1] - each[0]) for each in edges]
    points = np.column_stack([each.ravel() for each in np.meshgrid(*middles, indexing="ij")])
    used, empty = np.flatnonzero(totals.ravel() > 0), np.flatnonzero(totals.ravel() == 0)
    tree = tree_of(points[used])
    for cell, away in zip(empty.tolist(), tree.query(points[empty])[0], strict=True):
        yield cell, used[sorted(tree.query_ball_point(points[cell], away * BUT_FOR_ROUNDING))]
