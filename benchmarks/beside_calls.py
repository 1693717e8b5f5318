"""The calls that `benchmarks.beside` times, by the package's public names only, so that any version of it can run them.

Reads names of calls from stdin, does each once, and writes how long it took.
"""

import sys
import time
import warnings
from functools import partial

import numpy as np
import pandas as pd

from svmstat import datasets, minimax, svm, tune

EGGS = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"
LIVER = "disease ~ np.log(ast) + np.log(alt) + np.log(gldh)"


def classes(n, k, p=5, seed=0):
    """n rows of k classes in p columns, which overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.argmax(
        X[:, :1] * rng.normal(size=k) + X[:, 1:2] * rng.normal(size=k) + 0.7 * rng.normal(size=(n, k)), axis=1
    )
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(p)]).assign(y=y.astype(str))


MACKEREL, HEPATITIS = datasets.load("mackerel"), datasets.load("liver")
TWO, TEN = classes(2000, 2), classes(1000, 10)


def rare(n=700, share=0.03, seed=4):
    """One predictor and few events that have nothing to do with it: f varies by a millionth."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"x": rng.normal(size=n), "y": rng.random(n) < share})


def rare_of_many(n=2500, share=0.03, seed=0):
    """Few events among many rows, f nearly flat: most rows are near the margin."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    return data.assign(y=rng.random(n) < 2.0 * share / (1.0 + np.exp(-data["a"])))


def skewed(n=400, seed=3):
    """Predictors with a few rows far away, as amounts of money have."""
    rng = np.random.default_rng(seed)
    X = rng.lognormal(sigma=2.0, size=(n, 3))
    return pd.DataFrame(X, columns=list("abc")).assign(y=np.log(X[:, 0]) + 2.0 * rng.normal(size=n) > 0.0)


def interaction(n=700, seed=3):
    """The product of two of ten columns: a cubic kernel tells the rows apart, and each that is left out moves many."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    return pd.DataFrame(X, columns=list("abcdefghij")).assign(y=X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n) > 0.0)


RARE, RARE_OF_MANY, SKEWED, INTERACTION = rare(), rare_of_many(), skewed(), interaction()
SLOPED = pd.DataFrame({"x": RARE.x[:500], "y": np.random.default_rng(5).random(500) < 1 / (1 + np.exp(-RARE.x[:500]))})
NU = [k / 10 for k in range(1, 11)]


INSAMPLE = {"calibration": "insample"}
"""The maps of every version, of which later ones have another default."""


def fresh(name, formula, data, *arguments, **options):
    """A method of a fit that keeps nothing from a call before."""
    how = {option: options.pop(option) for option in ("B", "rng", "n_jobs", "method") if option in options}
    fit = svm(formula, data, **INSAMPLE, **options)
    return lambda: getattr(fit, name)(*arguments, **how)


def timed(prepare):
    """Seconds of what a preparation, which does not count, hands out."""
    call = prepare()
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def at_once(function, *arguments, **options):
    return lambda: partial(function, *arguments, **INSAMPLE, **options)


def later(name, *arguments, **options):
    return partial(fresh, name, *arguments, n_jobs=1, **options)


def influence(formula, data, **options):
    """All columns of the influence, of which a version may compute some only when they are asked for."""
    fit = svm(formula, data, **INSAMPLE, **options)
    return lambda: fit.get_influence().summary_frame()


