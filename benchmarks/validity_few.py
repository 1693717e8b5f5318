"""What ranks and bins of held-out rows are worth where predictors have few values, so that equal rows are many.

Three columns of two values, of five, or normal ones; log odds a − 0.6 b, of three levels those of two beside the third.
Leaving a row out moves its probability away from its level: along it, equal rows would be told apart by what was
observed. AUC is beside that of the fit on 8000 new rows: how far it is off, and how often ± 1.96 standard errors hold
what fits of this size are worth, the mean of all samples. Bins of held-out residuals are beside ± 2 standard errors.
"""

import warnings
from functools import partial

import joblib
import numpy as np
import pandas as pd
from scipy.special import softmax
from sklearn.metrics import roc_auc_score

from benchmarks.known import row
from svmstat import svm
from svmstat.errors import SvmstatWarning
from svmstat.resampling.accumulated import pooled

NEW, BINS, SAMPLES = 8000, 8, 200
Z = 1.959964
COLUMNS = {
    "two values": lambda rng, n: rng.integers(0, 2, (n, 3)).astype(float),
    "five values": lambda rng, n: 0.7 * rng.integers(-2, 3, (n, 3)),
    "normal": lambda rng, n: rng.normal(size=(n, 3)),
}
LEVELS, ROWS, COSTS = (2, 3), (100, 400), (0.003, 1.0)


def rows(quick=False):
    """All designs; ``quick`` with a tenth of the samples."""
    found = []
    with joblib.parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        for K in LEVELS:
            for values in COLUMNS:
                for n in ROWS:
                    for C in COSTS:
                        samples = range(SAMPLES // 10 if quick else SAMPLES)
                        one = partial(judged, K, values, n, C)
                        all_auc, beyond = zip(*joblib.Parallel()(joblib.delayed(one)(s) for s in samples), strict=True)
                        what = "few", f"{K} levels, {values}, C = {C:g}", n
                        found += [
                            *of_auc(what, np.array(all_auc)),
                            row(*what, "bins of residuals beyond 2 se", 0.05, beyond),
                        ]
    return found


def of_auc(what, found):
    """The rows of a design, from (samples, levels, 5) of `judged`."""
    true, *held_out = np.moveaxis(found, 2, 0)
    target = true.mean(axis=0)
    for name, auc, se in (("leave-one-out", *held_out[:2]), ("ten folds", *held_out[2:])):
        yield row(*what, f"AUC of {name} less that on new rows", 0.0, (auc - true).mean(axis=1))
        yield row(*what, f"AUC of {name} +- 1.96 se", 0.95, (np.abs(auc - target) <= Z * se).mean(axis=1))


def judged(K, values, n, C, seed):
    """AUC (levels, 5) on new rows, by leave-one-out with its se and by folds with theirs; the share of bins beyond."""
    rng = np.random.default_rng([61, K, n, seed])
    data, new = sample(rng, K, values, n), sample(rng, K, values, NEW)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SvmstatWarning)
        fit = svm("y ~ a + b + c", data, C=C)
        loo, folds, p = fit.loo(), fit.kfold(10), fit.predict_proba(new)
    f = fit.decision_function(new) if K == 2 else None
    shown = [fit.event] if K == 2 else list(fit.classes)
    true = [roc_auc_score(new["y"] == level, p[level] if f is None else f) for level in shown]
    held_out = [[numbers["auc"] for _, numbers in each.by_level()] for each in (loo, folds)]
    found = [true, *([getattr(auc, part) for auc in each] for each in held_out for part in ("value", "se"))]
    return np.transpose(found), np.mean([beyond(loo, list(fit.classes).index(level)) for level in shown])


def beyond(loo, code):
    """The share of bins whose mean residual is more than 2 standard errors from zero, if π is right."""
    p, observed, found = loo.probability[:, code], loo.codes == code, []
    which = pooled(loo.along(code), loo.weights, BINS)
    for b in np.unique(which):
        rows = which == b
        found.append(abs((observed - p)[rows].sum()) > 2.0 * np.sqrt((p * (1.0 - p))[rows].sum()))
    return np.mean(found)


def sample(rng, K, values, n):
    """n rows with at least five of each level."""
    while True:
        X = COLUMNS[values](rng, n)
        scores = np.column_stack([X[:, 0] - (0.6 * X[:, 1] if K == 2 else 0.0), -0.6 * X[:, 1], np.zeros(n)])
        p = softmax(scores[:, [0, 2]] if K == 2 else scores, axis=1)
        y = (rng.random((n, 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
        if np.bincount(y, minlength=K).min() >= 5:
            return pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=np.array(["u", "v", "w"])[y])
