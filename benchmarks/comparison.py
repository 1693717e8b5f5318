"""How often the standard errors of a difference of scores cover it.

A machine with a linear and one with an rbf kernel, and a logistic model, are fitted to samples from a known p(x). Two
truths: the expected difference of −2 log π, on rows drawn anew, of the fits to these very samples, and its mean over
samples of this size.
"""

from functools import partial

import joblib
import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy.special import expit
from scipy.stats import binomtest

from benchmarks.known import row
from svmstat import compare, svm

SIZES, SAMPLES, REPEATS, FRESH = (100, 200), 200, 2, 4000
TRUTHS = {
    "linear": lambda X: 1.5 * X[:, 0] - X[:, 1],
    "smooth": lambda X: 2.0 * X[:, 0] - X[:, 1] ** 2 + 1.0,
    "weak": lambda X: 0.5 * X[:, 0],
    "one in five": lambda X: X[:, 0] - X[:, 1] - 1.8,
}


def draw(truth, n, rng):
    X = rng.normal(size=(n, 2))
    p = expit(TRUTHS[truth](X))
    return pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "y": (rng.random(n) < p).astype(int)}), p


def design(data):
    return sm.add_constant(data[["x", "z"]].to_numpy())


def expected_score(p, predicted):
    """The mean of −2 log π over rows whose P(event) is p."""
    q = np.clip(predicted, 1e-300, 1.0 - 1e-16)
    return float(np.mean(-2.0 * (p * np.log(q) + (1.0 - p) * np.log1p(-q))))


def one_sample(truth, n, seed, repeats):
    """Of rbf against linear and logistic: the difference, its two standard errors, the nested difference, the truth."""
    rng = np.random.default_rng([seed, n])
    data, _ = draw(truth, n, rng)
    fresh, p = draw(truth, FRESH, rng)
    rbf, linear = svm("y ~ x + z", data, gamma=0.5), svm("y ~ x + z", data, kernel="linear")
    logit = sm.Logit(data["y"], design(data)).fit(disp=False)
    table = compare(rbf, linear=linear, logistic=logit, nested=True, repeats=repeats, rng=seed).table
    predicted = {
        "svm rbf": rbf.predict_proba(fresh)[1],
        "linear": linear.predict_proba(fresh)[1],
        "logistic": logit.predict(design(fresh)),
    }
    scores = {name: n * expected_score(p, np.asarray(each)) for name, each in predicted.items()}
    return {
        name: (*table.loc[name, ["delta", "delta_se", "delta_nested", "nested_se"]], scores[name] - scores["svm rbf"])
        for name in ("linear", "logistic")
    }


def rows(quick):
    """A row for each truth, size, pair of models and standard error: the coverage of ± 1.96 of it.

    Of the difference of the fits themselves, and of the mean of that over the samples.
    """
    samples, repeats, found = (4, 1, []) if quick else (SAMPLES, REPEATS, [])
    for truth in TRUTHS:
        for n in SIZES:
            work = (joblib.delayed(one_sample)(truth, n, seed, repeats) for seed in range(samples))
            drawn = joblib.Parallel(n_jobs=-1)(work)
            for name in ("linear", "logistic"):
                delta, se, nested, nested_se, own = np.array([each[name] for each in drawn], float).T
                what = truth, n, f"svm rbf against {name}"
                found += [covered("paired", *what, delta, se, own), covered("nested", *what, nested, nested_se, own)]
    return found


def covered(kind, truth, n, models, value, error, own):
    """A row of the table, from differences of samples with their standard errors and what these estimate."""
    of_own, of_mean = (np.mean(np.abs(value - true) <= 1.96 * error) for true in (own, own.mean()))
    return {
        "se": kind,
        "truth": truth,
        "n": n,
        "models": models,
        "of these fits": of_own,
        "of the mean": of_mean,
        "mc_se": max(np.sqrt(rate * (1.0 - rate) / len(value)) for rate in (of_own, of_mean)),
        "mean_se": error.mean(),
        "sd": value.std(ddof=1),
        "rmse of these": np.sqrt(np.mean((value - own) ** 2)),
    }


WEIGHED = {"costs 1 : 4": {"costs": {"fp": 1.0, "fn": 4.0}}, "priors 1 : 4": {"priors": {1: 0.2, 0: 0.8}}}


def weighed(quick):
    """The same of the paired standard error where the levels are even, and a machine weighs them unevenly."""
    samples, found = 4 if quick else SAMPLES, []
    for truth in ("linear", "smooth"):
        for n in SIZES:
            for kernel in ("linear", "rbf"):
                for name, settings in WEIGHED.items():
                    work = (joblib.delayed(one_weighed)(truth, n, seed, kernel, settings) for seed in range(samples))
                    drawn = np.array(joblib.Parallel(n_jobs=-1)(work)).T
                    found.append(covered("paired", truth, n, f"svm {kernel}, {name}, against logistic", *drawn))
    return found


