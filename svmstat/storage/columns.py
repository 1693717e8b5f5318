"""Columns of pandas as arrays of numbers, and back: types, orders of levels and missing values as they were."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from svmstat._tools.frames import can_answer
from svmstat.errors import ModelFileError
from svmstat.storage.arrays import Reading, Writing
from svmstat.storage.arrow import decode_arrow, encode_arrow
from svmstat.storage.entries import decode_entries, encode_entries

PLAIN = frozenset("biufcmM")
"""Kinds of numpy's types that are stored as they are."""

_MASKED: dict[str, Any] = {
    str(dtype()): dtype
    for dtype in (
        pd.Int8Dtype, pd.Int16Dtype, pd.Int32Dtype, pd.Int64Dtype, pd.UInt8Dtype, pd.UInt16Dtype, pd.UInt32Dtype,
        pd.UInt64Dtype, pd.Float32Dtype, pd.Float64Dtype, pd.BooleanDtype,
    )
}  # fmt: skip
_ZONED = re.compile(r"datetime64\[(s|ms|us|ns), (?!dateutil)[A-Za-z][A-Za-z0-9_+:-]*(/[A-Za-z0-9_+-]+)*\]")
_PERIOD = re.compile(r"period\[[A-Z0-9-]{1,12}\]")
_CLOSED = ("left", "right", "both", "neither")

Said = dict[str, Any]
"""What the JSON says of a column."""


class _Kind(NamedTuple):
    """A kind of columns.

    Attributes
    ----------
    holds : whether a type is of the kind
    encode : a column of that type, and what the messages call it, to what the JSON says of it
    decode : the column again
    """

    holds: Callable[[Any], bool]
    encode: Callable[[Writing, Any, str], Said]
    decode: Callable[[Reading, Any], Any]


def encode_column(writing: Writing, values: Any, what: str) -> Said:
    """A column, any array of pandas or a vector of numpy, which the messages call ``what``.

    Raises
    ------
    ModelFileError
        If its type is one that no file can hold.
    """
    if type(values) is pd.arrays.NumpyExtensionArray:  # not a column of text, which extends it
        values = values.to_numpy()
    for name, kind in _KINDS.items():
        if kind.holds(values.dtype):
            return {"kind": name, **kind.encode(writing, values, what)}
    raise ModelFileError(f"{what} is of the type {values.dtype}, which a file cannot hold: change it by astype().")


def decode_column(reading: Reading, said: Any) -> Any:
    """The column that ``said`` describes: an array of numpy or pandas."""
    name = reading.entry(said, "kind")
    if not isinstance(name, str) or name not in _KINDS:
        reading.refuse(f"a column of the kind {name!r} is not known")
    return _KINDS[name].decode(reading, said)


# The kinds, in the order in which they are asked for


def _numbers(writing: Writing, values: Any, _: str) -> Said:
    return {"values": writing.array(np.asarray(values))}


def _to_numbers(reading: Reading, said: Any) -> np.ndarray:
    return reading.array(said["values"])


def _objects(writing: Writing, values: Any, what: str) -> Said:
    return encode_entries(writing, list(values), what)


def _to_objects(reading: Reading, said: Any) -> np.ndarray:
    found = decode_entries(reading, said)
    values = np.empty(len(found), dtype=object)
    values[:] = found
    return values


def _categories(writing: Writing, values: Any, what: str) -> Said:
    codes, dtype = writing.array(np.asarray(values.codes)), values.dtype
    levels = encode_column(writing, dtype.categories.array, what)
    return {"codes": codes, "categories": levels, "ordered": bool(dtype.ordered)}


def _to_categories(reading: Reading, said: Any) -> pd.Categorical:
    levels = decode_column(reading, said["categories"])
    dtype = pd.CategoricalDtype(pd.Index(levels, dtype=levels.dtype), ordered=reading.flag(said, "ordered"))
    return pd.Categorical.from_codes(reading.whole(said["codes"]), dtype=dtype)


def _masked(writing: Writing, values: Any, _: str) -> Said:
    numbers = values.to_numpy(values.dtype.numpy_dtype, na_value=values.dtype.type(0))
    missing = writing.array(np.asarray(values.isna()))
    return {"type": str(values.dtype), "values": writing.array(numbers), "missing": missing}


