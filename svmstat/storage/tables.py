"""Indexes, labels and data frames of pandas as arrays of numbers, and back."""

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from svmstat.errors import ModelFileError
from svmstat.storage.arrays import Reading, Writing
from svmstat.storage.columns import PLAIN, decode_column, encode_column


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
        levels: Any = [decode_index(reading, each) for each in said["levels"]]
        codes: Any = [reading.int64(each) for each in said["codes"]]
        return pd.MultiIndex(levels, codes, names=names)
    values = decode_column(reading, reading.entry(said, "values"))
    index: Any = pd.Index(values, dtype=values.dtype, name=names[0])
    found: pd.Index = type(index)(index, freq=said["freq"]) if "freq" in said else index  # pandas checks it
    return found


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
    plain = [isinstance(dtype, np.dtype) and dtype.kind in PLAIN for dtype in dtypes]
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
    called, kind = decode_label(reading, said["name_of_columns"]), object if reading.flag(said, "any_names") else None
    data.columns = pd.Index(names, dtype=kind, name=called, tupleize_cols=False)
    return data
