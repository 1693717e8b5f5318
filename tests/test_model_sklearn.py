"""Fits against scikit-learn's SVC at tol=1e-10.

libsvm keeps kernel values in single precision: what it solves, however tightly, is a problem whose kernel is off
by 6e-8, and its decision values by that times C times the number of support vectors, times the condition of the
problem. So there are two tables.

* `NAMED`: each program computes the kernel by itself. Costs at which single precision is seen in the sixth digit
  are not in it; those have their reference, refined in double precision, in `test_reference_r.py`.
* `GIVEN`: both get the same gram matrix, with entries that single precision holds exactly, so that any cost can be
  compared. 1e-3 on the diagonal keeps the rounded matrix positive definite.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from levels import by_svc

from svmstat import datasets, svm

# Relative to the larger of 1 and max |f|: what the issue of two certified solutions of one problem allows.
TOL = 1e-6
RIDGE = 1e-3

ENZYMES = "np.log(ast) + np.log(alt) + np.log(gldh)"
MODELS = {
    "mackerel": "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m",
    "liver": f"disease == 'PNC' ~ {ENZYMES}",
    "forest": "cover_type ~ elevation + aspect + slope + wilderness_area1 + wilderness_area3 + soil_type38",
    "synthetic": "y ~ a * b + c + d",
    "ties": "y ~ a + b + c + g",
}


@cache
def load(name):
    rng = np.random.default_rng(4)
    match name:
        case "forest":
            return datasets.load("forest").iloc[::10].reset_index(drop=True)
        case "synthetic":
            data = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
            return data.assign(y=data["a"] * data["b"] + data["c"] + rng.normal(size=200) > 0)
        case "ties":  # rounded numbers and a factor: duplicates, and a singular kernel matrix
            data = pd.DataFrame(rng.integers(0, 3, size=(150, 3)), columns=list("abc"))
            data["g"] = rng.choice(list("pqr"), 150)
            return data.assign(y=data["a"] + data["b"] + 2 * rng.normal(size=150) > 2)
        case "mackerel":
            return datasets.load(name).iloc[::3].reset_index(drop=True)
        case _:
            return datasets.load(name)


def case_weights(n):
    """Fractional and whole numbers, none zero."""
    return np.resize([1.0, 2.0, 0.25, 3.0, 1.5], n)


def fitted(formula, data, costly, weighted, **options):
    """A fit with unequal costs of the two classes, or case weights, or both, and SVC's decision values."""
    if costly:
        levels = (1, 7) if formula == MODELS["forest"] else (False, True)
        options["class_weight"] = dict(zip(levels, (3.0, 0.5), strict=True))
    weights = case_weights(len(data)) if weighted else None
    fit = svm(formula, data, weights=weights, **options)
    assert fit.converged
    assert fit.kkt_violation <= 1e-8
    return fit, by_svc(fit, fit.frame.weights)


def assert_agree(f, g):
    np.testing.assert_allclose(f, g, rtol=0, atol=TOL * max(1.0, np.abs(g).max()))


COSTS = (1e-3, 1e-2, 0.1, 1.0)
NAMED = {  # the largest of the costs at which single precision cannot be seen in six digits
    ("mackerel", "rbf"): 1.0,
    ("mackerel", "linear"): 0.1,
    ("mackerel", "poly"): 0.1,
    ("liver", "rbf"): 1.0,
    ("liver", "linear"): 0.1,
    ("liver", "poly"): 1e-3,
    ("forest", "rbf"): 1.0,
    ("forest", "linear"): 1.0,
    ("forest", "poly"): 0.1,
    ("synthetic", "rbf"): 1.0,
    ("synthetic", "linear"): 1.0,
    ("synthetic", "poly"): 1.0,
    ("ties", "rbf"): 1.0,
    ("ties", "linear"): 0.1,  # with weights SVC stops at 1e7 steps: in single precision K is not positive semidefinite
    ("ties", "poly"): 0.1,
}
DIVERGE = {("ties", "linear")}

unweighted_and_weighted = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "class and case weights"])


@unweighted_and_weighted
@pytest.mark.parametrize(
    ("name", "kernel", "C"),
    [(name, kernel, C) for (name, kernel), most in NAMED.items() for C in COSTS if most >= C],
)
def test_kernels_by_name(name, kernel, C, weighted):
    if weighted and (name, kernel) in DIVERGE:
        pytest.skip("SVC does not converge in 1e7 steps")
    fit, f = fitted(MODELS[name], load(name), weighted, weighted, kernel=kernel, C=C, coef0=1.0)
    assert_agree(fit.decision_values, f)


@pytest.mark.parametrize(("costly", "weighted"), [(True, False), (False, True)])
def test_class_weights_and_case_weights_alone(costly, weighted):
    fit, f = fitted(MODELS["liver"], load("liver"), costly, weighted, C=1.0)
    assert_agree(fit.decision_values, f)


@cache
def given(name, kernel):
    """The gram matrix of a model in numbers of single precision, positive definite, with the response."""
    plain = svm(MODELS[name], load(name).iloc[:: 1 + len(load(name)) // 140], kernel=kernel, coef0=1.0)
    X = plain.frame.X
    K = np.asarray(plain.kernel(X, X))
    K = (K + RIDGE * np.diag(K).mean() * np.eye(len(K))).astype(np.float32).astype(float)
    return pd.DataFrame(np.tril(K) + np.tril(K, -1).T).add_prefix("k").assign(y=plain.frame.y > 0)


@unweighted_and_weighted
@pytest.mark.parametrize("C", [1e-3, 1e-1, 10.0, 1e4])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("name", MODELS)
def test_a_given_gram_matrix(name, kernel, C, weighted):
    fit, f = fitted("y ~ .", given(name, kernel), weighted, weighted, kernel="precomputed", C=C)
    assert_agree(fit.decision_values, f)
