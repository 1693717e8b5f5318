"""An rbf kernel by its values at landmarks: svmstat's certified fit beside scikit-learn's Nystroem and LinearSVC.

Each program has a process of its own, for its peak memory. LinearSVC is given our map of the rows, so that both solve
one problem, and is charged with the time of scikit-learn's own map; how far it came is judged as in `linear`.
"""

import os
import time

from sklearn.kernel_approximation import Nystroem

from benchmarks.large import in_own_process
from benchmarks.linear import primal, theirs
from benchmarks.problems import interaction, two_class_machine
from benchmarks.timing import peak
from svmstat.kernels import RBF, Nystrom

N, P, LANDMARKS, GAMMA, C = 200_000, 10, 1000, 0.1, 1.0
WAYS = (20, 1e-5), (100, 1e-5), (1000, 1e-5), (100_000, 1e-7), (100_000, 1e-9)
"""Most iterations of LinearSVC, and its tolerance."""


def mine():
    X, y = interaction(N, P)
    two_class_machine(Nystrom(RBF(GAMMA), landmarks=50).resolve(X[:6000]), X[:6000], y[:6000], C)  # compiles
    start = time.perf_counter()
    kernel = Nystrom(RBF(GAMMA), landmarks=LANDMARKS).resolve(X)
    solution = two_class_machine(kernel, X, y, C).pairs[0].solution
    seconds = time.perf_counter() - start
    return seconds, -solution.objective, solution.violation, solution.gap, int(solution.free.sum()), peak()


def other(iterations, tolerance):
    X, y = interaction(N, P)
    start = time.perf_counter()
    Nystroem(gamma=GAMMA, n_components=LANDMARKS, random_state=0).fit_transform(X)
    mapped = time.perf_counter() - start
    high = peak()
    Z = Nystrom(RBF(GAMMA), landmarks=LANDMARKS).resolve(X).features(X)
    start = time.perf_counter()
    w = theirs(Z, y, C, iterations, tolerance).coef_[0]
    return mapped + time.perf_counter() - start, primal(Z, y, w, C), high


def main():
    print(f"{N} rows of {P} columns, rbf kernel of gamma = {GAMMA} at {LANDMARKS} landmarks, C = {C:g};")
    print(f"{os.cpu_count()} cores, load before {os.getloadavg()[0]:.1f}; gaps relative to the certified dual")
    seconds, dual, violation, gap, free, high = in_own_process(mine)
    print(f"{'':38}{'s':>8}{'gap':>10}{'violation':>11}{'free':>6}{'peak GiB':>10}")
    print(f"{'svmstat':38}{seconds:8.1f}{gap / dual:10.0e}{violation:11.0e}{free:6d}{high:10.2f}")
    for iterations, tolerance in WAYS:
        seconds, value, high = in_own_process(other, iterations, tolerance)
        what = f"Nystroem, LinearSVC({iterations}, tol={tolerance:.0e})"
        print(f"{what:38}{seconds:8.1f}{(value - dual) / dual:10.0e}{'':17}{high:10.2f}", flush=True)
    print(f"load after {os.getloadavg()[0]:.1f}")
