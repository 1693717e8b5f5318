"""The evidence of a fit against scikit-learn on the same held-out probabilities; what it says of noise."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from levels import matrix, repeated, sample
from sklearn.metrics import accuracy_score, brier_score_loss, confusion_matrix, log_loss, recall_score, roc_auc_score

from svmstat import compare, svm
from svmstat.errors import ArgumentError
from svmstat.objective.predictive import calibration_line

TOL = 1e-10

NUMBERS = (
    "score", "score_se", "null_score", "rsquared", "rsquared_se", "brier", "brier_se", "error_rate", "error_rate_se",
    "base_error", "auc", "auc_se", "sensitivity", "specificity", "calibration_slope", "calibration_intercept",
)  # fmt: skip


@pytest.mark.parametrize("how", ["in-sample", "leave-one-out", "10 folds"])
@pytest.mark.parametrize("calibration", ["auto", "insample"])
def test_against_scikit_learn(calibration, how, K):
    data = sample(K, 90, seed=2)
    fit = svm("y ~ x + z", data, weights="w", calibration=calibration)
    found = {"in-sample": lambda: fit.apparent, "leave-one-out": fit.loo, "10 folds": fit.kfold}[how]()
    assert found.how == how and found.n_failed == 0
    used, w, observed = (data["w"] > 0).to_numpy(), data["w"].to_numpy(float), data["y"].to_numpy()
    p, names = found.probability[used], list(fit.classes)
    weights = {"sample_weight": w[used]}
    y, predicted = observed[used], np.array(names)[found.winner[used]]
    assert found.score == pytest.approx(2 * log_loss(y, p, labels=names, normalize=False, **weights), rel=TOL)
    assert found.error_rate == pytest.approx(1 - accuracy_score(y, predicted, **weights), rel=TOL)
    np.testing.assert_allclose(found.confusion, confusion_matrix(y, predicted, labels=names, **weights))
    totals = np.array([w[observed == name].sum() for name in names])
    assert found.base_error == pytest.approx(1 - totals.max() / w.sum())
    one = p[:, 1] if K == 2 else p
    options = {"labels": names} | ({"pos_label": fit.event} if K == 2 else {})
    assert found.brier == pytest.approx(brier_score_loss(y, one, **options, **weights), rel=TOL)
    recall = recall_score(y, predicted, labels=[fit.event] if K == 2 else names, average=None, **weights)
    np.testing.assert_allclose(np.ravel(found.sensitivity), recall)
    for k, level in enumerate([fit.event] if K == 2 else names):
        ranked = found.values[used, 0] if K == 2 else p[:, k]
        area = roc_auc_score(y == level, ranked, **weights)
        assert np.ravel(found.auc)[k] == pytest.approx(area, rel=TOL)
        line = calibration_line(p[:, names.index(level)], y == level, w[used])
        assert np.ravel(found.calibration_slope)[k] == pytest.approx(line.slope.value, nan_ok=True)
        assert np.ravel(found.calibration_intercept)[k] == pytest.approx(line.intercept.value, nan_ok=True)
    assert found.rsquared == pytest.approx(1 - found.score / found.null_score, rel=TOL)
    if how == "in-sample":
        assert found.score == pytest.approx(fit.deviance) and found.null_score == pytest.approx(fit.null_deviance)
        assert found.rsquared == pytest.approx(fit.pseudo_rsquared)
    else:
        assert found.null_score > fit.null_deviance


def test_weights_are_repeats(K):
    data = sample(K, 60, seed=7)
    one, two = svm("y ~ x + z", data, weights="w").loo(), svm("y ~ x + z", repeated(data)).loo()
    for name in NUMBERS:
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-6, atol=1e-9, err_msg=name)


def test_shapes(K):
    loo = svm("y ~ x + z", sample(K, 60)).loo()
    assert isinstance(loo.auc, float) == (K == 2)
    for name in ("auc", "auc_se", "sensitivity", "specificity", "calibration_slope", "calibration_slope_se"):
        value = getattr(loo, name)
        assert isinstance(value, float) if K == 2 else list(value.index) == list(loo.shape.levels), name
    assert loo.prob.shape == ((60,) if K == 2 else (60, K)) and matrix(loo.decision_values).shape[0] == 60


@pytest.mark.parametrize("options", [{}, {"C": 50.0, "gamma": 2.0}], ids=["default", "flexible"])
def test_noise_is_worth_nothing_held_out_and_something_in_sample(options, K):
    rng = np.random.default_rng(8)
    held, own = [], []
    for seed in range(20):
        data = sample(K, 80, seed=seed).assign(y=lambda d: rng.permutation(d["y"]))
        fit = svm("y ~ x + z + site", data, **options)
        held.append(fit.loo().rsquared)
        own.append(fit.apparent.rsquared)
    assert np.median(held) <= (0.0 if K == 2 else 0.01)
    assert np.median(own) > 0.1


def test_a_level_that_is_never_predicted():
    data = pd.DataFrame({"x": np.sin(np.arange(60.0) ** 2), "y": np.arange(60) % 10 == 0})
    fit = svm("y ~ x", data, C=0.1)
    loo = fit.loo()
    assert loo.predicts_one_level is False and loo.error_rate == pytest.approx(loo.base_error)
    assert (loo.sensitivity, loo.specificity) == (0.0, 1.0)
    assert loo.confusion.loc[True].tolist() == [6.0, 0.0]


def test_residuals_are_of_the_held_out_probabilities(K):
    data = sample(K, 60, seed=12)
    fit = svm("y ~ x + z", data, weights="w")
    loo, used = fit.loo(), data["w"].to_numpy() > 0
    found = fit.residuals("response")
    if K == 2:
        expected = (loo.codes == fit.frame.response.event_code) - loo.prob
        assert found.name == "response_residual"
    else:
        expected = (data["y"].to_numpy()[:, None] == np.array(fit.classes)) - loo.prob
        np.testing.assert_allclose(found[used].sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(found, expected, atol=1e-15)
    first, again, other = (fit.residuals("quantile", rng=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (np.asarray(first) != np.asarray(other)).any()
    with pytest.raises(ArgumentError, match=r"kind='working' is not allowed"):
        fit.residuals("working")


def test_quantile_residuals_are_those_without_rows_of_weight_zero():
    data = sample(2, 60, seed=12).assign(w=1.0)
    more = pd.concat([data.iloc[:1].assign(w=0.0), data], ignore_index=True)
    alone, beside = (svm("y ~ x + z", each, weights="w").residuals("quantile", rng=1) for each in (data, more))
    np.testing.assert_allclose(beside[1:], alone, rtol=0, atol=1e-9)
    assert np.isfinite(beside[0])


def test_a_standard_error_of_zero_is_explained():
    apart = pd.DataFrame({"x": np.r_[np.arange(20.0), np.arange(30.0, 50.0)], "y": np.repeat([0, 1], 20)})
    mixed = apart.assign(y=np.arange(40) // 10 % 2)
    for fit, expected in ((svm("y ~ x", apart, C=100), True), (svm("y ~ x", mixed), False)):
        assert (fit.loo().error_rate_se == 0.0) == expected
        for printed in (fit.loo(), fit.summary(), fit.kfold()):
            assert ("A standard error of 0 says that the rows are alike" in str(printed)) == expected


def test_rows_that_are_predicted_alike_have_no_error_by_rounding():
    noise = pd.DataFrame({"x": np.random.default_rng(1).normal(size=8), "y": [0, 1] * 4})
    folds = svm("y ~ x", noise).kfold()
    assert folds.how == "8 folds"
    assert folds.log_likelihood.std() < 1e-12 and folds.score_se == 0.0


def test_folds_print_their_numbers(K):
    fit = svm("y ~ x + z", sample(K, 90, seed=2), C=2)
    folds = fit.kfold(5)
    text = " ".join(str(folds).split())
    assert text.startswith("Held out: 5 folds") and f"{folds.score:.5g}"[:4] in text
    assert "Rows held out: 90" in text and "WARNING" not in text
    frame = folds.summary_frame()
    assert frame.columns.tolist()[-2:] == ["log_likelihood", "error"] and len(frame) == 90
    assert -2.0 * (frame["log_likelihood"] * folds.weights).sum() == pytest.approx(folds.score)
    assert frame.columns.tolist() == fit.loo().summary_frame().columns.tolist()[:4]
    assert str(compare(fit, fit.update(C=1), folds=3)["svm rbf 1"]).split()[:2] == ["Held", "out:"]


@pytest.mark.parametrize("seed", [0, 3])
def test_whether_levels_move_is_the_same_for_weights_and_repeats_and_folds_do_not_recommend_themselves(seed):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"]).assign(g=rng.integers(16, size=80))
    data["y"], data["w"] = rng.choice(["p", "q"], size=80), rng.integers(1, 4, size=80)
    weighted = svm("y ~ a + b", data, weights="w", groups="g").kfold(5)
    repeated = svm("y ~ a + b", data.loc[data.index.repeat(data["w"])].reset_index(drop=True), groups="g").kfold(5)
    assert weighted.score == pytest.approx(repeated.score, rel=1e-6)
    assert weighted.levels_move == repeated.levels_move
    assert "keeps the levels in balance" not in str(weighted) + str(repeated)


def few_values(levels, n=400, seed=0):
    """Two binary predictors, of which the first tells something."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, (2, n))
    p = np.exp(np.outer(a, np.linspace(1.5, 0.0, levels)))
    y = (rng.random(n)[:, None] > np.cumsum(p / p.sum(axis=1, keepdims=True), axis=1)).sum(axis=1)
    return pd.DataFrame({"a": a, "b": b, "y": np.array(list("uvw"))[y]})


