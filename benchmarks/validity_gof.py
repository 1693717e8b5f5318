"""Do the tests of the fit keep their level, and what do they find? Samples from probabilities that are known.

"own" draws responses from the probabilities that a fit to other data reports, so that H0 of the residual test holds as
nearly as it can; "logistic" from logistic models, which a machine's probabilities only approach; "interaction" from one
that a linear kernel cannot see.
"""

import warnings
from ast import literal_eval
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import joblib
import numpy as np
import pandas as pd
from scipy.spatial.distance import pdist
from scipy.special import expit, logit, softmax
from sklearn.datasets import load_iris

from benchmarks.known import FLEXIBLE, LBW, low_birth_weight
from svmstat import svm, tune
from svmstat.errors import SvmstatWarning

B, LEVEL = 99, 0.05
LINEAR, SMOOTH, DEFAULT = {"kernel": "linear"}, {"C": 1.0, "gamma": 0.2}, {}
GRID = {"C": [0.25, 2.0, 16.0], "gamma": [0.1, 0.6]}


UNEQUAL = {"costs 1 : 5": {"costs": {"fp": 1.0, "fn": 5.0}}, "priors 1 : 4": {"priors": {False: 0.8, True: 0.2}}}


@dataclass(frozen=True, slots=True)
class Design:
    """Where samples come from, and what is fitted to them.

    Attributes
    ----------
    truth, name : what the responses are drawn from, and the machine
    n : rows
    frame : n → predictors, and probabilities (n, K) of the labels 0 … K − 1, unless they are a fit's own
    options : of the machine
    formula : its formula
    tuned : whether its cost and width are searched, also in every replicate
    """

    truth: str
    name: str
    n: int
    frame: Callable[[int], tuple[pd.DataFrame, Any]]
    options: dict[str, Any] = field(default_factory=dict)
    formula: str = "y ~ x + z"
    tuned: bool = False


def _points(n: int) -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(1).normal(size=(n, 2)), columns=["x", "z"])


def _two(p: Any) -> Any:
    return np.column_stack([1.0 - p, p])


def curved(n: int) -> tuple[pd.DataFrame, Any]:
    data = _points(n)
    return data, _two(expit(2.0 * data.x - data.z**2 + 1.0))


def straight(n: int) -> tuple[pd.DataFrame, Any]:
    data = _points(n)
    return data, _two(expit(1.5 * data.x - data.z))


def slight(n: int) -> tuple[pd.DataFrame, Any]:
    data = _points(n)
    return data, _two(expit(1.0 * data.x - 0.7 * data.z))


def crossed(n: int) -> tuple[pd.DataFrame, Any]:
    data = _points(n)
    return data, _two(expit(2.5 * data.x * data.z))


def three(n: int) -> tuple[pd.DataFrame, Any]:
    data = _points(n)
    return data, softmax(np.column_stack([1.5 * data.x, 1.5 * data.z, np.zeros(n)]), axis=1)


def three_crossed(n: int) -> tuple[pd.DataFrame, Any]:
    data = _points(n)
    return data, softmax(np.column_stack([2.5 * data.x * data.z, -2.5 * data.x * data.z, np.zeros(n)]), axis=1)


def iris(_: int) -> tuple[pd.DataFrame, Any]:
    """Fisher's irises, and which level each is."""
    known = load_iris()
    return pd.DataFrame(known.data, columns=["sl", "sw", "pl", "pw"]), np.eye(3)[known.target]


