"""A statistic against its replicates, those that failed being NaN: Monte Carlo p-values and critical values."""

import math

import numpy as np

from svmstat._tools.arrays import Floats


def failures(replicates: Floats) -> int:
    """How many of (B,) failed."""
    return int(np.isnan(replicates).sum())


def quantile(replicates: Floats, level: float) -> float:
    """The quantile of those that did not fail; NaN if all did."""
    good = replicates[~np.isnan(replicates)]
    return float(np.quantile(good, level)) if len(good) else float("nan")


def upper_point(replicates: Floats, level: float) -> float:
    """The k-th smallest replicate, k = level · (B + 1) rounded up; infinite if there are fewer, NaN if none.

    A statistic that is one of B + 1 exchangeable ones exceeds it with probability ≤ 1 − level; it does so where
    (1 + #{T* ≥ T}) / (1 + B) ≤ 1 − level, if none are equal.

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


def pvalue(replicates: Floats, statistic: float, *, small: bool = False) -> float:
    """(1 + #{T* ≥ T}) / (1 + B) over those that did not fail; with ``small`` of T* ≤ T.

    Examples
    --------
    >>> pvalue(np.array([1.0, 2.0, 3.0, np.nan]), 2.5), pvalue(np.array([1.0, 2.0, 3.0]), 2.5, small=True)
    (0.5, 0.75)
    """
    good = replicates[~np.isnan(replicates)]
    beyond = good <= statistic if small else good >= statistic
    return float((1 + np.count_nonzero(beyond)) / (1 + len(good)))
