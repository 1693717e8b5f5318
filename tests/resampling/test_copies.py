"""Rows that are copies of others: counted by hand, told where they are no chance, and held out together by folds."""

import numpy as np
import pandas as pd
import pytest

from svmstat import compare, svm, tune
from svmstat.results.resampled import copies_of

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
    assert copies_of(svm("y ~ a + b + c", data)).seen == 40.0
    weighted = data["w"][np.r_[:20, 60:80]].sum()
    for kind in ("frequency", "probability"):
        fit = svm("y ~ a + b + c", data, weights="w", weight_type=kind)
        scale = fit.frame.weights.sum() / data["w"].sum()  # probability weights have the mean 1
        assert copies_of(fit).seen == pytest.approx(weighted * scale)


def test_folds_that_keep_copies_together_have_seen_none():
    data = twice(noise())
    fit = svm("y ~ a + b + c", data)
    for folds, seen in ((np.arange(120) % 5, 0.0), (np.arange(120) % 7, 120.0), (np.arange(120) // 60, 120.0)):
        held_out = fit.kfold(folds)
        assert held_out.copies.seen == seen and (TOLD in words(held_out)) == (seen > 0.0)
    assert fit.kfold(5).copies is None


def test_an_own_weight_is_no_other_row():
    fit = svm("y ~ a + b + c", noise().assign(w=3.0), weights="w")
    assert fit.loo().copies.seen == 0.0 and TOLD not in words(fit.summary()) + words(fit.loo())
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


def test_copies_across_groups_are_seen_and_those_within_are_not():
    data = twice(noise()).assign(new=np.arange(120) // 2, same=np.arange(120) % 60 // 2)
    for groups, seen in (("new", 120.0), ("same", 0.0)):
        fit = svm("y ~ a + b + c", data, groups=groups)
        assert fit.loo().copies.seen == seen >= fit.kfold(5).copies.seen >= 0.8 * seen
        text = words(fit.summary())
        assert (TOLD in text) == (seen > 0.0) and "holds copies out together" not in text


def rounded(rng, n):
    """Coarse columns, of which several are equal by chance."""
    data = {"x": rng.normal(size=n).round(1), "f": rng.choice(list("abcdefgh"), n), "g": rng.integers(0, 4, n)}
    return pd.DataFrame(data).assign(h=rng.choice(["u", "v"], n), y=rng.random(n) < 0.3)


COARSE = {
    "one number": (["age"], "y ~ age"),
    "its spline": (["age"], "y ~ bs(age, df=5)"),
    "two that go together": (["age", "size"], "y ~ age + size"),
    "their products": (["age", "size"], "y ~ age * size + poly(age, 2)"),
    "ordinal ones": (["p", "q", "r", "s"], "y ~ p + q + r + s"),
    "a function of another": (["age", "old"], "y ~ age + old"),
}


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("name", COARSE)
def test_equal_rows_of_coarse_predictors_are_chance(name, K):
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.integers(0, 6, size=(300, 4)), columns=list("pqrs")).assign(age=rng.integers(20, 80, 300))
    data["size"] = data["age"] + rng.integers(0, 4, 300)
    data["old"] = data["age"] > 40
    score = data["p"] + data["q"] if "ordinal" in name else data["age"]
    data["y"] = pd.qcut(score, K, labels=False)
    fit = svm(COARSE[name][1], data)
    copies = fit.loo().copies
    assert copies.seen > 50.0 and not copies.suspicious and TOLD not in words(fit.summary())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["all twice", "the rare level three times"])
def test_copies_of_coarse_rows_are_more_than_chance(kind, seed):
    once = rounded(np.random.default_rng(seed), 200)
    rare = np.flatnonzero(once["y"])
    data = twice(once) if kind == "all twice" else twice(once, np.tile(rare, 2))
    for text in ("y ~ x + f + g + h", "y ~ x * f + g * h"):
        assert not svm(text, once).loo().copies.suspicious
        fit = svm(text, data, gamma=3.0)
        assert fit.loo().copies.suspicious and TOLD in words(fit.summary())


@pytest.mark.parametrize("columns", [["a"], ["a", "b"], ["a", "f"], ["day"]])
def test_copies_of_numbers_that_are_not_coarse(columns):
    once = noise(80).assign(f=lambda d: d["b"] > 0)
    once["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta((1e9 * once["c"]).round(), unit="s")
    text = f"y ~ {' + '.join(columns)}".replace("day", "I(day.astype('int64'))")
    fit = svm(text, twice(once))
    assert fit.loo().copies.suspicious and not svm(text, once).loo().copies.suspicious


def test_gram_matrices_have_copies_too():
    X = noise(30)[["a", "b"]].to_numpy()
    X = np.vstack([X, X])
    gram = pd.DataFrame(np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=-1))).add_prefix("k")
    fit = svm("y ~ .", gram.assign(y=np.tile(np.arange(30) % 2, 2)), kernel="precomputed")
    assert fit.loo().copies.suspicious


