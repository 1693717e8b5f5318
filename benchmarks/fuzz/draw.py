"""Problems from seeds: what is awkward about data, kernels, costs and weights, alone and together.

A seed gives the same problem on every machine: its kind is the seed's place in the list of kinds, all else is drawn
from a generator with that seed.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

RESAMPLING = ("loo", "folds", "gof", "tune")

KINDS: dict[str, dict[str, Any]] = {
    "ordinary": {},
    "equal rows": {"design": ("ties", "copies", "both labels")},
    "singular": {"design": ("wide", "eighty", "collinear"), "kernel": ("any", "gamma", "gram")},
    "kernels": {"kernel": ("gamma", "poly", "gram", "gram", "function")},
    "cost": {"cost": ("extreme",)},
    "weights": {"weights": ("fractions", "zeros", "extreme")},
    "decision": {"decision": ("some", "extreme"), "design": ("normal", "ties", "both labels")},
    "rare": {"labels": ("rare",), "design": ("normal", "ties", "factors")},
    "scales": {"design": ("scales", "offset")},
    "columns": {"design": ("factors", "constant", "missing")},
    "nu": {"form": ("nu",)},
    "nu, awkward": {"form": ("nu",), "design": "all", "labels": "all", "kernel": "all", "weights": "all"},
    "classes": {"classes": (3, 4, 5, 6)},
    "classes, awkward": {
        "classes": (3, 4), "design": "all", "kernel": "all", "cost": "all", "weights": "all", "decision": "all",
    },
    "resampling": {"resample": RESAMPLING},
    "resampling, equal rows": {
        "resample": RESAMPLING, "design": ("ties", "copies", "both labels"),
        "decision": ("none", "some", "some"), "classes": (2, 2, 2, 3), "form": ("C", "C", "nu"),
    },
    "all": {"design": "all", "labels": "all", "kernel": "all", "cost": "all", "weights": "all", "decision": "all"},
    "beyond": {"design": ("normal", "ties", "beyond"), "cost": ("usual", "beyond"), "weights": ("none", "beyond"),
               "decision": ("none", "beyond"), "form": ("C", "C", "nu")},
    "box": {"level": ("box",)},
    "box, awkward": {
        "level": ("box",), "design": "all", "labels": "all", "kernel": "all", "cost": "all", "weights": "all",
    },
    "hulls": {"level": ("box",), "form": ("nu",), "design": "all", "weights": "all"},
}  # fmt: skip
"""What is drawn for each kind of problem where it differs from the usual."""

USUAL = {
    "level": ("model",),
    "design": ("normal", "normal", "ties", "factors"),
    "labels": ("noisy", "random", "separable"),
    "kernel": ("any",),
    "cost": ("usual",),
    "weights": ("none", "none", "counts"),
    "decision": ("none", "none", "none", "some"),
    "form": ("C",),
    "classes": (2,),
    "resample": (None,),
}
EVERYTHING = {
    "design": ("normal", "ties", "copies", "both labels", "wide", "eighty", "collinear", "constant", "factors",
               "missing", "offset", "scales"),
    "labels": ("noisy", "random", "separable", "rare"),
    "kernel": ("any", "any", "gamma", "poly", "gram", "function"),
    "cost": ("usual", "extreme"),
    "weights": ("none", "counts", "fractions", "zeros", "extreme"),
    "decision": ("none", "some", "extreme"),
}  # fmt: skip

_LARGEST_GRAM = 120
"""Rows of a gram matrix that is given: each is a column of a data frame and of a formula."""

_FEW = 40
"""Up to so many rows any problem may be resampled."""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A call of ``svm(formula, data, **options)``; or the problem that it would pose to the solver.

    Attributes
    ----------
    seed : where all of it comes from
    kind : one of `KINDS`
    picked : what was drawn, by part
    resample : which resampling is compared with brute force, None for none
    """

    seed: int
    kind: str
    picked: dict[str, Any]
    formula: str
    data: pd.DataFrame
    options: dict[str, Any] = field(repr=False)
    resample: str | None = None


def kind_of(seed: int) -> str:
    """The kind of the problem that a seed gives."""
    return list(KINDS)[seed % len(KINDS)]


