"""The table of a comparison, and what is said beside it."""

import warnings
from dataclasses import replace
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from sklearn.model_selection import LeaveOneOut
from statsmodels.stats.contingency_tables import mcnemar as of_statsmodels

from svmstat import compare, svm
from svmstat.diagnostics import Comparison, Evidence
from svmstat.diagnostics.comparison import mcnemar
from svmstat.diagnostics.shape import Shape
from svmstat.diagnostics.worth import hang_on_the_intercept
from svmstat.formula import Response
from svmstat.objective.predictive import Estimate


def evidence(seed, n=120, K=2, weights=None):
    """Predictions drawn at random, which know something of what was observed."""
    codes = np.random.default_rng(99).integers(0, K, n)
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(K), n) + 0.4 * np.eye(K)[codes]
    p /= p.sum(axis=1, keepdims=True)
    shape = Shape(Response("y", tuple(range(K)), K - 1, np.dtype(int)))
    return Evidence(
        how="leave-one-out", index=pd.RangeIndex(n), shape=shape, codes=codes,
        weights=np.ones(n) if weights is None else weights, values=np.log(p[:, -1:]), probability=p,
        log_likelihoods=np.log(p[np.arange(n), codes]), winner=p.argmax(axis=1), failed=np.zeros(n, bool),
    )  # fmt: skip


def comparison(*seeds, nested=(), repeats=0, **how):
    names = tuple(f"model {seed}" for seed in seeds)
    return Comparison(names, tuple(evidence(seed, **how) for seed in seeds), nested, repeats)


@pytest.mark.parametrize("K", [2, 3])
def test_the_table_is_that_of_the_evidence(K):
    both = comparison(1, 2, K=K)
    for name, each in zip(both.names, both.evidence, strict=True):
        row = both.table.loc[name]
        assert row["score"] == each.score and row["rsquared"] == each.rsquared
        assert row["error_rate"] == each.error_rate and row["brier"] == each.brier
        assert ("auc" in row) == (K == 2)
    assert both.table["delta"].iloc[1] == pytest.approx(both.evidence[1].score - both.evidence[0].score)
    assert both["model 2"] is both.evidence[1]


def test_a_model_that_was_chosen_by_its_score_is_told():
    names = ("chosen", "chosen by something", "given")
    of = [replace(evidence(1), optimism=4.0), replace(evidence(2), optimism=np.nan), evidence(3)]
    found = Comparison(names, tuple(of))
    assert found.table["rsquared"]["chosen"] == pytest.approx(1.0 - (of[0].score + 4.0) / of[0].null_score, rel=1e-12)
    assert found.table["rsquared"]["chosen by something"] == evidence(2).rsquared
    assert found.table["score"]["chosen"] == evidence(1).score
    said = " ".join(str(found).split())
    assert (
        "chosen is the best of many fits by tune(): its numbers are too good for that, its score by some 4 (R" in said
    )
    assert "chosen by something is the best of many fits by tune(): its numbers are too good for that, and so" in said
    assert said.count("is the best of many fits") == 2


@pytest.mark.parametrize("weighted", [False, True])
def test_mcnemar_is_that_of_statsmodels(weighted):
    weights = np.random.default_rng(5).integers(0, 4, 120).astype(float) if weighted else np.ones(120)
    one, other = evidence(1, weights=weights), evidence(2, weights=weights)
    wrong, also = (each.error.to_numpy().astype(int) for each in (one, other))
    cells = np.zeros((2, 2))
    np.add.at(cells, (wrong, also), weights)
    assert mcnemar(one, other) == pytest.approx(of_statsmodels(cells, exact=True).pvalue, rel=1e-10)


def test_mcnemar_needs_whole_weights_and_predictions():
    assert np.isnan(mcnemar(*(evidence(seed, weights=np.full(120, 0.5)) for seed in (1, 2))))
    assert mcnemar(evidence(1), evidence(1)) == 1.0


def test_the_printout_says_what_its_numbers_are_not():
    text = str(comparison(1, 2))
    told = ("Paired se: 2 sqrt(n var(log p1 - log p2))", "No such standard error makes a test", "benchmarks validity")
    for words in told:
        assert words in " ".join(text.split())
    assert "fewer than 100" not in text and "Nested" not in text
    assert "With 60 rows, fewer than 100" in " ".join(str(comparison(1, 2, n=60)).split())
    nested = " ".join(str(comparison(1, 2, nested=(Estimate(3.0, 2.0),), repeats=1)).split())
    assert "Nested: 1 split into 10 folds (Bates, Hastie & Tibshirani 2023)" in nested and "3.0000" in nested
    assert comparison(1, 2)._repr_html_().startswith("<")


def test_failures_and_impossible_outcomes_are_told():
    one, other = evidence(1), evidence(2)
    other.failed[:2] = True
    other.log_likelihoods[5] = np.log(np.finfo(float).tiny)
    text = " ".join(str(Comparison(("svm", "logit"), (one, other))).split())
    assert "WARNING: logit: 2 rows were predicted by refits that are not at their optimum" in text
    assert "WARNING: logit: 1 row has a level to which it gave probability 0, which counts as 2.2e-308" in text


def test_why_there_is_no_p_of_errors():
    one, other = evidence(1), evidence(2)
    other.winner[3] = -1
    assert "No McNemar p: it takes a prediction of every row." in str(Comparison(("svm", "logit"), (one, other)))
    weighted = tuple(evidence(seed, weights=np.full(120, 0.5)) for seed in (1, 2))
    text = " ".join(str(Comparison(("svm", "logit"), weighted)).split())
    assert "No McNemar p: it takes independent rows whose weights are whole numbers." in text


