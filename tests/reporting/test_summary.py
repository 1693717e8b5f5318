"""Summaries of a fit: every number is there, in text, HTML and LaTeX, and none is made up."""

import re
from types import SimpleNamespace

import forms
import numpy as np
import pandas as pd
import pytest
from forms import assert_forms_agree, assert_names_are_harmless, assert_narrow, balanced, in_each_form
from levels import repeated, sample

from svmstat import svm
from svmstat.kernels import RBF
from svmstat.objective.predictive import Estimate
from svmstat.reporting.rendering.parts import Block, Entry, Table
from svmstat.reporting.summary import Summary
from svmstat.results.summary import summarize
from svmstat.solver import Status

FORMULA = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"


def fake(classes=(False, True), **changes):
    """A fit with the attributes that a summary reads; each number differs from all others."""
    support = pd.DataFrame(
        {"rows": [265, 369], "free": [20, 24], "bounded": [101, 103], "total": [121, 127]}, index=classes
    )
    fit = SimpleNamespace(
        formula=FORMULA,
        response_name="egg_count > 0",
        classes=classes,
        event=classes[-1],
        nobs=634,
        n_rows=634,
        n_missing=7,
        n_outside_subset=0,
        n_zero_weight=0,
        weights_given=False,
        weight_type="frequency",
        groups=None,
        grouped=False,
        loss="hinge",
        kernel_name="rbf",
        kernel_parameters={"gamma": 0.25},
        kernel=RBF(gamma=0.25),
        is_approximate=False,
        captured_trace=1.0,
        C=16.0,
        lambda_=1 / (2 * 634 * 16),
        class_weight=None,
        nu=None,
        scaled=True,
        n_columns=5,
        n_constant=0,
        n_support=support,
        margin=0.046173,
        objective=2412.7,
        kkt_violation=3.1e-13,
        duality_gap=2.2e-12,
        converged=True,
        status=Status.CERTIFIED,
        advice=Status.UNCERTIFIED.advice,
        intercept=0.5132891,
        intercept_interval=(0.5132891, 0.5132891),
        intercept_is_unique=True,
        apparent=evidence(classes),
        has_maps=True,
        fitted_maps=lambda: SimpleNamespace(own=np.zeros(1, bool)),
        asked="auto",
        untuned=(),
        optimism=None,
        n_used=634,
        usual_folds=None,
        decision=SimpleNamespace(priors=None, costs=None),
        calibration=SimpleNamespace(slope=-1.6731, intercept=-0.08817, converged=True, kind="insample"),
        confusion=pd.DataFrame([[218, 47], [38, 331]], index=classes, columns=classes),
        disagreement=0.0047,
        costs=None,
        priors=None,
        threshold=0.5,
        params=None,
        params_standardized=None,
        has_params=False,
    )
    for name, value in changes.items():
        assert hasattr(fit, name), name
        setattr(fit, name, value)
    return fit


def evidence(classes=(False, True), how="in-sample", confusion=((218, 47), (38, 331)), one_level=None, **changes):
    """Numbers and standard errors, each different from all others."""
    shift = 0.0 if how == "in-sample" else 0.01
    found = {
        "score": Estimate(418.1038 + 1e3 * shift, 31.416),
        "null_score": Estimate(861.79 + 1e3 * shift, np.nan),
        "ratio": Estimate(0.51484 - shift, 0.0333),
        "rsquared": Estimate(0.51484 - shift, 0.0333),
        "brier": Estimate(0.10253 + shift, 0.0085),
        "error_rate": Estimate(0.134069 + shift, 0.0146),
        "base_error": Estimate(0.417981, np.nan),
    }
    names = ("auc", "sensitivity", "specificity", "calibration_slope", "calibration_intercept")
    by_level = {name: Estimate(0.91 - 0.1 * k - shift, 0.0123 + 0.001 * k) for k, name in enumerate(names)}
    for name, value in changes.items():
        group = found if name in found else by_level
        group[name] = group[name]._replace(value=value)
    return SimpleNamespace(
        how=how,
        units=None,
        n_failed=0,
        shape=SimpleNamespace(two=True, response=SimpleNamespace(event=classes[-1])),
        estimates=lambda: found,
        by_level=lambda: iter([(classes[-1], by_level)]),
        confusion=pd.DataFrame(confusion, index=classes, columns=classes),
        predicts_one_level=one_level,
        is_corrected=False,
        prob=pd.Series([0.031, 0.971] * 317),
        values=np.array([[-1.3], [1.4]] * 317),
        weights=np.ones(634),
        **{name: each.value for name, each in found.items()},
        **{name: each.value for name, each in by_level.items()},
        rsquared_se=found["rsquared"].se,
    )


