"""Summaries of fits of more than two levels: every number is there, in text, HTML and LaTeX, and narrow enough."""

import re
from dataclasses import replace
from functools import cache
from html import unescape

import numpy as np
import pandas as pd
import pytest

from svmstat import SVMResults, datasets, svm
from svmstat.reporting.rendering.parts import Table
from svmstat.reporting.rendering.values import show

WIDTH = 78

LIVER = datasets.load("liver")
ENZYMES = "disease ~ np.log(ast) + np.log(alt) + np.log(gldh)"
PRIORS = {"ACH": 0.4, "AVH": 0.3, "PCH": 0.2, "PNC": 0.1}
LONG = [f"level {k} of the response, with a very long name that says it all, no. {k}" for k in range(10)]


@cache
def fit(name):
    match name:
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


def ten():
    rng = np.random.default_rng(3)
    y = np.resize(np.arange(10), 120)
    a, b = rng.normal(size=(2, 120)) + np.array([y % 4, y // 4])
    return pd.DataFrame({"a": a, "b": b, "y": y})


def plain(fit, form):
    """The summary without markup, one blank between the words."""
    summary = fit.summary()
    match form:
        case "text":
            text = str(summary)
        case "html":
            text = unescape(re.sub("<[^>]*>", " ", summary.as_html().partition("</style>")[2]))
            text = text.translate({0x2212: "-", 0x2007: None, 0x2008: None})
        case "latex":
            text = re.sub(r"\\phantom\{[^}]*\}", "", summary.as_latex())
            text = re.sub(r" \\times 10\^\{(-?)(\d)\}", r"e\g<1>0\2", text)
            text = re.sub(r" \\times 10\^\{(-?\d+)\}", r"e\1", text)
            text = text.replace("$", "").replace("{}", "").replace("\\_", "_").replace(r"\textgreater", ">")
    return " ".join(text.split())


in_each_form = pytest.mark.parametrize("form", ["text", "html", "latex"])
of_each_fit = pytest.mark.parametrize("name", ["plain", "linear", "weighted", "priors", "ten", "ten long"])


def table(fit, part):
    """The table whose title or headers hold a word, as printed."""
    tables = [each for each in fit.summary().parts if isinstance(each, Table)]
    found = next(each for each in tables if part in (each.title or "") or part in each.headers)
    rows = [list(map(show, row, found.styles)) for row in found.cells]
    return pd.DataFrame(rows, index=found.index, columns=found.headers)


def balanced(latex):
    """Whether braces and environments close in the order in which they opened."""
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", latex.replace(r"\\", "")):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    environments = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", latex):
        if kind == "begin":
            environments.append(name)
        elif not environments or environments.pop() != name:
            return False
    return depth == 0 and not environments


@in_each_form
@of_each_fit
def test_every_number_appears(name, form):
    model = fit(name)
    text = plain(model, form)
    numbers = [model.deviance, model.null_deviance, model.llf, *model.margin, *model.calibration.slope]
    for value in numbers:
        assert show(value) in text
    for value in (model.pseudo_rsquared, model.apparent_error):
        assert show(value, "share") in text
    assert show(model.disagreement, "share") in text.replace(" ", "")  # see `…_is_in_one_piece`
    for value in (model.C, model.lambda_, *model.kernel_parameters.values()):
        assert show(value, "setting") in text
    for value in (model.kkt_violation, model.duality_gap):
        assert show(value, "residual") in text
    for word in (model.coupling, model.loss, model.kernel_name, "standardised", "Certified optimal", "Platt converged"):
        assert word in text
    assert f"{len(model.classes)} levels" in text
    assert re.search(rf"Pairs\W+{len(model.pairs)}\b", text)


@in_each_form
def test_levels_with_their_counts(form):
    assert "disease, 4 levels: ACH (40), AVH (57), PCH (44), PNC (77)" in plain(fit("plain"), form)
    counts = pd.Series(np.resize([1.0, 2.5, 0.0], 218)).groupby(LIVER["disease"]).sum()
    levels = ", ".join(f"{level} ({count:g})" for level, count in counts.items())
    assert f"disease, 4 levels: {levels}" in plain(fit("weighted"), form)


@of_each_fit
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


@of_each_fit
def test_the_confusion_table(name):
    model = fit(name)
    shown = table(model, "Confusion table")
    levels = list(map(str, model.classes))
    assert shown.index.tolist() == levels and shown.columns.tolist() == [*levels, "total", "error"]
    cells = [[show(float(value), "count") for value in row] for row in model.confusion.to_numpy()]
    assert shown[levels].to_numpy().tolist() == cells
    sums = model.confusion.sum(axis=1)
    errors = 1 - np.diag(model.confusion) / sums
    assert shown["error"].tolist() == [show(float(value), "share") for value in errors]
    assert shown["total"].tolist() == [show(float(value), "count") for value in sums]


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
    assert "Deviance and coupled Platt probabilities (in-sample decision values)" in plain(fit("plain"), form)
    assert "(leave-one-out decision values)" in plain(fit("linear"), form)
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
    assert "The coefficients of the 45 pairs are in .params." in text and "Coefficients of" not in text
    assert fit("ten").params.shape == (3, 45)
    five = svm("y ~ a + b", ten().query("y < 5"), kernel="linear")
    assert "The coefficients of the 10 pairs are in .params." in plain(five, form)


@in_each_form
@of_each_fit
def test_what_a_pair_means_is_noted(name, form):
    text = plain(fit(name), form)
    assert "Pair 'a : b' has f > 0 for a." in text
    assert "The level with most votes of the pairs is predicted." in text


@of_each_fit
def test_width(name):
    text = str(fit(name).summary())
    assert max(map(len, text.splitlines())) <= WIDTH
    assert all(line == line.rstrip() for line in text.splitlines())
    assert max(map(len, str(fit(name).loo()).splitlines())) <= WIDTH


ODD = ["<script>alert(1)</script>", "50%_a", "a & b", "{x}$^~\\#", "[1]", "é–β", "two\nlines", "w" * 130]


@pytest.mark.parametrize("level", ODD)
def test_odd_names_of_levels(level):
    data = ten().query("y < 3")
    summary = svm("y ~ a + b", data.assign(y=data["y"].map({0: level, 1: "one", 2: "two"}))).summary()
    text = str(summary)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert re.sub(r"\s", "", level) in re.sub(r"\s", "", text)
    html = summary.as_html().partition("</style>")[2]
    assert "<script" not in html and " ".join(level.split()) in unescape(html)
    latex = summary.as_latex()
    assert balanced(latex)
    body = "\n".join(line for line in latex.splitlines() if not line.startswith("% needs"))
    assert not re.search(r"(?<!\\)[%#]", body)  # a comment would swallow the rest of its line
    assert not re.search(r"(?<![\\\w])_", body)


@pytest.mark.parametrize("kind", ["integers", "floats", "categories"])
def test_levels_of_other_types(kind):
    data = ten().query("y < 3")
    if kind == "categories":
        data = data.assign(y=pd.Categorical(data["y"].map(["c", "b", "a"].__getitem__), categories=["c", "b", "a"]))
    if kind == "floats":
        data = data.assign(y=data["y"].map([0.0, 1.0, 2.0].__getitem__))
    model = svm("y ~ a + b", data)
    names = {"integers": "012", "categories": "cba", "floats": ("0.0", "1.0", "2.0")}[kind]
    assert f"y, 3 levels: {', '.join(f'{level} (12)' for level in names)}" in str(model.summary())
    assert table(model, "Support vectors by pair").index[0] == f"{names[0]} : {names[1]}"


@of_each_fit
def test_as_an_object(name):
    summary = fit(name).summary()
    assert str(summary) == repr(summary) == summary.as_text()
    assert fit(name)._repr_html_() == summary.as_html() == summary._repr_html_()
    assert summary.as_html(document=True).startswith("<!DOCTYPE html>")
    assert summary._repr_latex_() == summary.as_latex()
    assert balanced(summary.as_latex())
    assert summary.title == "Multiclass Support Vector Machine Results"
    assert summary.warnings == ()


@in_each_form
def test_a_fit_without_certificate(form, monkeypatch):
    model = fit("plain")  # before the certificate is taken from it, or svm() would warn
    monkeypatch.setattr(SVMResults, "converged", False)
    monkeypatch.setattr(SVMResults, "kkt_violation", 0.012)
    text = plain(model, form)
    found = text.index("the solution is not certified as optimal (KKT violation 0.012, duality gap")
    assert text.lower().index("warning:") < found < text.index("Formula")
    assert re.search(r"Certified optimal\W+no", text)
    monkeypatch.undo()
    assert "warning" not in plain(model, form).lower()


@in_each_form
@pytest.mark.parametrize("failed", [[0], [5], list(range(6))])
def test_maps_that_did_not_converge(form, failed):
    model = fit("plain")
    converged = np.ones(6, bool)
    converged[failed] = False
    text = plain(replace(model, maps=replace(model.maps, converged=converged)), form)
    found = text.index("the Platt calibration did not converge; do not rely on the probabilities or the deviance.")
    assert text.lower().index("warning:") < found < text.index("Formula")
    assert re.search(r"Platt converged\W+no", text)


@in_each_form
def test_rounding_errors_are_zero(form):
    """Symmetric levels: the intercepts, and B, are nothing but rounding."""
    model = svm("y ~ x", pd.DataFrame({"x": [-1.0, 0.0, 1.0], "y": ["a", "b", "c"]}))
    noise = [show(float(value)) for value in model.intercept if 0 < abs(value) < 1e-12]
    assert not any(value in plain(model, form) for value in noise)
    assert (model.intercept.abs() < 1e-12).all()


def test_rounding_errors_of_the_maps_are_zero():
    model = svm("y ~ x", pd.DataFrame({"x": [0.0, 1.0, 3.0], "y": ["a", "b", "c"]}))
    assert (np.abs(model.calibration.intercept) < 1e-12).all()
    assert not re.search(r"e-1\d", str(table(model, "Platt A").to_numpy()))


@in_each_form
def test_rows_that_were_not_used(form):
    data = LIVER.astype({"ast": float}).assign(flat=1.0)
    data.loc[[3, 99], "ast"] = np.nan
    with pytest.warns(UserWarning, match="constant"):
        model = svm("disease ~ ast + alt + flat", data, subset="gldh > 5")
    text = plain(model, form)
    dropped = int((LIVER["gldh"] <= 5).sum())
    assert re.search(rf"Dropped, outside subset\W+{dropped}\b", text)
    assert re.search(rf"Dropped, missing values\W+{model.n_missing}\b", text) and model.n_missing > 0
    assert re.search(r"Dropped, constant\W+1\b", text)


def test_the_leave_one_out_is_printed():
    loo = fit("weighted").loo()
    text = str(loo)
    assert text == str(loo.summary()) and loo._repr_html_() == loo.summary().as_html()
    for value in (loo.score, loo.score_se):
        assert show(value) in text
    for value in (loo.error_rate, loo.apparent_error, loo.excess_error):
        assert show(value, "share") in text
    assert re.search(r"Rows left out: +146\b", text)  # those of weight zero are not
    assert "WARNING" not in text
