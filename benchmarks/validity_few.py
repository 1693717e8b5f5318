"""What ranks and bins of held-out rows are worth where predictors have few values, so that equal rows are many.

Three columns of two values, of five, or normal ones; log odds a − 0.6 b, of three levels those of two beside the third.
Leaving a row out moves its probability away from its level: along it, equal rows would be told apart by what was
observed. AUC is beside that of the fit on 8000 new rows, and bins of held-out residuals beside ± 2 standard errors.
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

NEW, BINS, SAMPLES = 8000, 8, 60
COLUMNS = {
    "two values": lambda rng, n: rng.integers(0, 2, (n, 3)).astype(float),
    "five values": lambda rng, n: 0.7 * rng.integers(-2, 3, (n, 3)),
    "normal": lambda rng, n: rng.normal(size=(n, 3)),
}
LEVELS, ROWS, COSTS = (2, 3), (100, 400), (0.003, 1.0)


def rows(quick=False):
    """All designs; ``quick`` with a sixth of the samples."""
    found = []
    with joblib.parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        for K in LEVELS:
            for values in COLUMNS:
                for n in ROWS:
                    for C in COSTS:
                        samples = range(SAMPLES // 6 if quick else SAMPLES)
                        one = partial(judged, K, values, n, C)
                        loo, folds, beyond = np.array(joblib.Parallel()(joblib.delayed(one)(s) for s in samples)).T
                        what = "few", f"{K} levels, {values}, C = {C:g}", n
                        found += [
                            row(*what, "AUC of leave-one-out less that on new rows", 0.0, loo),
                            row(*what, "AUC of ten folds less that on new rows", 0.0, folds),
                            row(*what, "bins of residuals beyond 2 se", 0.05, beyond),
                        ]
    return found


def judged(K, values, n, C, seed):
    """How far the AUC of one sample is off, mean over levels, by leave-one-out and folds; the share of bins beyond."""
    rng = np.random.default_rng([61, K, n, seed])
    data, new = sample(rng, K, values, n), sample(rng, K, values, NEW)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SvmstatWarning)
        fit = svm("y ~ a + b + c", data, C=C)
        loo, folds, p = fit.loo(), fit.kfold(10), fit.predict_proba(new)
    f = fit.decision_function(new) if K == 2 else None
    shown = [fit.event] if K == 2 else list(fit.classes)
    true = [roc_auc_score(new["y"] == level, p[level] if f is None else f) for level in shown]
    off = [float(np.mean(np.ravel(each.auc) - true)) for each in (loo, folds)]
    return *off, np.mean([beyond(loo, list(fit.classes).index(level)) for level in shown])


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
