"""Fits that must be the same fit: weights as repeats, coding, order, the event the other way round."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svmstat import svm
from svmstat.reporting.rendering.parts import Table
from svmstat.reporting.rendering.values import show

# Repeated and weighted rows give the same problem, up to the order of sums in scaling and gamma.
TOL_REPEATS = 1e-8
# Another order of rows or terms is another run of the solver: both are certified to 1e-8 in the KKT conditions.
TOL_ORDER = 1e-7

KERNELS = ("rbf", "linear", "poly", "spline")
FORMULA = "y ~ x1 + x2 + site + x1:side"


def sample(n, seed, ties=False):
    """Two numbers, two factors, a response that depends on them; every level of every factor occurs."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "x1": rng.normal(size=n),
            "x2": rng.gamma(2.0, 30.0, size=n),
            "site": np.resize(["north", "east", "south"], n),
            "side": np.resize(["l", "r"], n),
            "w": np.resize([1, 0, 2, 3, 1, 0, 1], n),
        }
    )
    if ties:
        data[["x1", "x2"]] = data[["x1", "x2"]].round(0)
    score = data["x1"] + 0.02 * data["x2"] + (data["site"] == "east") + rng.normal(size=n)
    data["y"] = np.where(score > np.median(score), "sick", "healthy")
    return data


def repeated(data, weights="w"):
    """Each row as often as its weight says."""
    return data.loc[data.index.repeat(data[weights])].reset_index(drop=True)


def numbers(fit):
    """Every number of a fit that does not belong to a row."""
    return {
        "nobs": fit.nobs,
        "center": fit.frame.design.center,
        "scale": fit.frame.design.scale_,
        "kernel": [value for value in fit.kernel_parameters.values() if isinstance(value, float)],
        "lambda": fit.lambda_,
        "intercept": fit.intercept,
        "interval": fit.intercept_interval,
        "margin": fit.margin,
        "objective": fit.objective,
        "slope": fit.calibration.slope,
        "shift": fit.calibration.intercept,
        "deviance": fit.deviance,
        "null_deviance": fit.null_deviance,
        "llf": fit.llf,
        "rsquared": fit.pseudo_rsquared,
        "n_support": fit.n_support.to_numpy(float),
        "confusion": fit.confusion.to_numpy(),
        "error": fit.apparent_error,
        "disagreement": fit.disagreement,
        **({"params": fit.params.to_numpy()} if fit.has_params else {}),
    }


def assert_same_fit(one, other, newdata, tolerance, without=()):
    left, right = numbers(one), numbers(other)
    for name in left.keys() - set(without):
        np.testing.assert_allclose(left[name], right[name], rtol=tolerance, atol=tolerance, err_msg=name)
    f, g = one.decision_function(newdata), other.decision_function(newdata)
    np.testing.assert_allclose(f, g, rtol=0, atol=tolerance * max(1.0, f.abs().max()))
    np.testing.assert_allclose(one.predict_proba(newdata), other.predict_proba(newdata), atol=tolerance)


def printed(fit):
    """What the summary prints, by label, but for lines that only tell of weights and for residuals."""
    found = {}
    for part in fit.summary().parts:
        if isinstance(part, Table):
            title = re.sub(r",? ?\(?sums of weights\)?", "", part.title).rstrip(")")
            for name, row in zip(part.index, part.cells, strict=True):
                shown = map(show, row, part.styles)
                found |= {(title, name, head): each for head, each in zip(part.headers, shown, strict=True)}
        else:
            for entry in (*part.wide, *part.left, *part.right):
                found[entry.label.replace("sum w", "n")] = show(entry.value, entry.style)
    weighing = ("Rows used", "Sum of weights", "  with weight zero", "KKT violation", "Duality gap")
    return {label: value for label, value in found.items() if label not in weighing}


gammas = pytest.mark.parametrize("gamma", ["scale", "median"])


@pytest.mark.parametrize("seed", [0, 1])
@gammas
@pytest.mark.parametrize("kernel", KERNELS)
def test_integer_weights_are_repeated_rows(kernel, gamma, seed):
    data = sample(70, seed, ties=seed == 1)
    options = {"kernel": kernel, "gamma": gamma, "C": 2.0, "coef0": 1.0}
    weighted = svm(FORMULA, data, weights="w", **options)
    copied = svm(FORMULA, repeated(data), **options)
    assert_same_fit(weighted, copied, data, TOL_REPEATS)
    assert printed(weighted) == printed(copied)


@pytest.mark.parametrize("kernel", KERNELS)
def test_class_weights_and_weights_together(kernel):
    data = sample(60, 3)
    for class_weight in ({"sick": 3.0}, "balanced"):
        options = {"kernel": kernel, "class_weight": class_weight}
        weighted = svm(FORMULA, data, weights="w", **options)
        copied = svm(FORMULA, repeated(data), **options)
        assert_same_fit(weighted, copied, data, TOL_REPEATS)
        assert weighted.class_weight == pytest.approx(copied.class_weight, rel=TOL_REPEATS)
        assert printed(weighted) == printed(copied)


