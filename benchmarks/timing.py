"""Times of competing functions, taken in turn so that a busy moment of the machine hits all of them."""

import time
from statistics import median


def alternate(functions, repeats):
    """Median seconds of each function over ``repeats`` rounds, after one round that is not counted."""
    seconds = [[] for _ in functions]
    for round_number in range(repeats + 1):
        for function, times in zip(functions, seconds, strict=True):
            start = time.perf_counter()
            function()
            if round_number:
                times.append(time.perf_counter() - start)
    return [median(times) for times in seconds]
