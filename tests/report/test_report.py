"""The report page: every part is there, the numbers are those of the results, nothing is fetched from outside."""

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from levels import sample

from svmstat import datasets, svm, tune
from svmstat.errors import ArgumentError, DataError
from svmstat.report import influence as influence_module
from svmstat.report import report
from svmstat.report.evidence import calibration
from svmstat.report.model import beside_logistic
from svmstat.report.provenance import call_text
from svmstat.reporting.rendering.values import show

B = 29
LIVER = datasets.load("liver").iloc[::3]


SECTIONS = [
    "Summary",
    "Prediction error by leave-one-out",
    "Beside a logistic model",
    "Goodness of fit",
    "Terms",
    "Effects",
    "Influential rows",
    "Calibration",
    "How this was made",
]


class Reader(HTMLParser):
    """Checks that elements are closed in order, and collects text and sources."""

    VOID = frozenset({"meta", "img", "br", "link"})

    def __init__(self):
        super().__init__()
        self.open, self.texts, self.images, self.headings, self.references = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "img":
            self.images.append(given)
        self.references += [given[name] for name in ("src", "href") if name in given]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


def text(page):
    return " ".join(" ".join(read(page).texts).split())


def image(page, name):
    """The first figure with this in its description."""
    found = next(each for each in read(page).images if name in each["alt"])
    return base64.b64decode(found["src"].partition(",")[2]).decode()


class Changed:
    """A fit of which some attributes are replaced."""

    def __init__(self, fit, **replaced):
        self.__dict__.update(replaced, _fit=fit)

    def __getattr__(self, name):
        return getattr(self._fit, name)


@pytest.fixture(scope="module")
def fit():
    formula = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"
    return svm(formula, datasets.load("mackerel").iloc[::4], C=16, gamma=0.25)


@pytest.fixture(scope="module")
def page(fit):
    return report(fit, B=B, rng=7)


@pytest.fixture(scope="module")
def liver():
    formula = "disease ~ np.log(ast) + np.log(alt) + np.log(gldh)"
    return svm(formula, LIVER, coupling="hastie-tibshirani", class_weight={"PNC": 0.5})


@pytest.fixture(scope="module", params=["two", "four"])
def both(request, fit, page, liver):
    """A fit of two levels and one of four, with their pages."""
    return (fit, page) if request.param == "two" else (liver, report(liver, B=B, rng=7))


def test_all_parts(both):
    page = both[1]
    reader = read(page)
    assert reader.headings == SECTIONS
    assert len(reader.images) == 7
    assert page.startswith("<!DOCTYPE html>")


def test_nothing_from_outside(both):
    page = both[1]
    outside = [each for each in read(page).references if not each.startswith("#")]
    assert all(each.startswith("data:image/svg+xml;base64,") for each in outside)
    assert not re.search(r"https?:|@import|url\(|<script|<link", page)


def test_contents_lead_to_every_part(both):
    page = both[1]
    links = [each[1:] for each in read(page).references if each.startswith("#")]
    assert len(links) == len(SECTIONS) and all(f'<section id="{link}">' in page for link in links)


def test_images_are_whole_and_described(both):
    for image in read(both[1]).images:
        root = ElementTree.fromstring(base64.b64decode(image["src"].partition(",")[2]))
        assert root.tag.endswith("svg")
        assert len(image["alt"]) > 20
        assert int(image["width"]) > 300 and int(image["height"]) > 200


def test_the_numbers_are_those_of_the_results(both):
    fit, shown = both[0], text(both[1]).replace("\u2212", "-")
    loo, gof = fit.loo(), fit.gof(B=B, rng=7)
    for value in (fit.deviance, fit.null_deviance, loo.score, loo.score_se, gof.statistic, gof.critical_value):
        assert show(value) in shown
    for value in (loo.error_rate, loo.apparent_error, loo.excess_error, gof.pvalue):
        assert show(value, "share") in shown
    assert fit.formula in shown
    assert gof.verdict in shown


