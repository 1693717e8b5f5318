"""neyman_pearson(a, delta): how often P_F exceeds a, and the misses, with held-out rows and with holdout="loo".

There is a theorem for held-out rows (Tong, Feng & Li 2018) and none for leave-one-out values: hence this simulation.
"""

import warnings

import joblib
import numpy as np
import pandas as pd
from scipy.special import expit

from svmstat import neyman_pearson, tune
from svmstat.errors import GridWarning

A, DELTA, FRESH = 0.1, 0.1, 20_000
GRID = {"nu": [0.2, 0.4, 0.6, 0.8], "gamma": [0.05, 0.2, 0.8]}
TRUTHS = {
    "linear": lambda x: expit(2.0 * x[:, 0] + x[:, 1]),
    "smooth": lambda x: expit(2.0 * x[:, 0] - x[:, 1] ** 2 + 1.0),
    "flexible": lambda x: expit(4.0 * np.sin(2.0 * x[:, 0]) * np.cos(2.0 * x[:, 1])),
}


def draw(truth, n, rng):
    x = rng.normal(size=(n, 2))
    return pd.DataFrame({"x": x[:, 0], "z": x[:, 1], "y": np.where(rng.random(n) < truth(x), "yes", "no")})


def rates(name, n, holdout, seed, fresh):
    """P_F and P_M of the rule of one sample, by fresh rows."""
    data = draw(TRUTHS[name], n, np.random.default_rng([n, seed]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        criterion = neyman_pearson(A, DELTA, holdout=holdout)
        found = tune("y ~ x + z", data, criterion=criterion, rng=seed, event="yes", **GRID)
    return found.error_rates(fresh).to_numpy()


def summarised(name, n, holdout, found):
    """One row of the table from rates (S, 2); the standard error is that of the share of samples with P_F > a."""
    p_f, p_m = np.asarray(found).T
    violated, samples = np.mean(p_f > A), len(p_f)
    row = {"truth": name, "n": n, "holdout": holdout, "samples": samples, "P(P_F > a)": violated}
    se = np.sqrt(violated * (1 - violated) / samples)
    return row | {"se": se, "mean P_F": p_f.mean(), "mean P_M": p_m.mean()}


def designs(quick):
    """80 rows have too few of the other level for half of them to be held out."""
    small = [] if quick else [(name, 80, "loo") for name in TRUTHS]
    return [(name, 200, holdout) for name in TRUTHS for holdout in (0.5, "loo")] + small


def rows(quick: bool = False) -> list[dict]:
    """One for each truth, n and holdout."""
    found, parallel = [], joblib.Parallel(n_jobs=-1)
    for name, n, holdout in designs(quick):
        fresh = draw(TRUTHS[name], FRESH, np.random.default_rng(0))
        samples = range(30 if quick else 100)
        each = (joblib.delayed(rates)(name, n, holdout, seed, fresh) for seed in samples)
        found.append(summarised(name, n, holdout, parallel(each)))
    return found