def test_few_copies_are_not_worth_a_word():
    copies = svm("y ~ a + b + c", twice(noise(), [0, 1])).loo().copies
    assert (copies.seen, copies.suspicious) == (4.0, False)


def test_where_a_level_is_one_row_no_folds_are_advised():
    data = noise(40).assign(y=np.arange(40) < 1)
    fit = svm("y ~ a + b + c", twice(data, np.zeros(10, int)))
    text = words(fit.summary())
    assert f"11 of 50 rows {TOLD}" in text and "holds copies out together" not in text
    found = words(tune("y ~ a + b + c", twice(data, np.zeros(10, int)), C=1.0, gamma=0.5))
    assert f"11 of 50 rows {TOLD}" in found and "holds copies out together" not in found


def test_searches_by_given_folds_have_seen_copies_and_those_of_a_full_fit_none():
    data = twice(noise())
    for fold, told in ((np.arange(120) % 5, False), (np.arange(120) % 7, True)):
        found = tune("y ~ a + b + c", data, C=1.0, gamma=0.5, criterion="kfold", folds=fold)
        assert (TOLD in words(found)) == told and "holds copies out" not in words(found)
    assert TOLD not in words(tune("y ~ a + b + c", data, C=1.0, gamma=0.5, criterion="gacv"))
    for criterion, told in (("gacv", False), ("loo", True)):
        found = tune("y ~ s(a) + s(b)", data, C=[1.0, 4.0], theta="coordinate", criterion=criterion)
        assert (TOLD in words(found)) == told


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


def ratings(n=100, seed=0):
    """Coarse columns, of which both levels are at many points."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.integers(1, 5, size=(n, 3)), columns=list("abc")).assign(y=rng.random(n) < 0.4)


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_few_values_that_are_all_there_twice(seed):
    once = ratings(seed=seed)
    events = np.flatnonzero(once["y"])
    designs = ((once, 0), (twice(once), 200), (twice(once, np.tile(events, 2)), 3 * len(events)))
    for data, seen in designs:
        fit = svm("y ~ a + b + c", data, C=30.0, gamma=2.0)
        for result in (fit.summary(), fit.loo(), fit.kfold(5), fit.kfold(np.arange(len(data)) % 7)):
            text = words(result)
            assert (TOLD in text) == (seen > 0) and "holds copies out together" not in text
        assert fit.loo().copies.seen == seen >= fit.kfold(5).copies.seen >= 0.8 * seen


def test_rows_of_few_values_that_are_repeated_at_random_are_cases():
    once = ratings()
    rng = np.random.default_rng(1)
    for rows in (rng.integers(100, size=100), np.arange(30)):
        fit = svm("y ~ a + b + c", twice(once, rows))
        assert fit.loo().copies.seen == 0.0 and TOLD not in words(fit.summary())


def test_a_design_with_as_many_rows_at_each_point_has_no_copies_where_it_has_few_points():
    data = pd.DataFrame({"a": np.repeat(np.arange(8), 10), "y": np.tile(np.arange(2), 40)})
    assert not svm("y ~ C(a)", data).loo().copies.suspicious


def test_searches_by_folds_tell_of_rows_of_few_values_that_are_there_twice():
    for data, told in ((ratings(), False), (twice(ratings()), True)):
        found = tune("y ~ a + b + c", data, C=1.0, gamma=0.5, criterion="kfold")
        assert (TOLD in words(found)) == told and "holds copies out" not in words(found)
