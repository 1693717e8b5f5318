"""Conformal p-values of labels, class by class: how strange a row would be among the rows of a label.

With s(x, l) how strange x is for label l, and s_k that of row k for its own label by a fit without it,

    p(x, l) = (1 + Σ {w_k: y_k = l, s_k ≥ s(x, l)}) / (n_l + 1),    n_l = Σ {w_k: y_k = l}

and a set of labels at a level has those with p > 1 − level. Where the s_k and s come of one function that treats all
rows alike, and the rows of a label are exchangeable, p(x, y) is at most 1 − level with no larger probability than that,
label by label, over sample and new row together. Here s is by the fit to all rows and s_k by that without row k, which
differ by a row: as of the jackknife, nothing is guaranteed then without more [Barber, Candès, Ramdas & Tibshirani
2021], and the statement holds nearly where leaving a row out hardly moves f at others.

Where rows come in groups these are exchangeable, and not rows: all rows of a label in a group count as one together,
each with its share, and n_l is the number of groups with the label. The statement is then of a row that is drawn at
random from those of the label in a new group.

References: Vovk, Gammerman & Shafer (2005), Algorithmic learning in a random world, where sets class by class are
Mondrian; Lee, Barber & Willett (2023), Distribution-free inference with hierarchical data, for groups.
"""

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat.calibration.maps import LEAST
from svmstat.objective.units import Units
from svmstat.solver import TOLERANCE

_ROUNDING = 1e-12
"""p and 1 − level are equal if they differ by no more."""


def strangeness(f: Floats, probability: Floats, pairs: Codes) -> Floats:
    """How strange rows are for each label: of two −f for the first of the pair and f for the other; else −log p.

    Parameters
    ----------
    f : (m, P) decision values
    probability : (m, K) probabilities of the classes
    pairs : (P, 2) the classes of the pairs

    Returns
    -------
    (m, K) array

    Examples
    --------
    >>> strangeness(np.array([[1.5]]), np.array([[0.2, 0.8]]), np.array([[1, 0]]))
    array([[ 1.5, -1.5]])
    """
    if len(pairs) > 1:
        return np.asarray(-np.log(np.maximum(probability, LEAST)))
    found = np.empty((len(f), 2))
    found[:, pairs[0]] = np.column_stack([-f[:, 0], f[:, 0]])
    return found


def pvalues(scores: Floats, left_out: Floats, codes: Codes, weights: Floats, own: Floats | float = 0.0) -> Floats:
    """p of each label.

    Parameters
    ----------
    scores : (m, K) how strange the rows are for each label
    left_out : (n, K) the same of the rows of the fit, by fits without them; a row with NaN could not be left out, and
        counts as the strangest
    codes : (n,) classes of the rows of the fit
    weights : (n,) their case weights
    own : (m, K) what the rows themselves have in the sum over a label, and is not counted

    Returns
    -------
    (m, K) array
        NaN where a score is. Scores that differ by no more than the tolerance to which f is certified are equal.

    Examples
    --------
    >>> left_out = np.array([[0.5, -0.5], [-1.0, 1.0], [2.0, -2.0]])
    >>> pvalues(np.array([[0.0, 0.0]]), left_out, np.array([0, 0, 1]), np.ones(3))
    array([[0.66666667, 0.5       ]])
    """
    found = np.empty(scores.shape)
    taken = np.broadcast_to(own, scores.shape)
    for level in range(scores.shape[1]):
        of_it = np.flatnonzero((codes == level) & (weights > 0.0))
        known = left_out[of_it, level]
        known[np.isnan(known)] = np.inf
        order = np.argsort(known, kind="stable")
        below = np.concatenate([[0.0], np.cumsum(weights[of_it[order]])])
        total = below[-1] - taken[:, level]
        place = np.searchsorted(known[order], scores[:, level] - TOLERANCE)
        found[:, level] = (1.0 + total - below[place]) / (1.0 + total)
    found[np.isnan(scores)] = np.nan
    return found


def pvalues_of_left_out(left_out: Floats, codes: Codes, weights: Floats, units: Units | None = None) -> Floats:
    """p (n, K) of the rows of the fit, each by its own scores (n, K) and those of the other rows.

    It is what a new row of these scores would have if the row were not there, and so for the own label the rank among
    the rows of that label. A row of weight w is there w times, and one copy of it is not counted; of ``units`` none of
    the own unit is.
    """
    if units is not None:
        found = pvalues(left_out, left_out, codes, weights)
        for rows in units:
            others = weights.copy()
            others[rows] = 0.0
            found[rows] = pvalues(left_out[rows], left_out, codes, others)
        return found
    own = np.zeros(left_out.shape)
    known = np.flatnonzero(codes >= 0)
    own[known, codes[known]] = np.minimum(weights[known], 1.0)
    return pvalues(left_out, left_out, codes, weights, own)


def shared_within(weights: Floats, codes: Codes, units: Units) -> Floats:
    """Weights (n,) with which all rows of a class in one unit add up to one: units are exchangeable, and not rows.

    Examples
    --------
    >>> shared_within(np.ones(4), np.array([0, 0, 1, 0]), Units(np.array([0, 0, 0, 1]), 2, True))
    array([0.5, 0.5, 1. , 1. ])
    """
    known = (codes >= 0) & (weights > 0)
    members = np.zeros((len(codes), int(codes.max()) + 1))
    members[known, codes[known]] = weights[known]
    totals = units.sums(members)
    found = np.zeros(len(weights))
    found[known] = weights[known] / totals[units.of_row[known], codes[known]]
    return found


def sets(p: Floats, level: float) -> NDArray[np.bool_]:
    """Which labels are in the sets, p > 1 − level; the shape of p, False for NaN.

    Examples
    --------
    >>> sets(np.array([0.1, 0.11, np.nan]), 0.9)
    array([False,  True, False])
    """
    return np.nan_to_num(p) - (1.0 - level) > _ROUNDING
