"""How well probabilities predict, each number with its standard error; a row of weight w counts as w rows.

Where there are units, weights count in numbers as before, and standard errors are over units.

References: Brier (1950); Cox (1958), Two further applications of a model for binary regression; DeLong, DeLong &
Clarke-Pearson (1988), Comparing the areas under two or more correlated receiver operating characteristic curves;
Obuchowski (1997), Nonparametric analysis of clustered ROC curve data.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from svmstat._tools.arrays import Codes, Floats
from svmstat.objective.units import Units

_MOST_STEPS, _NEAR, _SHORTEST = 100, 1e-3, 1e-12
"""Of Newton's method; the change of a logit up to which a step is taken whole; the share of one that is tried last."""
_ROUNDING = 1e-12
_SMALL = float(np.finfo(float).tiny)
_STRIDE = 4.0
"""The largest logit of the line that is set off from."""


class Estimate(NamedTuple):
    """A number and its standard error, NaN where there is none."""

    value: float
    se: float


class Line(NamedTuple):
    """Intercept and slope of a logistic regression."""

    intercept: Estimate
    slope: Estimate


def spread(deviations: Floats, weights: Floats, units: Units | None = None) -> float:
    """Σ w d² for deviations d (n,) with Σ w d = 0, the square of the standard error of the sum of independent copies.

    Of G units of N = Σw rows, which are independent of each other but not within, G/(G − 1) · (N − 1)/N times the sum
    of the squares of their sums Σ w d: that is the same where each is a row of weight one. Without (N − 1)/N it is of a
    mean the variance by linearisation, units being drawn with all that belongs to them [Cochran 1977: chapter 9A].
    Weights of single rows that are no repeats do not count these: N is G.

    Examples
    --------
    >>> d, each = np.array([1.0, 1.0, -2.0]), Units(np.array([0, 0, 1]), 2, True)
    >>> spread(d, np.ones(3)), spread(d, np.ones(3), each)
    (6.0, 10.666666666666666)
    """
    if units is None:
        return float(weights @ deviations**2)
    N = max(float(weights.sum()), units.count) if units.grouped else units.count
    return _of_units(deviations, weights, units) * (N - 1.0) / N


def _of_units(deviations: Floats, weights: Floats, units: Units) -> float:
    """The variance of Σ w d by linearisation."""
    return float((units.sums(weights * deviations) ** 2).sum()) * _unbiased(units.count)


def score(log_likelihood: Floats, weights: Floats, units: Units | None = None) -> Estimate:
    """−2 Σ w log π of rows (n,), with 2 √(N · variance of log π), N = Σw; of ``units`` by `spread`.

    Examples
    --------
    >>> score(np.log([0.5, 0.5, 0.25]), np.ones(3)).value  # 8 log 2
    5.545177444479562
    """
    value = -2.0 * float(weights @ log_likelihood) + 0.0
    se = 2.0 * float(np.sqrt(weights.sum() * variance(log_likelihood, weights, units)))
    return Estimate(value, 0.0 if se < _ROUNDING * abs(value) else se)


def score_difference(log_likelihood: Floats, other: Floats, weights: Floats, units: Units | None = None) -> Estimate:
    """The `score` of rows (n,) minus that of another forecast of the same rows, paired; no rows differ by rounding.

    Examples
    --------
    >>> score_difference(np.log([0.5, 0.5]), np.log([0.25, 0.5]), np.ones(2)).value  # −2 log 2
    -1.3862943611198906
    """
    each = log_likelihood - other
    return score(np.where(np.abs(each) <= _ROUNDING, 0.0, each), weights, units)


def rsquared(log_likelihood: Floats, null: Floats, weights: Floats, units: Units | None = None) -> Estimate:
    """1 − Σ w log π / Σ w log π₀ for the null's log π₀ (n,); the standard error by the delta method.

    Where π is π₀ up to rounding it is 0.
    """
    of_null = float(weights @ null)
    ratio = float(weights @ log_likelihood) / of_null
    se = np.sqrt(weights.sum() * variance(log_likelihood - ratio * null, weights, units))
    return Estimate(beyond_rounding(1.0 - ratio), float(se) / abs(of_null))


