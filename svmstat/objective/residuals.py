"""Residuals of what was observed from its probability [Dunn & Smyth 1996], by row and in bins."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from svmstat._tools.arrays import Codes, Floats

KINDS = ("response", "pearson", "deviance", "quantile")


def of_levels(kind: str, codes: Codes, probability: Floats, rng: np.random.Generator | None = None) -> Floats:
    """Residuals (n, K) of each level against the rest, NaN in rows without a level (code −1) or a probability."""
    observed = codes[:, None] == np.arange(probability.shape[1])
    p = np.where((codes < 0)[:, None], np.nan, probability)
    return residuals(kind, observed, p, np.random.default_rng(rng))


def residuals(kind: str, observed: NDArray[np.bool_], p: Floats, rng: np.random.Generator) -> Floats:
    """Residuals of outcomes that have probability p, both of any one shape; NaN where p is.

    response   1{observed} − p
    pearson    that over √(p (1 − p))
    deviance   ± √(−2 log of the probability of what was seen)
    quantile   Φ⁻¹(u), u uniform on (1 − p, 1) if observed, else on (0, 1 − p): standard normal where p is the
               probability indeed

    Examples
    --------
    >>> p, observed = np.array([0.8, 0.8]), np.array([True, False])
    >>> for kind in KINDS[:3]:
    ...     print(kind, residuals(kind, observed, p, np.random.default_rng(0)).round(4))
    response [ 0.2 -0.8]
    pearson [ 0.5 -2. ]
    deviance [ 0.668  -1.7941]
    """
    seen = np.where(observed, p, 1.0 - p)
    sign = np.where(observed, 1.0, -1.0)
    if kind == "response":
        return np.asarray(sign * (1.0 - seen))
    if kind == "pearson":
        with np.errstate(divide="ignore"):  # what was impossible and happened is infinitely far
            return np.asarray(sign * np.sqrt((1.0 - seen) / seen))
    if kind == "deviance":
        with np.errstate(divide="ignore"):
            return np.asarray(sign * np.sqrt(-2.0 * np.log(seen)))
    tail = seen * (1.0 - rng.random(p.shape))  # in (0, seen]
    return np.asarray(-sign * ndtri(tail))


@dataclass(frozen=True, slots=True)
class Binned:
    """Mean residuals of rows in k bins.

    Attributes
    ----------
    x : (k,) means of what the bins are along
    mean : (k,) of 1{observed} − p
    se : (k,) the standard error that this mean would have if each p were the probability, and copies independent:
        √(Σ w p (1 − p)) / Σ w, or √(Σ w² p (1 − p)) / Σ w where weights are no copies
    total : (k,) sums of weights
    """

    x: Floats
    mean: Floats
    se: Floats
    total: Floats

    @property
    def furthest(self) -> float:
        """The largest distance of a mean from zero, in its standard errors."""
        with np.errstate(divide="ignore", invalid="ignore"):  # p of 0 or 1
            return float(np.nan_to_num(np.abs(self.mean) / self.se, posinf=np.inf).max())


def binned(
    x: Floats, observed: NDArray[np.bool_], p: Floats, weights: Floats, which: Codes, *, copies: bool = True
) -> Binned:
    """Mean response residuals of rows (n,) in the bins ``which`` (n,) [Gelman & Hill 2007]; empty ones are left out.

    ``copies`` tells whether the weights count copies of rows.

    Examples
    --------
    >>> p = np.array([0.5, 0.5, 0.9])
    >>> binned(p, np.array([True, False, True]), p, np.ones(3), np.array([0, 0, 1])).mean.round(2)
    array([0. , 0.1])
    """
    variance = p * (1.0 - p) if copies else weights * p * (1.0 - p)
    sums = [np.bincount(which, weights * each) for each in (1.0, x, observed - p, variance)]
    total, along, residual, variance = (each[sums[0] > 0].astype(float) for each in sums)
    return Binned(along / total, residual / total, np.sqrt(variance) / total, total)
