"""Columns and indexes of pandas as arrays of numbers, and back: types, orders and missing values as they were."""

import math
import re
from collections.abc import Callable, Hashable
from datetime import date, datetime
from decimal import Decimal
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from svmstat.errors import ModelFileError
from svmstat.storage.arrays import Reading, Writing

_PLAIN = frozenset("biufcmM")
_MASKED = {
    str(dtype()): dtype
    for dtype in (
        pd.Int8Dtype, pd.Int16Dtype, pd.Int32Dtype, pd.Int64Dtype, pd.UInt8Dtype, pd.UInt16Dtype, pd.UInt32Dtype,
        pd.UInt64Dtype, pd.Float32Dtype, pd.Float64Dtype, pd.BooleanDtype,
    )
}  # fmt: skip
_ZONED = re.compile(r"datetime64\[(s|ms|us|ns), (?!dateutil)[A-Za-z][A-Za-z0-9_+:-]*(/[A-Za-z0-9_+-]+)*\]")
_PERIOD = re.compile(r"period\[[A-Z0-9-]{1,12}\]")
_CLOSED = ("left", "right", "both", "neither")
_ARROW_TEXT = ("string", "large_string")
_ARROW = re.compile(
    r"u?int(8|16|32|64)|float|double|halffloat|bool|date(32\[day\]|64\[ms\])|(timestamp|duration)\[\w+\]"
)

# What an entry of a column of objects may be: its number, what it is written as, and how that is read.
_SCALARS: tuple[tuple[type, Callable[[Any], str], Callable[[str], Any]], ...] = (
    (str, str, str),
    (bool, str, {"True": True, "False": False}.__getitem__),
    (int, str, int),
    (float, float.hex, float.fromhex),
    (Decimal, str, Decimal),
    (datetime, datetime.isoformat, datetime.fromisoformat),
    (date, date.isoformat, date.fromisoformat),
)
_MISSING = (None, pd.NA, pd.NaT)
_LONGEST = 400
"""Letters of an entry that is no text."""


def encode_column(writing: Writing, values: Any, what: str) -> dict[str, Any]:
    """A column, any array of pandas or a vector of numpy, which the messages call ``what``.

    Raises
    ------
    ModelFileError
        If its type is one that no file can hold.
    """
    dtype = values.dtype
    if type(values) is pd.arrays.NumpyExtensionArray:  # not a column of text, which extends it
        values, dtype = values.to_numpy(), values.to_numpy().dtype
    if isinstance(dtype, np.dtype) and dtype.kind in _PLAIN:
        return {"kind": "numbers", "values": writing.array(np.asarray(values))}
    if isinstance(dtype, np.dtype):
        return {"kind": "objects", **_objects(writing, list(values), what)}
    if isinstance(dtype, pd.CategoricalDtype):
        categories = encode_index(writing, dtype.categories, what)
        codes = writing.array(np.asarray(values.codes))
        return {"kind": "category", "codes": codes, "categories": categories, "ordered": bool(dtype.ordered)}
    if str(dtype) in _MASKED:
        gone = np.asarray(values.isna())
        numbers = values.to_numpy(dtype.numpy_dtype, na_value=dtype.type(0))
        return {"kind": "masked", "type": str(dtype), "values": writing.array(numbers), "missing": writing.array(gone)}
    if isinstance(dtype, pd.StringDtype):
        without = getattr(dtype, "na_value", pd.NA)
        named = {"storage": dtype.storage, "missing_is_nan": without is not pd.NA}
        texts = [None if gone else text for text, gone in zip(values, values.isna(), strict=True)]
        return {"kind": "string", **named, **_objects(writing, texts, what)}
    if isinstance(dtype, pd.DatetimeTZDtype) and _ZONED.fullmatch(str(dtype)):
        return {"kind": "zoned", "type": str(dtype), "values": writing.array(values.asi8)}
    if isinstance(dtype, pd.PeriodDtype) and _PERIOD.fullmatch(str(dtype)):
        return {"kind": "period", "type": str(dtype), "values": writing.array(values.asi8)}
    if isinstance(dtype, pd.IntervalDtype):
        ends = {side: encode_index(writing, getattr(values, side), what) for side in ("left", "right")}
        return {"kind": "interval", "closed": dtype.closed, **ends}
    if isinstance(dtype, pd.ArrowDtype):
        return {"kind": "arrow", **_of_arrow(writing, values.__arrow_array__(), what)}
    raise ModelFileError(f"{what} is of the type {dtype}, which a file cannot hold: change it by astype().")


