"""Columns of a data frame, read by kind: number, boolean, text, category."""

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from svmstat._tools.checks import nearest
from svmstat._tools.frames import as_pandas, categorical_of_arrow
from svmstat.errors import ArgumentTypeError, DataError

MIXED = "mixed types"
_OBJECT_KINDS = {
    "integer": "number",
    "floating": "number",
    "mixed-integer-float": "number",
    "decimal": "number",
    "boolean": "boolean",
    "string": "text",
    "mixed": MIXED,
    "mixed-integer": MIXED,
}

_HELD = ("interval", "datetime", "period", "timedelta")
"""Objects for which pandas has a type of its own, by how it calls them."""

TOLD_APART = 2**53
"""From here on whole numbers share their doubles."""

_LISTED = 12
"""Levels that a message names."""


@dataclass(frozen=True, slots=True)
class Column:
    """The kind of a column when the model was fitted, which it must also have in new data.

    Attributes
    ----------
    kind : str
        ``number``, ``boolean``, ``text``, ``category``, ``missing`` (nothing but missing values)
        or the name of a type that no term can use as it is, such as ``datetime64``.
    dtype : pandas.CategoricalDtype or None
        The categories of a column of that kind.
    """

    kind: str
    dtype: pd.CategoricalDtype | None

    @property
    def expected(self) -> str:
        """The kind of its values, of categories that of these."""
        return self.kind if self.dtype is None else _kind(self.dtype.categories.to_series())


@dataclass(frozen=True, slots=True)
class Table:
    """The columns that a formula reads, with the usual numpy types, on the index 0 … n − 1.

    Attributes
    ----------
    columns : dict of Series (n,)
        The values of each column.
    kinds : dict of Column
        The kind of each column.
    index : Index (n,)
        The row labels of the frame they come from.
    """

    columns: dict[Hashable, pd.Series]
    kinds: dict[Hashable, Column]
    index: pd.Index

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.index)

    def take(self, rows: np.ndarray) -> "Table":
        """The rows at these positions (k,)."""
        columns = {name: pd.Series(values.array.take(rows), copy=False) for name, values in self.columns.items()}
        return Table(columns, self.kinds, self.index.take(rows))

    def of(self, names: Iterable[Hashable]) -> "Table":
        """The same rows of some of the columns."""
        names = list(names)
        return Table({k: self.columns[k] for k in names}, {k: self.kinds[k] for k in names}, self.index)

    def missing(self, names: Iterable[Hashable]) -> np.ndarray:
        """Whether any of these columns is missing in a row: (n,) bool."""
        gone = np.zeros(len(self), dtype=bool)
        for name in names:
            gone |= self.columns[name].isna().to_numpy()
        return gone


def check_frame(name: str, data: object) -> pd.DataFrame:
    """The data frame, of any library, as one of pandas; refused if it is none or has columns in several levels."""
    found = as_pandas(name, data)
    if isinstance(found.columns, pd.MultiIndex):
        raise ArgumentTypeError(f"{name} has column names in several levels: flatten them first.")
    return found


def computable(data: pd.DataFrame) -> dict[Hashable, bool]:
    """The columns by name, each with whether it holds numbers or booleans by its type."""
    return {
        name: _is_known(dtype) and bool(types.is_numeric_dtype(dtype) or types.is_bool_dtype(dtype))
        for name, dtype in zip(data.columns, data.dtypes, strict=True)
    }


def read_table(name: str, data: pd.DataFrame, used: Mapping[Hashable, Column | None]) -> Table:
    """Read the columns that a formula uses.

    Parameters
    ----------
    name : str
        What the messages call the frame, ``data`` or ``newdata``.
    data : DataFrame (n, …)
        The frame; other columns are ignored.
    used : mapping
        The columns to read, each with what it was at the fit (None while fitting).

    Returns
    -------
    Table
        n rows.

    Raises
    ------
    DataError
        If a column is missing, there twice, of another kind than at the fit, or has new categories.
    """
    columns, kinds = {}, {}
    for column, fitted in used.items():
        values = _one_column(name, data, column)
        kind, values = plain(values)
        if fitted is not None:
            kind, values = _conform(name, column, kind, values, fitted)
        columns[column] = pd.Series(values.array, copy=False)
        kinds[column] = Column(kind, values.dtype if isinstance(values.dtype, pd.CategoricalDtype) else None)
    return Table(columns, kinds, data.index)