def test_influential_rows(both):
    """How many are above an envelope, and the rows of largest ΔD with their parts."""
    fit, page = both
    influence = fit.get_influence()
    influence.envelope(99, np.random.default_rng([7, 1]))
    above = influence.beyond().any(axis=1)
    assert re.search(rf"\b{above.sum()} rows? of {fit.n_rows} lies? above an envelope of 95 %\.", text(page))
    assert all(text(page).count(words) == 1 for words in ("Labels do not expose", "In simulated samples (python"))
    part = page[page.index("Rows of largest delta D") :]
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>', part[: part.index("</table>")])
    largest = influence.delta_deviance.nlargest(10)
    assert rows == list(map(str, largest.index))
    for name in ("own", "others", "outlyingness"):
        assert all(
            show(value, "share").replace("-", "\u2212") in part or show(value, "share") in part
            for value in getattr(influence, name)[largest.index]
        )


def test_fractional_weights_have_no_envelope():
    data = datasets.load("mackerel").assign(w=lambda d: 0.5 + np.arange(len(d)) % 2)
    shown = text(report(svm("egg_count > 0 ~ lon + lat", data, weights="w"), B=9, rng=1))
    assert "method pairs" in shown
    assert "no envelope can be drawn" in shown and "the 95 % point of χ²(1)" in shown


@pytest.mark.usefixtures("few_envelopes")
def test_what_is_told_of_more_than_two_levels(liver):
    page = report(liver, B=9, rng=1)
    shown = text(page)
    assert "the held-out probability of what was observed" in shown
    assert "probabilities of every level of disease against how often" in shown
    assert "coupling='hastie-tibshirani'" in shown and "event:" not in shown
    calibration = image(page, "Calibration plot")
    assert all(f"<!-- {level} -->" in calibration for level in liver.classes)
    call = re.search(r"svm\('disease.*?\)(?= How| Bootstrap)", shown)[0]
    same = eval(call, {"svm": svm, "data": LIVER, "np": np})
    np.testing.assert_allclose(same.fittedvalues, liver.fittedvalues, rtol=0, atol=1e-9)


@pytest.mark.usefixtures("few_envelopes")
@pytest.mark.filterwarnings("ignore:probabilities are by the map")
def test_a_level_of_one_row(K):
    data = sample(K - 1, 40, seed=10)
    data.loc[7, "y"] = "only"
    shown = text(report(svm("y ~ x + z", data), B=19, method="pairs", rng=1))
    assert "1 row could not be left out" in shown
    assert re.search(r"\d+ of 19 replicates failed and do not count", shown)


def test_what_was_run(fit, page):
    shown = text(page)
    assert "svm('egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m', data, loss='hinge', kernel='rbf'" in shown
    assert f"B = {B}, method residual, level 0.95" in shown
    assert "Seed 7" in shown
    assert re.search(r"Date 20\d\d-\d\d-\d\d \d\d:\d\d UTC", shown)
    for name in ("svmstat", "numpy", "scipy", "pandas", "numba", "Python"):
        assert re.search(rf"\b{name} \d+\.\d+", shown)


def test_the_call_that_is_printed_makes_the_same_fit():
    data = datasets.load("liver")
    fit = svm(
        "disease ~ ast + alt",
        data,
        subset="disease.isin(['PNC', 'AVH'])",
        kernel="poly",
        degree=2,
        class_weight={"PNC": np.float64(2.0)},
        event="AVH",
        scale=False,
    )
    call = call_text(fit)
    assert call.endswith(", subset=…)")
    data = data[data["disease"].isin(["PNC", "AVH"])]
    again = eval(call.replace(", subset=…", ""), {"svm": svm, "data": data})
    np.testing.assert_array_equal(again.decision_values, fit.decision_values)
    assert "class_weight={'AVH': 1.0, 'PNC': 2.0}" in call
    assert "subset=" not in call_text(again)


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({"costs": {"fn": np.float64(3.0)}}, "loss='hinge', kernel='rbf', C=1.0"),
        ({"costs": {"fn": 3}}, "costs={'fp': 1.0, 'fn': 3.0}"),
        ({"priors": {"PNC": 0.25, "AVH": 0.75}, "loss": "p0"}, "loss='p0'"),
        ({"priors": {"PNC": 0.25, "AVH": 0.75}, "costs": {"fp": 2}}, "priors={'AVH': 0.75, 'PNC': 0.25}"),
    ],
    ids=str,
)
def test_costs_and_priors_in_the_call_that_is_printed(options, shown):
    """And not the class weights that follow from them, beside which they would be refused."""
    data = datasets.load("liver").query("disease in ('PNC', 'AVH')")
    fit = svm("disease ~ ast + alt", data, **options)
    call = call_text(fit)
    assert shown in call and "class_weight" not in call
    again = eval(call, {"svm": svm, "data": data})
    np.testing.assert_array_equal(again.decision_values, fit.decision_values)
    assert (again.costs, again.priors) == (fit.costs, fit.priors)


