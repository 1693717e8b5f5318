"""How well a fit does, from its arrays: likelihoods and weighted counts."""

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats

Booleans = NDArray[np.bool_]


def log_likelihood(each: Floats, weights: Floats) -> float:
    """Σ w_i log p_i over the rows of positive weight, of which alone log p_i (n,) must be finite.

    Examples
    --------
    >>> log_likelihood(np.array([-1.0, -2.0, -np.inf]), np.array([1.0, 2.0, 0.0]))
    -5.0
    """
    used = weights > 0
    return float(weights[used] @ each[used])


def null_deviance(codes: Codes, weights: Floats) -> float:
    """−2 Σ w_i log π_{y_i} with π the weighted frequencies of the classes (n,) 0, 1, … of rows of positive weight.

    Examples
    --------
    >>> round(null_deviance(np.array([1, 0]), np.array([2.0, 2.0])), 6)  # 8 log 2
    5.545177
    """
    used = weights > 0
    totals = np.bincount(codes[used], weights[used])
    return float(-2.0 * totals @ np.log(totals / totals.sum()))


def cross_table(observed: Codes | Booleans, predicted: Codes | Booleans, weights: Floats, size: int = 2) -> Floats:
    """Sums of weights (size, size), the observed in rows, the predicted in columns, False before True.

    Examples
    --------
    >>> cross_table(np.array([True, True]), np.array([True, False]), np.array([1.0, 2.5]))
    array([[0. , 0. ],
           [2.5, 1. ]])
    """
    used = weights > 0
    cells = np.bincount(size * observed[used] + predicted[used], weights[used], minlength=size**2)
    return cells.reshape(size, size).astype(float)


def share(which: Booleans, weights: Floats) -> float:
    """The weighted share of the rows for which it is true.

    Examples
    --------
    >>> share(np.array([True, False]), np.array([1.0, 3.0]))
    0.25
    """
    return float(weights[which].sum() / weights.sum())


def mean_cost(predicted: Booleans, observed: Booleans, weights: Floats, cost_fp: float, cost_fn: float) -> float:
    """(N_fn c_fn + N_fp c_fp) / n with weighted counts of false negatives and false positives.

    Examples
    --------
    >>> mean_cost(np.array([True, False]), np.array([False, True]), np.array([3.0, 1.0]), 1.0, 10.0)
    3.25
    """
    costs = np.where(observed, cost_fn, cost_fp)
    return float(weights @ (costs * (predicted != observed)) / weights.sum())


def best_shift(f: Floats, observed: Booleans, weights: Floats, cost_fp: float, cost_fn: float) -> tuple[float, float]:
    """The shift with which f + shift > 0 costs least, and that mean cost.

    Every shift between two neighbouring values of −f is the same rule. Of the best the one nearest to zero is taken:
    zero itself, or the middle of the gap.

    Parameters
    ----------
    f : (m,) decision values
    observed : (m,) whether the row is an event
    weights : (m,) case weights
    cost_fp, cost_fn : costs of a false positive and a false negative

    Examples
    --------
    >>> best_shift(np.array([-3.0, -2.0, -1.0]), np.array([False, True, True]), np.ones(3), 1.0, 1.0)
    (2.5, 0.0)
    """
    order = np.argsort(f, kind="stable")
    values, events = f[order], observed[order]
    w = weights[order] / weights.sum()
    missed = np.concatenate([[0.0], np.cumsum(np.where(events, cost_fn * w, 0.0))])
    alarms = np.concatenate([np.cumsum(np.where(events, 0.0, cost_fp * w)[::-1])[::-1], [0.0]])
    cost = missed + alarms  # of the rule that calls the lowest k rows no events
    apart = np.concatenate([[True], values[1:] > values[:-1], [True]])
    middle = 0.5 * (values[1:] + values[:-1])
    middle = np.where(middle < values[1:], middle, values[:-1])  # of neighbouring numbers it may be the upper one
    cuts = np.concatenate([[values[0] - 1.0], middle, [values[-1] + 1.0]])
    low = np.concatenate([[-np.inf], values])
    high = np.concatenate([values, [np.inf]])
    shifts = np.where((low <= 0.0) & (high > 0.0), 0.0, -cuts)
    least = cost[apart].min()
    good = np.flatnonzero(apart & (cost <= least + 1e-12 * (cost_fp + cost_fn)))
    chosen = good[np.argmin(np.abs(shifts[good]))]
    return float(shifts[chosen]), float(cost[chosen])


def support_counts(is_event: Booleans, free: Booleans, bounded: Booleans, weights: Floats) -> Floats:
    """Sums of weights (2, 4), the other class before the event: all rows, free, bounded, free or bounded.

    Examples
    --------
    >>> no, yes = np.array([False, False]), np.array([True, True])
    >>> support_counts(np.array([False, True]), free=yes, bounded=no, weights=np.array([1.0, 2.0]))
    array([[1., 1., 0., 1.],
           [2., 2., 0., 2.]])
    """
    kinds = (np.ones_like(free), free, bounded, free | bounded)
    return np.array([[weights[(is_event == event) & kind].sum() for kind in kinds] for event in (False, True)])
