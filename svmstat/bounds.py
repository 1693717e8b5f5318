"""The vocabulary of resampling: what is left out or repeated, as upper bounds of the one problem.

A row of upper bounds u_i = C · w_i · L(y_i) describes a fit on altered data with the kernel matrix unchanged (spec,
section 1): u_k = 0 leaves row k out.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def weighted(C: float, weights: Floats, class_weight: Floats) -> Floats:
    """u_i = C · w_i · L(y_i), (n,).

    Parameters
    ----------
    C : cost, > 0
    weights : (n,) case weights w ≥ 0
    class_weight : (n,) L(y_i) > 0 of each row's class

    Examples
    --------
    >>> weighted(2.0, np.array([1.0, 3.0]), np.array([1.0, 0.5]))
    array([2., 3.])
    """
    return C * weights * class_weight


def deletions(upper: Floats, weights: Floats, rows: NDArray[np.intp], copies: Floats) -> Floats:
    """A part of each row in turn left out: u_k falls by the share copies_k / w_k.

    Parameters
    ----------
    upper : (n,) bounds of the full fit
    weights : (n,) case weights behind them
    rows : (B,) which rows, each with w_k > 0
    copies : (B,) how much of the weight to take away, ≤ w_k

    Returns
    -------
    (B, n) upper bounds

    Examples
    --------
    >>> deletions(np.array([2.0, 6.0]), np.array([1.0, 3.0]), np.array([0, 1]), np.ones(2))
    array([[0., 6.],
           [2., 4.]])
    """
    uppers = np.tile(upper, (len(rows), 1))
    left = (weights[rows] - copies) / weights[rows]
    uppers[np.arange(len(rows)), rows] = upper[rows] * left
    return uppers


def counts(upper: Floats, weights: Floats, copies: Floats) -> Floats:
    """Every row as often as ``copies`` says: u_i rises or falls by the share copies_i / w_i.

    Parameters
    ----------
    upper : (n,) bounds of the full fit
    weights : (n,) case weights w > 0 behind them
    copies : (B, n) weights of the rows in each replicate, ≥ 0

    Returns
    -------
    (B, n) upper bounds

    Examples
    --------
    >>> counts(np.array([2.0, 6.0]), np.array([1.0, 3.0]), np.array([[0.0, 4.0]]))
    array([[0., 8.]])
    """
    return copies * (upper / weights)


def folds(upper: Floats, fold: NDArray[np.intp], k: int) -> Floats:
    """Each of k folds in turn left out: u_i = 0 for the rows of the fold.

    Parameters
    ----------
    upper : (n,) bounds of the full fit
    fold : (n,) the fold of each row, 0 … k − 1
    k : number of folds

    Returns
    -------
    (k, n) upper bounds

    Examples
    --------
    >>> folds(np.array([2.0, 6.0, 4.0]), np.array([0, 1, 0]), 2)
    array([[0., 6., 0.],
           [2., 0., 4.]])
    """
    return np.where(fold == np.arange(k)[:, None], 0.0, upper)
