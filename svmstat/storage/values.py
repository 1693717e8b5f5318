"""Settings, kernels and solutions as JSON and arrays, and back: only classes that are listed here, nothing by name."""

import math
from collections.abc import Mapping
from dataclasses import fields
from enum import IntEnum
from typing import Any

import numpy as np
import pandas as pd

from svmstat.errors import ModelFileError
from svmstat.kernels import (
    KERNELS,
    Additive,
    Centred,
    CustomKernel,
    Inherited,
    Kernel,
    Normed,
    Nystrom,
    On,
    Product,
    Scaled,
    Sum,
    called,
)
from svmstat.kernels.centred import Centre
from svmstat.kernels.nystrom import Landmarks
from svmstat.solver import Basis, Nearest, Road, Solution, Status
from svmstat.storage.arrays import Reading, Writing
from svmstat.storage.columns import decode_column, encode_column
from svmstat.storage.tables import decode_index, decode_label, encode_index, encode_label

_NAMED: tuple[type[Kernel], ...] = tuple(
    each for each in KERNELS.values() if each.__module__.startswith("svmstat.kernels.")
)
"""Those of the package: a file holds no code, and one's own may be registered too."""
_KERNELS: tuple[type[Kernel], ...] = (*_NAMED, Additive, Centred, Normed, Nystrom, On, Product, Scaled, Sum)
_CLASSES: tuple[type[Any], ...] = (*_KERNELS, Centre, Landmarks, Solution, Nearest, Basis)
_RECORDS: dict[str, Any] = {each.__name__: each for each in _CLASSES}
_ENUMS: dict[str, type[IntEnum]] = {"Status": Status, "Road": Road}
_DEEPEST = 40


def encoded(writing: Writing, value: Any, what: str) -> Any:  # noqa: C901, PLR0911, PLR0912  a case for each kind
    """A value as JSON, its arrays added to what is written; ``what`` is what the messages call it.

    Raises
    ------
    ModelFileError
        For a function, a kernel of the user's own, and what else is no value.
    """
    match value:
        case None | bool() | str():
            return str(value) if isinstance(value, str) else value
        case IntEnum():
            return {"enum": type(value).__name__, "number": int(value)}
        case np.generic():
            return {"label": encode_label(writing, value, what)}
        case int() if abs(value) < 2**63:
            return int(value)
        case float():
            return float(value) if math.isfinite(value) else {"float": str(float(value))}
        case tuple() | list():
            each_of = [encoded(writing, each, what) for each in value]
            return {"tuple": each_of} if isinstance(value, tuple) else each_of
        case Mapping():
            pairs = [[encoded(writing, key, what), encoded(writing, each, what)] for key, each in value.items()]
            return {"mapping": pairs, "inherited": isinstance(value, Inherited)}
        case pd.Series():
            index, name = encode_index(writing, value.index, what), encode_label(writing, value.name, what)
            return {"series": encode_column(writing, value.array, what), "index": index, "name": name}
        case pd.Index():
            return {"index": encode_index(writing, value, what)}
        case pd.api.extensions.ExtensionArray():
            return {"column": encode_column(writing, value, what)}
        case np.ndarray() if value.dtype.kind in "biufcmM":
            return writing.array(value)
        case np.ndarray() if value.ndim == 1:
            return {"column": encode_column(writing, value, what)}
    if type(value).__name__ in _RECORDS and type(value) is _RECORDS[type(value).__name__]:
        parts = {each.name: encoded(writing, getattr(value, each.name), what) for each in fields(value)}
        return {"record": type(value).__name__, "fields": parts}
    if callable(value) or isinstance(value, Kernel):
        raise ModelFileError(_own_kernel(value, what))
    if hasattr(value, "__array__"):
        return encoded(writing, np.asarray(value), what)
    return {"label": encode_label(writing, value, what)}


def decoded(reading: Reading, said: Any, depth: int = 0) -> Any:  # noqa: C901, PLR0911, PLR0912  as `encoded`
    """The value that ``said`` describes; dataclasses of the package check their own fields."""
    if depth > _DEEPEST:
        reading.refuse("a value is nested too deeply")
    if isinstance(said, list):
        return [decoded(reading, each, depth + 1) for each in said]
    if not isinstance(said, dict):
        return said
    match said:
        case {"array": _}:
            return reading.array(said)
        case {"float": "nan" | "inf" | "-inf" as text}:
            return float(text)
        case {"tuple": list(parts)}:
            return tuple(decoded(reading, each, depth + 1) for each in parts)
        case {"mapping": list(pairs)}:
            made = {decoded(reading, key, depth + 1): decoded(reading, each, depth + 1) for key, each in pairs}
            return Inherited(made) if said.get("inherited") is True else made
        case {"series": column, "index": index, "name": name}:
            values = decode_column(reading, column)
            return pd.Series(values, decode_index(reading, index), values.dtype, decode_label(reading, name))
        case {"index": index}:
            return decode_index(reading, index)
        case {"column": column}:
            return decode_column(reading, column)
        case {"label": label}:
            return decode_label(reading, label)
        case {"enum": str(name), "number": int(number)} if name in _ENUMS:
            return _ENUMS[name](number)
        case {"record": str(name), "fields": dict(parts)} if name in _RECORDS:
            kind = _RECORDS[name]
            if set(parts) != {each.name for each in fields(kind)}:
                reading.refuse(f"a {name} has not the entries of one")
            return kind(**{key: decoded(reading, each, depth + 1) for key, each in parts.items()})
    return reading.refuse(f"an object with the entries {sorted(said)[:4]} is of no kind that is known")


def _own_kernel(value: Any, what: str) -> str:
    function = value.function if isinstance(value, CustomKernel) else value
    if isinstance(function, Kernel):
        name, remedy = type(function).__name__, "only kernels of svmstat.kernels can be stored"
    else:
        name, remedy = called(function), "a kernel of svmstat.kernels, or its matrix and kernel='precomputed', can be"
    return f"{what} has {name!r}, which is code, and a file holds none: {remedy}; pickle stores it with its module."
