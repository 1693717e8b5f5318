"""The rows of a fit with some of their predictors at other values, on the axis of the data and not of the terms."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.checks import ended, nearest, refuse
from svmstat._tools.frames import columns_called, is_name
from svmstat._tools.texts import written
from svmstat.errors import ArgumentError, DataError
from svmstat.formula.build import ModelFrame
from svmstat.formula.columns import plain

_ROUNDING = 1e-12
"""Of the largest size of a column, by which a sum or a grid may pass its last value."""

_ROOM = 2**16
"""Altered rows that are computed at a time to see whether they can be."""


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """A data column of the rows that count.

    Attributes
    ----------
    name : Hashable
    values : ndarray (n,)
        Its numbers, or the positions of its levels.
    levels : tuple or None
        What it holds if it goes by levels: text, booleans, categories, numbers in a term such as ``C(x)``, and numbers
        of which there are only two. Those of the rows, in their order.
    """

    name: Hashable
    values: np.ndarray
    levels: tuple[Any, ...] | None

    @property
    def varies(self) -> bool:
        """Whether it has more than one value."""
        return bool(self.values.min() < self.values.max())

    @property
    def numeric(self) -> bool:
        """Whether it is a number on an axis, and does not go by levels."""
        return self.levels is None

    def called(self, position: int) -> str:
        """A level by its position, as text that tells it from the others; a whole number without decimals."""
        return written(self.levels or ())[position]

    def position(self, name: str, level: object) -> int:
        """Where a level stands among the levels.

        Raises
        ------
        ArgumentError
            If it is none of them.
        """
        if self.levels is None or level not in self.levels:
            known = ", ".join(map(repr, self.levels or ()))
            raise refuse(
                name, level, f"a level of {self.name!r} ({known}){nearest(str(level), map(str, self.levels or ()))}"
            )
        return self.levels.index(level)


Changes = Mapping[Hashable, tuple[Variable, np.ndarray]]
"""Columns, and what each of some rows (m,) is changed to: numbers, or positions of levels."""


@dataclass(frozen=True, slots=True, eq=False)
class AlteredRows:
    """The n rows of a fit that have a weight, ready to be altered.

    Attributes
    ----------
    frame : ModelFrame
    weights : ndarray (n,)
        All > 0.
    data : DataFrame (n, …)
        The predictors, on the index of the rows.
    X : ndarray (n, p)
        Their design.
    """

    frame: ModelFrame
    weights: Floats
    data: pd.DataFrame = field(repr=False)
    X: Floats = field(repr=False)

    @classmethod
    def of(cls, frame: ModelFrame, data: pd.DataFrame | None = None) -> "AlteredRows":
        """Those of a fit, of the data of the fit if they are given, which are read anew in any case.

        Raises
        ------
        ArgumentTypeError, DataError
            If the data have other rows than those of the fit, or not all predictors.
        """
        counted = np.flatnonzero(frame.weights > 0)
        used = frame.data.iloc[frame.rows] if data is None else frame.rows_of(data)
        for name in frame.design.predictors:
            if name not in used.columns:
                hint = nearest(str(name), map(str, used.columns))
                raise DataError(ended(f"data has no column {name!r}{hint}"))
        chosen = columns_called(used.iloc[counted], frame.design.predictors)
        return cls(frame, frame.weights[counted], chosen, frame.design.transform(chosen).X)

    def variable(self, argument: str, name: object) -> Variable:
        """A predictor by the name of its column.

        Raises
        ------
        ArgumentError
            If the right side of the formula reads no such column.
        """
        design = self.frame.design
        if not is_name(name) or name not in design.predictors:
            read = design.columns_of.get(name) if isinstance(name, str) else None
            listed = ", ".join(map(repr, design.predictors))
            hint = f"; the term {name!r} reads {', '.join(map(repr, read))}" if read else ""
            raise refuse(
                argument, name, f"a column of the data that the formula reads ({listed}){hint}"
                f"{nearest(str(name), map(str, design.predictors))}",
            )  # fmt: skip
        kind, values = plain(self.data[name])
        if kind == "number":
            numbers = values.to_numpy(float, na_value=np.nan)
            if np.isnan(numbers).any():
                count = int(np.isnan(numbers).sum())
                raise DataError(
                    f"the column {name!r} is missing in {count} of {len(numbers)} rows, for which a term has a value: "
                    "along it there is nothing to show. Compute it beforehand, or name other columns."
                )
            distinct = np.unique(numbers)
            if len(distinct) != 2 and design.levels_of(name, distinct.tolist()) is None:
                return Variable(name, numbers + 0.0, None)  # and no −0
        elif isinstance(values.dtype, pd.CategoricalDtype):
            values = values.cat.remove_unused_categories()
        codes, found = pd.factorize(values, sort=True, use_na_sentinel=not values.isna().any())
        levels = pd.Index(found).tolist()
        if (in_order := design.levels_of(name, levels)) is not None:
            order = sorted(range(len(levels)), key=lambda k: in_order.index(levels[k]))
            codes, levels = np.argsort(order)[codes], [levels[k] for k in order]
        return Variable(name, codes, tuple(levels))

    def variables(self, complete: bool = False) -> tuple[Variable, ...]:
        """All predictors, or those numbers only of which all are known and what goes by levels."""
        names = self.frame.design.predictors
        return tuple(self.variable("x", name) for name in names if not (complete and self._lacks(name)))

    def _lacks(self, name: Hashable) -> bool:
        kind, values = plain(self.data[name])
        return kind == "number" and bool(values.isna().any())

    def changed(self, rows: Codes, changes: Changes, read: Iterable[Hashable] | None = None) -> pd.DataFrame:
        """The rows (m,) with columns changed, as new data; all predictors, or those that are ``read``."""
        data = self.data if read is None else columns_called(self.data, read)
        altered = data.set_flags(allows_duplicate_labels=True).iloc[rows].copy()  # rows are repeated here
        for name, (variable, values) in changes.items():
            if variable.levels is not None:
                _, first = np.unique(variable.values, return_index=True)
                altered[name] = self.data[name].array.take(first[values])
            else:
                altered[name] = values
        return altered

    def at(self, rows: Codes, changes: Changes) -> Floats:
        """The design (m, p) of the rows (m,) with columns changed to numbers (m,) or positions of levels (m,).

        Raises
        ------
        DataError
            If a term cannot be computed of a row so altered.
        """
        design = self.frame.design
        touched = {name for name, read in design.columns_of.items() if not changes.keys().isdisjoint(read)}
        part = design.without(design.columns_of.keys() - touched)
        altered = self.changed(rows, changes, part.predictors)
        try:
            new = part.transform(altered)
        except DataError as error:
            raise DataError(
                f"with {' and '.join(map(repr, changes))} altered, {error} What an effect compares must be possible "
                "for every row: where a step leaves what a term allows, 'sd' or a pair (low, high) may not."
            ) from error
        lost = np.flatnonzero(new.missing)
        if len(lost):
            set_to = ", ".join(f"{name} = {altered[name].iloc[lost[0]]}" for name in changes)
            raise DataError(
                f"with {set_to} a term of {design.formula!r} has no value in {len(np.unique(rows[lost]))} "
                f"of {len(self.weights)} rows: what an effect compares must be possible for every row."
            )
        X, places = self.X[rows], design.term_slices
        for name, place in part.term_slices.items():
            X[:, places[name]] = new.X[:, place]
        return X


@dataclass(frozen=True, slots=True, eq=False)
class AlteredDesign:
    """The design (m, p) of the rows at some places (m,) with columns changed, a slice computed when it is asked for."""

    rows: AlteredRows
    places: Codes
    changes: Changes

    def check(self) -> None:
        """Refuse, before anything is predicted, what `AlteredRows.at` will."""
        n = len(self.rows.weights)
        size = n * max(1, _ROOM // n)
        for start in range(0, len(self), size):
            self[start : start + size]

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, which: slice) -> Floats:
        changes = {name: (variable, values[which]) for name, (variable, values) in self.changes.items()}
        return self.rows.at(self.places[which], changes)


def check_inside(argument: str, variable: Variable, values: Sequence[float]) -> Floats:
    """Numbers between the least and the greatest value of a column.

    Raises
    ------
    ArgumentError
        For another one, or none.
    """
    if any(isinstance(value, str | bytes | bool | np.bool_) for value in values):
        raise refuse(argument, values, "numbers")
    try:
        numbers = np.asarray(values, float)
    except (ValueError, TypeError):
        numbers = np.empty((0, 0))
    if numbers.ndim != 1:
        raise refuse(argument, values, "numbers")
    numbers, outside = within(variable, numbers)
    if outside.any() or not len(numbers):
        given = float(numbers[outside][0]) if len(numbers) else values
        low, high = variable.values.min(), variable.values.max()
        raise refuse(argument, given, f"between {low:g} and {high:g}, where {variable.name!r} was observed")
    return numbers


def within(variable: Variable, numbers: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Numbers, and which are not among the values of a column; those that pass an end by rounding are put on it."""
    low, high = float(variable.values.min()), float(variable.values.max())
    inside = np.clip(numbers, low, high)
    numbers = np.where(np.abs(numbers - inside) <= _ROUNDING * max(abs(low), abs(high)), inside, numbers)
    return numbers, ~((numbers >= low) & (numbers <= high))


def check_varies(argument: str, variable: Variable) -> Variable:
    """A variable that has more than one value.

    Raises
    ------
    ArgumentError
        If it has only one.
    """
    if not variable.varies:
        raise ArgumentError(f"{argument}={variable.name!r} has one value in all rows: it has no effect to show.")
    return variable