def births(n: int) -> tuple[pd.DataFrame, Any]:
    """Low birth weight: the predictors (drawn again and shaken for more rows), and the logistic model of the data."""
    data = low_birth_weight()
    if n > len(data):
        rng = np.random.default_rng(5)
        data = data.iloc[rng.integers(len(data), size=n)].reset_index(drop=True)
        data = data.assign(age=data.age + rng.normal(size=n), lwt=data.lwt + 5.0 * rng.normal(size=n))
    data = data.iloc[:n].copy()
    data["race"] = data["race"].astype(str)
    data["smoke"] = data["smoke"].astype(str)
    eta = 0.48 - 0.03 * data.age - 0.015 * data.lwt + 1.27 * (data.race == "black") + 0.88 * (data.race == "other")
    smokes = data.smoke.str.lower().isin(["1", "1.0", "smoker", "yes"])
    return data.drop(columns=["low"]), _two(
        expit(eta + 0.94 * smokes + 0.54 * data.ptl + 1.86 * data.ht + 0.77 * data.ui)
    )


def designs() -> list[Design]:
    """Those of some 200 rows."""
    own = [
        Design("own", "linear", 200, straight, LINEAR),
        Design("own", "smooth", 200, curved, SMOOTH),
        Design("own", "flexible", 200, curved, FLEXIBLE),
        Design("own", "factors, default", 189, births, DEFAULT, LBW),
        Design("own", "tuned", 200, curved, GRID, tuned=True),
        Design("own", "three levels, smooth", 200, three, SMOOTH),
        Design("own", "irises, default", 150, iris, DEFAULT, "y ~ sl + sw + pl + pw"),
    ]
    others = [
        Design("logistic", "linear", 200, straight, LINEAR),
        Design("logistic", "smooth", 200, curved, SMOOTH),
        Design("logistic", "flexible", 200, curved, FLEXIBLE),
        Design("logistic", "factors, linear", 189, births, LINEAR, LBW),
        Design("logistic", "three levels, smooth", 200, three, SMOOTH),
        Design("interaction", "linear", 200, crossed, LINEAR),
        Design("interaction", "three levels, linear", 200, three_crossed, LINEAR),
    ]
    return [*own, *others]


def large_designs() -> list[Design]:
    return [
        Design("own", "linear", 634, straight, LINEAR),
        Design("own", "smooth", 634, curved, SMOOTH),
        Design("own", "flexible", 634, curved, FLEXIBLE),
        Design("own", "factors, default", 634, births, DEFAULT, LBW),
        Design("own", "tuned", 634, curved, GRID, tuned=True),
        Design("own", "three levels, smooth", 634, three, SMOOTH),
        Design("interaction", "linear", 634, crossed, LINEAR),
    ]


def _population(design: Design, seed: int = 2) -> Any:
    """Predictors, and the probabilities (n, K) that labels are drawn from."""
    own, machine = design.truth == "own", repr(_machine(design))  # what a cache can know it by
    return _known(design.frame, design.n, own, design.formula, machine, seed)


def _machine(design: Design) -> dict[str, Any]:
    """That of which the probabilities may be."""
    return {name: values[1] for name, values in design.options.items()} if design.tuned else design.options


@cache
def _known(
    frame: Any, n: int, own: bool, formula: str, options: str, seed: int
) -> Any:  # fmt: skip
    data, p = frame(n)
    if own:
        drawn = data.assign(y=_labels(p, np.random.default_rng(seed)))
        fit = svm(formula.replace("low", "y", 1), drawn, **literal_eval(options))
        p = fit.fittedvalues.to_numpy()
        p = _two(p) if p.ndim == 1 else p
    return data, p


