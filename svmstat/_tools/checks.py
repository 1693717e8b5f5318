"""Argument checks with one wording: ``name=value is not allowed: it must be ...``."""

import difflib
import math
import numbers
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from svmstat.errors import ArgumentError

_MOST_WORKERS = 10**6
"""joblib multiplies their number, and fails for one of thirty digits."""


def refuse(name: str, value: object, allowed: str) -> ArgumentError:
    """The error for an argument outside what is allowed, ready to be raised."""
    return ArgumentError(ended(f"{name}={value!r} is not allowed: it must be {allowed}"))


def ended(message: str) -> str:
    """A message with a full stop, unless it ends with a hint, which is a question."""
    return message if message.endswith("?") else f"{message}."


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint such as ``; did you mean 'lat' or 'lon'?``, empty when nothing known is near."""
    close = difflib.get_close_matches(str(name), [str(item) for item in known], n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""


def is_real(value: object) -> bool:
    """Whether the value is a real number that a float can hold; booleans are not."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def number(name: str, value: Any, holds: Callable[[Any], bool], allowed: str) -> float:
    """A real number of which something holds."""
    if not is_real(value) or not holds(value):
        raise refuse(name, value, allowed)
    return float(value)


def positive(name: str, value: object) -> float:
    """A finite number above zero."""
    return number(name, value, lambda x: 0 < x < math.inf, "a finite number > 0")


def finite(name: str, value: object) -> float:
    """A finite number."""
    return number(name, value, math.isfinite, "a finite number")


def between(name: str, value: object, low: float, high: float) -> float:
    """A number inside an open interval."""
    return number(name, value, lambda x: low < x < high, f"a number between {low:g} and {high:g}, both excluded")


def fraction(name: str, value: object) -> float:
    """A number above 0 and not above 1."""
    return number(name, value, lambda x: 0 < x <= 1, "a number in (0, 1]")


def at_least(name: str, value: object, least: int, *, also: str = "") -> int:
    """An integer not below ``least``; the error says what is allowed ``also``, and is read elsewhere."""
    if not (isinstance(value, numbers.Integral) and is_real(value)) or value < least:
        raise refuse(name, value, f"an integer >= {least}{also}")
    return int(value)


def one_of(name: str, value: object, allowed: Iterable[str], also: str = "") -> str:
    """One of the allowed words; the error says what is allowed ``also``, and is read elsewhere."""
    words = list(allowed)
    if not isinstance(value, str) or value not in words:
        hint = nearest(value, words) if isinstance(value, str) else ""
        raise refuse(name, value, f"one of {', '.join(map(repr, words))}{also}{hint}")
    return str(value)


def entries(value: Any) -> tuple[Any, ...] | None:
    """What is in a sequence; None for what is none, also for a text, and an array without a dimension.

    Examples
    --------
    >>> entries(["a", 2]), entries("a"), entries(np.array(1.0)), entries(None)
    (('a', 2), None, None, None)
    """
    alone = isinstance(value, np.ndarray) and value.ndim == 0
    return None if alone or isinstance(value, str | bytes) or not isinstance(value, Iterable) else tuple(value)


def workers(name: str, value: object) -> int | None:
    """A number of workers, as `joblib.Parallel` takes it."""
    if value is None:
        return None
    count = int(value) if isinstance(value, numbers.Integral) and not isinstance(value, bool) else 0
    if count == 0:
        raise refuse(name, value, "a number of workers, -1 for all cores, or None")
    if abs(count) > _MOST_WORKERS:
        raise refuse(name, value, f"no larger than {_MOST_WORKERS}")
    return count


def flag(name: str, value: object) -> bool:
    """True or False, also numpy's."""
    if not isinstance(value, bool | np.bool_):
        raise refuse(name, value, "True or False")
    return bool(value)
