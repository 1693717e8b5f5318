"""Leave-one-out of 10 000 and 20 000 rows, rbf kernel: what is announced, what it takes, and checks of some rows.

``python -m benchmarks large-loo [--only NAME]``. The matrix of 20 000 rows is beyond the memory that it may have. Every
set has a process of its own, for its peak memory. Some rows are left out by cold fits too.
"""

import argparse
import os
import time
import warnings

import numpy as np

from benchmarks.large import DATA, in_own_process
from benchmarks.problems import table
from benchmarks.timing import peak
from svmstat import svm
from svmstat.errors import LongRunWarning

SIZES, C, WORKERS, REFITS = (10_000, 20_000), 1.0, 2, 3
COLUMNS = [("data", 12), ("n", 7), ("vectors", 9), ("seconds", 9), ("GiB", 6), ("error", 9), ("failed", 7), ("off", 9)]


def one(name, n):
    """Seconds, peak GiB, error rate, rows that failed, and how far decision values are from cold fits without a row."""
    draw, gamma = DATA[name]
    data = table(*draw(n))
    options = {"C": C, "gamma": gamma, "scale": False}
    svm("y ~ .", data[:300], **options).loo()  # compiles
    fit = svm("y ~ .", data, **options)
    fit.maps  # noqa: B018  whose folds are not what is timed
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", LongRunWarning)
        start = time.perf_counter()
        loo = fit.loo(n_jobs=WORKERS)
        seconds = time.perf_counter() - start
    most = peak()
    held_out = loo.decision_values.to_numpy()
    support = np.flatnonzero(fit.alpha.to_numpy() > 0)
    rows = np.random.default_rng(0).choice(support, REFITS, replace=False)
    off = [
        svm("y ~ .", data.drop(index=k), **options).decision_function(data.loc[[k]]).iloc[0] - held_out[k] for k in rows
    ]
    counts = len(support), seconds, most, loo.error_rate, loo.n_failed, np.abs(off).max()
    return counts, [str(each.message) for each in said if issubclass(each.category, LongRunWarning)]


def main(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks large-loo", description=__doc__.partition(":")[0])
    parser.add_argument("--only", choices=DATA)
    only = parser.parse_args(arguments).only
    print(f"Leave-one-out, rbf kernel, C = {C:g}, {WORKERS} workers; {os.cpu_count()} cores, load before", end="")
    print(f" {os.getloadavg()[0]:.1f}; off: by how much f differs from that of {REFITS} cold fits without a row.")
    print("".join(f"{column:>{width}}" for column, width in COLUMNS))
    for n in SIZES:
        for name in [only] if only else DATA:
            (vectors, seconds, most, error, failed, off), said = in_own_process(one, name, n)
            print(f"{name:>12}{n:7d}{vectors:9d}{seconds:9.1f}{most:6.2f}{error:9.5f}{failed:7d}{off:9.0e}", flush=True)
            print("".join(f"  Beforehand: {each.partition(', because')[0]}.\n" for each in said), end="", flush=True)
