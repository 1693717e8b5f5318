"""A garbage collector that comes seldom, for processes that compile and then end."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_SELDOM = 50_000, 50, 100


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Within it cyclic garbage waits for longer: looking for it takes a tenth of the time of imports and compiling.

    Examples
    --------
    >>> before = gc.get_threshold()
    >>> with seldom_collected():
    ...     gc.get_threshold() > before
    True
    >>> gc.get_threshold() == before
    True
    """
    before = gc.get_threshold()
    gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