def plain(values: pd.Series) -> tuple[str, pd.Series]:
    """The kind of a series and its values as int64, float64, bool, boolean, text or category."""
    values = _categories_of_arrow(values)
    kind = _kind(values)
    if kind == MIXED and values.hasnans:  # NaT among numbers, as joins leave it
        values = _with_nan(values)
        kind = _kind(values)
    if values.dtype == np.dtype(object) and kind.startswith(_HELD):
        values = values.infer_objects()
        kind = _kind(values)
    dtype = values.dtype
    if kind == "number" and dtype not in (np.dtype("int64"), np.dtype("float64")):
        whole = _holds_int64(values)
        numbers = values.to_numpy("int64") if whole else _doubles(values)
        values = pd.Series(numbers, index=values.index, name=values.name)
    elif kind == "missing" and not isinstance(dtype, pd.CategoricalDtype):
        values = pd.Series(np.full(len(values), np.nan), index=values.index, name=values.name)
    elif kind == "boolean" and dtype != np.dtype(bool):
        values = values.astype("boolean" if values.hasnans else bool)
    return kind, values


def _with_nan(values: pd.Series) -> pd.Series:
    """Objects (n,) of which all that are missing are NaN."""
    found = values.to_numpy(object, copy=True)
    found[values.isna()] = np.nan
    return pd.Series(found, index=values.index, name=values.name, dtype=object)


def _doubles(values: pd.Series) -> np.ndarray:
    """Numbers (n,) as doubles; those that are too large for them are infinite, and refused as such."""
    try:
        with np.errstate(over="ignore"):
            numbers = values.to_numpy("float64", na_value=np.nan)
    except OverflowError:
        numbers = np.array([_double(value) for value in values])
    _refuse_inexact(values, numbers)
    return numbers


def _refuse_inexact(values: pd.Series, numbers: np.ndarray) -> None:
    """Refuse whole numbers that doubles cannot tell apart, since levels and conditions would be others.

    Raises
    ------
    DataError
    """
    for place in np.flatnonzero((np.abs(numbers) >= TOLD_APART) & np.isfinite(numbers)):
        value = values.iloc[place]
        if isinstance(value, int | np.integer) and int(value) != int(numbers[place]):
            raise DataError(
                f"column {values.name!r} has whole numbers such as {int(value)}, and beside missing values, or beyond "
                "64 bits, they become doubles, which do not tell them apart: give it as text, .astype('string'), if "
                "they are names, or as .astype(float) if they are amounts."
            )


def _double(value: Any) -> float:
    try:
        return np.nan if pd.isna(value) else float(value)
    except OverflowError:
        return float(np.copysign(np.inf, 1 if value > 0 else -1))


def _categories_of_arrow(values: pd.Series) -> pd.Series:
    """A dictionary column of pyarrow as pandas' categories: the same, in their order, those without a row included."""
    if not (isinstance(values.dtype, pd.ArrowDtype) and str(values.dtype).startswith("dictionary")):
        return values
    categories = categorical_of_arrow(values.array.__arrow_array__())
    return pd.Series(categories, index=values.index, name=values.name)


def _kind(values: pd.Series) -> str:
    dtype = values.dtype
    if not len(values) or (values.hasnans and values.isna().all()):
        return "missing"
    if isinstance(dtype, pd.CategoricalDtype):
        return "category"
    if dtype == np.dtype(object):
        inferred = types.infer_dtype(values, skipna=True)
        return _OBJECT_KINDS.get(inferred, inferred)
    if not _is_known(dtype):
        return str(dtype)
    if types.is_bool_dtype(dtype):
        return "boolean"
    if types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype):
        return "number"
    return "text" if types.is_string_dtype(dtype) else str(dtype)


def _is_known(dtype: Any) -> bool:
    """Whether pandas knows what the values of a type are, as it does not of each of pyarrow's."""
    try:
        return dtype.type is not None
    except NotImplementedError:
        return False


def _holds_int64(values: pd.Series) -> bool:
    """Whether the numbers of another type than int64 are whole by type, none missing, none too large."""
    if values.hasnans:
        return False
    if str(values.dtype).lower().startswith("uint64"):
        return int(values.max()) < 2**63
    if values.dtype == np.dtype(object):
        return types.infer_dtype(values) == "integer" and max(abs(value) for value in values) < 2**63
    return types.is_integer_dtype(values.dtype)


def _one_column(name: str, data: pd.DataFrame, column: Hashable) -> pd.Series:
    if column not in data.columns:
        raise DataError(f"{name} has no column {column!r}{nearest(str(column), map(str, data.columns))}")
    values = data[column]
    if isinstance(values, pd.DataFrame):
        raise DataError(f"{name} has {values.shape[1]} columns named {column!r}: the formula needs one.")
    return values


