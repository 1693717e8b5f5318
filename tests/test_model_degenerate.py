"""Data at the edge of what can be fitted: certified all the same, and the summary prints."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svmstat import svm
from svmstat.errors import CertificateWarning, DesignWarning

# Every solution is certified to this KKT violation.
TOL_KKT = 1e-8

KERNELS = ("rbf", "linear", "poly", "spline")


def gaussian(n, share=0.5, seed=0):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n)})
    score = data["x"] + rng.normal(size=n)
    return data.assign(y=score > np.quantile(score, 1 - share))


def indicators(n):
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.integers(0, 2, size=(n, 4)), columns=list("abcd"))
    return data.assign(g=rng.choice(list("pqr"), n), y=(data["a"] + data["b"] + rng.integers(0, 2, n)) > 1)


def missing(n):
    data = gaussian(n).astype({"y": object})
    data.loc[::7, "x"], data.loc[3::11, "y"] = np.nan, None
    return data


def rings(n):
    t = np.linspace(0, 12, n)
    inner = np.arange(n) % 2 == 0
    return pd.DataFrame({"x": np.cos(t) * (2 - inner), "z": np.sin(t) * (2 - inner), "y": inner})


CASES = {  # name: (formula, data, options)
    "n=10": ("y ~ x + z", gaussian(10), {}),
    "n=2": ("y ~ x + z", pd.DataFrame({"x": [0.0, 1.0], "z": [2.0, 1.0], "y": [0, 1]}), {}),
    "n=3": ("y ~ x", pd.DataFrame({"x": [0.0, 1.0, 2.0], "y": [0, 1, 0]}), {}),
    "every row twice": ("y ~ x + z", pd.concat([gaussian(30)] * 2), {}),
    "every row with both labels": ("y ~ x + z", pd.concat([gaussian(30), gaussian(30).eval("y = ~y")]), {}),
    "one predictor value with both labels": (
        "y ~ x",
        pd.DataFrame({"x": [0.0] * 19 + [1.0], "y": [0, 1] * 10}),
        {},
    ),
    "separable": ("y ~ x + z", gaussian(60).eval("y = x > z"), {}),
    "far apart": ("y ~ x", gaussian(40).eval("x = x + 1000 * y"), {}),
    "rings": ("y ~ x + z", rings(60), {}),
    "indicators": ("y ~ a + b + c + d + g", indicators(80), {}),
    "collinear indicators": ("y ~ C(a) + C(b) + a + g", indicators(80), {}),
    "interaction of factors": ("y ~ g * C(a) * C(b)", indicators(80), {}),
    "1:100": ("y ~ x + z", gaussian(303, 1 / 101), {}),
    "1:100 balanced": ("y ~ x + z", gaussian(303, 1 / 101), {"class_weight": "balanced"}),
    "one event": ("y ~ x + z", gaussian(50, 0.02), {}),
    "200 levels": ("y ~ C(level) + x", gaussian(400).assign(level=np.arange(400) % 200), {}),
    "missing": ("y ~ x + z", missing(60), {}),
    "collinear": ("y ~ x + z + I(x + z) + I(2 * x)", gaussian(50), {}),
    "more columns than rows": ("y ~ bs(x, df=12) + bs(z, df=12)", gaussian(15), {}),
    "fractional weights": ("y ~ x + z", gaussian(50), {"weights": np.linspace(0.0, 1.3, 50)}),
    "unequal weights": ("y ~ x + z", gaussian(50), {"weights": np.logspace(-3, 3, 50)}),
    "not scaled": ("y ~ x + I(10 * z)", gaussian(50), {"scale": False, "gamma": 0.1}),
}


def rounding(fit):
    """By how much sums of α_i K(x_i, x) may differ when they are taken in another order."""
    return 1e-15 * fit.alpha.sum() * fit.kernel.diagonal(fit.frame.X).max()


def check(fit, newdata):
    """Certified, finite, printed, and predicting."""
    assert fit.converged
    assert fit.kkt_violation <= TOL_KKT
    assert 0 <= fit.duality_gap <= TOL_KKT * fit.machine.upper.sum()
    low, high = fit.intercept_interval
    assert low <= fit.intercept <= high
    assert 0 <= fit.apparent_error <= 1
    assert np.isfinite([fit.deviance, fit.null_deviance, fit.calibration.slope, fit.calibration.intercept]).all()
    assert fit.deviance >= 0
    assert fit.confusion.to_numpy().sum() == pytest.approx(fit.nobs)
    assert fit.n_support["rows"].sum() == pytest.approx(fit.nobs)
    assert (fit.alpha <= fit.machine.upper[:, 0]).all()
    p = fit.predict_proba(newdata)
    assert ((p >= 0) & (p <= 1) | p.isna()).all(axis=None)
    f = fit.decision_function(newdata.iloc[fit.frame.rows])
    tolerance = 1e-9 * max(1.0, f.abs().max()) + rounding(fit)
    np.testing.assert_allclose(f, fit.decision_values, rtol=0, atol=tolerance)
    summary = fit.summary()
    text = str(summary)
    assert "nan" not in text.lower()
    assert max(map(len, text.splitlines())) <= 78
    assert summary.as_html() and summary.as_latex()


@pytest.mark.filterwarnings("ignore:.* rows have missing values:svmstat.errors.DesignWarning")
@pytest.mark.parametrize(
    ("name", "kernel", "C"),
    [pytest.param(name, kernel, C) for name in CASES for kernel in KERNELS for C in (1e-6, 1.0, 1e6)],
)
def test_degenerate_data(name, kernel, C):
    formula, data, options = CASES[name]
    fit = svm(formula, data, kernel=kernel, C=C, coef0=1.0, degree=2, **options)
    check(fit, data)


@pytest.mark.parametrize("kernel", KERNELS)
def test_two_rows(kernel):
    data = CASES["n=2"][1]
    fit = svm("y ~ x + z", data, kernel=kernel, C=1e6)
    np.testing.assert_allclose(fit.decision_values, [-1.0, 1.0], atol=1e-7)
    assert fit.n_support["free"].tolist() == [1, 1]
    assert fit.apparent_error == 0


@pytest.mark.parametrize("kernel", KERNELS)
def test_contradictory_rows_cancel(kernel):
    """With each row under both labels, h = 0 is optimal and every b in [-1, 1] costs the same."""
    formula, data, _ = CASES["every row with both labels"]
    fit = svm(formula, data, kernel=kernel)
    np.testing.assert_allclose(fit.decision_values, fit.intercept, atol=1e-6)
    assert fit.deviance == pytest.approx(fit.null_deviance, rel=1e-6)


def test_numbers_too_large_for_double_precision_are_not_certified():
    data = gaussian(50)
    with pytest.warns(CertificateWarning, match="KKT violation .*: a smaller C or scaled predictors help"):
        fit = svm("y ~ x + I(1000 * z)", data, kernel="poly", degree=2, gamma=0.1, C=1e6, scale=False)
    assert not fit.converged
    assert fit.kkt_violation > TOL_KKT
    text = " ".join(str(fit.summary()).split())
    assert "WARNING: the solution is not certified as optimal" in text
    assert "Certified optimal: no" in text


def test_a_tiny_cost_leaves_the_larger_class():
    fit = svm("y ~ x + z", gaussian(50, 0.3), C=1e-9)
    assert (fit.predict() == False).all()  # noqa: E712
    assert fit.apparent_error == pytest.approx(0.3)
    assert fit.intercept == pytest.approx(-1.0, abs=1e-6)


def test_a_huge_cost_separates_what_can_be_separated():
    fit = svm("y ~ x + z", rings(60), C=1e6)
    assert fit.apparent_error == 0
    assert fit.n_support["bounded"].sum() == 0
    np.testing.assert_allclose(np.abs(fit.decision_values[fit.support]), 1.0, atol=1e-6)


def test_a_constant_column_changes_nothing():
    data = gaussian(40).assign(flat=3.0)
    with pytest.warns(DesignWarning, match="constant and dropped: 'flat'"):
        fit = svm("y ~ x + flat + z", data)
    without = svm("y ~ x + z", data)
    assert fit.decision_values.equals(without.decision_values)
    assert fit.n_constant == 1
    assert fit.decision_function(data.assign(flat=8.0)).equals(fit.decision_function(data))


def indefinite(X, Z):
    return np.tanh(X @ Z.T - 1.0)


def negative(X, Z):
    return -X @ Z.T


def nothing(X, Z):
    return np.zeros((len(X), len(Z)))


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e3])
@pytest.mark.parametrize("kernel", [indefinite, negative])
def test_indefinite_kernels_give_a_warning_and_an_honest_certificate(kernel, C):
    data = gaussian(60)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = svm("y ~ x + z", data, kernel=kernel, C=C)
    assert any("clearly negative eigenvalues" in str(each.message) for each in caught)
    f, y, alpha = fit.decision_values.to_numpy(), fit.frame.y, fit.alpha.to_numpy()
    X = fit.frame.X
    np.testing.assert_allclose(f, kernel(X, X) @ (alpha * y) + fit.intercept, atol=1e-6 * C)
    slack = y * f - 1.0
    violation = max(np.max(-slack[alpha < C * (1 - 1e-12)], initial=0.0), np.max(slack[alpha > C * 1e-12], initial=0.0))
    if fit.converged:
        assert violation <= 1e-7
    else:
        assert any("KKT violation" in str(each.message) for each in caught)
        assert "not certified" in str(fit.summary())
    text = " ".join(str(fit.summary()).split())
    assert not fit.is_convex and "WARNING: the kernel matrix has clearly negative eigenvalues" in text
    assert f"Certified stationary: {'yes' if fit.converged else 'no'}" in text and "Certified optimal" not in text
    assert "nan" not in text
    assert np.isnan(fit.margin) == ("||h||^2 is negative" in text)
    if np.isnan(fit.margin):
        assert "Margin, 2/||h||: -" in text


def test_a_kernel_of_ones_own_that_is_one_is_convex():
    data = gaussian(60)
    own, usual = svm("y ~ x + z", data, kernel=lambda X, Z: X @ Z.T), svm("y ~ x + z", data, kernel="linear")
    assert own.is_convex and usual.is_convex
    assert "Certified optimal" in str(own.summary()) and "eigenvalues" not in str(own.summary())


def test_a_kernel_that_is_zero():
    fit = svm("y ~ x", gaussian(30, 0.3), kernel=nothing)
    assert fit.margin == np.inf
    assert (fit.decision_values == fit.intercept).all()
    assert fit.apparent_error == pytest.approx(0.3)
    assert fit.deviance == pytest.approx(fit.null_deviance, rel=1e-3)
    text = str(fit.summary())
    assert "the decision function is constant" in text
    assert "-0.0000" not in text


@settings(max_examples=40)
@given(
    values=st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 1), st.booleans()), min_size=4, max_size=25),
    kernel=st.sampled_from(KERNELS),
    C=st.sampled_from([1e-4, 0.3, 1.0, 7.0, 1e4]),
    weights=st.sampled_from([None, 0.5, 3.0]),
)
def test_small_tables_of_whole_numbers(values, kernel, C, weights):
    data = pd.DataFrame([(-2, 0, False), (2, 1, True), *values], columns=["x", "g", "y"])
    w = None if weights is None else np.resize([weights, 1.0, 2.0], len(data))
    fit = svm("y ~ x + C(g)", data, kernel=kernel, C=C, coef0=1.0, weights=w)
    check(fit, data)


def test_priors_of_one_row_each_leave_nothing_to_weigh():
    """Without the only row of a level no fit says anything of it: nothing is held out, and no numpy warning leaks."""
    data = pd.DataFrame({"x": [0.0, 1.0], "y": [False, True]})
    fit = svm("y ~ x", data, priors={False: 0.6, True: 0.4})
    assert "2 rows could not be held out" in " ".join(str(fit.summary()).split())


@pytest.mark.parametrize(("weight", "said"), [(1e13, True), (1.0, False)])
def test_weights_that_make_the_cost_large_are_named(weight, said):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"]).assign(w=weight)
    data["y"] = data["a"] + rng.normal(size=200) > 0
    with pytest.warns(CertificateWarning, match="smaller C or scaled predictors help") as caught:
        svm("y ~ a + b", data, weights="w", C=1e13 / weight, kernel="linear")
    assert ("so do smaller weights, of which the largest, 1e+13, multiplies C" in str(caught[0].message)) == said
