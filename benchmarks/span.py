"""How good is the C that GACV, the span and the exact leave-one-out loss choose? Examples 1 and 2 of vignettes/gacv.py.

GCKL, the expected hinge loss over new labels, is known, since the truth is. For each criterion: how far its least C is
from that of GCKL, by how much GCKL there exceeds its least, and by how much the criterion there exceeds V0.
"""

import warnings

import joblib
import numpy as np
import pandas as pd

from svmstat import tune
from svmstat.errors import GridWarning

LAMBDA = 10 ** np.arange(-5, -0.9, 0.1)
CRITERIA = {"GACV": "gacv", "span": "span_loss", "V0": "score"}


def circles(x):
    r = np.hypot(*x.T)
    return np.where(r > 0.75, 0.95, np.where(r > 0.5, 0.5, 0.05))


def waves(x):
    height = x[:, 1] - 0.5 * np.sin(np.pi * x[:, 0])
    return np.where(height > 0.2, 0.95, np.where(height > -0.2, 0.5, 0.05))


EXAMPLES = {"circles": (circles, 10**-1.0), "waves": (waves, 10**-1.25)}


def criteria_along(region, sigma, n, repeat):
    """The table of one sample: every criterion at every C."""
    rng = np.random.default_rng([n, repeat])
    x = rng.uniform(-1, 1, (n, 2))
    p = region(x)
    data = pd.DataFrame({"x1": x[:, 0], "x2": x[:, 1], "y": rng.uniform(size=n) < p, "p": p})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        return tune(
            "y ~ x1 + x2", data, C=1 / (2 * n * LAMBDA), gamma=1 / (2 * sigma**2), scale=False, score="loss",
            truth="p", further=["gacv", "span_loss", "gckl"],
        ).table  # fmt: skip


def summarised(name, n, tables):
    """A row for each criterion from the tables of the samples."""
    for criterion, column in CRITERIA.items():
        least = [int(table[column].argmin()) for table in tables]
        chosen = [table.iloc[k] for table, k in zip(tables, least, strict=True)]
        best = [table.iloc[table["gckl"].argmin()] for table in tables]
        shift = [np.log10(b["C"] / c["C"]) for b, c in zip(best, chosen, strict=True)]
        inflation = np.array([c["gckl"] / b["gckl"] - 1 for b, c in zip(best, chosen, strict=True)])
        yield {
            "example": name,
            "n": n,
            "samples": len(tables),
            "criterion": criterion,
            "shift of log10 lambda": np.median(shift),
            "median inflation": np.median(inflation),
            "mean inflation": inflation.mean(),
            "se": inflation.std(ddof=1) / np.sqrt(len(tables)),
            "above V0": np.median([c[column] / c["score"] - 1 for c in chosen]),
        }


def rows(quick: bool = False) -> list[dict]:
    """One for each example, n and criterion: medians over samples, and the mean inflation with its standard error."""
    found, parallel = [], joblib.Parallel(n_jobs=-1)
    for name, (region, sigma) in EXAMPLES.items():
        for n in (200,) if quick else (200, 400):
            repeats = range(10 if quick else 6000 // n)
            tables = parallel(joblib.delayed(criteria_along)(region, sigma, n, repeat) for repeat in repeats)
            found += summarised(name, n, tables)
    return found
