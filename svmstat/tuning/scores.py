"""How good the predictions for held-out rows are: one number for a grid point, its standard error, the error rate."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat.objective.losses import Loss
from svmstat.objective.measures import share
from svmstat.objective.units import Units

MEASURES = ("deviance", "error", "weighted_error", "loss")

_ROUNDING = 1e-12
"""Of a score, up to which its standard error is that of sums of equal numbers."""

TIED = 1e-7
"""Scores that differ by less than this share are the same: the digits beyond are those of the solver's tolerance."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The score ``size`` · Σ w L each / Σ w L and its parts.

    Attributes
    ----------
    each : (r,) how badly each row is predicted
    weights : (r,) case weights, which are repeats
    L : (r,) weights that are none
    size : what the mean is multiplied by
    units : of the rows, what is independent; None for copies of rows
    """

    each: Floats
    weights: Floats
    L: Floats
    size: float
    units: Units | None = None

    @property
    def mean(self) -> float:
        """Σ w L each / Σ w L."""
        return float(self.weights @ (self.L * self.each) / (self.weights @ self.L))

    @property
    def score(self) -> float:
        """The score."""
        return float(self.size * self.mean)

    @property
    def deviations(self) -> Floats:
        """(r,) how far the part of each row is from the mean part, or (G,) those of each unit together.

        On such a scale that their norm is the standard error.
        """
        if self.units is not None:
            G = self.units.count
            sums = self.units.sums(self.weights * self.L * (self.each - self.mean)) / (self.weights @ self.L)
            return np.asarray(self.size * np.sqrt(G / (G - 1.0) if G > 1 else np.nan) * sums)
        total = self.weights.sum()
        correction = total / (total - 1.0) if total > 1.0 else np.nan
        scale = self.size * np.sqrt(correction * self.weights) * self.L / (self.weights @ self.L)
        return np.asarray(scale * (self.each - self.mean))


@dataclass(frozen=True, slots=True)
class Point:
    """How one grid point did: its score and error rate, or why it could not be scored.

    Attributes
    ----------
    score : the criterion, the smaller the better; NaN if it could not be computed
    score_se : its standard error
    error : weighted share of held-out rows that are predicted wrongly
    n_support : sum of the weights of the support vectors, a mean over the folds
    reason : why the score is NaN, else empty
    further : criteria beside the score, by name
    parts : what the score is made of; None if that was not kept, or is no mean over rows
    """

    score: float
    score_se: float
    error: float
    n_support: float
    reason: str = ""
    further: dict[str, float] = field(default_factory=dict)
    parts: Parts | None = None


@dataclass(frozen=True, slots=True)
class Predicted:
    """What is predicted of n rows, each of positive weight, by fits that have not seen them.

    Attributes
    ----------
    codes : (n,) the classes that were seen
    weights : (n,) case weights
    class_weight : (n,) L of the classes
    winner : (n,) the classes that are predicted
    log_likelihood : (n,) log p_{y_i}(x_i) by the fits and their Platt maps
    units : what is independent; None for copies of rows
    """

    codes: Codes
    weights: Floats
    class_weight: Floats
    winner: Codes
    log_likelihood: Floats
    units: Units | None = None


def rate(seen: Predicted, measure: str, n_support: float) -> Point:
    """Score predictions of unseen rows by one of three measures, for any number of classes.

    deviance         −2 Σ w log p, ± 2 √(Σw · var log p)
    error            Σ w [wrong] / Σ w
    weighted_error   Σ w L [wrong] / Σ w L

    Parameters
    ----------
    seen : the rows, and what is predicted of them
    measure : one of `MEASURES` but "loss"
    n_support : to be passed on

    Examples
    --------
    >>> both = np.array([1, 0])
    >>> seen = Predicted(both, np.array([3.0, 1.0]), np.ones(2), np.array([1, 1]), np.log([0.5, 0.25]))
    >>> point = rate(seen, "error", 2.0)
    >>> point.score, round(point.score_se, 6), point.error
    (0.25, 0.25, 0.25)
    """
    wrong, w = seen.winner != seen.codes, seen.weights
    error = share(wrong, w)
    if measure == "deviance":
        return _point(Parts(-2.0 * seen.log_likelihood, w, np.ones(len(w)), w.sum(), seen.units), error, n_support)
    L = np.ones(len(w)) if measure == "error" else seen.class_weight
    return _point(Parts(wrong.astype(float), w, L, 1.0, seen.units), error, n_support)


def rate_loss(f: Floats, y: Floats, weights: Floats, loss: Loss, n_support: float, units: Units | None = None) -> Point:
    """Score decision values f (n,) of unseen rows with labels y (n,) by the mean loss (1/Σw) Σ w L [m − y f]₊.

    Examples
    --------
    >>> from svmstat.objective.losses import hinge
    >>> rate_loss(np.array([0.5, 0.1]), np.array([1.0, -1.0]), np.array([3.0, 1.0]), hinge(), 2.0).score
    0.65
    """
    error = share((f > 0) != (y > 0), weights)
    return _point(Parts(loss.values(f, y), weights, np.ones(len(y)), 1.0, units), error, n_support)


def _point(parts: Parts, error: float, n_support: float) -> Point:
    se = float(np.linalg.norm(parts.deviations))
    return Point(parts.score, 0.0 if se < _ROUNDING * abs(parts.score) else se, error, n_support, parts=parts)


def paired_se(point: Point, other: Point) -> float:
    """The standard error of the difference of two scores of the same rows; NaN where their parts are not known.

    For the deviance that is 2 √(n · var(log p − log p')), for an error rate that of a mean of differences.

    Examples
    --------
    >>> both, ones = np.array([1, 0, 1]), np.ones(3)
    >>> one = rate(Predicted(both, ones, ones, np.array([1, 1, 1]), np.log([0.5, 0.25, 0.5])), "deviance", 2.0)
    >>> same = rate(Predicted(both, ones, ones, np.array([1, 1, 1]), np.log([0.25, 0.125, 0.25])), "deviance", 2.0)
    >>> round(same.score - one.score, 4), round(one.score_se, 2), paired_se(one, same) < 1e-12  # every row loses log 2
    (4.1589, 1.39, True)
    """
    if point.parts is None or other.parts is None:
        return np.nan
    difference = replace(point.parts, each=point.parts.each - other.parts.each)
    return float(np.linalg.norm(difference.deviations))


def failed(reason: str, n_support: float = np.nan) -> Point:
    """A grid point that could not be scored, and why."""
    return Point(np.nan, np.nan, np.nan, n_support, reason)


def first_least(keys: Iterable[tuple[Floats, float]]) -> int:
    """The first of m points with the least of the first key; among those that tie, of the second, and so on.

    Parameters
    ----------
    keys : values (m,), each with the difference below which two of them are the same; NaN in the first is no candidate

    Returns
    -------
    int
        −1 if there is no candidate.

    Examples
    --------
    >>> first_least([(np.array([np.nan, 1.0, 1.0, 2.0]), 0.0), (np.array([0.0, 5.0, 4.0, 3.0]), 0.0)])
    2
    """
    left: Codes | None = None
    for values, same in keys:
        if left is None:
            left = np.flatnonzero(~np.isnan(values))
        if len(left) == 0:
            return -1
        left = left[values[left] <= values[left].min() + same]
    return -1 if left is None else int(left[0])


def within_se(scores: Floats, least: float, delta_se: Floats) -> NDArray[np.bool_]:
    """(m,) whether scores are within their paired standard error of the least; those that tie with it are."""
    return np.asarray(scores - least <= np.maximum((1.0 + TIED) * delta_se, TIED * abs(least)))


def columns_of(
    points: Sequence[Point], delta_se: Sequence[float] | None, least: float, further: Sequence[str] = ()
) -> dict[str, Any]:
    """What a table has of every point; with ``delta_se`` those whose score is within it of the ``least`` are marked."""
    columns: dict[str, Any] = {
        "score": np.array([point.score for point in points]),
        "score_se": [point.score_se for point in points],
    }
    if delta_se is not None:
        columns["delta_se"] = np.array(delta_se)
        columns["within_se"] = within_se(columns["score"], least, columns["delta_se"])
    columns["error"] = [point.error for point in points]
    columns["n_support"] = [point.n_support for point in points]
    columns |= {name: [point.further.get(name, np.nan) for point in points] for name in further}
    columns["status"] = ["failed" if point.reason else "ok" for point in points]
    columns["reason"] = [point.reason for point in points]
    return columns
