"""Arrays of pyarrow as arrays of numbers, and back."""

import re
from importlib import import_module
from typing import Any

import numpy as np

from svmstat.errors import ModelFileError
from svmstat.storage.arrays import Reading, Writing
from svmstat.storage.entries import decode_entries, encode_entries

_TEXTS = ("string", "large_string")
_NUMBERS = re.compile(
    r"u?int(8|16|32|64)|float|double|halffloat|bool|date(32\[day\]|64\[ms\])|(timestamp|duration)\[\w+\]"
)


def encode_arrow(writing: Writing, values: Any, what: str) -> dict[str, Any]:
    """An array of pyarrow, in one piece or in several.

    Raises
    ------
    ModelFileError
        If its type is one that no file can hold.
    """
    pa = import_module("pyarrow")
    if isinstance(values, pa.ChunkedArray):
        values = values.unify_dictionaries().combine_chunks()
    kind = str(values.type)
    if pa.types.is_dictionary(values.type):
        codes, levels = (encode_arrow(writing, part, what) for part in (values.indices, values.dictionary))
        return {"type": "dictionary", "codes": codes, "categories": levels, "ordered": bool(values.type.ordered)}
    if kind in _TEXTS:
        return {"type": kind, **encode_entries(writing, values.to_pylist(), what)}
    if not _NUMBERS.fullmatch(kind):
        raise ModelFileError(f"{what} is of the type {kind}[pyarrow], which a file cannot hold: change it by astype().")
    stored = values if (whole := _stored_as(pa, values.type)) is None else values.view(whole)
    plain = stored.fill_null(pa.scalar(0).cast(stored.type)).to_numpy(zero_copy_only=False)
    gone = np.asarray(values.is_null().to_numpy(zero_copy_only=False), dtype=bool)
    return {"type": kind, "values": writing.array(plain), "missing": writing.array(gone)}


def decode_arrow(reading: Reading, said: Any) -> Any:
    """The array of pyarrow that ``said`` describes, validated."""
    pa = import_module("pyarrow")
    kind = reading.entry(said, "type")
    if kind == "dictionary":
        codes, levels = (decode_arrow(reading, reading.entry(said, key)) for key in ("codes", "categories"))
        return _validated(pa.DictionaryArray.from_arrays(codes, levels, ordered=reading.flag(said, "ordered")))
    if kind in _TEXTS:
        return pa.array(decode_entries(reading, said), type=pa.type_for_alias(kind))
    if not isinstance(kind, str) or not _NUMBERS.fullmatch(kind):
        reading.refuse(f"the type {kind!r} of a column is none that is written")
    target = pa.type_for_alias(kind.partition("[")[0] if kind.startswith("date") else kind)
    whole, values = _stored_as(pa, target), reading.array(said["values"])
    made = pa.array(values, mask=reading.array(said["missing"]), type=whole or target)
    return _validated(made if whole is None else made.view(target))


def _stored_as(pa: Any, kind: Any) -> Any:
    """The type of the whole numbers that times are; None for numbers and booleans, which are what they are."""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return None
    return pa.int32() if pa.types.is_date32(kind) else pa.int64()


def _validated(values: Any) -> Any:
    values.validate(full=True)
    return values
