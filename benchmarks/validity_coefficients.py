"""What the intervals of linear coefficients cover, and whether their standard errors are of the right size.

Each row of the table has the part, the design, n, the quantity with its nominal value (None if there is none), the mean
over the samples and its standard error. x and z are standard normal with correlation ½, one more column or eight are
noise, and a factor of two levels tells a little; the logit is linear in all of them, of three levels that of each of
two against the first. Targets are

- the mean of the estimate over samples of this size;
- the population machine: the fit to very many rows at the same λ = 1/(2 C n), to which the fits would settle if n could
  grow with λ held.

The coefficients of the logit are no target: a machine estimates where it changes sign, on a scale of its own.
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
LOGITS = np.array([[1.5, 0.75, 0.5], [-0.75, 1.5, 0.5]])  # of x, z and side: the second and third level
DESIGNS = [(2, 100, 1, 0.0), (2, 400, 1, 0.0), (2, 100, 8, 0.0), (3, 200, 1, 0.0), (2, 200, 1, -2.4)]
"""Levels, rows, columns of noise, and what is added to the logits: in the last one row in five is an event."""
COSTS = (0.1, 1.0, 10.0)
GONE = (0.0, 0.02, 0.05, 0.2)
"""Shares of the replicates in which a slope is 0 and f not constant, where this is so in the most."""
WEAK = (
    (200, False, (-1.5, 1.0, 0.0)),
    (120, False, (-1.4, 0.7, 0.0)),
    (200, False, (-0.9, 0.5, 0.0)),
    (120, True, (-1.0, 1.2, 0.5)),
)
"""Rows, whether x is 0, 1 or 2 and z 0 or 1, and the log odds: constant, and what x and z add."""

RARE = (
    (2, 120, (0.4, 0.3, 0.27, 0.03), 0.0, 1.0),
    (2, 120, (0.4, 0.3, 0.27, 0.03), 2.0, 1.0),
    (2, 120, (0.4, 0.3, 0.27, 0.03), 2.0, 10.0),
    (2, 120, (0.4, 0.3, 0.2, 0.1), 2.0, 1.0),
    (2, 300, (0.4, 0.3, 0.28, 0.02), 2.0, 1.0),
    (2, 300, (0.4, 0.3, 0.26, 0.04), 2.0, 1.0),
    (3, 150, (0.23, 0.19, 0.15, 0.12, 0.12, 0.08, 0.07, 0.04), 0.5, 1.0),
    (3, 300, (0.23, 0.19, 0.15, 0.12, 0.12, 0.08, 0.07, 0.04), 0.5, 1.0),
)
"""Levels of y, rows, shares of the levels of a factor, the effect of the last of them, and C; of three levels of y the
last has a tenth of the rows."""

WIDE = (
    (120, 8, 1.0),
    (120, 20, 1.0),
    (120, 40, 1.0),
    (120, 80, 1.0),
    (120, 300, 1.0),
    (120, 300, 0.01),
    (400, 150, 1.0),
)
"""Rows, columns and C: with so many columns a hyperplane parts the levels, or nearly so, whatever they tell."""


def rows(quick=False):
    """All designs; ``quick`` with a tenth of the samples."""
    found = []
    with joblib.parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        for K, n, noise, shift in DESIGNS:
            for C in COSTS:
                samples = range(SAMPLES // 10 if quick else SAMPLES)
                results = joblib.Parallel()(joblib.delayed(estimated)(K, n, noise, shift, C, s) for s in samples)
                found += compared(K, n, noise, shift, C, *(np.array(each) for each in zip(*results, strict=True)))
    return found


def weak(quick=False):
    """The same with C = 1 where a level is rarer, or predictors have few values: f may be constant."""
    found = []
    with joblib.parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        for n, few, logit in WEAK:
            name = f"{'few values, ' * few}log odds {logit[0]:g} + {logit[1]:g} x + {logit[2]:g} z"
            samples = range(SAMPLES // 10 if quick else SAMPLES)
            results = joblib.Parallel()(joblib.delayed(estimated_weakly)(n, few, logit, s) for s in samples)
            estimate, se, lower, upper, flat = (np.array(each) for each in zip(*results, strict=True))
            varies = (estimate[:, 1:] != 0.0).any(axis=1)
            found.append(row("coefficients", name, n, "f is constant", None, ~varies))
            found.append(row("coefficients", name, n, "replicates whose f is constant", None, flat))
            for of, which in (
                ("all samples", slice(None)),
                ("samples with f not constant in most replicates", flat < 0.5),
            ):
                target = estimate.mean(axis=0)
                inside = ((lower <= target) & (target <= upper))[which]
                for term, each in zip(("intercept", "x", "z"), inside.T, strict=True):
                    if len(each) > 1:
                        found.append(
                            row("coefficients", name, n, f"interval of {term} covers the mean, {of}", LEVEL, each)
                        )
            ratio = se[:, 1:] / estimate[:, 1:].std(axis=0, ddof=1)
            found += [
                row("coefficients", name, n, f"standard error of {term} over their sd", 1.0, each)
                for term, each in zip(("x", "z"), ratio.T, strict=True)
            ]
    return found


def rare(quick=False):
    """The same of the levels of a factor, of which some are rare: the slope of one may be 0 in many replicates."""
    found = []
    with joblib.parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        for K, n, shares, effect, C in RARE:
            samples = range(SAMPLES // 10 if quick else SAMPLES)
            work = (joblib.delayed(estimated_by_level)(K, n, shares, effect, C, s) for s in samples)
            tables = joblib.Parallel()(work)
            table = pd.concat(tables, keys=range(len(tables)), names=["sample", "pair", "term"]).reset_index()
            name = f"{K} levels, factor of {len(shares)}, {shares[-1]:g} in the last, effect {effect:g}, C = {C:g}"
            target = table.groupby(["pair", "term"])["estimate"].transform("mean")
            table["inside"] = table["lower"].le(target) & table["upper"].ge(target)
            table = table[table["term"].str.startswith("g[")]
            for (pair, term), each in table.groupby(["pair", "term"], sort=False):
                what = f"{term}{'' if K == 2 else f' of {pair}'}"
                found.append(row("coefficients", name, n, f"{what}: rows of the level in the pair", None, each["rows"]))
                found.append(row("coefficients", name, n, f"{what}: interval covers the mean", LEVEL, each["inside"]))
            table = table[table["flat"] <= 0.5]
            for low, high in zip(GONE, (*GONE[1:], 1.01), strict=True):
                which = table["gone"].between(low, high, inclusive="left")
                if which.sum() > 10:
                    what = f"levels, 0 in {low:g} to {min(high, 1.0):g} of the replicates"
                    found.append(row("coefficients", name, n, what, LEVEL, table.loc[which, "inside"]))
    return found


def estimated_by_level(K, n, shares, effect, C, seed):
    """Of one sample, by pair and level of the factor: estimate, ends, rows of the level, and replicates at 0."""
    rng = np.random.default_rng([67, K, n, seed])
    names, last = np.array([f"g{k}" for k in range(len(shares))]), len(shares) - 1
    while True:
        g, (x, z) = rng.choice(len(shares), n, p=shares), rng.normal(size=(2, n))
        tells = 1.2 * x - 0.5 * (g == 1) + effect * (g == last)
        scores = np.column_stack([np.full(n, 1.0 * (K == 3)), tells, 1.3 * z - 1.6][:K])
        y = (rng.random((n, 1)) > softmax(scores, axis=1).cumsum(axis=1)[:, :-1]).sum(axis=1)
        if np.bincount(y, minlength=K).min() >= 5 and np.bincount(g, minlength=len(shares)).min() > 0:
            break
    data = pd.DataFrame({"x": x, "z": z, "g": names[g], "y": np.array(["a", "b", "c"])[y]})
    coefficients = fitted(data, C).confint(LEVEL, B, rng=seed, n_jobs=1)
    frame = coefficients.summary_frame()[["estimate", "lower", "upper"]]
    pairs = [tuple(pair) for pair in coefficients.shape.pairs]
    kept = coefficients.replicates[~np.isnan(coefficients.replicates).any(axis=(1, 2))]
    constant = (kept[:, 1:] == 0.0).all(axis=1)
    frame["gone"] = ((kept == 0.0) & ~constant[:, None]).mean(axis=0).T.ravel()
    frame["flat"] = np.repeat(constant.mean(axis=0), len(coefficients.terms))
    frame["pair"] = np.repeat([" : ".join(pair) for pair in pairs], len(coefficients.terms))
    frame["term"] = np.tile(coefficients.terms, len(pairs))
    counts = pd.crosstab(data["g"], data["y"])
    frame["rows"] = [counts.loc[t[2:-1], list(p)].sum() if "[" in t else n for p in pairs for t in coefficients.terms]
    return frame.set_index(["pair", "term"])


def many(quick=False):
    """The same of many independent columns, of which four tell something."""
    found = []
    with joblib.parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        for n, p, C in WIDE:
            samples = range(10 if quick else 60)
            results = joblib.Parallel()(joblib.delayed(estimated_widely)(n, p, C, s) for s in samples)
            estimate, se, lower, upper = (np.array(each)[:, 1:] for each in zip(*results, strict=True))
            name, target = f"{p} columns, C = {C:g}", estimate.mean(axis=0)
            inside, outside = (lower <= target) & (target <= upper), (estimate < lower) | (estimate > upper)
            ratio, four = se / estimate.std(axis=0, ddof=1), np.arange(p) < 4
            for of, which in (("the four that tell", four), ("the others", ~four)):
                for what, nominal, each in (
                    ("95 % interval covers the mean", LEVEL, inside),
                    ("estimate outside its own interval", None, outside),
                    ("standard error over the sd", 1.0, ratio),
                ):  # fmt: skip
                    found.append(row("coefficients", name, n, f"{what}, {of}", nominal, each[:, which].mean(axis=1)))
    return found


def estimated_widely(n, p, C, seed):
    """Estimates, standard errors, lower and upper ends (1 + p,) of one sample."""
    rng = np.random.default_rng([59, n, p, seed])
    X = rng.normal(size=(n, p))
    y = rng.random(n) < 1.0 / (1.0 + np.exp(-X[:, :4] @ [1.0, -1.0, 0.7, 0.7]))
    data = pd.DataFrame(X, columns=[f"x{k}" for k in range(p)]).assign(y=y)
    frame = fitted(data, C).confint(LEVEL, 99, rng=seed, n_jobs=1).summary_frame()
    return tuple(frame[name].to_numpy() for name in ("estimate", "se", "lower", "upper"))


def estimated_weakly(n, few, logit, seed):
    """Estimates, standard errors, lower and upper ends (3,) of one sample, and the share of replicates at 0."""
    rng = np.random.default_rng([53, n, seed])
    while True:
        x, z = (rng.integers(0, k, n) * 1.0 for k in (3, 2)) if few else rng.normal(size=(2, n))
        y = rng.uniform(size=n) < 1.0 / (1.0 + np.exp(-(logit[0] + logit[1] * x + logit[2] * z)))
        if 5 <= y.sum() <= n - 5:
            break
    found = fitted(pd.DataFrame({"x": x, "z": z, "y": y}), 1.0).confint(LEVEL, B, rng=seed, n_jobs=1)
    frame, flat = found.summary_frame(), found.n_constant / (found.B - found.n_failed)
    return *(frame[name].to_numpy() for name in ("estimate", "se", "lower", "upper")), flat


def compared(K, n, noise, shift, C, estimate, se, lower, upper):
    """The rows of one design; estimates and intervals (S, m) of all samples."""
    where = f"{K} levels, {noise} of noise{', one in five' if shift else ''}, C = {C:g}", n
    kinds = np.tile(["intercept", *["slopes"] * 4, *["slopes of noise"] * noise], K * (K - 1) // 2)
    targets = {
        "the mean of the estimate": estimate.mean(axis=0),
        "the population machine": population(K, n, noise, shift, C),
    }
    found = []
    for name in ("slopes", "slopes of noise", "intercept"):
        columns = kinds == name
        for what, target in targets.items():
            inside = ((lower <= target) & (target <= upper))[:, columns].mean(axis=1)
            found.append(row("coefficients", *where, f"95 % interval of {name} covers {what}", LEVEL, inside))
        ratio = (se / estimate.std(axis=0, ddof=1))[:, columns].mean(axis=1)
        found.append(row("coefficients", *where, f"standard error of {name} over their sd", 1.0, ratio))
    return found


def estimated(K, n, noise, shift, C, seed):
    """Estimates, standard errors, lower and upper ends (m,) of one sample."""
    data = sample(np.random.default_rng([29, K, n, noise, seed]), K, n, noise, shift)
    frame = fitted(data, C).confint(LEVEL, B, rng=seed, n_jobs=1).summary_frame()
    return tuple(frame[name].to_numpy() for name in ("estimate", "se", "lower", "upper"))


def population(K, n, noise, shift, C):
    """The coefficients (m,) of a fit to very many rows with the λ of n rows."""
    fit = fitted(sample(np.random.default_rng([31, K, noise]), K, MANY, noise, shift), C * n / MANY)
    return np.ravel(fit.params, "F")


def fitted(data, C):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SvmstatWarning)
        return svm("y ~ .", data, kernel="linear", C=C, calibration="insample")


def sample(rng, K, n, noise, shift):
    """n rows with at least five of each level."""
    while True:
        x, z = rng.normal(size=(2, n))
        z = 0.5 * x + np.sqrt(0.75) * z
        side = rng.integers(0, 2, n)
        scores = np.column_stack([np.zeros(n), np.column_stack([x, z, side]) @ LOGITS[: K - 1].T + shift])
        p = softmax(scores, axis=1)
        y = (rng.random((n, 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
        if np.bincount(y, minlength=K).min() >= 5:
            others = {f"noise{k}": column for k, column in enumerate(rng.normal(size=(noise, n)))}
            return pd.DataFrame({"x": x, "z": z, "side": np.where(side == 1, "b", "a"), "y": y, **others})
