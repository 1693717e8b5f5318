"""What the standard errors of held-out numbers cover, and what they say of noise.

Of each sample the numbers of `fit.loo()` with their standard errors, and the same numbers on 4000 fresh rows. The
target is the mean of the latter over all samples: what fits of this size are worth.
"""

from functools import partial

import joblib
import numpy as np
import pandas as pd
from scipy.special import expit

from benchmarks.known import FLEXIBLE, LBW, LINEAR, SMOOTH, low_birth_weight, row
from svmstat import svm, tune
from svmstat.objective import predictive

FRESH = 4000
Z = 1.959964

TRUTHS = {
    "linear": (lambda X: 1.5 * X[:, 0] - X[:, 1], 2, LINEAR),
    "smooth": (lambda X: 2.0 * np.sin(1.5 * X[:, 0]) + X[:, 1] ** 2 - 1.0, 2, SMOOTH),
    "flexible": (lambda X: 3.0 * np.sin(3.0 * X[:, 0]) * np.sin(2.0 * X[:, 1]), 2, FLEXIBLE),
    "smooth, 8 noise columns": (lambda X: 2.0 * np.sin(1.5 * X[:, 0]) + X[:, 1], 10, {"C": 1.0}),
}
SIZES = (50, 100, 200, 634)


def rows(quick=False):
    """Coverage, and the evidence of shuffled responses."""
    return [*coverage(20 if quick else 100), *noise(20 if quick else 200)]


def coverage(samples):
    """How often a number ± 1.96 standard errors holds what fits of this size are worth on fresh rows."""
    found = []
    for name in TRUTHS:
        for n in SIZES:
            work = (joblib.delayed(one_sample)(name, n, seed) for seed in range(samples))
            table = pd.DataFrame(joblib.Parallel(n_jobs=2, prefer="threads")(work))
            for quantity in ("score", "brier", "error_rate", "auc", "slope", "intercept"):
                value, se, fresh = (table[quantity, part].to_numpy() for part in ("value", "se", "fresh"))
                known = np.isfinite(value) & np.isfinite(fresh)
                target = fresh[known].mean()
                inside = np.abs(value[known] - target) <= Z * se[known]
                found.append(row("evidence: coverage", name, n, f"{quantity} +- 1.96 se", 0.95, inside))
                found.append(
                    row("evidence: bias", name, n, f"{quantity} minus that of fresh rows", 0.0, value[known] - target)
                )
    return found


def one_sample(truth, n, seed):
    """Held-out numbers, their standard errors, and the numbers on fresh rows; scores are means over rows."""
    logit, p, settings = TRUTHS[truth]
    rng = np.random.default_rng([3, n, seed])
    names = [f"x{j}" for j in range(p)]
    X = rng.normal(size=(n + FRESH, p))
    event = rng.random(n + FRESH) < expit(logit(X))
    data = pd.DataFrame(X, columns=names).assign(y=event)
    fit = svm(f"y ~ {' + '.join(names)}", data[:n], **settings)
    loo, new = fit.loo(), data[n:]
    prob, f = fit.predict_proba(new).to_numpy(), fit.decision_function(new).to_numpy()
    codes, ones = new["y"].to_numpy().astype(int), np.ones(FRESH)
    line = predictive.calibration_line(prob[:, 1], codes == 1, ones)
    fresh = {
        "score": -2.0 * np.log(prob[np.arange(FRESH), codes]).mean(),
        "brier": predictive.brier(prob, codes, ones).value,
        "error_rate": np.mean((f > 0) != (codes == 1)),
        "auc": predictive.auc(f, codes == 1, ones).value,
        "slope": line.slope.value,
        "intercept": line.intercept.value,
    }
    held = {
        "score": (loo.score / n, loo.score_se / n),
        "brier": (loo.brier, loo.brier_se),
        "error_rate": (loo.error_rate, loo.error_rate_se),
        "auc": (loo.auc, loo.auc_se),
        "slope": (loo.calibration_slope, loo.calibration_slope_se),
        "intercept": (loo.calibration_intercept, loo.calibration_intercept_se),
    }
    return {
        (name, part): number
        for name, pair in held.items()
        for part, number in zip(("value", "se", "fresh"), (*pair, fresh[name]), strict=True)
    }


def noise(samples):
    """The response of birthwt shuffled: the in-sample and the held-out R², and what the summary says."""
    found = []
    makers = {
        "defaults": partial(svm, LBW),
        "tuned": lambda data: tune(LBW, data).best,
    }
    for name, make in makers.items():
        table = joblib.Parallel(n_jobs=2, prefer="threads")(
            joblib.delayed(shuffled)(make, seed) for seed in range(samples)
        )
        own, held, corrected, said = np.array(table, dtype=float).T
        design = f"birthwt shuffled, {name}"
        found += [
            row("evidence: noise", design, 189, "R-squared in-sample", None, own),
            with_median(row("evidence: noise", design, 189, "R-squared held out", None, held), held),
            row("evidence: noise", design, 189, "R-squared held out is 0 or less", None, held <= 0.0),
            *corrected_rows(design, corrected, name == "tuned"),
            row("evidence: noise", design, 189, "the summary says (hardly) better than nothing", None, said),
        ]
    return found


def corrected_rows(design, values, tuned):
    """R² without the choice of cost and kernel, where there was one."""
    if not tuned:
        return []
    first = row("evidence: noise", design, 189, "R-squared corrected for tuning", None, values)
    return [
        with_median(first, values),
        row("evidence: noise", design, 189, "R-squared corrected is 0 or less", None, values <= 0.0),
    ]


def with_median(found, values):
    return found | {"median": float(np.median(values))}


def shuffled(make, seed):
    """R² of the fit's own rows, of held-out rows, the same without tuning, and whether the summary warns."""
    data = low_birth_weight()
    fit = make(data.assign(low=np.random.default_rng([5, seed]).permutation(data["low"])))
    text = " ".join(str(fit.summary()).split())
    loo, said = fit.loo(), "better than the class frequencies" in text
    return fit.pseudo_rsquared, predictive.beyond_rounding(1.0 - loo.score / loo.null_score), loo.rsquared, said
