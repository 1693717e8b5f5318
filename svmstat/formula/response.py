"""The response: its levels, its event, and predicted labels of its own type."""

import ast
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from svmstat.errors import ArgumentError, DataError
from svmstat.formula.columns import TOLD_APART
from svmstat.formula.expression import Expression
from svmstat.formula.factor import differ_by_case, positions
from svmstat.formula.values import Level, Value

# More distinct numbers than this are a measurement, not classes.
MOST_NUMBERS = 20
_MOST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Response:
    """The response of a fit: its levels, which of them is the event, and the type of predicted labels.

    Attributes
    ----------
    name : str
        The left side of the formula.
    levels : tuple
        Its levels with a row of positive weight, in their order: that of a categorical, False before True,
        numbers by size, text by the alphabet.
    event : object
        The positive level; with more than two levels it has no meaning.
    dtype : dtype
        The pandas type of the labels.
    """

    name: str
    levels: tuple[Level, ...]
    event: Level
    dtype: Any

    @property
    def event_code(self) -> int:
        """The position of the event among the levels."""
        return self.levels.index(self.event)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs of levels, by position: (event, other) of two, i before j of more."""
        if len(self.levels) == 2:
            return ((self.event_code, 1 - self.event_code),)
        return tuple(combinations(range(len(self.levels)), 2))

    def find(self, value: object) -> Level | None:
        """The level that a value means: 1, 1.0 and True are equal, '1' is none of them. None without one."""
        return next((level for level in self.levels if _equal(level, value)), None)

    def labels(self, codes: np.ndarray, index: pd.Index | None = None) -> pd.Series:
        """Labels of the response's own type.

        Parameters
        ----------
        codes : array_like (n,) of int
            Positions among the levels, −1 where there is no prediction.
        index : Index (n,), optional
            The row labels.

        Returns
        -------
        Series (n,)
            Missing where the code is −1; booleans and integers become pandas' nullable type then.

        Examples
        --------
        >>> import numpy as np
        >>> response = Response("y", (False, True), True, np.dtype(bool))
        >>> response.labels([1, 0]).tolist(), str(response.labels([1, -1]).dtype)
        ([True, False], 'boolean')
        """
        codes = np.asarray(codes, dtype=np.intp)
        dtype = _nullable(self.dtype) if (codes < 0).any() else self.dtype
        if isinstance(dtype, pd.CategoricalDtype):
            known = dtype.categories.get_indexer(pd.Index(self.levels))
            values = pd.Categorical.from_codes(np.append(known, -1)[codes], dtype=dtype)
            return pd.Series(values, index=index, name=self.name)
        levels = pd.Series(list(self.levels), dtype=dtype)
        taken = levels.array.take(codes, allow_fill=True)
        series: pd.Series = pd.Series(taken, index=index, name=self.name, dtype=dtype)
        return series


def learn_response(
    expression: Expression, value: Value, dtype: Any, counted: np.ndarray, event: object, n_incomplete: int = 0
) -> Response:
    """Find the levels and the event.

    Parameters
    ----------
    expression : Expression
        The left side of the formula.
    value : Value
        Its value on n rows, none missing.
    dtype : dtype
        The type of the labels.
    counted : ndarray (n,) of bool
        The rows of positive weight; the others have no say in the levels.
    event : object
        The positive level, None for the last one, and for more than two levels.
    n_incomplete : int
        How many rows were left out, since a value of them is missing.

    Returns
    -------
    Response
        Of two or more levels.

    Raises
    ------
    ArgumentError
        If the event is not a level, or there are more than two.
    DataError
        If there is one level only, or a number of many values.
    """
    name = expression.code
    if value.kind == "number":
        levels = _numbers(name, value, dtype, counted)
    else:
        levels = tuple(value.levels[code] for code in np.unique(value.data[counted]))
        if len(levels) == counted.sum() > MOST_NUMBERS:
            raise DataError(
                f"The response {name!r} has another level in each of the {len(levels)} rows that count, "
                f"{_shown(list(levels))}: it names rows, and there is nothing that tells its levels apart."
            )
    if len(levels) == 1:
        left_out = f" Rows left out for missing values: {n_incomplete}." if n_incomplete else ""
        raise DataError(
            f"The response {name!r} has one class only in the {int(counted.sum())} rows that count: "
            f"{levels[0]!r}. Two are needed.{left_out}"
        )
    if len(levels) > 2 and event is not None:
        differ, against = differ_by_case(levels), f"{_compared(name)} == {event!r}"
        same = f" But {differ} differ by case alone: make them one before." if differ else ""
        raise ArgumentError(
            f"event={event!r} is not allowed: the response {name!r} has {len(levels)} levels, {_shown(levels)}, and an "
            f'event is one of two. For it against the others compare, as in "{against} ~ ...".{same}'
        )
    response = Response(name, levels, levels[-1], dtype)
    chosen = levels[-1] if event is None else response.find(event)
    if chosen is None:
        raise ArgumentError(
            f"event={event!r} is not allowed: it must be a level of the response {name!r}: {_shown(levels)}."
        )
    return replace(response, event=chosen)


def response_codes(response: Response, value: Value) -> np.ndarray:
    """The position of each row among the levels: (n,) int, −1 for a level without weight."""
    if value.kind == "number":
        numbers, levels = value.data[:, 0], np.array(response.levels, dtype=float)
        codes = np.searchsorted(levels, numbers).clip(max=len(levels) - 1)
        return np.where(levels[codes] == numbers, codes, -1)
    return positions(value, response.levels)


def label_type(expression: Expression, value: Value, data: pd.DataFrame) -> Any:
    """The type of the labels: that of the column, if the response is one, or of the computed values."""
    column = expression.column
    if value.kind == "category":
        return value.dtype
    own = data[column].dtype if column is not None else value.dtype
    return value.dtype if own == np.dtype(object) and value.kind != "text" else own


def _compared(name: str) -> str:
    """The response as the left side of a comparison."""
    operator = not isinstance(ast.parse(name, mode="eval").body, ast.Name | ast.Call | ast.Attribute)
    return f"({name})" if operator else name


def _numbers(name: str, value: Value, dtype: Any, counted: np.ndarray) -> tuple[Level, ...]:
    if value.data.shape[1] > 1:
        raise DataError(f"The response {name!r} has {value.data.shape[1]} columns: it must have one.")
    found, whole = np.unique(value.data[counted, 0]), types.is_integer_dtype(dtype)
    if whole and np.abs(found).max(initial=0.0) >= TOLD_APART:
        raise DataError(
            f"The response {name!r} has whole numbers of {TOLD_APART} or more, which are not told apart as numbers: "
            f'make them levels, as in "C({name}) ~ ...".'
        )
    if len(found) > 2 and (len(found) > MOST_NUMBERS or (found != np.round(found)).any()):
        middle = f"{np.median(value.data[counted, 0]):.6g}"
        raise DataError(
            f"The response {name!r} is a number of {len(found)} distinct values, "
            f"{_shown(found.astype(int).tolist() if whole else found.tolist())}: "
            f'make it two classes by a comparison, as in "{name} > {middle} ~ ...".'
        )
    return tuple(int(number) if whole else number for number in found.tolist())


def _equal(level: Level, event: object) -> bool:
    """Whether the event means this level: 1, 1.0 and True are equal, '1' is none of them."""
    if not np.isscalar(event) and not isinstance(event, type(level)):
        return False
    try:
        return bool(level == event)
    except (TypeError, ValueError):
        return False


def _nullable(dtype: Any) -> Any:
    """The type that can hold the same values and a missing one."""
    if isinstance(dtype, pd.SparseDtype):
        return _nullable(dtype.subtype)
    if dtype == np.dtype(bool):
        return "boolean"
    if isinstance(dtype, np.dtype) and dtype.kind in "iu":
        return dtype.name.replace("uint", "UInt").replace("int", "Int")
    return dtype


def _shown(levels: Any) -> str:
    shown = ", ".join(map(repr, levels[:_MOST_SHOWN]))
    return shown if len(levels) <= _MOST_SHOWN else f"{shown}, …"
