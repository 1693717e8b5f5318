"""Work in threads, for what releases the interpreter's lock."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class _Here(threading.local):
    """Whether the other cores have work of their own, as far as this thread knows."""

    alone = False


_here = _Here()


@contextmanager
def one_core(asked: bool = True) -> Iterator[None]:
    """Keep what this thread does inside, if ``asked``, to itself: where every core has a worker more threads only wait.

    Examples
    --------
    >>> from threading import get_ident
    >>> with one_core():
    ...     set(in_threads(lambda task: get_ident(), range(9))) == {get_ident()}
    True
    """
    was, _here.alone = _here.alone, asked or _here.alone
    try:
        yield
    finally:
        _here.alone = was


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_threads(function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
    """Yield function(task) in the order of the tasks, on all cores this process may use, but inside of `one_core`."""
    tasks = list(tasks)
    threads = min(cores(), len(tasks))
    if _here.alone or threads < 2:
        yield from map(function, tasks)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(function, tasks)
