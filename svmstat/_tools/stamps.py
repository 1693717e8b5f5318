"""What tells compiled code of one version of a function from that of another."""

import hashlib
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from inspect import getsource
from types import CodeType, ModuleType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic

from svmstat._tools import linked


@cache
def stamp(function: Any) -> str:
    """A digest of what a compiled function says, and of all that it refers to.

    Numba goes by the time at which the file of the function was written. That is another when the same version is
    installed again, and the same when a constant or a function of another file, which are compiled into it, changes.

    Parameters
    ----------
    function : Dispatcher
        What `numba.njit` makes of a function.

    Returns
    -------
    str

    Raises
    ------
    TypeError
        If it refers to something whose changes would go unnoticed.
    """
    code, names = function.py_func.__code__, function.py_func.__globals__
    options = (f"{name}={_option(value)}" for name, value in sorted(function.targetoptions.items()))
    parts = [_text_of(linked.__name__), *options, *_of_code(code, names, function)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@cache
def _text_of(module: str) -> str:
    return getsource(sys.modules[module])


def _option(value: object) -> str:
    return repr(sorted(value) if isinstance(value, set) else value)


def _of_code(code: CodeType, names: Mapping[str, Any], itself: object) -> Iterator[str]:
    yield from (code.co_code.hex(), repr(code.co_varnames), repr(code.co_names))
    for constant in code.co_consts:
        yield from _of_code(constant, names, itself) if isinstance(constant, CodeType) else [repr(constant)]
    for name in code.co_names:
        if name in names:
            yield "itself" if names[name] is itself else _of_value(names[name])


def _of_value(value: Any) -> str:
    """What a name stands for."""
    if isinstance(value, Dispatcher):
        return stamp(value)
    if isinstance(value, _Intrinsic):
        return _text_of(value._defn.__module__)  # noqa: SLF001  nothing else tells where it is defined
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, int | float | str | tuple | np.generic):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, ModuleType) and value is np:
        return value.__name__
    if isinstance(value, type):
        return f"{value.__name__} {getattr(value, '_fields', ())}"
    raise TypeError(f"a compiled function refers to {value!r}, whose changes would go unnoticed.")
