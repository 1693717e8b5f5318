"""Whether held-out residuals of rows that are near each other agree: structure that the probabilities do not explain.

T = r'R r / Σ π(1 − π) for r = 1{y = event} − π and R_kl = exp(−‖x_k − x_l‖² / median ‖x − x'‖²), R_kk = 0, is a
statistic of the kind of le Cessie & van Houwelingen (1991), of residuals of rows that the fit has not seen. Rows of
weight w are w copies, each at distance zero from the others; those with probability weights are one row each, but for
the median, which is that of gamma="median": there a weight of more than the mean has pairs with itself as copies have.

Fits to labels drawn from probabilities may report more noise V = Σ π(1 − π) than these have, and T falls with the
noise: replicates are moved to what they would be at the V of the fit, which raises them on average.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from svmstat._tools.arrays import Codes, Floats
from svmstat.kernels import RBF, Precomputed
from svmstat.kernels.gamma import typical_distance
from svmstat.machine import Machine, rows_of
from svmstat.resampling.influences import Maxima, OfRefit
from svmstat.resampling.predicted import How, Predicted, predicted
from svmstat.resampling.relabelled import first_of_points

_ROUNDING = 1e-10
"""V that differ by this share are equal."""

_AT_ONCE = 2**22
"""Values of R in memory at a time."""


@dataclass(frozen=True, slots=True)
class Residuals:
    """What T is made of, for S points and L levels: the event of two, or each of more.

    Attributes
    ----------
    sums : (S, L) sums of the residuals of the copies at each point
    squares : (L,) Σ w r² of copies, Σ (w r)² of rows that are none
    variance : (L,) Σ w π(1 − π)
    deviance : D, by the in-sample maps
    """

    sums: Floats
    squares: Floats
    variance: Floats
    deviance: float


def residuals(machine: Machine, probability: Floats, deviance: float, point: Codes, n_points: int) -> Residuals:
    """The residuals of held-out probabilities (n, K); rows of weight zero, at the point −1, do not count."""
    used = machine.weights > 0
    level = machine.classes[0, :1] if machine.n_classes == 2 else np.arange(machine.n_classes)
    w, p = machine.weights[used, None], probability[used][:, level]
    r = (machine.codes[used, None] == level) - p
    sums = np.zeros((n_points, len(level)))
    np.add.at(sums, point[used], w * r)
    apart = machine.units is not None and (not machine.units.grouped or bool((w != np.rint(w)).any()))
    squares = (w * r) ** 2 if apart else w * r**2
    return Residuals(sums, squares.sum(axis=0), (w * p * (1.0 - p)).sum(axis=0), deviance)


class Seen(NamedTuple):
    """What there is to see in a refit: its residuals and, where asked for, the largest influences."""

    residuals: Residuals
    maxima: Maxima | None


def look_at_residuals(
    how: How, n_points: int, maxima: OfRefit | None, machine: Machine, point: Codes, rng: np.random.Generator
) -> Seen | None:
    """Those of a refit, and the ``maxima``; None where a row cannot be held out."""
    found = predicted(machine, how, maxima is not None)
    if found is None:
        return None
    return Seen(of_predicted(found, point, n_points), None if maxima is None else maxima(found, rng))


def of_predicted(found: Predicted, point: Codes, n_points: int) -> Residuals:
    """The residuals of a fit."""
    return residuals(found.machine, found.unseen.probability, found.deviance, point, n_points)


def statistics(machine: Machine, found: Sequence[Residuals | None]) -> Floats:
    """T of each of B fits to the rows of a machine, NaN for None; of more than two levels the sum of T over them."""
    values = np.full(len(found), np.nan)
    there = [b for b, each in enumerate(found) if each is not None]
    if not there:
        return values
    known = [each for each in found if each is not None]
    forms = _forms(machine, np.concatenate([each.sums.T for each in known])).reshape(len(known), -1)
    squares, variance = (np.array([getattr(each, name) for each in known]) for name in ("squares", "variance"))
    with np.errstate(divide="ignore", invalid="ignore"):
        values[there] = ((forms - squares) / variance).sum(axis=1)
    return values


def noises(found: Sequence[Residuals | None]) -> Floats:
    """V of each of B fits, NaN for None; of more than two levels the sum over them."""
    return np.array([np.nan if each is None else each.variance.sum() for each in found])


def slope_in_noise(T: Floats, V: Floats) -> float:
    """By how much T falls for each unit of V where replicates, all (1 + B,) but the first, have more of it; else 0.

    It is the slope of the least-squares line of T on V through the fit and its replicates: moved along it to the V of
    the fit, T* counts as no less than T where it is so of the residuals of the line. Where T rises with V from
    replicate to replicate nothing is moved: that is the chance of the labels, which are in both.

    Examples
    --------
    >>> slope_in_noise(np.array([1.0, 0.0, 0.5, np.nan]), np.array([4.0, 6.0, 5.0, np.nan]))
    -0.5
    >>> slope_in_noise(np.array([0.0, 1.0, 0.5]), np.array([4.0, 6.0, 5.0]))
    0.0
    """
    good = np.isfinite(T)
    if not good[0] or not good[1:].any() or V[0] >= V[1:][good[1:]].mean():
        return 0.0
    apart = V[good] - V[good].mean()
    if np.ptp(V[good]) <= _ROUNDING * V[good].max():
        return 0.0
    return min(float(apart @ T[good]) / float(apart @ apart), 0.0)


def _forms(machine: Machine, s: Floats) -> Floats:
    """s'R s with R_kk = 1 for each of q vectors (q, S) over the points; R is computed in parts."""
    near, n = nearness(machine), s.shape[1]
    forms = np.zeros(len(s))
    size = max(1, _AT_ONCE // n)
    for rows in (np.arange(start, min(start + size, n)) for start in range(0, n, size)):
        R = near(rows)
        forms += [v[rows] @ (R @ v) for v in s]  # each on its own: its last bit must not depend on the others
    return forms


def nearness(machine: Machine) -> Callable[[Codes], Floats]:
    """R of some points (m,) and all S points, (m, S): of the design on the scale of the fit.

    Where there is no design the distances are those of the kernel, K_kk + K_ll − 2 K_kl. If more than half of the pairs
    are at one point the mean squared distance takes the place of the median.
    """
    first = first_of_points(machine)
    weights = np.add.reduceat(machine.groups.weights, first)
    X = rows_of(machine, first)
    if not isinstance(machine.kernel, Precomputed):
        kernel = RBF(1.0 / typical_distance(X, weights))
        return lambda rows: kernel(X[rows], X)
    diagonal = X.diagonal()

    def squared(rows: Codes) -> Floats:
        return np.maximum(diagonal[rows, None] + diagonal - 2.0 * X[rows], 0.0)

    scale = _median(squared(np.arange(len(X))), weights)
    return lambda rows: np.exp(-squared(rows) / scale)


def _median(distances: Floats, weights: Floats) -> float:
    """The median of distances (S, S) over pairs of copies; their mean over all rows and rows if it is zero."""
    upper = np.triu_indices(len(distances), 1)
    values = np.append(distances[upper], 0.0)
    times = np.append(np.outer(weights, weights)[upper], np.maximum(weights * (weights - 1.0) / 2.0, 0.0).sum())
    order = np.argsort(values)
    reached, half = np.cumsum(times[order]), times.sum() / 2.0
    lower, higher = (values[order][np.searchsorted(reached, half, side)] for side in ("left", "right"))
    return float(0.5 * (lower + higher)) or float(weights @ distances @ weights / weights.sum() ** 2) or 1.0
