"""Coefficients with their spread: they are those of fits to drawn rows, and the printout says what the interval is."""

import re
from dataclasses import replace

import forms
import numpy as np
import pandas as pd
import pytest
from levels import repeated, sample

from svmstat import svm
from svmstat.errors import ArgumentError, UnavailableError

TOL = 1e-6  # two certified fits to the same weights
HOW = {"kernel": "linear", "C": 0.5}


@pytest.fixture
def fit(K):
    return svm("y ~ x + z + site", sample(K, 60, seed=2), **HOW)


def test_replicates_are_fits_to_weights(K):
    """Without scaling, which the replicates share, the coefficients are those of svm() with the counts as weights."""
    data = sample(K, 60, seed=3)
    found = svm("y ~ x + z + site", data, scale=False, weights="w", **HOW).bootstrap(B=4, rng=2)
    params, arrays = found.params(), found.replicates
    assert params.index.name == "replicate" and not arrays.failed.all()
    for r in np.flatnonzero(~arrays.failed):
        weights = np.zeros(60)
        weights[found.fit.machine.groups.first] = arrays.counts[r]
        again = svm("y ~ x + z + site", data, scale=False, weights=weights, **HOW).params
        np.testing.assert_allclose(params.loc[r], np.ravel(again, "F"), rtol=TOL, atol=TOL)
        if K > 2:
            np.testing.assert_allclose(params.loc[r, "a"].loc["c"], again["a", "c"], rtol=TOL, atol=TOL)


def test_they_give_the_decision_values(fit, K):
    """On the scale of the data, by every replicate."""
    new = sample(K, 10, seed=4)
    found = fit.bootstrap(B=5, rng=3)
    design = np.column_stack([np.ones(10), new[["x", "z"]], *(new["site"] == s for s in ("east", "north", "south"))])
    params = found.params().to_numpy().reshape(5, -1, design.shape[1])
    f = np.einsum("rpt,mt->rmp", params, design.astype(float))
    np.testing.assert_allclose(f, found.decision_function(new), rtol=0, atol=1e-8 * np.nanmax(np.abs(f)))


def test_the_table_is_that_of_the_replicates(fit):
    found, each = fit.confint(0.9, B=39, rng=5), fit.bootstrap(39, rng=5)
    frame, params = found.summary_frame(), each.params().dropna()
    np.testing.assert_array_equal(frame["estimate"], np.ravel(fit.params, "F"))
    assert frame.index.equals(params.columns) and found.n_failed == 39 - len(params)
    np.testing.assert_allclose(frame["se"], params.std())
    np.testing.assert_allclose(frame[["lower", "upper"]].T, np.quantile(params, [0.05, 0.95], axis=0, method="weibull"))
    pd.testing.assert_frame_equal(each.confint(0.9).summary_frame(), frame)


def test_covariances(fit):
    covariances, found = fit.vcov(B=39, rng=5), fit.confint(B=39, rng=5)
    np.testing.assert_allclose(np.sqrt(np.diag(covariances)), found.summary_frame()["se"])
    assert covariances.index.equals(covariances.columns)
    assert np.linalg.eigvalsh(covariances.to_numpy()).min() >= -1e-10 * covariances.to_numpy().max()


def test_weights_are_repeats(K):
    data = sample(K, 60, seed=6)
    one = svm("y ~ x + z", data, weights="w", **HOW).confint(B=39, rng=7).summary_frame()
    other = svm("y ~ x + z", repeated(data), **HOW).confint(B=39, rng=7).summary_frame()
    pd.testing.assert_frame_equal(one, other, rtol=TOL, atol=TOL)


def test_columns_measured_in_other_units(K):
    data = sample(K, 60, seed=8)
    one, other = (
        svm("y ~ x + z", each, **HOW).confint(B=39, rng=9).summary_frame()
        for each in (data, data.assign(x=data["x"] * 100.0))
    )
    places = one.index.get_level_values("term") == "x"
    np.testing.assert_allclose(other[places], one[places] / 100.0, rtol=TOL, atol=TOL)
    np.testing.assert_allclose(other[~places], one[~places], rtol=TOL, atol=TOL)


@pytest.mark.parametrize("method", ["confint", "vcov"])
def test_what_is_not_linear(method, monkeypatch):
    fit = svm("y ~ x + z", sample(2, 40))
    monkeypatch.setattr("svmstat.results.uncertainty.pairs_replicates", lambda *_, **__: pytest.fail("it was solved"))
    with pytest.raises(UnavailableError, match=re.escape("kernel 'rbf': effects() shows what each predictor does")):
        getattr(fit, method)()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"level": 1.0}, "level=1.0 is not allowed"),
        ({"B": 38}, "with level=0.95, B=38 is not allowed: it must be an integer >= 39"),
        ({"B": 0}, "B=0 is not allowed"),
        ({"rng": "x"}, "rng='x' is not allowed"),
    ],
)
def test_arguments(arguments, message):
    with pytest.raises(ArgumentError, match=re.escape(message)):
        svm("y ~ x + z", sample(2, 40), **HOW).confint(**arguments)


@pytest.mark.parametrize("K", [3], ids=["three"])
def test_replicates_that_fail_are_counted(lonely):
    found = svm("y ~ x + z", lonely, **HOW).confint(0.5, B=39, rng=1)
    assert 0 < found.n_failed < 39
    assert np.isfinite(found.summary_frame().to_numpy()).all()
    narrow = svm("y ~ x + z", lonely, **HOW).bootstrap(B=39, rng=1).confint()
    assert narrow.summary_frame()[["se", "lower", "upper"]].isna().all(axis=None)
    assert f"{found.n_failed} of 39 replicates have no coefficients" in " ".join(str(narrow).split())


