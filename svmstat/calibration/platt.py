"""Platt's map p = 1/(1 + exp(A f + B)) from decision values to probabilities.

References: Platt (1999), Probabilistic outputs for support vector machines; Lin, Lin & Weng (2007), A note on Platt's
probabilistic outputs for support vector machines, Machine Learning 68.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.compiled import compiled, sum_of
from svmstat.calibration.exponential import exp_of_negative
from svmstat.calibration.series import Series, newton_step, risen_without, series_of, step_without, without_rows

_MOST_STEPS = 100
_DECREMENT = 1e-20
"""Newton decrement, relative to the curvature in B, at which A and B have ten digits whatever the weights are: at the
mean of the values, and fewer where one of them is far out."""


_SHORTEST = 1e-30
"""Of a step from where the curvature of one class underflows no more may be right."""

_SAME = 1e-12
"""Up to so large a standard deviation, as a share of the mean or of 1, values are equal."""

_LEVEL = 1e-9
"""A standard deviation of the values that moves the log odds by less moves them by rounding."""


@dataclass(frozen=True, slots=True)
class Platt:
    """A fitted map from decision values to probabilities, p = 1/(1 + exp(A f + B)).

    Attributes
    ----------
    slope, intercept : A and B
    converged : whether Newton's method reached the minimum
    kind : which decision values it was fitted to, "insample", "loo" or "kfold"
    """

    slope: float
    intercept: float
    converged: bool
    kind: str

    def probability(self, f: Floats) -> Floats:
        """P(event) for decision values f of any shape; NaN for NaN."""
        z = self.slope * f + self.intercept
        small = np.exp(-np.abs(z))
        return np.where(z >= 0, small, 1.0) / (1.0 + small)

    def log_likelihoods(self, f: Floats, y: Floats) -> Floats:
        """log p_{y_i}(x_i) for decision values f (n,) and labels y (n,), without loss of digits near p = 1."""
        return -np.logaddexp(0.0, y * (self.slope * f + self.intercept))


def fit_platt(f: Floats, y: Floats, weights: Floats, kind: str = "insample", near: Platt | None = None) -> Platt:
    """Fit A and B by weighted cross-entropy with targets (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2).

    Parameters
    ----------
    f : (n,) decision values
    y : (n,) labels, −1 or +1
    weights : (n,) case weights; N₊ and N₋ are their sums
    kind : where the decision values come from; of held-out ones A ≤ 0, see `fit_falling_map`
    near : the map of similar values, where Newton's method is to set off

    Returns
    -------
    Platt
        Always finite. With constant decision values A = 0 and p is a smoothed class frequency, of held-out ones the
        class frequency itself.

    Examples
    --------
    >>> platt = fit_platt(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1.0, -1.0, 1.0, 1.0]), np.ones(4))
    >>> platt.converged, bool(platt.slope < 0)
    (True, True)
    """
    fitted = fit_map if kind == "insample" else fit_falling_map
    start = (np.nan, np.nan) if near is None else (near.slope, near.intercept)
    slope, intercept, converged = fitted(f, y, weights, *start)
    return Platt(float(slope), float(intercept), bool(converged), kind)


@compiled()
def fit_map(f, y, weights, slope, intercept):
    """A, B and whether Newton's method reached the minimum; f, y, weights (n,).

    It sets off from (slope, intercept), the map of a similar sample, or if these are NaN from the class frequencies.
    """
    a, b, converged, _, _, _ = _fitted(f, y, weights, slope, intercept)
    return a, b, converged


@compiled(inside=True)
def _fitted(f, y, weights, slope, intercept):
    """The same, with the standard deviation of f and the sums of weights of events and others."""
    n = f.shape[0]
    n_event, n_other, center = 0.0, 0.0, 0.0
    for i in range(n):
        center += weights[i] * f[i]
        if y[i] > 0.0:
            n_event += weights[i]
        else:
            n_other += weights[i]
    if n_event + n_other == 0.0:
        return 0.0, 0.0, False, 0.0, 0.0, 0.0
    center /= n_event + n_other
    scale = 0.0
    for i in range(n):
        scale += weights[i] * (f[i] - center) ** 2
    scale = np.sqrt(scale / (n_event + n_other))
    constant = _is_constant(center, scale)

    doubts, x = np.empty(n), np.zeros(n)
    for i in range(n):
        doubts[i] = 1.0 / (n_event + 2.0) if y[i] > 0.0 else 1.0 / (n_other + 2.0)
        if not constant:
            x[i] = (f[i] - center) / scale
    a, b, converged = 0.0, 0.0, False
    if not (constant or np.isnan(slope + intercept)):
        a, b, converged = _newton(x, y, doubts, weights, slope * scale, intercept + slope * center)
    if not converged:
        b = np.log((n_other + 1.0) / (n_event + 1.0))
        a, b, converged = _newton(x, y, doubts, weights, 0.0, b)
    if constant:
        return 0.0, b, converged, scale, n_event, n_other
    return a / scale, b - a / scale * center, converged, scale, n_event, n_other


@compiled()
def fit_falling_map(f, y, weights, slope, intercept):
    """`fit_map` with A ≤ 0, so that p never falls where f rises: where it would, or f is constant, p is the frequency.

    Without signal the held-out value of a row falls with the row's own label, since leaving it out moves b against it.
    A map that turns that round would predict noise.
    """
    a, b, converged, deviation, n_event, n_other = _fitted(f, y, weights, slope, intercept)
    a, b = _falling(a, b, deviation, n_event, n_other)
    return a, b, converged


@compiled(inside=True)
def _falling(a, b, deviation, n_event, n_other):
    """A and B, or those of the frequency of events where A would not be negative and both classes have rows.

    An A that is 0 in exact arithmetic, as where the values of both classes have one mean, is so by its digits only.
    """
    if a * deviation < -_LEVEL or not n_event * n_other > 0.0:
        return a, b
    return 0.0, np.log(n_other / n_event)


def fit_maps_without(
    f: Floats, y: Floats, weights: Floats, start: Codes, which: Codes, copies: Floats, slope: float, intercept: float,
    maps: Floats, converged: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Fill ``maps`` (2, D), A ≤ 0 and B, and ``converged`` (D,) without ``copies`` (E,) of the rows ``which`` (E,).

    Those of each deletion are from ``start`` (D + 1,); f, y, weights (n,); slope, intercept: the map of all rows.
    """
    maps_by_series(f, y, weights, start, which, copies, slope, intercept, maps, converged)
    for d in np.flatnonzero(~converged):
        some, left = slice(start[d], start[d + 1]), weights.copy()
        np.subtract.at(left, which[some], copies[some])
        maps[0, d], maps[1, d], converged[d] = fit_falling_map(f, y, left, slope, intercept)