@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("C", [0.003, 1.0])
def test_rows_with_the_same_predictors_are_not_ranked_by_which_was_left_out(levels, C):
    """Where predictors have few values, so that there is hardly anything else to rank them by."""
    data = few_values(levels)
    fit = svm("y ~ a + b", data, C=C)
    loo, fresh = fit.loo(), few_values(levels, 20_000, 1)
    p = fit.predict_proba(fresh)
    shown = [fit.event] if levels == 2 else fit.classes
    true = [roc_auc_score(fresh["y"] == level, p[level]) for level in shown]
    assert (np.abs(np.ravel(loo.auc) - true) < 4.0 * np.ravel(loo.auc_se) + 0.02).all()
    at_point = data.groupby(["a", "b"]).ngroup()
    for level in range(levels):
        assert pd.Series(loo.along(level)).groupby(at_point).nunique().eq(1).all()


@pytest.mark.parametrize("levels", [2, 3])
def test_bins_do_not_part_equal_rows_by_what_was_observed(levels):
    fit = svm("y ~ a + b", few_values(levels), kernel="linear")
    panels = np.ravel(fit.loo().plot_calibration())
    for panel in panels:
        (points,) = [line for line in panel.lines if line.get_marker() == "o"]
        assert np.abs(points.get_xdata() - points.get_ydata()).max() < 0.15
    residuals = fit.plot().flat[1]
    assert np.abs(np.concatenate([line.get_ydata() for line in residuals.lines if len(line.get_xdata())])).max() < 0.15


