"""Which columns of a design matrix stay, and how they are standardised."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from svmstat._tools.repeats import distinct_rows
from svmstat.errors import ArgumentError, DataError

# A column whose range is this small beside its largest value is constant up to the rounding of the
# operations that made it; standardising it would blow that rounding up.
CONSTANT = 1e-12
_ROUNDING = 1e-9
"""Of the sum of weights that were divided by theirs."""


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """Which of the q columns that the terms give are kept, and how these are standardised.

    Attributes
    ----------
    keep : ndarray (q,) of bool
        The columns that stay; the others are constant.
    is_indicator : ndarray (p,) of bool
        Whether a column that stays holds nothing but 0 and 1.
    center, scale : ndarray (p,)
        What is subtracted, and what is divided by; 0 and 1 where nothing is done.
    """

    keep: np.ndarray
    is_indicator: np.ndarray
    center: np.ndarray
    scale: np.ndarray

    def of(self, chosen: np.ndarray) -> "Scaling":
        """That of some (q,) of the columns."""
        kept = chosen[self.keep]
        return Scaling(self.keep[chosen], self.is_indicator[kept], self.center[kept], self.scale[kept])

    def apply(self, columns: np.ndarray) -> np.ndarray:
        """The design matrix (n, p), C-contiguous, of the columns (n, q); infinite where a double cannot hold it."""
        result = np.ascontiguousarray(columns[:, self.keep], dtype=float)
        with np.errstate(over="ignore"):
            return np.ascontiguousarray((result - self.center) / self.scale)


def learn_scaling(
    names: Sequence[str],
    columns: np.ndarray,
    weights: np.ndarray,
    standardise: bool,
    drop_constant: bool = True,
) -> Scaling:
    """Find the constant columns, the indicators, the means and the standard deviations.

    Weights are repeats: mean Σwx/Σw, variance Σw(x − mean)²/(Σw − 1). A column is constant when its
    range is at most 1e-12 of its largest absolute value.

    Parameters
    ----------
    names : sequence of q str
        The names of the columns.
    columns : ndarray (n, q)
        Finite, rows of positive weight only.
    weights : ndarray (n,)
        Positive.
    standardise : bool
        Whether columns that are not indicators are standardised.
    drop_constant : bool
        Whether constant columns are dropped.

    Returns
    -------
    Scaling
        Of the q columns.

    Raises
    ------
    ArgumentError
        If the weights add up to 1 or less, so that there is no variance.
    DataError
        If the numbers are too large or too small for their standard deviation to be a double.
    """
    low, high = columns.min(axis=0), columns.max(axis=0)
    with np.errstate(over="ignore"):
        keep = (high - low > CONSTANT * np.maximum(abs(low), abs(high))) | (not drop_constant)
    columns = columns[:, keep]
    is_indicator = ((columns == 0) | (columns == 1)).all(axis=0)
    center, scale = np.zeros(columns.shape[1]), np.ones(columns.shape[1])
    free = ~is_indicator
    if standardise and free.any():
        total = weights.sum()
        if total <= 1 + _ROUNDING:
            raise ArgumentError(
                f"weights add up to {total:.6g}: they count as repeats of rows, so a standard deviation "
                "needs a sum above 1. Weights that say how much a row stands for: weight_type='probability'. Otherwise "
                "multiply them, or use scale=False."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            moments = [mean_and_sd(column, weights, total) for column in columns[:, free].T]
            center[free], scale[free] = np.transpose(moments)
        # Below the smallest normal double a standard deviation has lost its digits.
        wrong = np.flatnonzero(~(np.isfinite(center) & np.isfinite(scale) & (scale >= np.finfo(float).tiny)))
        if len(wrong):
            name = np.asarray(names, dtype=object)[keep][wrong[0]]
            raise DataError(f"The column {name!r} has numbers too large or too small to be standardised.")
    return Scaling(keep, is_indicator, center, scale)


def mean_and_sd(column: np.ndarray, weights: np.ndarray, total: float) -> tuple[float, float]:
    """Of one column (n,); its squares neither overflow nor vanish, and neither the order of the rows nor a weight in
    the place of copies changes a digit.
    """
    if (weights == 1.0).all():  # the same numbers and sums, without the places where they stand
        numbers, copies = np.unique(column, return_counts=True)
        share = copies.astype(float)
    else:
        found = distinct_rows(column[:, None], weights)
        numbers, share = column[found.first], found.weights
    mean = (numbers * (share / total)).sum()
    deviations = numbers - mean
    largest = abs(deviations).max()
    return mean, largest * np.sqrt((share * (deviations / largest) ** 2).sum() / (total - 1))
