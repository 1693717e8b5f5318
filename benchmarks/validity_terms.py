"""The tests of terms: how often they reject where the response does not depend on a term, and where it does."""

import warnings

import joblib
import numpy as np
import pandas as pd
from scipy.optimize import brentq

from benchmarks.known import TRUTHS, row
from svmstat import svm

LEVEL = 0.05
SAMPLES = {200: 400, 634: 100}
EFFECT = 0.8
"""Of a standard deviation of x, given the others, on the logit, where there is one."""

DEPENDENCE = {
    "none": (lambda Z, rng: rng.normal(size=len(Z)), 1.0),
    "linear, rho = 0.7": (lambda Z, rng: 0.7 * Z[:, 0] + np.sqrt(0.51) * rng.normal(size=len(Z)), 0.51**0.5),
    "nonlinear": (lambda Z, rng: np.sin(2.0 * Z[:, 0]) + 0.5 * Z[:, 1] ** 2 + 0.5 * rng.normal(size=len(Z)), 0.5),
    "factor": (lambda Z, rng: np.digitize(Z[:, 0] + rng.normal(size=len(Z)), [-0.7, 0.7]), 0.65),
}
"""x given the two predictors on which the response depends, and its standard deviation then; a factor has 3 levels."""

NESTED = {
    "sites beside their regions": ("y ~ region + site", "site", "region"),
    "a factor and its interaction": ("y ~ g * h", "g", "h"),
    "a factor and slopes in it": ("y ~ a * g", "g", "a"),
    "a plane beside one of its axes": ("y ~ s(a) + s(a, b)", "s(a, b)", "a"),
}
"""Formulas, a term whose columns tell partly what the others tell, and the one column on which the response depends."""

RARE = (10, 20, 40)
"""Events of 200 rows, on average."""

SKEWED = (
    ("a normal number", 500, 40, lambda x, _: x),
    ("a lognormal number", 500, 40, lambda x, _: np.exp(x)),
    ("a lognormal number that spreads with another", 400, 40, lambda x, a: np.exp(x + 0.5 * a)),
    ("a lognormal number that spreads with another", 600, 42, lambda x, a: np.exp(x + 0.5 * a)),
    ("a lognormal number that spreads with another", 600, 60, lambda x, a: np.exp(x + 0.5 * a)),
    ("a lognormal number that spreads with another", 600, 300, lambda x, a: np.exp(x + 0.5 * a)),
)
"""Rows, events on average, and what is tested, made of normal numbers x and a."""

RARE_LEVELS = (
    (200, 20, 10),
    (200, 8, 40),
    (200, 10, 20),
    (200, 20, 20),
    (400, 10, 80),
    (200, 14, 40),
    (600, 40, 50),
    (200, 40, 20),
    (400, 20, 80),
    (200, 20, 60),
    (200, 40, 40),
)
"""Rows, those of a rare level, and events on average."""

EVEN, UNEVEN, WILD = (8,), (1, 2, 3, 5, 8, 20), (2, 2, 3, 3, 5, 40)
GROUPED = (
    (20, EVEN, True, 1.5),
    (40, EVEN, True, 1.5),
    (80, EVEN, True, 1.5),
    (20, UNEVEN, True, 1.5),
    (40, UNEVEN, True, 1.5),
    (80, UNEVEN, True, 1.5),
    (20, WILD, False, 0.0),
    (20, WILD, True, 1.5),
    (40, WILD, True, 1.5),
    (80, WILD, True, 1.5),
)
"""Groups, the sizes from which theirs are drawn, whether x is constant in groups, and the sd of their effects."""

OTHERS = ((200, 8), (200, 20), (400, 20))
"""Rows, and other predictors, whose mean the response and x depend on."""

WEIGHTED = (("weights of noise", 200), ("weights of noise", 600), ("weights by x", 200), ("weights by x", 600))
"""What the logarithm of weights is 1.5 times, and how many rows there are."""

MANY = ((200, 2, 6), (200, 2, 11), (200, 2, 16), (200, 3, 5), (200, 3, 9), (634, 2, 16), (634, 2, 40), (634, 3, 25))
"""Rows, levels of the response, and levels of a factor of noise; df is the product of the last two, each less one."""


FEW = (60, 100, 150, 200, 400)
"""Rows, where the response and x follow another predictor."""

FOLLOWED = {
    "a curve": (lambda z, v: 2.0 * np.sin(2.0 * z) - v, lambda z: np.sin(2.0 * z)),
    "a parabola": (lambda z, v: z**2 - 1.0 - v, lambda z: 0.5 * z**2),
    "a line": (lambda z, v: 1.5 * z - v, lambda z: z),
}
"""What the logit is of two predictors, and x of the first of them, but for noise of half a standard deviation."""