def one_weighed(truth, n, seed, kernel, settings):
    """Of a logistic model against a machine that weighs the levels: the difference, its standard error, the truth."""
    rng = np.random.default_rng([seed, n, 67])
    data, _ = draw(truth, n, rng)
    fresh, p = draw(truth, FRESH, rng)
    fit, logit = svm("y ~ x + z", data, kernel=kernel, **settings), sm.Logit(data["y"], design(data)).fit(disp=False)
    found = compare(fit, logistic=logit).table.loc["logistic"]
    own = expected_score(p, logit.predict(design(fresh))) - expected_score(p, fit.predict_proba(fresh)[1].to_numpy())
    return found["delta"], found["delta_se"], n * own


RIVALS = {
    "one of two equal columns each": (lambda X: 1.2 * X[:, 0] + 1.2 * X[:, 1], ("y ~ x0", "y ~ x1")),
    "a column of noise each": (lambda X: 1.5 * X[:, 0], ("y ~ x0 + x2", "y ~ x0 + x3")),
    "no association": (lambda X: 0.0 * X[:, 0], ("y ~ x0", "y ~ x1")),
}
"""The logit at X (m, 4), and two formulas whose fits err equally often, since columns may be exchanged."""
RIVALS_OF_FACTORS = {
    f"one of two factors of {levels} levels each{', twice the effect' if size == 1.6 else ''}": (levels, size)
    for levels in (4, 5, 8)
    for size in (0.8, 1.6)
}
"""Levels, and the log odds of the last, those of the first being minus as much; of two fits each has one of them."""
HELD_OUT = {"leave-one-out": None, "10 folds": 10}


def errors(quick):
    """The size of McNemar's test at 0.05: of all p-values; how often one is printed, and the size of these."""
    return sizes_of_errors({name: partial(numeric, *rivals) for name, rivals in RIVALS.items()}, 8 if quick else 400)


def errors_of_factors(quick):
    """The same where each has a factor alone: all rows of a level are predicted rightly or wrongly at once."""
    draws = {name: partial(two_factors, *rivals) for name, rivals in RIVALS_OF_FACTORS.items()}
    return sizes_of_errors(draws, 8 if quick else 400)


def sizes_of_errors(designs, samples):
    """The rows of designs, each of which draws formulas and data from n and a generator."""
    found = []
    for design_name, draw in designs.items():
        for kernel in ("linear", "rbf"):
            for n in SIZES:
                work = (joblib.delayed(both_errors)(draw, kernel, n, seed) for seed in range(samples))
                values = np.array(joblib.Parallel(n_jobs=-1)(work))
                for how, (each, every) in zip(HELD_OUT, values.transpose(1, 2, 0), strict=True):
                    where, printed = ("mcnemar", f"{design_name}, {kernel}, {how}", n), each[~np.isnan(each)]
                    found.append(row(*where, "any p <= 0.05", None, every <= 0.05))
                    found.append(row(*where, "p is printed", None, ~np.isnan(each)))
                    if len(printed) > 1:
                        found.append(row(*where, "printed p <= 0.05", 0.05, printed <= 0.05))
    return found


def numeric(logit, formulas, n, rng):
    """Formulas, and n rows of four normal columns."""
    X = rng.normal(size=(n, 4))
    data = pd.DataFrame(X, columns=["x0", "x1", "x2", "x3"])
    return formulas, data.assign(y=(rng.random(n) < expit(logit(X))).astype(int))


def two_factors(levels, size, n, rng):
    """Formulas, and n rows of two factors with as many levels, and the same effects."""
    g, h = rng.integers(0, levels, (2, n))
    effect, names = np.linspace(-size, size, levels), np.array(list("abcdefgh"))
    y = (rng.random(n) < expit(effect[g] + effect[h])).astype(int)
    return ("y ~ g", "y ~ h"), pd.DataFrame({"g": names[g], "h": names[h], "y": y})


def both_errors(draw, kernel, n, seed):
    """Of a sample the p-value that is printed, NaN where there is none, and what it would be; for both HELD_OUT."""
    formulas, data = draw(n, np.random.default_rng([31, n, seed]))
    one, other = (svm(formula, data, kernel=kernel) for formula in formulas)
    found = []
    for folds in HELD_OUT.values():
        both = compare(one, other, folds=folds, rng=seed)
        first, second = (each.error.to_numpy() for each in both.evidence)
        only = int((first > second).sum()), int((second > first).sum())
        found.append((both.table["mcnemar"].iloc[1], binomtest(only[0], sum(only)).pvalue if sum(only) else 1.0))
    return found
