"""Additive fits: their functions add up, and what is the same model is the same fit."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from levels import repeated, sample

from svmstat import datasets, svm
from svmstat.errors import ArgumentError, UnavailableError

ADDS_UP = 1e-9  # f of the solver is a sum in another order
SAME = 1e-7  # two solutions, each within the solver's tolerance of 1e-8 of the optimum
FORMULA = "y ~ s(x) + te(x, z) + s(z, by=site) + site + x:side"


def values(fit):
    return np.asarray(fit.decision_values)


def alike(one, other, tolerance=SAME):
    np.testing.assert_allclose(values(one), values(other), atol=tolerance)


@pytest.fixture
def data(K):
    return sample(K).drop(columns="w")


def by_pair(fit, h):
    """(m, P, T) of what predict_terms gives."""
    return h.to_numpy().reshape(len(h), len(fit.machine.pairs), -1)


@pytest.mark.parametrize("option", [{}, {"weights": "w"}, {"theta": {"te(x,z)": 3, "site": 0}, "C": 20}], ids=str)
def test_terms_add_up_on_old_and_new_rows_and_have_mean_zero(option, K):
    data = sample(K)
    fit = svm(FORMULA, data, **option)
    h, new = by_pair(fit, fit.predict_terms()), data.assign(x=data["x"] + 0.3, z=data["z"] * 1.01)
    b = np.asarray(fit.machine.intercept)
    f, g = (np.asarray(each).reshape(len(data), -1) for each in (fit.decision_values, fit.decision_function(new)))
    np.testing.assert_allclose(h.sum(axis=2) + b, f, atol=ADDS_UP)
    np.testing.assert_allclose(by_pair(fit, fit.predict_terms(new)).sum(axis=2) + b, g, atol=ADDS_UP)
    np.testing.assert_allclose(np.einsum("i,ipt->pt", fit.frame.weights, h), 0.0, atol=ADDS_UP)
    if "theta" in option:
        assert not h[:, :, list(fit.theta.index).index("site")].any()


def test_norms_and_deviations_of_the_terms(K):
    fit = svm(FORMULA, sample(K), weights="w")
    h, w = by_pair(fit, fit.predict_terms()), fit.frame.weights
    norms = [pair.solution.norm_squared for pair in fit.machine.pairs]
    np.testing.assert_allclose((fit.terms["norm"] ** 2).sum(), np.mean(norms), rtol=1e-9)
    np.testing.assert_allclose(fit.terms["sd"], np.sqrt(np.einsum("i,ipt->t", w / w.sum(), h**2) / h.shape[1]))
    assert fit.terms["kernel"].tolist() == ["rbf", "rbf x rbf", "rbf x linear", "linear", "linear"]


def test_new_rows_with_missing_values(data):
    fit = svm(FORMULA, data)
    h = fit.predict_terms(data.assign(x=data["x"].where(data.index != 4)))
    assert h.isna().any(axis=1).to_numpy().nonzero()[0].tolist() == [4]
    assert h.index.equals(data.index)


def test_terms_of_no_rows(data):
    fit = svm("y ~ s(x) + site", data)
    assert fit.predict_terms(data.head(0)).shape == (0, fit.predict_terms().shape[1])


def test_the_columns_are_by_term_or_by_pair_and_term():
    two, three = (svm("y ~ s(x) + site", sample(K)).predict_terms() for K in (2, 3))
    assert two.columns.tolist() == ["s(x)", "site"]
    assert three.columns.names == ["positive", "negative", "term"]
    assert three.columns[:2].tolist() == [("a", "b", "s(x)"), ("a", "b", "site")]


def test_the_order_of_terms_and_the_scale_of_units_change_nothing(data):
    fit = svm(FORMULA, data)
    alike(fit, svm("y ~ site + x:side + s(z, by=site) + te(z, x) + s(x)", data))
    alike(fit, svm(FORMULA.replace("x:side", "I(100 * x):side"), data.assign(z=data["z"] * 1e3 - 7)))
    levels = pd.Categorical(data["site"], categories=["south", "north", "east"])
    alike(fit, svm(FORMULA, data.assign(site=levels)))


def test_no_weight_is_no_term(data):
    fit = svm("y ~ s(x) + site + ti(x, z)", data, theta={"ti(x, z)": 0, "site": 0.5})
    alike(fit, svm("y ~ s(x) + site", data, theta={"site": 0.5}))
    alike(fit, fit.update(". ~ . - ti(x, z)", theta={"site": 0.5}))


def test_theta_and_cost_have_one_scale(data):
    fit = svm("y ~ s(x) + s(z)", data, C=6.0, theta={"s(x)": 2.0, "s(z)": 0.5})
    alike(fit, svm("y ~ s(x) + s(z)", data, C=3.0, theta={"s(x)": 4.0, "s(z)": 1.0}))


@pytest.mark.parametrize("gamma", ["scale", 0.7])
def test_a_single_smooth_of_all_columns_is_the_joint_kernel(gamma, data):
    joint = svm("y ~ x + z", data, gamma=gamma, C=2.0)
    size = svm("y ~ s(x, z)", data, gamma=gamma).kernel.kernels[0].kernel.size
    alike(joint, svm("y ~ s(x, z)", data, gamma=gamma, C=2.0 * size), 1e-8)


def test_weights_are_repeats_and_zero_is_absence(K):
    data = sample(K)
    fit, again = svm(FORMULA, data, weights="w"), svm(FORMULA, repeated(data))
    first = data.index.repeat(data["w"]).duplicated()
    np.testing.assert_allclose(values(fit)[data["w"] > 0], values(again)[~first], atol=SAME)
    np.testing.assert_allclose(fit.terms.iloc[:, 1:].astype(float), again.terms.iloc[:, 1:].astype(float), atol=SAME)


def test_the_kernel_of_terms_that_do_not_name_their_own():
    data = sample(2)
    named = svm("y ~ s(x, kernel='spline') + s(z, gamma=2)", data)
    alike(named, svm("y ~ s(x) + s(z, gamma=2)", data, kernel="spline"))
    alike(svm("y ~ s(x) + s(z)", data, gamma=2), svm("y ~ s(x, gamma=2) + s(z, gamma=2)", data))


@pytest.mark.parametrize(
    ("formula", "option", "message"),
    [
        ("y ~ s(x)", {"kernel": "linear"}, "kernel='linear' is not allowed: it must be 'rbf' or 'spline' with"),
        (
            "y ~ s(x)",
            {"kernel": "precomputed"},
            "kernel='precomputed' is not allowed: it must be",
        ),
        ("y ~ s(x)", {"theta": {"s(z)": 1}}, "theta has no term 's(z)': the formula has 's(x)'"),
        ("y ~ x", {"theta": {"x": 1}}, "it must be left out: the formula has no smooth term"),
    ],
)
def test_what_is_refused(formula, option, message):
    with pytest.raises(ArgumentError) as caught:
        svm(formula, sample(2), **option)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["theta", "terms"])
def test_joint_kernels_have_no_terms(name):
    fit = svm("y ~ x", sample(2))
    with pytest.raises(UnavailableError, match=f"{name} is for additive fits"):
        getattr(fit, name)
    with pytest.raises(UnavailableError, match=r"plot_terms\(\) is for additive fits"):
        fit.plot_terms()


def test_what_plot_terms_refuses():
    fit = svm("y ~ s(x)", sample(2))
    with pytest.raises(ArgumentError, match=r"terms='s\(z\)' is no term of the fit: it has 's\(x\)'"):
        fit.plot_terms("s(z)")
    with pytest.raises(ArgumentError, match="B"):
        fit.plot_terms(B=10)
    with pytest.raises(ArgumentError, match="B is the bootstrap of another fit"):
        fit.plot_terms(B=fit.update(C=2).bootstrap(39, rng=1))
    with pytest.raises(ArgumentError, match="terms=3 is not allowed"):
        fit.plot_terms(3)


def test_the_summary_has_a_table_of_the_terms(K):
    text = str(svm(FORMULA, sample(K)).summary(loo=False))
    assert "additive, 5 terms" in text
    assert "s(z, by=site)" in text
    assert ("root mean squares" in text) == (K > 2)


@pytest.mark.parametrize(("C", "score"), [(1, 493.2), (3, 504.3)])
def test_mackerel_with_equal_weights(C, score):
    """[003]'s CV score of a sum of rbf kernels of one column each, as a prototype in numpy had it."""
    terms = " + ".join(f"s({name})" for name in ("lon", "lat", "b_depth", "c_dist", "temp_20m"))
    fit = svm(f"egg_count > 0 ~ {terms}", datasets.load("mackerel"), C=C, gamma=1.0, calibration="insample")
    assert fit.loo().score == pytest.approx(score, abs=0.1)


def test_names_of_lines_stay_inside_axes_that_are_given():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=90), "g": rng.choice(list("abcde"), 90), "y": np.arange(90) % 2})
    fit = svm("y ~ s(x, by=g)", data)
    figure, axes = plt.subplots(2, 1, figsize=(5, 7))
    ax = np.ravel(fit.plot_terms(B=0, ax=axes[0]))[0]
    figure.canvas.draw()
    assert not ax.get_legend().get_window_extent().overlaps(axes[1].get_window_extent())
    own = np.ravel(fit.plot_terms(B=0))[0]
    own.figure.canvas.draw()
    assert own.get_legend().get_window_extent().y1 < own.get_window_extent().y0
    plt.close("all")