RBF = {"C": 16.0, "gamma": 0.25}
CUBIC = {"kernel": "poly", "degree": 3, "gamma": 0.3, "coef0": 1.0}
CALLS = {
    "fit: mackerel": at_once(svm, EGGS, MACKEREL, **RBF),
    "fit: mackerel, linear": at_once(svm, EGGS, MACKEREL, kernel="linear"),
    "fit: 2000 × 5": at_once(svm, "y ~ .", TWO, C=4.0),
    "fit: liver, 4 classes": at_once(svm, LIVER, HEPATITIS, C=4.0),
    "fit: 1000 × 5, 10 classes": at_once(svm, "y ~ .", TEN, C=1.0),
    "fit: 700 × 1, rare events": at_once(svm, "y ~ x", RARE),
    "loo: mackerel, C = 1": later("loo", EGGS, MACKEREL, C=1.0, gamma=0.25),
    "loo: mackerel, C = 16": later("loo", EGGS, MACKEREL, **RBF),
    "loo: mackerel, linear": later("loo", EGGS, MACKEREL, kernel="linear"),
    "loo: mackerel, nu": later("loo", EGGS, MACKEREL, nu=(0.3, 0.3), gamma=0.25),
    "loo: 2000 × 5": later("loo", "y ~ .", TWO, C=4.0),
    "loo: liver, 4 classes": later("loo", LIVER, HEPATITIS, C=4.0),
    "loo: 1000 × 5, 10 classes": later("loo", "y ~ .", TEN, C=1.0),
    "loo: mackerel, wide, C = 1e5": later("loo", EGGS, MACKEREL, C=1e5, gamma=0.01),
    "loo: 400 × 3, skewed, cubic": later("loo", "y ~ .", SKEWED, C=100.0, **CUBIC),
    "loo: 700 × 10, cubic": later("loo", "y ~ .", INTERACTION, C=100.0, **CUBIC),
    "loo: 700 × 1, rare events": later("loo", "y ~ x", RARE),
    "loo: 2500 × 4, rare events": later("loo", "y ~ .", RARE_OF_MANY),
    "loo: 500 × 1, nu": later("loo", "y ~ x", SLOPED, nu=(0.5, 0.5)),
    "loo: 500 × 1, nu, rare events": later("loo", "y ~ x", RARE.iloc[:500], nu=(0.5, 0.5)),
    "influence: mackerel": partial(influence, EGGS, MACKEREL, **RBF),
    "influence: liver": partial(influence, LIVER, HEPATITIS, C=4.0),
    "gof: mackerel": later("gof", EGGS, MACKEREL, B=49, rng=1, **RBF),
    "gof: mackerel, pairs": later("gof", EGGS, MACKEREL, B=100, rng=1, method="pairs", **RBF),
    "gof: mackerel, parametric": later("gof", EGGS, MACKEREL, B=100, rng=1, method="parametric", **RBF),
    "gof: mackerel, linear": later("gof", EGGS, MACKEREL, B=50, rng=1, method="pairs", kernel="linear"),
    "gof: liver, pairs": later("gof", LIVER, HEPATITIS, B=50, rng=1, method="pairs", C=4.0),
    "tune: mackerel, loo": at_once(tune, EGGS, MACKEREL, C=[4, 16, 64], gamma=[0.1, 0.25, 0.6], n_jobs=1),
    "tune: mackerel, k-fold": at_once(tune, EGGS, MACKEREL, C=[4, 16, 64], gamma=[0.1, 0.25], criterion="kfold", rng=1),
    "tune: mackerel, GACV": at_once(tune, EGGS, MACKEREL, C=[4, 16, 64], gamma=[0.1, 0.25, 0.6], criterion="gacv"),
    "tune: liver, loo": at_once(tune, LIVER, HEPATITIS, C=[1, 4, 16], gamma=[0.3, 1.0], n_jobs=1),
    "tune: liver, k-fold": at_once(tune, LIVER, HEPATITIS, C=[1, 4, 16], gamma=[0.3, 1.0], criterion="kfold", rng=1),
    "path: mackerel, 200 costs": later("path", EGGS, MACKEREL, 16.0 * np.geomspace(1 / 64, 64, 200), **RBF),
    "nu-grid: mackerel, 10 × 10 × 2": at_once(
        tune, EGGS, MACKEREL, nu=NU, gamma=[0.25, 1.0], criterion=minimax(), rng=1, n_jobs=1
    ),
}


def main():
    """Do the calls that are asked for."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        print(timed(CALLS[line.strip()]), flush=True)


if __name__ == "__main__":
    main()
