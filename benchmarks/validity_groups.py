"""Rows that come in groups: what intervals and standard errors cover by groups, and what they miss by rows.

Each row of the table has the part, the design, n, the quantity with its nominal value (None if there is none), the mean
over the samples and its standard error. G groups have 5 to 15 rows each; x is normal with an intra-class correlation of
0.3, z is constant in groups, and logit P(event) = x + z + u with u normal with the standard deviation τ, the same in a
group: with τ = 1.5 the intra-class correlation on the logistic scale is 0.41. The same sample is fitted with
groups=, "by groups", and without, "by rows". Targets are

- for coefficients of the linear machine and for probabilities the mean of the estimate over samples;
- for the held-out score what fits to samples of this size are worth on rows of new groups, in the mean: of each fit on
  those of very many.
"""

import warnings

import joblib
import numpy as np
import pandas as pd
from scipy.special import expit

from benchmarks.known import row
from benchmarks.validity_evidence import covered, said_and_worth
from svmstat import svm
from svmstat.errors import SvmstatWarning

LEVEL, Z, B, SAMPLES, MANY = 0.95, 1.96, 199, 100, 500
DESIGNS = [("linear", 30, 0.0), ("linear", 30, 1.5), ("linear", 60, 1.5), ("rbf", 30, 1.5)]  # kernel, groups, τ
AT = pd.DataFrame({"x": [-1.0, 0.0, 1.0, 0.0, 0.0], "z": [0.0, 0.0, 0.0, -1.0, 1.0]})
WAYS = {"by groups": "group", "by rows": None}


def rows(quick=False):
    """All designs; ``quick`` with a fifth of the samples."""
    found = []
    with joblib.parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        for kernel, G, tau in DESIGNS:
            samples = range(SAMPLES // 5 if quick else SAMPLES)
            results = joblib.Parallel()(joblib.delayed(estimated)(kernel, G, tau, seed) for seed in samples)
            for way in WAYS:
                numbers = {name: np.array([each[way][name] for each in results]) for name in results[0][way]}
                found += compared(f"{kernel}, {G} groups, tau = {tau:g}", G, way, numbers)
    return found


EVIDENCE = {
    "rbf, 60 groups, tau = 1.5": (60, 1.5, {}),
    "rbf, 30 groups, tau = 1.5": (30, 1.5, {}),
    "rbf, 60 groups, tau = 2.5": (60, 2.5, {}),
    "rbf, C = 100, 60 groups, tau = 1.5": (60, 1.5, {"C": 100.0}),
    "linear, 60 groups, tau = 1.5": (60, 1.5, {"kernel": "linear"}),
    "linear, 30 groups, tau = 2.5": (30, 2.5, {"kernel": "linear"}),
}


def evidence(quick=False):
    """All held-out numbers by groups: what +-1.96 of their standard errors covers."""
    found = []
    with joblib.parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        for name, (G, tau, settings) in EVIDENCE.items():
            work = (joblib.delayed(of_sample)(G, tau, settings, seed) for seed in range(20 if quick else 200))
            found += covered(name, 10 * G, pd.DataFrame(joblib.Parallel()(work)))
    return found


def of_sample(G, tau, settings, seed):
    """Held-out numbers by groups of one sample, and what they are for rows of new groups."""
    data = sample(np.random.default_rng([43, G, round(10 * tau), seed]), G, tau).astype({"y": int})
    new = sample(np.random.default_rng([47, G, round(10 * tau), seed]), MANY, tau).astype({"y": int})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SvmstatWarning)
        return said_and_worth(svm("y ~ x + z", data, groups="group", **settings), data, new)


def compared(design, G, way, numbers):
    """The rows of one design and one way to look at it; all numbers (S, …) of S samples."""
    where, found = (design, 10 * G), []
    truth = numbers["worth"].mean()
    inside = np.abs(numbers["score"] - truth) <= Z * numbers["score_se"]
    found.append(
        row("groups", *where, f"{way}: +-1.96 se of the held-out score covers its worth for new groups", LEVEL, inside)
    )
    found.append(
        row("groups", *where, f"{way}: held-out score of a row, less that worth", 0.0, numbers["score"] - truth)
    )
    spread = numbers["score"].std(ddof=1)
    found.append(
        row("groups", *where, f"{way}: standard error of the score over its sd", 1.0, numbers["score_se"] / spread)
    )
    for name, kind in (("p", "probability, 95 % of get_prediction()"), ("x", "slope of x"), ("z", "slope of z")):
        if name in numbers:
            estimate, lower, upper, se = np.moveaxis(numbers[name], 1, 0)
            target = estimate.mean(axis=0)
            inside = ((lower <= target) & (target <= upper)).mean(axis=1)
            found.append(
                row("groups", *where, f"{way}: {kind}: interval covers the mean of the estimate", LEVEL, inside)
            )
            ratio = (se / estimate.std(axis=0, ddof=1)).mean(axis=1)
            found.append(row("groups", *where, f"{way}: {kind}: standard error over its sd", 1.0, ratio))
    return found


def estimated(kernel, G, tau, seed):
    """What is said of one sample by either way: intervals (4, m), the score of a row and its standard error."""
    data = sample(np.random.default_rng([37, G, round(10 * tau), seed]), G, tau)
    new = sample(np.random.default_rng([41, G, round(10 * tau), seed]), MANY, tau)
    return {way: _said(data, new, kernel, groups, seed) for way, groups in WAYS.items()}


def _said(data, new, kernel, groups, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SvmstatWarning)
        fit = svm("y ~ x + z", data, kernel=kernel, C=1, groups=groups)
        loo, replicates = fit.loo(n_jobs=1), fit.bootstrap(B, rng=seed, n_jobs=1)
        p = fit.predict_proba(new).to_numpy()[np.arange(len(new)), new["y"].to_numpy(int)]
        found = {
            "score": loo.score / len(data), "score_se": loo.score_se / len(data), "worth": -2.0 * np.log(p).mean(),
            "p": _intervals(replicates.get_prediction(AT, LEVEL).summary_frame(), "prob"),
        }  # fmt: skip
        if kernel == "linear":
            table = replicates.confint(LEVEL).summary_frame()
            found |= {name: _intervals(table.loc[[name]], "estimate") for name in ("x", "z")}
    return found


def _intervals(table, estimate):
    """(4, m) estimate, lower and upper end, standard error."""
    return table[[estimate, "lower", "upper", "se"]].to_numpy().T


def sample(rng, G, tau):
    """Rows of G groups."""
    group = np.repeat(np.arange(G), rng.integers(5, 16, G))
    x = np.sqrt(0.3) * rng.normal(size=G)[group] + np.sqrt(0.7) * rng.normal(size=len(group))
    z, u = rng.normal(size=G)[group], tau * rng.normal(size=G)[group]
    return pd.DataFrame({"y": rng.random(len(group)) < expit(x + z + u), "x": x, "z": z, "group": group})
