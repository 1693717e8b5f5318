"""Warnings that point at the user's own code."""

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from svmstat.errors import SvmstatWarning


class Line(NamedTuple):
    """A line of code."""

    filename: str
    number: int
    module: str


class _Asked(threading.local):
    """The user's line for which this thread works, where that is the line of another."""

    line: Line | None = None


_asked = _Asked()


def warn(message: str, category: type[SvmstatWarning]) -> None:
    """Warn at the user's line, however deep inside it and in whichever thread the cause was found.

    Parameters
    ----------
    message : str
        What the user should know.
    category : type
        One of the warnings of `svmstat.errors`.
    """
    line = users_line()
    module = sys.modules.get(line.module)
    registry = None if module is None else vars(module).setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, line.filename, line.number, line.module, registry)


def users_line() -> Line:
    """The one that was set by `asked_at`, or the innermost outside this package."""
    if _asked.line is not None:
        return _asked.line
    frame = sys._getframe()
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__")):
        frame = frame.f_back
    return Line(frame.f_code.co_filename, frame.f_lineno, str(frame.f_globals.get("__name__")))


@contextmanager
def asked_at(line: Line) -> Iterator[None]:
    """Let warnings of this thread point at that line: between it and the user's are the frames of a scheduler."""
    was, _asked.line = _asked.line, line
    try:
        yield
    finally:
        _asked.line = was


def _is_ours(module: object) -> bool:
    return str(module).partition(".")[0] == "svmstat"