@gammas
@pytest.mark.parametrize("kernel", KERNELS)
def test_zero_weights_are_absent_rows(kernel, gamma):
    data = sample(60, 5)
    absent = data["w"] == 0
    data.loc[absent, "x1"] *= 50.0  # would change scaling, gamma and the range of the spline
    weights = (~absent).astype(float)
    with_zeros = svm(FORMULA, data, weights=weights, kernel=kernel, gamma=gamma)
    without = svm(FORMULA, data[~absent], kernel=kernel, gamma=gamma)
    assert_same_fit(with_zeros, without, data, TOL_REPEATS)
    assert printed(with_zeros) == printed(without)
    assert (with_zeros.alpha[absent] == 0).all()
    assert not with_zeros.support.isin(data.index[absent]).any()
    predicted = without.decision_function(data)
    np.testing.assert_allclose(with_zeros.decision_values, predicted, atol=TOL_REPEATS * predicted.abs().max())


@pytest.mark.parametrize("formula", ["y ~ bs(x1, df=5)", "y ~ standardize(x2) + center(x1)"])
def test_transforms_that_learn_respect_weights(formula):
    data = sample(70, 6)
    weighted = svm(formula, data, weights="w", kernel="linear")
    copied = svm(formula, repeated(data), kernel="linear")
    assert_same_fit(weighted, copied, repeated(data), TOL_REPEATS)


def test_a_level_of_zero_weight_is_absent_but_its_rows_are_predicted():
    data = sample(60, 7)
    data.loc[data["w"] == 0, "y"] = np.resize(["sick", "dead"], (data["w"] == 0).sum())
    fit = svm("y ~ x1 + x2", data, weights="w")
    assert fit.classes == ("healthy", "sick")
    assert fit.decision_values.notna().all()
    assert_same_fit(fit, svm("y ~ x1 + x2", repeated(data)), data, TOL_REPEATS)


@settings(max_examples=20)
@given(
    weights=st.lists(st.integers(0, 4), min_size=24, max_size=24),
    kernel=st.sampled_from(KERNELS),
    C=st.sampled_from([0.01, 1.0, 100.0]),
    ties=st.booleans(),
)
def test_any_integer_weights_are_repeated_rows(weights, kernel, C, ties):
    weights[:4] = [max(1, w) for w in weights[:4]]
    data = sample(24, 8, ties).assign(w=weights)
    data.loc[:3, "y"] = ["sick", "healthy", "sick", "healthy"]
    options = {"kernel": kernel, "C": C, "coef0": 1.0}
    weighted = svm("y ~ x1 + x2 + side", data, weights="w", **options)
    copied = svm("y ~ x1 + x2 + side", repeated(data), **options)
    assert_same_fit(weighted, copied, data, TOL_REPEATS)
    assert printed(weighted) == printed(copied)


@pytest.mark.parametrize("kernel", KERNELS)
def test_common_factor_of_weights_is_a_factor_of_C(kernel):
    data = sample(50, 9)
    options = {"kernel": kernel, "scale": False, "coef0": 1.0, "gamma": 0.001}
    one = svm("y ~ x1 + x2 + site", data, C=1.0, weights=np.full(50, 2.5), **options)
    other = svm("y ~ x1 + x2 + site", data, C=2.5, **options)
    f, g = one.decision_values, other.decision_values
    np.testing.assert_allclose(f, g, rtol=0, atol=TOL_REPEATS * max(1.0, f.abs().max()))
    assert one.objective == pytest.approx(other.objective, rel=TOL_REPEATS)
    assert one.apparent_error == pytest.approx(other.apparent_error)


# Order and coding. With a singular kernel matrix many α are optimal, and which one is found depends on the order:
# so the counts of support vectors are compared only where K is regular.

COUNTS = ("n_support", "center", "scale", "params")


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("C", [1.0, 50.0])
def test_order_of_rows(kernel, C):
    data = sample(60, 10, ties=True)
    shuffled = data.sample(frac=1.0, random_state=1)
    one = svm(FORMULA, data, kernel=kernel, C=C, weights="w")
    other = svm(FORMULA, shuffled, kernel=kernel, C=C, weights="w")
    assert_same_fit(one, other, data, TOL_ORDER)
    np.testing.assert_allclose(other.decision_values[data.index], one.decision_values, atol=TOL_ORDER * 10)
    assert (other.alpha.index == shuffled.index).all()


