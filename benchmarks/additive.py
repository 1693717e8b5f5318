"""Additive fits: times beside those of pygam and of R's mgcv, where they are installed.

The models are not the same: theirs are penalised likelihoods with penalties by GCV and REML, and tell no exact
leave-one-out. What is timed is what a user waits for: a fit with its penalties given, and one that chooses them.
"""

import importlib
import importlib.util
import shutil
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.timing import peak
from svmstat import datasets, svm, tune

COLUMNS = ["lon", "lat", "b_depth", "c_dist", "temp_20m"]
ROWS, TERMS = 5000, 8


def main():
    mackerel = datasets.load("mackerel")[["egg_count", *COLUMNS]].assign(y=lambda d: (d["egg_count"] > 0).astype(int))
    mackerel = mackerel.drop(columns="egg_count")
    print("Additive fits: seconds, once each after a fit that compiles; svmstat with two workers")
    six = ["lon, lat", *COLUMNS]
    formula = "y ~ " + " + ".join(f"s({name})" for name in six)
    svm(formula, mackerel).loo()
    print(f"mackerel, n = {len(mackerel)}, six terms")
    report("svmstat: fit", lambda: svm(formula, mackerel))
    report("svmstat: fit, leave-one-out", lambda: svm(formula, mackerel).loo())
    found = report(
        "svmstat: theta by coordinates",
        lambda: tune(formula, mackerel, theta="coordinate", calibration="insample", n_jobs=2),
    )
    print(f"{'':36s} CV score {found.best_row['score']:.2f}, {len(found.table)} points")
    report("svmstat: theta by COSSO", lambda: tune(formula, mackerel, theta="cosso", rng=1, n_jobs=2))
    report("svmstat: bands of all terms, B = 199", lambda: found.best.plot_terms(rng=1, n_jobs=2))
    others(mackerel, "s(lon, lat)", COLUMNS)
    many = wide()
    formula = "y ~ " + " + ".join(f"s(x{k})" for k in range(TERMS))
    print(f"n = {ROWS}, eight terms")
    report("svmstat: fit", lambda: svm(formula, many, calibration="insample"))
    print(f"{'':36s} peak {peak():.2f} GiB")
    others(many, None, [f"x{k}" for k in range(TERMS)])


def wide():
    """A sample of many rows."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.uniform(size=(ROWS, TERMS)), columns=[f"x{k}" for k in range(TERMS)])
    logit = 4.0 * np.sin(6.0 * data["x0"]) - 5.0 * (data["x1"] - 0.5) - 10.0 * (data["x2"] - 0.5) ** 2 + 1.0
    return data.assign(y=(rng.uniform(size=ROWS) < 1.0 / (1.0 + np.exp(-logit))).astype(int))


def report(name, function):
    """Run a function once, print its time, and give what it gives."""
    start = time.perf_counter()
    found = function()
    print(f"{name:36s} {time.perf_counter() - start:8.2f}", flush=True)
    return found


def others(data, surface, columns):
    """The same by pygam and by mgcv."""
    if importlib.util.find_spec("pygam") is None:
        print("pygam is not installed")
    else:
        gam = importlib.import_module("pygam")
        terms = [gam.te(0, 1)] if surface else []
        terms += [gam.s(k) for k in range(len(columns))]
        X, y = data[columns].to_numpy(), data["y"].to_numpy()
        model = gam.LogisticGAM(sum(terms[1:], start=terms[0]))
        grid = np.logspace(-3, 3, 11)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            report("pygam: fit", lambda: model.fit(X, y))
            report("pygam: one penalty for all, of 11", lambda: model.gridsearch(X, y, lam=grid, progress=False))
    smooths = " + ".join([*([surface] if surface else []), *(f"s({name})" for name in columns)])
    in_r(data, f"y ~ {smooths}")


def in_r(data, formula):
    """mgcv's fit by REML, by its own clock."""
    if shutil.which("Rscript") is None:
        print("R is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        data.to_csv(path, index=False)
        script = (
            f'library(mgcv); d <- read.csv("{path}"); '
            f"t <- system.time(gam({formula}, family = binomial, data = d, method = 'REML'))[['elapsed']]; cat(t)"
        )
        done = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"mgcv cannot be run: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    else:
        print(f"{'mgcv: penalties by REML':36s} {float(done.stdout.strip()):8.2f}", flush=True)
