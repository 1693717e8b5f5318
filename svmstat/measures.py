"""How well a fit does, from its arrays: likelihoods and weighted counts."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
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


def null_deviance(y: Floats, weights: Floats) -> float:
    """−2 Σ w_i log π_{y_i} with π the weighted frequencies of the classes y (n,) in {−1, +1}.

    Examples
    --------
    >>> round(null_deviance(np.array([1.0, -1.0]), np.array([2.0, 2.0])), 6)  # 8 log 2
    5.545177
    """
    totals = np.array([weights[y > 0].sum(), weights[y < 0].sum()])
    return float(-2.0 * totals @ np.log(totals / totals.sum()))


def cross_table(observed: Booleans, predicted: Booleans, weights: Floats) -> Floats:
    """Sums of weights (2, 2), the observed in rows, the predicted in columns, False before True.

    Examples
    --------
    >>> cross_table(np.array([True, True]), np.array([True, False]), np.array([1.0, 2.5]))
    array([[0. , 0. ],
           [2.5, 1. ]])
    """
    cells = np.bincount(2 * observed + predicted, weights, minlength=4)
    return cells.reshape(2, 2).astype(float)


def share(which: Booleans, weights: Floats) -> float:
    """The weighted share of the rows for which it is true.

    Examples
    --------
    >>> share(np.array([True, False]), np.array([1.0, 3.0]))
    0.25
    """
    return float(weights[which].sum() / weights.sum())


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