def test_order_of_rows_where_no_vector_is_free():
    x = [-1.3302677005651495, 0.9383627510948556, -0.5768361654627192, 0.2146224817651891, -0.9451165811625704]
    data = pd.DataFrame({"x": x, "y": [0, 1, 0, 1, 0], "w": [1, 2, 2, 3, 2]})
    forth, back = (svm("y ~ x", each, C=0.05, gamma=1.0, weights="w") for each in (data, data[::-1]))
    assert not forth.intercept_is_unique
    assert forth.n_support.equals(back.n_support)
    assert forth.intercept_interval == pytest.approx(back.intercept_interval)


@pytest.mark.parametrize("kernel", KERNELS)
def test_order_of_terms(kernel):
    data = sample(60, 11)
    one = svm("y ~ x1 + site + x2 + side:x1", data, kernel=kernel)
    other = svm("y ~ x1:side + x2 + site + x1", data, kernel=kernel)
    assert_same_fit(one, other, data, TOL_ORDER, without=COUNTS)
    if kernel == "linear":
        renamed = other.params.rename(lambda name: name.replace("x1:side[", "side[").replace("]", "]"))
        assert renamed["site[east]"] == pytest.approx(one.params["site[east]"], abs=TOL_ORDER)
        assert renamed["x2"] == pytest.approx(one.params["x2"], abs=TOL_ORDER)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("order", [["south", "north", "east"], ["east", "south", "north"]])
def test_reference_level_of_a_factor(kernel, order):
    data = sample(60, 12)
    ordered = data.assign(site=pd.Categorical(data["site"], categories=order))
    treatment = f"y ~ x1 + C(site, Treatment({order[1]!r}))"
    fits = [
        svm("y ~ x1 + site", data, kernel=kernel),
        svm("y ~ x1 + site", ordered, kernel=kernel),
        svm(treatment, data, kernel=kernel),
        svm(f"y ~ x1 + C(site, levels={order!r})", data, kernel=kernel),
    ]
    for other in fits[1:]:
        assert_same_fit(fits[0], other, data if other is not fits[1] else ordered, TOL_ORDER, without=COUNTS)


def test_names_of_levels_do_not_matter():
    data = sample(60, 13)
    renamed = data.assign(site=data["site"].map({"north": "z", "east": "m", "south": "a"}))
    one, other = svm("y ~ x1 + site", data), svm("y ~ x1 + site", renamed)
    np.testing.assert_allclose(one.decision_values, other.decision_values, atol=TOL_ORDER)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_event_the_other_way_round(kernel, C):
    data = sample(70, 14)
    options = {"kernel": kernel, "C": C, "weights": "w", "class_weight": {"sick": 2.0}}
    sick, healthy = (svm(FORMULA, data, event=level, **options) for level in ("sick", "healthy"))
    size = max(1.0, sick.decision_values.abs().max())
    np.testing.assert_allclose(sick.decision_values, -healthy.decision_values, rtol=0, atol=TOL_ORDER * size)
    np.testing.assert_allclose(sick.predict_proba(), healthy.predict_proba(), rtol=0, atol=TOL_ORDER)
    np.testing.assert_allclose(sick.fittedvalues, 1 - healthy.fittedvalues, rtol=0, atol=TOL_ORDER)
    assert sick.predict_proba().columns.tolist() == healthy.predict_proba().columns.tolist()
    assert sick.intercept_interval == pytest.approx([-b for b in healthy.intercept_interval[::-1]], abs=1e-6)
    for name in ("deviance", "null_deviance", "objective", "margin"):
        assert getattr(sick, name) == pytest.approx(getattr(healthy, name), rel=TOL_ORDER)
    if (sick.decision_values.abs() > 1e-6).all():
        pd.testing.assert_frame_equal(sick.confusion, healthy.confusion)
        pd.testing.assert_series_equal(sick.predict(), healthy.predict())


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n", [41, 53])
def test_balanced_classes_at_a_tiny_cost(kernel, n):
    """All α are at their bounds, whose sums agree: b is an interval of length 2, from one class to the other."""
    data = sample(n, 15)
    for event in ("sick", "healthy"):
        fit = svm("y ~ x1 + x2", data, kernel=kernel, C=1e-6, class_weight="balanced", event=event)
        assert not fit.intercept_is_unique
        assert fit.intercept_interval == pytest.approx((-1.0, 1.0), abs=1e-3)
        assert fit.n_support["free"].sum() == 0


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), kernel=st.sampled_from(KERNELS), C=st.sampled_from([0.02, 1.0, 300.0]))
def test_affine_changes_of_predictors_do_not_matter(seed, kernel, C):
    data = sample(30, seed)
    changed = data.assign(x1=3.0 - 7.0 * data["x1"], x2=100.0 * data["x2"])
    one, other = (svm("y ~ x1 + x2", each, kernel=kernel, C=C, coef0=0.0, degree=2) for each in (data, changed))
    f, g = one.decision_values, other.decision_values
    np.testing.assert_allclose(f, g, rtol=0, atol=10 * TOL_ORDER * max(1.0, f.abs().max()))