@pytest.mark.usefixtures("few_envelopes")
def test_costs_and_priors_on_the_page():
    data = datasets.load("liver").query("disease in ('PNC', 'AVH')")
    fit = svm("disease ~ ast + alt", data, costs={"fn": 3}, priors={"PNC": 0.25, "AVH": 0.75})
    shown = text(report(fit, B=9, rng=1))
    assert "costs={'fp': 1.0, 'fn': 3.0}, priors={'AVH': 0.75, 'PNC': 0.25}" in shown
    assert "1 for a false positive, 3 for a false negative" in shown
    assert "Bayes threshold P0" in shown


def test_the_same_seed_gives_the_same_page_but_for_the_date(fit, page):
    again = report(fit, B=B, rng=7)
    undated = [re.sub(r"\d\d:\d\d UTC", "", each) for each in (again, page)]
    assert undated[0] == undated[1]


@pytest.mark.usefixtures("few_envelopes")
def test_a_seed_is_drawn_and_can_be_used_again(fit):
    first = report(fit, B=9)
    seed = int(re.search(r"Seed (\d+)", text(first)).group(1))
    figures = [[image["src"] for image in read(each).images] for each in (first, report(fit, B=9, rng=seed))]
    assert figures[0] == figures[1]


@pytest.mark.usefixtures("few_envelopes")
def test_a_generator_is_named(fit):
    assert "a generator that was given (PCG64)" in text(report(fit, B=9, rng=np.random.default_rng(1)))


def test_another_method_and_level(fit):
    page = report(fit, B=B, method="parametric", level=0.9, rng=1)
    assert "method parametric, level 0.9" in text(page)
    assert "responses drawn from the in-sample probabilities" in text(page)
    assert "<!-- 90 % envelope -->" in image(page, "Outlyingness against influence")


WRONG = [{"B": 0}, {"method": "rows"}, {"level": 1.0}, {"rng": "one"}, {"n_jobs": 0}, {"progress": "yes"}]


@pytest.mark.parametrize("options", WRONG)
def test_arguments_are_refused_before_anything_is_computed(fit, options):
    def never(*args, **kwargs):
        raise AssertionError("computed")

    with pytest.raises(ArgumentError, match=f"{next(iter(options))}="):
        report(Changed(fit, loo=never), **options)
    with pytest.raises(ArgumentError, match=f"{next(iter(options))}="):
        report(Changed(fit, get_influence=never), **options)


def test_a_method_that_is_asked_for_is_refused_before_anything_else_is_computed():
    data = datasets.load("mackerel").iloc[::9]
    fit = svm("egg_count > 0 ~ lon + lat", data, weights=np.linspace(0.5, 1.5, len(data)))

    def never(*args, **kwargs):
        raise AssertionError("computed")

    with pytest.raises(DataError, match="method='parametric' draws a label for every copy of a row"):
        report(Changed(fit, summary=never, drop1=never), method="parametric")


@pytest.mark.usefixtures("few_envelopes")
def test_names_are_escaped():
    data = datasets.load("mackerel").rename(columns={"lon": "<b>lon&", "egg_count": "eggs"})
    data.index = [f"<i>{k}" for k in range(len(data))]
    page = report(svm("eggs > 0 ~ Q('<b>lon&') + lat", data), B=9, rng=1, call="svmstat <report>")
    shown = text(page)
    assert "Q('<b>lon&')" in shown and "svmstat <report>" in shown and "<i>" in shown
    assert "<b>lon" not in page and "<i>" not in page


