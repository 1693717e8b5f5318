"""In how many samples the warning of copies is given: where nothing was written twice, and where rows were.

The response is noise with three events in ten or one in ten. Nothing is written twice in "none": rows are equal by
chance alone, as coarse predictors make them. Otherwise all rows are there twice, each event is there three times, or a
third of the rows is there again. Beside it the leave-one-out R² of a flexible machine (rbf, C = 30, gamma = 2), which
is nothing where fits have seen no copies.
"""

import warnings
from functools import partial

import joblib
import numpy as np
import pandas as pd

from benchmarks.known import row
from svmstat import svm
from svmstat.errors import SvmstatWarning

SAMPLES = 200
ROWS, SHARES = (100, 400), (0.3, 0.1)


def rows(quick=False):
    """All designs; ``quick`` with a tenth of the samples."""
    found = []
    with joblib.parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        for columns in COLUMNS:
            for n in ROWS:
                for share in SHARES:
                    for again in AGAIN:
                        samples = range(SAMPLES // 10 if quick else SAMPLES)
                        one = partial(judged, columns, n, share, again)
                        all_found = joblib.Parallel()(joblib.delayed(one)(seed) for seed in samples)
                        warned, seen, worth = np.transpose(all_found)
                        what = "copies", f"{columns}, events {share:g}, again: {again}", n
                        found += [
                            row(*what, "warned", float(again != "none"), warned),
                            row(*what, "share of rows whose copies were seen", "", seen),
                            row(*what, "leave-one-out R-squared of noise", 0.0, worth),
                        ]
    return found


def judged(columns, n, share, again, seed):
    """Whether a warning is given, the share of rows whose copies were seen, and what the machine seems worth."""
    rng = np.random.default_rng([77, n, seed])
    data = COLUMNS[columns](rng, n)
    data["y"] = rng.permutation(n) < round(share * n)
    data = data.iloc[np.r_[:n, AGAIN[again](rng, data["y"].to_numpy())]].reset_index(drop=True)
    formula = " + ".join(column for column in data if column != "y")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SvmstatWarning)
        loo = svm(f"y ~ {formula}", data, C=30.0, gamma=2.0).loo()
    said = any("have copies, of the same predictors and level" in each for each in loo.summary().warnings)
    return said, loo.copies.seen / len(data), loo.rsquared


def rounded(rng, n):
    """One predictor with one decimal."""
    return pd.DataFrame({"a": rng.normal(size=n).round(1)})


def whole(rng, n):
    """Two whole numbers of twenty, as ages in classes."""
    return pd.DataFrame(rng.integers(0, 20, (n, 2)), columns=["a", "b"])


def ratings(rng, n):
    """Four ratings from 1 to 5 that go together."""
    common = rng.normal(size=(n, 1))
    scores = 3.0 + 0.8 * common + 0.8 * rng.normal(size=(n, 4))
    return pd.DataFrame(np.clip(scores.round(), 1, 5).astype(int), columns=list("abcd"))


def counts(rng, n):
    """Three counts with the mean 2."""
    return pd.DataFrame(rng.poisson(2.0, (n, 3)), columns=list("abc"))


def mixed(rng, n):
    """A factor of four levels, two of two, and whole years."""
    return pd.DataFrame(
        {
            "a": rng.choice(["p", "q", "r", "s"], n, p=[0.5, 0.3, 0.15, 0.05]),
            "b": rng.choice(["no", "yes"], n),
            "c": rng.choice(["no", "yes"], n, p=[0.8, 0.2]),
            "d": rng.normal(40.0, 12.0, n).round(),
        }
    )


def with_zeros(rng, n):
    """Three amounts, each nothing in seven of ten rows."""
    return pd.DataFrame(
        np.where(rng.random((n, 3)) < 0.7, 0.0, rng.lognormal(size=(n, 3)).round(1)), columns=list("abc")
    )


def zero_together(rng, n):
    """Three amounts, all of them nothing in four of ten rows."""
    amounts = rng.lognormal(size=(n, 3)).round(1)
    return pd.DataFrame(np.where(rng.random((n, 1)) < 0.4, 0.0, amounts), columns=list("abc"))


def normal(rng, n):
    """Three normal predictors."""
    return pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))


COLUMNS = {
    "one with one decimal": rounded,
    "two whole numbers": whole,
    "four ratings": ratings,
    "three counts": counts,
    "three factors and years": mixed,
    "three with zeros": with_zeros,
    "three, zero together": zero_together,
    "three normal": normal,
}

AGAIN = {
    "none": lambda _, y: np.flatnonzero(y)[:0],
    "all": lambda _, y: np.arange(len(y)),
    "events twice": lambda _, y: np.repeat(np.flatnonzero(y), 2),
    "a third": lambda rng, y: rng.permutation(len(y))[: len(y) // 3],
}