@compiled()
def maps_by_series(f, y, weights, start, which, copies, slope, intercept, maps, converged):
    """The same where the series of the cross-entropy tells; ``converged`` is false elsewhere."""
    around = series_at(f, y, weights, slope, intercept)
    sums = around.series.left_sums
    for d in range(start.shape[0] - 1):
        a, b, converged[d] = map_without(around, y, which, copies, start[d], start[d + 1])
        maps[0, d], maps[1, d] = _falling(a, b, around.scale, sums[1, 0], sums[0, 0])


class Around(NamedTuple):
    """A map A, B of values with this mean and standard deviation: (a, b) of the standardised ones, and its series."""

    series: Series
    center: float
    scale: float
    a: float
    b: float


@compiled(inside=True)
def series_at(f, y, weights, slope, intercept):
    """The series of the cross-entropy around a map; f, y, weights (n,)."""
    n, x = f.shape[0], np.empty(f.shape[0])
    center, scale = _standardise(f, weights, x)
    a, b = slope * scale, intercept + slope * center
    slopes, curvatures, once = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        once[i] = 1.0
    _derivatives(x, y, np.zeros(n), once, a, b, slopes, curvatures)
    return Around(series_of(x, y, weights, slopes, curvatures), center, scale, a, b)


@compiled(inside=True, borrowing=True)
def map_without(around, y, which, copies, start, stop):
    """A, B without ``copies`` of some rows ``which``, from ``start`` to ``stop`` of both, and whether these are so."""
    without_rows(around.series, y, which, copies, start, stop)
    step_a, step_b, known = step_without(around.series)
    slope = (around.a + step_a) / around.scale
    return slope, around.b + step_b - slope * around.center, known


@compiled(inside=True, borrowing=True)
def deviance_risen(around, y, which, copies, start, stop):
    """What the deviance of the rows that `map_without` has left, by their map, is more than that of all by theirs."""
    series, risen = around.series, risen_without(around.series)
    for e in range(start, stop):
        s = y[which[e]] * (around.a * series.x[which[e]] + around.b)
        risen -= copies[e] * (max(s, 0.0) + np.log1p(np.exp(-abs(s))))
    return 2.0 * risen


@compiled(inside=True)
def _standardise(f, weights, x):
    """Write (f − mean) / standard deviation into x (n,), zero where f is constant; the mean and standard deviation."""
    total, mean, squares = 0.0, 0.0, 0.0
    for i in range(f.shape[0]):
        total += weights[i]
        mean += weights[i] * f[i]
    mean /= total
    for i in range(f.shape[0]):
        squares += weights[i] * (f[i] - mean) ** 2
    deviation = np.sqrt(squares / total)
    constant = _is_constant(mean, deviation)
    for i in range(f.shape[0]):
        x[i] = 0.0 if constant else (f[i] - mean) / deviation
    return mean, deviation