@pytest.mark.usefixtures("few_envelopes")
def test_failed_replicates_are_told(fit, monkeypatch):
    result = fit.gof(B=B, rng=1)
    result.replicates[:4] = np.nan
    monkeypatch.setattr(type(fit), "gof", lambda *_, **options: result)
    assert f"4 of {B} replicates failed and do not count." in text(report(fit, B=B, rng=1))


@pytest.mark.usefixtures("few_envelopes")
def test_no_replicate_and_no_prediction(fit, monkeypatch):
    result = fit.gof(B=9, rng=1)
    result.replicates[:] = np.nan

    full = fit.loo()
    nothing = np.full(fit.n_rows, np.nan)
    loo = replace(full, arrays=replace(full.arrays, decision_values=nothing))
    monkeypatch.setattr(type(fit), "gof", lambda *_, **options: result)
    monkeypatch.setattr(type(fit), "loo", lambda *given, **options: loo)
    page = report(fit, B=9, rng=1)
    shown = text(page)
    assert "No replicate could be fitted" in shown and "Statistics T of" not in page


@pytest.mark.usefixtures("few_envelopes")
def test_no_influential_row_and_too_many(fit, monkeypatch):
    assert f"0 rows of {fit.n_rows} lie above" in text(report(fit, B=9, rng=1, level=1 - 1e-9))
    monkeypatch.setattr(influence_module, "MOST_ROWS", 5)
    shown = text(report(fit, B=9, rng=1, level=0.02))
    assert re.search(r"(\d+) rows? more above a line\.", shown)


@pytest.mark.usefixtures("few_envelopes")
def test_weights_and_missing_values():
    data = datasets.load("mackerel").assign(copies=lambda d: np.arange(len(d)) % 3)
    data.loc[5, "lon"] = np.nan
    page = report(svm("egg_count > 0 ~ lon + lat", data, weights="copies"), B=9, rng=1)
    assert "weights=…" in text(page)


@pytest.mark.usefixtures("few_envelopes")
@pytest.mark.filterwarnings("ignore:letters of names are boxes:svmstat.errors.DesignWarning")
def test_control_characters_of_names_break_no_page_and_no_figure():
    data = sample(2).assign(y=lambda d: np.where(d["y"] == d["y"].iloc[0], "a\x0bb", "c\x01d"))
    page = report(svm("y ~ x + z", data), B=9, rng=1)
    drawn = [base64.b64decode(each).decode() for each in re.findall('base64,([^"]+)"', page)]
    for each in (page, *drawn):
        assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", each)
    assert len(drawn) > 2 and all(ElementTree.fromstring(each).tag.endswith("svg") for each in drawn)
    assert "a\ufffdb" in text(page)


def test_columns_in_units_of_their_own_have_a_logistic_model():
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=["x", "z"])
    data["y"] = np.digitize(data["x"] + rng.logistic(size=90), [-0.7, 0.7]).astype(str)
    found = []
    for by in ((1.0, 1.0), (1e6, 1e-6)):
        fit = svm("y ~ x + z", data.assign(x=data["x"] * by[0], z=data["z"] * by[1]), scale=False)
        found.append(re.search(r"logistic \d+\.\d+", text("".join(beside_logistic(fit, None, False))))[0])
    assert found[0] == found[1]


@pytest.mark.usefixtures("few_envelopes")
@pytest.mark.filterwarnings("ignore::svmstat.errors.DesignWarning")
def test_where_there_is_no_logistic_model_it_says_why():
    data = datasets.load("mackerel").iloc[::4]
    page = text(report(svm("egg_count > 0 ~ lon + np.sqrt(egg_count)", data), B=9, rng=1))
    assert re.search("There is no logistic model of these columns to compare with: .*separat", page)


