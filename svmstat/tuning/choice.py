"""What the best of many points is worth, which its own score overstates for having been chosen by it.

Tsamardinos, Greasidou & Borboudakis (2018), Bootstrapping the out-of-sample predictions for efficient and accurate
cross-validation: rows are drawn with replacement, the point that is best on these is rated on the rows not drawn. No
machine is fitted again.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat.objective.units import are_whole
from svmstat.tuning.scores import Parts

_B = 200
"""Draws: they leave a Monte Carlo error that is small beside the score's standard error."""

_NUMBERS = 2**23
"""Numbers of draws, one for each row, that are held at a time."""

_MOST_COPIES = 50_000
"""Of more than so many copies of weighted rows, and of weights that are no whole numbers, the rows are drawn."""

_BITS, _NOTHING = 30, 1e-9
"""Binary digits of a loss by which rows are put in order, and the share of the largest up to which one is zero."""


def corrected_score(parts: Sequence[Parts]) -> float:
    """What the score of the least of m points is on rows that had no part in the choice; always by the same draws.

    Parameters
    ----------
    parts : of the same r rows, for each of the points

    Examples
    --------
    >>> each = np.random.default_rng(1).normal(size=(50, 30))  # no point is better than another
    >>> parts = [Parts(row, np.ones(30), np.ones(30), 1.0) for row in each]
    >>> least = min(part.score for part in parts)
    >>> round(least, 3), round(corrected_score(parts), 3)
    (-0.401, 0.005)
    """
    repeats, units = parts[0].weights, parts[0].units
    weights = repeats * parts[0].L
    each = weights * np.array([part.each for part in parts])
    if units is not None:  # these are drawn, whole
        weights, each = units.sums(weights), units.sums(each.T).T
    elif are_whole(repeats) and repeats.sum() <= _MOST_COPIES:
        of_copy = np.repeat(np.arange(len(repeats)), repeats.astype(int))
        weights, each = (weights / repeats)[of_copy], (each / repeats)[:, of_copy]
    totals = each.sum(axis=1)
    each -= each[totals.argmin()]  # beside the best of all: draws of hard or easy rows make no difference
    n = each.shape[1]
    rng, above, left, size = np.random.default_rng(0), 0.0, np.zeros(n), max(1, _NUMBERS // n)
    for start in range(0, _B, size):
        B = min(size, _B - start)
        drawn = rng.integers(n, size=(B, n)) + n * np.arange(B)[:, None]
        copies = np.bincount(drawn.ravel(), minlength=B * n).reshape(B, n)
        chosen, rest = (copies @ each.T).argmin(axis=1), copies == 0
        above += sum(float(rest[chosen == k].sum(axis=0) @ each[k]) for k in np.unique(chosen))
        left += rest.sum(axis=0)
    return float(parts[0].size * (totals.min() / weights.sum() + above / (left @ weights)))


def in_order(parts: Sequence[Parts]) -> list[Parts]:
    """The same with rows, or units, in the order of what they hold: draws are of places, whatever the data's order is.

    Rows of some weight stand where as many rows would.

    Examples
    --------
    >>> parts = in_order([Parts(np.array([3.0, 1.0, 2.0]), np.ones(3), np.ones(3), 1.0)])
    >>> parts[0].each
    array([1., 2., 3.])
    """
    weights, units = parts[0].weights * parts[0].L, parts[0].units
    held = np.vstack([*(part.each for part in parts), parts[0].L])
    if units is None:
        order = np.lexsort(_rounded(np.vstack([parts[0].weights, held])))
        return [replace(p, each=p.each[order], weights=p.weights[order], L=p.L[order]) for p in parts]
    rank = np.empty(units.count, np.intp)
    of_units = units.sums((weights * np.vstack([np.ones(len(weights)), held])).T).T
    rank[np.lexsort(_rounded(of_units))] = np.arange(units.count)
    of_row = np.where(units.of_row >= 0, rank[units.of_row], -1)
    return [replace(part, units=replace(units, of_row=of_row)) for part in parts]


def _rounded(keys: Floats) -> Floats:
    """Keys (k, n) without the digits that hang on the order of a sum: where f is constant they would decide.

    What is rounding beside the largest of its line is zero, as the loss of a row on its margin.
    """
    keys = np.where(np.abs(keys) <= _NOTHING * np.abs(keys).max(axis=1, keepdims=True, initial=0.0), 0.0, keys)
    mantissa, exponent = np.frexp(keys)
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissa, _BITS)), exponent - _BITS))
