"""Work in threads, for what releases the interpreter's lock."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_threads(function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
    """Yield function(task) in the order of the tasks, on all cores this process may use."""
    tasks = list(tasks)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if min(cores, len(tasks)) < 2:
        yield from map(function, tasks)
        return
    with ThreadPoolExecutor(min(cores, len(tasks))) as pool:
        yield from pool.map(function, tasks)