@pytest.mark.usefixtures("few_envelopes")
def test_a_long_formula_is_cut():
    rng = np.random.default_rng(3)
    names = [f"{300 * letter}" for letter in "abcde"]
    data = pd.DataFrame(rng.normal(size=(30, 5)), columns=names).assign(y=[0, 1] * 15)
    page = text(report(svm(f"y ~ {' + '.join(names)}", data, kernel="linear"), B=9, rng=1))
    assert page.count(f"{names[2]} + ... + {names[4]}") == 3  # on top, in the summary, beside the terms
    assert f"{names[3]} + {names[4]}" in page  # of the call, at the end of the page


def test_a_gram_matrix_has_no_terms_and_effects():
    x = np.random.default_rng(0).normal(size=(40, 2))
    frame = pd.DataFrame(x @ x.T, columns=[f"k{i}" for i in range(40)]).assign(y=x[:, 0] + 0.5 > 0)
    page = report(svm("y ~ .", frame, kernel="precomputed"), B=9, rng=1)
    assert read(page).headings == [title for title in SECTIONS if title not in ("Terms", "Effects")]


def test_an_additive_fit_shows_its_functions():
    fit = svm("egg_count > 0 ~ s(lon, lat) + s(temp_20m)", datasets.load("mackerel").iloc[::4], C=1.0)
    page = report(fit, B=9, rng=1)
    headings = read(page).headings
    assert headings[headings.index("Functions of the terms") + 1] == "Terms"
    assert "s(temp_20m)" in image(page, "The functions of the terms")


def test_the_level_of_the_report_is_that_of_its_envelopes(fit):
    shown = text(report(fit, B=99, level=0.9, rng=7))
    assert "90 % envelope" in shown and "above an envelope in 90 % of samples" in shown
    assert "95 % envelope" not in shown


@pytest.mark.parametrize(
    "given",
    [{}, {"gamma": 4.0}, {"gamma": "median"}, {"kernel": "spline"}, {"theta": {"s(alt)": 3.0}, "C": 2.0}],
    ids=str,
)
def test_the_call_of_an_additive_fit_that_is_printed_makes_the_same_fit(given):
    data = datasets.load("liver").query("disease in ['PNC', 'AVH']")
    fit = svm("disease ~ s(ast) + s(alt)", data, **given)
    again = eval(call_text(fit), {"svm": svm, "data": data})
    np.testing.assert_array_equal(again.decision_values, fit.decision_values)


def test_without_any_held_out_probability_calibration_is_a_sentence():
    """With nu = 1 no row can be left out; the page had not been written."""
    data = pd.DataFrame({"x": np.random.default_rng(1).normal(size=30), "y": np.arange(30) % 2})
    fit = svm("y ~ x", data, nu=(1, 1))
    assert fit.loo().n_failed == 30
    assert "No row has a held-out probability" in "".join(calibration(fit, fit.loo()))


@pytest.mark.usefixtures("few_envelopes")
@pytest.mark.filterwarnings("ignore:the best:svmstat.errors.GridWarning")
def test_the_best_fit_of_a_search_says_what_its_call_does_not():
    data = sample(2, 60)
    page = text(report(tune("y ~ x + z", data, C=[0.5, 2.0], gamma=[0.1, 0.5]).best, B=9, rng=1))
    assert "cost and kernel were chosen by tune()" in page
    assert "chosen by tune()" not in text(report(svm("y ~ x + z", data), B=9, rng=1)).partition("How this was made")[2]


FRACTIONS = [("frequency", "Weights that are not whole"), ("probability", "The weights")]


@pytest.mark.parametrize(("kind", "told"), FRACTIONS)
def test_what_is_named_beside_the_largest_is_beside_a_table_of_them(kind, told):
    data = sample(3, 60).assign(w=lambda d: 0.5 + np.arange(len(d)) % 2)
    page = text(report(svm("y ~ x + z", data, weights="w", weight_type=kind), B=9, rng=1))
    assert f"{told} are no numbers of copies" in page
    influential = page.partition("no envelope can be drawn")[2]
    assert influential.index("largest delta D") < influential.index("How this was made")
    assert ("Weights are taken as numbers of copies: 60 rows count as 60" in page) == (kind == "frequency")
