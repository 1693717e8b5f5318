"""Nested cross-validation: how far an estimate by folds is from the truth [Bates, Hastie & Tibshirani 2023].

With e_i the loss of row i by the fit without its fold, or of two models the difference of their losses, and e_i^{(k)}
that by the fit without fold k too: the mean of e^{(k)} over the other folds estimates by cross-validation what the mean
of e over fold k estimates by rows that no fit has seen, so that

    a_k = (mean of e^{(k)} over the other folds − mean of e over fold k)²,    b_k = variance of e in fold k / N_k

and the mean of a − b over folds and splits estimates the mean squared error of cross-validation.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.texts import counted
from svmstat.calibration import log_of_own
from svmstat.errors import DataError
from svmstat.objective.predictive import Estimate, variance
from svmstat.objective.units import Units, are_groups
from svmstat.resampling.folds import assign_folds, assign_units
from svmstat.resampling.said import Said

FOLDS = 10
"""In how many folds rows are left out, one or two of them at a time."""

_LEAST = 3


def folds_for(weights: Floats, units: Units | None) -> int:
    """In how many folds rows (n,) of these weights are left out: no more than there are groups, or pairs of rows.

    Examples
    --------
    >>> folds_for(np.ones(634), None), folds_for(np.ones(9), None)
    (10, 4)
    >>> folds_for(np.ones(8), Units(np.arange(8) // 2, 4, True))
    4
    """
    return min(FOLDS, units.count if are_groups(units) else int(np.count_nonzero(weights)) // 2)


def splits(
    codes: Codes, weights: Floats, levels: Sequence[object], folds: int, repeats: int, seed: np.random.SeedSequence,
    units: Units | None = None, nested: bool = True,
) -> Codes:  # fmt: skip
    """(R, n) the fold of each row in each split, balanced within the classes (n,); −1 for rows of weight zero.

    Of ``units`` that are groups the rows of each are in one fold, whatever numbers a fit has given them. Those not
    ``nested`` are left out one by one.

    Raises
    ------
    DataError
        If one of the ``levels`` (K,), as the classes are called, has too few rows.
    """
    used = weights > 0
    groups = units.in_order_of(np.arange(len(codes)), weights) if are_groups(units) else None
    members = np.zeros((len(codes), len(levels)))
    members[used, codes[used]] = weights[used]
    sums = members[used] if groups is None else groups.sums(members)
    counts = (sums > 0).sum(axis=0)
    needed = _LEAST if nested else min(folds, _LEAST)
    if repeats and counts.min() < needed:
        level, fewest, what = levels[int(counts.argmin())], int(counts.min()), "row" if groups is None else "group"
        why = ", since two folds may be left out together" if nested else ""
        raise DataError(
            f"the level {level!r} of the response has {counted(fewest, what)}: for folds every level must have "
            f"{needed}{why}."
        )
    found = np.full((repeats, len(codes)), -1)
    for fold, each in zip(found, seed.spawn(repeats), strict=True):
        if groups is None:
            fold[used] = assign_folds(codes[used].astype(float), folds, np.random.default_rng(each))
        else:
            fold[used] = assign_units(sums, folds, np.random.default_rng(each))[groups.of_row[used]]
    return found


def lots(fold: Codes) -> Iterator[tuple[int, int, Codes]]:
    """The pairs j ≤ k of folds and the rows of either, which are left out together; j = k is one fold alone."""
    for k in range(fold.max() + 1):
        for j in range(k + 1):
            yield j, k, np.flatnonzero((fold == j) | (fold == k))


def log_likelihoods(without: Callable[[list[Codes]], list[Said]], order: Codes, fold: Codes, codes: Codes) -> Floats:
    """(R, K, n) log π of each row by the fit without its fold and fold k.

    Parameters
    ----------
    without : what refits without some lots of rows say of these
    order : (L,) where the classes stand in what is said
    fold : (R, n) the folds of R splits
    codes : (n,) the classes
    """
    table = np.full((len(fold), int(fold.max()) + 1, len(codes)), np.nan)
    places = [(r, j, k, rows) for r, of_row in enumerate(fold) for j, k, rows in lots(of_row)]
    said = without([rows for *_, rows in places])
    for (r, j, k, rows), each in zip(places, said, strict=True):
        own = log_of_own(each.probability[:, order], codes[rows])
        table[r, j, rows] = np.where(fold[r, rows] == k, own, table[r, j, rows])
        table[r, k, rows] = np.where(fold[r, rows] == j, own, table[r, k, rows])
    return table


def nested_estimate(losses: Floats, fold: Codes, weights: Floats, units: Units | None = None) -> Estimate:
    """The sum of the losses of n rows by fits of their size, and its standard error.

    The estimate is corrected for the size of the fits, of which the inner ones lack two folds and the outer ones one:
    the loss is taken to be linear in 1/size. The standard error is no less than the naive one, of independent rows, and
    no more than √K of it. Of units the variances are those of `spread`, for b_k by the units of the other folds.

    Parameters
    ----------
    losses : (R, K, n) those of row i by the fit without its own fold and fold k; where k is its own, without that alone
    fold : (R, n) the folds of R splits, −1 for rows that do not count
    weights : (n,) case weights
    units : what is independent, kept together by the folds; None for copies of rows

    Returns
    -------
    Estimate
    """
    K, inner, outer, excess = losses.shape[1], [], [], []
    w_inner, w_outer, within = [], [], []
    for e, of_row in zip(losses, fold, strict=True):
        for k in range(K):
            own, others = of_row == k, (of_row >= 0) & (of_row != k)
            mean, variance = _moments(e[k, own], weights[own])
            among, spread_of = _moments(e[k, others], weights[others], None if units is None else units.among(others))
            if units is not None:  # a fold may hold one unit only
                variance = spread_of
            within.append(spread_of)
            excess.append((among - mean) ** 2 - variance / weights[own].sum())
            inner.append(e[k, others])
            outer.append(e[k, own])
            w_inner.append(weights[others])
            w_outer.append(weights[own])
    total = weights[fold[0] >= 0].sum()
    mean_inner, spread_inner = _moments(np.concatenate(inner), np.concatenate(w_inner))
    if units is not None:
        spread_inner = float(np.mean(within))
    mean_outer, _ = _moments(np.concatenate(outer), np.concatenate(w_outer))
    corrected = mean_inner - (1.0 + (K - 2.0) / K) * (mean_inner - mean_outer)
    naive = np.sqrt(spread_inner / total)
    found = np.sqrt(max(float(np.mean(excess)), 0.0) * (K - 1.0) / K)
    se = np.clip(found, naive, np.sqrt(K) * naive) if np.isfinite(naive) else np.nan
    return Estimate(float(total * corrected), float(total * se))


def _moments(values: Floats, weights: Floats, units: Units | None = None) -> tuple[float, float]:
    """Mean and variance of values that count as often as their weights say; of units as in `variance`."""
    return float(weights @ values / weights.sum()), variance(values, weights, units)
