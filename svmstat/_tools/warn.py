"""Warnings that point at the user's own code."""

import sys
import warnings

from svmstat.errors import SvmstatWarning


def warn(message: str, category: type[SvmstatWarning]) -> None:
    """Warn at the innermost line outside this package, however deep inside it the cause was found.

    Parameters
    ----------
    message : str
        What the user should know.
    category : type
        One of the warnings of `svmstat.errors`.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: object) -> bool:
    return str(module).partition(".")[0] == "svmstat"
