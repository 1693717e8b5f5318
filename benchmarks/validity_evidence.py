"""What the standard errors of held-out numbers cover, and what they say of noise.

Of each sample the numbers of `fit.loo()` with their standard errors, and the same numbers on 4000 fresh rows. The
target is the mean of the latter over all samples, what fits of this size are worth ("coverage"); beside it is how often
they cover what the fit itself is worth on the fresh rows ("own fit").
"""

from functools import partial

import joblib
import numpy as np
import pandas as pd

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
    "linear, one in eleven": (lambda X: 1.5 * X[:, 0] - X[:, 1] - 3.5, 2, LINEAR),
    "smooth, one in eleven": (lambda X: 2.0 * np.sin(1.5 * X[:, 0]) + X[:, 1] ** 2 - 4.5, 2, SMOOTH),
    "smooth, one in eleven, costs 1 : 10": (
        lambda X: 2.0 * np.sin(1.5 * X[:, 0]) + X[:, 1] ** 2 - 4.5,
        2,
        SMOOTH | {"costs": {"fp": 1.0, "fn": 10.0}},
    ),
    "linear, nearly separated": (lambda X: 15.0 * X[:, 0] - 10.0 * X[:, 1], 2, LINEAR),
    "smooth, nearly separated": (lambda X: 20.0 * np.sin(1.5 * X[:, 0]) + 10.0 * X[:, 1] ** 2 - 10.0, 2, SMOOTH),
    "three levels": (lambda X: np.column_stack([1.5 * X[:, 0] - X[:, 1], 2.0 * X[:, 1] ** 2 - 2.0]), 2, SMOOTH),
}
"""The logits of the levels but the first at X (m, p), p, and a machine."""
WEAK = {
    "weak signal, 2 columns of noise": (lambda X: 0.5 * X[:, 0], 3, {}),
    "weak signal, 2 columns of noise, linear": (lambda X: 0.5 * X[:, 0], 3, LINEAR),
    "one in four, 2 columns of noise": (lambda X: X[:, 0] - 1.3, 3, {}),
    "one in five, linear": (lambda X: 1.5 * X[:, 0] - X[:, 1] - 2.1, 2, LINEAR),
    "one in five, smooth": (lambda X: 2.0 * np.sin(1.5 * X[:, 0]) + X[:, 1] ** 2 - 3.2, 2, SMOOTH),
}
"""The same where the signal is weak, or a level has a quarter or a fifth of the rows."""
COSTS_4, COSTS_10 = {"costs": {"fp": 1.0, "fn": 4.0}}, {"costs": {"fp": 1.0, "fn": 10.0}}
WEIGHED = {
    "linear, costs 1 : 3": (TRUTHS["linear"][0], 2, LINEAR | {"costs": {"fp": 1.0, "fn": 3.0}}),
    "linear, costs 1 : 4": (TRUTHS["linear"][0], 2, LINEAR | COSTS_4),
    "smooth, costs 1 : 4": (TRUTHS["smooth"][0], 2, SMOOTH | COSTS_4),
    "smooth, costs 1 : 10": (TRUTHS["smooth"][0], 2, SMOOTH | COSTS_10),
    "smooth, priors 1 : 4": (TRUTHS["smooth"][0], 2, SMOOTH | {"priors": {1: 0.2, 0: 0.8}}),
}
"""The same where the levels are even, and the machine weighs them unevenly."""
SMALL = {
    f"{name}, C = {C:g}": (*TRUTHS[name][:2], settings | {"C": C})
    for name, settings in (("linear", LINEAR), ("smooth", {}), ("smooth, 8 noise columns", {}), ("three levels", {}))
    for C in (0.003, 0.03, 0.1, 0.3)
}
"""The same with small costs: f is next to nothing beside the margins, and nearly all rows are support vectors."""
SIZES = (50, 100, 200, 634)
LEAST = 3
"""Rows of each level in a sample; where events are few, samples of 50 rows have fewer now and then."""


def rows(quick=False):
    """Coverage, and the evidence of shuffled responses."""
    return [*coverage(TRUTHS, SIZES, 20 if quick else 200), *noise(20 if quick else 200)]


def weak(quick=False):
    """Coverage where the signal is weak or levels are uneven."""
    return coverage(WEAK, (100, 200, 634), 20 if quick else 200)


def weighed(quick=False):
    """Coverage where costs and priors weigh the levels."""
    return coverage(WEIGHED, (100, 200, 634), 20 if quick else 200)


