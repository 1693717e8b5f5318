"""Data frames of any library at the public door: pandas inside, and answers in the kind of frame that was given.

All else in the package knows pandas alone. narwhals is imported when another frame is met, and not before.
"""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from typing import Any, TypeGuard, TypeVar, cast

import numpy as np
import pandas as pd

from svmstat.errors import ArgumentTypeError, DataError

PANDAS = "pandas"

KINDS = (PANDAS, "polars", "pyarrow", "modin", "cudf")
"""Libraries whose frames are read, as narwhals calls them."""

ALLOWED = "a pandas DataFrame, one of polars, a Table of pyarrow, or another eager frame that narwhals reads"

Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """A data frame that was passed to a function.

    Attributes
    ----------
    data : DataFrame
        What it says: itself if it is of pandas, but for numbers whose bytes are in another order than this machine's;
        otherwise on the index 0 … n − 1, with numpy's types where nothing is missing and pandas' nullable ones where
        something is.
    kind : str
        Its library, as narwhals calls it.
    native : object
        The frame.
    """

    data: pd.DataFrame
    kind: str
    native: Any

    def beside(self, added: pd.DataFrame) -> Any:
        """The frame with further columns, its own as they are."""
        if self.kind == PANDAS:
            return pd.concat([self.data, added], axis=1)
        nw = import_module("narwhals.stable.v2")
        own, others = (nw.from_native(each, eager_only=True) for each in (self.native, alike(added, self.kind)))
        return own.with_columns(*(others[name] for name in others.columns)).to_native()


def read_frame(name: str, data: Any) -> Given:
    """A data frame of any library, which messages call ``name``.

    Raises
    ------
    ArgumentTypeError
        If it is no frame, or none whose rows are at hand.
    DataError
        If two of its columns have one name.

    Examples
    --------
    >>> import polars as pl
    >>> read_frame("data", pl.DataFrame({"x": [1, None], "y": ["a", "b"]})).data.dtypes.astype(str).tolist()
    ['Int64', 'string']
    """
    if isinstance(data, pd.DataFrame):
        return Given(_in_native_order(data), PANDAS, data)
    nw = import_module("narwhals.stable.v2")
    try:
        frame = nw.from_native(data, pass_through=True)
    except import_module("narwhals.exceptions").DuplicateError as error:
        raise DataError(f"{name} has several columns of one name: {' '.join(str(error).split())}") from error
    if isinstance(frame, nw.LazyFrame):
        kind = type(data).__name__
        raise ArgumentTypeError(
            f"{name} is of type {kind}, whose rows are not at hand: collect() or compute() it first."
        )
    if not isinstance(frame, nw.DataFrame):
        raise ArgumentTypeError(f"{name} is of type {type(data).__name__}: it must be {ALLOWED}.")
    if frame.implementation.is_pandas_like():
        return Given(frame.to_pandas(), str(frame.implementation), data)
    columns = {column: _series(nw, frame[column]) for column in frame.columns}
    return Given(pd.DataFrame(columns, index=pd.RangeIndex(len(frame)), copy=False), str(frame.implementation), data)


def native(kind: Any) -> Any:
    """The type of a column, of numpy's with the bytes in the order of this machine."""
    return kind.newbyteorder("=") if isinstance(kind, np.dtype) else kind