def beyond_rounding(rsquared: float) -> float:
    """R², zero where rounding may have made it: what it says of the class frequencies must not hang on that.

    Examples
    --------
    >>> beyond_rounding(6e-16), beyond_rounding(-0.01)
    (0.0, -0.01)
    """
    return 0.0 if abs(rsquared) < _ROUNDING else rsquared


def null_log_likelihoods(codes: Codes, weights: Floats, left_out: bool, units: Units | None = None) -> Floats:
    """(n,) logarithm of the frequency of the row's class among all rows, or among the others if it is left out.

    The others are all copies of rows but one; or the rows of other ``units``.

    Examples
    --------
    >>> np.exp(null_log_likelihoods(np.array([0, 0, 1]), np.array([1.0, 1.0, 2.0]), left_out=True)).round(4)
    array([0.3333, 0.3333, 0.3333])
    """
    totals = np.bincount(codes, weights).astype(float)
    if left_out and units is not None:
        members = np.eye(len(totals))[codes] * weights[:, None]
        others = units.others(members)
        own, left = others[np.arange(len(codes)), codes].copy(), others.sum(axis=1)
        own[own <= _ROUNDING * totals[codes]] = 0.0
    else:
        out = np.minimum(weights, 1.0) if left_out else 0.0
        own, left = totals[codes] - out, weights.sum() - out
    return _logs_of_shares(own, left)


def seen_log_likelihoods(codes: Codes, seen: Floats) -> Floats:
    """(n,) the same among the rows that the fit of each row has seen: ``seen`` (n, K), weights of their classes.

    Examples
    --------
    >>> np.exp(seen_log_likelihoods(np.array([0, 1]), np.array([[1.0, 3.0], [2.0, 2.0]]))).round(4)
    array([0.25, 0.5 ])
    """
    return _logs_of_shares(seen[np.arange(len(codes)), codes], seen.sum(axis=1))


def _logs_of_shares(own: Floats, all_of_them: Floats) -> Floats:
    known = own > 0
    shares = np.divide(own, all_of_them, out=np.ones(len(own)), where=known)
    return np.where(known, np.log(shares), np.nan)


def brier(probability: Floats, codes: Codes, weights: Floats, units: Units | None = None) -> Estimate:
    """Mean square of 1{y = event} − π for two classes; of more the mean sum of squares over the classes [Brier 1950].

    Examples
    --------
    >>> brier(np.array([[0.8, 0.2], [0.5, 0.5]]), np.array([0, 1]), np.ones(2)).value
    0.145
    """
    observed = codes[:, None] == np.arange(probability.shape[1])
    each = ((observed - probability) ** 2).sum(axis=1)
    return _mean(each / 2.0 if probability.shape[1] == 2 else each, weights, units)


def proportion(which: NDArray[np.bool_], weights: Floats, units: Units | None = None) -> Estimate:
    """The weighted share of rows for which it is true, with √(p (1 − p)/N); of ``units`` by `spread`.

    Examples
    --------
    >>> proportion(np.array([True, False]), np.array([1.0, 3.0])).value
    0.25
    """
    total = weights.sum()
    share = min(float(weights[which].sum() / total), 1.0) if total > 0 else np.nan
    if units is not None and total > 0:
        return Estimate(share, float(np.sqrt(spread(which.astype(float) - share, weights, units))) / float(total))
    return Estimate(share, float(np.sqrt(share * (1.0 - share) / total)))


