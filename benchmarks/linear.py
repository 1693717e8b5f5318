"""Linear machines of many rows: svmstat's certified solution beside LinearSVC of scikit-learn, in turns.

LinearSVC penalises the intercept as well, as the coefficient of a column of ones. How far it came is judged kindly: by
our primal at its w and the intercept that suits w best, above the certified dual.
"""

import resource
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from benchmarks.problems import two_class_machine
from svmstat.kernels import Linear

SIZES = ((100_000, 50), (1_000_000, 10))
ROUNDS = 3


def overlapping(n, p):
    """X (n, p) and labels: a linear score with noise, a sixth of the rows on the wrong side."""
    rng = np.random.default_rng(20061126)
    X = rng.normal(size=(n, p))
    score = X @ rng.normal(size=p) / np.sqrt(p) + 0.5 * rng.normal(size=n)
    return X, np.where(score > 0.3, 1.0, -1.0)


def primal(X, y, w, C):
    """½‖w‖² + C Σ max(0, 1 − y f) at its least over b: each kink b = y − x'w raises the slope, first −C n₊, by C."""
    field = X @ w
    b = np.sort(y - field)[np.count_nonzero(y > 0) - 1]
    return 0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (field + b)).sum()


def theirs(X, y, C, iterations=1000):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LinearSVC(loss="hinge", C=C, tol=1e-5, max_iter=iterations).fit(X, y)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main(sizes=SIZES, rounds=ROUNDS, C=1.0):
    two_class_machine(Linear(), *overlapping(20_000, 3), C)  # compiles
    print("Linear kernel, C = 1: least seconds of", rounds, "in turns; relative gap above the certified dual")
    print(f"{'n':>9} {'p':>3} {'data GiB':>9} {'svmstat s':>10} {'violation':>10} {'gap':>8} {'peak GiB':>9}", end=" ")
    print(f"{'LinearSVC s':>12} {'gap':>8} {'ratio':>6}")
    for n, p in sizes:
        X, y = overlapping(n, p)
        mine, other, high = [], [], 0.0
        for _ in range(rounds):
            start = time.perf_counter()
            solution = two_class_machine(Linear(), X, y, C).pairs[0].solution
            mine.append(time.perf_counter() - start)
            high = high or peak()
            start = time.perf_counter()
            fitted = theirs(X, y, C)
            other.append(time.perf_counter() - start)
        dual = -solution.objective
        above = (primal(X, y, fitted.coef_[0], C) - dual) / dual
        print(f"{n:9} {p:3} {X.nbytes / 2**30:9.3f} {min(mine):10.2f} {solution.violation:10.1e}", end=" ")
        print(f"{solution.gap / dual:8.0e} {high:9.2f} {min(other):12.2f} {above:8.0e} {min(other) / min(mine):6.1f}")
