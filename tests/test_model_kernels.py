"""Kernels as a user passes them: by name, as objects, added, scaled, on terms; and what a fit offers with them."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest

from svmstat import svm
from svmstat.errors import ArgumentError
from svmstat.kernels import (
    RBF,
    Centred,
    CustomKernel,
    Laplace,
    Linear,
    Polynomial,
    Precomputed,
    Spline,
    gram,
)
from svmstat.report import report

TOL = 1e-6  # two certified fits of one problem, relative to the largest value


def sample(n=90, seed=4, levels=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(2)
    score = X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.6 * rng.normal(size=n)
    y = np.digitize(score, np.quantile(score, np.arange(1, levels) / levels))
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "g": rng.choice(list("uvw"), n), "y": y})


DATA, THREE = sample(), sample(120, 5, levels=3)
PARTS = Linear() + 0.5 * RBF(gamma=0.3) + 0.25 * Laplace(gamma=0.2)


def close(found, expected, tol=TOL):
    found, expected = np.asarray(found), np.asarray(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tol * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        (Linear(), {"kernel": "linear"}),
        (RBF(), {}),
        (RBF(0.3), {"kernel": "rbf", "gamma": 0.3}),
        (RBF(gamma="median"), {"gamma": "median"}),
        (Polynomial(0.5, coef0=1, degree=2), {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1}),
        (Polynomial(), {"kernel": "poly"}),
        (Spline(), {"kernel": "spline"}),
        (Laplace("median"), {"kernel": "laplace", "gamma": "median"}),
    ],
    ids=repr,
)
@pytest.mark.parametrize("data", [DATA, THREE], ids=["two", "three"])
def test_an_object_and_its_name_are_the_same_fit_bit_for_bit(kernel, options, data):
    one, other = svm("y ~ a + b + g", data, kernel=kernel), svm("y ~ a + b + g", data, **options)
    assert one.kernel == other.kernel
    assert (one.kernel_name, one.kernel_parameters) == (other.kernel_name, other.kernel_parameters)
    np.testing.assert_array_equal(one.decision_values, other.decision_values)
    np.testing.assert_array_equal(one.predict_proba(data.head()), other.predict_proba(data.head()))
    said, as_well = (" ".join(str(fit.summary()).split()).partition("By the data: tune(")[0] for fit in (one, other))
    assert said == as_well


@pytest.mark.parametrize("levels", [2, 3])
def test_distances_are_a_kernel_but_for_their_sign(levels):
    """−‖x − z‖ has negative eigenvalues, none of them where Σβ = 0: no warning, and the fit by K about its means."""
    x = DATA[["a", "b"]].to_numpy()
    K = -np.sqrt(((x[:, None] - x) ** 2).sum(axis=2))
    means = K.mean(axis=0)
    y = np.digitize(x[:, 0] + np.random.default_rng(1).normal(size=len(x)), [0.0, 0.8][: levels - 1])
    plain, centred = (
        svm("y ~ .", pd.DataFrame(each).assign(y=y), kernel="precomputed")
        for each in (K, K - means - means[:, None] + means.mean())
    )
    assert plain.is_convex and plain.converged
    np.testing.assert_allclose(plain.decision_values, centred.decision_values, rtol=0, atol=1e-9)
    np.testing.assert_allclose(plain.loo().values, centred.loo().values, rtol=0, atol=1e-9)
    if levels == 2:
        assert plain.gacv() == pytest.approx(centred.gacv(), rel=1e-9)
        assert pickle.loads(pickle.dumps(plain)).gacv() == plain.gacv()
    assert "negative eigenvalues" not in str(plain.summary())


def away(X, Z):
    """The logarithm of a Student t density but for constants: zero at distance zero and negative beyond."""
    return -np.log1p(((X[:, None] - Z) ** 2).sum(axis=2))


def apart(X, Z):
    return -np.abs(X - Z.T)


@pytest.mark.parametrize("kernel", [away, apart])
@pytest.mark.parametrize("C", [1.0, 40.0, 2000.0])
def test_a_constant_in_a_kernel_makes_no_difference(kernel, C):
    """It had to the digits: where K_ii are 0 bounds on rounding were, and free rows counted as dependent."""
    rng = np.random.default_rng(0)
    x = np.exp(1.5 * rng.normal(size=200))
    data = pd.DataFrame({"x": x, "y": 2.0 * (x - x.mean()) / x.std() + rng.logistic(size=200) > 0})
    plain, raised = (svm("y ~ x", data, kernel=each, C=C) for each in (kernel, lambda X, Z: 25.0 + kernel(X, Z)))
    assert plain.is_convex and raised.is_convex and plain.converged and raised.converged
    assert plain.intercept == pytest.approx(raised.intercept, abs=1e-7)
    near = 1e-9 * max(1.0, plain.decision_values.abs().max())
    np.testing.assert_allclose(plain.decision_values, raised.decision_values, rtol=0, atol=near)
    np.testing.assert_allclose(plain.decision_function(data), plain.decision_values, rtol=0, atol=near)
    one, other = plain.loo(), raised.loo()
    assert max(one.n_rescued, other.n_rescued) <= 6 and one.n_failed == other.n_failed == 0
    np.testing.assert_allclose(one.values, other.values, rtol=0, atol=1e3 * near)
    folds = np.arange(200) % 5
    np.testing.assert_allclose(plain.kfold(folds).values, raised.kfold(folds).values, rtol=0, atol=1e3 * near)


@pytest.mark.filterwarnings("ignore:the kernel matrix has clearly negative eigenvalues")
def test_a_constant_does_not_hide_what_is_not_convex():
    x = DATA[["a", "b"]].to_numpy()
    for constant in (0.0, 1e7, 1e9):
        K = np.tanh(x @ x.T - 0.5) + constant
        assert not svm("y ~ .", pd.DataFrame(K).assign(y=DATA["y"]), kernel="precomputed").is_convex


def test_a_precomputed_kernel_that_is_passed():
    K = pd.DataFrame(gram(RBF(0.4), DATA[["a", "b"]].to_numpy())).assign(y=DATA["y"])
    one, other = svm("y ~ .", K, kernel=Precomputed()), svm("y ~ .", K, kernel="precomputed")
    np.testing.assert_array_equal(one.decision_values, other.decision_values)
    close(one.decision_values, svm("y ~ a + b", DATA, kernel=RBF(0.4), scale=False).decision_values)


def test_twice_the_kernel_is_twice_the_cost():
    fits = [
        svm("y ~ a + b + c", DATA, kernel=Linear() + Linear(), C=0.7),
        svm("y ~ a + b + c", DATA, kernel=2 * Linear(), C=0.7),
        svm("y ~ a + b + c", DATA, kernel="linear", C=1.4),
        svm("y ~ a + b + c", DATA, kernel=8 * Linear(), C=0.175),
    ]
    np.testing.assert_array_equal(fits[0].decision_values, fits[1].decision_values)
    for fit in fits[1:]:
        close(fit.decision_values, fits[0].decision_values)
        close(fit.decision_function(DATA.head(9)), fits[0].decision_values.head(9))


def test_a_kernel_on_a_term_is_the_fit_of_the_term():
    one = svm("y ~ a + b + c", DATA, kernel=RBF("median").on("b"))
    close(one.decision_values, svm("y ~ b", DATA, gamma="median").decision_values)
    new = DATA.head().assign(a=9.0, c=-9.0)
    close(one.decision_function(new), one.decision_values.head())


def test_terms_of_a_formula_with_factors_and_interactions():
    kernel = RBF().on("a", "b") + 0.5 * Linear().on("g") + Linear().on("a:g") + 0.1 * Linear().on("g[u]")
    fit = svm("y ~ a + b + g + a:g", DATA, kernel=kernel)
    X, at = fit.frame.X, fit.frame.design.term_slices
    assert (at["g"], at["a:g"]) == (slice(2, 5), slice(5, 8))
    K = gram(RBF().resolve(X[:, :2]), X[:, :2]) + 0.5 * X[:, 2:5] @ X[:, 2:5].T + X[:, 5:] @ X[:, 5:].T
    same = svm("y ~ .", pd.DataFrame(K + 0.1 * X[:, 2:3] @ X[:, 2:3].T).assign(y=DATA["y"]), kernel="precomputed")
    close(fit.decision_values, same.decision_values)
    close(fit.decision_function(DATA), fit.decision_values)


@pytest.mark.parametrize("kernel", [RBF(), Spline(), PARTS, Laplace("median").on("a")], ids=str)
def test_centring_moves_the_intercept_alone(kernel):
    plain = svm("y ~ a + b + c", DATA, kernel=kernel)
    fit = svm("y ~ a + b + c", DATA, kernel=Centred(kernel))
    close(fit.decision_values, plain.decision_values)
    close(fit.decision_function(DATA.head(9)), fit.decision_values.head(9))
    h = fit.decision_values - fit.intercept
    assert abs(h.sum()) <= TOL * np.abs(h).sum()


@pytest.mark.parametrize(
    "kernel", [PARTS, RBF("median") + Laplace().on("a"), Centred(RBF()) + Spline().on("b")], ids=str
)
def test_a_weight_of_two_is_the_row_twice(kernel):
    weights = np.resize([1, 2, 0, 1], len(DATA))
    one = svm("y ~ a + b + c", DATA.assign(w=weights), weights="w", kernel=kernel)
    rows = DATA.loc[DATA.index.repeat(weights)].reset_index(drop=True)
    other = svm("y ~ a + b + c", rows, kernel=kernel)
    close(one.decision_function(DATA), other.decision_function(DATA))
    assert one.deviance == pytest.approx(other.deviance, rel=1e-6)


ADDITIVE = Centred(RBF(1.0)).on("a") + Centred(Laplace()).on("b")
EVERY = [PARTS, 0.5 * RBF(0.3).on("a", "b") + Linear().on("g"), ADDITIVE, RBF(1) + CustomKernel(np.inner)]


@pytest.mark.parametrize("kernel", EVERY, ids=str)
@pytest.mark.parametrize("data", [DATA, THREE], ids=["two", "three"])
def test_what_a_fit_offers_is_that_of_a_function_with_the_same_values(kernel, data):
    fit = svm("y ~ a + b + g", data, kernel=kernel, C=2)
    same = svm("y ~ a + b + g", data, kernel=fit.kernel.__call__, C=2)
    close(fit.loo().decision_values, same.loo().decision_values)
    assert fit.loo().score == pytest.approx(same.loo().score, rel=1e-5)
    found, expected = (each.get_influence().delta_deviance for each in (fit, same))
    close(found, expected, 1e-5)
    one, other = (each.gof(B=9, method="pairs", rng=1) for each in (fit, same))
    np.testing.assert_allclose(one.replicates, other.replicates, rtol=1e-4)
    back = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(back.predict_proba(data), fit.predict_proba(data))
    assert back.kernel == fit.kernel


@pytest.mark.parametrize("data", [DATA, THREE], ids=["two", "three"])
def test_leave_one_out_is_the_fit_without_the_row(data):
    """On a design that is not scaled and with numbers for all parameters, the fit without a row is a fit of its own."""
    kernel = PARTS + 0.3 * RBF(2.0).on("a", "c")
    fit = svm("y ~ a + b + c", data, kernel=kernel, scale=False, C=3)
    left_out = fit.loo().decision_values
    for row in (0, 17, 63):
        without = svm("y ~ a + b + c", data.drop(index=row), kernel=kernel, scale=False, C=3)
        found = np.atleast_1d(left_out.loc[row])
        expected = np.atleast_1d(without.decision_function(data.loc[[row]]).to_numpy().ravel())
        known = ~np.isnan(found)
        assert known.any()
        close(found[known], expected[known])


def test_a_kernel_of_a_fit_is_used_again_by_name():
    kernel = svm("y ~ a + b + c", DATA, kernel=RBF().on("c") + Linear().on("a")).kernel
    again = svm("y ~ c + b + a", DATA, kernel=kernel)
    assert [part.at for part in again.kernel.parts] == [(0,), (2,)]
    close(again.decision_values, svm("y ~ a + b + c", DATA, kernel=kernel).decision_values)


def test_the_summary_says_what_a_kernel_is_made_of():
    fit = svm("y ~ a + b + c", DATA, kernel=1 / 3 * RBF("median").on("a") + Spline().on("b"))
    gamma = fit.kernel.parts[0].kernel.kernel.gamma
    assert fit.kernel_name == f"0.333333 * RBF(gamma={gamma:.6g}).on('a') + Spline().on('b')"
    assert re.search(rf"^Kernel: +{re.escape(fit.kernel_name)}$", str(fit.summary()), re.MULTILINE)
    assert re.search(r"Kernel: +2 \* Linear\(\)$", str(svm("y ~ a", DATA, kernel=2 * Linear()).summary()), re.MULTILINE)
    assert fit.kernel_parameters == {}
    assert f"hinge, {fit.kernel_name}"[:30] in repr(fit)


@pytest.mark.parametrize(
    ("kernel", "shown"),
    [
        (Laplace(0.25), "kernel='laplace', C=1.0, gamma=0.25"),
        (2 * Linear() + RBF(0.25).on("a", "b"), "kernel=2.0 * Linear() + RBF(gamma=0.25).on('a', 'b'), C=1.0"),
        (CustomKernel(np.inner), "kernel=CustomKernel(inner), C=1.0"),
    ],
)
@pytest.mark.usefixtures("few_envelopes")
def test_the_call_in_a_report(kernel, shown):
    page = report(svm("y ~ a + b", DATA, kernel=kernel), B=9, rng=1)
    assert shown in page.replace("&#x27;", "'")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": RBF(0.3), "gamma": "scale"}, "gamma='scale' and kernel=RBF(gamma=0.3) are not allowed together"),
        ({"kernel": [RBF(), Linear()]}, "kernel=[RBF(gamma='scale'), Linear()] is not allowed"),
        (
            {"kernel": RBF().on("d")},
            "columns='d' is not allowed: it must be one of 'a', 'b', 'g[u]', 'g[v]', 'g[w]', 'g'",
        ),
        ({"kernel": Linear().on("a", 5)}, "columns=5 is not allowed: it must be a position from 0 to 4"),
        ({"kernel": Linear() + CustomKernel(lambda X, Z: X)}, "kernel=<lambda> returned an array of shape (16, 5)"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_refused(options, message):
    with pytest.raises(ArgumentError, match=re.escape(message)):
        svm("y ~ a + b + g", DATA, **options)


def test_parameters_beside_a_name_or_a_function_that_does_not_use_them():
    """As ever: they are looked at, and not used."""
    plain = svm("y ~ a + b", DATA, kernel="linear")
    np.testing.assert_array_equal(
        svm("y ~ a + b", DATA, kernel="linear", gamma=0.5).decision_values, plain.decision_values
    )
    close(svm("y ~ a + b", DATA, kernel=np.inner, degree=2).decision_values, plain.decision_values)
    with pytest.raises(ArgumentError, match="gamma=-1 is not allowed"):
        svm("y ~ a + b", DATA, kernel=np.inner, gamma=-1)
