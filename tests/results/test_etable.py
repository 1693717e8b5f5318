"""etable(): each cell is a number of its fit, and what cannot be compared is told."""

import re

import forms
import numpy as np
import pandas as pd
import pytest
from levels import quiet, sample

from svmstat import etable, svm, tune
from svmstat.errors import ArgumentError, ArgumentTypeError
from svmstat.kernels import RBF, Linear


@pytest.fixture
def data(K):
    return sample(K, 60, seed=2)


@pytest.fixture
def linear(data):
    return svm("y ~ x + z", data, kernel="linear")


@pytest.fixture
def fits(linear):
    return {"one": linear, "two": linear.update(". ~ . - z"), "rbf": linear.update(kernel="rbf", gamma=0.5, C=4)}


def test_cells(fits, K):
    found = etable(fits)
    table = found.table
    assert table.columns.tolist() == ["one", "two", "rbf"]
    assert table.loc["settings"].loc["Kernel"].tolist() == ["linear", "linear", "rbf"]
    assert table.loc[("settings", "C")].tolist() == [1.0, 1.0, 4.0]
    assert table.loc[("settings", "gamma")].tolist() == [None, None, 0.5]
    for name, fit in fits.items():
        held_out = table.loc["held_out", name]
        assert held_out["-2 log-likelihood"] == fit.loo().score
        assert held_out["-2 log-likelihood se"] == fit.loo().score_se
        assert held_out["Error rate se"] == fit.loo().error_rate_se
        assert ("AUC" in held_out.index) == (K == 2)
    for label, value in zip(fits["one"].param_labels, np.ravel(fits["one"].params, "F"), strict=True):
        *pair, term = (label,) if K == 2 else label
        section = f"coefficients {pair[0]} : {pair[1]}" if pair else "coefficients"
        if K < 6:
            cells = table.loc[(section, term)]
            assert cells["one"] == value and cells["rbf"] is None and (cells["two"] is None) == (term == "z")
    assert ("coefficients" in " ".join(table.index.get_level_values(0))) == (K < 6)


@pytest.mark.parametrize("K", [2], ids=["two"])
def test_standard_errors_of_coefficients(fits):
    found = etable(list(fits.values()), B=39, rng=1)
    assert found.names == ("(1)", "(2)", "(3)")
    frame = fits["two"].confint(B=39, rng=1).summary_frame()
    assert found.table.loc[("coefficients", "x"), "(2)"] == frame.loc["x", "estimate"]
    np.testing.assert_allclose(found.table.loc[("coefficients", "x se"), "(2)"], frame.loc["x", "se"])
    assert found.table.loc[("coefficients", "x se"), "(3)"] is None
    assert "no intervals of a logistic regression" in " ".join(str(found).split())


@pytest.mark.parametrize("K", [2, 3], ids=["two", "three"])
@forms.in_each_form
def test_printed(fits, form, K):
    found = etable(fits)
    text = forms.plain(found.summary(), form)
    for fit in fits.values():
        assert f"{fit.loo().score:.2f}" in text and f"({fit.loo().error_rate_se:.4f})" in text
    told = ("Held out (leave-one-out)", "compare()", "Standard errors take rows for independent")
    assert [each in text for each in told] == [True] * len(told)
    assert f"Coefficients of f{', a : b' if K == 3 else ''}" in text
    forms.assert_narrow(found.summary())
    assert forms.balanced(found.summary().as_latex())


@pytest.mark.parametrize("K", [2], ids=["two"])
def test_rules_and_rows_of_latex(fits):
    """A section begins below a rule, and every row has as many cells as the table has columns."""
    latex = etable(fits).summary().as_latex()
    body = latex[latex.index(r"\toprule") : latex.index(r"\bottomrule")]
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {3}
    assert [row.split("&")[0].strip() for row in rows if r"\midrule" in row] == [
        r"\midrule Held out (leave-{}one-{}out)", r"\midrule Coefficients of f"
    ]  # fmt: skip