CURVES = ((2, 2), (3, 2), (4, 2), (6, 2), (2, 3), (2, 5))
"""How fast a sine is, in standard deviations of a predictor, and how many predictors there are beside x."""

FOLLOWING = (
    ("a number", "x", "a curve"),
    ("a number", "x", "a parabola"),
    ("a number", "x", "a line"),
    ("a factor of three levels", "g", "a curve"),
    ("four splines", "bs(x, df=4)", "a curve"),
)
"""The term, of x or of g, which tells of x in three classes, and what x follows."""


def rows(quick):
    found = []
    for n, samples in SAMPLES.items():
        truths = TRUTHS if n == 200 else {"smooth": TRUTHS["smooth"], "flexible": TRUTHS["flexible"]}
        for K in (2, 3):
            for effect in (0.0, EFFECT):
                for truth, (logit, machine) in truths.items():
                    for name, (of, sd) in DEPENDENCE.items():
                        number = 4 if quick else samples if effect == 0.0 else samples // 4
                        every = [pvalue((s, n, K), n, K, logit, of, effect / sd, machine) for s in range(number)]
                        design = f"{truth}, {K} classes, x on others: {name}"
                        quantity = "size" if effect == 0.0 else "power"
                        nominal = LEVEL if effect == 0.0 else np.nan
                        found.append(row("terms", design, n, quantity, nominal, np.array(every) < LEVEL))
    for n, samples in SAMPLES.items():
        for name, design in NESTED.items():
            every = [nested_pvalue((s, n), n, *design) for s in range(4 if quick else samples)]
            found.append(row("terms", f"nested, {name}", n, "size", LEVEL, np.array(every) < LEVEL))
    return found


def rare(quick):
    """The size with few events: x is noise beside a predictor that matters."""
    found = []
    for events in RARE:
        for kernel in ("linear", "rbf"):
            for name, of in (
                ("a number", np.asarray),
                ("a factor", lambda x: np.array(list("uvw"))[np.digitize(x, [-0.4, 0.4])]),
            ):
                every = [rare_pvalue((s, events), events, of, kernel) for s in range(4 if quick else SAMPLES[200])]
                design = f"{events} events of 200 rows, {name}, {kernel}"
                found.append(row("terms", design, 200, "size", LEVEL, np.array(every) < LEVEL))
    for name, n, events, of in SKEWED:
        number = 4 if quick else SAMPLES[200]
        every = joblib.Parallel(2)(joblib.delayed(skewed_pvalue)((s, n, events), of) for s in range(number))
        found.append(row("terms", f"{events} events of {n} rows, {name}", n, "size", LEVEL, np.array(every) < LEVEL))
    return found


def skewed_pvalue(seed, of):
    """Of a number that is skewed, in a sample with so many rows and events on average; by either kernel in turn."""
    rng = np.random.default_rng([*seed, 43])
    a, x = rng.normal(size=(2, seed[1]))
    y = rng.uniform(size=seed[1]) < shifted(a, seed[2])
    data = pd.DataFrame({"a": a, "x": of(x, a), "y": y})
    return tested("y ~ a + x", data, "x", kernel=("linear", "rbf")[seed[0] % 2])


def few(quick):
    """The size with few rows, where x and the response go along one curve over another predictor."""
    found = []
    for what, term, name in FOLLOWING:
        for n in FEW:
            for kernel in ("linear", "rbf"):
                number = 4 if quick else SAMPLES[200]
                work = (joblib.delayed(few_pvalue)((s, n), term, name, kernel) for s in range(number))
                every = joblib.Parallel(2)(work)
                design = f"{what} and the response follow {name}, {kernel}"
                found.append(row("terms", design, n, "size", LEVEL, np.array(every) < LEVEL))
    return found


def few_pvalue(seed, term, name, kernel):
    """Of a term that tells nothing beside what it follows."""
    logit, of = FOLLOWED[name]
    rng = np.random.default_rng([*seed, 73])
    z, v, noise = rng.normal(size=(3, seed[1]))
    y = rng.uniform(size=seed[1]) < 1.0 / (1.0 + np.exp(-logit(z, v)))
    x = of(z) + 0.5 * noise
    g = np.array(list("abc"))[np.digitize(x, [-0.5, 0.5])]
    data = pd.DataFrame({"x": x, "g": g, "z": z, "v": v, "y": y})
    return tested(f"y ~ {term} + z + v", data, term, kernel=kernel)


def curves(quick):
    """The size where the curve is faster, or there are more predictors, than one width for all columns can follow."""
    found = []
    for speed, p in CURVES:
        for n in (100, 200, 400):
            for kernel in ("linear", "rbf"):
                work = (joblib.delayed(curve_pvalue)((s, n, p), speed, kernel) for s in range(4 if quick else 200))
                rejected = np.array(joblib.Parallel(2)(work)) < LEVEL
                design = f"both follow sin({speed} z), z and {p - 1} other predictors, {kernel}"
                found.append(row("terms", design, n, "size", LEVEL, rejected))
    return found


