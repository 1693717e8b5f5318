"""Entries of a column that are no numbers of numpy: texts, and what a column of any objects may hold."""

import math
from collections.abc import Callable, Iterable
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from svmstat.errors import ModelFileError
from svmstat.storage.arrays import Reading, Writing

# What an entry may be: its type, how it is written, and how that is read; their numbers follow those of the missing.
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


def encode_entries(writing: Writing, values: Iterable[Any], what: str) -> dict[str, Any]:
    """Entries as one text: of each its kind, and the length of what it is written as.

    Raises
    ------
    ModelFileError
        For an entry of another type.
    """
    kinds, texts = [], []
    for value in values:
        kind, text = _written(value, what)
        kinds.append(kind)
        texts.append(text.encode("utf-8", "surrogatepass"))
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    joined = np.frombuffer(b"".join(texts), np.uint8)
    return {
        "kinds": writing.array(np.array(kinds, np.uint8)),
        "lengths": writing.array(lengths),
        "text": writing.array(joined),
    }


def decode_entries(reading: Reading, said: Any) -> list[Any]:
    """The entries that ``said`` describes."""
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
        if kind > len(_MISSING) and length > _LONGEST:
            reading.refuse(f"an entry of a column, which is no text, has {length} letters")
        found.append(_MISSING[kind] if kind < len(_MISSING) else _SCALARS[kind - len(_MISSING)][2](one))
    return found


def _written(value: Any, what: str) -> tuple[int, str]:
    """The number of the kind of an entry, and what it is written as."""
    for k, missing in enumerate(_MISSING):
        if value is missing:
            return k, ""
    for k, (kind, write, _) in enumerate(_SCALARS, len(_MISSING)):
        if type(value) is kind or (kind is str and isinstance(value, str)):
            return k, write(value)
    raise ModelFileError(
        f"{what} holds {value!r} of the type {type(value).__name__}, which a file cannot hold: change it by astype()."
    )
