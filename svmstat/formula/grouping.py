"""Which rows belong together, and what a weight means: ``groups`` and ``weight_type``."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools.doubles import EPS
from svmstat._tools.frames import label_at, nan_is_missing, native
from svmstat._tools.texts import counted
from svmstat.errors import ArgumentError, ArgumentTypeError, DataError
from svmstat.formula.rows import aligned, named_column

WEIGHT_TYPES = ("frequency", "probability")

LEAST_GROUPS = 3
"""Groups without which nothing that is said of groups means anything."""

FOLDS_ALLOWED = "a number of folds, a splitter of scikit-learn, a column of the data or one label for each row"

_LARGEST, _SAME = 2**20, 8.0 * EPS
"""The largest whole number that weights are proportional to, and by which share of itself each may be off."""

_DIGITS = 44
"""Binary digits of other weights: w and 10 w, which differ by rounding, are to be the same for most."""


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """The groups of the n rows of a fit.

    Attributes
    ----------
    name : str
        What the groups are called: the column, or "groups".
    labels : Index (G,)
        The groups, in the order in which they come.
    codes : ndarray (n,) of int
        The position of each row's group.
    """

    name: str
    labels: pd.Index
    codes: np.ndarray

    @property
    def ordered(self) -> np.ndarray:
        """The label of each row (n,), for what goes by their order; positions of what is no number, text or time.

        Of categories that have an order it is the position in this.
        """
        labels = self.labels
        if isinstance(labels, pd.CategoricalIndex) and labels.ordered:
            return np.asarray(np.asarray(labels.codes)[self.codes])
        values = np.asarray(labels.take(self.codes))
        if values.dtype == object and not all(isinstance(label, str) for label in labels):
            try:
                return pd.factorize(values, sort=True)[0]
            except TypeError:
                return self.codes
        return values

    @property
    def of_rows(self) -> pd.Series:
        """The label of each row (n,)."""
        return pd.Series(self.labels.take(self.codes), name=self.name)


def group_labels(groups: Any, data: pd.DataFrame, name: str = "groups") -> tuple[str, pd.Series] | None:
    """What the groups are called, and the label of each row of the data (n,); None without groups.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If they are neither a column nor one label for each row.
    """
    if groups is None:
        return None
    if isinstance(groups, bool | float):
        raise ArgumentTypeError(f"{name}={groups!r} is not allowed: it must be a column, or one label for each row.")
    column = named_column(name, groups, data, "label")
    values = data[column] if column is not None else aligned(name, groups, data.index)
    if not isinstance(values, pd.Series):
        raise ArgumentError(f"{name}={groups!r} names several columns: it must be one.")
    values = values.astype(native(values.dtype))
    try:
        values.head(1000).map(hash)
    except TypeError as error:
        raise ArgumentError(f"{name} hold values that are no labels: they must be numbers, texts or dates.") from error
    return (name if column is None else str(column)), nan_is_missing(values)


def check_labels(given: tuple[str, pd.Series] | None, data: pd.DataFrame, chosen: np.ndarray, na_action: str) -> Any:
    """Which of the ``chosen`` rows (m,) of the data have a group: (m,) bool.

    Raises
    ------
    DataError
        If na_action="raise" and some have none.
    """
    if given is None:
        return np.ones(len(chosen), bool)
    name, labels = given
    known = labels.iloc[chosen].notna().to_numpy(dtype=bool)
    if na_action == "raise" and not known.all():
        row = label_at(data.index, chosen[np.flatnonzero(~known)[0]])
        raise DataError(f"groups ({name!r}) is missing in row {row!r}; na_action='raise' allows none.")
    if not known.any():
        raise DataError(f"groups ({name!r}) is missing in every row.")
    return known


def grouping_of(given: tuple[str, pd.Series] | None, rows: np.ndarray, used: np.ndarray) -> Grouping | None:
    """The groups of the ``rows`` (n,) of the data, of which those ``used`` (n,) have weight.

    Raises
    ------
    DataError
        If these are in fewer than three groups.
    """
    if given is None:
        return None
    name, labels = given
    codes, levels = pd.factorize(labels.iloc[rows])
    G = len(np.unique(codes[used]))
    if G < LEAST_GROUPS:
        raise DataError(
            f"groups ({name!r}) puts the {int(used.sum())} rows in {counted(G, 'group')}: held-out numbers and "
            f"standard errors are over groups, and need {LEAST_GROUPS} or more. Without groups= rows are taken for "
            "independent."
        )
    return Grouping(name, pd.Index(levels), codes.astype(np.intp))


def fold_labels(folds: Any, data: pd.DataFrame, rows: np.ndarray, used: np.ndarray | None = None) -> np.ndarray:
    """The codes (n,) of the fold labels of the ``rows`` (n,) of the data; those ``used`` (n,) must have one.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If they are neither a column nor one label for each row, or a row that is used has none.
    """
    if isinstance(folds, list | tuple) and folds and all(isinstance(each, tuple) and len(each) == 2 for each in folds):
        raise ArgumentTypeError(
            f"folds is a {type(folds).__name__} of splits: it must be {FOLDS_ALLOWED}. Give the splitter itself."
        )
    given = group_labels(folds, data, "folds")
    if given is None:
        raise ArgumentTypeError(f"folds={folds!r} is not allowed: it must be {FOLDS_ALLOWED}.")
    codes, _ = pd.factorize(given[1].iloc[rows], sort=True)
    missing = np.flatnonzero((codes < 0) & (True if used is None else used))
    if len(missing):
        row = label_at(data.index, rows[missing[0]])
        raise ArgumentError(f"folds has no label in row {row!r}, which the fit uses.")
    return np.asarray(codes, np.intp)


def mean_one(weights: np.ndarray) -> np.ndarray:
    """Weights (n,) divided by the mean of those that are positive; ones if these are equal.

    Examples
    --------
    >>> mean_one(np.array([1.0, 3.0, 0.0]))
    array([0.5, 1.5, 0. ])
    """
    used = weights > 0
    each, places = np.unique(weights[used], return_inverse=True)
    scaled, whole = np.zeros(len(weights)), _whole_numbers(each)
    if whole is not None:
        counts = whole[places]
        scaled[used] = counts * (len(counts) / counts.sum())
        return scaled
    scaled[used] = weights[used] / each[-1]
    mantissa, exponent = np.frexp(scaled / scaled[used].mean())
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissa, _DIGITS)), exponent - _DIGITS))


def _whole_numbers(weights: np.ndarray) -> np.ndarray | None:
    """Whole numbers (m,) in the proportions of weights (m,) > 0 that increase; None if they would be large.

    Sums of them are exact: what weighs the same does so but for the last digit of the factor that all have.
    """
    largest = float(weights[-1])
    step = largest
    for _ in range(_LARGEST.bit_length()):
        whole = np.round(weights / step)
        off = np.abs(weights - whole * step) / weights
        if off.max() <= _SAME:
            return whole
        divisor = _common_divisor(step, float(weights[np.argmax(off)]), 0.5 * largest / _LARGEST)
        times = round(largest / divisor)
        if times > _LARGEST:
            return None
        step = largest / times
    return None


def _common_divisor(a: float, b: float, zero: float) -> float:
    """Euclid's, of numbers whose remainders are nothing where they are less than ``zero``."""
    while b > zero:
        a, b = b, abs(math.remainder(a, b))
    return a