def decode_column(reading: Reading, said: Any) -> Any:  # noqa: C901, PLR0911  a case for each kind
    """The column that ``said`` describes: an array of numpy or pandas."""
    match reading.entry(said, "kind"):
        case "numbers":
            return reading.array(said["values"])
        case "objects":
            values = np.empty(len(found := _scalars(reading, said)), dtype=object)
            values[:] = found
            return values
        case "category":
            dtype = pd.CategoricalDtype(
                decode_index(reading, said["categories"]), ordered=_flag(reading, said, "ordered")
            )
            return pd.Categorical.from_codes(_whole(reading, said["codes"]), dtype=dtype)
        case "masked":
            dtype, missing = _MASKED[said["type"]](), reading.array(said["missing"])
            values = reading.array(said["values"])
            if values.dtype != dtype.numpy_dtype or missing.dtype != bool:
                reading.refuse(f"a column of the type {dtype} has numbers of another")
            return dtype.construct_array_type()(values, missing)
        case "string":
            return _string_array(said["storage"], _flag(reading, said, "missing_is_nan"), _scalars(reading, said))
        case "zoned" if _ZONED.fullmatch(said["type"]):
            dtype = pd.api.types.pandas_dtype(said["type"])
            times = _int64(reading, said["values"]).view(f"M8[{dtype.unit}]")
            return pd.DatetimeIndex(times).tz_localize("UTC").tz_convert(dtype.tz).array
        case "period" if _PERIOD.fullmatch(said["type"]):
            return pd.arrays.PeriodArray(_int64(reading, said["values"]), dtype=said["type"])
        case "interval" if said["closed"] in _CLOSED:
            left, right = (decode_index(reading, said[side]) for side in ("left", "right"))
            return pd.arrays.IntervalArray.from_arrays(left, right, closed=said["closed"])
        case "arrow":
            return pd.arrays.ArrowExtensionArray(_to_arrow(reading, said))
        case other:
            reading.refuse(f"a column of the kind {other!r} is not known, or its type is not")


def encode_index(writing: Writing, index: pd.Index, what: str) -> dict[str, Any]:
    """An index with its names."""
    names = [encode_label(writing, name, what) for name in index.names]
    if isinstance(index, pd.RangeIndex):
        return {"range": [index.start, index.stop, index.step], "names": names}
    if isinstance(index, pd.MultiIndex):
        levels = [encode_index(writing, level, what) for level in index.levels]
        codes = [writing.array(np.asarray(each, dtype=np.int64)) for each in index.codes]
        return {"levels": levels, "codes": codes, "names": names}
    found = {"values": encode_column(writing, index.array, what), "names": names}
    frequency = getattr(index, "freqstr", None)
    return found if frequency is None or isinstance(index, pd.PeriodIndex) else {**found, "freq": frequency}


def decode_index(reading: Reading, said: Any) -> pd.Index:
    """The index that ``said`` describes."""
    names = [decode_label(reading, name) for name in reading.entry(said, "names")]
    if "range" in said:
        start, stop, step = (int(each) for each in said["range"])
        return pd.RangeIndex(start, stop, step, name=names[0])
    if "levels" in said:
        levels = [decode_index(reading, each) for each in said["levels"]]
        return pd.MultiIndex(levels, [_int64(reading, each) for each in said["codes"]], names=names)
    values = decode_column(reading, reading.entry(said, "values"))
    index = pd.Index(values, dtype=values.dtype, name=names[0])
    if "freq" in said:
        index = pd.DatetimeIndex(index, freq=said["freq"]) if index.dtype.kind == "M" else index
        index = pd.TimedeltaIndex(index, freq=said["freq"]) if index.dtype.kind == "m" else index
    return index


def encode_label(writing: Writing, label: Hashable, what: str) -> Any:
    """The name of a column or of an index, or a level of the response."""
    if isinstance(label, tuple):
        return {"tuple": [encode_label(writing, each, what) for each in label]}
    if label is None or type(label) in (str, bool):
        return label
    if type(label) is int and abs(label) < 2**63:
        return label
    try:
        item = pd.Series([label]).array if not isinstance(label, np.generic) else np.array([label])
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"{what}: {label!r} of the type {type(label).__name__} cannot be stored.") from error
    return {"item": encode_column(writing, item, what), "numpy": isinstance(label, np.generic)}


