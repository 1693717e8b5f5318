"""Venn–Abers probabilities: isotonic fits to which the new row is added, once as an event and once as another.

With p₁ the fitted share of events at x where x is added as an event of weight one, p₀ where it is added as another,

    p = p₁ / (1 − p₀ + p₁)

Where x comes of a machine that none of the rows helped to fit, and the rows are exchangeable, one of the two is
calibrated, that of the label which comes true: this is the theorem. Of leave-one-out values it holds nearly, since the
machines differ by a row. [p₀, p₁] bounds the calibration of p and is no confidence interval. Both fits hold a row of
the label in question, so that with N the sum of weights 1/(N + 2) ≤ p ≤ (N + 1)/(N + 2): no probability is 0 or 1, and
every log-likelihood is finite.

References: Vovk & Petej (2014), Venn–Abers predictors, who define them; Vovk, Petej & Fedorova (2015), Large-scale
probabilistic predictors with and without guarantees of validity, who compute all of them at once.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.compiled import compiled
from svmstat.calibration.isotonic import points_of
from svmstat.machine import tied_to
from svmstat.objective.units import Units

KIND = "venn-abers"


class Bounds(NamedTuple):
    """The two isotonic probabilities of the event, of any one shape; NaN where there is no value.

    Attributes
    ----------
    p0, p1 : the row added as other, and as event; p0 ≤ p1
    """

    p0: Floats
    p1: Floats


class Odds(NamedTuple):
    """1 − p₀ and p₁, of any one shape, each to full precision: their ratio is the odds of Venn and Abers's p.

    Attributes
    ----------
    other, event : 1 − p₀ and p₁, both positive
    """

    other: Floats
    event: Floats

    @property
    def bounds(self) -> Bounds:
        """p₀ and p₁."""
        return Bounds(1.0 - self.other, self.event)

    @property
    def logit(self) -> Floats:
        """log p / (1 − p), finite."""
        return np.log(self.event) - np.log(self.other)

    @property
    def probability(self) -> Floats:
        """p₁ / (1 − p₀ + p₁)."""
        return self.event / (self.other + self.event)


@dataclass(frozen=True, slots=True, repr=False)
class VennAbers:
    """The Venn–Abers probabilities of all x, by G points x_1 < … < x_G.

    A row that is added as an event between two points is pooled with the one above, as other with the one below: what
    is known at the points is known everywhere.

    Attributes
    ----------
    values : (G,) increasing
    other : (G,) 1 − p₀ at the points
    event : (G,) p₁ at the points
    resolution : an x that differs from a point by no more than this is at it
    """

    values: Floats
    other: Floats
    event: Floats
    resolution: float = 0.0

    def __repr__(self) -> str:
        return f"<VennAbers: {len(self.values)} points>"

    @property
    def kind(self) -> str:
        """The name of the map."""
        return KIND

    @property
    def converged(self) -> bool:
        """True: nothing is iterated."""
        return True

    def odds(self, x: Floats) -> Odds:
        """1 − p₀ and p₁ for x of any shape; NaN for NaN."""
        known = ~np.isnan(x)
        x = tied_to(x.reshape(-1, 1), self.values[:, None], np.array([self.resolution])).reshape(x.shape)
        other = np.concatenate([[1.0], self.other])[np.searchsorted(self.values, x, "right")]
        event = np.concatenate([self.event, [1.0]])[np.searchsorted(self.values, x, "left")]
        return Odds(np.where(known, other, np.nan), np.where(known, event, np.nan))

    def bounds(self, x: Floats) -> Bounds:
        """p₀ and p₁ for x of any shape; NaN for NaN."""
        return self.odds(x).bounds

    def probability(self, x: Floats) -> Floats:
        """P(event), p₁ / (1 − p₀ + p₁), for x of any shape; NaN for NaN."""
        return self.odds(x).probability

    def log_likelihoods(self, x: Floats, y: Floats) -> Floats:
        """log p_{y_i}(x_i) for values x (n,) and labels y (n,), −1 or +1; finite, but NaN for NaN."""
        return -np.logaddexp(0.0, -y * self.odds(x).logit)


def fit_venn_abers(x: Floats, y: Floats, weights: Floats, resolution: float = 0.0) -> VennAbers:
    """The Venn–Abers probabilities that rows stand for.

    Parameters
    ----------
    x : (n,) values on which the rows do not depend themselves, such as leave-one-out decision values; rows with NaN are
        absent. Equal values are one point: what is equal in exact arithmetic must be equal here
    y : (n,) labels, −1 or +1
    weights : (n,) case weights; a row of weight zero is absent
    resolution : differences of other values from these up to this mean nothing

    Examples
    --------
    >>> x, y = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> fit_venn_abers(x, y, np.ones(4)).bounds(np.array([0.0, 3.0]))
    Bounds(p0=array([0.        , 0.66666667]), p1=array([1., 1.]))
    """
    points = points_of(x, y > 0.0, weights)
    at, none = np.arange(len(points.values)), np.zeros(len(points.values))
    blocks = _pooled(points.events, points.others)
    _, other = _fitted(points.events, points.others, blocks, at, none, none + 1.0)
    event, _ = _fitted(points.events, points.others, blocks, at, none + 1.0, none)
    return VennAbers(points.values, other, event, resolution)


def held_out(x: Floats, y: Floats, weights: Floats) -> Odds:
    """1 − p₀ and p₁ (n,) of each row by the other rows; arguments as in `fit_venn_abers`.

    A row of weight w loses min(w, 1), that is one copy; a row of weight zero loses nothing.

    Examples
    --------
    >>> held_out(np.array([1.0, 2.0, 3.0]), np.array([-1.0, 1.0, 1.0]), np.ones(3)).bounds
    Bounds(p0=array([0. , 0. , 0.5]), p1=array([1., 1., 1.]))
    """
    points = points_of(x, y > 0.0, weights)
    found = Odds(*fit_venn_abers(x, y, weights).odds(x))
    rows = np.flatnonzero(points.of_row >= 0)
    at, lost = points.of_row[rows], np.minimum(weights[rows], 1.0)
    lost_event, lost_other = np.where(y[rows] > 0.0, lost, 0.0), np.where(y[rows] > 0.0, 0.0, lost)
    blocks = _pooled(points.events, points.others)
    _, found.other[rows] = _fitted(points.events, points.others, blocks, at, -lost_event, 1.0 - lost_other)
    found.event[rows], _ = _fitted(points.events, points.others, blocks, at, 1.0 - lost_event, -lost_other)
    return found


def held_out_units(x: Floats, y: Floats, weights: Floats, units: Units) -> Odds:
    """1 − p₀ and p₁ (n,) of each row by the rows of the other units; of a row of none by all.

    Examples
    --------
    >>> x, y = np.array([1.0, 2.0, 3.0]), np.array([-1.0, 1.0, 1.0])
    >>> held_out_units(x, y, np.ones(3), Units(np.array([0, 1, 2]), 3, True)).bounds
    Bounds(p0=array([0. , 0. , 0.5]), p1=array([1., 1., 1.]))
    """
    found = Odds(*fit_venn_abers(x, y, weights).odds(x))
    for rows in units:
        others = weights.copy()
        others[rows] = 0.0
        if not others.any():
            found.other[rows], found.event[rows] = np.nan, np.nan
            continue
        found.other[rows], found.event[rows] = fit_venn_abers(x, y, others).odds(x[rows])
    return found


class _Blocks(NamedTuple):
    """Where the pooled points up to each of G points end, and where those from it on begin.

    The points 0 … g are pooled into blocks of which the last one begins at first[g]; the block below that is the last
    one of the points 0 … first[g] − 1. So all blocks can be walked from the open end, and likewise above.

    Attributes
    ----------
    first : (G,) where the last block of the points 0 … g begins
    before : (2, G) its weights of events and of others
    last : (G,) before which point the first block of the points g … G − 1 ends
    after : (2, G) its weights
    """

    first: NDArray[np.int64]
    before: Floats
    last: NDArray[np.int64]
    after: Floats


@compiled()
def _pooled(events, others):
    """The `_Blocks` of points with these weights (G,)."""
    G = events.shape[0]
    first, last = np.empty(G, np.int64), np.empty(G, np.int64)
    before, after = np.empty((2, G)), np.empty((2, G))
    for g in range(G):
        e, o, at = events[g], others[g], g
        while at > 0 and before[0, at - 1] * o >= e * before[1, at - 1]:
            e, o, at = e + before[0, at - 1], o + before[1, at - 1], first[at - 1]
        before[0, g], before[1, g], first[g] = e, o, at
    for g in range(G - 1, -1, -1):
        e, o, at = events[g], others[g], g + 1
        while at < G and e * after[1, at] >= after[0, at] * o:
            e, o, at = e + after[0, at], o + after[1, at], last[at]
        after[0, g], after[1, g], last[g] = e, o, at
    return _Blocks(first, before, last, after)


@compiled()
def _fitted(events, others, blocks, at, more_events, more_others):
    """The shares of events and of others (m,) fitted at points (m,) whose weights change by so much, each on its own.

    The points on either side of the one that changes are pooled already. What is left is to pool that one with the
    blocks next to it, on whichever side one violates the order, for as long as one does.
    """
    first, before, last, after = blocks
    shares = np.empty((2, at.shape[0]))
    for q in range(at.shape[0]):
        low, high = at[q] - 1, at[q] + 1
        e = max(events[at[q]] + more_events[q], 0.0)
        o = max(others[at[q]] + more_others[q], 0.0)
        while True:
            if low >= 0 and before[0, low] * o >= e * before[1, low]:
                e, o, low = e + before[0, low], o + before[1, low], first[low] - 1
            elif high < events.shape[0] and e * after[1, high] >= after[0, high] * o:
                e, o, high = e + after[0, high], o + after[1, high], last[high]
            else:
                break
        shares[0, q], shares[1, q] = e / (e + o), o / (e + o)
    return shares[0], shares[1]
