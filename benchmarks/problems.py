"""Data for the benchmarks: real, two curved bands, and a checker of interacting columns with noise."""

import numpy as np
import pandas as pd

from svmstat import datasets
from svmstat.machine import Contrast, fit_machine, nu_contrast
from svmstat.objective.losses import hinge

MACKEREL = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"


def mackerel():
    data = datasets.load("mackerel")
    X = data[["lon", "lat", "b_depth", "c_dist", "temp_20m"]].to_numpy()
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), np.where(data["egg_count"] > 0, 1.0, -1.0)


def banana(n, seed=0):
    rng = np.random.default_rng(seed)
    t, y = rng.uniform(0, np.pi, n), np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = np.column_stack([np.cos(t) + (y < 0), np.sin(t) * y + 0.5 * (y < 0)])
    return X + 0.25 * rng.normal(size=(n, 2)), y


def interaction(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)


def table(X, y):
    """The columns x0, x1, … of X, and y."""
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)


def two_class_machine(kernel, X, y, C, nu=None):
    """The machine of the rows with y = 1 against those with y = −1, hinge loss, weights of one."""
    contrast = Contrast(1, 0, hinge()) if nu is None else nu_contrast(1, 0, nu)
    return fit_machine(kernel, X, (y > 0).astype(int), np.ones(len(y)), [contrast], C=C)
