"""Exact leave-one-out, bare and with its statistics, against scikit-learn's refits, with equal cores."""

from functools import partial

import numpy as np
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.svm import SVC

from benchmarks.problems import banana, interaction, mackerel, two_class_machine
from benchmarks.timing import seconds
from svmstat.calibration import fit_maps
from svmstat.kernels import RBF
from svmstat.objective.bounds import deletions
from svmstat.resampling import leave_one_out
from svmstat.resampling.loops import run_pieces
from svmstat.solver import anchor_at, solve

CASES = [
    ("mackerel", mackerel(), 0.25, 16.0),
    ("mackerel", mackerel(), 0.25, 1.0),
    ("mackerel", mackerel(), 1.0, 100.0),
    ("banana 2000", banana(2000), 5.0, 1.0),
    ("interaction 2000 × 5", interaction(2000, 5), 0.2, 4.0),
    ("interaction 2000 × 20", interaction(2000, 20), 0.05, 1.0),
    ("interaction 2000 × 20", interaction(2000, 20), 0.05, 4.0),
]
SPLITS = 100
CHUNK = 128


def engine(machine, cores):
    """The n decision values f^{[-k]}(x_k) alone."""
    problem, weights, n = machine.pairs[0].problem, machine.groups.weights, machine.gram.n
    anchor = anchor_at(problem, machine.pairs[0].solution)
    pieces = [(problem, anchor, weights, np.arange(a, min(a + CHUNK, n))) for a in range(0, n, CHUNK)]
    workers = cores if len(pieces) >= 8 else 1
    return np.concatenate(run_pieces(deleted, pieces, n_jobs=workers, progress=False, what="engine"))


def deleted(problem, anchor, weights, rows):
    batch = solve(problem, deletions(problem.upper, weights, rows, np.ones(len(rows))), start=anchor)
    return batch.field[np.arange(len(rows)), rows] + batch.intercept


def main():
    print("Leave-one-out: the engine's decision values; fit.loo() with n Platt maps and deleted deviances;")
    print("cross_val_predict(SVC(tol=1e-3), LeaveOneOut()), which gives neither")
    print(
        f"{'data':23}{'C':>5}{'cores':>6}{'engine s':>10}{'loo s':>8}{'sklearn s':>11}{'engine':>8}{'loo':>6}", end=""
    )
    print("  free/bound events rescued")
    for name, (X, y), gamma, C in CASES:
        machine = two_class_machine(RBF(gamma), X, y, C)
        maps = fit_maps(machine)
        leave_one_out(machine, maps)
        for cores in (1, 2):
            bare = min(seconds(partial(engine, machine, cores))[0] for _ in range(5))
            loop = partial(leave_one_out, machine, maps, n_jobs=cores)
            full, result = min((seconds(loop) for _ in range(5)), key=lambda t: t[0])
            theirs, whole = sklearn_seconds(X, y, gamma, C, cores)
            solution = machine.pairs[0].solution
            ratios = f"{theirs / bare:8.0f}{theirs / full:6.0f}" + (" " if whole else "*")
            counts = f"{solution.free.sum()}/{solution.bounded.sum()} {result.n_events} {result.n_rescued}"
            print(f"{name:23}{C:5.0f}{cores:6d}{bare:10.4f}{full:8.4f}{theirs:11.2f}{ratios} {counts}", flush=True)
    print(f"* scikit-learn timed on {SPLITS} of the n splits and scaled up")


def sklearn_seconds(X, y, gamma, C, cores):
    """Seconds for all n splits, and whether all were run."""
    model = SVC(C=C, gamma=gamma, tol=1e-3)
    if len(y) <= 1000:
        cross_val_predict(model, X, y, n_jobs=cores)  # starts the workers
        return seconds(lambda: cross_val_predict(model, X, y, cv=LeaveOneOut(), n_jobs=cores))[0], True
    rows = np.linspace(0, len(y) - 1, SPLITS).astype(int)

    def some():
        for row in rows:
            keep = np.arange(len(y)) != row
            SVC(C=C, gamma=gamma, tol=1e-3).fit(X[keep], y[keep]).predict(X[row : row + 1])

    return seconds(some)[0] * len(y) / SPLITS / cores, False
