"""``tune`` against scikit-learn with the same cores: 5-fold on a grid of 10 × 10, and leave-one-out on mackerel."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.svm import SVC

from benchmarks.problems import MACKEREL, banana
from benchmarks.timing import seconds
from svmstat import datasets
from svmstat.errors import GridWarning
from svmstat.tuning import tune

COSTS, WIDTHS = np.geomspace(0.05, 100, 10), np.geomspace(0.05, 50, 10)
CORES = 2
ROUNDS = 2


def sample(n):
    """n rows of two curved bands."""
    X, y = banana(n)
    return pd.DataFrame({"y": y.astype(int), "x1": X[:, 0], "x2": X[:, 1]})


def main(n=2000):
    warnings.simplefilter("ignore", GridWarning)
    data = sample(n)
    X = data[["x1", "x2"]].to_numpy()
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)

    print(f"5-fold, {len(COSTS)} x {len(WIDTHS)} points, banana, n = {n}; svmstat to a KKT violation of 1e-8,")
    print("scikit-learn GridSearchCV(SVC(tol=1e-3)) on the same folds; the best of", ROUNDS, "rounds, in turn")
    print(f"{'cores':>6}{'score':>12}{'svmstat s':>11}{'sklearn s':>11}{'ratio':>8}  best C, gamma (svmstat; sklearn)")

    def ours(score, cores):
        return tune("y ~ x1 + x2", data, C=COSTS, gamma=WIDTHS, criterion="kfold", score=score, rng=1, n_jobs=cores)

    folds = ours("error", CORES).fold.to_numpy()  # also compiles

    def theirs(cores):
        search = GridSearchCV(SVC(), {"C": COSTS, "gamma": WIDTHS}, cv=PredefinedSplit(folds), n_jobs=cores, refit=True)
        return search.fit(X, data["y"])

    for cores in (CORES, 1):
        tasks = (partial(ours, "error", cores), partial(ours, "deviance", cores), partial(theirs, cores))
        rounds = [[seconds(task) for task in tasks] for _ in range(ROUNDS)]
        error, deviance, sklearn = (min((r[i] for r in rounds), key=lambda t: t[0]) for i in range(3))
        for score, (taken, found) in (("error", error), ("deviance", deviance)):
            best = ", ".join(f"{v:.3g}" for v in found.best_params.values())
            other = ", ".join(f"{v:.3g}" for v in sklearn[1].best_params_.values())
            print(f"{cores:6d}{score:>12}{taken:11.2f}{sklearn[0]:11.2f}{sklearn[0] / taken:8.1f}  {best}; {other}")
        table = error[1].table
        apart = np.abs((1 - table["error"].to_numpy()) - sklearn[1].cv_results_["mean_test_score"])
        print(f"       largest difference of the accuracies of a grid point: {apart.max():.2g}")

    data = datasets.load("mackerel")
    grid = {"C": 2.0 ** np.arange(-1, 9), "gamma": 2.0 ** np.arange(-5, 1)}
    taken, found = min(
        (seconds(lambda: tune(MACKEREL, data, n_jobs=CORES, **grid)) for _ in range(ROUNDS)), key=lambda t: t[0]
    )
    row = found.best_row
    print(
        f"\nLeave-one-out with n Platt maps at 10 x 6 points, mackerel, n = {len(data)}, {CORES} cores: {taken:.2f} s;"
    )
    print(f"best C = {row['C']:g}, gamma = {row['gamma']:g}, CV score {row['score']:.2f}")


if __name__ == "__main__":
    main()