def draw(seed: int) -> Case:
    """The problem of a seed."""
    rng, kind = np.random.default_rng(seed), kind_of(seed)
    picked = {}
    for part, usual in USUAL.items():
        allowed = KINDS[kind].get(part, usual)
        picked[part] = _one(rng, EVERYTHING[part] if allowed == "all" else allowed)
    n = _size(rng, picked)
    data = _predictors(rng, picked["design"], n)
    y = _labels(rng, picked, data)
    if picked["design"] == "both labels":
        data = pd.concat([data, data], ignore_index=True)
        y = np.concatenate([y, (y + 1 + rng.integers(0, picked["classes"] - 1, len(y))) % picked["classes"]])
    options: dict[str, Any] = {"scale": bool(rng.random() < (0.5 if picked["design"] == "scales" else 0.75))}
    options |= _kernel(rng, picked["kernel"])
    if options["kernel"] == "precomputed":
        data, y = _gram(rng, data.iloc[:_LARGEST_GRAM]), y[:_LARGEST_GRAM]
    data["y"] = _response(rng, y)
    if picked["form"] == "nu":
        options["nu"] = _nu(rng, y)
        picked["decision"] = "none"
    else:
        options["C"] = _cost(rng, picked["cost"])
        options |= _decision(rng, picked, data["y"])
    weights = _weights(rng, picked["weights"], y)
    if weights is not None:
        options["weights"] = weights
    formula = "y ~ ." if options["kernel"] == "precomputed" else _formula(rng, data)
    options |= _rest(rng, data)
    if len(data) <= _FEW and rng.random() < 0.2:
        picked["resample"] = picked["resample"] or _one(rng, RESAMPLING)
    return Case(seed, kind, picked, formula, data, options, picked["resample"])