@pytest.mark.parametrize("K", [2], ids=["two"])
def test_what_stands_above(linear):
    long = linear.update(kernel=Linear().on("x") + 0.5 * RBF(gamma=0.25).on("x", "z"))
    found = etable([linear, long])
    assert [(each.label, each.value) for each in found.above] == [
        ("Formula", "y ~ x + z"), ("Kernel of (2)", long.kernel_name)
    ]  # fmt: skip
    assert found.table.loc[("settings", "Kernel")].tolist() == ["linear", "above"]


@pytest.mark.parametrize("K", [2], ids=["two"])
def test_other_rows_are_told(linear, data):
    same, other = etable([linear, linear]), etable([linear, linear.update(subset=np.arange(60) > 3)])
    told = "the fits are not of the same rows, response, weights and groups: their numbers cannot be compared."
    assert told not in same.warnings and other.warnings[0] == told
    assert same.warnings[0].startswith("(1): held out, the probabilities are hardly better than the class frequencies")


@pytest.mark.parametrize("K", [2], ids=["two"])
def test_fits_of_all_kinds(linear, data):
    """Weights, nu, another loss and a tuned fit each have their row."""
    tuned = quiet("y ~ x + z", data, C=[1, 4], gamma=[0.5]).best
    found = etable(
        [linear, linear.update(weights="w"), svm("y ~ x + z", data, nu=0.5), tuned, linear.update(loss="p0")]
    )
    settings = found.table.loc["settings"]
    assert settings.loc["Sum of weights"].tolist()[:2] == [60.0, data["w"].sum()]
    assert settings.loc["nu of the event"].notna().tolist() == [False, False, True, False, False]
    assert settings.loc["Loss"].tolist() == ["hinge"] * 4 + ["p0"]
    corrected = found.table.loc[("held_out", "corrected for tuning")]
    assert corrected["(4)"] == tuned.loo().rsquared and corrected["(1)"] is None
    assert "corrected for tuning" in str(found)


@pytest.mark.parametrize("K", [2], ids=["two"])
def test_without_held_out_rows(linear):
    found = etable([linear], loo=False)
    assert "held_out" not in found.table.index.get_level_values(0)
    assert "etable(..., loo=True)" in str(found) and "Held out" not in str(found)


def test_of_one_fit_it_is_not_asked_which_is_better(fits):
    assert "Whether one of these fits is better" in str(etable(fits))
    assert "Whether one of these fits is better" not in str(etable([fits["one"]]))


@pytest.mark.parametrize("K", [2], ids=["two"])
def test_replicates_are_for_coefficients(linear):
    with pytest.raises(ArgumentError, match="B=39 is for standard errors of coefficients"):
        etable([linear.update(kernel="rbf")], B=39)
    with pytest.raises(ArgumentError, match="B=1 is not allowed: it must be an integer >= 2"):
        etable([linear], B=1)


@pytest.mark.parametrize(
    ("fits", "error", "message"),
    [
        ([], ArgumentError, "fits is empty"),
        ("fit", ArgumentTypeError, "fits is of type str"),
        ([1], ArgumentTypeError, "fits has (1) of type int: it must be a fit of svm(), or .best of tune()"),
        ({"a": None}, ArgumentTypeError, "fits has a of type NoneType"),
    ],
)
def test_what_is_no_fit(fits, error, message):
    with pytest.raises(error, match=re.escape(message)):
        etable(fits)


@pytest.mark.parametrize("K", [2], ids=["two"])
def test_events_are_told_where_they_differ(linear, data):
    """What is called sensitivity of one is called specificity of the other."""
    other = linear.update(event=next(level for level in linear.classes if level != linear.event))
    found = etable([linear, other], loo=True).table
    assert found.loc[("settings", "Event")].tolist() == [str(linear.event), str(other.event)]
    held_out = found.loc["held_out"]
    assert held_out.loc["Sensitivity", "(1)"] == pytest.approx(held_out.loc["Specificity", "(2)"], abs=1e-12)
    assert ("settings", "Event") not in etable([linear, linear]).table.index


