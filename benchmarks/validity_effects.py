"""What the bands of effects and comparisons cover.

Each row of the table has the part, the design, n, the quantity with its nominal value (None if there is none), the mean
over the samples and its standard error. x and z are standard normal with correlation ½; of three levels the truth for
the third has x and z exchanged. Effects are taken at x = −1, 0 and 1, comparisons one step up from every row. Targets
are

- the mean of the estimate over samples of this size, which is what the band is for;
- the truth: the same effect of the probabilities from which the responses were drawn, over the population. No band is
  meant to cover it; by how much it fails is what its reader has to know.
"""

import warnings

import joblib
import numpy as np
import pandas as pd
from scipy.special import softmax

from benchmarks.known import row
from svmstat import svm
from svmstat.errors import SvmstatWarning

LEVEL, B, SAMPLES, MANY = 0.95, 199, 200, 200_000
VALUES = [-1.0, 0.0, 1.0]
TRUTHS = {
    "linear": (lambda x, z: 1.5 * x - z, {"kernel": "linear", "C": 1.0}),
    "smooth": (lambda x, z: 2.0 * np.sin(1.5 * x) + z**2 - 1.0, {"C": 1.0, "gamma": 0.25}),
    "interaction": (lambda x, z: 2.0 * x * z, {"C": 4.0, "gamma": 0.5}),
    "nearly separated": (lambda x, z: 12.0 * x - 8.0 * z, {"kernel": "linear", "C": 1.0}),
}
DESIGNS = [(truth, K, n) for truth in TRUTHS for K, n in ((2, 200), (2, 634), (3, 200))]
KINDS = ("accumulated", "partial dependence", "comparison")


def rows(quick=False):
    """All designs; ``quick`` with a tenth of the samples."""
    found = []
    with joblib.parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        for truth, K, n in DESIGNS:
            samples = range(SAMPLES // 10 if quick else SAMPLES)
            results = joblib.Parallel()(joblib.delayed(estimated)(truth, K, n, seed) for seed in samples)
            found += compared(truth, K, n, np.array(results))
    return found


def compared(truth, K, n, results):
    """The rows of one design; results (S, kinds, 3, values) have estimates, lower and upper ends of all samples."""
    found, true = [], true_effects(truth, K)
    for k, kind in enumerate(KINDS):
        estimate, lower, upper = np.moveaxis(results[:, k], 1, 0)
        known = ~np.isnan(true[k])
        targets = {"the mean of the estimate": estimate.mean(axis=0), "the truth": true[k]}
        for what, target in targets.items():
            at_each = ((lower <= target) & (target <= upper))[:, known]
            inside = at_each.mean(axis=1)
            found.append(row("effects", f"{truth}, {K} levels", n, f"95 % band of {kind} covers {what}", LEVEL, inside))
            least = at_each[:, at_each.mean(axis=0).argmin()]
            found.append(row("effects", f"{truth}, {K} levels", n, "the same where it does so least", LEVEL, least))
        outside = ((estimate < lower) | (estimate > upper))[:, known].mean(axis=1)
        found.append(row("effects", f"{truth}, {K} levels", n, f"{kind} lies outside its own band", None, outside))
    return found


def estimated(truth, K, n, seed):
    """Estimates, lower and upper ends of the last level by kind (kinds, 3, values); NaN behind the one comparison."""
    data = sample(np.random.default_rng([37, K, n, seed]), truth, K, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SvmstatWarning)
        fit = svm("y ~ x + z", data, **TRUTHS[truth][1])
        replicates = fit.bootstrap(B, rng=seed, n_jobs=1)
        accumulated = of_last(fit.effects("x", B=replicates, level=LEVEL, n_jobs=1).summary_frame(), K)
        partial = fit.effects("x", kind="pdp", grid=VALUES, B=replicates, level=LEVEL, n_jobs=1).summary_frame()
        step = of_last(fit.comparisons("x", B=replicates, level=LEVEL, n_jobs=1).summary_frame(), K)
    ends = ["estimate", "lower", "upper"]
    return np.array([
        [np.interp(VALUES, accumulated["x"], accumulated[end]) for end in ends],
        of_last(partial, K)[ends].to_numpy().T,
        np.column_stack([step[ends].to_numpy().T, np.full((3, len(VALUES) - 1), np.nan)]),
    ])  # fmt: skip


def of_last(table, K):
    """The rows of the last level."""
    return table[table["level"] == K - 1] if K > 2 else table


def true_effects(truth, K):
    """The effects (kinds, values) of the probabilities of the last level, over very many rows."""
    x, z = predictors(np.random.default_rng([41, K]), MANY)
    partial = [probabilities(truth, K, np.full(MANY, value), z)[:, -1].mean() for value in VALUES]
    step = (probabilities(truth, K, x + 1.0, z) - probabilities(truth, K, x, z))[:, -1].mean()
    edges = np.quantile(x, np.linspace(0.0, 1.0, 201))
    bins = np.clip(np.searchsorted(edges, x, side="left"), 1, 200)
    change = (probabilities(truth, K, edges[bins], z) - probabilities(truth, K, edges[bins - 1], z))[:, -1]
    slopes = np.bincount(bins, change, 201)[1:] / np.bincount(bins, minlength=201)[1:]
    curve = np.concatenate([[0.0], slopes.cumsum()])
    curve -= (0.5 * (curve[1:] + curve[:-1]) * np.bincount(bins, minlength=201)[1:] / MANY).sum()
    return np.array([np.interp(VALUES, edges, curve), partial, [step, *[np.nan] * (len(VALUES) - 1)]])


def probabilities(truth, K, x, z):
    """(n, K) those of the levels."""
    logit = TRUTHS[truth][0]
    scores = [np.zeros(len(x)), logit(x, z), logit(z, x)]
    return softmax(np.column_stack(scores[:K]), axis=1)


def predictors(rng, n):
    """x and z (n,) with correlation ½."""
    x, z = rng.normal(size=(2, n))
    return x, 0.5 * x + np.sqrt(0.75) * z


def sample(rng, truth, K, n):
    """n rows."""
    x, z = predictors(rng, n)
    p = probabilities(truth, K, x, z)
    return pd.DataFrame({"x": x, "z": z, "y": (rng.random((n, 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1)})
