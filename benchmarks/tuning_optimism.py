"""The least score of a grid against what the chosen fit is worth, and how well two corrections estimate that.

Samples from a known P(y | x). What a fit is worth is its expected deviance a row on new data, −2 E log π, by 4000 new x
and their true P; its R² is of that and of the deviance of the frequencies of its sample.
"""

import warnings

import joblib
import numpy as np
import pandas as pd
from scipy.special import expit

from svmstat import tune
from svmstat.errors import GridWarning

FRESH, OUTER, CERTAIN = 4000, 10, 1e-9
GRID = {"C": 4.0 ** np.arange(-1, 4), "gamma": 4.0 ** np.arange(-2, 2) / 2}
TRUTHS = {
    "linear": lambda x: expit(1.5 * x[:, 0] + x[:, 1]),
    "smooth": lambda x: expit(2.0 * x[:, 0] - x[:, 1] ** 2 + 1.0),
    "flexible": lambda x: expit(4.0 * np.sin(2.0 * x[:, 0]) * np.cos(2.0 * x[:, 1])),
    "one in nine": lambda x: expit(1.5 * x[:, 0] - 3.0),
    "noise": lambda x: np.full(len(x), 0.4),
}


def one_sample(name, n, seed, criterion="loo"):
    """The least, the corrected and the nested score, the latter's standard error, and what the fit is worth, a row;
    then R² as it is for the best score, corrected, the standard error, and what it is of new rows.
    """
    rng, new = np.random.default_rng([n, seed]), np.random.default_rng(0).normal(size=(FRESH, 2))
    x = rng.normal(size=(n, 2))
    y = rng.random(n) < TRUTHS[name](x)
    while min(y.sum(), n - y.sum()) < OUTER:  # for a row of each level in every outer fold
        y = rng.random(n) < TRUTHS[name](x)
    data = pd.DataFrame({"x": x[:, 0], "z": x[:, 1], "y": y})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        found = tune("y ~ x + z", data, **GRID, scale=False, criterion=criterion, nested=OUTER, rng=seed)
    p, fitted = TRUTHS[name](new), found.best.predict_proba(pd.DataFrame({"x": new[:, 0], "z": new[:, 1]}))[True]
    worth, null = deviance(p, fitted), deviance(p, data["y"].mean())
    numbers = found.best_row["score"], found.corrected_score, found.nested_score, found.nested_score_se
    held_out = found.best.loo()
    ratio, true = 1.0 - held_out.score / held_out.null_score, 1.0 - worth / null
    return *(number / n for number in numbers), worth, ratio, held_out.rsquared, held_out.rsquared_se, true


def deviance(p, fitted):
    """−2 E log π where the event has probability p (m,); of a π of 0 or 1 as if it were `CERTAIN` from there."""
    fitted = np.clip(fitted, CERTAIN, 1.0 - CERTAIN)
    return -2.0 * np.mean(p * np.log(fitted) + (1.0 - p) * np.log1p(-fitted))


def summarised(name, n, found):
    """One row of the table from samples (S, 9)."""
    least, corrected, nested, se, worth, ratio, rsquared, rsquared_se, true = np.asarray(found).T
    samples, mean = len(least), worth.mean()
    row = {"truth": name, "n": n, "samples": samples, "worth": mean}
    for label, estimate in (("least", least), ("corrected", corrected), ("nested", nested)):
        difference = worth - estimate
        row[f"worth - {label}"] = difference.mean()
        row[f"se {label}"] = difference.std(ddof=1) / np.sqrt(samples)
    row["covers this fit"] = np.mean(np.abs(nested - worth) <= 1.96 * se)
    row["covers the mean"] = np.mean(np.abs(nested - mean) <= 1.96 * se)
    row |= {"R2": true.mean(), "R2 - ratio": (true - ratio).mean(), "R2 - corrected": (true - rsquared).mean()}
    row["se R2"] = (true - rsquared).std(ddof=1) / np.sqrt(samples)
    row["covers R2"] = np.mean(np.abs(rsquared - true) <= 1.96 * rsquared_se)
    return row


def rows(quick: bool = False) -> list[dict]:
    """One for each truth and n: by how much the least, corrected and nested scores are below what the fit is worth.

    The coverages are those of nested ± 1.96 se, of what the fit of the sample is worth and of its mean over samples,
    and of the corrected R² ± 1.96 se, of that of the fit of the sample.
    """
    designs = [(name, n) for name in TRUTHS for n in ((100,) if quick else (100, 200))]
    return [summarised(name, n, samples(name, n, 10 if quick else 10_000 // n)) for name, n in designs]


def samples(name, n, count):
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        return joblib.Parallel(n_jobs=-1)(joblib.delayed(one_sample)(name, n, seed) for seed in range(count))
