"""How often the permutation test rejects where the predictors are noise, at 0.05: rows, weights and groups.

Labels are permuted with the weight of their row or group. 120 rows with 40 % events, or 40 groups with a half; weights
and the numbers of rows in groups related to the response, as in a sample of cases and controls, or not. Of groups that
hold both labels the odds of an event and the mean of x differ together, and labels are permuted within them.
"""

import warnings

import joblib
import numpy as np
import pandas as pd
from scipy.special import expit

from benchmarks.known import row
from svmstat import svm
from svmstat.errors import SvmstatWarning

SAMPLES, B, LEVEL = 400, 39, 0.05
ROWS, GROUPS = 120, 40


def rows(quick=False):
    """A row for each design; ``quick`` with a tenth of the samples."""
    samples = SAMPLES // 10 if quick else SAMPLES
    found = []
    with joblib.parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        for design, (number, draw, options) in DESIGNS.items():
            p = joblib.Parallel()(joblib.delayed(pvalue)(draw, options, seed) for seed in range(samples))
            found.append(row("permutations", design, number, "size", LEVEL, np.array(p) <= LEVEL))
    return found


def pvalue(draw, options, seed):
    """The p-value of one sample."""
    warnings.simplefilter("ignore", SvmstatWarning)
    rng = np.random.default_rng(seed)
    return svm("y ~ x + z", draw(rng), **options).permutation_test(B=B, rng=seed).pvalue


def _of_rows(weights):
    """Single rows, their weights drawn by y."""

    def draw(rng):
        y = rng.random(ROWS) < 0.4
        data = pd.DataFrame({"y": y, "w": weights(rng, y)})
        return data.assign(x=rng.normal(size=ROWS), z=rng.normal(size=ROWS))

    return draw


def _of_groups(sizes):
    """Groups of one label, the numbers of their rows drawn by it."""

    def draw(rng):
        y = rng.random(GROUPS) < 0.5
        group = np.repeat(np.arange(GROUPS), sizes(rng, y))
        x, z = rng.normal(size=(2, len(group)))
        return pd.DataFrame({"y": y[group], "g": group, "x": x, "z": z})

    return draw


def _within_groups(weights):
    """30 groups of 4 rows, of which response and x have a part in common; weights drawn by y."""

    def draw(rng):
        group = np.repeat(np.arange(30), 4)
        common = rng.normal(size=30)[group]
        y = rng.random(len(group)) < expit(1.5 * common)
        x, z = rng.normal(size=(2, len(group)))
        return pd.DataFrame({"y": y, "g": group, "w": weights(rng, y), "x": x + common, "z": z})

    return draw


def _by_response(rng, y):
    """Weights of a sample of cases and controls."""
    return np.where(y, 0.3, 1.5) * rng.uniform(0.8, 1.2, len(y))


_PROBABILITY = {"weights": "w", "weight_type": "probability"}
DESIGNS = {
    "rows": (ROWS, _of_rows(lambda _, y: np.ones(len(y))), {}),
    "probability weights, by response": (
        ROWS, _of_rows(_by_response), _PROBABILITY,
    ),
    "probability weights": (ROWS, _of_rows(lambda rng, y: rng.uniform(0.3, 3.0, len(y))), _PROBABILITY),
    "groups of 2 to 6": (GROUPS, _of_groups(lambda rng, y: rng.integers(2, 7, len(y))), {"groups": "g"}),
    "groups of 2 and 6, by response": (GROUPS, _of_groups(lambda _, y: np.where(y, 2, 6)), {"groups": "g"}),
    "within groups of 4": (ROWS, _within_groups(lambda _, y: np.ones(len(y))), {"groups": "g"}),
    "within groups of 4, probability weights, by response": (
        ROWS, _within_groups(_by_response), {"groups": "g"} | _PROBABILITY,
    ),
}  # fmt: skip
