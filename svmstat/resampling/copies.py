"""Rows that are copies of others: which fits have seen one of what they predict, and whether that may be chance.

Copies have the same predictors and the same class. Where equal rows are different cases (`are_cases`) they are so in
classes of which each row is there twice, or another number of times, alone: with many rows that is no chance.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat.machine import Posed
from svmstat.objective.bounds import ROUNDING
from svmstat.objective.units import are_groups
from svmstat.resampling.folds import are_cases, rows_of_weight
from svmstat.resampling.splits import Splits

Hashes = NDArray[np.uint64]

_MANY = 0.15
"""The share of rows from which on copies are worth a word."""

_MORE = 4.0
"""How many times as many rows of a class with copies as are expected are no chance."""

_DIFFERENT = 10
"""Different rows of a class that are no chance where all are there twice: how often each is there is even in 2⁻¹⁰."""

_ENOUGH = 20
"""Pairs that agree in one column from which on it is known how often they agree in another."""


@dataclass(frozen=True, slots=True)
class Copies:
    """Rows of which the fits without them have seen copies.

    Attributes
    ----------
    seen : their weight
    suspicious : whether they are many, and more than chance makes of such predictors: repeats of one observation
    together : whether folds hold copies out together, where there are two different rows of each class
    """

    seen: float
    suspicious: bool
    together: bool


def copies_among(machine: Posed, predictors: Callable[[], pd.DataFrame], splits: Splits | None = None) -> Copies:
    """What there is to be known of n rows with these predictors (n, q), ``splits`` being None for leave-one-out."""
    groups, codes = machine.groups, machine.group_codes
    different = np.unique(codes[groups.weights > 0.0], return_counts=True)[1]
    cases, multiplied = _are_cases(machine), _are_multiplied(machine)
    rows = _rows_seen(machine, splits) if multiplied.any() or not cases else np.empty(0, np.intp)
    seen = np.bincount(machine.codes[rows], machine.weights[rows], machine.n_classes)
    if cases:
        seen[~multiplied] = 0.0
    many = _MANY * machine.weights.sum()
    suspicious = seen.sum() > many and (
        seen[multiplied].sum() > many or seen[multiplied | _are_no_chance(machine, predictors())].sum() > many
    )
    return Copies(float(seen.sum()), bool(suspicious), not cases and int(different.min()) > 1)


def are_together(machine: Posed) -> bool:
    """Whether copies are held out together by its folds (`fold_units`), if nobody gives others."""
    return not (are_groups(machine.units) or _are_cases(machine))


def _are_cases(machine: Posed) -> bool:
    return are_cases(machine.groups, machine.group_codes, machine.weights, machine.units is None)


def _are_multiplied(machine: Posed) -> NDArray[np.bool_]:
    """(K,) whether each different row of a class is there twice, or another number of times, by no chance."""
    groups, codes = machine.groups, machine.group_codes
    often = np.bincount(groups.of_row[rows_of_weight(groups, machine.weights)], minlength=len(codes))
    members = [often[(groups.weights > 0.0) & (codes == k)] for k in range(machine.n_classes)]
    return np.array([len(each) >= _DIFFERENT and np.gcd.reduce(each) > 1 for each in members])


def _rows_seen(machine: Posed, splits: Splits | None) -> Codes:
    """The rows of which the fits without them have seen copies."""
    groups, weights, units = machine.groups, machine.weights, machine.units
    rows = rows_of_weight(groups, weights)
    group, away = groups.of_row[rows], weights[rows]
    if splits is not None:
        known = splits.fold[rows] >= 0
        rows, group = rows[known], group[known]
        away = np.array(list(splits.left_out(machine)))[splits.fold[rows], group]
    elif are_groups(units):
        _, own = np.unique(np.column_stack([group, units.of_row[rows]]), axis=0, return_inverse=True)
        away = np.bincount(own.ravel(), weights[rows]).astype(float)[own.ravel()]
    seen = groups.weights[group] - away > ROUNDING * groups.weights[group]
    return np.asarray(rows[seen])


def _are_no_chance(machine: Posed, predictors: pd.DataFrame) -> NDArray[np.bool_]:
    """(K,) whether more different rows of a class have copies than its predictors make by chance."""
    groups, codes, rows = machine.groups, machine.group_codes, rows_of_weight(machine.groups, machine.weights)
    repeated = np.flatnonzero(np.bincount(groups.of_row[rows], minlength=len(codes)) > 1)
    rng = np.random.default_rng(0)
    columns = [_Column.of(predictors.iloc[groups.first, j], rng) for j in range(predictors.shape[1])]
    members = [np.flatnonzero((groups.weights > 0.0) & (codes == k)) for k in range(machine.n_classes)]
    expected = np.array([_pairs_by_chance(columns, each) for each in members])
    return np.bincount(codes[repeated], minlength=machine.n_classes) >= _MORE * expected


@dataclass(frozen=True, slots=True)
class _Column:
    """The values of a predictor at G different rows.

    Attributes
    ----------
    values : (G,) numbers, or codes of what is none
    step : the least difference of two of them
    hashes : (G,) random numbers, equal for equal values
    """

    values: Floats
    step: float
    hashes: Hashes

    @classmethod
    def of(cls, column: pd.Series, rng: np.random.Generator) -> "_Column":
        """That of a column of the data."""
        code, known = pd.factorize(column)
        kind, values = column.dtype, np.asarray(code, float)
        if pd.api.types.is_datetime64_any_dtype(kind):
            values = column.astype("int64").to_numpy(float)
        elif pd.api.types.is_numeric_dtype(kind):
            values = column.to_numpy(float)
        step = float(np.diff(np.unique(values)).min(initial=np.inf))
        return cls(values, step, np.asarray(rng.integers(2**63, size=len(known), dtype=np.uint64)[code]))

    def agreeing_by_chance(self, rows: Codes, rest: Hashes, chance: float) -> float:
        """How many pairs of the rows that agree in all other columns would agree in this one too.

        That is the share ``chance`` of them at least, and what there would be on a grid of this step between the least
        and the largest value of those that agree.
        """
        values = self.values[rows]
        order = np.lexsort((values, rest))
        start = np.flatnonzero(np.diff(rest[order], prepend=rest[order[0]] + np.uint64(1)) != 0)
        stop = np.append(start[1:], len(rows)) - 1
        within = values[order[stop]] - values[order[start]]
        on_grid = 1.0 / (1.0 + within / self.step)
        return float((_pairs(stop - start + 1.0) * np.maximum(chance, on_grid)).sum())


def _pairs_by_chance(columns: list[_Column], rows: Codes) -> float:
    """How many pairs of different rows (m,) would agree in all columns, from those that agree in all but one."""
    hashes = [each.hashes[rows] for each in columns]
    whole = np.sum(hashes, axis=0, dtype=np.uint64)
    equal, found = [_agreeing(each) for each in hashes], [0.0]
    for j, column in enumerate(columns):
        chance = equal[j] / max(_pairs(float(len(rows))), 1.0)
        for i in range(len(columns)):
            if i != j and equal[i] >= _ENOUGH:
                chance = max(chance, _agreeing(hashes[i] + hashes[j]) / equal[i])
        found.append(column.agreeing_by_chance(rows, whole - hashes[j], chance))
    return max(found)


def _agreeing(hashes: Hashes) -> float:
    """How many pairs are equal."""
    return float(_pairs(np.unique(hashes, return_counts=True)[1].astype(float)).sum())


def _pairs(count: Any) -> Any:
    """Of so many rows."""
    return 0.5 * count * (count - 1.0)
