"""The full leave-one-out, with n Platt maps and deleted deviances, against scikit-learn's refits alone, equal cores."""

import time
from functools import partial

import numpy as np
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.svm import SVC

from benchmarks.problems import banana, interaction, mackerel
from svmstat import losses
from svmstat.calibration import fit_platt
from svmstat.kernels import RBF
from svmstat.machine import fit_machine
from svmstat.resampling import leave_one_out

CASES = [
    ("mackerel", mackerel(), 0.25, 16.0),
    ("mackerel", mackerel(), 0.25, 1.0),
    ("mackerel", mackerel(), 1.0, 100.0),
    ("banana 2000", banana(2000), 5.0, 16.0),
    ("interaction 2000 × 5", interaction(2000, 5), 0.2, 4.0),
    ("interaction 2000 × 20", interaction(2000, 20), 0.05, 4.0),
]
SPLITS = 100


def seconds(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def main():
    print("Leave-one-out: svmstat, exact, with n Platt maps; cross_val_predict(SVC(tol=1e-3), LeaveOneOut())")
    print(f"{'data':23}{'C':>5}{'cores':>6}{'svmstat s':>11}{'sklearn s':>11}{'ratio':>8}  free/bound events rescued")
    for name, (X, y), gamma, C in CASES:
        machine = fit_machine(RBF(gamma), X, y, np.ones(len(y)), C=C, loss=losses.hinge())
        platt = fit_platt(machine.decision_values, y, machine.weights)
        leave_one_out(machine, platt)
        for cores in (1, 2):
            loop = partial(leave_one_out, machine, platt, n_jobs=cores)
            ours, result = min((seconds(loop) for _ in range(3)), key=lambda t: t[0])
            theirs, whole = sklearn_seconds(X, y, gamma, C, cores)
            solution = machine.solution
            print(
                f"{name:23}{C:5.0f}{cores:6d}{ours:11.4f}{theirs:11.2f}{theirs / ours:8.0f}"
                f"  {solution.free.sum()}/{solution.bounded.sum()} {result.n_events} {result.n_rescued}"
                + ("" if whole else "  *")
            )
    print(f"* scikit-learn timed on {SPLITS} of the n splits and scaled up")


def sklearn_seconds(X, y, gamma, C, cores):
    """Seconds for all n splits, and whether all were run."""
    model = SVC(C=C, gamma=gamma, tol=1e-3)
    if len(y) <= 1000:
        return seconds(lambda: cross_val_predict(model, X, y, cv=LeaveOneOut(), n_jobs=cores))[0], True
    rows = np.linspace(0, len(y) - 1, SPLITS).astype(int)

    def some():
        for row in rows:
            keep = np.arange(len(y)) != row
            SVC(C=C, gamma=gamma, tol=1e-3).fit(X[keep], y[keep]).predict(X[row : row + 1])

    return seconds(some)[0] * len(y) / SPLITS / cores, False
