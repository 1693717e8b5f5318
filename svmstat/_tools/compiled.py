"""How numerical functions are compiled, what they share, and what is said while that goes on for the first time."""

import contextlib
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from numba import config, njit
from numba.core import event
from numba.core.caching import FunctionCache

from svmstat._tools.linked import LinkedOnly
from svmstat._tools.second import start_once, together
from svmstat._tools.stamps import stamp

OFF = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]  # it makes its names when it is imported
"""Whether numba is switched off: then everything is plain Python, for who looks for a mistake."""

_FIRST = {"distances", "smo"}
"""Functions that a fit begins with: one of them is compiled where nothing has been."""

_ONCE = "once"
_ANEW = (
    "in every process anew, for there is no folder in which it could be kept: set the environment variable "
    "NUMBA_CACHE_DIR to one that can be written"
)


class _Shared(FunctionCache):
    """Compiled functions on disk, as long as they are what they were then.

    Where two processes compile, one waits for what the other is at.
    """

    def __init__(self, function: Any) -> None:
        super().__init__(function.py_func)
        self._function = function

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What has been compiled for a signature; None if it is to be compiled now, in this process."""
        self._cache_file._source_stamp = stamp(self._function)  # noqa: SLF001  now all that it refers to is there
        found = super().load_overload(sig, target_context)
        if found is None and together.claims is not None and not together.claims.claim(self._claim_on(sig)):
            with compiling.counted():
                together.claims.wait(self._claim_on(sig))
            found = super().load_overload(sig, target_context)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what has been compiled."""
        super().save_overload(sig, data)
        if together.claims is not None:
            together.claims.done(self._claim_on(sig))

    def _claim_on(self, sig: Any) -> str:
        name = f"{self._py_func.__module__}.{self._py_func.__qualname__}"
        return f"{name}-{hashlib.sha256(str(sig).encode()).hexdigest()[:16]}"


def compiled(*, inside: bool = False, borrowing: bool = False, **options: Any) -> Any:
    """A decorator for functions that numba compiles: kept on disk, and without the interpreter's lock.

    They are called from Python and from each other, never from C, and those ``inside`` by compiled functions only,
    which spares a first call a tenth of its time for each wrapper and machine code that nothing calls. Those that make
    no array may be ``borrowing``: numba counts no references to the arrays of others in them, which in loops over rows
    of a matrix takes a good part of the time. A division by zero gives what it gives in numpy, without a branch that
    raises. Further options are those of `numba.njit`.
    """
    how: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    if borrowing:
        how["_nrt"] = False
    if inside:
        how |= {"no_cpython_wrapper": True, "pipeline_class": LinkedOnly}

    def compile_when_called(function: Any) -> Any:
        found: Any = njit(**how)(function)
        if hasattr(found, "enable_caching"):  # numba may be switched off
            with contextlib.suppress(RuntimeError):  # no folder can be written: every process compiles for itself
                found._cache = _Shared(found)  # noqa: SLF001  there is no public way to choose it
        return found

    return compile_when_called


@compiled(borrowing=True)
def copy_into(target, values):
    """target[:] = values, both (n,).

    Numba takes a quarter of a second to compile an assignment to a slice, with the text of the error that it might
    raise, anew in every function where one stands; a loop takes a tenth of that.
    """
    for i in range(target.shape[0]):
        target[i] = values[i]


@compiled(borrowing=True)
def clear(target, m):
    """target[:m] = 0, a loop for the same reason, as are those below."""
    for i in range(m):
        target[i] = 0


@compiled(inside=True, borrowing=True)
def number_from_zero(target):
    """target[:] = 0, 1, 2, …"""
    for i in range(target.shape[0]):
        target[i] = i


@compiled(inside=True, borrowing=True)
def sum_of(values):
    """Σ of values (n,), one after the other."""
    total = 0.0
    for i in range(values.shape[0]):
        total += values[i]
    return total


def nothing_on_disk(function: Any) -> bool:
    """Whether a function has never been compiled, as far as can be told before it is called."""
    file = getattr(getattr(function, "_cache", None), "_cache_file", None)
    return file is not None and not Path(file._index_path).exists()  # noqa: SLF001


def is_kept(function: Any) -> bool:
    """Whether what is compiled of a function is kept on disk."""
    return isinstance(getattr(function, "_cache", None), _Shared)


class _Stopwatch(event.Listener):
    """How long this process has compiled, or waited for the one that helps it, in seconds."""

    def __init__(self) -> None:
        self.seconds, self._since, self._depth = 0.0, 0.0, 0

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        """Numba begins to compile a function, or one that it calls."""
        if self._depth == 0:
            self._since = perf_counter()
        self._depth += 1

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        """It has compiled it."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += perf_counter() - self._since

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        """What goes on within counts too."""
        self.on_start(None)
        try:
            yield
        finally:
            self.on_end(None)


compiling = _Stopwatch()
event.register("numba:compile", compiling)


class _Notice(event.Listener):
    """Tells whoever waits at a terminal or a notebook, once, that the solver is being compiled, and has it helped."""

    def __init__(self) -> None:
        self._due = True

    def on_start(self, event: Any) -> None:
        """Numba begins to compile a function that it has not found on disk."""
        if self._due and event.data["dispatcher"].py_func.__name__ in _FIRST:
            self._due = False
            kept = is_kept(copy_into)
            if kept:
                start_once()
            if sys.stderr is not None and (sys.stderr.isatty() or hasattr(sys, "ps1")):
                print(f"svmstat: compiling the solver, {_ONCE if kept else _ANEW}", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        """Nothing is said."""


event.register("numba:compile", _Notice())
