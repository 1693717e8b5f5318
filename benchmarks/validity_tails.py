"""Columns with heavy tails: what intervals over replicates cover where these keep the scaling of the fit.

a and b are independent, from Student's t with 1.5 or 3 degrees of freedom or log-normal with σ = 1.5; the logit is
a + 0.7 b, of log-normal columns less 1.7, their medians. Machines have their defaults but for the kernel. The standard
deviation by which a column is divided, and with it the penalty, varies much from sample to sample. Targets are means of
the estimates over samples: of slopes, of the average change of the probability by one more of b, and of probabilities
at twenty rows of the population. "anew" are refits by svm() to resamples, scaled by their own rows.
"""

import warnings

import joblib
import numpy as np
import pandas as pd
from scipy.special import expit

from benchmarks.known import row
from svmstat import svm
from svmstat.errors import SvmstatWarning

LEVEL, B, SAMPLES, ROWS, ANEW = 0.95, 199, 150, 20, 99
DESIGNS = {
    "t, 1.5 degrees of freedom": (lambda rng, n: rng.standard_t(1.5, size=(n, 2)), 0.0),
    "t, 3 degrees of freedom": (lambda rng, n: rng.standard_t(3.0, size=(n, 2)), 0.0),
    "log-normal, sigma = 1.5": (lambda rng, n: np.exp(1.5 * rng.normal(size=(n, 2))), 1.7),
}
"""How both columns are drawn, and what is taken from the logit."""
N = 200


def rows(quick=False):
    """All designs; ``quick`` with a tenth of the samples."""
    found = []
    with joblib.parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        for name in DESIGNS:
            samples = range(SAMPLES // 10 if quick else SAMPLES)
            results = joblib.Parallel()(joblib.delayed(of_sample)(name, seed) for seed in samples)
            for quantity in results[0]:
                estimate, lower, upper, se = np.moveaxis(np.array([each[quantity] for each in results]), 1, 0)
                target = estimate.mean(axis=0)
                inside = ((lower <= target) & (target <= upper)).mean(axis=1)
                ratio = (se / estimate.std(axis=0, ddof=1)).mean(axis=1)
                found.append(row("tails", name, N, f"{quantity}: interval covers the mean", LEVEL, inside))
                found.append(row("tails", name, N, f"{quantity}: standard error over its sd", 1.0, ratio))
    return found


def of_sample(name, seed):
    """Estimate, lower and upper end and standard error (4, m) of each quantity in one sample."""
    data, at = sample(name, N, np.random.default_rng([61, seed])), sample(name, ROWS, np.random.default_rng(67))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SvmstatWarning)
        linear, rbf = (svm("y ~ a + b", data, kernel=kernel) for kernel in ("linear", "rbf"))
        drawn = rbf.bootstrap(B, rng=seed, n_jobs=1)
        table = linear.confint(LEVEL, B, rng=seed, n_jobs=1).summary_frame()
        more = rbf.comparisons("b", B=B, rng=seed, n_jobs=1).summary_frame()
        anew = by_hand(data, linear, np.random.default_rng([71, seed]))
        return {
            "slopes": numbers(table.loc[["a", "b"]], "estimate"),
            "slopes, anew": anew,
            "probabilities": numbers(drawn.get_prediction(at, LEVEL).summary_frame(), "prob"),
            "average comparison of b": numbers(more, "estimate"),
        }


def numbers(table, estimate):
    """(4, m) of a table; without a standard error it is a quarter of the interval."""
    se = table["se"] if "se" in table else (table["upper"] - table["lower"]) / 3.92
    return np.array([table[estimate], table["lower"], table["upper"], se], float)


def by_hand(data, fit, rng):
    """Slopes (4, 2) by refits that scale anew."""
    slopes = np.array(
        [
            np.ravel(svm("y ~ a + b", data.iloc[rng.integers(N, size=N)], kernel="linear").params)[1:]
            for _ in range(ANEW)
        ]
    )
    lower, upper = np.quantile(slopes, [0.025, 0.975], axis=0)
    return np.array([np.ravel(fit.params)[1:], lower, upper, slopes.std(axis=0, ddof=1)])


def sample(name, n, rng):
    """n rows."""
    draw, medians = DESIGNS[name]
    X = draw(rng, n)
    logit = X @ [1.0, 0.7] - medians
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": (rng.random(n) < expit(logit)).astype(int)})