def test_repr_is_one_line():
    text = repr(comparison(1, 2))
    assert text.startswith("<Comparison: n = 120, leave-one-out; model 1: score ") and "\n" not in text


@pytest.mark.parametrize("nested", [(), (Estimate(3.0, 2.0), Estimate(-1.0, 4.0))])
def test_plot(nested):
    ax = comparison(1, 2, 3, nested=nested, repeats=len(nested)).plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["model 1", "model 2", "model 3"]
    assert len(ax.collections) == (2 if nested else 1)
    dots = ax.lines[1].get_xdata()
    np.testing.assert_allclose(dots, comparison(1, 2, 3).table["delta"])
    plt.close(ax.figure)


def test_no_p_of_errors_that_hang_on_the_intercept():
    rng = np.random.default_rng(0)
    noise = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "y": rng.permutation([0, 1] * 30)})
    fits = svm("y ~ a + b", noise), svm("y ~ a", noise)
    for one_by_one in (None, 60, LeaveOneOut(), np.arange(60)):
        found = compare(*fits, folds=one_by_one)
        text = " ".join(str(found).split())
        assert np.isnan(found.table["mcnemar"].iloc[1])
        assert "AUC and errors of svm rbf 1, svm rbf 2 hang on how the intercept moves" in text
        assert "So McNemar p is left out" in text and "McNemar p: exact" not in text
    half = [svm(f"y ~ {right}", noise, weights=np.full(60, 0.5)) for right in ("a + b", "a")]
    text = " ".join(str(compare(*half)).split())
    assert "hang on how the intercept moves" in text and "McNemar p is left out" not in text
    folded = compare(*fits, folds=10, rng=1)
    assert folded.table["mcnemar"].iloc[1] <= 1.0 and "McNemar p: exact" in str(folded)


def test_a_good_ranking_with_a_few_lost_rows_does_not_hang_on_the_intercept():
    """Of a logistic model a rare level is separated without one of its rows: its R² is below 0, and its AUC is not."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(200, 2)), columns=["x", "z"]).assign(site=rng.choice(list("abcde"), 200))
    data["y"] = (1.1 * data["x"] + rng.logistic(size=200) > 0).astype(int)
    data.loc[:2, "site"], data.loc[:2, "y"] = "r", [1, 1, 0]
    data.loc[3:4, "site"], data.loc[3:4, "y"] = "q", [1, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logit = smf.logit("y ~ x + z + site", data).fit(disp=False)
        found = compare(svm("y ~ x + z + site", data, kernel="linear"), logit=logit)
    judged = found["logit"]
    assert judged.rsquared < 0.0 and judged.auc - 2.0 * judged.auc_se > 0.5
    assert not hang_on_the_intercept(judged) and not np.isnan(found.table["mcnemar"]["logit"])


def test_what_is_too_good_for_all_rows_is_so_for_those_that_are_left():
    weights, rows = np.resize([1.0, 2.0, 3.0], 120), np.arange(120) < 30
    found = replace(evidence(1, weights=weights), optimism=4.0).without(rows)
    assert found.optimism == pytest.approx(4.0 * weights[~rows].sum() / weights.sum())


def test_rules_that_aim_at_other_errors_are_told_apart_where_there_is_no_test_too():
    data = pd.DataFrame(np.random.default_rng(2).normal(size=(80, 2)), columns=["x", "z"])
    data["y"], data["g"] = (data.x > 0.3).astype(int), np.arange(80) // 4
    fit = svm("y ~ x + z", data, costs={"fn": 10.0}, groups="g")
    printed = " ".join(str(compare(fit, fit.update(costs=None))).split())
    assert "No McNemar p: it takes independent rows" in printed
    assert "The error rates are not to be compared of svm rbf 2: its rule weighs the levels otherwise" in printed


def test_what_mcnemars_test_does_of_factors_is_told_with_factors():
    rng = np.random.default_rng(5)
    g, h = rng.integers(0, 4, (2, 200))
    x, z = rng.normal(size=(2, 200))
    eta = 1.2 * (g - 1.5) + 1.2 * (h - 1.5)
    data = pd.DataFrame(
        {"g": np.array(list("abcd"))[g], "h": np.array(list("abcd"))[h], "x": g + 0.1 * x, "z": h + 0.1 * z}
    )
    data["y"] = rng.random(200) < 1.0 / (1.0 + np.exp(-eta))
    for formulas, told in ((("y ~ g", "y ~ h"), True), (("y ~ x", "y ~ z"), False)):
        text = " ".join(str(compare(*(svm(each, data) for each in formulas))).split())
        assert "McNemar p: exact" in text and ("Of models of a factor alone it was in 0.02-0.20" in text) == told


@pytest.mark.parametrize("thresholds", [((0.2,), ()), ((), (0.2,)), ((0.2,), (0.2,)), ((), ())])
def test_no_p_of_errors_where_the_rule_of_either_weighs_the_levels(thresholds):
    assert Comparison(("one", "two"), (None, None), thresholds=thresholds)._weighed == ((1,) if any(thresholds) else ())


@pytest.mark.parametrize("which", [0, 1])
def test_no_p_of_errors_where_those_of_either_hang_on_the_intercept(which):
    rng = np.random.default_rng(0)

    def said(hangs):
        return SimpleNamespace(
            weights=np.ones(40), error=pd.Series((rng.random(40) < 0.4) * 1.0), draws_labels=True, levels_move=hangs,
            rsquared=-0.01, rsquared_se=0.03, auc=0.45, auc_se=0.05, shape=SimpleNamespace(two=True),
        )  # fmt: skip

    assert mcnemar(said(False), said(False)) > 0.0
    assert np.isnan(mcnemar(*(said(k == which) for k in range(2))))