def plain(fit, form, held_out=None):
    return forms.plain(summarize(fit, held_out), form)


def linear(names=("lon", "lat", "b_depth"), **changes):
    index = ["Intercept", *names]
    params = pd.Series(np.linspace(-1234.5678, 0.00123456, len(index)), index=index)
    scaled = pd.Series(np.linspace(0.98765432, -3.2e-7, len(index)), index=index)
    return fake(
        kernel_name="linear", kernel_parameters={}, has_params=True, params=params,
        params_standardized=scaled, n_columns=len(names), **changes,
    )  # fmt: skip


NUMBERS = """634 7 5 0.25 16 4.92902e-05 0.046173 2412.7 0.51329 3.1e-13 2.2e-12
    20 24 44 101 103 204 121 127 248 265 369 418.10 861.79 0.5148 0.1025 0.4180 0.9100 0.8100 0.7100 -1.6731 -0.088170
    218 47 38 331 0.1774 0.1030 0.1341 0.0047"""
HELD_OUT = """428.10 31.416 871.79 0.5048 0.0333 0.1125 0.0085 0.1441 0.0146 0.9000 0.0123 0.8000 0.0133 0.7000 0.0143
    0.6000 0.0153 0.5000 0.0163"""
SCALED, ORIGINAL = "0.98765 0.65844 0.32922 -3.2000e-07", "-1234.6 -823.04 -411.52 0.0012346"


@in_each_form
def test_every_number_appears(form):
    text, both = plain(fake(), form), plain(fake(), form, evidence(how="leave-one-out"))
    for number in HELD_OUT.split():
        assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", both), number
        assert number not in text
    for number in NUMBERS.split():
        assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", text), number
    for word in ("egg_count > 0", "True", "hinge", "rbf", "standardised", "temp_20m"):
        assert word in text


@in_each_form
def test_every_coefficient_on_both_scales(form):
    text = plain(linear(), form)
    for name in ("Intercept", "lon", "lat", "b_depth", "standardised", "original scale"):
        assert name in text
    assert all(number in text for number in f"{SCALED} {ORIGINAL}".split())


def test_without_scaling_there_is_one_column_of_coefficients():
    text = plain(linear(scaled=False), "text")
    assert "coefficient" in text
    assert "original scale" not in text
    assert "Scaling: none" in text


def test_coefficients_keep_their_rows():
    names = [f"x{i}" for i in range(60)]
    lines = str(summarize(linear(names), None)).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Intercept  "))
    assert [line.split()[0] for line in lines[start : start + 61]] == ["Intercept", *names]
    assert len({line.rindex(".") for line in lines[start : start + 60]}) == 1


LONG = "y ~ " + " + ".join(f"np.log(column_number_{i})" for i in range(40))


def test_a_long_formula_wraps_between_its_terms():
    text = str(summarize(fake(formula=LONG), None))
    lines = [line for line in text.splitlines() if "column_number" in line]
    assert len(lines) > 15
    assert all(line.endswith(("+", "(column_number_39)")) for line in lines)


def test_the_middle_of_an_endless_formula_is_left_out():
    text = str(summarize(fake(formula="y ~ " + " + ".join(f"k{i}" for i in range(634))), None))
    assert "Formula:   y ~ k0 + k1 + k2" in text
    assert "+ ... + k633" in " ".join(text.split())
    assert len(text.splitlines()) < 70


@in_each_form
def test_rounding_errors_are_zero(form):
    fit = linear(intercept=-2e-17, intercept_interval=(-2e-17, -2e-17))
    fit.params = pd.Series([5.0, 1e-13, 2.0, -3e-16], index=fit.params.index)
    fit.params_standardized = pd.Series([-2e-17, 1e-13, 2.0, -3e-16], index=fit.params.index)
    text = plain(fit, form)
    for noise in ("2.0000e-17", "1.0000e-13", "3.0000e-16"):
        assert noise not in text
    assert "5.0000" in text


def test_small_numbers_that_are_not_rounding_errors_stay():
    fit = linear()
    fit.params_standardized = pd.Series([-1.0, 1e-7, 2e-7, -3e-7], index=fit.params.index)
    assert "1.0000e-07" in plain(fit, "text")
    assert "1e-13" in plain(fake(duality_gap=1e-13), "text")


@in_each_form
def test_constant_columns_are_counted(form):
    assert "Dropped, constant" not in plain(fake(), form)
    assert re.search(r"Dropped, constant\W+15\b", plain(fake(n_constant=15), form))


@in_each_form
def test_no_negative_zero(form):
    assert "-0.0000" not in plain(fake(apparent=evidence(ratio=-1e-9)), form)