@forms.in_each_form
def test_printed(fit, form):
    found = fit.confint(B=39, rng=5)
    text = forms.plain(found.summary(), form)
    assert text.count("Coefficients of f, positive towards") == len(fit.pairs)
    for told in ("no intervals of a logistic regression", "benchmarks validity coefficients", "no test of the term"):
        assert told in text
    forms.assert_narrow(found.summary())
    assert repr(found).startswith("<Coefficients: 6 terms") and "39 replicates" in repr(found)


def test_in_the_summary_of_a_fit(fit, K):
    replicates = fit.bootstrap(B=39, rng=5)
    text = " ".join(str(fit.summary(bootstrap=replicates)).split())
    told = "std. error lower upper", "95 % percentiles of 39 replicates", "no intervals of a logistic regression"
    assert [each in text for each in told] == [K < 6] * 3
    assert K < 6 or "of the 15 pairs are in .params, their intervals in .confint()" in text
    assert "no intervals of a logistic regression" not in " ".join(str(fit.summary()).split())
    with pytest.raises(ArgumentError, match="what the method bootstrap"):
        fit.update(C=2).summary(bootstrap=replicates)


def test_intervals_of_an_f_that_is_constant_are_said_to_tell_little():
    rng = np.random.default_rng([0, 13, 5])
    x, z = rng.normal(size=(2, 200))
    data = pd.DataFrame({"x": x, "z": z, "y": rng.uniform(size=200) < 1 / (1 + np.exp(-(0.7 * x - 1.4)))})
    flat = svm("y ~ x + z", data, kernel="linear").confint(B=59, rng=0)
    assert flat.n_constant == np.sum((flat.replicates[:, 1:, 0] == 0).all(axis=1)) > 29
    assert f"WARNING: f is constant in {flat.n_constant} of 59 replicates." in " ".join(str(flat).split())
    data["y"] = x + rng.normal(size=200) > 0
    assert "WARNING" not in str(svm("y ~ x + z", data, kernel="linear").confint(B=59, rng=0))


def test_pairs_whose_f_is_constant_are_named_and_no_others():
    """That f of some pair is constant in most replicates was said of all."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 20, 400)
    X = (3.0 * rng.normal(size=(20, 3)))[y] + rng.normal(size=(400, 3))
    data = pd.DataFrame({"y": pd.Categorical(y), "x": X[:, 0], "z": X[:, 1]})
    many = svm("y ~ x + z", data, kernel="linear").confint(B=39, rng=1)
    constant = (many.replicates[:, 1:] == 0).all(axis=1)
    assert constant.any(axis=1).sum() > many.n_constant == constant.sum(axis=0).max()
    assert many.n_constant < 20 and "WARNING" not in str(many)
    data["y"] = np.array(list("aaaaabbbbbccccccdddd"))[y]
    alike = data.y.isin(["c", "d"])
    data.loc[alike, ["x", "z"]] = rng.normal(size=(int(alike.sum()), 2))
    data["x"] += 6.0 * (data.y == "a") - 6.0 * (data.y == "b")
    flat = svm("y ~ x + z", data, kernel="linear", C=0.01).confint(B=39, rng=1)
    assert (flat.replicates[:, 1:, :5] == 0).all(axis=1).sum() == 0
    text = " ".join(str(flat).split())
    assert f"WARNING: f of c : d is constant in {flat.n_constant} of 39 replicates." in text


@pytest.mark.parametrize(("p", "outside"), [(4, False), (90, True)])
def test_slopes_outside_their_own_interval_are_counted(p, outside):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(100, p))
    data = pd.DataFrame(X).rename(columns=str).add_prefix("x").assign(y=X[:, 0] - X[:, 1] + rng.logistic(size=100) > 0)
    found = svm("y ~ .", data, kernel="linear").confint(B=59, rng=1)
    frame = found.summary_frame().iloc[1:]
    expected = (frame["estimate"] < frame["lower"]) | (frame["estimate"] > frame["upper"])
    assert found.n_outside == expected.sum() and (found.n_outside > 0) == outside
    told = f"{found.n_outside} of {p} slopes lie outside their own interval."
    assert (told in " ".join(str(found).split())) == outside


def test_levels_whose_slope_is_mostly_zero_are_named():
    """Two rows far on the right side of f: they are outside the margins in each replicate that has them."""
    rng = np.random.default_rng(6)
    data = pd.DataFrame({"x": rng.normal(size=100), "g": np.repeat(["a", "b", "rare"], [49, 49, 2])})
    data.loc[98:, "x"] = 6.0
    data["y"] = data["x"] + 0.5 * rng.logistic(size=100) > 0
    found = svm("y ~ x + g", data, kernel="linear").confint(B=59, rng=1)
    zero = (found.replicates[:, 1:, 0] == 0.0).mean(axis=0)
    assert zero[-1] > 0.9 and zero[:-1].max() < 0.2 and found.n_constant == 0
    text = " ".join(str(found).split())
    assert "WARNING: g[rare] is 0 in a fifth or more of the replicates" in text
    without = svm("y ~ x + g", data[:98], kernel="linear").confint(B=59, rng=1)
    assert "WARNING" not in str(without)


def test_what_rounding_leaves_of_a_coefficient_is_zero(fit):
    """A bound of 1e-17 would say that a slope is above 0."""
    found = fit.confint(B=59, rng=1)
    some = found.replicates.copy()
    some[:20, 1] = np.abs(some[:, 1]).max() * np.where(np.arange(20) % 2, 1e-16, -1e-16)[:, None]
    some[20:, 1] = np.abs(some[20:, 1])
    frame = replace(found, replicates=some).summary_frame()
    of_x = frame[frame.index.get_level_values(-1) == fit.param_names[1]]
    assert (of_x["lower"] == 0.0).all() and (of_x["upper"] > 0.0).all()
