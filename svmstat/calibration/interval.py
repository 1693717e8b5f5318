"""What decision values say of P(event | x) by the loss alone [002: section 3.2]: loss-implied intervals, and maps.

The interval has the probabilities that the loss cannot tell apart at an f. It is no confidence interval.

A loss with class weights L and margins m is, times κ, the negative log-likelihood of the upper probability for an event
and of one minus the lower probability for another row:

    p_high = exp(−κ L(+1) [m₊ − f]₊),    p_low = 1 − exp(−κ L(−1) [m₋ + f]₊)                           [002: 7]

The largest κ with p_low ≤ p_high everywhere gives the narrowest intervals. The difference p_high − p_low is convex
between −m₋ and m₊, its minimum is where the probability is P0 = L(−1) / (L(−1) + L(+1)), and it vanishes there for

    κ = (−log P0 / L(+1) − log(1 − P0) / L(−1)) / (m₊ + m₋)

which is log 2 for the plain hinge loss and ½ for the p0 loss of mean weight one.
"""

import numpy as np
from scipy.special import expit, expm1

from svmstat._tools.arrays import Floats
from svmstat.objective.losses import Loss, log_shares

POINTWISE = ("sollich", "semiparametric")


def tightest(loss: Loss) -> float:
    """The largest κ with p_low ≤ p_high everywhere, which gives the narrowest intervals.

    Examples
    --------
    >>> from svmstat.objective.losses import hinge, p0
    >>> round(tightest(hinge()), 6), round(tightest(p0(1.5, 0.5)), 6)
    (0.693147, 0.5)
    """
    log_p0, log_rest = log_shares(loss.weight_event, loss.weight_other)
    touching = -log_p0 / loss.weight_event - log_rest / loss.weight_other
    return touching / (loss.margin_event + loss.margin_other)


def touch(loss: Loss) -> float:
    """The f at which the narrowest interval is the point P0: 0 for the p0 loss and for equal class weights.

    Examples
    --------
    >>> from svmstat.objective.losses import hinge
    >>> round(touch(hinge(10 / 5.5, 1 / 5.5)), 4)
    -0.4312
    """
    log_p0, _ = log_shares(loss.weight_event, loss.weight_other)
    return float(loss.margin_event + log_p0 / (tightest(loss) * loss.weight_event))


def probability_interval(f: Floats, loss: Loss, tightness: float = 1.0) -> tuple[Floats, Floats]:
    """The loss-implied interval of P(event): p_low and p_high, each of the shape of f; NaN for NaN.

    Parameters
    ----------
    f : decision values, any shape
    loss : margins and class weights
    tightness : share of the largest admissible κ, in (0, 1]; smaller values give wider intervals around these

    Examples
    --------
    >>> from svmstat.objective.losses import hinge
    >>> low, high = probability_interval(np.array([-1.0, 0.0, 0.5, 1.0]), hinge())
    >>> low.round(3), high.round(3)
    (array([0.   , 0.5  , 0.646, 0.75 ]), array([0.25 , 0.5  , 0.707, 1.   ]))
    """
    kappa = tightness * tightest(loss)
    high = np.exp(-kappa * loss.weight_event * np.maximum(loss.margin_event - f, 0.0))
    low = -expm1(-kappa * loss.weight_other * np.maximum(loss.margin_other + f, 0.0))
    return np.minimum(low, high), high  # where they touch, rounding might cross them


def pointwise(f: Floats, loss: Loss, kind: str) -> Floats:
    """P(event) by a map whose values lie in the narrowest interval; the shape of f, NaN for NaN.

    sollich          p_high / (p_high + 1 − p_low), which is [002: 8] for the plain hinge loss
    semiparametric   the logistic function that touches both ends where they meet, 1/(1 + 4^−f) for it [002: 9]

    Examples
    --------
    >>> from svmstat.objective.losses import hinge
    >>> pointwise(np.array([-0.5, 0.0, 2.0]), hinge(), "semiparametric").round(4)
    array([0.3333, 0.5   , 0.9412])
    """
    if kind == "sollich":
        low, high = probability_interval(f, loss)
        return np.asarray(high / (high + (1.0 - low)))
    log_p0, log_rest = log_shares(loss.weight_event, loss.weight_other)
    slope = tightest(loss) * (loss.weight_event + loss.weight_other)
    return np.asarray(expit(log_p0 - log_rest + slope * (f - touch(loss))))