def curve_pvalue(seed, speed, kernel):
    """Of a number x, which tells nothing beside the first of p others; the response depends on the second too."""
    rng = np.random.default_rng([*seed, speed, 79])
    _, n, p = seed
    Z = rng.normal(size=(n, p))
    curve = np.sin(speed * Z[:, 0])
    data = pd.DataFrame(Z, columns=[f"z{j}" for j in range(p)]).assign(x=curve + 0.5 * rng.normal(size=n))
    data["y"] = rng.uniform(size=n) < 1.0 / (1.0 + np.exp(Z[:, 1] - 2.0 * curve))
    return tested("y ~ .", data, "x", kernel=kernel)


def grouped(quick):
    """The size over groups, of equal size and not."""
    found = []
    for G, sizes, whole, tau in GROUPED:
        number = 4 if quick else SAMPLES[200]
        every = joblib.Parallel(2)(joblib.delayed(grouped_pvalue)((s, G), sizes, whole, tau) for s in range(number))
        pvalues, counts, effective = np.array(every).T
        shown = f"groups of {', '.join(map(str, sizes))} rows" if len(sizes) > 1 else f"groups of {sizes[0]} rows"
        design = f"{G} {shown}, as {np.median(effective):.0f} of one size; x by {'group' if whole else 'row'}"
        found.append(row("terms", design, int(np.median(counts)), "size", LEVEL, pvalues < LEVEL))
    return found


def grouped_pvalue(seed, sizes, whole, tau):
    """Of a number of noise, in a sample of groups; the rows, and how many groups of one size these count as."""
    rng = np.random.default_rng([*seed, 47])
    each = rng.choice(sizes, size=seed[1])
    group = np.repeat(np.arange(seed[1]), each)
    a, x = rng.normal(size=(2, len(group)))
    if whole:
        x = rng.normal(size=seed[1])[group]
    eta = a + tau * rng.normal(size=seed[1])[group]
    y = rng.uniform(size=len(group)) < 1.0 / (1.0 + np.exp(-eta))
    data = pd.DataFrame({"a": a, "x": x, "g": group, "y": y})
    pvalue = tested("y ~ a + x", data, "x", groups="g", kernel=("linear", "rbf")[seed[0] % 2])
    return pvalue, len(group), each.sum() ** 2 / (each**2).sum()


def rare_levels(quick):
    """The size of a factor of noise with a rare level, in which few events are to be expected."""
    found = []
    for n, m, events in RARE_LEVELS:
        for kernel in ("linear", "rbf"):
            work = (joblib.delayed(rare_level_pvalue)((s, n, m, events), kernel) for s in range(4 if quick else 400))
            rejected = np.array(joblib.Parallel(2)(work)) < LEVEL
            design = f"{events} events of {n} rows, {m} rows of a level: {m * events / n:.2g} expected; {kernel}"
            found.append(row("terms", design, n, "size", LEVEL, rejected))
    return found


def rare_level_pvalue(seed, kernel):
    """Of a factor with a level of so many rows, beside a number that matters."""
    rng = np.random.default_rng([*seed, 71])
    _, n, m, events = seed
    a = rng.normal(size=n)
    g = np.where(rng.permutation(n) < m, "rare", "often")
    y = rng.uniform(size=n) < shifted(a, events)
    return tested("y ~ a + g", pd.DataFrame({"a": a, "g": g, "y": y}), "g", kernel=kernel)


def others(quick):
    """The size beside many other predictors, and with probability weights that are far from equal."""
    found = []
    for n, p in OTHERS:
        for kernel in ("linear", "rbf"):
            number = 4 if quick else 300
            every = joblib.Parallel(2)(joblib.delayed(beside_others)((s, n, p), kernel) for s in range(number))
            found.append(row("terms", f"{p} other predictors, {kernel}", n, "size", LEVEL, np.array(every) < LEVEL))
    for of, n in WEIGHTED:
        every = joblib.Parallel(2)(joblib.delayed(weighted_pvalue)((s, n), of) for s in range(4 if quick else 300))
        pvalues, counts = np.array(every).T
        design = f"probability weights, as {np.median(counts):.0f} of one size, {of}"
        found.append(row("terms", design, n, "size", LEVEL, pvalues < LEVEL))
    return found


def beside_others(seed, kernel):
    """Of x, in a sample where y and x depend on the mean of the others."""
    rng = np.random.default_rng([*seed, 59])
    _, n, p = seed
    Z = rng.normal(size=(n, p))
    s = Z.sum(axis=1) / np.sqrt(p)
    x = 0.9 * s + np.sqrt(0.19) * rng.normal(size=n)
    data = pd.DataFrame(Z, columns=[f"z{j}" for j in range(p)]).assign(x=x)
    data["y"] = rng.uniform(size=n) < 1.0 / (1.0 + np.exp(-1.5 * s))
    return tested("y ~ .", data, "x", kernel=kernel)


