"""What a piece of a formula evaluates to: numbers or levels, and where they are missing."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from svmstat.errors import DataError
from svmstat.formula.columns import MIXED, plain

Level = Any  # bool, int, float, str, or what a categorical holds


@dataclass(frozen=True, slots=True)
class Value:
    """What an expression of a formula gives on n rows: numbers or levels, and where they are missing.

    Attributes
    ----------
    kind : str
        ``number``, or ``boolean``, ``text``, ``category`` for levels.
    data : ndarray
        Numbers: (n, k) float. Levels: (n,) int codes into `levels`, −1 where missing.
    levels : tuple
        The possible levels in their order; empty for numbers.
    missing : ndarray
        (n,) bool.
    dtype : dtype
        The pandas type it came as.
    single : bool
        Whether it came as one value for all rows.
    """

    kind: str
    data: np.ndarray
    levels: tuple[Level, ...]
    missing: np.ndarray
    dtype: Any
    single: bool = False

    def take(self, rows: np.ndarray) -> "Value":
        """The rows at these positions (k,)."""
        return replace(self, data=self.data[rows], missing=self.missing[rows])

    def agrees(self, other: "Value") -> bool:
        """Whether another value of as many rows says the same, up to rounding."""
        if self.kind == "number" or other.kind == "number":
            if self.kind != other.kind or self.data.shape != other.data.shape:
                return bool(other.missing.all())
            return np.allclose(self.data, other.data, rtol=1e-9, atol=1e-12, equal_nan=True)
        mine, others = np.array([*self.levels, None], object), np.array([*other.levels, None], object)
        return bool((mine[self.data] == others[other.data]).all())

    def spread(self, rows: np.ndarray, n: int) -> "Value":
        """The value over n rows, of which it covers those at these positions; the others are missing."""
        blank = np.nan if self.kind == "number" else -1
        data = np.full((n, *self.data.shape[1:]), blank, dtype=self.data.dtype)
        missing = np.ones(n, dtype=bool)
        data[rows], missing[rows] = self.data, self.missing
        return replace(self, data=data, missing=missing)

    def without(self, rows: np.ndarray) -> "Value":
        """The value with these rows, (n,) bool, missing too."""
        if not (rows & ~self.missing).any():
            return self
        data = self.data.copy()
        data[rows] = np.nan if self.kind == "number" else -1
        return replace(self, data=data, missing=self.missing | rows)


def interpret(what: str, raw: object, n: int) -> Value:
    """Make a `Value` of whatever the code of an expression gave.

    Parameters
    ----------
    what : str
        What the messages call it.
    raw : object
        A scalar, or n rows of numbers (in one or more columns), booleans, text or categories.
    n : int
        The number of rows.

    Returns
    -------
    Value
        n rows.

    Raises
    ------
    DataError
        If it is of another type or length.

    Examples
    --------
    >>> interpret("x", ["b", None, "a"], 3).data
    array([ 1, -1,  0])
    """
    array = raw if isinstance(raw, pd.DataFrame | pd.Series | pd.Index) else _array(what, raw)
    if array.ndim == 0:
        return replace(_vector(what, pd.Series([raw] * n)), single=True)
    if array.ndim > 2 or array.shape[0] != n:
        raise DataError(f"{what} gives an array of shape {array.shape} for {n} rows.")
    if isinstance(array, pd.Series | pd.DataFrame) and not array.index.equals(pd.RangeIndex(n)):
        raise DataError(f"{what} gives rows in another order or on other labels than it was given.")
    return _matrix(what, pd.DataFrame(array)) if array.ndim == 2 else _vector(what, pd.Series(array))


def _array(what: str, raw: Any) -> Any:
    if isinstance(raw, pd.api.extensions.ExtensionArray):
        return raw
    try:
        return np.asarray(pd.Series(raw) if isinstance(raw, list | tuple) else raw)
    except ValueError as error:
        raise DataError(f"{what} gives a {type(raw).__name__} that is no column of values.") from error


def _matrix(what: str, frame: pd.DataFrame) -> Value:
    columns = [_vector(what, frame.iloc[:, k]) for k in range(frame.shape[1])]
    if not columns or any(column.kind != "number" for column in columns):
        raise DataError(f"{what} gives a table: all its columns must be numbers.")
    data = np.hstack([column.data for column in columns])
    return Value("number", data, (), np.isnan(data).any(axis=1), columns[0].dtype)


def _vector(what: str, series: pd.Series) -> Value:
    kind, values = plain(series)
    dtype = values.dtype if series.dtype == np.dtype(object) and kind != "text" else series.dtype
    if isinstance(values.dtype, pd.CategoricalDtype):
        codes = values.cat.codes.to_numpy().astype(np.intp)
        return Value("category", codes, tuple(values.cat.categories.tolist()), codes < 0, dtype)
    missing = values.isna().to_numpy()
    if kind in ("number", "missing"):
        return Value("number", values.to_numpy(dtype=float)[:, None], (), missing, dtype)
    if kind == "boolean":
        codes = np.where(missing, -1, values.to_numpy(dtype=bool, na_value=False)).astype(np.intp)
        return Value("boolean", codes, (False, True), missing, dtype)
    if kind == "text":
        codes, levels = pd.factorize(values, sort=True)
        return Value("text", codes, tuple(levels.tolist()), missing, dtype)
    known = [each for each, gap in zip(series.tolist(), missing, strict=True) if not gap]
    other = next((f" and {each!r}" for each in known if kind == MIXED and type(each) is not type(known[0])), "")
    message = f"{what} holds {kind} such as {known[0]!r}{other}: it must be numbers, booleans, text or categories."
    if kind.startswith(("date", "time", "period", "duration")):
        message += (
            " Take parts of it, as in date.dt.month, or make a column of the data of it, such as days since a day; "
            "C(...) makes a level of each."
        )
    raise DataError(message)
