"""Rows that are copies of others: counted by hand, told where they are no chance, and held out together by folds."""

import numpy as np
import pandas as pd
import pytest

from svmstat import compare, svm, tune
from svmstat.resampling.copies import are_suspicious, copies_among, pairs_by_chance, weight_of_copies_seen

TOLD = "have copies, of the same predictors and level"


def noise(n=60, columns=3, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.normal(size=(n, columns)), columns=list("abcd")[:columns]).assign(y=rng.random(n) < 0.5)


def twice(data, rows=None):
    return pd.concat([data, data if rows is None else data.iloc[rows]], ignore_index=True)


def words(result):
    return " ".join(str(result).split())


def test_copies_are_counted():
    data = twice(noise(), np.arange(20)).assign(w=1.0 + np.arange(80) % 3)
    assert weight_of_copies_seen(svm("y ~ a + b + c", data).machine) == 40.0
    weighted = data["w"][np.r_[:20, 60:80]].sum()
    for kind in ("frequency", "probability"):
        fit = svm("y ~ a + b + c", data, weights="w", weight_type=kind)
        scale = fit.frame.weights.sum() / data["w"].sum()  # probability weights have the mean 1
        assert weight_of_copies_seen(fit.machine) == pytest.approx(weighted * scale)
    grouped = svm("y ~ a + b + c", data.assign(g=np.arange(80) % 20), groups="g")
    assert weight_of_copies_seen(grouped.machine) == 0.0


def test_folds_that_keep_copies_together_have_seen_none():
    data = twice(noise())
    fit = svm("y ~ a + b + c", data)
    for folds, seen in ((np.arange(120) % 5, 0.0), (np.arange(120) % 7, 120.0), (np.arange(120) // 60, 120.0)):
        held_out = fit.kfold(folds)
        assert held_out.copies_seen == seen and (TOLD in words(held_out)) == (seen > 0.0)
    assert fit.kfold(5).copies_seen == 0.0


def test_an_own_weight_is_no_other_row():
    fit = svm("y ~ a + b + c", noise().assign(w=3.0), weights="w")
    assert fit.loo().copies_seen == 0.0 and TOLD not in words(fit.summary()) + words(fit.loo())
    told = "Leave-one-out leaves out one copy of a row"
    assert told in words(fit.summary()) and told in words(fit.loo()) and told not in words(fit.kfold(5))
    assert told in words(tune("y ~ a + b + c", noise().assign(w=3.0), weights="w", C=2.0, gamma=0.5))
    for other in (svm("y ~ a + b + c", noise()), svm("y ~ a", noise().assign(w=0.5), weights="w")):
        assert told not in words(other.summary())


def test_noise_that_is_there_twice_looks_good_and_is_told():
    data = twice(noise(100))
    fit = svm("y ~ a + b + c", data, C=30.0, gamma=2.0)
    assert fit.loo().rsquared > 0.9 and fit.kfold(5).rsquared < 0.0
    told = f"200 of 200 rows {TOLD}"
    for result in (fit.summary(), fit.loo(), compare(fit, fit.update(C=1.0)), fit.drop1()):
        assert (told in words(result)) == (not hasattr(result, "tests"))
    with pytest.warns(match="the best"):
        found = tune("y ~ a + b + c", data, C=[1.0, 30.0], gamma=[0.1, 2.0])
    text = words(found)
    assert f"{told}, which the fits without them have seen" in text and "criterion='kfold' holds" in text
    with pytest.warns(match="the best"):
        found = tune("y ~ a + b + c", data, C=[1.0, 30.0], gamma=[0.1, 2.0], criterion="kfold")
    assert TOLD not in words(found)


@pytest.mark.parametrize("n_events", [5, 12])
def test_a_rare_level_that_was_multiplied_is_told(n_events):
    data = noise(120).assign(y=np.arange(120) < n_events)
    more = twice(data, np.tile(np.arange(n_events), 9))
    fit = svm("y ~ a + b + c", more, C=30.0, gamma=2.0)
    assert f"{10 * n_events} of {120 + 9 * n_events} rows {TOLD}" in words(fit.summary())


def test_equal_rows_of_coarse_predictors_are_chance():
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.integers(0, 6, size=(300, 4)), columns=list("abcd"))
    data["y"] = data["a"] + data["b"] > 4
    fit = svm("y ~ a + b + c + d", data)
    assert fit.loo().copies_seen > 30.0 and not fit.loo().copies_suspicious and TOLD not in words(fit.summary())
    assert are_suspicious(svm("y ~ a + b + c", twice(noise())).machine, 120.0)


def test_pairs_by_chance_are_those_of_independent_columns():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 5, size=(400, 3)).astype(float)
    equal = sum(int((X[i + 1 :] == X[i]).all(axis=1).sum()) for i in range(400))
    assert pairs_by_chance(X) == pytest.approx(equal, rel=0.1)
    assert pairs_by_chance(X[:1]) == pairs_by_chance(np.arange(9.0)[:, None]) == 0.0


def test_few_copies_are_not_worth_a_word():
    assert copies_among(svm("y ~ a + b + c", twice(noise(), [0, 1])).machine) == {
        "copies_seen": 4.0,
        "copies_suspicious": False,
    }


def test_folds_are_no_remedy_for_levels_out_of_balance_where_they_keep_copies_together():
    def advised(data):
        fit = svm("y ~ a + b + c", data, C=0.003)
        text = words(compare(fit, fit.update(C=0.004)))
        return "keeps the levels in balance" in words(fit.loo()), "keeps the levels in balance" in text

    assert advised(noise(80)) == (True, True)
    assert advised(twice(noise(80), np.arange(10))) == (False, False)


def test_p_values_of_copies_are_said_to_be_too_small():
    once, data = noise(60), twice(noise(60))
    told = f"120 of 120 rows {TOLD}, more than chance makes of such predictors. Replicates take them for independent"
    p = {}
    for name, frame in (("once", once), ("twice", data)):
        fit = svm("y ~ a + b + c", frame, C=30.0, gamma=2.0)
        p[name] = fit.permutation_test(B=19, rng=1)
        for result in (p[name], fit.gof(B=19, rng=1), fit.gof(B=19, method="pairs", rng=1)):
            assert (told in words(result)) == (name == "twice")
    assert p["twice"].pvalue == 0.05 < p["once"].pvalue
