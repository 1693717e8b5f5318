"""Many classes beside scikit-learn: a fit of ten; leave-one-out with maps, coupling and votes beside bare refits."""

from functools import partial

import numpy as np
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.problems import table
from benchmarks.timing import alternate, seconds
from svmstat import datasets, svm
from svmstat.calibration import fit_maps
from svmstat.kernels import RBF
from svmstat.machine import contrasts, fit_machine, pairs_of
from svmstat.resampling import leave_one_out

SPLITS = 60


def liver():
    data = datasets.load("liver")
    return np.log(data[["ast", "alt", "gldh"]].to_numpy()), data["disease"].to_numpy()


def ten(n=2000, p=8, seed=0):
    """Ten overlapping normal classes of unequal size."""
    rng = np.random.default_rng(seed)
    y = rng.choice(10, n, p=np.linspace(1, 2, 10) / 15.0)
    return 1.6 * rng.normal(size=(10, p))[y] + rng.normal(size=(n, p)), y


CASES = [
    ("liver", liver(), 0.33, 1.0),
    ("liver", liver(), 0.0625, 64.0),
    ("iris", load_iris(return_X_y=True), 0.25, 1.0),
    ("wine", load_wine(return_X_y=True), 0.08, 1.0),
    ("10 classes 2000", ten(), 0.125, 1.0),
]


def fits():
    """A whole call of svm(), from a formula and a DataFrame, beside SVC on the scaled matrix."""
    print("svm('y ~ .', data, gamma=0.125) with ten classes, C = 1, beside SVC(gamma=0.125).fit(X, y); one core each")
    print(f"{'rows':>6}{'svm s':>9}{'SVC s':>9}{'svm / SVC':>11}  worst KKT violation")
    for n in (2000, 5000, 10_000):
        X, y = ten(n)
        data = table(X, y)
        ours = partial(svm, "y ~ .", data, gamma=0.125)
        theirs = partial(SVC(gamma=0.125).fit, (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), y)
        with threadpool_limits(1):
            taken, their_time = alternate([ours, theirs], 9)
        print(
            f"{n:6d}{taken:9.3f}{their_time:9.3f}{taken / their_time:11.2f}  {ours().kkt_violation:.1e}",
            flush=True,
        )


def sklearn_seconds(X, y, model, cores):
    """Seconds for all n splits, and whether all were run."""
    if len(y) <= 1000:
        loop = partial(cross_val_predict, model, X, y, cv=LeaveOneOut(), method="decision_function", n_jobs=cores)
        cross_val_predict(model, X, y, n_jobs=cores)  # starts the workers
        return seconds(loop)[0], True
    rows = np.linspace(0, len(y) - 1, SPLITS).astype(int)

    def some():
        for row in rows:
            keep = np.arange(len(y)) != row
            model.fit(X[keep], y[keep]).decision_function(X[row : row + 1])

    return seconds(some)[0] * len(y) / SPLITS / cores, False


def main():
    fits()
    print()
    print("Leave-one-out, one machine for each pair of classes. svmstat: decision values, Platt maps, coupled")
    print("probabilities and votes; 'influence': with the deleted deviances over all rows.")
    print("scikit-learn: cross_val_predict(SVC(tol=1e-3), method='decision_function', cv=LeaveOneOut()), none of these")
    print(f"{'data':17}{'C':>5}{'cores':>6}{'loo s':>9}{'influence s':>13}{'sklearn s':>11}{'ratio':>7}", end="")
    print("  largest |f - f sklearn|")
    for name, (raw, labels), gamma, C in CASES:
        X = (raw - raw.mean(axis=0)) / raw.std(axis=0, ddof=1)
        y = np.unique(labels, return_inverse=True)[1]
        asked = contrasts(pairs_of(y.max() + 1), "hinge")
        machine = fit_machine(RBF(gamma), X, y, np.ones(len(y)), asked, C=C)
        maps = fit_maps(machine)
        leave_one_out(machine, maps)
        reference = SVC(C=C, gamma=gamma, tol=1e-9, decision_function_shape="ovo").fit(X, y).decision_function(X)
        apart = np.abs(reference - machine.decision_values).max()
        for cores in (1, 2):
            rounds = [
                seconds(partial(leave_one_out, machine, maps, influence=False, n_jobs=cores))[0] for _ in range(7)
            ]
            further = min(seconds(partial(leave_one_out, machine, maps, n_jobs=cores))[0] for _ in range(2))
            model = SVC(C=C, gamma=gamma, tol=1e-3, decision_function_shape="ovo")
            theirs, whole = sklearn_seconds(X, y, model, cores)
            ours = min(rounds)
            ratio = f"{theirs / ours:7.0f}{' ' if whole else '*'}"
            print(f"{name:17}{C:5.0f}{cores:6d}{ours:9.4f}{further:13.3f}{theirs:11.2f}{ratio} {apart:.1e}", flush=True)
    print(f"* scikit-learn timed on {SPLITS} of the n splits and scaled up")