WIDE = [
    fake(),
    linear(),
    linear([f"C(a_factor_with_a_long_name)[level number {i}]:bs(x, df=5)[{i}]" for i in range(12)]),
    fake(formula=LONG, response_name="x" * 90),
    fake(classes=("no trace of the disease was ever found in the patient", "a trace " * 12)),
    fake(classes=("a" * 100, "b" * 120)),
    fake(intercept_is_unique=False, intercept_interval=(-1.2345e-6, 1.2345e12)),
    fake(kernel_parameters={"function": "a_function_with_a_name_that_is_too_long_for_its_half"}),
    fake(nobs=1e12, C=1.23456789e-11, apparent=evidence(score=1.2e300, null_score=-1.2e-300)),
    fake(converged=False, status=Status.UNCERTIFIED),
    fake(class_weight={False: 1 / 7, True: 2 / 7}),
    fake(**{"costs": {"fp": 1 / 3, "fn": 1e9 / 7}, "priors": {False: 1 / 3, True: 2 / 3}, "threshold": 1 / 7}),
]


@pytest.mark.parametrize("fit", WIDE)
def test_width(fit):
    assert_narrow(summarize(fit, None)), assert_narrow(summarize(fit, evidence(how="leave-one-out")))


ODD = ["<script>alert(1)</script>", "50%_a", "a & b", "{x}$^~\\#", "*", "[1]", "é–β", "two\nlines", ""]


@pytest.mark.parametrize("classes", [(False, True), (1, 7), (-0.5, 0.5), ("no", "yes")])
@pytest.mark.parametrize("kind", [None, object, "category"])
def test_levels_of_any_type(classes, kind):
    fit = fake(classes)
    for frame in (fit.confusion, fit.n_support, fit.apparent.confusion):
        frame.index = pd.Index(classes, dtype=kind)
    assert f"event: {classes[1]} (369 of 634)" in str(summarize(fit, None))


@pytest.mark.parametrize("level", ODD)
def test_odd_level_names(level):
    names = [level, f"C(g)[{level}]", "x"]
    assert_names_are_harmless(summarize(linear(names, classes=("other", level), response_name=level), None), level)


@in_each_form
def test_an_intercept_without_a_free_support_vector_is_an_interval(form):
    interval = fake(intercept=0.25, intercept_interval=(-0.75, 1.25), intercept_is_unique=False)
    text = plain(interval, form)
    assert "Intercept (midpoint)" in text
    assert "-0.75000, 1.2500" in text
    assert "No support vector is free" in text
    assert "midpoint" not in plain(fake(), form)


@in_each_form
def test_a_constant_decision_function(form):
    text = plain(fake(margin=np.inf, objective=0.0, intercept=1.0), form)
    assert "the decision function is constant" in text
    assert "inf" in text


@in_each_form
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite(form, value):
    text = plain(fake(margin=value, objective=value, disagreement=value), form)
    assert text.count(str(value)) >= 3


@in_each_form
def test_weights_are_sums(form):
    counts = {"rows": [265.5, 370.25], "free": [20, 24.5], "bounded": [101, 103], "total": [121, 127.5]}
    text = plain(
        fake(
            weights_given=True, nobs=635.75, n_rows=634, n_zero_weight=3,
            n_support=pd.DataFrame(counts, index=[False, True]),
            confusion=pd.DataFrame([[218.5, 47], [38, 332.25]], index=[False, True], columns=[False, True]),
            apparent=evidence(confusion=[[218.5, 47], [38, 332.25]]),
        ),
        form,
    )  # fmt: skip
    for part in ("with weight zero", "Sum of weights", "635.75", "(sums of weights)", "sums of weights)"):
        assert part in text
    for number in ("265.5", "370.25", "248.5", "332.25", "370.25 of 635.75"):
        assert number in text
    assert "Sum of weights" not in plain(fake(), form)


@in_each_form
def test_rows_outside_the_subset_and_class_weights(form):
    text = plain(fake(n_outside_subset=12, class_weight={False: 0.5, True: 2}), form)
    assert "outside subset" in text
    assert "12" in text
    assert "False: 0.5, True: 2" in text
    assert "subset" not in plain(fake(), form)
    assert "Class weights" not in plain(fake(), form)


STAKES = {
    "costs": {"fp": 1.0, "fn": 12.5},
    "priors": {False: 0.875, True: 0.125},
    "class_weight": {False: 0.25, True: 1.75},
    "threshold": 0.1234567,
}


