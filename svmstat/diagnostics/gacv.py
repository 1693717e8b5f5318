"""GACV, the generalized approximate cross validation of Lin, Wahba, Zhang & Lee, and what it estimates.

With f the fit, f^{[−k]} that without row k, w the case weights and L the class weights:

    V₀    (1/Σw) Σ_k w_k L_k [1 − y_k f^{[−k]}(x_k)]₊              leave-one-out        [000: section 4]
    OBS   (1/Σw) Σ_k w_k L_k [1 − y_k f(x_k)]₊                     the fit on its own rows
    D̂     (1/Σw) Σ_k w_k L_k a_k K_kk (2 if y_k f(x_k) < −1, 1 if y_k f(x_k) ∈ [−1, 1])        [000: 12]
    GACV  OBS + D̂, which approximates V₀
    GCKL  (1/Σw) Σ_k w_k {L(+1) p_k [1 − f(x_k)]₊ + L(−1) (1 − p_k) [1 + f(x_k)]₊}, the expectation over new labels

a_k = α_k / w_k is the dual variable per copy of the row; the α of [000] is a_k / C, and their 1/(2nλ) is C. a_k K_kk is
what the paper takes for the derivative in its (12); L is that of its section 5.
"""

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat.machine import Machine
from svmstat.objective.losses import Loss

_ROUNDING = 1e-7
"""A row this near to the other margin is on it, as rows are of which both labels occur at one x."""


def gacv(f: Floats, y: Floats, weights: Floats, alpha: Floats, diagonal: Floats, loss: Loss) -> float:
    """The GACV of a fit with the hinge loss.

    Parameters
    ----------
    f : (n,) decision values
    y : (n,) labels, −1 or +1
    weights : (n,) case weights ≥ 0
    alpha : (n,) dual variables, those of all copies of a row together
    diagonal : (n,) K(x_i, x_i)
    loss : class weights

    Examples
    --------
    >>> from svmstat.objective.losses import hinge
    >>> f, y = np.array([1.0, -1.5]), np.array([1.0, 1.0])
    >>> gacv(f, y, np.ones(2), np.array([0.5, 1.0]), np.ones(2), hinge())  # (0 + 2.5 + 0.5 + 2) / 2
    2.5
    """
    return observed_loss(f, y, weights, loss) + optimism(f, y, weights, alpha, diagonal, loss)


def machine_gacv(machine: Machine) -> float:
    """The GACV of a machine of two classes; rows of weight zero take no part."""
    f, y, alpha = machine.decision_values[:, 0], machine.signs[:, 0], machine.alpha[:, 0]
    return gacv(f, y, machine.weights, alpha, machine.diagonal, machine.pairs[0].loss)


def observed_loss(f: Floats, y: Floats, weights: Floats, loss: Loss) -> float:
    """The weighted mean loss (1/Σw) Σ w L [m − y f]₊: OBS for f the fit, V₀ for f its leave-one-out values."""
    used = weights > 0
    return float(weights[used] @ loss.values(f[used], y[used]) / weights.sum())


def optimism(f: Floats, y: Floats, weights: Floats, alpha: Floats, diagonal: Floats, loss: Loss) -> float:
    """D̂ [000: 12]. Rows with y f > 1 have α = 0, so that one sum over all rows does for y f ∈ [−1, 1]."""
    beyond = y * f < -1.0 - _ROUNDING
    each = loss.class_weight(y) * alpha * diagonal * np.where(beyond, 2.0, 1.0)
    return float(each.sum() / weights.sum())


def gckl(f: Floats, truth: Floats, weights: Floats, loss: Loss) -> float:
    """The generalized comparative Kullback-Leibler distance, for known P(event | x) = ``truth`` (n,).

    Examples
    --------
    >>> from svmstat.objective.losses import hinge
    >>> gckl(np.array([1.0, -1.0]), np.array([1.0, 0.25]), np.ones(2), hinge())  # (0 + 0.25 · 2) / 2
    0.25
    """
    events, others = np.ones(len(f)), -np.ones(len(f))
    each = truth * loss.values(f, events) + (1.0 - truth) * loss.values(f, others)
    used = weights > 0
    return float(weights[used] @ each[used] / weights.sum())