def _in_native_order(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame itself, or, where bytes of numbers are in another order than this machine's, one where they are not."""
    swapped = {name: native(kind) for name, kind in frame.dtypes.items() if native(kind) != kind}
    return frame.astype(swapped) if swapped else frame


def unshared(given: Any) -> Any:
    """A data frame, column, array, list or mapping that stays what it is when what was given is changed in place.

    Where pandas copies what is written to, its values are not copied here.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": [1, 2]})
    >>> kept = unshared(frame)
    >>> frame.loc[0, "x"] = 5
    >>> kept["x"].tolist()
    [1, 2]
    """
    if isinstance(given, pd.DataFrame | pd.Series):
        return given.copy(deep=not _copies_on_write())
    if isinstance(given, Mapping):
        return copy.copy(given)
    return given.copy() if isinstance(given, np.ndarray | list | pd.api.extensions.ExtensionArray) else given


def has_rows_of(now: pd.DataFrame, kept: pd.DataFrame) -> bool:
    """Whether a frame that has changed in place still has its rows in their order, as far as can be told.

    Their labels are the same, and a column that varies is.

    Examples
    --------
    >>> kept = pd.DataFrame({"x": [2, 1], "z": [1, 2]})
    >>> has_rows_of(kept.assign(x=0, new=1), kept), has_rows_of(kept.sort_values("x", ignore_index=True), kept)
    (True, False)
    """
    names = [each.columns[~each.columns.duplicated(keep=False)] for each in (now, kept)]
    both = ((now[name], kept[name]) for name in names[0].intersection(names[1], sort=False))
    return now.index.equals(kept.index) and any(_varies(old) for new, old in both if new.equals(old))


def _varies(column: pd.Series) -> bool:
    """Whether some entry is not the one before it, whatever they are."""
    return not column.iloc[1:].reset_index(drop=True).equals(column.iloc[:-1].reset_index(drop=True))


def _copies_on_write() -> bool:
    return int(pd.__version__.partition(".")[0]) >= 3 or pd.get_option("mode.copy_on_write") is True


def as_pandas(name: str, data: Any) -> pd.DataFrame:
    """What a data frame of any library says; arguments and errors as of `read_frame`."""
    return read_frame(name, data).data


def columns_called(data: pd.DataFrame, names: Iterable[Any]) -> pd.DataFrame:
    """The columns of these names: a list of True and False would be a mask to pandas.

    Examples
    --------
    >>> columns_called(pd.DataFrame([[1, 2, 3]], columns=["a", True, False]), [False, True])
       False  True
    0      3     2
    """
    places = np.array([data.columns.get_loc(name) for name in names], np.intp)
    return data.iloc[:, places]


def alike(answer: Any, kind: str) -> Any:
    """A Series or a DataFrame with a row for each row of the data, as the library that these came from has them.

    Other libraries have no index: the rows are in the order of the data. They have one text as the name of a column,
    what is (AVH, PCH) in pandas being ``AVH_PCH``; and null where pandas has NaN, NA or None.

    Examples
    --------
    >>> alike(pd.Series([0.5, np.nan], name="p"), "pyarrow").to_pylist()
    [0.5, None]
    """
    if kind == PANDAS:
        return answer
    nw = import_module("narwhals.stable.v2")
    if isinstance(answer, pd.Series):
        return _native(nw, str(answer.name), answer, kind)
    names = [_called(name) for name in answer.columns]
    if len(set(names)) < len(names):
        raise DataError(f"two columns of the answer would have one name, of {', '.join(names)}: rename the levels.")
    native = (_native(nw, name, answer.iloc[:, k], kind) for k, name in enumerate(names))
    first, *others = (
        nw.from_native(each, series_only=True).alias(name) for each, name in zip(native, names, strict=True)
    )
    return first.to_frame().with_columns(*others).to_native()


def can_answer(kind: str) -> bool:
    """Whether there is the library to answer in."""
    try:
        import_module("modin.pandas" if kind == "modin" else kind)
    except ImportError:
        return False
    return True


def in_kind(method: Method) -> Method:
    """A method of ``newdata`` whose answer, with a row for each of its rows, is of the same kind of frame.

    Without ``newdata`` it is of the kind that ``self.kind`` says, that of the data of the fit.
    """

    @wraps(method)
    def answered(self: Any, newdata: Any = None, *args: Any, **kwargs: Any) -> Any:
        if newdata is None:
            return alike(method(self, None, *args, **kwargs), self.kind)
        found = read_frame("newdata", newdata)
        return alike(method(self, found.data, *args, **kwargs), found.kind)

    return cast("Method", answered)


def of_any_kind(method: Method) -> Method:
    """A method of ``newdata``, which may be a frame of any library; its answer is none of rows."""

    @wraps(method)
    def read(self: Any, newdata: Any = None, *args: Any, **kwargs: Any) -> Any:
        return method(self, None if newdata is None else as_pandas("newdata", newdata), *args, **kwargs)

    return cast("Method", read)


# From a library to pandas


def _series(nw: Any, column: Any) -> Any:
    """The values of a column of a narwhals frame, exactly: an array of numpy or pandas."""
    dtype, gone = column.dtype, column.is_null().to_numpy()
    if dtype in (nw.Categorical, nw.Enum):
        return _categories(nw, column, dtype)
    if dtype.is_float():
        return np.array(column.to_numpy())
    if dtype == nw.Boolean or (dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128)):
        values = np.array(column.fill_null(False if dtype == nw.Boolean else 0).to_numpy())
        masked = pd.arrays.BooleanArray if dtype == nw.Boolean else pd.arrays.IntegerArray
        return masked(values, np.array(gone)) if gone.any() else values
    if dtype == nw.String:
        return pd.array(column.to_list(), dtype="string")
    if dtype in (nw.Date, nw.Datetime, nw.Duration):
        return _times(nw, column, dtype)
    values = np.empty(len(column), object)
    values[:] = column.to_list()
    return values


