"""neyman_pearson(a, delta): how often P_F exceeds a, and the misses, with held-out rows and with holdout="loo".

There is a theorem for held-out rows (Tong, Feng & Li 2018) and none for leave-one-out values: hence this simulation.
"""

import warnings

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


def draw(truth, n, rng, digits=None):
    x = rng.normal(size=(n, 2))
    x = x if digits is None else x.round(digits)
    return pd.DataFrame({"x": x[:, 0], "z": x[:, 1], "y": np.where(rng.random(n) < truth(x), "yes", "no")})


def rows(quick: bool = False) -> list[dict]:
    """One for each truth, n and holdout: the share of samples with P_F > a and its Monte-Carlo error, mean P_F, P_M."""
    samples, found = 40 if quick else 300, []
    designs = [(name, n, None) for name in TRUTHS for n in ((200,) if quick else (60, 200))] + [("smooth", 200, 1)]
    for name, n, digits in designs:
        fresh = draw(TRUTHS[name], FRESH, np.random.default_rng(0), digits)
        for holdout in (0.5, "loo"):
            if holdout == 0.5 and n == 60:  # too few rows of the other level
                continue
            rates = [_rates(TRUTHS[name], n, digits, holdout, fresh, seed) for seed in range(samples)]
            p_f, p_m = np.array([each for each in rates if each is not None]).T
            violated = np.mean(p_f > A)
            found.append(
                {
                    "truth": name if digits is None else f"{name}, {digits} digit",
                    "n": n,
                    "holdout": holdout,
                    "samples": len(p_f),
                    "P(P_F > a)": violated,
                    "se": np.sqrt(violated * (1 - violated) / len(p_f)),
                    "mean P_F": p_f.mean(),
                    "mean P_M": p_m.mean(),
                }
            )
    return found


def _rates(truth, n, digits, holdout, fresh, seed):
    data = draw(truth, n, np.random.default_rng([n, seed]), digits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        found = tune(
            "y ~ x + z", data, criterion=neyman_pearson(A, DELTA, holdout=holdout), rng=seed, event="yes", **GRID
        )
    return found.error_rates(fresh).to_numpy()


def main():
    print(f"neyman_pearson({A:g}, {DELTA:g}): the rule with its threshold, on {FRESH} fresh rows")
    print(pd.DataFrame(rows()).round(4).to_string(index=False))
