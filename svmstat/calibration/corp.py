"""CORP reliability: probabilities beside their isotonic recalibration, and what that says of a proper score.

The recalibrated probability is the share of events that increases with the given one and fits best. It needs no bins,
and for every proper score S̄

    S̄(given) = MCB − DSC + UNC,    MCB = S̄(given) − S̄(recalibrated),    DSC = S̄(frequency) − S̄(recalibrated)

with UNC = S̄(frequency), that of the share of events given to every row. Neither MCB nor DSC is negative.

Reference: Dimitriadis, Gneiting & Jordan (2021), Stable reliability diagrams for probabilistic classifiers.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from svmstat._tools.arrays import Floats
from svmstat._tools.doubles import EPS
from svmstat.calibration.isotonic import isotonic, points_of
from svmstat.machine import tied

_ROUNDING = 1e-11
"""Of a probability or of what it lacks of one, whichever is less: what differs by no more than the rounding of maps is
one point, as a row that is there twice and one of weight two are."""


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A mean score as MCB − DSC + UNC.

    Attributes
    ----------
    score : that of the given probabilities
    miscalibration : MCB, what recalibration gains
    discrimination : DSC, what the recalibrated probabilities gain over the share of events
    uncertainty : UNC, the score of the share of events
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


@dataclass(frozen=True, slots=True)
class Corp:
    """The G distinct probabilities of an event among rows, and their recalibration.

    Attributes
    ----------
    predicted : (G,) increasing
    recalibrated : (G,) not decreasing
    events, others : (G,) sums of the weights of either kind of row
    brier, log : the two scores; the second is infinite where what was impossible happened
    """

    predicted: Floats
    recalibrated: Floats
    events: Floats
    others: Floats
    brier: Decomposition
    log: Decomposition

    @property
    def totals(self) -> Floats:
        """(G,) sums of weights."""
        return self.events + self.others


@dataclass(frozen=True, slots=True)
class ConsistencyBand:
    """Where the recalibrated probabilities lie if the given ones are calibrated.

    Attributes
    ----------
    lower, upper : (G,) at each of the given probabilities
    miscalibration : (B,) MCB of the Brier score, replicate by replicate
    """

    lower: Floats
    upper: Floats
    miscalibration: Floats


def recalibrate(prob: Floats, event: NDArray[np.bool_], weights: Floats) -> Corp:
    """Recalibrate probabilities (n,) of an event (n,), with case weights (n,).

    Rows of weight zero, and rows without a probability, are absent; one at least must be left.

    Examples
    --------
    >>> found = recalibrate(np.array([0.1, 0.4, 0.6, 0.9]), np.array([False, True, False, True]), np.ones(4))
    >>> found.recalibrated, found.brier
    (array([0. , 0.5, 0.5, 1. ]), Decomposition(score=0.185, miscalibration=0.06, discrimination=0.125, ...=0.25))
    """
    rounding = _ROUNDING * np.minimum(prob, 1.0 - prob) + EPS
    points = points_of(tied(prob[:, None], rounding[:, None])[:, 0], event, weights)
    fitted = isotonic(points.events, points.others)
    share = np.full(len(fitted), points.events.sum() / points.totals.sum())
    scores = []
    for score in (_brier, _log_score):
        given, best, least = (score(p, points.events, points.others) for p in (points.values, fitted, share))
        scores.append(Decomposition(given, given - best, least - best, least))
    return Corp(points.values, fitted, points.events, points.others, *scores)


def consistency_band(curve: Corp, *, B: int, level: float, seed: np.random.SeedSequence) -> ConsistencyBand:
    """The band that a calibrated curve keeps to at each probability with chance ``level``, by B samples of outcomes.

    The probabilities stay as they are; Binomial(w, p) of the w rows with probability p become events, w being whole.
    Observed and simulated curves are exchangeable under the hypothesis: between the k-th least and the k-th largest of
    B the observed one lies with chance 1 − 2k/(B + 1) at least.

    Parameters
    ----------
    curve : whose sums of weights are whole numbers
    B : at least 2/(1 − level) − 1, for k ≥ 1
    level : between 0 and 1
    seed : the replicates depend on it alone
    """
    rng = np.random.default_rng(seed)
    sizes = np.round(curve.totals).astype(np.int64)
    k = tail(B, level)
    fitted, miscalibration = np.empty((B, len(sizes))), np.empty(B)
    for b in range(B):
        events = rng.binomial(sizes, curve.predicted).astype(float)
        others = sizes - events
        fitted[b] = isotonic(events, others)
        miscalibration[b] = _brier(curve.predicted, events, others) - _brier(fitted[b], events, others)
    fitted.partition((k - 1, B - k), axis=0)
    return ConsistencyBand(fitted[k - 1].copy(), fitted[B - k].copy(), miscalibration)


def tail(B: int, level: float) -> int:
    """How many of B replicates, and the observed one with them, a band at this level leaves out at either end.

    Examples
    --------
    >>> tail(199, 0.9), tail(99, 0.95), tail(10, 0.9)
    (10, 2, 0)
    """
    return int((B + 1) * (1.0 - level) / 2.0 + 1e-9)


def _brier(p: Floats, events: Floats, others: Floats) -> float:
    """The mean of (1 − p)² of events and p² of others."""
    return float((events @ (1.0 - p) ** 2 + others @ p**2) / (events.sum() + others.sum()))


def _log_score(p: Floats, events: Floats, others: Floats) -> float:
    """The mean of −log p of events and −log(1 − p) of others."""
    return float(-(xlogy(events, p).sum() + xlog1py(others, -p).sum()) / (events.sum() + others.sum()))
