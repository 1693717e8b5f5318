"""What a model was fitted to, and whether two models were fitted to the same."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.frames import label_at
from svmstat.errors import DataError
from svmstat.formula.values import Level
from svmstat.machine import group_rows
from svmstat.objective.units import Units
from svmstat.resampling.folds import points_of_few


@dataclass(frozen=True, slots=True)
class Observed:
    """The rows of a model.

    Attributes
    ----------
    name : of the model
    index : (n,) the row labels; None for arrays, which have none
    levels : the K classes
    codes : (n,) positions of the rows' levels; −1 in rows of weight zero whose level no other row has
    weights : (n,) case weights
    event : the position of the level that is called positive, of two
    units : what is independent, as a fit by `svm` knows it; None for copies of rows, or where the model knows of none
    points : (n,) which rows have the same predictors, where these have few values
    groups : (n,) the group of each row, of a fit by `svm` that has some
    """

    name: str
    index: pd.Index | None
    levels: tuple[Level, ...]
    codes: Codes
    weights: Floats
    event: int = -1
    units: Units | None = None
    points: Codes | None = None
    groups: pd.Series | None = None

    @property
    def copies(self) -> Floats:
        """How often each row is there for a model that knows of nothing but repeats; of no repeats any multiple."""
        if self.units is None or self.units.grouped:
            return self.weights
        least = self.weights / self.weights[self.weights > 0].min()
        whole = np.rint(least)
        return whole if np.allclose(least, whole, rtol=1e-9, atol=0.0) else self.weights

    def label(self, row: int) -> object:
        """The label of a row by its position."""
        return row if self.index is None else label_at(self.index, row)


def points_at(X: Floats, codes: Codes, weights: Floats) -> Codes | None:
    """Which rows of X (n, p) are equal, where they have few values."""
    groups = group_rows(X, codes, weights)
    return points_of_few(groups, codes[groups.first])


def agreement(first: Observed, other: Observed) -> Codes:
    """Which class of the other model each of the K levels of the first is, if they have the same rows.

    Raises
    ------
    DataError
        Saying what differs, and the first row where it does.

    Examples
    --------
    >>> one = Observed("svm", pd.Index([7, 8, 9]), (False, True), np.array([1, 0, 1]), np.ones(3), 1)
    >>> agreement(one, Observed("logit", None, (0, 1), np.array([1, 0, 1]), np.ones(3)))
    array([0, 1])
    >>> agreement(one, Observed("logit", None, (0, 1), np.array([1, 1, 1]), np.ones(3)))
    Traceback (most recent call last):
        ...
    svmstat.errors.DataError: the models cannot be compared: the responses differ, first in row 8, where 'svm' has False
    and 'logit' has 1.
    """
    _same_rows(first, other)
    order = _matched(first, other)
    wrong = np.flatnonzero((first.weights > 0) & (order[first.codes] != other.codes))
    if len(wrong):
        row = int(wrong[0])
        one, another = first.levels[first.codes[row]], other.levels[other.codes[row]]
        raise _refused(
            f"the responses differ, first in row {first.label(row)!r}, where {first.name!r} has {one!r} and "
            f"{other.name!r} has {another!r}"
        )
    weights = other.weights
    if first.units is not None and not first.units.grouped and other.units is None:  # no repeats: any multiple will do
        weights = weights * (first.weights.sum() / weights.sum())
    uneven = np.flatnonzero(~np.isclose(first.weights, weights, rtol=1e-12, atol=0.0))
    if len(uneven):
        row = int(uneven[0])
        raise _refused(
            f"the weights differ, first in row {first.label(row)!r}, where {first.name!r} has {first.weights[row]:g} "
            f"and {other.name!r} has {other.weights[row]:g}"
        )
    return order


def same_units(first: Observed, other: Observed) -> None:
    """Refuse two fits of which one leaves out together what the other does not.

    Raises
    ------
    DataError
    """
    one, two = first.units, other.units
    if (one is None) != (two is None):
        which, lacks = (first, other) if two is None else (other, first)
        assert which.units is not None
        what = "groups" if which.units.grouped else "weight_type='probability'"
        raise _refused(f"{which.name!r} has {what} and {lacks.name!r} has not, so that other rows are independent")
    if one is not None and two is not None:
        used = one.of_row >= 0
        pairs = np.unique(np.column_stack([one.of_row[used], two.of_row[used]]), axis=0)
        if len(pairs) != one.count or len(pairs) != two.count or one.grouped != two.grouped:
            raise _refused(f"{first.name!r} and {other.name!r} have other groups")


def _same_rows(first: Observed, other: Observed) -> None:
    n, m = len(first.codes), len(other.codes)
    if first.index is None or other.index is None:
        if n != m:
            raise _refused(
                f"{first.name!r} has {n} rows and {other.name!r} has {m}; arrays have no labels by which to find those "
                "that only one of them has"
            )
    elif not first.index.equals(other.index):
        for one, another in ((first, other), (other, first)):
            alone = np.flatnonzero(~one.index.isin(another.index))  # type: ignore[union-attr, arg-type]
            if len(alone):
                raise _refused(
                    f"their rows differ: row {one.label(int(alone[0]))!r} is the first of {len(alone)} that "
                    f"{one.name!r} has and {another.name!r} has not. Every formula drops the rows in which one of its "
                    "own columns is missing, subset= takes some, and rows are known by their labels: fit all models to "
                    "the rows that are complete in all"
                )
        apart = 0 if n != m else int(np.flatnonzero(first.index != other.index)[0])
        raise _refused(
            f"their rows are in another order, or not equally often there: row {apart} is {first.label(apart)!r} in "
            f"{first.name!r} and {other.label(apart)!r} in {other.name!r}"
        )


def _matched(first: Observed, other: Observed) -> Codes:
    """By equal labels, by their texts, or by position where the other model has numbers 0, 1, … for labels."""
    K = len(first.levels)
    if len(other.levels) == K:
        for same in (_equal, _same_text):
            found = [[j for j, theirs in enumerate(other.levels) if same(ours, theirs)] for ours in first.levels]
            if all(len(each) == 1 for each in found):
                return np.array([each[0] for each in found])
        if list(map(str, other.levels)) == list(map(str, range(K))):
            return np.array([1, 0]) if first.event == 0 and K == 2 else np.arange(K)
    raise _refused(
        f"their levels differ: {first.name!r} has {', '.join(map(repr, first.levels))}, {other.name!r} has "
        f"{', '.join(map(repr, other.levels))}"
    )


def _equal(one: Level, other: Level) -> bool:
    return bool(one == other)


def _same_text(one: Level, other: Level) -> bool:
    return str(one) == str(other)


def _refused(what: str) -> DataError:
    return DataError(f"the models cannot be compared: {what}.")
