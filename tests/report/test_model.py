import re
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from levels import sample
from statsmodels.tools.sm_exceptions import ConvergenceWarning

from svmstat import compare, svm
from svmstat.report.model import _logistic, beside_logistic, effects
from svmstat.reporting.rendering.values import show

LEVELS = {
    "texts in another order": [["a", "b"], ["b", "a"]],
    "numbers": [[0, 1], [1, 0], ["1", "0"], [True, False], [False, True]],
    "three": [[0, 1, 2], [2, 1, 0], ["1", "2", "0"], [3, 2, 1], ["u", "v", "w"]],
}


@pytest.mark.parametrize("ways", LEVELS.values(), ids=LEVELS)
def test_the_logistic_model_is_the_same_whatever_the_levels_are_called(ways):
    """And whatever their order: compare() finds its probability of each."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.normal(size=(100, 2)), columns=["x", "z"])
    k = np.digitize(data["x"] + rng.normal(size=100), [0.0, 0.8][: len(ways[0]) - 1])
    scores = []
    for levels in ways:
        names = sorted(levels, key=str)
        response = pd.Categorical([names[each] for each in k], categories=levels)
        fit = svm("y ~ x + z", data.assign(y=response))
        scores.append(compare(fit, logistic=_logistic(fit)).table["score"])
    for each in scores[1:]:
        np.testing.assert_allclose(each, scores[0], rtol=1e-6)


@pytest.mark.parametrize("formula", ["y ~ x + site", "y ~ x + site + x:site"])
def test_the_logistic_model_is_that_of_statsmodels(formula, K):
    fitted = svm(formula, sample(K, 180, seed=4, apart=0.4))
    X = np.column_stack([np.ones(180), fitted.frame.X])
    independent = [0]
    for column in range(1, X.shape[1]):
        if np.linalg.matrix_rank(X[:, [*independent, column]]) > len(independent):
            independent.append(column)
    model = sm.MNLogit(fitted.frame.codes, X[:, independent]).fit(disp=False)
    expected = compare(fitted, logistic=model)["logistic"]
    assert show(expected.score) in "".join(beside_logistic(fitted, None, False))


@pytest.mark.parametrize("levels", [[0, 1], [False, True], ["0", "1"], [1, 2], ["no", "yes"]], ids=str)
def test_the_logistic_model_of_the_lower_level(levels):
    data = sample(2, 40, seed=3)
    data["y"] = np.array(levels)[pd.factorize(data["y"], sort=True)[0]]
    shown = ["".join(beside_logistic(svm("y ~ x + z", data, event=event), None, False)) for event in levels]
    rows = [re.search(r">logistic</th><td[^>]*>([\d.]+)<", each) for each in shown]
    assert all(rows) and rows[0][1] == rows[1][1]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("far", [999999.0, 1e20])
def test_one_cell_that_is_far_from_the_others_is_no_reason_for_no_report(seed, far):
    data = sample(2, 120, seed=seed)
    data.loc[3, "z"] = far
    said = "".join(beside_logistic(svm("y ~ x + z + site", data), None, False))
    assert "There is no logistic model of these columns" in said or ">logistic</th>" in said
    if far < 1e7:
        assert ">logistic</th>" in said


def test_a_multinomial_model_in_which_newton_gets_lost_is_found_all_the_same():
    """Statsmodels has NaN there, and says that it has converged."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.standard_cauchy(size=(120, 2)), columns=["x", "z"])
    data["y"] = rng.integers(0, 6, 120).astype(str)
    fit = svm("y ~ x + z", data)
    assert ">logistic</th>" in "".join(beside_logistic(fit, None, False))


def test_columns_that_are_as_many_as_rows_are_no_logistic_model():
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(30, 40))).add_prefix("x").assign(y=[0, 1] * 15)
    (told,) = beside_logistic(svm("y ~ .", data, kernel="linear"), None, False)
    assert "no logistic model of these columns to compare with: there are as many independent ones as rows" in told
    assert len(list(beside_logistic(svm("y ~ x0 + x1", data), None, False))) == 2


@pytest.mark.parametrize(("most", "which", "height"), [(2, "2 of 5", 345), (5, "all", 598)])
def test_the_figure_of_effects_has_the_height_of_the_panels_that_are_shown(most, which, height, monkeypatch):
    for module in ("svmstat.diagnostics.effects", "svmstat.report.model"):
        monkeypatch.setattr(f"{module}.MOST_PANELS", most)
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(30, 5)), columns=list("abcde")).assign(y=[0, 1] * 15)
    fit = svm("y ~ .", data, kernel="linear")
    drawn = next(effects(fit, fit.bootstrap(39, 1), None, False))
    assert f"of {which} predictors.</figcaption>" in drawn
    assert f'width="713" height="{height}"' in drawn  # of one row of panels, and of two


def test_where_statsmodels_does_not_converge_the_words_are_those_of_the_report(monkeypatch):
    def lost(fit):
        warnings.warn("Maximum Likelihood optimization failed to converge. Check mle_retvals", ConvergenceWarning, 2)

    monkeypatch.setattr("svmstat.report.model._logistic", lost)
    (told,) = beside_logistic(svm("y ~ x + z", sample(3, 60)), None, False)
    assert "to compare with: statsmodels finds no maximum of its likelihood, which has none where classes" in told


def test_kernel_values_are_no_columns_of_a_logistic_model():
    data = sample(2, 40)
    X = data[["x", "z"]].to_numpy()
    gram = pd.DataFrame(np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1))).add_prefix("k").assign(y=data["y"])
    (told,) = beside_logistic(svm("y ~ .", gram, kernel="precomputed"), None, False)
    assert "no logistic model of these columns to compare with: they are kernel values" in told
    assert "no terms and no effects" in told