def small(quick=False):
    """Coverage where costs are small, and how many rows are support vectors."""
    samples, found = 20 if quick else 200, []
    for name, truth in SMALL.items():
        for n in (100, 200, 634):
            found += coverage({name: truth}, (n,), samples)
            shares = [fitted(truth, n, seed)[0].support_share for seed in range(samples // 10)]
            found.append(row("evidence: support", name, n, "share of rows that are support vectors", None, shares))
    return found


def coverage(truths, sizes, samples):
    """How often a number ± 1.96 standard errors holds what fits of this size, and the fit itself, are worth."""
    found = []
    for name, truth in truths.items():
        for n in sizes:
            work = (joblib.delayed(one_sample)(truth, n, seed) for seed in range(samples))
            found += covered(name, n, pd.DataFrame(joblib.Parallel(n_jobs=2, prefer="threads")(work)))
    return found


def covered(name, n, table):
    """The rows of one design, from a table of what `said_and_worth` has of each sample."""
    found = []
    for quantity in dict.fromkeys(name for name, _ in table.columns):
        value, se, fresh = (table[quantity, part].to_numpy() for part in ("value", "se", "fresh"))
        known = np.isfinite(value) & np.isfinite(fresh)
        target = fresh[known].mean()
        for part, worth in ("coverage", target), ("own fit", fresh[known]):
            inside = np.abs(value[known] - worth) <= Z * se[known]
            found.append(row(f"evidence: {part}", name, n, f"{quantity} +- 1.96 se", 0.95, inside))
        found.append(row("evidence: bias", name, n, f"{quantity} minus that of fresh rows", 0.0, value[known] - target))
    return found


def one_sample(truth, n, seed):
    """Held-out numbers, their standard errors, and the numbers on fresh rows; scores are means over rows."""
    return said_and_worth(*fitted(truth, n, seed))


def fitted(truth, n, seed):
    """A fit, its n rows, and the fresh ones."""
    logits, p, settings = truth
    data = sample(logits, p, n, np.random.default_rng([3, n, seed]))
    return svm(f"y ~ {' + '.join(data.columns.drop('y'))}", data[:n], **settings), data[:n], data[n:]


def said_and_worth(fit, data, new):
    """Held-out numbers of a fit to data, their standard errors, and the numbers on new rows; the levels are 0, 1, …."""
    loo, n, m = fit.loo(), len(data), len(new)
    held = loo.estimates()
    for name in ("score", "null_score"):
        held[name] = predictive.Estimate(held[name].value / n, held[name].se / n)
    codes, frequencies = new["y"].to_numpy(int), np.bincount(data["y"]) / n
    prob = fit.predict_proba(new).to_numpy()
    score, null = -2.0 * np.log(prob[np.arange(m), codes]).mean(), -2.0 * np.log(frequencies[codes]).mean()
    fresh = {
        "score": score,
        "ratio": 1.0 - score / null,
        "brier": predictive.brier(prob, codes, np.ones(m)).value,
        "error_rate": np.mean(fit.predict(new).to_numpy() != codes),
    }
    if len(frequencies) == 2:
        held |= next(loo.by_level())[1]
        fresh |= of_event(prob[:, 1], fit.decision_function(new).to_numpy(), codes == 1)
    return {
        (name, part): number
        for name, number_of_new in fresh.items()
        for part, number in (("value", held[name].value), ("se", held[name].se), ("fresh", number_of_new))
    }


def sample(logits, p, n, rng):
    """n rows with `LEAST` or more of each level, and FRESH others."""
    while True:
        X = rng.normal(size=(n + FRESH, p))
        odds = np.exp(np.column_stack([np.zeros(len(X)), logits(X)]))
        chances = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)
        levels = (rng.random((len(X), 1)) > chances[:, :-1]).sum(axis=1)
        if np.bincount(levels[:n], minlength=chances.shape[1]).min() >= LEAST:
            return pd.DataFrame(X, columns=[f"x{j}" for j in range(p)]).assign(y=levels)


def of_event(prob, f, event):
    """The numbers of two levels on fresh rows."""
    ones = np.ones(len(event))
    line = predictive.calibration_line(prob, event, ones)
    return {
        "auc": predictive.auc(f, event, ones).value,
        "sensitivity": np.mean(f[event] > 0),
        "specificity": np.mean(f[~event] <= 0),
        "calibration_slope": line.slope.value,
        "calibration_intercept": line.intercept.value,
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
