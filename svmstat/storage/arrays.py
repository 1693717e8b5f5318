"""Arrays of numbers as bytes, and the JSON that says what they are."""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from svmstat.errors import ModelFileError
from svmstat.storage.archive import MODEL, refused

FORMAT = 1
"""The number of the form that is written; files of a later one are refused."""

_DTYPE = re.compile(r"\|b1|[|<][iuf][1248]|<c(8|16)|<[mM]8\[[1-9]?[0-9]{0,3}(Y|M|W|D|h|m|s|ms|us|ns)\]")
_LONGEST = 20
"""Digits of a whole number: a 64-bit one has no more."""


class Writing:
    """What becomes a file: the arrays so far."""

    __slots__ = ("_members",)

    def __init__(self) -> None:
        self._members: dict[str, bytes] = {}

    def array(self, values: np.ndarray) -> dict[str, Any]:
        """Add an array of numbers, booleans or times, of any shape; what the JSON says of it."""
        little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
        content, name = little.tobytes(), f"arrays/{len(self._members)}.bin"
        self._members[name] = content
        dtype = little.dtype.str
        if not _DTYPE.fullmatch(dtype):
            raise ModelFileError(f"an array of the type {dtype} cannot be stored: its numbers have no standard size.")
        digest = hashlib.sha256(content).hexdigest()
        return {"array": name, "dtype": dtype, "shape": list(values.shape), "sha256": digest}

    def members(self, model: Mapping[str, Any]) -> dict[str, bytes]:
        """The members of the file, ``model`` being what the JSON says."""
        text = json.dumps(model, allow_nan=False, separators=(",", ":")).encode()
        return {MODEL: text, **self._members}


def own_version() -> str:
    """The version of svmstat that writes and reads here."""
    return str(import_module("importlib.metadata").version("svmstat"))


class Reading:
    """What a file says: its JSON as ``model``, and its arrays.

    Parameters
    ----------
    path : str or Path
        What the messages name.
    members : dict of bytes
        The members of the zip.

    Raises
    ------
    ModelFileError
        If ``model.json`` is no JSON of the kind that is written, or of a later format.
    """

    __slots__ = ("_left", "model", "path")

    def __init__(self, path: str | Path, members: Mapping[str, bytes]) -> None:
        self.path = path
        self._left = {name: content for name, content in members.items() if name != MODEL}
        self.model = self._parsed(members[MODEL])

    def array(self, said: Any) -> np.ndarray:
        """The array (any shape) that ``said`` describes, writeable; each can be read once."""
        name, dtype, shape, digest = (self.entry(said, key) for key in ("array", "dtype", "shape", "sha256"))
        if name not in self._left:
            self.refuse("the JSON names it, and it is not there, or is named twice", str(name))
        content = self._left.pop(name)
        if hashlib.sha256(content).hexdigest() != digest:
            self.refuse("its digest is another than 'model.json' says", name)
        if not isinstance(dtype, str) or not _DTYPE.fullmatch(dtype):
            self.refuse(f"its type {dtype!r} is not one of numbers, booleans or times", name)
        whole = isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape)
        if not whole or len(shape) > 2:
            self.refuse(f"its shape {shape!r} is not that of a vector or a matrix", name)
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if size != len(content):
            self.refuse(f"its shape {shape!r} needs {size} bytes, and it has {len(content)}", name)
        if dtype == "|b1" and content.strip(b"\x00\x01"):
            self.refuse("its booleans are neither 0 nor 1", name)
        return np.frombuffer(content, dtype).reshape(shape).astype(np.dtype(dtype).newbyteorder("="))

    def entry(self, said: Any, key: str) -> Any:
        """An entry of an object of the JSON."""
        if not isinstance(said, dict) or key not in said:
            self.refuse(f"an object with the entry {key!r} is missing")
        return said[key]

    def whole(self, said: Any) -> np.ndarray:
        """A vector of whole numbers."""
        values = self.array(said)
        if values.dtype.kind != "i" or values.ndim != 1:
            self.refuse("codes are no vector of whole numbers")
        return values

    def int64(self, said: Any) -> np.ndarray:
        """A vector of 64-bit whole numbers."""
        values = self.whole(said)
        if values.dtype != np.int64:
            self.refuse("times or codes are no 64-bit numbers")
        return values

    def flag(self, said: Any, key: str) -> bool:
        """An entry that is true or false."""
        found = self.entry(said, key)
        if not isinstance(found, bool):
            self.refuse(f"{key!r} is {found!r}, neither true nor false")
        return found

    def finish(self) -> None:
        """Refuse a file with arrays that nothing has asked for."""
        for name in self._left:
            self.refuse("nothing in 'model.json' names it", name)

    def refuse(self, why: str, member: str = MODEL) -> NoReturn:
        """Refuse the file for what is wrong in one of its members."""
        raise refused(self.path, why, member)

    def _parsed(self, text: bytes) -> dict[str, Any]:
        try:
            model = json.loads(
                text.decode(), parse_constant=self._no_number, parse_int=self._whole, parse_float=self._real,
                object_pairs_hook=self._object,
            )  # fmt: skip
        except RecursionError as error:
            raise refused(self.path, "it is nested too deeply", MODEL) from error
        except ValueError as error:
            if isinstance(error, ModelFileError):
                raise
            raise refused(self.path, f"it is no JSON: {error}", MODEL) from error
        found = self.entry(model, "format")
        if type(found) is not int or found < 1:
            self.refuse(f"its format {found!r} is no number of one")
        if found > FORMAT:
            version = f"{model.get('svmstat', 'of an unknown version')}"[:40]
            self.refuse(f"written by svmstat {version}, format {found}; this version reads up to {FORMAT}")
        return dict(model)

    def _no_number(self, text: str) -> NoReturn:
        self.refuse(f"{text} is no number of JSON")

    def _whole(self, text: str) -> int:
        if len(text) > _LONGEST:
            self.refuse(f"a whole number of {len(text)} digits is none that is written")
        return int(text)

    def _real(self, text: str) -> float:
        number = float(text)
        if not math.isfinite(number):
            self.refuse(f"the number {text[:40]} is none that a double holds")
        return number

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            self.refuse("an object has two entries of one name")
        return dict(pairs)