def _labels(p: Any, rng: np.random.Generator) -> Any:
    return (rng.random(len(p))[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)


@dataclass(frozen=True, slots=True)
class Samples:
    """How many samples have the residual test, and how many of these [003]'s tests."""

    residual: int
    deviance: int


def one_sample(design: Design, samples: Samples, seed: int) -> dict[str, float]:
    """What the tests say of one sample, by name."""
    fit = _fit(design, seed)
    found = {"residual": fit.gof(B=B, rng=seed).pvalue <= LEVEL}
    if design.tuned:
        found["residual, tuned in each"] = fit.gof(B=B, rng=seed, retune=True).pvalue <= LEVEL
    if seed < samples.deviance:
        found |= {method: fit.gof(B=B, method=method, rng=seed).reject for method in ("pairs", "parametric")}
    return found


def _fit(design: Design, seed: int, population: int = 2) -> Any:
    """The fit, or the best of a search, to a sample from one population or another."""
    data, p = _population(design, population)
    drawn = data.assign(y=_labels(p, np.random.default_rng([seed, 3])))
    formula = design.formula.replace("low", "y", 1)
    return tune(formula, drawn, **design.options).best if design.tuned else svm(formula, drawn, **design.options)


def beyond(design: Design, seed: int, population: int = 2) -> dict[str, float]:
    """Whether a row of one sample is above the envelope of each measure of influence."""
    influence = _fit(design, seed, population).get_influence()
    influence.envelope(rng=seed)
    return dict(influence.beyond().any())


def envelopes(quick: bool) -> list[dict[str, Any]]:
    """In how many samples from the probabilities of a fit some row is above an envelope of 95 %."""
    table: list[dict[str, Any]] = []
    for design in designs() if quick else [*designs(), *large_designs()]:
        if design.truth == "own" and not design.tuned:
            found = _all(partial(beyond, design), 20 if quick else 240 if design.n <= 200 else 90)
            table += rates(design.truth, design.name, design.n, found)
    return table


def uneven_envelopes(quick: bool) -> list[dict[str, Any]]:
    """The same by measure where one row in five or so is an event, or the cost is large, in samples of several fits."""
    rare = [Design("own", f"default, {name}", 130, columns) for name, columns in RARE.items()]
    return _envelopes_of_fits([*rare, Design("own", "weak signal, C = 100", 120, slight, {"C": 100.0})], quick)


def weighed_envelopes(quick: bool) -> list[dict[str, Any]]:
    """The same where costs or priors weigh the levels."""
    return _envelopes_of_fits([Design("own", name, 120, straight, options) for name, options in UNEQUAL.items()], quick)


def _envelopes_of_fits(of: list[Design], quick: bool) -> list[dict[str, Any]]:
    table: list[dict[str, Any]] = []
    for design in of:
        for population in range(2, 4 if quick else 7):
            p = _population(design, population)[1][:, 1]
            found = _all(partial(beyond, design, population=population), 20 if quick else 80)
            shares = {name: _rate([each[name] for each in found]) for name in found[0]}
            table.append(
                {
                    "design": design.name, "n": design.n, "fit": population, "mean p": float(p.mean()),
                    "samples": len(found), **{name: share["rate"] for name, share in shares.items()},
                    "largest se": max(share["se"] for share in shares.values()),
                }
            )  # fmt: skip
    return table


def of_fit(design: Design, population: int, seed: int) -> bool:
    """Whether the test rejects a machine for a sample from the probabilities of one of several fits by it."""
    return bool(_fit(design, seed, population).gof(B=B, rng=seed).pvalue <= LEVEL)


def populations(quick: bool) -> list[dict[str, Any]]:
    """The size of the residual test where the truth is the probabilities of one fit or another, which tell little."""
    weak = [Design("own", "weak signal, C = 100", 120, slight, {"C": 100.0})]
    known = [Design("own", "factors, default", n, births, DEFAULT, LBW) for n in ((189,) if quick else (189, 634))]
    table: list[dict[str, Any]] = []
    for design in [*known, *weak]:
        for population in range(2, 4 if quick else 10):
            p = _population(design, population)[1][:, 1]
            sd, rejected = float(logit(p).std()), _all(partial(of_fit, design, population), 20 if quick else 60)
            table.append(
                {"design": design.name, "n": design.n, "fit": population, "sd of log odds": sd, **_rate(rejected)}
            )
    return table


def uneven(quick: bool) -> list[dict[str, Any]]:
    """The size where one row in five is an event and columns have heavy tails; every sample has a fit of its own."""
    machines = {"default": {}, "C = 10": {"C": 10.0}, "linear": LINEAR}
    table: list[dict[str, Any]] = []
    for name, options in machines.items():
        for n in (120, 240):
            found = _all(partial(of_own_fit, heavy_three, n, options), 20 if quick else 300)
            table.append({"fit": f"one in five, t(3) columns, {name}", "n": n, **_rate(found)})
    return table


def others(quick: bool) -> list[dict[str, Any]]:
    """The size for predictors of few values, and for costs and priors that are not equal; as in `uneven`."""
    chosen = [
        (f"{columns}, {name}", n, frame, options)
        for n in (120, 240)
        for columns, frame in {"two factors of 3 levels": two_factors, "four factors of 2 levels": four_factors}.items()
        for name, options in {"default": {}, "linear": LINEAR}.items()
    ] + [(f"normal columns, {name}", 120, normal_three, options) for name, options in UNEQUAL.items()]
    table: list[dict[str, Any]] = []
    for name, n, frame, options in chosen:
        found = _all(partial(of_own_fit, frame, n, options), 20 if quick else 300)
        table.append({"fit": name, "n": n, **_rate(found)})
    return table


def rare(quick: bool) -> list[dict[str, Any]]:
    """The size where the truth is the probabilities of one default fit or another, with one event in six or so."""
    table: list[dict[str, Any]] = []
    for name, columns in RARE.items():
        for population in range(2, 4 if quick else 10):
            design = Design("own", name, 130, columns)
            p = _population(design, population)[1][:, 1]
            rejected = _all(partial(of_fit, design, population), 20 if quick else 100)
            known = {"mean p": float(p.mean()), "sd of log odds": float(logit(p).std())}
            table.append({"design": f"default, {name}", "n": 130, "fit": population, **known, **_rate(rejected)})
    return table


def normal_pair(n: int) -> tuple[pd.DataFrame, Any]:
    data = _points(n)
    return data, _two(expit(data.x - data.z - 2.0))


def heavy_pair(n: int) -> tuple[pd.DataFrame, Any]:
    data = pd.DataFrame(np.random.default_rng(1).standard_t(3, size=(n, 2)), columns=["x", "z"])
    return data, _two(expit(data.x - data.z - 2.0))


RARE = {"normal columns": normal_pair, "t(3) columns": heavy_pair}


def of_own_fit(frame: Any, n: int, options: dict[str, Any], seed: int) -> bool:
    """Whether the test rejects a machine for labels drawn from the probabilities of a fit to other labels."""
    rng = np.random.default_rng([seed, n, 8])
    data, p = frame(rng, n)
    first = data.assign(y=_drawn_twice(rng, p))
    p = svm("y ~ .", first, **options).fittedvalues.to_numpy()
    return bool(svm("y ~ .", data.assign(y=_drawn_twice(rng, p)), **options).gof(B=B, rng=seed).pvalue <= LEVEL)


def heavy_three(rng: np.random.Generator, n: int) -> tuple[pd.DataFrame, Any]:
    X = rng.standard_t(3, size=(n, 3))
    return pd.DataFrame(X, columns=["u", "v", "w"]), expit(X[:, 0] - X[:, 1] - 2.0)


def normal_three(rng: np.random.Generator, n: int) -> tuple[pd.DataFrame, Any]:
    X = rng.normal(size=(n, 3))
    return pd.DataFrame(X, columns=["u", "v", "w"]), expit(X[:, 0] - X[:, 1])


def two_factors(rng: np.random.Generator, n: int) -> tuple[pd.DataFrame, Any]:
    level = rng.integers(3, size=(n, 2))
    data = pd.DataFrame({"u": np.array(["a", "b", "c"])[level[:, 0]], "v": np.array(["a", "b", "c"])[level[:, 1]]})
    return data, expit(level[:, 0] - level[:, 1])


def four_factors(rng: np.random.Generator, n: int) -> tuple[pd.DataFrame, Any]:
    level = rng.integers(2, size=(n, 4))
    data = pd.DataFrame(np.array(["no", "yes"])[level], columns=["s", "t", "u", "v"])
    return data, expit(1.5 * level[:, 0] - level[:, 1] - 0.25)


def _drawn_twice(rng: np.random.Generator, p: Any) -> Any:
    """Labels with five of each at least, drawn again until they have these."""
    while True:
        y = rng.random(len(p)) < p
        if 5 <= y.sum() <= len(y) - 5:
            return y


def waves(n: int, length: float, seed: int) -> bool:
    """Whether the test finds, with a linear kernel, that the log odds go up and down along x, once in each length."""
    data = _points(n)
    y = np.random.default_rng([seed, 6]).random(n) < expit(3.0 * np.sin(2.0 * np.pi * data.x / length))
    return bool(svm("y ~ x + z", data.assign(y=y), **LINEAR).gof(B=B, rng=seed).pvalue <= LEVEL)


def scales(quick: bool) -> list[dict[str, Any]]:
    """How fine structure may be that the residual test finds, against the median distance between rows."""
    table: list[dict[str, Any]] = []
    for n, samples in ((200, 20),) if quick else ((200, 100), (634, 40)):
        points = _points(n)
        distance = float(np.median(pdist((points - points.mean()) / points.std(), "euclidean")))
        for length in (6.0, 3.0, 2.0, 1.0, 0.5):
            found = _all(partial(waves, n, length), samples)
            table.append({"n": n, "length": length, "length / median distance": length / distance, **_rate(found)})
    return table


def permuted_sample(n: int, seed: int) -> dict[str, float]:
    """Whether the permutation test sees an association that is not there."""
    drawn = _points(n).assign(y=np.random.default_rng([seed, 4]).random(n) < 0.4)
    return {"permutation test": svm("y ~ x + z", drawn, **SMOOTH).permutation_test(B=39, rng=seed).pvalue <= LEVEL}


def _rate(each: list[Any]) -> dict[str, Any]:
    """A share of samples and its Monte Carlo standard error."""
    rate, samples = float(np.mean(each)), len(each)
    se = float(np.sqrt(max(rate * (1.0 - rate), 1.0 / samples**2) / samples))
    return {"samples": samples, "rate": rate, "se": se}


def rates(truth: str, name: str, n: int, found: list[dict[str, float]]) -> Iterator[dict[str, Any]]:
    """A row for each test."""
    for test in found[0]:
        each = [sample[test] for sample in found if test in sample]
        yield {"test": test, "truth": truth, "fit": name, "n": n, **_rate(each)}


def rows(quick: bool) -> list[dict[str, Any]]:
    """Rejection rates at level 0.05 of the tests of the fit, with some 200 rows; ``quick`` has fewer samples."""
    no_signal = _all(partial(permuted_sample, 100), 40 if quick else 200)
    return [*_rejected(designs(), quick), *rates("no association", "smooth", 100, no_signal)]


def large(quick: bool) -> list[dict[str, Any]]:
    """The same with 634 rows."""
    return _rejected(large_designs(), quick)


def _rejected(of: list[Design], quick: bool) -> list[dict[str, Any]]:
    table: list[dict[str, Any]] = []
    for design in of:
        samples = _samples(quick, design)
        found = _all(partial(one_sample, design, samples), samples.residual)
        table += rates(design.truth, design.name, design.n, found)
    return table


def _all(sample: Callable[[int], Any], samples: int) -> list[Any]:
    """The samples, on all cores."""
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        found = joblib.Parallel(n_jobs=-1)(joblib.delayed(_quietly)(sample, seed) for seed in range(samples))
    return list(found)


def _samples(quick: bool, design: Design) -> Samples:
    if quick:
        return Samples(20, 20)
    size = design.truth == "own"
    if design.tuned:
        return Samples(200 if design.n <= 200 else 60, 0)
    if design.n > 200:
        return Samples(160, 6) if size else Samples(40, 10)
    return Samples(300, 40) if size else Samples(60, 20)


def _quietly(sample: Callable[[int], Any], seed: int) -> Any:
    """A sample; what it warns of is not of interest here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SvmstatWarning)
        return sample(seed)