@pytest.mark.parametrize("K", [2], ids=["two"])
def test_one_event_is_one_in_every_type(data):
    numbers = data.assign(whole=np.arange(60) % 2, real=np.arange(60) % 2 * 1.0)
    found = etable([svm("whole ~ x", numbers), svm("real ~ x", numbers)])
    assert ("settings", "Event") not in found.table.index


def test_support_vectors_of_weighted_rows_are_those_of_repeats(data, K):
    weighted = svm("y ~ x + z", data, weights="w")
    text = str(etable([weighted])).splitlines()
    (row,) = [line for line in text if line.startswith("Support vectors")]
    assert float(row.split()[-1]) == pytest.approx(weighted.glance()["n_support"].iloc[0], rel=1e-3)


def test_settings_by_which_fits_differ_are_told():
    fit = svm("y ~ x + z", sample(2), gamma=0.5)
    others = {
        "costs": fit.update(costs={"fp": 3.0}), "insample": fit.update(calibration="insample"),
        "scaled": fit.update(scale=False),
    }  # fmt: skip
    table = etable({"plain": fit, **others}, loo=False).table.loc["settings"]
    assert table.loc["Calibration"].tolist() == ["loo", "loo", "insample", "loo"]
    assert table.loc["Scaled"].tolist() == ["yes", "yes", "yes", "no"]
    assert [cell is None for cell in table.loc["Class weights"]] == [True, False, True, True]
    assert "Weights are" not in table.index
    assert not {"Calibration", "Scaled", "Class weights"} & set(
        etable([fit, fit], loo=False).table.loc["settings"].index
    )


def test_a_column_may_be_called_as_the_intercept():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 2)), columns=["x", "Intercept"])
    data["y"] = data["x"] + rng.normal(size=60) > 0
    fit = svm("y ~ x + Intercept", data, kernel="linear")
    rows = [line.split() for line in str(etable([fit], B=9, rng=1)).splitlines() if line.startswith("  ")]
    shown = [(row[0], float(row[1])) for row in rows if row[0] in ("Intercept", "x")]
    assert [name for name, _ in shown] == list(fit.param_names)
    np.testing.assert_allclose([value for _, value in shown], fit.params, rtol=1e-3)


def test_two_fits_of_one_name_are_refused(linear):
    with pytest.raises(ArgumentError, match="fits has several of one name: 1, '1'"):
        etable({1: linear, "1": linear})


def test_a_name_with_a_line_break_is_in_one_line(linear):
    text = str(etable({"one\ntwo": linear, "b": linear.update(". ~ . - z")}))
    assert "one two:" in text and "\none" not in text.replace("\none two", "")


@pytest.mark.parametrize("signal", [True, False])
def test_of_more_levels_the_notes_are_of_numbers_in_the_table(signal):
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=["x", "z"]).assign(y=np.repeat(list("abc"), 30))
    data["x"] += signal * np.arange(90) // 30
    text = " ".join(str(etable([svm("y ~ x + z", data)])).split())
    assert "AUC and calibration are by level" in text
    assert "biased downwards" not in text and "slope 1 and intercept 0" not in text
    assert ("error rate near 1" in text) == ("no better than the class frequencies" in text) == (not signal)


def test_which_fit_is_the_best_of_many_is_told():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    data["y"] = data["a"] + rng.normal(size=60) > 0
    tuned, plain = tune("y ~ a + b", data, C=[0.5, 1.0, 2.0], gamma=0.3).best, svm("y ~ a + b", data)
    told = "The held-out numbers are those of the best of many fits"
    for fits, which in (([plain, tuned], "(2): "), ([tuned, tuned], ""), ([plain, plain], None)):
        text = " ".join(str(etable(fits)).split())
        assert (told in text) == (which is not None)
        assert which is None or (f"(2): {told}" in text) == bool(which)