def decode_label(reading: Reading, said: Any) -> Any:
    """The label that ``said`` describes."""
    if not isinstance(said, dict):
        if isinstance(said, list):
            reading.refuse("a list stands where a label is needed")
        return said
    if "tuple" in said:
        return tuple(decode_label(reading, each) for each in said["tuple"])
    values = decode_column(reading, reading.entry(said, "item"))
    if len(values) != 1:
        reading.refuse("a label has more than one value")
    found = values[0]
    return found if said.get("numpy") or not isinstance(found, np.generic) else found.item()


def encode_frame(writing: Writing, data: pd.DataFrame) -> dict[str, Any]:
    """A data frame; columns of one type of numbers are one matrix."""
    dtypes = data.dtypes.tolist()
    plain = [isinstance(dtype, np.dtype) and dtype.kind in _PLAIN for dtype in dtypes]
    blocks = []
    for dtype in dict.fromkeys(dtype for dtype, is_plain in zip(dtypes, plain, strict=True) if is_plain):
        places = [k for k, each in enumerate(dtypes) if each == dtype]
        matrix = np.array([data.iloc[:, k].to_numpy() for k in places], dtype=dtype).reshape(len(places), len(data))
        blocks.append({"places": places, "values": writing.array(matrix)})
    columns = [
        {"place": k, **encode_column(writing, data.iloc[:, k].array, f"column {data.columns[k]!r}")}
        for k, is_plain in enumerate(plain)
        if not is_plain
    ]
    return {
        "n": len(data), "index": encode_index(writing, data.index, "the index of the data"),
        "names": [encode_label(writing, name, "a name of a column") for name in data.columns],
        "any_names": data.columns.dtype == np.dtype(object),
        "name_of_columns": encode_label(writing, data.columns.name, "the name of the columns"),
        "blocks": blocks, "columns": columns,
    }  # fmt: skip


def decode_frame(reading: Reading, said: Any) -> pd.DataFrame:
    """The data frame that ``said`` describes.

    Raises
    ------
    ModelFileError
        If its parts are of different lengths.
    """
    n, index = reading.entry(said, "n"), decode_index(reading, reading.entry(said, "index"))
    names = [decode_label(reading, name) for name in said["names"]]
    found: dict[int, Any] = {}
    for block in said["blocks"]:
        values = reading.array(block["values"])
        if values.ndim != 2 or len(values) != len(block["places"]):
            reading.refuse("a block of the data has not a row for each of its columns")
        found |= dict(zip(block["places"], values, strict=True))
    found |= {column["place"]: decode_column(reading, column) for column in said["columns"]}
    wrong = [k for k, values in found.items() if len(values) != n]
    if wrong or len(index) != n or sorted(found) != list(range(len(names))):
        reading.refuse("the columns and the index of the data are not of one length, or a column is missing")
    if len(set(names)) < len(names):
        reading.refuse("two columns of the data have one name")
    columns = {k: pd.Series(found[k], index, found[k].dtype, copy=False) for k in range(len(names))}
    data = pd.DataFrame(columns, index=index, copy=False)
    called, kind = decode_label(reading, said["name_of_columns"]), object if _flag(reading, said, "any_names") else None
    data.columns = pd.Index(names, dtype=kind, name=called, tupleize_cols=False)
    return data


# Parts of columns


def _objects(writing: Writing, values: list[Any], what: str) -> dict[str, Any]:
    """Values that are no numbers of numpy: of each its kind, what it is written as, and the length of that."""
    kinds, texts = np.empty(len(values), np.uint8), []
    for k, value in enumerate(values):
        kinds[k], text = _written(value, what)
        texts.append(text.encode("utf-8", "surrogatepass"))
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    text = np.frombuffer(b"".join(texts), np.uint8)
    return {"kinds": writing.array(kinds), "lengths": writing.array(lengths), "text": writing.array(text)}


def _written(value: Any, what: str) -> tuple[int, str]:
    for k, missing in enumerate(_MISSING):
        if value is missing:
            return k, ""
    for k, (kind, write, _) in enumerate(_SCALARS, len(_MISSING)):
        if type(value) is kind or (kind is str and isinstance(value, str)):
            return k, write(value)
    raise ModelFileError(
        f"{what} holds {value!r} of the type {type(value).__name__}, which a file cannot hold: change it by astype()."
    )


