"""How often label sets hold the label, and what the stability and the loss-implied interval of a probability cover.

Each row of the table has the part, the design, n, the quantity with its nominal value (None if there is none), the mean
over the samples and its standard error. A set class by class has the coverage 1 − ⌊(1 − level)(n_l + 1)⌋ / (n_l + 1),
a step function of the number n_l of rows of a level: its mean over the samples is the nominal value.
"""

import warnings
from functools import cache

import joblib
import numpy as np
import pandas as pd
from scipy.special import softmax

from benchmarks.known import TRUTHS, row
from svmstat import svm, tune
from svmstat.errors import SvmstatWarning

LEVEL, BAND, B = 0.9, 0.95, 199
FRESH, POINTS = 1000, 200
SAMPLES, TUNED, FOLDS = 200, 60, 5
SHARES = {
    ("two", "balanced"): [0.5, 0.5],
    ("two", "1:10"): [10 / 11, 1 / 11],
    ("three", "balanced"): [1 / 3, 1 / 3, 1 / 3],
    ("three", "1:10"): [5 / 11, 5 / 11, 1 / 11],
}
SEPARATED = {
    "steep": (lambda X: 5.0 * X[:, 0] - 5.0 * X[:, 1], {}),
    "steep, linear": (lambda X: 5.0 * X[:, 0] - 5.0 * X[:, 1], {"kernel": "linear", "C": 10.0}),
}
INSAMPLE = {
    f"{name}, in-sample map": (logit, settings | {"calibration": "insample"})
    for name, (logit, settings) in TRUTHS.items()
}
KNOWN = TRUTHS | SEPARATED | INSAMPLE
_OF_LEVEL = ("exact", "covered", "known")
COSTS, WIDTHS = [0.25, 1.0, 4.0, 16.0], [0.1, 0.3, 1.0]


def rows(quick=False):
    """Both parts; ``quick`` with a tenth of the samples."""
    with joblib.parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        return [*sets(quick), *bands(untuned_and_tuned(), quick)]


def insample(quick=False):
    """Bands of fits whose map is of their own rows, which those of the replicates are not."""
    with joblib.parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        found = bands([(name, f"{name}, balanced, two classes", [0.5, 0.5], False) for name in INSAMPLE], quick)
        return [each for each in found if each["part"] == "stability"]


def untuned_and_tuned():
    """The designs of the bands, and whether they are tuned."""
    for tuned in (False, True):
        yield from ((*design, tuned) for design in designs() if not tuned or len(design[2]) == 2)
    yield from ((*design, False) for design in separated())


def designs():
    for (classes, balance), shares in SHARES.items():
        for name in TRUTHS:
            yield name, f"{name}, {balance}, {classes} classes", shares


def separated():
    """Where levels are nearly separated, for the bands alone."""
    for name, (_, settings) in SEPARATED.items():
        yield (
            name,
            f"{name}, nearly separated{', C = 10' if settings.get('C') == 10.0 else ''}, two classes",
            [0.5, 0.5],
        )


