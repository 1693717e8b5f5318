"""How numerical functions are compiled, what they share, and what is said while that goes on for the first time."""

import sys
from typing import Any

from numba import njit
from numba.core import event

from svmstat._tools import second

_FIRST = "smo"
"""A function that every fit needs: it is compiled where nothing has been."""


def compiled(**options: Any) -> Any:
    """A decorator for functions that numba compiles: kept on disk, and without the interpreter's lock.

    They are called from Python and from each other, never from C: the wrapper for that takes a tenth of the time.
    Further options are those of `numba.njit`.
    """
    how: dict[str, Any] = {"cache": True, "nogil": True, "no_cfunc_wrapper": True, **options}
    return njit(**how)


@compiled()
def copy_into(target, values):
    """target[:] = values, both (n,).

    Numba takes a quarter of a second to compile an assignment to a slice, with the text of the error that it might
    raise, anew in every function where one stands; a loop takes a tenth of that.
    """
    for i in range(target.shape[0]):
        target[i] = values[i]


@compiled()
def clear(target, m):
    """target[:m] = 0, a loop for the same reason."""
    for i in range(m):
        target[i] = 0


class _Notice(event.Listener):
    """Tells whoever waits at a terminal or a notebook, once, that the solver is being compiled, and has it helped."""

    def __init__(self) -> None:
        self._due = True

    def on_start(self, event: Any) -> None:
        """Numba begins to compile a function that it has not found on disk."""
        if self._due and event.data["dispatcher"].py_func.__name__ == _FIRST:
            self._due = False
            if second.may_start():
                second.start()
            if sys.stderr is not None and (sys.stderr.isatty() or hasattr(sys, "ps1")):
                print("svmstat: compiling the solver, once", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        """Nothing is said."""


event.register("numba:compile", _Notice())