def auc(
    values: Floats, event: NDArray[np.bool_], weights: Floats, units: Units | None = None, tied: Codes | None = None
) -> Estimate:
    """P(value of an event > value of another row) + ½ P(equal), with the standard error of DeLong et al. (1988).

    Rows of which ``tied`` (n,) is the same count as equal whatever their values are.

    Of ``units`` that of Obuchowski (1997), of the sums of the same parts over the rows of a unit: those of events have
    I₁/(I₁ − 1) for the I₁ units that hold some, those of other rows I₀/(I₀ − 1), the products of both I/(I − 1).

    Examples
    --------
    >>> auc(np.array([1.0, 2.0, 2.0, 3.0]), np.array([False, False, True, True]), np.ones(4)).value
    0.875
    """
    one, other = weights[event], weights[~event]
    if len(one) == 0 or len(other) == 0 or np.isnan(values).any():
        return Estimate(np.nan, np.nan)
    below_event = _placement(values[event], values[~event], other)
    above_other = 1.0 - _placement(values[~event], values[event], one)
    if tied is not None:
        ranks = np.unique(np.column_stack([tied, values]), axis=0, return_inverse=True)[1].ravel()
        below_event += _of_ties(ranks, tied, event, ~event, weights)
        above_other -= _of_ties(ranks, tied, ~event, event, weights)
    area = float(one @ below_event / one.sum())
    if units is None:
        squared = variance(below_event, one) / one.sum() + variance(above_other, other) / other.sum()
        return Estimate(area, float(np.sqrt(squared)))
    sums, squared = [], 0.0
    for rows, w, placed in ((event, one, below_event), (~event, other, above_other)):
        part = np.zeros(len(values))
        part[rows] = w * (placed - area) / w.sum()
        sums.append(units.sums(part))
        squared += _unbiased(int(np.count_nonzero(units.sums(rows * weights)))) * float(sums[-1] @ sums[-1])
    squared += 2.0 * _unbiased(units.count) * float(sums[0] @ sums[1])
    return Estimate(area, float(np.sqrt(max(squared, 0.0))))


def auc_within(values: Floats, event: NDArray[np.bool_], weights: Floats, strata: Codes) -> float:
    """The same over pairs of rows of one of the ``strata`` (n,) alone; NaN if none has both kinds of rows.

    Examples
    --------
    >>> event = np.array([False, True, False, True])
    >>> auc_within(np.array([1.0, 2.0, 3.0, 4.0]), event, np.ones(4), np.array([0, 0, 1, 1]))
    1.0
    >>> auc(np.array([1.0, 2.0, 3.0, 4.0]), event, np.ones(4)).value
    0.75
    """
    areas, pairs = [], []
    for stratum in np.unique(strata):
        rows = strata == stratum
        own = weights[rows]
        both = float(own[event[rows]].sum() * own[~event[rows]].sum())
        if both > 0.0:
            areas.append(auc(values[rows], event[rows], own).value)
            pairs.append(both)
    return float(np.average(areas, weights=pairs)) if pairs else np.nan


def _unbiased(count: int) -> float:
    """What takes the mean square of so many deviations from their mean to their variance."""
    return count / (count - 1.0) if count > 1 else np.nan


NO_LINE = Line(Estimate(np.nan, np.nan), Estimate(np.nan, np.nan))
"""Where there is none."""


