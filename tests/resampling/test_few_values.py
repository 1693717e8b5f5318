"""Predictors of few values: rows at one point have several labels, and each copy is a case of its own."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

from svmstat import minimax, svm, tune
from svmstat.errors import GridWarning
from svmstat.machine import group_rows
from svmstat.resampling.bootstrap import drawn_rows
from svmstat.resampling.folds import contested, fold_units

FOLDS = StratifiedKFold(10, shuffle=True, random_state=1)


def survey(n=400, seed=0, K=2):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": rng.integers(1, 6, n), "z": rng.integers(0, 3, n)})
    score = 0.8 * (data["x"] - 3.0) + rng.logistic(size=n)
    return data.assign(y=np.digitize(score, [0.0] if K == 2 else [-0.7, 0.7]))


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("options", [{}, {"calibration": "insample"}, {"calibration": "kfold"}], ids=str)
def test_folds_are_those_of_cases(K, options):
    """By leave-one-out, drawn folds and folds that know nothing of copies the numbers are about the same."""
    fit = svm("y ~ x + z", survey(K=K), **options)
    by_folds, by_cases = fit.kfold(), fit.kfold(FOLDS)
    assert abs(by_folds.rsquared - by_cases.rsquared) < 0.03
    assert abs(by_folds.error_rate - by_cases.error_rate) < 0.05
    assert (
        K > 2 or abs(by_folds.auc - by_cases.auc) < 0.03
    )  # of pooled values of levels against the rest it hangs on more


def test_probability_weights_are_of_cases():
    data = survey()
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(data))
    fit = svm("y ~ x + z", data, weights=w, weight_type="probability")
    assert abs(fit.kfold().auc - fit.loo().auc) < 0.03


def test_a_table_of_counts_holds_points_out_whole():
    data = survey()
    table = data.groupby(["x", "z", "y"]).size().reset_index(name="count")
    fit = svm("y ~ x + z", table, weights="count")
    splits = fit.splits(5)
    assert len(table.assign(fold=splits.fold)[["x", "z", "fold"]].drop_duplicates()) == len(
        table[["x", "z"]].drop_duplicates()
    )
    assert fit.kfold(5).auc > 0.65
    assert fit.loo().score == pytest.approx(svm("y ~ x + z", data).loo().score, rel=1e-6)


@pytest.mark.parametrize("criterion", ["kfold", minimax()], ids=str)
def test_searches_hold_out_cases(criterion):
    data = survey()
    options = {"gamma": [0.2], "rng": 1, "scale": False}
    options |= {"C": [1.0]} if criterion == "kfold" else {"nu": [0.4, 0.6, 0.8]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        found = tune("y ~ x + z", data, criterion=criterion, folds=5, **options)
        again = tune("y ~ x + z", data, criterion=criterion, folds=StratifiedKFold(5), **options)
    assert found.best_row["score"] == pytest.approx(again.best_row["score"], rel=0.12)
    assert data.assign(fold=found.fold).drop_duplicates().groupby(["x", "z", "y"]).size().max() > 1


def test_nested_scores_are_of_cases():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        found = tune("y ~ x + z", survey(), C=[0.5, 4.0], gamma=[0.2], nested=5, rng=1)
    assert found.nested_score - found.best_row["score"] < 20.0


def test_bands_hold_their_estimates():
    fit = svm("y ~ x + z", survey())
    made = fit.bootstrap(99, rng=1)
    found = fit.comparisons("x", B=made)
    assert (found.band.lower <= found.estimate).all() and (found.estimate <= found.band.upper).all()
    assert fit.get_prediction(B=99, rng=1).outside.mean() <= 0.1


def test_what_is_left_out_of_a_replicate():
    """Of w copies those that no draw has met, on average; of a point with one label, or of single rows, all or none."""
    x, y = np.array([0.0] * 7 + [1.0] * 4 + [2.0]), np.array([0] * 3 + [1] * 4 + [0] * 4 + [1])
    machine = svm("y ~ x", pd.DataFrame({"x": x, "y": y}), kernel="linear", scale=False).machine
    groups = machine.groups
    np.testing.assert_array_equal(contested(groups, machine.group_codes), x[groups.first] == 0.0)
    rng = np.random.default_rng(0)
    for _ in range(20):
        drawn = drawn_rows(machine, rng)
        for g, w in enumerate(groups.weights):
            c = drawn.copies[g]
            shared = x[groups.first[g]] == 0.0
            assert drawn.left_out[g] == pytest.approx(w * (1.0 - 1.0 / w) ** c if shared else w * (c == 0))


def test_without_other_labels_copies_stay_together():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(2, size=30)
    at = np.repeat(np.arange(30), rng.integers(1, 4, 30))
    groups = group_rows(X[at], y[at].astype(float), np.ones(len(at)))
    unit, group, totals = fold_units(groups, y[at][groups.first], np.ones(len(at)), True)
    np.testing.assert_array_equal(unit, groups.of_row)
    np.testing.assert_array_equal(group, np.arange(30))
    np.testing.assert_array_equal(totals.argmax(axis=1), y[at][groups.first])
    assert ((totals > 0).sum(axis=1) == 1).all()
