"""Linear machines of many rows: svmstat's certified solution beside LinearSVC of scikit-learn, in turns.

LinearSVC penalises the intercept as well, as the coefficient of a column of ones. How far it came is judged kindly: by
our primal at its w and the intercept that suits w best, above the certified dual.

Then ten costs, each solution certified as the first: from a fit in their middle upwards, and from there downwards.
"""

import time
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from benchmarks.problems import two_class_machine
from benchmarks.timing import peak
from svmstat.kernels import Linear
from svmstat.machine import along_costs
from svmstat.solver import solve

SIZES = ((100_000, 50), (1_000_000, 10))
PATH_SIZES = ((20_000, 10), *SIZES)
COSTS = np.geomspace(0.01, 10.0, 10)
ROUNDS, PATH_ROUNDS = 3, 7


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


def theirs(X, y, C, iterations=1000, tolerance=1e-5):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LinearSVC(loss="hinge", C=C, tol=tolerance, max_iter=iterations).fit(X, y)


def beside_linear_svc(sizes, rounds, C):
    print("Linear kernel, C = 1: least processor seconds of", rounds, "in turns; relative gap above the certified dual")
    print(f"{'n':>9} {'p':>3} {'data GiB':>9} {'svmstat s':>10} {'violation':>10} {'gap':>8} {'peak GiB':>9}", end=" ")
    print(f"{'LinearSVC s':>12} {'gap':>8} {'ratio':>6}")
    for n, p in sizes:
        X, y = overlapping(n, p)
        mine, other, high = [], [], 0.0
        for _ in range(rounds):
            machine, seconds = processor_time(partial(two_class_machine, Linear(), X, y, C))
            mine.append(seconds)
            high = high or peak()
            fitted, seconds = processor_time(partial(theirs, X, y, C))
            other.append(seconds)
        solution = machine.pairs[0].solution
        dual = -solution.objective
        above = (primal(X, y, fitted.coef_[0], C) - dual) / dual
        print(f"{n:9} {p:3} {X.nbytes / 2**30:9.3f} {min(mine):10.2f} {solution.violation:10.1e}", end=" ")
        print(f"{solution.gap / dual:8.0e} {high:9.2f} {min(other):12.2f} {above:8.0e} {min(other) / min(mine):6.1f}")


def along(machine):
    """The solutions for the costs, upwards and downwards from the cost of a fit."""
    below = COSTS < machine.C
    sides = (COSTS[~below], COSTS[below][::-1])
    return [each.pairs[0].solution for side in sides for each in along_costs(machine, side)]


def processor_time(function):
    """What the function returns, and the seconds that the processor took, which other processes do not prolong."""
    start = time.process_time()
    result = function()
    return result, time.process_time() - start


def path(sizes, rounds):
    """A line for each size. The violation, the gap and the distance from cold fits are the worst of all costs."""
    costs = f"{COSTS[0]:g} to {COSTS[-1]:g}"
    print(f"\nTen costs from {costs}, after the fit of one of them: least processor seconds of {rounds} in turns")
    print(f"{'n':>9} {'p':>3} {'fit s':>7} {'its solver s':>13} {'path s':>7} {'path/fit':>9}", end=" ")
    print(f"{'path/solver':>12} {'violation':>10} {'gap':>7} {'|f - f cold|':>13}")
    for n, p in sizes:
        X, y = overlapping(n, p)
        seconds = []
        for _ in range(rounds):
            machine, fitting = processor_time(partial(two_class_machine, Linear(), X, y, COSTS[5]))
            problem = machine.pairs[0].problem
            _, solving = processor_time(partial(solve, problem))
            solutions, following = processor_time(partial(along, machine))
            seconds.append((fitting, solving, following))
        fitting, solving, following = np.min(seconds, axis=0)
        violation = max(each.violation for each in solutions)
        gap = max(each.gap / -each.objective for each in solutions)
        cold = [solve(replace(problem, upper=each.upper)).decision for each in solutions]
        apart = max(np.abs(each.decision - f).max() for each, f in zip(solutions, cold, strict=True))
        print(f"{n:9} {p:3} {fitting:7.3f} {solving:13.3f} {following:7.3f} {following / fitting:9.1f}", end=" ")
        print(f"{following / solving:12.1f} {violation:10.1e} {gap:7.0e} {apart:13.0e}")


def main(sizes=SIZES, path_sizes=PATH_SIZES, rounds=ROUNDS, C=1.0):
    two_class_machine(Linear(), *overlapping(20_000, 3), C)  # compiles
    beside_linear_svc(sizes, rounds, C)
    path(path_sizes, PATH_ROUNDS)