def _times(nw: Any, column: Any, dtype: Any) -> Any:
    """Times, durations and dates, the last as times of whole seconds."""
    if dtype == nw.Date:
        return column.cast(nw.Datetime("ms")).to_numpy().astype("M8[s]")
    if dtype == nw.Duration:
        return column.to_numpy().astype(f"m8[{dtype.time_unit}]")
    if dtype.time_zone is None:
        return column.to_numpy().astype(f"M8[{dtype.time_unit}]")
    plain = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None).to_numpy()
    utc = pd.DatetimeIndex(plain.astype(f"M8[{dtype.time_unit}]")).tz_localize("UTC")
    return utc.tz_convert(dtype.time_zone).array


def _categories(nw: Any, column: Any, dtype: Any) -> pd.Categorical:
    """A categorical: the levels of an Enum or a dictionary in their order, or else those that there are, sorted."""
    if column.implementation.is_pyarrow():
        return categorical_of_arrow(column.to_native())
    values = column.cast(nw.String).to_list()
    if dtype == nw.Enum:
        return pd.Categorical(values, categories=_of_levels(list(dtype.categories)), ordered=True)
    return pd.Categorical(values, categories=_of_levels(sorted({each for each in values if each is not None})))


def _of_levels(levels: Sequence[Any]) -> pd.Index:
    """Levels as an index; texts as pandas has them by default."""
    return pd.Index(levels) if len(levels) else pd.Index([], dtype=object)


def nan_is_missing(values: pd.Series) -> pd.Series:
    """The values, of which NaN is missing in pandas' nullable numbers and in pyarrow's too, where it is a number.

    Examples
    --------
    >>> kept = pd.Series(pd.arrays.FloatingArray(np.array([1.0, np.nan]), np.zeros(2, bool)))
    >>> kept.isna().tolist(), nan_is_missing(kept).isna().tolist()
    ([False, False], [False, True])
    """
    dtype = values.dtype
    if isinstance(dtype, np.dtype) or not pd.api.types.is_float_dtype(dtype):
        return values
    return values.mask(np.isnan(values.to_numpy("float64", na_value=np.nan)))


def categorical_of_arrow(column: Any) -> pd.Categorical:
    """A dictionary array of pyarrow: its levels in their order, those without a row included."""
    whole = column.unify_dictionaries() if hasattr(column, "unify_dictionaries") else column
    levels = [level for level in whole.combine_chunks().dictionary.to_pylist() if level is not None]
    return pd.Categorical(column.to_pylist(), categories=_of_levels(levels), ordered=bool(whole.type.ordered))


# From pandas to a library