def sets(quick):
    """Coverage by level on fresh rows, and the mean size of the sets."""
    found = []
    for tuned, samples in ((False, SAMPLES), (True, TUNED)):
        for truth, design, shares in designs():
            for n in (100, 200):
                tasks = range(samples // 10 if quick else samples)
                results = joblib.Parallel()(joblib.delayed(covered)(truth, shares, n, seed, tuned) for seed in tasks)
                where = f"{design}, {'tuned' if tuned else 'untuned'}", n
                for k in range(len(shares)):
                    exact, values, known = (np.array([r[name][k] for r in results]) for name in _OF_LEVEL)
                    label = f"90 % sets, level {k}"
                    found.append(row("sets", *where, label, float(exact.mean()), values))
                    if not known.all():  # samples in which every set holds the level say nothing of the others
                        nominal = float(exact[known].mean())
                        found.append(row("sets", *where, f"{label}, n_l >= 9", nominal, values[known]))
                found.append(row("sets", *where, "90 % sets, mean size", None, [r["size"] for r in results]))
    return found


def covered(truth, shares, n, seed, tuned):
    """The coverage of each level by the sets of one sample."""
    rng = np.random.default_rng([17, n, seed])
    probability = truths(truth, shares)
    data, _ = sample(rng, n, probability)
    fresh, _ = sample(rng, FRESH, probability)
    fit = fitted(data, truth, tuned)
    inside = fit.predict_set(fresh, level=LEVEL).to_numpy()
    y, n_l = fresh["y"].to_numpy(), np.bincount(data["y"])
    return {
        "covered": [inside[y == k, k].mean() for k in range(len(shares))],
        "exact": 1.0 - np.floor((1.0 - LEVEL) * (n_l + 1) + 1e-9) / (n_l + 1),
        "known": n_l >= 9,
        "size": inside.sum(axis=1).mean(),
    }


def bands(chosen, quick):
    """Coverage of the mean of the estimate over samples, and of the true probability, at fixed points."""
    found, samples = [], TUNED // 5 if quick else TUNED
    for truth, design, shares, tuned in chosen:
        for n in (100, 200):
            points = np.random.default_rng(23).normal(size=(POINTS, 2))
            p = truths(truth, shares)(points)
            results = joblib.Parallel()(
                joblib.delayed(predicted)(truth, shares, n, seed, tuned, points) for seed in range(samples)
            )
            prob, lower, upper = (np.array([each[name] for each in results]) for name in ("prob", "lower", "upper"))
            targets = {"the mean of the estimate": prob.mean(axis=0), "the true probability": p}
            where = f"{design}, {'tuned' if tuned else 'untuned'}", n
            for name, target in targets.items():
                inside = ((lower <= target) & (target <= upper)).mean(axis=(1, 2))
                found.append(row("stability", *where, f"95 % band covers {name}", BAND, inside))
            if len(shares) == 2:
                ends = np.array([each["loss"] for each in results])
                inside = ((ends[:, 0] <= p[:, 1]) & (p[:, 1] <= ends[:, 1])).mean(axis=1)
                label = "loss-implied interval covers the true probability"
                found.append(row("loss-implied interval", *where, label, None, inside))
    return found


def predicted(truth, shares, n, seed, tuned, points):
    """Probabilities, bands (m, K) and loss-implied intervals (2, m) of one sample at the points."""
    data, _ = sample(np.random.default_rng([19, n, seed]), n, truths(truth, shares))
    fit = fitted(data, truth, tuned)
    fresh = pd.DataFrame(points, columns=["x", "z"])
    found = fit.get_prediction(fresh, level=BAND, B=B, rng=seed, n_jobs=1)
    ends = fit.predict_proba(fresh, interval=True).to_numpy().T if len(shares) == 2 else None
    return {"prob": found.probability, "lower": found.spread.lower, "upper": found.spread.upper, "loss": ends}


def fitted(data, truth, tuned):
    settings = dict(KNOWN[truth][1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SvmstatWarning)
        if not tuned:
            return svm("y ~ x + z", data, **settings)
        widths = {} if "kernel" in settings else {"gamma": WIDTHS}
        kernel = settings.get("kernel", "rbf")
        return tune("y ~ x + z", data, kernel=kernel, C=COSTS, criterion="kfold", folds=FOLDS, rng=0, **widths).best


def truths(name, shares):
    """P(level) (m, K) at X (m, 2), the levels having these shares where X is normal."""
    shift = shifts(name, tuple(shares))
    return lambda X: softmax(scores(name, X, len(shift)) + shift, axis=1)


@cache
def shifts(name, shares):
    """What is added to the scores for the levels to have these shares."""
    f, shift = scores(name, np.random.default_rng(0).normal(size=(20_000, 2)), len(shares)), np.zeros(len(shares))
    for _ in range(100):
        shift += np.log(shares / softmax(f + shift, axis=1).mean(axis=0))
    return shift


def scores(name, X, K):
    """log P(level) (m, K) up to constants."""
    logit = KNOWN[name][0]
    return np.column_stack([np.zeros(len(X)), logit(X), logit(-X[:, ::-1])])[:, :K]


def sample(rng, n, probability):
    """Rows with five of each level at least, one for each fold of a search, and their probabilities."""
    while True:
        X = rng.normal(size=(n, 2))
        p = probability(X)
        y = (rng.random((n, 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
        if np.bincount(y, minlength=p.shape[1]).min() >= FOLDS:
            return pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "y": y}), p
