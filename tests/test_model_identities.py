"""Fits that must be the same fit: weights as repeats, coding, order of rows and levels; for any number of levels."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from levels import KERNELS, assert_same_fit, matrix, printed, repeated, sample

from svmstat import datasets, svm

# Repeated and weighted rows give the same problem, up to the order of sums in scaling and gamma.
TOL_REPEATS = 1e-8
# Another order of rows or terms is another run of the solver: both are certified to 1e-8 in the KKT conditions.
TOL_ORDER = 1e-7

FORMULA = "y ~ x + z + site + x:side"

gammas = pytest.mark.parametrize("gamma", ["scale", "median"])
kernels = pytest.mark.parametrize("kernel", KERNELS)


# Weights


@pytest.mark.parametrize("class_weight", [{"a": 3.0, "c": 0.5}, "balanced"], ids=str)
@kernels
def test_class_weights_and_weights_together(kernel, class_weight, K):
    data = sample(K, seed=3)
    if K == 2:
        data["y"] = data["y"].replace("b", "a")
    options = {"kernel": kernel, "class_weight": class_weight}
    weighted, copied = svm(FORMULA, data, weights="w", **options), svm(FORMULA, repeated(data), **options)
    assert_same_fit(weighted, copied, data, TOL_REPEATS)
    assert printed(weighted) == printed(copied)


@gammas
@kernels
def test_zero_weights_are_absent_rows(kernel, gamma, K):
    data = sample(K, 80, seed=5)
    absent = data["w"] == 0
    data.loc[absent, "x"] *= 50.0  # would change scaling, gamma and the range of the spline
    zeros = svm(FORMULA, data, weights=(~absent).astype(float), kernel=kernel, gamma=gamma)
    without = svm(FORMULA, data[~absent], kernel=kernel, gamma=gamma)
    assert_same_fit(zeros, without, data[~absent], TOL_REPEATS)
    assert printed(zeros) == printed(without)
    assert (zeros.alpha[absent] == 0).all(axis=None)
    assert not zeros.support.isin(data.index[absent]).any()
    assert zeros.n_zero_weight == absent.sum()
    f = without.decision_function(data)
    np.testing.assert_allclose(zeros.decision_values, f, rtol=0, atol=TOL_REPEATS * np.abs(f.to_numpy()).max())


@pytest.mark.parametrize("formula", ["y ~ bs(x, df=5)", "y ~ standardize(z) + center(x)"])
def test_transforms_that_learn_respect_weights(formula, K):
    data = sample(K, 70, seed=6)
    weighted = svm(formula, data, weights="w", kernel="linear")
    copied = svm(formula, repeated(data), kernel="linear")
    assert_same_fit(weighted, copied, repeated(data), TOL_REPEATS)


def test_a_level_of_zero_weight_is_absent_but_its_rows_are_predicted(K):
    data = sample(K, seed=7)
    unused = data["w"] == 0
    data.loc[unused, "y"] = np.resize(["b", "dead"], unused.sum())
    fit, without = svm("y ~ x + z", data, weights="w"), svm("y ~ x + z", repeated(data))
    assert fit.classes == tuple(sorted("bcafed"[:K]))
    assert fit.decision_values.notna().all(axis=None) and fit.predict().notna().all()
    assert_same_fit(fit, without, data, TOL_REPEATS)
    assert fit.loo().score == pytest.approx(without.loo().score, rel=1e-7)
    assert fit.loo().error_rate == pytest.approx(without.loo().error_rate)
    lost = (data["y"] == "dead").to_numpy()
    assert lost.any() and fit.loo().log_likelihood[lost].isna().all() and fit.loo().n_failed == 0
    assert fit.loo().error[lost].isna().all()  # neither right nor wrong


@settings(max_examples=40)
@given(
    weights=st.lists(st.integers(0, 4), min_size=24, max_size=24),
    kernel=st.sampled_from(KERNELS),
    gamma=st.sampled_from(["scale", "median"]),
    C=st.sampled_from([0.01, 1.0, 100.0]),
    ties=st.booleans(),
    K=st.sampled_from([2, 3, 6]),
)
def test_integer_weights_are_repeated_rows(weights, kernel, gamma, C, ties, K):
    weights[:12] = [max(1, w) for w in weights[:12]]
    data = sample(K, 24, seed=8, ties=ties).assign(w=weights)
    options = {"kernel": kernel, "gamma": gamma, "C": C, "coef0": 1.0}
    weighted = svm(FORMULA, data, weights="w", **options)
    copied = svm(FORMULA, repeated(data), **options)
    assert_same_fit(weighted, copied, data, TOL_REPEATS, clear=0.0)
    assert printed(weighted) == printed(copied)
    assert len(printed(weighted)) > 25


@kernels
def test_common_factor_of_weights_is_a_factor_of_C(kernel, K):
    data = sample(K, 50, seed=9)
    options = {"kernel": kernel, "scale": False, "coef0": 1.0, "gamma": 0.001}
    one = svm("y ~ x + z + site", data, C=1.0, weights=np.full(50, 2.5), **options)
    other = svm("y ~ x + z + site", data, C=2.5, **options)
    f, g = matrix(one.decision_values), matrix(other.decision_values)
    np.testing.assert_allclose(f, g, rtol=0, atol=TOL_REPEATS * max(1.0, np.abs(f).max()))
    if K == 2:
        assert one.objective == pytest.approx(other.objective, rel=TOL_REPEATS)
    assert one.apparent_error == pytest.approx(other.apparent_error)


# Rows that are not used


@pytest.mark.parametrize("as_text", [True, False])
def test_a_level_that_the_subset_leaves_out(as_text, K):
    data = sample(K, 80, seed=16)
    data.loc[::9, "y"] = "away"
    data["y"], inside = data["y"].astype("category"), data["y"] != "away"
    fit = svm("y ~ x + z", data, subset="y != 'away'" if as_text else inside.to_numpy())
    own = svm("y ~ x + z", data[inside])
    assert fit.classes == tuple(sorted("bcafed"[:K]))
    assert_same_fit(fit, own, data[inside], 1e-12)
    assert fit.n_outside_subset == 9 and fit.n_rows == 71
    assert fit.predict(data).dtype == data["y"].dtype


def test_rows_with_missing_values_are_dropped(K):
    data = sample(K, seed=17)
    data.loc[[3, 39], "x"] = np.nan
    data.loc[50, "y"] = None
    fit, own = svm("y ~ x + z", data), svm("y ~ x + z", data.drop(index=[3, 39, 50]))
    assert fit.n_missing == 3
    assert_same_fit(fit, own, sample(K, seed=17), 1e-12)


# Order and coding. With a singular kernel matrix many α are optimal, and which one is found depends on the order:
# so the counts of support vectors are compared only where K is regular.

COUNTS = ("n_support", "center", "scale", "params", "standardized")


@kernels
@pytest.mark.parametrize("C", [1.0, 50.0])
def test_order_of_rows(kernel, C, K):
    data = sample(K, seed=10, ties=True)
    shuffled = data.sample(frac=1.0, random_state=1)
    one, other = (svm(FORMULA, each, kernel=kernel, C=C, weights="w") for each in (data, shuffled))
    assert_same_fit(one, other, data, TOL_ORDER, without=() if K == 2 else ("n_support",), clear=0.5)
    f, g = one.decision_values, other.decision_values.loc[data.index]
    np.testing.assert_allclose(g, f, rtol=0, atol=TOL_ORDER * 10)
    assert (other.alpha.index == shuffled.index).all() and other.predict().index.equals(shuffled.index)
    if kernel == "rbf" and C == 1.0:
        assert one.loo().score == pytest.approx(other.loo().score, rel=1e-6)


def test_order_of_rows_where_no_vector_is_free():
    x = [-1.3302677005651495, 0.9383627510948556, -0.5768361654627192, 0.2146224817651891, -0.9451165811625704]
    data = pd.DataFrame({"x": x, "y": [0, 1, 0, 1, 0], "w": [1, 2, 2, 3, 2]})
    forth, back = (svm("y ~ x", each, C=0.05, gamma=1.0, weights="w") for each in (data, data[::-1]))
    assert not forth.intercept_is_unique
    assert forth.n_support.equals(back.n_support)
    assert forth.intercept_interval == pytest.approx(back.intercept_interval)


@kernels
def test_order_of_terms(kernel, K):
    data = sample(K, seed=11)
    one = svm("y ~ x + site + z + side:x", data, kernel=kernel)
    other = svm("y ~ x:side + z + site + x", data, kernel=kernel)
    assert_same_fit(one, other, data, TOL_ORDER, without=COUNTS)
    if kernel == "linear":
        for name in ("site[east]", "z"):
            np.testing.assert_allclose(other.params.loc[name], one.params.loc[name], rtol=0, atol=TOL_ORDER)


@kernels
@pytest.mark.parametrize("order", [["south", "north", "east"], ["east", "south", "north"]])
def test_reference_level_of_a_factor(kernel, order):
    data = sample(2, seed=12)
    ordered = data.assign(site=pd.Categorical(data["site"], categories=order))
    treatment = f"y ~ x + C(site, Treatment({order[1]!r}))"
    fits = [
        svm("y ~ x + site", data, kernel=kernel),
        svm("y ~ x + site", ordered, kernel=kernel),
        svm(treatment, data, kernel=kernel),
        svm(f"y ~ x + C(site, levels={order!r})", data, kernel=kernel),
    ]
    for other in fits[1:]:
        assert_same_fit(fits[0], other, data if other is not fits[1] else ordered, TOL_ORDER, without=COUNTS)


@pytest.mark.parametrize("name", ["sample", "liver"])
def test_names_of_the_levels_of_the_response_do_not_matter(name, K):
    """Their order turns pairs round, and nothing else; of two levels the other one is the event."""
    if name == "liver":
        data, formula = datasets.load("liver"), "y ~ np.log(ast) + np.log(alt) + np.log(gldh)"
        data["y"] = data["disease"]
        data = data[data["y"].isin(sorted(data["y"].unique())[:K])]
    else:
        data, formula = sample(K, seed=15), "y ~ x + z"
    levels = sorted(data["y"].unique())
    turned = dict(zip(levels, levels[::-1], strict=True))
    one, other = svm(formula, data), svm(formula, data.assign(y=data["y"].map(turned)))
    f, g = (pd.DataFrame(each.machine.decision_values, columns=each.pairs) for each in (one, other))
    for first, second in one.pairs:
        np.testing.assert_allclose(f[first, second], -g[turned[second], turned[first]], rtol=0, atol=TOL_ORDER)
    np.testing.assert_allclose(one.predict_proba(), other.predict_proba().iloc[:, ::-1], rtol=0, atol=TOL_ORDER)
    assert one.predict().map(turned).tolist() == other.predict().tolist()
    assert one.deviance == pytest.approx(other.deviance, rel=TOL_ORDER)


@kernels
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_event_the_other_way_round(kernel, C):
    data = sample(2, 70, seed=14)
    options = {"kernel": kernel, "C": C, "weights": "w", "class_weight": {"b": 2.0}}
    one, other = (svm(FORMULA, data, event=level, **options) for level in "bc")
    size = max(1.0, one.decision_values.abs().max())
    np.testing.assert_allclose(one.decision_values, -other.decision_values, rtol=0, atol=TOL_ORDER * size)
    np.testing.assert_allclose(one.predict_proba(), other.predict_proba(), rtol=0, atol=TOL_ORDER)
    np.testing.assert_allclose(one.fittedvalues, 1 - other.fittedvalues, rtol=0, atol=TOL_ORDER)
    assert one.predict_proba().columns.tolist() == other.predict_proba().columns.tolist()
    assert one.intercept_interval == pytest.approx([-b for b in other.intercept_interval[::-1]], abs=1e-6)
    for name in ("deviance", "null_deviance", "objective", "margin"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=TOL_ORDER)
    if (one.decision_values.abs() > 1e-6).all():
        pd.testing.assert_frame_equal(one.confusion, other.confusion)
        pd.testing.assert_series_equal(one.predict(), other.predict())


@kernels
@pytest.mark.parametrize("n", [41, 53])
def test_balanced_classes_at_a_tiny_cost(kernel, n, K):
    """All α are at their bounds, whose sums agree: b is an interval of length 2, from one class to the other."""
    data = sample(K, n, seed=15)
    fit = svm("y ~ x + z", data, kernel=kernel, C=1e-6, class_weight="balanced")
    low, high = matrix([fit.intercept_interval] if K == 2 else fit.intercept_interval).T
    np.testing.assert_allclose(low, -1.0, atol=1e-3)
    np.testing.assert_allclose(high, 1.0, atol=1e-3)
    np.testing.assert_allclose(fit.intercept, (low + high if K > 2 else low[0] + high[0]) / 2)
    assert (fit.n_support["free"] == 0).all()
    if K == 2:
        assert not fit.intercept_is_unique
        assert "midpoint" in str(fit.summary())
        other = svm("y ~ x + z", data, kernel=kernel, C=1e-6, class_weight="balanced", event="b")
        assert other.intercept_interval == pytest.approx((-1.0, 1.0), abs=1e-3)
    else:
        assert fit.intercept_interval.columns.tolist() == ["low", "high"]


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    kernel=st.sampled_from(KERNELS),
    C=st.sampled_from([0.02, 1.0, 300.0]),
    K=st.sampled_from([2, 3]),
)
def test_affine_changes_of_predictors_do_not_matter(seed, kernel, C, K):
    data = sample(K, 30, seed)
    changed = data.assign(x=3.0 - 7.0 * data["x"], z=100.0 * data["z"])
    one, other = (svm("y ~ x + z", each, kernel=kernel, C=C, coef0=0.0, degree=2) for each in (data, changed))
    f, g = matrix(one.decision_values), matrix(other.decision_values)
    np.testing.assert_allclose(f, g, rtol=0, atol=10 * TOL_ORDER * max(1.0, np.abs(f).max()))