def _conform(name: str, column: Hashable, kind: str, values: pd.Series, fitted: Column) -> tuple[str, pd.Series]:
    """The values as the column was at the fit."""
    if kind == "missing":
        plainly: Any = {"boolean": "boolean", "text": object}.get(fitted.kind, float)
        return fitted.kind, pd.Series([np.nan] * len(values), dtype=plainly if fitted.dtype is None else fitted.dtype)
    if kind == "category":
        kind, values = plain(pd.Series(np.asarray(values, dtype=object)))
    expected = fitted.expected
    if expected == MIXED and kind in _OBJECT_KINDS.values():
        kind, values = expected, values.astype(object)
    if _unitless(kind) != _unitless(expected) and fitted.kind != "missing":
        known = values[values.notna()].tolist()
        odd = (each for each in known if expected != "number" or not (_is_number(each) or reads_as_number(each)))
        holds = f"{name} column {column!r} holds {kind} such as {next(odd, known[0])!r}"
        raise DataError(f"{holds}; at the fit it held {expected}.")
    if fitted.dtype is not None:
        return "category", _coded(name, column, values, fitted.dtype)
    if kind != expected and _is_time(kind):
        return expected, _in_unit_of(name, column, values, expected)
    return kind, values


def _is_time(kind: str) -> bool:
    return kind.startswith(("datetime64", "timedelta64", "timestamp", "duration"))


def _in_unit_of(name: str, column: Hashable, values: pd.Series, fitted: str) -> pd.Series:
    """Times as they are stored in the unit of the fit, of which terms may compute numbers.

    Raises
    ------
    DataError
        If this unit is too coarse for them, or too fine.
    """
    try:
        stored: pd.Series = values.astype(types.pandas_dtype(fitted))
        same = bool((stored.astype(values.dtype) == values)[values.notna()].all())
    except (ValueError, OverflowError):
        same = False
    if not same:
        raise DataError(
            f"{name} column {column!r} holds {values.dtype}; at the fit it held {fitted}, in which not all of them can "
            "be stored: round them, as .dt.floor('s') does to seconds."
        )
    return stored


def _unitless(kind: str) -> str:
    """A kind without the unit in which times are stored, or the type of the ends of intervals.

    Examples
    --------
    >>> [_unitless(kind) for kind in ("datetime64[us, UTC]", "timedelta64[ns]", "interval[int64, right]", "text")]
    ['datetime64[UTC]', 'timedelta64[]', 'interval[right]', 'text']
    """
    kind = re.sub(r"^timestamp\[(\w+)(?:, tz=([^\]]+))?\]\[pyarrow\]$", r"datetime64[\1, \2]", kind)
    kind = re.sub(r"^duration\[(\w+)\]\[pyarrow\]$", r"timedelta64[\1]", kind)
    return re.sub(r"^(datetime64|timedelta64|interval)\[\w+(?:, )?([^\]]*)\]$", r"\1[\2]", kind)


def _is_number(value: object) -> bool:
    return isinstance(value, Number) and not isinstance(value, bool | np.bool_)


def reads_as_number(value: object) -> bool:
    """Whether text reads as a number, with a decimal point or comma."""
    if not isinstance(value, str):
        return False
    try:
        float(value.replace(",", "."))
    except ValueError:
        return False
    return True


def _coded(name: str, column: Hashable, values: pd.Series, dtype: pd.CategoricalDtype) -> pd.Series:
    """The values as a categorical of this type."""
    levels = dtype.categories.tolist()
    known = {(isinstance(level, bool | np.bool_), level): code for code, level in enumerate(levels)}  # True is no 1
    gone = values.isna().to_numpy()
    keys = ((isinstance(v, bool | np.bool_), v) for v in values)
    found = [-1 if missing else known.get(key, -2) for key, missing in zip(keys, gone, strict=True)]
    codes = np.array(found, dtype=int)
    if (codes == -2).any():
        raise new_levels(f"{name} column {column!r}", values[codes == -2].unique().tolist(), levels)
    return pd.Series(pd.Categorical.from_codes(codes, dtype=dtype))


def new_levels(what: str, new: Iterable[object], known: Iterable[object]) -> DataError:
    """The error for levels that the fit has not seen, ready to be raised."""
    return DataError(f"{what} has new level(s) {_listed(new)}; the fit knows {_listed(known)}.")


def _listed(levels: Iterable[object]) -> str:
    """The first of them, and how many more there are."""
    shown = list(map(repr, levels))
    more = f" and {len(shown) - _LISTED} more" if len(shown) > _LISTED + 1 else ""
    return ", ".join(shown[:_LISTED] if more else shown) + more
