"""What the second process does: it compiles what the first will need next, by lists that other modules have of it.

``python -m svmstat._tools.ahead``. The first process compiles as it comes; this one takes what comes late there. Who
needs what the other is at waits.
"""

from importlib import import_module
from typing import Any

from numba import typeof

from svmstat._tools.garbage import seldom_collected
from svmstat._tools.second import join, leave

LISTS = (("svmstat.solver", "OF_ONE_SOLUTION"), ("svmstat.resampling.ahead", "AHEAD"))
"""Modules, each imported when its turn comes, and the names of their lists: functions, and arguments of the types that
they are called with. The first takes half of the time of the second to import, and is needed first."""


def types_of(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The types for which a function is compiled.

    Examples
    --------
    >>> types_of((0.5, 2))
    (float64, int64)
    """
    return tuple(typeof(each) for each in arguments)  # type: ignore[no-untyped-call]


def compile_all() -> None:
    """Compile what the lists hold."""
    for module, name in LISTS:
        for function, arguments in getattr(import_module(module), name):
            function.compile(types_of(arguments))


if __name__ == "__main__":
    join()
    try:
        with seldom_collected():
            compile_all()
    finally:
        leave()
