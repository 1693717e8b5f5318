"""How good the predictions for held-out rows are: one number for a grid point, its standard error, the error rate."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from svmstat.losses import Loss
from svmstat.measures import share
from svmstat.solver import TOLERANCE

Floats = NDArray[np.float64]

MEASURES = ("deviance", "error", "weighted_error", "loss")


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
    """

    score: float
    score_se: float
    error: float
    n_support: float
    reason: str = ""
    further: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Observed:
    """The n rows, each of positive weight, with which the predictions are compared.

    Attributes
    ----------
    y : (n,) labels, −1 or +1
    weights : (n,) case weights
    loss : margins and class weights
    """

    y: Floats
    weights: Floats
    loss: Loss


def rate(f: Floats, log_likelihood: Floats, observed: Observed, measure: str, n_support: float) -> Point:
    """Score predictions of rows that the fits have not seen, for two classes, by one of four measures.

    deviance         −2 Σ w log p, ± 2 √(Σw · var log p)
    error            Σ w [wrong] / Σ w
    weighted_error   Σ w L [wrong] / Σ w L
    loss             Σ w L [m − y f]₊ / Σ w

    Parameters
    ----------
    f : (n,) decision values of fits that have not seen the row
    log_likelihood : (n,) log p_{y_i}(x_i) by these fits and their Platt maps
    observed : the rows
    measure : one of `MEASURES`
    n_support : to be passed on

    Examples
    --------
    >>> from svmstat.losses import hinge
    >>> seen = Observed(np.array([1.0, -1.0]), np.array([3.0, 1.0]), hinge())
    >>> point = rate(np.array([0.5, 0.1]), np.log([0.5, 0.25]), seen, "error", 2.0)
    >>> point.score, point.score_se, point.error
    (0.25, 0.25, 0.25)
    """
    y, w = observed.y, observed.weights
    wrong = (f > 0) != (y > 0)
    if measure == "loss":
        score, se = _mean(observed.loss.values(f, y), w, np.ones(len(y)))
        return Point(score, se, share(wrong, w), n_support)
    return rate_errors(wrong, log_likelihood, w, observed.loss.class_weight(y), measure, n_support)


def rate_errors(
    wrong: NDArray[np.bool_], log_likelihood: Floats, weights: Floats, class_weight: Floats, measure: str,
    n_support: float,
) -> Point:  # fmt: skip
    """Score predictions of unseen rows for any number of classes; measures but "loss" as in `rate`.

    Parameters
    ----------
    wrong : (n,) whether the row is predicted wrongly
    log_likelihood : (n,) log p_{y_i}(x_i)
    weights, class_weight : (n,) w, and L of each row's class
    measure : "deviance", "error" or "weighted_error"
    n_support : to be passed on
    """
    error, total = share(wrong, weights), weights.sum()
    if measure == "deviance":
        mean, se = _mean(log_likelihood, weights, np.ones(len(weights)))
        return Point(-2.0 * total * mean, 2.0 * total * se, error, n_support)
    L = np.ones(len(weights)) if measure == "error" else class_weight
    return Point(*_mean(wrong.astype(float), weights, L), error, n_support)


def _mean(each: Floats, weights: Floats, L: Floats) -> tuple[float, float]:
    """Σ w L each / Σ w L, and its standard error for weights that are repeats."""
    total, mass = weights.sum(), weights @ L
    mean = weights @ (L * each) / mass
    correction = total / (total - 1.0) if total > 1.0 else np.nan
    return float(mean), float(np.sqrt(correction * (weights @ (L * (each - mean)) ** 2)) / mass)


def trouble_of_deletions(
    lost: NDArray[np.bool_], violation: Floats, calibrated: NDArray[np.bool_], measure: str
) -> str:
    """What keeps deletions (n,) from being scored; empty if nothing does.

    Parameters
    ----------
    lost : (n,) whether a class vanished
    violation : (n,) KKT violations
    calibrated : (n,) whether the Platt maps converged
    measure : one of `MEASURES`
    """
    troubles = [
        (lost, "left without a class"),
        (~lost & (violation > TOLERANCE), "not certified"),
        (~lost & ~calibrated & (measure == "deviance"), "without a converged Platt map"),
    ]
    return "; ".join(
        f"{np.count_nonzero(rows)} of {len(lost)} deletions {what}" for rows, what in troubles if rows.any()
    )


def trouble_of_fold(lost: bool, certified: bool, calibrated: bool, measure: str) -> str:
    """What keeps a fold from being scored; empty if nothing does. Arguments as in `trouble_of_deletions`."""
    if lost:
        return "left without a class"
    if not certified:
        return "not certified"
    return "no converged Platt map" if measure == "deviance" and not calibrated else ""


def failed(reason: str, n_support: float = np.nan) -> Point:
    """A grid point that could not be scored, and why."""
    return Point(np.nan, np.nan, np.nan, n_support, reason)