def weighted_pvalue(seed, of):
    """Of x, in a sample with probability weights; and how many rows of one weight these count as."""
    rng = np.random.default_rng([*seed, 61])
    a, x, noise = rng.normal(size=(3, seed[1]))
    w = np.exp(1.5 * (x if of == "weights by x" else noise))
    y = rng.uniform(size=len(a)) < 1.0 / (1.0 + np.exp(-a))
    machine = {"weights": "w", "weight_type": "probability", "kernel": ("linear", "rbf")[seed[0] % 2]}
    return tested("y ~ a + x", pd.DataFrame({"a": a, "x": x, "w": w, "y": y}), "x", **machine), w.sum() ** 2 / (
        w**2
    ).sum()


def many(quick):
    """The size of factors with many levels, by how many rows there are for each degree of freedom."""
    found = []
    for n, K, levels in MANY:
        number = 4 if quick else SAMPLES[200] if n == 200 else 200
        every = joblib.Parallel(2)(joblib.delayed(many_pvalue)((s, n, K), n, K, levels) for s in range(number))
        design = f"{levels} levels, {K} classes, {n / ((levels - 1) * (K - 1)):.0f} rows for each df"
        found.append(row("terms", design, n, "size", LEVEL, np.array(every) < LEVEL))
    return found


def many_pvalue(seed, n, K, levels):
    """Of a factor of noise, in a sample."""
    rng = np.random.default_rng([*seed, 41])
    a, b = rng.normal(size=(2, n))
    data = pd.DataFrame({"a": a, "b": b, "x": np.array([f"l{j}" for j in range(levels)])[rng.integers(levels, size=n)]})
    of_level = np.column_stack([np.zeros(n), a - 0.3, 0.3 * b - 0.5 * a][:K])
    data["y"] = np.array(list("pqr"))[(of_level + rng.gumbel(size=(n, K))).argmax(axis=1)]
    return tested("y ~ a + b + x", data, "x", kernel=("linear", "rbf")[seed[0] % 2])


def rare_pvalue(seed, events, of, kernel):
    """Of x, in a sample with so many events on average; NaN, which is no rejection, where there is no test."""
    rng = np.random.default_rng([*seed, 37])
    a, x = rng.normal(size=(2, 200))
    y = rng.uniform(size=200) < shifted(a, events)
    return tested("y ~ a + x", pd.DataFrame({"a": a, "x": of(x), "y": y}), "x", kernel=kernel)


def shifted(a, events):
    """P(event) whose log odds are a, shifted, in the mean so many in all."""
    eta = a - a.mean()
    shift = brentq(lambda b: (1.0 / (1.0 + np.exp(-eta - b))).sum() - events, -20.0, 20.0)
    return 1.0 / (1.0 + np.exp(-eta - shift))


def nested_pvalue(seed, n, formula, term, column):
    """Of a term that others contain in part, in a sample."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    site, g, h = rng.integers(12, size=n), rng.integers(3, size=n), rng.integers(4, size=n)
    region = site // 4
    logits = {"a": 1.5 * a, "region": np.array([-1.4, 0.0, 1.4])[region], "h": np.array([-1.4, 1.1, -0.6, 2.2])[h]}
    data = pd.DataFrame({"a": a, "b": b, "y": rng.uniform(size=n) < 1.0 / (1.0 + np.exp(-logits[column]))})
    for name, values in {"site": site, "region": region, "g": g, "h": h}.items():
        data[name] = np.array(list("abcdefghijkl"))[values]
    return tested(formula, data, term)


def pvalue(seed, n, K, logit, dependence, effect, machine):
    """Of x, in a sample."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 2))
    x = dependence(Z, rng)
    eta = logit(Z) - logit(Z).mean() + effect * (x - x.mean())
    data = pd.DataFrame({"a": Z[:, 0], "b": Z[:, 1], "x": x if x.dtype.kind == "f" else np.array(list("uvw"))[x]})
    if K == 2:
        data["y"] = rng.uniform(size=n) < 1.0 / (1.0 + np.exp(-eta))
    else:
        of_level = np.column_stack([np.zeros(n), eta, logit(Z[:, ::-1])])
        data["y"] = np.array(list("pqr"))[(of_level + rng.gumbel(size=(n, 3))).argmax(axis=1)]
    return tested("y ~ a + b + x", data, "x", **machine)


def tested(formula, data, term, **machine):
    """The p-value of a term."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return svm(formula, data, **machine).drop1([term]).table["pvalue"].iloc[0]
