"""Times of competing functions, taken in turn so that a busy moment of the machine hits all of them."""

import resource
import time
from statistics import median


def alternate(functions, repeats, clock=time.perf_counter, typical=median):
    """Median seconds of each function over ``repeats`` rounds, after one round that is not counted.

    Or seconds of another ``clock``, and another ``typical`` number of them.
    """
    seconds = [[] for _ in functions]
    for round_number in range(repeats + 1):
        for function, times in zip(functions, seconds, strict=True):
            start = clock()
            function()
            if round_number:
                times.append(clock() - start)
    return [typical(times) for times in seconds]


def seconds(function):
    """Seconds that a call takes, and what it gives."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def peak():
    """The most memory that this process has had, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