def test_the_area_of_a_regression_beside_a_machine_of_few_values():
    data = few_values(2).assign(e=lambda d: (d["y"] == "v") * 1)
    logit = smf.logit("e ~ C(a) * C(b)", data).fit(disp=False)
    found = compare(svm("y ~ a + b", data, event="v"), logit).table["auc"]
    assert found.iloc[1] == pytest.approx(roc_auc_score(data["e"], logit.predict()), abs=0.02)


def test_probabilities_are_class_frequencies_only_where_those_of_all_rows_that_count_are():
    loo = svm("y ~ x + z", sample(2, 60, seed=2), weights="w").loo()
    gains = np.where(loo.weights > 0, loo.gains, 1.0)
    flat = replace(loo, log_likelihoods=loo.log_likelihoods - gains)
    assert not loo.is_of_frequencies and flat.is_of_frequencies and np.isnan(flat.calibration_slope)
    moved = flat.log_likelihoods.copy()
    moved[np.flatnonzero(loo.weights)[0]] -= 1e-6
    one = replace(flat, log_likelihoods=moved)
    assert not one.is_of_frequencies and one.calibration_slope == loo.calibration_slope


def test_probabilities_that_differ_by_rounding_are_tied_in_the_auc_of_each_level():
    loo = svm("y ~ x + z", sample(3, 60)).loo()
    P = loo.probability.round(1)
    off = np.random.default_rng(0).uniform(-1e-14, 1e-14, P.shape)
    one, other = (replace(loo, probability=each, maps=None, points=None).auc for each in (P, P + off))
    assert one.tolist() == other.tolist()