@in_each_form
def test_costs_priors_and_what_they_mean(form):
    """The shares of the sample, 265 and 369 of 634, stand beside the priors."""
    text = plain(fake(**STAKES), form)
    assert "1 for a false positive, 12.5 for a false negative" in text
    assert "Priors (share in the sample)" in text
    assert "False: 0.875 (0.4180), True: 0.125 (0.5820)" in text
    assert "False: 0.25, True: 1.75" in text
    assert "Bayes threshold P0" in text and "0.1235: f > 0 stands for P(event) > P0" in text
    assert "p > P0 disagree" in text and "p > 1/2" not in text


@in_each_form
def test_of_costs_and_priors_only_what_was_given(form):
    costs = plain(fake(**STAKES | {"priors": None}), form)
    assert "false negative" in costs and "Priors" not in costs
    priors = plain(fake(**STAKES | {"costs": None}), form)
    assert "Priors" in priors and "false negative" not in priors
    weights = plain(fake(**STAKES | {"costs": None, "priors": None}), form)
    assert "Class weights" in weights and "Bayes threshold P0" in weights
    nothing = plain(fake(), form)
    for word in ("Costs", "Priors", "Class weights", "Bayes threshold", "P0"):
        assert word not in nothing
    assert "p > 1/2 disagree" in nothing


@in_each_form
def test_the_threshold_of_the_p0_loss_without_costs(form):
    text = plain(fake(loss="p0"), form)
    assert "Bayes threshold P0" in text and "0.5: f > 0 stands for P(event) > P0" in text
    assert "p0" in text and "Costs" not in text


@in_each_form
@pytest.mark.parametrize("loss", ["hinge", "p0"])
def test_costs_and_priors_of_a_fit(form, loss):
    """8 of 20 rows are sick; with weights 24 of 36."""
    data = pd.DataFrame({"x": np.sin(np.arange(20.0)), "y": ["sick", "well"] * 8 + ["well"] * 4})
    fit = svm("y ~ x", data, event="sick", loss=loss, costs={"fn": 3}, priors={"sick": 0.2, "well": 0.8})
    text = plain(fit, form)
    assert "1 for a false positive, 3 for a false negative" in text
    assert "sick: 0.2 (0.4000), well: 0.8 (0.6000)" in text
    # L(sick) : L(well) = 3 · 0.6 · 0.2 : 0.4 · 0.8 = 0.36 : 0.32
    assert re.search(r"sick: 1\.0588\d*, well: 0\.9411\d*", text)
    assert "0.4706: f > 0" in text
    weights = np.where(data["y"] == "sick", 3.0, 1.0)
    assert "sick: 0.2 (0.6667), well: 0.8 (0.3333)" in plain(
        svm("y ~ x", data, event="sick", loss=loss, priors={"sick": 0.2, "well": 0.8}, weights=weights), form
    )


@in_each_form
@pytest.mark.filterwarnings("error")
def test_a_class_without_rows_has_no_error_rate(form):
    text = plain(fake(apparent=evidence(confusion=[[0, 0], [38, 331]])), form)
    assert "0.1030" in text
    assert "nan" not in text


@in_each_form
def test_warnings_come_first(form):
    calibration = SimpleNamespace(slope=-90.0, intercept=0.1, converged=False, kind="loo")
    text = plain(fake(converged=False, status=Status.UNCERTIFIED, kkt_violation=0.012, calibration=calibration), form)
    certificate = text.index("is not certified as optimal (KKT violation 0.012, duality gap 2.2e-12)")
    probabilities = text.index("the Platt calibration did not converge")
    assert text.lower().index("warning:") < certificate < probabilities < text.index("Formula")
    assert "leave-one-out decision values" in text
    assert "warning" not in plain(fake(), form).lower()


def test_the_summary_as_an_object():
    summary = summarize(fake(), None)
    assert_forms_agree(summary)
    table = next(part for part in summary.parts if isinstance(part, Table) and "Confusion" in part.title)
    assert table.to_frame().loc["True", "False"] == 38


def test_a_summary_of_nothing():
    summary = Summary("Nothing", ())
    assert str(summary).split() == ["Nothing", "=" * 78, "=" * 78]
    assert "Nothing" in summary.as_html()
    assert balanced(summary.as_latex())


def test_notes_wrap():
    text = str(Summary("T", (Block(left=(Entry("a", 1),)),), notes=("word " * 40,)))
    assert max(map(len, text.splitlines())) <= 78
    assert text.count("word") == 40


def test_the_width_of_venn_abers_bounds_counts_copies():
    data = sample(2, 60, seed=1)
    widths = [
        re.search(r"mean width: +(\S+)", str(svm("y ~ x + z", each, calibration="venn-abers", **options).summary()))[1]
        for each, options in ((data, {"weights": "w"}), (repeated(data), {}))
    ]
    assert widths[0] == widths[1]
