"""update() is the fit from scratch, digit by digit."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from levels import quiet, sample

from svmstat import compare, neyman_pearson, svm, tune
from svmstat.errors import ArgumentError, ArgumentTypeError, DataError, UnavailableError
from svmstat.loading import load

START = {"C": 2.0, "gamma": 0.4, "weights": "w"}


def assert_same_fit(found, expected):
    assert str(found.summary()) == str(expected.summary())
    np.testing.assert_array_equal(found.decision_values, expected.decision_values)
    np.testing.assert_array_equal(found.predict_proba(), expected.predict_proba())


@pytest.fixture
def data(K):
    return sample(K, 72, seed=4)


CHANGES = {
    "nothing": ({}, {}),
    "C": ({"C": 5.0}, {"C": 5.0}),
    "gamma": ({"gamma": "scale"}, {"gamma": "scale"}),
    "kernel": ({"kernel": "linear"}, {"kernel": "linear", "gamma": None}),
    "the same kernel": ({"kernel": "rbf", "C": 3.0}, {"C": 3.0}),
    "loss and calibration": ({"loss": "p0", "calibration": "insample"}, {"loss": "p0", "calibration": "insample"}),
    "no weights": ({"weights": None}, {"weights": None}),
    "subset": ({"subset": "x > -1"}, {"subset": "x > -1"}),
    "scale": ({"scale": False}, {"scale": False}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_settings(data, K, name):
    changes, options = CHANGES[name]
    if K > 2 and "loss" in changes:
        changes, options = {"coupling": "hastie-tibshirani"}, {"coupling": "hastie-tibshirani"}
    wanted = {key: value for key, value in {**START, **options}.items() if value is not None}
    assert_same_fit(svm("y ~ x + z", data, **START).update(**changes), svm("y ~ x + z", data, **wanted))


@pytest.mark.parametrize(
    ("change", "formula"), [(". ~ . - z", "y ~ x"), ("~ . + site", "y ~ x + z + site"), ("~ .**2", "y ~ x + z + x:z")]
)
def test_formulas(data, change, formula):
    assert_same_fit(svm("y ~ x + z", data, **START).update(change), svm(formula, data, **START))


def test_data(data):
    fit, other = svm("y ~ x + site", data, **START), data.iloc[::-1].iloc[:60]
    assert_same_fit(fit.refit(other), svm("y ~ x + site", other, **START))
    assert_same_fit(fit.update("~ . - site", other, C=3.0), svm("y ~ x", other, **{**START, "C": 3.0}))


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("name", ["weights", "groups", "subset"])
def test_arrays_are_not_taken_for_other_rows_on_the_same_index(data, name, library):
    """Rows in another order on the index 0 ... n - 1: nothing but their columns tells them apart."""
    data = data.reset_index(drop=True).assign(lists=[[k] for k in range(len(data))])
    data = pd.concat([data, data[["lists"]].set_axis(["same"], axis=1)], axis=1)
    others = data.sample(frac=1.0, random_state=1, ignore_index=True)
    array = {"weights": data["w"].to_numpy(), "groups": np.arange(len(data)) // 6, "subset": np.arange(len(data)) > 9}
    frames = [data, others, data.assign(x=data["x"] + data["z"])]
    if library == "polars":
        frames = [pl.from_pandas(each.drop(columns=["lists", "same"])) for each in frames]
    else:
        frames = [each.rename(columns={"same": "lists"}) for each in frames]
    fit = svm("y ~ x + z", frames[0], C=2.0, kernel="linear", **{name: array[name]})
    with pytest.raises(ArgumentError, match=f"{name} was given as an array for the rows of the data as they were"):
        fit.refit(frames[1])
    assert_same_fit(fit.update(data=frames[1], **{name: None}), svm("y ~ x + z", frames[1], C=2.0, kernel="linear"))
    changed = svm("y ~ x + z", frames[2], C=2.0, kernel="linear", **{name: array[name]})
    assert_same_fit(fit.refit(frames[2]), changed)


@pytest.fixture(params=["svm", "tune"])
def given(request, data):
    """A frame and weights of which a fit was made, and the fit."""
    frame, weights = data.copy(), data["w"].to_numpy().copy()
    options = {"kernel": "linear", "weights": weights}
    if request.param == "tune":
        return frame, weights, quiet("y ~ x + z", frame, C=[1.0, 2.0], **options).best
    return frame, weights, svm("y ~ x + z", frame, C=2.0, **options)


def test_what_a_fit_was_given_stays_as_it_was(given):
    frame, weights, fit = given
    effects, larger = str(fit.effects("x")), fit.add1("site").table
    frame.loc[:, "x"] = 0.0
    frame["z"] = 1.0
    weights[:5] += 1
    assert str(fit.effects("x")) == effects
    assert fit.add1("site").table.equals(larger)


def test_an_update_is_of_what_the_data_have_become(given):
    frame, _, fit = given
    was = frame["w"].to_numpy().copy()
    frame.loc[:, "x"] = -(frame["z"] ** 2)
    frame["later"] = frame["x"] + frame["z"]
    expected = svm("y ~ x + z + later", frame, C=3.0, kernel="linear", weights=was)
    assert_same_fit(fit.update("~ . + later", C=3.0), expected)
    assert_same_fit(pickle.loads(pickle.dumps(fit)).update("~ . + later", C=3.0), expected)


def test_columns_that_the_data_have_been_given_since(given):
    frame, _, fit = given
    frame["block"], frame["later"] = np.arange(len(frame)) // 10, np.arange(len(frame)) % 7
    labels, smaller = frame["block"].to_numpy(), fit.update("~ . - z")
    assert str(fit.kfold("block")) == str(fit.kfold(labels))
    assert str(compare(fit, smaller, folds="block")) == str(compare(fit, smaller, folds=labels))
    assert fit.add1("later").table.equals(fit.update(data=frame).add1("later").table)
    before = svm("y ~ x", frame.drop(columns=["block", "later"]), weights="w")
    assert compare(before, fit, folds="block").how == compare(fit, before, folds="block").how


@pytest.mark.parametrize("how", ["sorted", "longer"])
def test_columns_of_other_rows_are_refused(given, how):
    frame, _, fit = given
    if how == "sorted":
        order = np.argsort(frame["x"].to_numpy())
        for name in frame.columns:
            frame[name] = frame[name].array.take(order)
    else:
        frame.loc["more"] = frame.iloc[0]
    frame["block"] = np.arange(len(frame)) // 10
    for ask in (lambda: fit.kfold("block"), lambda: fit.add1("block"), lambda: compare(fit, fit, folds="block")):
        with pytest.raises(DataError, match="'block' has been added to data whose rows are no longer those of the fit"):
            ask()
    with pytest.raises(ArgumentError, match="weights was given as an array for the rows of the data as they were"):
        fit.update()
    assert fit.update(weights="w").n_rows == len(frame)


def test_a_column_since_whose_name_is_in_the_middle_of_another(given):
    frame, _, fit = given
    before = fit.add1("site").table
    frame.loc["more"] = frame.iloc[0]
    frame["it"] = 0
    assert fit.add1("site").table.equals(before)


def test_one_after_the_other(data):
    fit = svm("y ~ x + z", data, **START)
    assert_same_fit(fit.update(C=7.0).update("~ . - z").update(C=2.0).update("~ . + z"), fit)


def test_nu_and_costs_take_each_others_place():
    data = sample(2, 60, seed=5)
    fit = svm("y ~ x + z", data, C=2.0, gamma=0.4, costs={"fp": 2.0, "fn": 1.0})
    nu = fit.update(nu=0.3)
    assert_same_fit(nu, svm("y ~ x + z", data, nu=0.3, gamma=0.4))
    assert_same_fit(nu.update(C=2.0), svm("y ~ x + z", data, C=2.0, gamma=0.4))
    with pytest.raises(ArgumentError, match="not allowed together"):
        fit.update(nu=0.3, C=2.0)


def test_the_best_fit_of_a_search(data):
    found = quiet("y ~ x + z", data, C=[0.5, 2.0, 8.0], gamma=[0.1, 0.4, 1.6], weights="w")
    again = found.best.update()
    np.testing.assert_array_equal(again.decision_values, found.best.decision_values)
    assert again.C == found.best.C and again.kernel_parameters == found.best.kernel_parameters
    assert_same_fit(found.best.update(C=3.0), svm("y ~ x + z", data, **{**START, **found.best_params, "C": 3.0}))


def test_names_of_the_formula_stay_and_new_ones_are_looked_up_here(data):
    def halved(x):
        return x / 2.0

    def fitted():
        def power(x):
            return x**3

        return svm("y ~ power(x) + z", data, **START)

    def power(x):
        return x**5

    found = fitted().update("~ . + halved(z)")

    def cube(x):
        return x**3

    expected = svm("y ~ cube(x) + z + halved(z)", data, **START)
    np.testing.assert_array_equal(found.decision_values, expected.decision_values)
    assert power(2.0) == 32.0


def test_it_goes_through_a_pickle(data):
    fit = svm("y ~ x + z", data, **START)
    assert_same_fit(pickle.loads(pickle.dumps(fit)).update(C=5.0), fit.update(C=5.0))


def test_what_is_refused(data):
    fit = svm("y ~ x + z", data, **START)
    with pytest.raises(ArgumentTypeError, match=r"update\(\) has no argument 'cost': it is called 'C' here"):
        fit.update(cost=3.0)
    with pytest.raises(ArgumentError, match="C=-1"):
        fit.update(C=-1)
    with pytest.raises(DataError):
        fit.refit(data.drop(columns="z").iloc[:0])
    fit.__dict__["call"] = None
    with pytest.raises(UnavailableError, match="this fit has none"):
        fit.update(C=1.0)


def test_what_was_given_in_a_mapping_or_an_extension_array_stays_what_it_was(tmp_path):
    data = sample(2, 60)
    weight, repeats = {data["y"].max(): 2.0}, pd.array(np.resize([1, 2], 60))
    fit = svm("y ~ x + z", data, class_weight=weight, weights=repeats)
    found = tune("y ~ x + z", data, class_weight=weight, C=1.0, gamma=0.5).best
    before = fit.update(C=3.0).deviance, found.update(C=3.0).deviance, str(fit.summary())
    weight[data["y"].max()] = 50.0
    repeats[:] = 5
    assert (fit.update(C=3.0).deviance, found.update(C=3.0).deviance, str(fit.summary())) == before
    for each in (fit, found):
        each.save(tmp_path / "a.svmstat")
        assert load(tmp_path / "a.svmstat").deviance == each.deviance


def test_what_is_done_to_an_answer_is_not_done_to_the_fit():
    data = sample(2, 60)
    fit = svm("y ~ x + z", data, kernel="linear", costs={"fp": 1, "fn": 3}, priors=dict.fromkeys(set(data["y"]), 0.5))
    path, nu = fit.path([0.5, 1.0]), svm("y ~ x + z", data, nu=0.4)
    answers = {
        "params": lambda: fit.params, "params_standardized": lambda: fit.params_standardized,
        "nu_bounds": lambda: nu.nu_bounds, "alpha": lambda: path.alpha, "decision_values": lambda: path.decision_values,
    }  # fmt: skip
    for name, answer in answers.items():
        kept, changed = answer().copy(), answer()
        changed *= 0.0
        assert answer().equals(kept), name
    for name in ("costs", "priors", "class_weight"):
        kept = dict(getattr(fit, name))
        getattr(fit, name).clear()
        assert getattr(fit, name) == kept


def test_folds_are_those_of_the_column_as_it_has_become(given):
    """They are no part of a fit: another split of the same rows has another score."""
    frame, _, fit = given
    frame["block"] = np.arange(len(frame)) // 10
    fit = fit.update()
    smaller = fit.update("~ . - z")
    first = str(fit.kfold("block"))
    frame["block"] = np.roll(frame["block"].to_numpy(), 4)
    labels = frame["block"].to_numpy()
    assert str(fit.kfold("block")) == str(fit.kfold(labels)) != first
    assert str(compare(fit, smaller, folds="block")) == str(compare(fit, smaller, folds=labels))


@pytest.mark.parametrize("K", [2, 3])
def test_the_best_fit_stays_a_chosen_one_as_long_as_it_is_the_same_machine(K):
    data = sample(K, 72, seed=3).assign(g=np.arange(72) % 12)
    best = quiet("y ~ x + z", data, C=[0.5, 2.0, 8.0], gamma=[0.2, 0.6]).best
    assert best.optimism > 0.0
    for same in (best.update(), best.refit(data), best.update().update()):
        assert same.optimism == best.optimism
        assert same.loo().rsquared == pytest.approx(best.loo().rsquared, rel=1e-9)
        assert "corrected for tuning" in str(same.summary())
    for other in (best.update(calibration="insample"), best.update(groups="g")):
        assert np.isnan(other.optimism)
        assert "those of the best of many fits" in " ".join(str(other.loo().summary()).split())
    for changed in (best.update(C=3.0), best.update(data=data.iloc[:60]), best.update(". ~ . - z")):
        assert changed.optimism is None


def test_the_best_fit_with_the_other_event_is_chosen_too():
    data = sample(2, 72, seed=3)
    best = quiet("y ~ x + z", data, C=[0.5, 2.0, 8.0], gamma=[0.2, 0.6]).best
    turned = best.update(event=next(level for level in best.classes if level != best.event))
    assert turned.optimism == best.optimism


@pytest.mark.parametrize("how", ["as it is", "pickled"])
@pytest.mark.parametrize("kind", ["held out", "of the other formula"])
def test_rows_that_a_search_has_chosen_are_none_of_other_data(kind, how):
    """The rows held out for a threshold, or without values of a formula compared, are no ``subset`` of the user."""
    rng = np.random.default_rng(2)
    one, two = (
        pd.DataFrame(rng.normal(size=(n, 3)), columns=["x", "z", "u"]).assign(y=lambda d: d["x"] > 0.5 * d["z"])
        for n in (60, 45)
    )
    one.loc[:4, "u"] = np.nan
    if kind == "held out":
        asked = {"criterion": neyman_pearson(0.3, delta=0.3), "nu": [0.5, 0.6], "rng": 1}
        found = tune("y ~ x + z", one, gamma=0.3, subset="z < 1.5", **asked)
    else:
        found = tune(["y ~ x + z", "y ~ x + u"], one, C=2.0, gamma=0.3, subset="z < 1.5")
    best = found.best if how == "as it is" else pickle.loads(pickle.dumps(found.best))
    assert best.n_rows < (one["z"] < 1.5).sum() and best.update().n_rows == best.n_rows
    assert best.refit(two).n_rows == best.update(data=two).n_rows == (two["z"] < 1.5).sum()
    assert best.update(data=two, subset="x > 0").n_rows == (two["x"] > 0).sum()