def _one(rng: np.random.Generator, values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def _size(rng: np.random.Generator, picked: dict[str, Any]) -> int:
    """Rows: 4 to 300, the logarithm uniform; few where every row is left out by brute force, many now and then."""
    if picked["resample"]:
        return int(rng.integers(8, 61))
    if picked["labels"] == "rare":
        return int(rng.integers(40, 301))
    if rng.random() < 0.01:
        return int(rng.integers(500, 1001))
    return round(float(np.exp(rng.uniform(np.log(4), np.log(300)))))


def _named(columns: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(columns, columns=[f"x{k}" for k in range(columns.shape[1])])


def _predictors(rng: np.random.Generator, design: str, n: int) -> pd.DataFrame:
    p = int(rng.integers(1, 7))
    normal = rng.normal(size=(n, p))
    match design:
        case "normal":
            return _named(normal)
        case "ties":
            return _named(rng.integers(0, int(rng.integers(2, 5)), size=(n, min(p, 3))).astype(float))
        case "copies":
            return _named(normal[rng.integers(0, max(2, n // int(rng.integers(2, 8))), n)])
        case "both labels":
            part = rng.integers(0, 4, size=(n, 2)).astype(float) if rng.random() < 0.5 else normal
            return _named(part[: max(3, n // 2)])
        case "wide":
            return _named(rng.normal(size=(min(n, 80), min(n, 80) + int(rng.integers(0, 40)))))
        case "eighty":
            return _named(rng.normal(size=(n, 80)))
        case "collinear":
            return _named(normal @ rng.integers(-2, 3, size=(p, p + 3)))
        case "constant":
            return _named(np.column_stack([normal, np.full(n, rng.normal() * 10.0 ** rng.integers(-9, 10))]))
        case "factors":
            return _factors(rng, normal)
        case "missing":
            normal[rng.random(normal.shape) < 0.1] = np.nan
            return _factors(rng, normal) if rng.random() < 0.5 else _named(normal)
        case "offset":
            return _named(normal + 10.0 ** rng.uniform(2, 12))
        case "beyond":
            return _named(normal * 10.0 ** rng.choice([-320.0, -160.0, 152.0, 155.0, 160.0, 307.0]))
        case "scales":
            each = rng.uniform(-150, 150, p if rng.random() < 0.5 else 1)
            if rng.random() < 0.5:
                each = rng.uniform(-12, 12, 1)
            rows = rng.integers(0, n, n) if rng.random() < 0.3 else np.arange(n)
            return _named((normal * 10.0**each)[rows])
    raise ValueError(design)


def _factors(rng: np.random.Generator, normal: np.ndarray) -> pd.DataFrame:
    """Columns of text, categories and truth values beside numbers."""
    n = len(normal)
    data = _named(normal[:, : int(rng.integers(0, 3))])
    levels = int(_one(rng, (2, 3, 5, max(2, n // 3))))
    codes = rng.integers(0, levels, n)
    data["g"] = pd.Categorical([f"level {k}" for k in codes]) if rng.random() < 0.5 else [f"l{k}" for k in codes]
    if rng.random() < 0.5:
        data["t"] = rng.random(n) < 0.3
    if rng.random() < 0.3:
        data["h"] = np.where(rng.random(n) < 0.1, None, rng.choice(["north", "south"], n))
    return data


def _labels(rng: np.random.Generator, picked: dict[str, Any], data: pd.DataFrame) -> np.ndarray:
    """(n,) classes 0 … K − 1; the first rows have one each."""
    n, classes = len(data), picked["classes"]
    numbers = data.select_dtypes("number").to_numpy(float)
    with np.errstate(all="ignore"):
        numbers = np.nan_to_num((numbers - np.nanmean(numbers, axis=0)) / np.nanstd(numbers, axis=0))
        score = numbers @ rng.normal(size=numbers.shape[1]) if numbers.shape[1] else np.zeros(n)
    if picked["labels"] == "noisy":
        score = score + rng.normal(size=n) * rng.uniform(0.2, 2.0)
    share = rng.uniform(0.2, 0.8)
    with np.errstate(all="ignore"):  # a score may be infinite
        y = _classes(rng, picked["labels"], score, share, classes)
    y[:classes] = np.arange(min(classes, n))
    return y


def _classes(rng: np.random.Generator, labels: str, score: np.ndarray, share: float, classes: int) -> np.ndarray:
    match labels:
        case "random":
            return rng.integers(0, classes, len(score))
        case "rare":
            return np.where(rng.random(len(score)) < 1 / 200, rng.integers(1, classes, len(score)), 0)
        case _ if classes == 2:
            return (score > np.quantile(score, share)).astype(int)
    return np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def _response(rng: np.random.Generator, y: np.ndarray) -> Any:
    match int(rng.integers(4)):
        case 0 if y.max() == 1:
            return y == 1
        case 1:
            return y
        case 2:
            return pd.Categorical([f"class {k}" for k in y])
        case _:
            return np.array(list("abcdef"))[y]


def laplacian(X, Z):
    return np.exp(-0.5 * np.abs(X[:, None, :] - Z[None, :, :]).sum(axis=2))


def indefinite(X, Z):
    return np.tanh(X @ Z.T - 1.0)


def nothing(X, Z):
    return np.zeros((len(X), len(Z)))


def wide(X, Z):
    return 1.0 + 1e-9 * np.exp(-((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2))


FUNCTIONS = (laplacian, laplacian, indefinite, nothing, wide)


def _kernel(rng: np.random.Generator, what: str) -> dict[str, Any]:
    degree = int(rng.integers(1, 6))
    coef0 = float(_one(rng, (0.0, 1.0, 1.0, -0.5)))
    match what:
        case "gram":
            return {"kernel": "precomputed"}
        case "function":
            return {"kernel": _one(rng, FUNCTIONS)}
        case "poly":
            return {"kernel": "poly", "degree": degree, "coef0": coef0, "gamma": float(10.0 ** rng.uniform(-3, 2))}
        case "gamma":
            name = _one(rng, ("rbf", "rbf", "poly"))
            reach = 12 if name == "rbf" else 4
            return {"kernel": name, "degree": degree, "coef0": coef0, "gamma": float(10.0 ** rng.uniform(-reach, 6))}
    gamma = _one(rng, ("scale", "median", float(10.0 ** rng.uniform(-2, 1))))
    return {"kernel": _one(rng, ("rbf", "rbf", "linear", "poly", "spline")), "degree": degree, "gamma": gamma,
            "coef0": max(coef0, 0.0)}  # fmt: skip


def _gram(rng: np.random.Generator, data: pd.DataFrame) -> pd.DataFrame:
    """The gram matrix of the numbers in the data as columns: definite, near-singular or slightly indefinite."""
    X = data.select_dtypes("number").to_numpy(float)
    X = np.nan_to_num(X, nan=0.0)
    n = len(X)
    with np.errstate(all="ignore"):
        K = np.nan_to_num(X @ X.T, posinf=1e300, neginf=-1e300)
    match int(rng.integers(5)):
        case 0:
            spread = np.nan_to_num(np.maximum(K.diagonal()[:, None] + K.diagonal() - 2 * K, 0.0), posinf=1e300)
            K = np.exp(-(10.0 ** rng.uniform(-10, 1)) * spread)
        case 1:
            K = K + 10.0 ** rng.uniform(-12, -2) * np.abs(K).max() * np.eye(n)
        case 2:
            noise = rng.normal(size=(n, n))
            K = K + 10.0 ** rng.uniform(-14, -5) * np.abs(K).max() * (noise + noise.T)
        case 3:
            K = K * 10.0 ** rng.uniform(-20, 20)
    K = 0.5 * K + 0.5 * K.T
    return pd.DataFrame(K, columns=[f"k{j}" for j in range(n)])


def _nu(rng: np.random.Generator, y: np.ndarray) -> Any:
    if rng.random() < 0.6:
        return tuple(float(v) for v in np.round(rng.uniform(0.02, 1.0, 2), 3))
    most = 2.0 * min((y == 1).mean(), (y == 0).mean())
    return float(most * _one(rng, (0.1, 0.5, 0.9, 1.0, rng.uniform(0.01, 1.05))))


def _cost(rng: np.random.Generator, what: str) -> float:
    reach = {"usual": (-2.0, 3.0), "extreme": (-8.0, 8.0), "beyond": (-308.0, 308.0)}
    return float(10.0 ** rng.uniform(*reach[what]))


def _decision(rng: np.random.Generator, picked: dict[str, Any], y: pd.Series) -> dict[str, Any]:
    """Loss, class weights, costs and priors."""
    if picked["decision"] == "none":
        return {"loss": "p0"} if rng.random() < 0.1 else {}
    reach = {"some": 1.0, "extreme": 6.0, "beyond": 308.0}[picked["decision"]]
    levels = pd.unique(y).tolist()
    factor = lambda: float(10.0 ** rng.uniform(-reach, reach))  # noqa: E731
    found: dict[str, Any] = {"loss": _one(rng, ("hinge", "p0"))}
    match int(rng.integers(4)):
        case 0:
            found["class_weight"] = {level: factor() for level in levels}
        case 1:
            found["class_weight"] = "balanced"
        case 2 if len(levels) == 2:
            found["costs"] = {"fp": factor(), "fn": factor()}
        case _:
            shares = rng.dirichlet(np.full(len(levels), 2.0 if reach == 1.0 else 0.3)) + 1e-9
            found["priors"] = dict(zip(levels, (shares / shares.sum()).tolist(), strict=True))
    return found


def _weights(rng: np.random.Generator, what: str, y: np.ndarray) -> np.ndarray | None:
    n = len(y)
    match what:
        case "none":
            return None
        case "counts":
            return rng.integers(1, 5, n).astype(float)
        case "fractions":
            return rng.uniform(0.0, 2.0, n)
        case "zeros":
            w = np.where(rng.random(n) < 0.4, 0.0, rng.uniform(0.5, 3.0, n))
            w[: y.max() + 1] = 1.0
            return w
        case "beyond":
            return 10.0 ** rng.choice([-300.0, -20.0, 0.0, 20.0, 300.0], n)
        case _:
            return 10.0 ** (rng.uniform(-12, 12, n) if rng.random() < 0.5 else rng.choice([-12.0, 0.0, 12.0], n))


def _formula(rng: np.random.Generator, data: pd.DataFrame) -> str:
    names = [name for name in data.columns if name != "y"]
    factors = [name for name in names if name in "gth"]
    if len(names) > 10 or rng.random() < 0.6:
        return "y ~ ."
    terms = list(names)
    if len(names) > 1 and rng.random() < 0.5:
        terms.append(f"{names[0]}:{names[-1]}")
    if factors and rng.random() < 0.3:
        terms.append(f"C({factors[0]})")
    return "y ~ " + " + ".join(terms)


def _rest(rng: np.random.Generator, data: pd.DataFrame) -> dict[str, Any]:
    """Subset, event, calibration, coupling: rarely."""
    found: dict[str, Any] = {}
    if rng.random() < 0.1:
        found["subset"] = rng.random(len(data)) < 0.8
    if rng.random() < 0.1:
        found["calibration"] = "loo"
    levels = pd.unique(data["y"]).tolist()
    if rng.random() < 0.1 and len(levels) == 2:
        found["event"] = levels[0]
    if rng.random() < 0.2 and len(levels) > 2:
        found["coupling"] = "hastie-tibshirani"
    return found
