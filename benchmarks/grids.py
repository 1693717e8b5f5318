"""A grid of 10 × 10 costs and widths in 5 folds, beside scikit-learn's SVC and liquidSVM where its tools are at hand.

``python -m benchmarks grids [--liquid FOLDER] [--cores 1]``. Nothing is fetched: the folder is that of svm-train, which
the sources of liquidSVM (github.com/liquidSVM/liquidSVM) give in half a minute, in their own folder:

    g++ -O3 -march=native -ffast-math -std=c++11 -DX64_CPU -DCOMPILE_WITHOUT_EXCEPTIONS__ -DCOMPILE_FOR_COMMAND_LINE__ \
        -I. sources/svm/main/svm-train.cpp -o svm-train -lpthread -lrt

All three have the same standardised rows, folds, costs and widths. liquidSVM's kernel is exp(−|x − x'|² / γ²), so that
its γ is 1/√gamma, and it takes its costs as C; its machine has no intercept.
"""

import argparse
import os
import resource
import subprocess
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.svm import SVC

from benchmarks.problems import interaction, table
from svmstat import tune
from svmstat.errors import GridWarning, LongRunWarning
from svmstat.resampling import folds

ROWS, FOLDS, ROUNDS = 2000, 5, 2
COSTS, WIDTHS = 2.0 ** np.arange(-2, 8), 2.0 ** np.arange(-5, 5)
"""The costs that `tune` takes by default; the widths are divided by the number of columns, its default too, but for one
more at either end."""

STOPS = {"liquidSVM": 1e-3, "liquidSVM 1e-8": 1e-8}
"""The gap at which it stops: its own, and the bound of the gap where the KKT violation is ours."""


def keel(name, most=None):
    """Rows drawn from a set of benchmarks/data without the columns that are constant."""
    data = pd.read_csv(Path(__file__).parent / "data" / f"{name}.csv.gz")
    rows = np.random.default_rng(0).permutation(len(data))[:most]
    X = data.drop(columns="y").to_numpy(float)[rows]
    return X[:, np.ptp(X, axis=0) > 0.0], data["y"].to_numpy(float)[rows]


DATA = {
    "banana": partial(keel, "banana", ROWS),
    "interaction": partial(interaction, ROWS, 10),
    "twonorm": partial(keel, "twonorm", ROWS),
    "image": partial(keel, "image"),
}