def _scalars(reading: Reading, said: Any) -> list[Any]:
    kinds, lengths, text = (reading.array(reading.entry(said, key)) for key in ("kinds", "lengths", "text"))
    whole = kinds.dtype == np.uint8 and lengths.dtype == np.int64 and text.dtype == np.uint8
    if not whole or kinds.ndim != 1 or kinds.shape != lengths.shape or text.ndim != 1 or (lengths < 0).any():
        reading.refuse("a column of texts has not a kind and a length for each")
    if math.fsum(lengths.tolist()) != len(text) or (kinds >= len(_MISSING) + len(_SCALARS)).any():
        reading.refuse("the lengths of a column of texts do not add up to the text, or a kind is unknown")
    content, at, found = text.tobytes(), 0, []
    for kind, length in zip(kinds.tolist(), lengths.tolist(), strict=True):
        one = content[at : at + length].decode("utf-8", "surrogatepass")
        at += length
        if kind < len(_MISSING):
            found.append(_MISSING[kind])
            continue
        if kind > len(_MISSING) and length > _LONGEST:
            reading.refuse(f"an entry of a column, which is no text, has {length} letters")
        found.append(_SCALARS[kind - len(_MISSING)][2](one))
    return found


def _string_array(storage: str, missing_is_nan: bool, texts: list[Any]) -> Any:
    """A column of pandas' own type of text, in the way that it was kept, if pandas has that here."""
    if storage == "pyarrow":
        try:
            import_module("pyarrow")
        except ImportError:
            storage = "python"
    dtype = pd.StringDtype(storage, na_value=np.nan) if missing_is_nan else pd.StringDtype(storage)
    return pd.array(texts, dtype=dtype)


def _of_arrow(writing: Writing, chunked: Any, what: str) -> dict[str, Any]:
    """An array of pyarrow by its numbers."""
    pa = import_module("pyarrow")
    values = chunked.unify_dictionaries() if isinstance(chunked, pa.ChunkedArray) else chunked
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    kind = str(values.type)
    if pa.types.is_dictionary(values.type):
        codes = {"codes": _of_arrow(writing, values.indices, what), "ordered": bool(values.type.ordered)}
        return {"type": "dictionary", **codes, "categories": _of_arrow(writing, values.dictionary, what)}
    if kind in _ARROW_TEXT:
        return {"type": kind, **_objects(writing, values.to_pylist(), what)}
    if not _ARROW.fullmatch(kind):
        raise ModelFileError(f"{what} is of the type {kind}[pyarrow], which a file cannot hold: change it by astype().")
    stored = values if (whole := _stored_as(pa, values.type)) is None else values.view(whole)
    plain = stored.fill_null(pa.scalar(0).cast(stored.type))
    gone = np.asarray(values.is_null().to_numpy(zero_copy_only=False), dtype=bool)
    found = writing.array(plain.to_numpy(zero_copy_only=False))
    return {"type": kind, "values": found, "missing": writing.array(gone)}


def _to_arrow(reading: Reading, said: Any) -> Any:
    pa = import_module("pyarrow")
    kind = reading.entry(said, "type")
    if kind == "dictionary":
        codes, categories = (_to_arrow(reading, reading.entry(said, key)) for key in ("codes", "categories"))
        made = pa.DictionaryArray.from_arrays(codes, categories, ordered=_flag(reading, said, "ordered"))
        return _validated(made)
    if kind in _ARROW_TEXT:
        return pa.array(_scalars(reading, said), type=pa.type_for_alias(kind))
    if not isinstance(kind, str) or not _ARROW.fullmatch(kind):
        reading.refuse(f"the type {kind!r} of a column is none that is written")
    target = pa.type_for_alias(kind.partition("[")[0] if kind.startswith("date") else kind)
    whole, values = _stored_as(pa, target), reading.array(said["values"])
    made = pa.array(values, mask=reading.array(said["missing"]), type=whole or target)
    return _validated(made if whole is None else made.view(target))


def _validated(values: Any) -> Any:
    values.validate(full=True)
    return values


def _stored_as(pa: Any, kind: Any) -> Any:
    """The type of the whole numbers that times are; None for numbers and booleans, which are what they are."""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return None
    return pa.int32() if pa.types.is_date32(kind) else pa.int64()


def _flag(reading: Reading, said: Any, key: str) -> bool:
    found = reading.entry(said, key)
    if not isinstance(found, bool):
        reading.refuse(f"{key!r} is {found!r}, neither true nor false")
    return found


def _whole(reading: Reading, said: Any) -> np.ndarray:
    values = reading.array(said)
    if values.dtype.kind != "i" or values.ndim != 1:
        reading.refuse("codes of categories are no whole numbers")
    return values


def _int64(reading: Reading, said: Any) -> np.ndarray:
    values = _whole(reading, said)
    if values.dtype != np.int64:
        reading.refuse("times or codes are no 64-bit numbers")
    return values