def calibration_line(
    probability: Floats, event: NDArray[np.bool_], weights: Floats, units: Units | None = None,
    rest: Floats | None = None,
) -> Line:  # fmt: skip
    """Logistic regression of the outcome on logit π [Cox 1958]: 0 and 1 if π is calibrated.

    The ``rest`` (n,) is 1 − π with the digits that this has lost where π is near 1.
    The standard errors are those of the model; of ``units`` they are by the sandwich of the sums of their scores. NaN
    where the logits separate events from other rows, or are all the same: then there is no such line.
    """
    other = np.maximum(1.0 - probability, np.finfo(float).epsneg) if rest is None else np.maximum(rest, _SMALL)
    x, y = np.log(np.maximum(probability, _SMALL)) - np.log(other), event.astype(float)
    if np.isnan(x).any() or _separated(x, event):
        return NO_LINE
    design = np.column_stack([np.ones(len(x)), x])
    line = np.array([0.0, min(1.0, _STRIDE / np.abs(x).max())])  # with larger logits there is next to no information
    for _ in range(_MOST_STEPS):
        mean = expit(design @ line)
        information = design.T @ (design * (weights * mean * (1.0 - mean))[:, None])
        if np.linalg.cond(information) > 1e14:
            return NO_LINE
        gradient = design.T @ (weights * (y - mean))
        step = np.linalg.solve(information, gradient)
        step *= _length(design, y, weights, line, step, float(gradient @ step))
        line += step
        if np.abs(step).max() <= 1e-12 * max(1.0, np.abs(line).max()):
            covariance = np.linalg.inv(information)
            if units is not None:
                scores = units.sums(design * (weights * (y - mean))[:, None]) @ covariance
                covariance = _unbiased(units.count) * scores.T @ scores
            se = np.sqrt(np.diag(covariance))
            return Line(*map(Estimate, line.tolist(), se.tolist()))
    return NO_LINE


def _length(design: Floats, y: Floats, weights: Floats, line: Floats, step: Floats, slope: float) -> float:
    """The first of 1, ½, ¼, … of Newton's step that raises the log-likelihood by a share of what its slope promises."""
    change = design @ step
    if np.abs(change).max() <= _NEAR:  # where its digits tell nothing the whole step is right
        return 1.0

    def value(logits: Floats) -> float:
        return float(weights @ (y * logits - np.logaddexp(0.0, logits)))

    before, length = design @ line, 1.0
    least = value(before)
    while length > _SHORTEST and not value(before + length * change) >= least + 1e-4 * length * slope:
        length *= 0.5
    return length


def _separated(x: Floats, event: NDArray[np.bool_]) -> bool:
    """Whether a threshold parts the x of events from those of other rows, equal ones at the threshold allowed."""
    if event.all() or not event.any():
        return True
    one, other = x[event], x[~event]
    return bool(one.min() >= other.max() or one.max() <= other.min())


def _placement(values: NDArray[Any], among: NDArray[Any], weights: Floats) -> Floats:
    """For each of the values (m,) the weighted share of those ``among`` (k,) that lie below, equal ones half."""
    order = np.argsort(among, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(weights[order])])
    below, not_above = (sums[np.searchsorted(among[order], values, side)] for side in ("left", "right"))
    return np.asarray((below + not_above) / 2.0 / sums[-1])


def _of_ties(
    ranks: Codes, tied: Codes, of: NDArray[np.bool_], among: NDArray[np.bool_], weights: Floats
) -> Floats:  # fmt: skip
    """What the placements of rows gain if those tied to them count half, whatever their values are.

    The ``ranks`` (n,) are of the rows by ``tied`` and then by their values.
    """
    by_both, by_ties = (_placement(each[of], each[among], weights[among]) for each in (ranks, tied))
    before = np.bincount(tied[among] - tied.min(), weights[among], int(np.ptp(tied)) + 1) / weights[among].sum()
    half = 0.5 * before[tied[of] - tied.min()]
    return np.asarray(half - (by_both - (by_ties - half)))


def _mean(values: Floats, weights: Floats, units: Units | None) -> Estimate:
    total = weights.sum()
    return Estimate(float(weights @ values / total), float(np.sqrt(variance(values, weights, units) / total)))


def variance(values: Floats, weights: Floats, units: Units | None = None) -> float:
    """Of values (n,) with N − 1 in the denominator, N = Σw, NaN where that is not positive; or of ``units``.

    Over N that is the square of the standard error of the mean.
    """
    total = float(weights.sum())
    deviations = values - weights @ values / total
    if units is not None:
        return _of_units(deviations, weights, units) / total
    return spread(deviations, weights) / (total - 1.0) if total > 1.0 else float("nan")