def _called(name: Any) -> str:
    return "_".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _native(nw: Any, name: str, values: pd.Series, kind: str) -> Any:
    """A column of the library."""
    gone = values.isna().to_numpy()
    if isinstance(values.dtype, pd.CategoricalDtype):
        return _native_categories(nw, name, values.array, kind)
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "biuf":
        made = nw.new_series(name, values.to_numpy(), backend=kind)
        return (made.fill_nan(None) if gone.any() else made).to_native()
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "mM":
        return _native_times(nw, name, values, kind)
    plain = [None if missing else value for value, missing in zip(values.tolist(), gone, strict=True)]
    return nw.new_series(name, plain, _type_of(nw, values.dtype), backend=kind).to_native()


def _native_times(nw: Any, name: str, values: pd.Series, kind: str) -> Any:
    """Times and durations; what is of whole seconds came from dates."""
    times = values.to_numpy()
    unit = np.datetime_data(times.dtype)[0]
    finer = times.astype(f"{times.dtype.kind}8[{'ms' if unit == 's' else unit}]")
    made = nw.new_series(name, finer, backend=kind)
    return (made.cast(nw.Date) if unit == "s" and values.dtype.kind == "M" else made).to_native()


def _type_of(nw: Any, dtype: Any) -> Any:
    """The type of narwhals for pandas' nullable types; None where the values say it."""
    if isinstance(dtype, pd.StringDtype):
        return nw.String
    if str(dtype) == "boolean":
        return nw.Boolean
    return getattr(nw, str(dtype), None) if pd.api.types.is_extension_array_dtype(dtype) else None


def _native_categories(nw: Any, name: str, values: pd.Categorical, kind: str) -> Any:
    """A dictionary, an Enum where the levels have an order, or a Categorical."""
    if kind == "pyarrow":
        pa = import_module("pyarrow")
        codes = pa.array(values.codes.astype(np.int32), mask=values.codes < 0)
        return pa.chunked_array(
            [pa.DictionaryArray.from_arrays(codes, pa.array(values.categories.tolist()), ordered=bool(values.ordered))]
        )
    texts = all(isinstance(level, str) for level in values.categories)
    dtype = None if not texts else nw.Enum(values.categories.tolist()) if values.ordered else nw.Categorical
    levels = [*values.categories.tolist(), None]  # the code of what is missing is −1
    plain = [levels[code] for code in values.codes]
    return nw.new_series(name, plain, dtype, backend=kind).to_native()


def is_name(value: object) -> bool:
    """Whether a value may be the name of a column, which can be looked for among others: pd.NA is like none.

    Examples
    --------
    >>> is_name("x"), is_name(("x", 1)), is_name(["x"]), is_name(pd.NA)
    (True, True, False, False)
    """
    return value is not pd.NA and pd.api.types.is_hashable(value)


_DAY = "%Y-%m-%d"


class _Plainly(str):
    """Text that is written without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def label_at(index: pd.Index, place: int) -> object:
    """The label of a row as Python writes it, but times as tables have them.

    Examples
    --------
    >>> label_at(pd.Index([7, 8]), 1), label_at(pd.Index(["a"]), 0), label_at(pd.date_range("2021-02-17", periods=1), 0)
    (8, 'a', 2021-02-17)
    """
    label = index[place]
    if isinstance(label, pd.Timestamp | pd.Timedelta | pd.Period | pd.Interval):
        return _Plainly(shown_labels(index[[place]])[0] if _are_days(index) else str(label))
    return label.item() if isinstance(label, np.generic) else label


def shown_labels(index: pd.Index) -> list[str]:
    """The labels of rows as text, days without a time.

    Examples
    --------
    >>> shown_labels(pd.date_range("2021-02-17", periods=1)), shown_labels(pd.Index([7, "a"]))
    (['2021-02-17'], ['7', 'a'])
    """
    return index.strftime(_DAY).tolist() if _are_days(index) else list(map(str, index))


def _are_days(index: pd.Index) -> TypeGuard[pd.DatetimeIndex]:
    return isinstance(index, pd.DatetimeIndex) and bool((index == index.normalize()).all())