@compiled(inside=True)
def _is_constant(mean, deviation):
    """Whether values with this mean and standard deviation are equal but for rounding."""
    return deviation <= _SAME * max(1.0, abs(mean))


@compiled()
def deviance(f, y, weights, slope, intercept):
    """−2 Σ w log p of the labels y under the map, without loss of digits near p = 1; f, y, weights (n,).

    Σ log(1 + s) over rows of weight one is log(1 + q) with 1 + q = Π (1 + s): one logarithm for many rows.
    """
    small, total = np.empty(f.shape[0]), 0.0
    for i in range(f.shape[0]):
        small[i] = exp_of_negative(-abs(slope * f[i] + intercept))
    q = 0.0
    for i in range(f.shape[0]):
        if weights[i] == 0.0:
            continue
        total += weights[i] * max(y[i] * (slope * f[i] + intercept), 0.0)
        if weights[i] == 1.0:
            q = small[i] + q * (1.0 + small[i])
            if q > 1e100:
                total += np.log1p(q)
                q = 0.0
        else:
            total += weights[i] * np.log1p(small[i])
    return 2.0 * (total + np.log1p(q))


@compiled(inside=True)
def _cross_entropy(x, y, doubts, weights, a, b):
    """−Σ w [(1 − q) log p_y + q log(1 − p_y)], p_y = 1/(1 + exp(y (a x + b))) being the probability of the own label.

    q = 1/(N_y + 2), by which a target falls short of one, has digits that the target has not where N_y is large.
    """
    total = 0.0
    for i in range(x.shape[0]):
        s = y[i] * (a * x[i] + b)
        total += weights[i] * ((max(s, 0.0) - doubts[i] * s) + np.log1p(np.exp(-abs(s))))
    return total


@compiled(inside=True)
def _newton(x, y, doubts, weights, a, b):
    """Newton's method from (a, b), with backtracking far from the minimum; returns (a, b, converged)."""
    previous = np.inf
    slopes, curvatures = np.empty(x.shape[0]), np.empty(x.shape[0])
    for _ in range(_MOST_STEPS):
        _derivatives(x, y, doubts, weights, a, b, slopes, curvatures)
        g_a, g_b, h_aa, h_ab, h_bb = 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(x.shape[0]):
            curved = curvatures[i] * x[i]
            g_a += slopes[i] * x[i]
            g_b += slopes[i]
            h_aa += curved * x[i]
            h_ab += curved
            h_bb += curvatures[i]
        step_a, step_b, decrement = newton_step(g_a, g_b, h_aa, h_ab, h_bb)
        if decrement == np.inf:
            return a, b, False  # so far off that every curvature underflows
        if decrement <= _DECREMENT * h_bb:
            return a, b, True
        if decrement <= 1e-8 * h_bb and decrement**3 <= _DECREMENT * h_bb * previous**2 < np.inf:
            return a + step_a, b + step_b, True  # converging quadratically, the next is decrement³ / previous²
        if decrement <= 1e-2 * h_bb and decrement < previous:
            length = 1.0  # Newton's steps shrink quadratically from here on
        else:
            length = _backtracked(x, y, doubts, weights, a, b, step_a, step_b, decrement)
            if length == 0.0:
                return a, b, False
        previous = decrement
        a += length * step_a
        b += length * step_b
    return a, b, False


@compiled(inside=True)
def _derivatives(x, y, doubts, weights, a, b, slopes, curvatures):
    """First and second derivatives of each row's cross-entropy by a x + b; all (n,)."""
    for i in range(x.shape[0]):
        s = y[i] * (a * x[i] + b)
        small = exp_of_negative(-abs(s))
        large = 1.0 / (1.0 + small)
        wrong = large if s >= 0.0 else small * large
        slopes[i] = weights[i] * y[i] * (wrong - doubts[i])
        curvatures[i] = weights[i] * small * large * large


@compiled(inside=True)
def _backtracked(x, y, doubts, weights, a, b, step_a, step_b, decrement):
    """The first of 1, ½, ¼, … by which the step lowers the cross-entropy enough, 0 if none does."""
    value = _cross_entropy(x, y, doubts, weights, a, b)
    length = 1.0
    while length >= _SHORTEST:
        candidate = _cross_entropy(x, y, doubts, weights, a + length * step_a, b + length * step_b)
        if candidate < value - 1e-4 * length * decrement:
            return length
        if decrement <= 1e-12 * sum_of(weights) and candidate <= value + 1e-13 * abs(value):
            return length  # near the minimum rounding hides the decrease, and Newton's step is right
        length *= 0.5
    return 0.0
