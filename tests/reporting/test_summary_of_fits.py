"""Summaries of fits, of two levels and more: every number is there, in text, HTML and LaTeX, and narrow enough."""

import re
from dataclasses import replace
from functools import cache

import forms
import numpy as np
import pandas as pd
import pytest
from forms import assert_forms_agree, assert_names_are_harmless, assert_narrow, in_each_form

from svmstat import SVMResults, datasets, svm
from svmstat.errors import DesignWarning
from svmstat.reporting.rendering.parts import Table
from svmstat.reporting.rendering.values import show

LIVER = datasets.load("liver")
ENZYMES = "disease ~ np.log(ast) + np.log(alt) + np.log(gldh)"
PRIORS = {"ACH": 0.4, "AVH": 0.3, "PCH": 0.2, "PNC": 0.1}
LONG = [f"level {k} of the response, with a very long name that says it all, no. {k}" for k in range(10)]


def ten(n_levels=10):
    rng = np.random.default_rng(3)
    y = np.resize(np.arange(10), 120)
    a, b = rng.normal(size=(2, 120)) + np.array([y % 4, y // 4])
    return pd.DataFrame({"a": a, "b": b, "y": y})[y < n_levels]


def plain(fit, form):
    return forms.plain(fit.summary(), form)


@cache
def fit(name):
    match name:
        case "two":
            return svm(ENZYMES, LIVER, subset="disease.isin(['ACH', 'PNC'])")
        case "two weighted":
            w = np.resize([1.0, 2.5, 0.0], 218)
            return svm(ENZYMES, LIVER, subset="disease.isin(['AVH', 'PNC'])", weights=w, class_weight={"AVH": 0.125})
        case "plain":
            return svm(ENZYMES, LIVER)
        case "linear":
            return svm(ENZYMES, LIVER, kernel="linear", coupling="hastie-tibshirani", calibration="loo")
        case "weighted":
            w = np.resize([1.0, 2.5, 0.0], 218)
            return svm(ENZYMES, LIVER, weights=w, class_weight={"PCH": 2.0, "PNC": 0.125}, kernel="poly", degree=2)
        case "priors":
            return svm(ENZYMES, LIVER, priors=PRIORS, loss="p0", C=0.5)
        case "ten":
            return svm("y ~ a + b", ten(), kernel="linear", class_weight="balanced")
        case "ten long":
            data = ten().assign(y=[LONG[k] for k in ten()["y"]])
            return svm("y ~ a + b", data, priors=dict.fromkeys(LONG, 0.1), weights=np.linspace(0.5, 2.0, len(data)))


MORE = ["plain", "linear", "weighted", "priors", "ten", "ten long"]
of_each_fit = pytest.mark.parametrize("name", ["two", "two weighted", *MORE])
of_more_levels = pytest.mark.parametrize("name", MORE)


def judged(fit):
    """Whose confusion table is printed."""
    return fit.held_out(None)


def table(fit, part):
    """The table whose title or headers hold a word, as printed."""
    tables = [each for each in fit.summary().parts if isinstance(each, Table)]
    found = next(each for each in tables if part in (each.title or "") or part in each.headers)
    rows = [
        [
            show(value, found.row_styles[k] if found.row_styles else style)
            for value, style in zip(row, found.styles, strict=True)
        ]
        for k, row in enumerate(found.cells)
    ]
    return pd.DataFrame(rows, index=found.index, columns=found.headers)


@in_each_form
@of_each_fit
def test_every_number_appears(name, form):
    model = fit(name)
    text, two = plain(model, form), len(model.classes) == 2
    for value in (*np.ravel(model.margin), *np.ravel(model.calibration.slope), model.deviance, model.null_deviance):
        assert show(float(value)) in text
    for value in (judged(model).score, judged(model).score_se, judged(model).null_score):
        assert show(value) in text
    for value in (model.objective, model.intercept) if two else ():
        assert show(value) in text
    for value in (model.pseudo_rsquared, model.apparent_error, judged(model).rsquared, judged(model).brier):
        assert show(value, "share") in text
    for value in np.ravel(judged(model).auc):
        assert show(value, "share") in text
    assert show(model.disagreement, "share") in text.replace(" ", "")  # see `…_is_in_one_piece`
    for value in (model.C, model.lambda_, *model.kernel_parameters.values()):
        assert show(value, "setting") in text
    for value in (model.kkt_violation, model.duality_gap):
        assert show(value, "residual") in text
    for word in (model.loss, model.kernel_name, "standardised", "Certified optimal", "Platt converged"):
        assert word in text
    if two:
        assert f"event: {model.event}" in text and "Pairs" not in text
        return
    assert model.coupling in text and f"{len(model.classes)} levels" in text
    assert re.search(rf"Pairs\W+{len(model.pairs)}\b", text)


@of_each_fit
def test_the_confusion_table(name):
    model = fit(name)
    shown = table(model, "Confusion table")
    levels = list(map(str, model.classes))
    assert shown.index.tolist() == levels and shown.columns.tolist() == [*levels, "total", "error"]
    confusion = judged(model).confusion
    cells = [[show(float(value), "count") for value in row] for row in confusion.to_numpy()]
    assert shown[levels].to_numpy().tolist() == cells
    sums = confusion.sum(axis=1)
    errors = 1 - np.diag(confusion) / sums
    assert shown["error"].tolist() == [show(float(value), "share") for value in errors]
    assert shown["total"].tolist() == [show(float(value), "count") for value in sums]


@in_each_form
def test_levels_with_their_counts(form):
    assert "disease, 4 levels: ACH (40), AVH (57), PCH (44), PNC (77)" in plain(fit("plain"), form)
    counts = pd.Series(np.resize([1.0, 2.5, 0.0], 218)).groupby(LIVER["disease"]).sum()
    levels = ", ".join(f"{level} ({count:g})" for level, count in counts.items())
    assert f"disease, 4 levels: {levels}" in plain(fit("weighted"), form)


@of_more_levels
def test_the_tables_of_pairs(name):
    model = fit(name)
    names = [f"{first} : {second}" for first, second in model.pairs]
    support = table(model, "Support vectors by pair")
    assert support.index.tolist() == names and support.columns.tolist() == ["n", "free", "bounded", "total"]
    expected = [[show(float(value), "count") for value in row] for row in model.n_support.to_numpy()]
    assert support.to_numpy().tolist() == expected
    functions = table(model, "Platt A")
    assert functions.index.tolist() == names
    assert functions.columns.tolist() == ["margin", "intercept", "Platt A", "Platt B"]
    for column, values in (("margin", model.margin), ("Platt A", model.calibration.slope)):
        assert functions[column].tolist() == [show(float(value)) for value in values]
    big = model.intercept.abs() > 1e-8
    assert functions["intercept"][big.to_numpy()].tolist() == [show(float(b)) for b in model.intercept[big]]


@in_each_form
def test_class_weights_and_priors(form):
    nothing = plain(fit("plain"), form)
    for word in ("Class weights", "Priors", "Costs", "threshold", "sums of weights", "Sum of weights"):
        assert word not in nothing
    assert "votes, largest p disagree" in nothing
    weighted = plain(fit("weighted"), form)
    assert "ACH: 1, AVH: 1, PCH: 2, PNC: 0.125" in weighted and "Priors" not in weighted
    assert "votes, largest L p disagree" in weighted
    assert "Support vectors by pair (sums of weights)" in weighted and "predicted in columns, sums of" in weighted
    assert show(fit("weighted").nobs, "count") in weighted
    priors = plain(fit("priors"), form)
    shares = LIVER["disease"].value_counts(normalize=True)
    assert ", ".join(f"{level}: {PRIORS[level]:g} ({shares[level]:.4f})" for level in PRIORS) in priors
    weights = fit("priors").class_weight
    assert ", ".join(f"{level}: {show(weights[level], 'setting')}" for level in weights) in priors


@pytest.mark.parametrize("name", ["weighted", "priors"])
def test_the_share_of_disagreement_is_in_one_piece(name):
    assert re.search(r"disagree: +\d\.\d{4}$", str(fit(name).summary()), flags=re.MULTILINE)


@in_each_form
def test_what_the_calibration_used(form):
    insample = svm(ENZYMES, LIVER, calibration="insample")
    assert "Coupled Platt probabilities (map of in-sample decision values)" in plain(insample, form)
    assert "(map of leave-one-out decision values)" in plain(fit("plain"), form)
    assert "wu-lin-weng" in plain(fit("plain"), form) and "hastie-tibshirani" in plain(fit("linear"), form)


@in_each_form
def test_coefficients_of_few_pairs(form):
    model = fit("linear")
    text = plain(model, form)
    assert "Coefficients of the standardised columns, positive towards the first level" in text
    for value in model.params_standardized.to_numpy().ravel():
        assert show(float(value)) in text
    assert ".params" not in text
    assert "Coefficients" not in plain(fit("plain"), form)
    unscaled = svm(ENZYMES, LIVER, kernel="linear", scale=False)
    assert "Coefficients of the columns, positive" in plain(unscaled, form)


@in_each_form
def test_coefficients_of_many_pairs_are_only_told_of(form):
    text = plain(fit("ten"), form)
    assert (
        "The coefficients of the 45 pairs are in .params, their intervals in .confint()." in text
        and "Coefficients of" not in text
    )
    assert fit("ten").params.shape == (3, 45)
    five = svm("y ~ a + b", ten(5), kernel="linear")
    assert "The coefficients of the 10 pairs are in .params, their intervals" in plain(five, form)


@in_each_form
@of_more_levels
def test_what_a_pair_means_is_noted(name, form):
    text = plain(fit(name), form)
    assert "Pair 'a : b' has f > 0 for a." in text
    assert "The level with most votes of the pairs is predicted." in text


@of_each_fit
def test_width_and_forms(name):
    summary = fit(name).summary()
    assert_narrow(summary), assert_narrow(fit(name).loo()), assert_forms_agree(summary)
    assert fit(name)._repr_html_() == summary.as_html()
    two = "two" in name
    assert summary.title == f"{'' if two else 'Multiclass '}Support Vector Machine Results"
    assert summary.warnings == ()


@pytest.mark.parametrize(
    "level", ["<script>alert(1)</script>", "50%_a", "a & b", "{x}$^~\\#", "[1]", "é–β", "two\nlines", "w" * 130]
)
def test_odd_names_of_levels(level, K):
    data = ten(K)
    summary = svm("y ~ a + b", data.assign(y=data["y"].map(lambda k: level if k == 0 else f"l{k}"))).summary()
    assert_narrow(summary), assert_names_are_harmless(summary, level)


@pytest.mark.parametrize("kind", ["integers", "floats", "categories"])
def test_levels_of_other_types(kind, K):
    data, order = ten(K), list("fedcba")[-K:]
    if kind == "categories":
        data = data.assign(y=pd.Categorical([order[k] for k in data["y"]], categories=order))
    if kind == "floats":
        data = data.assign(y=data["y"].astype(float))
    model = svm("y ~ a + b", data)
    names = {"integers": range(K), "categories": order, "floats": np.arange(K, dtype=float)}[kind]
    shown = ", ".join(f"{level} (12)" for level in names)
    expected = f"y, event: {names[1]} (12 of 24)" if K == 2 else f"y, {K} levels: {shown}"
    assert expected in forms.plain(model.summary(), "text")
    first = f"{names[0]}" if K == 2 else f"{names[0]} : {names[1]}"
    assert table(model, "Support vectors").index[0] == first


@in_each_form
@pytest.mark.parametrize("name", ["two", "plain"])
def test_a_fit_without_certificate(name, form, monkeypatch):
    model = fit(name)  # before the certificate is taken from it, or svm() would warn
    monkeypatch.setattr(SVMResults, "converged", False)
    monkeypatch.setattr(SVMResults, "kkt_violation", 0.012)
    text = plain(model, form)
    found = text.index("the solution is not certified as optimal (KKT violation 0.012, duality gap")
    assert text.lower().index("warning:") < found < text.index("Formula")
    assert re.search(r"Certified optimal\W+no", text)
    monkeypatch.undo()
    assert "warning" not in plain(model, form).lower()


@in_each_form
@pytest.mark.parametrize(("name", "failed"), [("two", [0]), ("plain", [0]), ("plain", [5]), ("plain", list(range(6)))])
def test_maps_that_did_not_converge(name, failed, form):
    model = fit(name)
    converged = np.ones(len(model.pairs), bool)
    converged[failed] = False
    other = replace(model)
    other._fitted.value = model.fitted_maps()._replace(maps=replace(model.maps, converged=converged))
    text = plain(other, form)
    found = text.index("the Platt calibration did not converge; do not rely on the probabilities.")
    assert text.lower().index("warning:") < found < text.index("Formula")
    assert re.search(r"Platt converged\W+no", text)


@in_each_form
@pytest.mark.parametrize("x", [[-1.0, 0.0, 1.0], [0.0, 1.0, 3.0]], ids=["symmetric", "maps"])
def test_rounding_errors_are_zero(form, x):
    """Of symmetric levels the intercepts, of three rows the intercepts of the maps are nothing but rounding."""
    model = svm("y ~ x", pd.DataFrame({"x": x, "y": ["a", "b", "c"]}))
    numbers = model.intercept if x[0] else pd.Series(model.calibration.intercept)
    assert (numbers.abs() < 1e-12).all()
    noise = [show(float(value)) for value in numbers if value != 0]
    assert not any(value in plain(model, form) for value in noise)
    assert not re.search(r"e-1\d", str(table(model, "Platt A").to_numpy()))


@in_each_form
def test_the_intercept_of_a_map_of_two_symmetric_levels_is_zero(form):
    x = np.arange(1.0, 21.0)
    event = np.where(x % 5 == 0, 0, 1)
    model = svm("y ~ x", pd.DataFrame({"x": np.r_[x, -x], "y": np.r_[event, 1 - event]}), kernel="linear")
    assert abs(model.loo().maps.alone.intercept) < 1e-12
    assert re.search(r"Platt B, intercept\W+0\b(?!\.)", plain(model, form))


@in_each_form
@pytest.mark.parametrize("K", [2, 4], ids=["two", "four"])
def test_rows_that_were_not_used(form, K):
    levels = sorted(LIVER["disease"].unique())[:K]
    liver = LIVER[LIVER["disease"].isin(levels)].reset_index(drop=True)
    data = liver.astype({"ast": float}).assign(flat=1.0)
    data.loc[liver.index[liver["gldh"] > 5][:2], "ast"] = np.nan
    with pytest.warns(UserWarning, match="constant"):
        model = svm("disease ~ ast + alt + flat", data, subset="gldh > 5")
    text = plain(model, form)
    dropped = int((liver["gldh"] <= 5).sum())
    assert re.search(rf"Dropped, outside subset\W+{dropped}\b", text)
    assert re.search(r"Dropped, missing values\W+2\b", text) and model.n_missing == 2
    assert re.search(r"Dropped, constant\W+1\b", text)


@pytest.mark.parametrize("name", ["two weighted", "weighted"])
def test_the_leave_one_out_is_printed(name):
    loo = fit(name).loo()
    text = str(loo)
    assert text == str(loo.summary()) and loo._repr_html_() == loo.summary().as_html()
    for value in (loo.score, loo.score_se):
        assert show(value) in text
    for value in (loo.error_rate, loo.apparent_error, loo.excess_error):
        assert show(value, "share") in text
    counted = int((fit(name).frame.weights > 0).sum())
    assert re.search(rf"Rows left out: +{counted}\b", text)  # those of weight zero are not
    assert "WARNING" not in text and (counted == 146) == (name == "weighted")


def words(fit):
    return " ".join(str(fit.summary()).split())


def test_pairs_whose_intercept_is_not_determined_are_named():
    every = svm("disease ~ np.log(ast) + np.log(alt)", LIVER, C=0.001, gamma=0.05, class_weight="balanced")
    open_ones = [":".join(pair) for pair, (low, high) in every.intercept_interval.iterrows() if low != high]
    assert len(open_ones) == 6
    assert f"No support vector of {', '.join(open_ones).replace(':', ' : ')} is free" in words(every)
    assert "every intercept in .intercept_interval is optimal" in words(every)
    assert "every intercept" not in words(fit("plain"))


def test_pairs_without_a_margin_are_named():
    with pytest.warns(DesignWarning, match="not convex"):
        found = svm("disease ~ np.log(ast) + np.log(alt)", LIVER, kernel=lambda X, Z: -(X @ Z.T))
    without = [f"{first} : {second}" for (first, second), m in found.margin.items() if np.isnan(m)]
    assert without and f"No margin of {', '.join(without)}" in words(found)


def test_an_interval_with_an_infinite_end_is_shown():
    data = pd.DataFrame({"x": [0.0, 1, 2, 3, 4, 5, 6, 7.5], "y": [0, 0, 1, 0, 1, 0, 1, 1]})
    found = svm("y ~ x", data, nu=(1.0, 0.5), kernel="linear", scale=False)
    low, high = found.intercept_interval
    assert low == -np.inf and np.isfinite([high, found.intercept]).all()
    text = words(found)
    assert f"Intercept: {show(found.intercept)}" in text and f"interval: [-inf, {show(high)}]" in text