def spent():
    """Processor seconds of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def timed(task):
    """Processor seconds, seconds by the clock, and the result."""
    busy, start = spent(), time.perf_counter()
    found = task()
    return spent() - busy, time.perf_counter() - start, found


def ours(X, y, widths, cores):
    """The tuned fit."""
    return tune(
        "y ~ .", table(X, y), C=COSTS, gamma=widths, criterion="kfold", folds=FOLDS, score="error", rng=1, n_jobs=cores,
        calibration="insample",
    )  # fmt: skip


def checked(X, y, widths):
    """The largest KKT violation of all the fits of our grid, and the fold of each row."""
    seen = []

    def solve(*problem, **start):
        seen.append(solver(*problem, **start))
        return seen[-1]

    solver = folds.solve
    with mock.patch.object(folds, "solve", solve):
        found = ours(X, y, widths, 1)
    return max(solution.violation for solution in seen), found.fold.to_numpy()


def sklearn(X, y, fold, widths, cores):
    """(10, 10) error rates by widths and costs."""

    def errors(gamma, which):
        seen = fold != which
        fits = (SVC(C=C, gamma=gamma, cache_size=1000).fit(X[seen], y[seen]) for C in COSTS)
        return [np.count_nonzero(fit.predict(X[~seen]) != y[~seen]) for fit in fits]

    pieces = [(gamma, which) for gamma in widths for which in range(FOLDS)]
    wrong = Parallel(cores, prefer="threads")(delayed(errors)(*piece) for piece in pieces)
    return np.reshape(wrong, (len(widths), FOLDS, len(COSTS))).sum(axis=1) / len(y)


def write_blocks(X, y, fold, file):
    """The rows fold by fold: liquidSVM takes blocks of equal size, which folds are but for rows with copies."""
    order = np.argsort(fold, kind="stable")
    np.savetxt(file, np.column_stack([y, X])[order], delimiter=",", fmt="%.17g")


def liquid(program, file, widths, cores, stop):
    """(10, 10) mean error rates of the folds, by widths and costs, from its log."""
    numbers = {"-g": 1.0 / np.sqrt(widths), "-l": COSTS}
    listed = [word for key, values in numbers.items() for word in (key, "[", *map("{:.17g}".format, values), "]")]
    log = file.with_suffix(".log")
    log.unlink(missing_ok=True)
    options = ["-d", "0", "-f", "1", str(FOLDS), "-S", "2", "-T", str(cores), "-s", "-1", f"{stop:.9f}"]
    subprocess.run([program, *options, *listed, "1", file, log], check=True, capture_output=True)
    lines = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
    points = np.array([[line[0], line[3], line[7]] for line in lines if len(line) > 20], float)  # γ, λ, error of a fold
    order = np.lexsort((-points[:, 1], -points[:, 0]))
    return points[order, 2].reshape(len(widths), len(COSTS), FOLDS).mean(axis=2)


def main(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks grids", description=__doc__.partition(":")[0])
    parser.add_argument("--liquid", type=Path, help="the folder of liquidSVM's svm-train")
    parser.add_argument("--cores", type=int, default=1)
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore", GridWarning)
    warnings.simplefilter("ignore", LongRunWarning)
    stops = STOPS if given.liquid else {}
    shape = f"{len(COSTS)} costs x {len(WIDTHS)} widths in {FOLDS} folds"
    print(f"{shape}, error rate, {given.cores} core(s); in turns, the least of {ROUNDS} rounds,")
    print(f"scikit-learn of one. Load before {os.getloadavg()[0]:.1f}.")
    print("svmstat: every fit to a KKT violation of 1e-8, and so to a gap of C n times 1e-8 at most;")
    print("the largest violation is below. SVC: tol=1e-3, cache_size=1000.")
    if stops:
        print("liquidSVM: no intercept; each fit until the gap of primal and dual, the loss clipped at 2, is C n times")
        print("1e-3, its default, or 1e-8. It takes blocks of equal size, which folds are but for rows with copies.")
    else:
        print("liquidSVM: left out, since --liquid does not say where its svm-train is.")
    names = ["svmstat", "SVC", *stops]
    print(f"\n{'processor seconds':24}" + "".join(f"{name:>16}" for name in names))
    notes, shares, clocks = [], [], []
    for name, draw in DATA.items():
        X, y = draw()
        X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
        widths = WIDTHS / X.shape[1]
        largest, fold = checked(X, y, widths)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.csv"
            write_blocks(X, y, fold, file)
            tasks = [partial(ours, X, y, widths, given.cores)]
            program = given.liquid and given.liquid / "svm-train"
            tasks += [partial(liquid, program, file, widths, given.cores, stop) for stop in stops.values()]
            rounds = [[timed(task) for task in tasks] for _ in range(ROUNDS)]
        best = [[min(values) for values in list(zip(*each, strict=True))[:2]] for each in zip(*rounds, strict=True)]
        *sklearns, errors = timed(partial(sklearn, X, y, fold, widths, given.cores))
        best.insert(1, sklearns)
        table = rounds[0][0][2].table
        own = table.sort_values(["gamma", "C"])["error"].to_numpy().reshape(len(widths), len(COSTS))
        tables = [errors, *(found for _, _, found in rounds[0][1:])]
        notes.append((name, largest, own.min(), [(each.min(), np.abs(each - own).max()) for each in tables]))
        clocks.append((name, [each[1] for each in best]))
        busy = [each[0] for each in best]
        print(f"{f'{name} {len(y)} x {X.shape[1]}':24}" + "".join(f"{seconds:16.2f}" for seconds in busy), flush=True)
        shares.append((name, [each / busy[0] for each in busy]))
    for title, rows in (("the same / svmstat's", shares), ("seconds by the clock", clocks)):
        print(f"\n{title:24}" + "".join(f"{name:>16}" for name in names))
        for name, values in rows:
            print(f"{name:24}" + "".join(f"{each:16.2f}" for each in values))
    print("\nThe least error rate of the grid, and the largest difference of any of its points from svmstat's:")
    print(f"{'':24}{'violation':>10}{'svmstat':>9}" + "".join(f"{each:>20}" for each in names[1:]))
    for name, largest, least, others in notes:
        print(f"{name:24}{largest:10.0e}{least:9.4f}" + "".join(f"{a:12.4f}, {b:.4f}" for a, b in others))