def _to_masked(reading: Reading, said: Any) -> Any:
    dtype, missing, values = _MASKED[said["type"]](), reading.array(said["missing"]), reading.array(said["values"])
    if values.dtype != dtype.numpy_dtype or missing.dtype != bool or values.ndim != 1:
        reading.refuse(f"a column of the type {dtype} has numbers of another")
    return dtype.construct_array_type()(values, missing)


def _texts(writing: Writing, values: Any, what: str) -> Said:
    is_nan = getattr(values.dtype, "na_value", pd.NA) is not pd.NA
    texts = [None if gone else text for text, gone in zip(values, values.isna(), strict=True)]
    return {"storage": values.dtype.storage, "missing_is_nan": is_nan, **encode_entries(writing, texts, what)}


def _to_texts(reading: Reading, said: Any) -> Any:
    """In the way that it was kept, if pandas has that here."""
    storage: Any = reading.entry(said, "storage")
    if storage == "pyarrow" and not can_answer("pyarrow"):
        storage = "python"
    texts = decode_entries(reading, said)
    is_nan = reading.flag(said, "missing_is_nan")
    dtype = pd.StringDtype(storage, na_value=np.nan) if is_nan else pd.StringDtype(storage)
    return pd.array(texts, dtype=dtype)


def _times(writing: Writing, values: Any, _: str) -> Said:
    return {"type": str(values.dtype), "values": writing.array(values.asi8)}


def _to_zoned(reading: Reading, said: Any) -> Any:
    if not _ZONED.fullmatch(said["type"]):
        reading.refuse(f"{said['type']!r} is no type of times in a zone")
    dtype: Any = pd.api.types.pandas_dtype(said["type"])
    times = reading.int64(said["values"]).view(f"M8[{dtype.unit}]")
    return pd.DatetimeIndex(times).tz_localize("UTC").tz_convert(dtype.tz).array


def _to_periods(reading: Reading, said: Any) -> Any:
    if not _PERIOD.fullmatch(said["type"]):
        reading.refuse(f"{said['type']!r} is no type of periods")
    return pd.arrays.PeriodArray(reading.int64(said["values"]), dtype=said["type"])


def _intervals(writing: Writing, values: Any, what: str) -> Said:
    ends = {side: encode_column(writing, getattr(values, side).array, what) for side in ("left", "right")}
    return {"closed": values.dtype.closed, **ends}


def _to_intervals(reading: Reading, said: Any) -> Any:
    if said["closed"] not in _CLOSED:
        reading.refuse(f"intervals are closed on the side {said['closed']!r}")
    left, right = (decode_column(reading, said[side]) for side in ("left", "right"))
    return pd.arrays.IntervalArray.from_arrays(left, right, closed=said["closed"])


def _arrow(writing: Writing, values: Any, what: str) -> Said:
    return encode_arrow(writing, values.__arrow_array__(), what)


def _to_arrow(reading: Reading, said: Any) -> Any:
    return pd.arrays.ArrowExtensionArray(decode_arrow(reading, said))


def _is_plain(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in PLAIN


_KINDS = {
    "numbers": _Kind(_is_plain, _numbers, _to_numbers),
    "objects": _Kind(lambda dtype: isinstance(dtype, np.dtype), _objects, _to_objects),
    "category": _Kind(lambda dtype: isinstance(dtype, pd.CategoricalDtype), _categories, _to_categories),
    "masked": _Kind(lambda dtype: str(dtype) in _MASKED, _masked, _to_masked),
    "string": _Kind(lambda dtype: isinstance(dtype, pd.StringDtype), _texts, _to_texts),
    "zoned": _Kind(lambda dtype: bool(_ZONED.fullmatch(str(dtype))), _times, _to_zoned),
    "period": _Kind(lambda dtype: bool(_PERIOD.fullmatch(str(dtype))), _times, _to_periods),
    "interval": _Kind(lambda dtype: isinstance(dtype, pd.IntervalDtype), _intervals, _to_intervals),
    "arrow": _Kind(lambda dtype: isinstance(dtype, pd.ArrowDtype), _arrow, _to_arrow),
}
