"""The estimator says what `svm` says, digit by digit, in the order and the shapes of scikit-learn."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from levels import laplace, repeated, sample
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC

from svmstat import svm, tune
from svmstat.errors import (
    ArgumentError,
    ArgumentTypeError,
    DataError,
    DesignWarning,
    FormulaError,
    UnavailableError,
)
from svmstat.kernels import RBF, Linear
from svmstat.sklearn import SVMClassifier

LABELS = {
    "text": np.array(list("bcafed")),
    "integers": np.array([7, 30, -2, 4, 5, 6]),
    "floats": np.array([0.0, -1.0, 2.0, 3.0, 4.0, 5.0]),
    "days": np.array(["2026-01-02", "2026-01-01", "2026-02-01", "2026-03-01", "2026-04-01", "2026-05-01"], "M8[D]"),
    "moments": np.array([3, 1, 20, 21, 22, 23], "M8[ns]"),
}


def two_numbers(K, n=60):
    data = sample(K, n)
    return data[["x", "z"]], data["y"].to_numpy()


def same_as(estimator, fit, X, data):
    """All that both say of rows, X as the estimator takes them and as the data of the fit."""
    f = fit.decision_at(data)[1]
    if len(fit.classes) == 2:
        np.testing.assert_array_equal(estimator.decision_function(X), f[:, 0])
    assert estimator.predict(X).tolist() == fit.predict(data).tolist()
    assert estimator.classes_.tolist() == list(fit.classes)
    np.testing.assert_array_equal(estimator.predict_proba(X), fit.predict_proba(data).to_numpy())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"C": 8.0, "gamma": 0.3, "scale": False},
        {"kernel": "linear", "class_weight": "balanced", "gamma": 2.0},
        {"kernel": "poly", "degree": 2, "coef0": 1.0, "calibration": "insample", "loss": "p0"},
        {"kernel": 2 * RBF(gamma="median") + Linear(), "calibration": "venn-abers"},
        {"kernel": laplace, "priors": "equal", "coupling": "hastie-tibshirani"},
    ],
    ids=lambda options: " ".join(map(str, options)) or "defaults",
)
@pytest.mark.parametrize("K", [2, 3])
def test_arrays_and_frames_are_the_fit_of_svm(options, K):
    X, y = two_numbers(K)
    if "priors" in options:
        options = options | {"priors": dict.fromkeys(y, 1 / K)}
    fit = svm("y ~ x + z", X.assign(y=y), **options)
    new = sample(K, 40, seed=5)[["x", "z"]]
    for given, rows in ((X, new), (X.to_numpy(), new.to_numpy()), (X.to_numpy().tolist(), new.to_numpy())):
        same_as(SVMClassifier(**options).fit(given, y), fit, rows, new)


@pytest.mark.parametrize(
    "formula", [None, "~ .", ". ", "x*site + np.exp(z / 50) + s(x)", "target ~ x + side:z + C(site)"]
)
@pytest.mark.parametrize("K", [2, 3])
def test_columns_of_any_kind(formula, K):
    data = sample(K)
    X, new = (each[["x", "z", "site", "side"]] for each in (data, sample(K, 40, seed=5)))
    right = "x + z + site + side" if formula is None or "." in formula[-2:] else formula.rpartition("~")[2]
    fit = svm(f"y ~ {right}", data, C=4.0)
    estimator = SVMClassifier(formula=formula, C=4.0).fit(X, data["y"])
    same_as(estimator, fit, new, new)
    assert estimator.n_features_in_ == 4
    assert estimator.feature_names_in_.tolist() == ["x", "z", "site", "side"]
    assert estimator.result_.response_name == ("target" if formula and "target" in formula else "y")
    with pytest.warns(UserWarning, match="does not have valid feature names"):  # scikit-learn's own
        assert (estimator.predict(new.to_numpy()) == estimator.predict(new)).all()


def test_a_formula_on_some_numbers():
    data = sample(2)
    X = data[["w", "z", "x"]]
    estimator = SVMClassifier(formula="x + z").fit(X, data["y"])
    same_as(estimator, svm("y ~ x + z", data), X, X)


def test_columns_that_a_formula_does_not_read_may_be_missing():
    data = sample(2)
    X, later = data[["w", "z", "x"]], data[["w", "z", "x"]].assign(w=np.nan)
    estimator = SVMClassifier(formula="x + z").fit(X, data["y"])
    np.testing.assert_array_equal(estimator.predict_proba(later), estimator.predict_proba(X))
    of_array = SVMClassifier(formula="x1 + x2").fit(X.to_numpy(), data["y"])
    np.testing.assert_array_equal(of_array.predict(later.to_numpy()), of_array.predict(X.to_numpy()))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        estimator.predict(X.assign(z=np.nan))


def test_a_formula_of_an_array():
    X, y = two_numbers(2)
    estimator = SVMClassifier(formula="x0*x1").fit(X.to_numpy(), y)
    same_as(estimator, svm("y ~ x*z", X.assign(y=y)), X.to_numpy(), X)


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("K", [2, 3, 6])
def test_labels(kind, K):
    X, y = two_numbers(K)
    codes = np.searchsorted(np.unique(y), y)
    labels = LABELS[kind][:K][codes]
    estimator = SVMClassifier(C=4.0).fit(X, labels)
    assert estimator.classes_.tolist() == sorted(LABELS[kind][:K].tolist())
    assert estimator.classes_.dtype == estimator.predict(X).dtype == labels.dtype
    f, predicted = estimator.decision_function(X), estimator.predict(X)
    if K == 2:
        assert f.shape == (60,)
        assert (predicted == estimator.classes_[(f > 0).astype(int)]).all()
    else:
        assert f.shape == (60, K)
        assert (predicted == estimator.classes_[f.argmax(axis=1)]).all()
    p = estimator.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(estimator.predict_log_proba(X), np.log(p))
    assert estimator.score(X, labels) == (predicted == labels).mean() > 1.5 / K


def test_more_numbers_than_a_response_of_a_formula_may_have():
    """Thirty numbers are a measurement in a formula; y of a classifier is classes."""
    X = np.repeat(np.arange(30.0), 3)[:, None] + np.tile([0.0, 0.1, 0.2], 30)[:, None]
    y = np.repeat(np.arange(30), 3) * 10
    estimator = SVMClassifier(C=100.0, gamma=50.0).fit(X, y)
    assert estimator.decision_function(X).shape == (90, 30)
    assert estimator.score(X, y) == 1.0


def test_booleans_and_an_event():
    X, y = two_numbers(2)
    plain = SVMClassifier(costs={"fp": 1, "fn": 3}).fit(X, y == "b")
    assert plain.classes_.tolist() == [False, True]
    turned = SVMClassifier(costs={"fp": 3, "fn": 1}, event=False).fit(X, y == "b")
    assert turned.result_.event is False
    np.testing.assert_allclose(turned.decision_function(X), plain.decision_function(X), atol=1e-7)
    assert (turned.predict(X) == (turned.decision_function(X) > 0)).all()
    np.testing.assert_allclose(turned.predict_proba(X), plain.predict_proba(X), atol=1e-6)


def test_the_shape_for_many_classes_is_that_of_svc():
    X, y = two_numbers(6, 120)
    ours = SVMClassifier(C=2.0, gamma=0.5, scale=False).fit(X, y)
    theirs = SVC(C=2.0, gamma=0.5, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("K", [2, 3])
def test_sample_weight_counts_repeats(K):
    data = sample(K)
    X, w = data[["x", "z", "site"]], data["w"].to_numpy()
    weighted = SVMClassifier(C=4.0).fit(X, data["y"], sample_weight=pd.Series(w, index=np.arange(len(w)) + 5))
    rows = repeated(data)
    same = SVMClassifier(C=4.0).fit(rows[["x", "z", "site"]], rows["y"])
    np.testing.assert_array_equal(weighted.decision_function(X), same.decision_function(X))
    np.testing.assert_allclose(weighted.predict_proba(X), same.predict_proba(X), rtol=1e-12)
    assert weighted.result_.nobs == w.sum()


def test_a_class_without_weight_is_absent():
    X, y = two_numbers(3)
    estimator = SVMClassifier().fit(X, y, sample_weight=(y != "b").astype(float))
    assert estimator.classes_.tolist() == ["a", "c"]
    assert estimator.decision_function(X).shape == (60,)


@pytest.mark.parametrize("K", [2, 3])
def test_a_gram_matrix(K):
    X, y = two_numbers(K)
    gram = X.to_numpy() @ X.to_numpy().T
    given = SVMClassifier(kernel="precomputed").fit(gram[:50, :50], y[:50])
    fit = svm("y ~ x + z", X.assign(y=y)[:50], kernel="linear", scale=False)
    np.testing.assert_allclose(
        given.result_.machine.decision_function(gram[50:, :50]), fit.decision_at(X[50:])[1], atol=1e-6
    )
    assert (given.predict(gram[50:, :50]) == fit.predict(X[50:]).to_numpy()).all()


@pytest.mark.parametrize("K", [2, 3])
def test_result(K):
    data = sample(K)
    estimator = SVMClassifier(C=4.0).fit(data[["x", "z", "site"]], data["y"].rename("kind"))
    fit = estimator.result_
    assert fit.formula == "kind ~ x + z + site"
    assert fit.loo().score == svm("y ~ x + z + site", data, C=4.0).loo().score
    assert fit.update(". ~ . - site").formula == "kind ~ x + z"
    assert fit.untuned == ("gamma",)
    assert "Formula:   kind ~ x + z + site" in str(fit.summary())


def test_names_that_no_formula_can_write():
    X, y = two_numbers(2)
    odd = X.set_axis(["mean depth", "class"], axis=1)
    estimator = SVMClassifier().fit(odd, pd.Series(y, name="mean depth"))
    assert estimator.result_.formula == 'Q("mean depth_") ~ Q("mean depth") + Q("class")'
    assert (estimator.predict(odd) == SVMClassifier().fit(X, y).predict(X)).all()
    numbered = X.set_axis([0, 1], axis=1)
    assert (SVMClassifier().fit(numbered, y).predict(numbered) == estimator.predict(odd)).all()


def test_a_probability_is_what_makes_the_map():
    X, y = two_numbers(3)
    estimator = SVMClassifier().fit(X, y)
    estimator.predict(X), estimator.decision_function(X)
    assert not estimator.result_.has_maps
    estimator.predict_proba(X)
    assert estimator.result_.has_maps


def test_parameters_are_kept_as_they_are_given():
    kernel, costs = RBF(gamma=0.5), {"fp": 2}
    estimator = SVMClassifier(kernel=kernel, costs=costs, C="nonsense")
    assert estimator.kernel is kernel
    assert estimator.costs is costs
    again = clone(estimator)
    assert again.get_params()["C"] == "nonsense"
    with pytest.raises(ArgumentError, match="C='nonsense' is not allowed"):
        again.fit(*two_numbers(2))


X2, Y2 = two_numbers(2)


@pytest.mark.parametrize(
    ("error", "message", "options", "X", "y", "weights"),
    [
        (ArgumentError, "kernel='rfb' is not allowed", {"kernel": "rfb"}, X2, Y2, None),
        (ArgumentError, "nu=0.3 and C are not allowed together", {"nu": 0.3, "C": 2.0}, X2, Y2, None),
        (ArgumentError, "theta=.* is not allowed", {"theta": {"x": 2}}, X2, Y2, None),
        (ArgumentError, "weights hold -1.0", {}, X2, Y2, -np.ones(60)),
        (ValueError, "sample_weight.shape", {}, X2, Y2, np.ones(59)),
        (ArgumentTypeError, "formula=3 is not allowed", {"formula": 3}, X2, Y2, None),
        (FormulaError, "has no column 'X'|have no column 'X'", {"formula": "X"}, X2, Y2, None),
        (FormulaError, "compute 'a > 0' beforehand", {"formula": "a > 0 ~ x"}, X2, Y2, None),
        (FormulaError, "cannot be read", {"formula": "x +"}, X2, Y2, None),
        (DataError, "X has the column 'x', which the formula has as", {"formula": "x ~ z"}, X2, Y2, None),
        (DataError, "missing values, in column 'x'", {"formula": "x"}, X2.mask(X2 > 1), Y2, None),
        (DataError, "missing values, in column 'g'", {}, X2.assign(g=[None, *"a" * 30, *"b" * 29]), Y2, None),
        (ValueError, "contains NaN", {}, X2.mask(X2 > 1), Y2, None),
        (ValueError, "contains NaN", {"formula": "x"}, X2, np.array([np.nan, *Y2[1:]], object), None),
        (ValueError, "inconsistent numbers of samples", {"formula": "x"}, X2, Y2[1:], None),
        (ValueError, "Unknown label type", {}, X2, np.linspace(0, 1, 60), None),
    ],
)
@pytest.mark.usefixtures("nothing_is_solved")
def test_bad_input(error, message, options, X, y, weights):
    with pytest.raises(error, match=message):
        SVMClassifier(**options).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (X2[["z", "x"]], "must be in the same order"),
        (X2[["x"]], "Feature names seen at fit time, yet now missing"),
        (X2.mask(X2 > 1), "contains NaN"),
    ],
)
def test_bad_rows(new, message):
    with pytest.raises(ValueError, match=message):
        SVMClassifier().fit(X2, Y2).predict(new)


def test_bad_rows_of_a_formula():
    estimator = SVMClassifier(formula="x + bs(z, df=4)").fit(X2, Y2)
    with pytest.raises(DataError, match="X has a missing value in row 3: fill it in"):
        estimator.predict(X2.assign(z=X2["z"].mask(X2.index == 3)))
    with pytest.raises(NotFittedError):
        clone(estimator).predict_proba(X2)
    large = SVMClassifier().fit(X2 * 1e-200, Y2)
    with pytest.raises(DataError, match="column 'x', standardised, is infinite in row 0"):
        large.predict(X2 * 1e200)


# A fit as an estimator


@pytest.mark.parametrize("K", [2, 3])
def test_a_fit_as_an_estimator(K):
    data = sample(K)
    levels = ["c", "b", "a"][3 - K :]
    data["y"] = pd.Categorical(np.array(levels)[np.unique(data["y"], return_inverse=True)[1]], levels)
    fit = svm("y ~ x + np.exp(z / 50) + site", data, C=4.0, weights="w", class_weight={"a": 2.0})
    estimator = fit.as_estimator()
    assert estimator.result_ is fit
    assert estimator.classes_.tolist() == sorted(levels)
    assert estimator.feature_names_in_.tolist() == ["x", "z", "site"]
    X = data[estimator.feature_names_in_]
    assert estimator.predict(X).tolist() == fit.predict(data).tolist()
    pd.testing.assert_frame_equal(
        pd.DataFrame(estimator.predict_proba(X), columns=sorted(levels)), fit.predict_proba(data)[sorted(levels)],
        check_column_type=False,
    )  # fmt: skip
    f = estimator.decision_function(X)
    if K == 2:  # the event is the last category, "a"
        np.testing.assert_array_equal(f, -fit.decision_values)
    chosen = f.argmax(axis=1) if K > 2 else (f > 0).astype(int)
    assert estimator.classes_[chosen].tolist() == fit.predict(data).tolist()
    again = clone(estimator).fit(X, data["y"], sample_weight=data["w"])
    assert estimator.get_params() == again.get_params()
    np.testing.assert_allclose(again.decision_function(X), f, atol=1e-6)
    copied = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(copied.decision_function(X), f)


@pytest.mark.parametrize(
    "options",
    [{"costs": {"fp": 1, "fn": 5}, "C": 4.0}, {"nu": (0.3, 0.6)}, {"loss": "p0", "priors": {"a": 0.2, "b": 0.8}}],
    ids=str,
)
@pytest.mark.parametrize("levels", [["b", "a"], ["a", "b"]], ids=str)
def test_a_clone_has_the_event_of_the_fit(options, levels):
    """Costs and nu are of the event, and levels come to a clone in alphabetical order."""
    data = sample(2)
    data["y"] = pd.Categorical(np.array(levels)[np.unique(data["y"], return_inverse=True)[1]], levels)
    fit = svm("y ~ x + z", data, **options)
    again = clone(fit.as_estimator()).fit(data[["x", "z"]], data["y"])
    assert again.result_.event == fit.event == levels[1]
    np.testing.assert_allclose(again.result_.decision_values, fit.decision_values, atol=1e-7)


def test_of_a_search_it_has_what_was_found():
    data = sample(2)
    best = tune("y ~ x + z", data, C=[0.5, 2.0, 8.0], gamma=[0.01, 0.1, 0.4, 1.6], criterion="loo").best
    estimator = best.as_estimator()
    assert (estimator.C, estimator.gamma) == (best.C, best.kernel_parameters["gamma"])
    again = clone(estimator).fit(data[["x", "z"]], data["y"])
    np.testing.assert_array_equal(again.decision_function(data[["x", "z"]]), best.decision_values)


def test_of_a_gram_matrix_some_rows():
    X, y = two_numbers(2)
    gram = pd.DataFrame(X.to_numpy() @ X.to_numpy().T).add_prefix("k")
    fit = svm("y ~ .", gram.assign(y=y), kernel="precomputed", subset=np.arange(60) < 40)
    f = fit.as_estimator().decision_function(gram.iloc[40:])
    np.testing.assert_array_equal(f, fit.decision_function(gram.iloc[40:]))


def test_without_a_call_there_are_no_parameters():
    fit = svm("y ~ x + z", sample(2))
    object.__setattr__(fit, "call", None)
    with pytest.raises(UnavailableError, match="this fit has none"):
        fit.as_estimator()


WITHOUT = """
import sys, svmstat.report
from svmstat import datasets, svm
assert "sklearn" not in sys.modules
sys.modules["sklearn"] = None
fit = svm("egg_count > 0 ~ lon", datasets.load("mackerel")[:50])
try:
    fit.as_estimator()
