"""A statistic against its replicates, those that failed being NaN: Monte Carlo p-values and critical values.

A replicate that draws what was observed has the same statistic but for rounding: numbers that differ by less are equal.
"""

import math

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats

_ROUNDING = 1e-10
"""Relative to the larger of two numbers that are computed in two ways, and equal."""


def failures(replicates: Floats) -> int:
    """How many of (B,) failed."""
    return int(np.isnan(replicates).sum())


def quantile(replicates: Floats, level: float) -> float:
    """The quantile of those that did not fail; NaN if all did."""
    good = replicates[~np.isnan(replicates)]
    return float(np.quantile(good, level)) if len(good) else float("nan")


def upper_point(replicates: Floats, level: float) -> float:
    """The k-th smallest replicate, k = level · (B + 1) rounded up; infinite if there are fewer, NaN if none.

    A statistic that is one of B + 1 exchangeable ones is `above` it with probability ≤ 1 − level, and is so where
    (1 + #{T* ≥ T}) / (1 + B) ≤ 1 − level.

    Examples
    --------
    >>> upper_point(np.arange(1.0, 20.0), 0.95), upper_point(np.arange(1.0, 10.0), 0.95)
    (19.0, inf)
    """
    good = np.sort(replicates[~np.isnan(replicates)])
    k = math.ceil(round(level * (len(good) + 1), 9))
    if len(good) == 0:
        return float("nan")
    return float(good[k - 1]) if k <= len(good) else float("inf")


def above(values: Floats | float, critical: float) -> NDArray[np.bool_]:
    """Which values exceed a critical one by more than rounding.

    Examples
    --------
    >>> above(np.array([0.1 + 0.2, 0.31]), 0.3).tolist()
    [False, True]
    """
    values = np.asarray(values)
    with np.errstate(invalid="ignore"):  # an infinite critical value is exceeded by none
        return np.asarray(values - critical > _ROUNDING * np.maximum(np.abs(values), abs(critical)))


def pvalue(replicates: Floats, statistic: float, *, small: bool = False) -> float:
    """(1 + #{T* ≥ T}) / (1 + B) over those that did not fail; with ``small`` of T* ≤ T.

    Examples
    --------
    >>> pvalue(np.array([1.0, 2.0, 3.0, np.nan]), 2.5), pvalue(np.array([1.0, 2.0, 3.0]), 2.5, small=True)
    (0.5, 0.75)
    >>> pvalue(np.array([0.1 + 0.2, 0.2]), 0.3, small=True)
    1.0
    """
    good = replicates[~np.isnan(replicates)]
    less = above(good, statistic) if small else above(-good, -statistic)
    return float((1 + np.count_nonzero(~less)) / (1 + len(good)))
