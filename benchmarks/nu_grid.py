"""The whole grid of (gamma, nu of the event, nu of the other level) by 5-fold, against a loop of NuSVC fits."""

import time
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from sklearn.svm import NuSVC

from svmstat import minimax
from svmstat.kernels import RBF
from svmstat.resampling.folds import assign_folds
from svmstat.tuning.nu_grid import nu_grid_errors
from svmstat.tuning.nu_search import ErrorRates, coordinate_descent
from svmstat.tuning.sample import Distinct, Effort

CELLS = 1000
SIZE = 50


def banana(n=400, seed=0):
    data = pd.read_csv(Path(__file__).parent / "data" / "banana.csv.gz")
    chosen = data.iloc[np.random.default_rng(seed).permutation(len(data))[:n]]
    X = chosen[["x1", "x2"]].to_numpy()
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), chosen["y"].to_numpy(float)


def nusvc(X, y, fold, cell):
    """Errors (2,) of the held-out rows of all folds.

    NuSVC with sample weights L (libsvm ignores class weights there) has the bounds L_i and a sum of alpha of
    nu * sum of L / 2 on either side: with L = 1/(nu_+ n_+) and 1/(nu_- n_-) that is the 2nu-SVM for
    nu = 2 nu_+ nu_- / (nu_+ + nu_-).
    """
    gamma, nu_event, nu_other = cell
    wrong, failed = np.zeros(2), 0
    for k in range(5):
        kept = fold != k
        n_event, n_other = np.sum(y[kept] > 0), np.sum(y[kept] < 0)
        nu = 2 * nu_event * nu_other / (nu_event + nu_other)
        weights = np.where(y[kept] > 0, 1 / (nu_event * n_event), 1 / (nu_other * n_other)) * kept.sum()
        try:
            fit = NuSVC(nu=nu, gamma=gamma, tol=1e-3).fit(X[kept], y[kept], weights)
        except ValueError:
            failed += 1
            continue
        f = fit.decision_function(X[~kept])
        wrong += np.sum(f[y[~kept] < 0] > 0), np.sum(f[y[~kept] > 0] <= 0)
    return wrong, failed


def main():
    X, y = banana()
    fold = assign_folds(y, 5, np.random.default_rng(1))
    sigma, nu = np.geomspace(1e-4, 1e4, SIZE)[::-1], np.arange(1, SIZE + 1) / SIZE
    kernels = [RBF(1.0 / (2.0 * s * s)) for s in sigma]
    fits = 5 * SIZE**3
    rng = np.random.default_rng(2)
    at = [tuple(rng.integers(SIZE, size=3)) for _ in range(CELLS)]
    cells = [(kernels[s].gamma, nu[i], nu[j]) for s, j, i in at]
    nu_grid_errors(kernels[25:26], X, y, np.ones(len(y)), fold, nu[::25], nu[::25])
    print(f"banana, {len(y)} rows, 5 folds, {SIZE} x {SIZE} x {SIZE} points: {fits} fits")
    for cores in (1, 2):
        start = time.perf_counter()
        errors = nu_grid_errors(kernels, X, y, np.ones(len(y)), fold, nu, nu, n_jobs=cores)
        ours = time.perf_counter() - start
        loop = joblib.Parallel(n_jobs=cores, batch_size=10)
        loop(joblib.delayed(nusvc)(X, y, fold, cell) for cell in cells[:4])
        start = time.perf_counter()
        theirs = loop(joblib.delayed(nusvc)(X, y, fold, cell) for cell in cells)
        seconds = (time.perf_counter() - start) * SIZE**3 / CELLS
        print(
            f"{cores} cores: svmstat {ours:.1f} s, {1e6 * ours / fits:.0f} microseconds a fit; NuSVC {seconds:.0f} s, "
            f"scaled up from {CELLS} random points: {seconds / ours:.0f} times",
            flush=True,
        )
    agree, close, compared = 0, 0, 0
    for (s, j, i), (wrong, failed) in zip(at, theirs, strict=True):
        mine = np.array([errors.false_alarms[s, j, i], errors.misses[s, j, i]])
        if failed or np.isnan(mine).any() or errors.constant[s, j, i]:
            continue
        compared += 1
        agree += bool((mine == wrong).all())
        close += bool(np.abs(mine - wrong).sum() <= 2)
    lost = int((errors.unresolved > 0).sum())
    print(f"{lost} of {SIZE**3} points are not resolved, largest KKT violation {np.nanmax(errors.violation):.1g}")
    print(
        f"equal error counts at {agree}, counts that differ by at most 2 at {close} of {compared} random points that "
        "both can fit"
    )
    sample = Distinct(X, y, np.ones(len(y)), fold)
    for smooth in (None, "3d"):
        start = time.perf_counter()
        rates = ErrorRates(sample, kernels, nu, nu, Effort(2, False))
        partial(coordinate_descent, rates, minimax(), smooth)()
        seconds = time.perf_counter() - start
        print(
            f"3-D coordinate descent, smoothing {smooth}: {seconds:.2f} s, {int(rates.surface.known.sum())} points, "
            f"{ours / seconds:.0f} times faster than the grid"
        )
