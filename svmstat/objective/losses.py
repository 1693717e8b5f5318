"""Loss functions as what they change in the one problem: margins m and class weights L."""

import math
from dataclasses import dataclass

import numpy as np

from svmstat._tools.arrays import Floats

NAMES = ("hinge", "p0")


@dataclass(frozen=True, slots=True)
class Loss:
    """u_i [m_i − y_i f(x_i)]₊ with u_i = C · w_i · L(y_i).

    Attributes
    ----------
    name : str
    margin_event, margin_other : margins m of the two classes
    weight_event, weight_other : class weights L of the two classes
    """

    name: str
    margin_event: float
    margin_other: float
    weight_event: float
    weight_other: float

    def margin(self, y: Floats) -> Floats:
        """(n,) m_i for labels y in {−1, +1}."""
        return np.where(y > 0, self.margin_event, self.margin_other)

    def class_weight(self, y: Floats) -> Floats:
        """(n,) L(y_i) for labels y in {−1, +1}."""
        return np.where(y > 0, self.weight_event, self.weight_other)

    def values(self, f: Floats, y: Floats) -> Floats:
        """(n,) L(y_i) [m_i − y_i f_i]₊ for decision values f (n,) and labels y (n,)."""
        return self.class_weight(y) * np.maximum(self.margin(y) - y * f, 0.0)

    @property
    def threshold(self) -> float:
        """P0 = L(−1) / (L(−1) + L(+1)): the Bayes rule predicts the event where P(event | x) exceeds it [000: 19]."""
        return self.weight_other / (self.weight_event + self.weight_other)


def hinge(weight_event: float = 1.0, weight_other: float = 1.0) -> Loss:
    """The hinge loss L(y) [1 − y f]₊ [000: 20], [002: 10].

    Examples
    --------
    >>> hinge(weight_event=2.0).class_weight(np.array([-1.0, 1.0]))
    array([1., 2.])
    """
    return Loss("hinge", 1.0, 1.0, weight_event, weight_other)


def p0(weight_event: float = 1.0, weight_other: float = 1.0) -> Loss:
    """Twice the loss of [002: 11], tangent at f = 0 to a negative log-likelihood with P(event | x) = P0 there.

    Class weights have mean one, so that C is half of the paper's. With L(+1) = 2(1 − P0) and L(−1) = 2 P0 an event
    costs 2[−log P0 − (1 − P0) f]₊ and another row 2[−log(1 − P0) + P0 f]₊.

    Examples
    --------
    >>> loss = p0(weight_event=1.5, weight_other=0.5)
    >>> loss.threshold, round(loss.margin_event, 4), round(loss.margin_other, 4)
    (0.25, 1.8484, 1.1507)
    """
    log_p0, log_rest = log_shares(weight_event, weight_other)
    ratio = weight_event / weight_other
    return Loss("p0", -log_p0 * (1.0 + 1.0 / ratio), -log_rest * (1.0 + ratio), weight_event, weight_other)


def log_shares(weight_event: float, weight_other: float) -> tuple[float, float]:
    """log P0 and log(1 − P0), also where one of them is near zero."""
    return -math.log1p(weight_event / weight_other), -math.log1p(weight_other / weight_event)


def make_loss(name: str, weight_event: float, weight_other: float) -> Loss:
    """The loss of that name, one of `NAMES`, with the class weights."""
    return {"hinge": hinge, "p0": p0}[name](weight_event, weight_other)


def bayes_weights(cost_fp: float, cost_fn: float, sample_event: float, target_event: float) -> tuple[float, float]:
    """L(+1) and L(−1), with mean one, for which the Bayes rule costs least in the target population [000: 18].

    Parameters
    ----------
    cost_fp, cost_fn : costs of a false positive and of a false negative, > 0
    sample_event, target_event : shares of the event in the sample and in the target population, in (0, 1)

    Returns
    -------
    float, float
        Both zero where all doubles underflow, which no bound can be made of.

    Examples
    --------
    Costs 1 and 2, 40 % events in the sample and 10 % in the population [000: section 5]:

    >>> event, other = bayes_weights(1.0, 2.0, 0.4, 0.1)
    >>> round(event, 6), round(other, 6)  # in the proportion 0.12 : 0.36
    (0.5, 1.5)
    """
    _, power = math.frexp(max(cost_fp, cost_fn))  # by a power of two, for tiny and huge costs to be what their ratio is
    event = math.ldexp(cost_fn, -power) * (1.0 - sample_event) * target_event
    other = math.ldexp(cost_fp, -power) * sample_event * (1.0 - target_event)
    total = event + other
    return (2.0 * event / total, 2.0 * other / total) if total > 0.0 else (0.0, 0.0)