except ImportError as error:
    print(error)
"""


def test_scikit_learn_is_imported_by_who_asks_for_it():
    done = subprocess.run([sys.executable, "-P", "-c", WITHOUT], capture_output=True, text=True, check=True)
    assert done.stdout == "svmstat.sklearn needs scikit-learn 1.6 or later: pip install 'svmstat[sklearn]'.\n"


def test_weights_of_a_survey_have_no_scale(K):
    data = sample(K)
    X, w = data[["x", "z"]], data["w"]
    one, ten = (SVMClassifier(weight_type="probability").fit(X, data["y"], c * w) for c in (1.0, 8.0))
    np.testing.assert_array_equal(one.predict_proba(X), ten.predict_proba(X))


@pytest.mark.parametrize("formula", [None, "x * g"])
def test_frames_of_other_libraries_may_have_text(formula):
    data = pd.DataFrame({"x": np.arange(40.0) % 9, "g": np.where(np.arange(40) % 3, "a", "b")})
    y = (data["x"] > 4).to_numpy()
    other = pl.from_pandas(data)
    expected = SVMClassifier(formula=formula).fit(data, y)
    found = SVMClassifier(formula=formula).fit(other, y)
    assert found.feature_names_in_.tolist() == ["x", "g"]
    np.testing.assert_array_equal(found.decision_function(other), expected.decision_function(data))


def test_groups_of_rows_without_an_index_are_taken_by_position():
    """As weights and labels are, which come out of a pipeline beside an array."""
    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(60, 2)), rng.integers(2, size=60), pd.Series(np.arange(60) // 3, np.arange(60) + 9)
    found = SVMClassifier().fit(X, y, groups=groups)
    assert found.result_.loo().score == SVMClassifier().fit(X, y, groups=groups.to_numpy()).result_.loo().score


def test_more_than_two_levels_are_no_case_for_nu():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    with pytest.raises(ArgumentError, match="Only binary classification is supported"):
        SVMClassifier(nu=0.2).fit(X, y)


def test_a_cost_of_any_type_that_is_the_default_goes_with_nu():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.resize([0, 1], 40)
    for cost in (1, 1.0, np.float64(1.0)):
        assert SVMClassifier(nu=0.3, C=cost).fit(X, y).result_.nu is not None


def test_levels_of_several_types_are_no_labels_of_scikit_learn():
    """They would all become texts, which the data do not hold."""
    data = pd.DataFrame({"x": np.arange(20.0)})
    data["k"] = pd.Categorical.from_codes(np.resize([0, 1, 1, 0, 1], 20), pd.Index([1, "b"], dtype=object))
    with pytest.raises(UnavailableError, match=r"needs levels of one type, which can be sorted: they are \(1, 'b'\)"):
        svm("k ~ x", data).as_estimator()


@pytest.mark.parametrize("make", [pd.Series, pl.Series, np.array], ids=["pandas", "polars", "array"])
def test_one_column_alone_has_to_be_a_table(make):
    X = make(np.arange(10.0))
    with pytest.raises(ValueError, match=r"Expected (2D array|a 2-dimensional container)"):
        SVMClassifier().fit(X, np.arange(10) % 2)
    fitted = SVMClassifier().fit(np.arange(10.0)[:, None], np.arange(10) % 2)
    with pytest.raises(ValueError, match=r"Expected (2D array|a 2-dimensional container)"):
        fitted.predict(X)


@pytest.mark.parametrize("bad", [{"C": -1.0}, {"formula": "nothing"}])
def test_a_fit_that_fails_leaves_what_there_was(bad):
    """Names of columns go with the machine: rows in another order had been predicted by position."""
    X, y = two_numbers(2)
    estimator = SVMClassifier().fit(X, y)
    f = estimator.decision_function(X)
    with pytest.raises(ValueError, match=r"C=-1.0 is not allowed|have no column 'nothing'"):
        estimator.set_params(**bad).fit(X[["z", "x"]], y)
    with pytest.raises(ValueError, match="must be in the same order"):
        estimator.predict(X[["z", "x"]])
    np.testing.assert_array_equal(estimator.decision_function(X), f)
    never = SVMClassifier(**bad)
    with pytest.raises(ValueError, match=r"C=-1.0 is not allowed|have no column 'nothing'"):
        never.fit(X, y)
    with pytest.raises(NotFittedError):
        never.predict(X)


@pytest.mark.parametrize("formula", [None, "x0 + x1", "x0 * x1", "s(x0) + x1"])
@pytest.mark.filterwarnings("ignore:X has feature names, but SVMClassifier was fitted without")
def test_columns_are_taken_by_position_where_the_fit_had_no_names(formula):
    X, y = two_numbers(2)
    estimator = SVMClassifier(formula=formula).fit(X.to_numpy(), y)
    f = estimator.decision_function(X.to_numpy())
    for names in (["x", "z"], ["x1", "x0"], [1, 0]):
        np.testing.assert_array_equal(estimator.decision_function(X.set_axis(names, axis=1)), f)


@pytest.mark.parametrize("options", [{"nu": 0.3}, {"costs": {"fp": 1, "fn": 3}}], ids=str)
def test_two_classes_are_those_of_positive_weight(options):
    X, y = two_numbers(3)
    estimator = SVMClassifier(**options).fit(X, y, sample_weight=(y != "b").astype(float))
    alone = SVMClassifier(**options).fit(X[y != "b"], y[y != "b"])
    np.testing.assert_allclose(estimator.decision_function(X), alone.decision_function(X), atol=1e-9)


def test_weights_of_classes_that_a_fold_does_not_have():
    X, y = two_numbers(2)
    weights = {"b": 1.0, "c": 2.0}
    some = SVMClassifier(class_weight={**weights, "a": 9.0}).fit(X, y)
    np.testing.assert_array_equal(
        some.decision_function(X), SVMClassifier(class_weight=weights).fit(X, y).decision_function(X)
    )
    with pytest.raises(ArgumentError, match="a mapping of levels, which are 'b', 'c'"):
        SVMClassifier(class_weight={"a": 1.0, "c": 2.0}).fit(X, y)


def test_the_response_is_none_of_the_columns():
    X, y = two_numbers(2)
    with pytest.raises(FormulaError, match="have no column 'y'"):
        SVMClassifier(formula="x + C(y)").fit(X, y)
    called = SVMClassifier(formula="x + np.exp(z)").fit(X, pd.Series(y, name="np"))
    assert called.result_.formula == "y ~ x + np.exp(z)"


def test_a_term_that_is_not_a_number_is_told_from_a_missing_value():
    X, y = two_numbers(2)
    estimator = SVMClassifier(formula="np.log(x + 9) + z").fit(X, y)
    with (
        pytest.warns(DesignWarning, match="is not a number in 1 row"),
        pytest.raises(DataError, match="a term of the formula is missing, and no column of X, in row 5"),
    ):
        estimator.predict(X.assign(x=X["x"].mask(X.index == 5, -20.0)))


@pytest.mark.parametrize("formula", [None, "x + s(z)"])
def test_no_rows(formula):
    X, y = two_numbers(2)
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        SVMClassifier(formula=formula).fit(X, y).predict(X[:0])


def test_a_subclass_may_have_parameters_of_its_own():
    class Named(SVMClassifier):
        def __init__(self, *, C=1.0, title="mine"):
            super().__init__(C=C)
            self.title = title

    X, y = two_numbers(2)
    f = Named(C=3.0, title="yours").fit(X, y).decision_function(X)
    np.testing.assert_array_equal(f, SVMClassifier(C=3.0).fit(X, y).decision_function(X))


def test_missing_values_are_told_without_an_argument_that_there_is_not():
    for fit in (
        lambda: SVMClassifier().fit(X2.assign(g=[None, *"a" * 30, *"b" * 29]), Y2),
        lambda: SVMClassifier().fit(X2, Y2, groups=np.where(np.arange(60) == 7, np.nan, np.arange(60) // 3)),
    ):
        with pytest.raises(DataError, match="fill them in, or leave these rows out") as told:
            fit()
        assert "na_action" not in str(told.value)
