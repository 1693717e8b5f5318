"""Nested estimates: the search of the rows that are kept, and its fit at the rows that are not, by separate calls."""

import numpy as np
import pandas as pd
import pytest
from levels import quiet, sample, standardised

from svmstat import svm, tune
from svmstat.errors import ArgumentError, DataError, UnavailableError
from svmstat.tuning import minimax, nested, neyman_pearson

TOL = 1e-5  # two certified fits of the same problem, and their Platt maps, relative
GRID = {"C": [0.5, 4.0], "gamma": [0.1, 1.0]}


@pytest.fixture(params=[2, 3], ids=["two", "three"])
def K(request):
    """Six levels have nothing here that three have not, and take their time."""
    return request.param


@pytest.fixture
def data(K):
    return standardised(sample(K, 66, seed=1))


def by_hand(data, found, score, **options):
    """The log-likelihoods of rows, or whether they are predicted wrongly, by searches without their folds."""
    each, w = np.full(len(data), np.nan), data[options["weights"]] if "weights" in options else np.ones(len(data))
    for which, choice in found.nested.choices.iterrows():
        out = (found.nested.fold == which).to_numpy()
        kept = data[~out & (w > 0)]
        inner = quiet("y ~ x + z", kept, score=score, scale=False, **GRID, **options)
        assert inner.best_params == choice.to_dict()
        fit = svm("y ~ x + z", kept, scale=False, **options, **inner.best_params)
        if score == "error":
            each[out] = fit.predict(data[out]) != data["y"][out]
        else:
            p = fit.predict_proba(data[out])
            each[out] = np.log([p.loc[i, level] for i, level in data["y"][out].items()])
    return each


@pytest.mark.parametrize(("score", "options"), [("deviance", {}), ("error", {}), ("deviance", {"weights": "w"})])
def test_nested_by_hand(data, score, options):
    found = quiet("y ~ x + z", data, score=score, scale=False, nested=3, rng=2, **GRID, **options)
    w = data["w"].to_numpy(float) if options else np.ones(len(data))
    used, each = w > 0, by_hand(data, found, score, **options)
    mean = np.average(each[used], weights=w[used])
    spread = np.sqrt(w[used] @ (each[used] - mean) ** 2 / (w.sum() - 1) / w.sum())
    scale = 1.0 if score == "error" else -2.0 * w.sum()
    assert found.nested_score == pytest.approx(scale * mean, rel=TOL)
    assert found.nested_score_se == pytest.approx(abs(scale) * spread, rel=TOL)
    assert (found.nested.fold[~used] == -1).all() and set(found.nested.fold[used]) == {0, 1, 2}
    plain = quiet("y ~ x + z", data, score=score, scale=False, rng=2, **GRID, **options)
    pd.testing.assert_frame_equal(found.table, plain.table, check_exact=True)
    assert plain.nested is None


@pytest.mark.parametrize("criterion", ["loo", "kfold", "span"])
def test_workers_do_not_matter_and_rng_does(data, criterion):
    how = {"criterion": criterion, "nested": 3, "folds": 3, "score": "error", **GRID}
    one, two, other = (quiet("y ~ x + z", data, rng=rng, n_jobs=n, **how) for rng, n in ((1, 1), (1, 2), (2, 1)))
    assert (one.nested_score, one.nested_score_se) == (two.nested_score, two.nested_score_se)
    pd.testing.assert_frame_equal(one.nested.choices, two.nested.choices)
    assert not one.nested.fold.equals(other.nested.fold)
    assert one.nested.rates["error"] == one.nested_score


def test_ten_folds_by_default_in_the_summary():
    data = sample(2, 66, seed=1)[:60]  # without the copies
    found = quiet("y ~ x + z", data, nested=True, rng=1, **GRID)
    text = " ".join(str(found).split())
    assert "All tuned anew without each of 10 folds" in text and len(found.nested.choices) == 10
    assert f"Optimism of the score: {found.nested_score - found.best_row['score']:.5g}" in text
    assert "what tuning on fewer rows costs" in text
    counts = pd.crosstab(found.nested.fold, data["y"])
    assert (counts.max() - counts.min() <= 1).all()


@pytest.mark.parametrize("search", ["grid", "bias"])
def test_error_rates(search):
    data = standardised(sample(2, 90, seed=3))
    options = {"criterion": minimax(), "search": search, "nu": [0.3, 0.6], "gamma": [0.2, 1.0], "scale": False}
    found = quiet("y ~ x + z", data, nested=3, folds=3, rng=1, event="b", **options)
    wrong = pd.Series(False, index=data.index)
    if search == "grid":
        for which, choice in found.nested.choices.iterrows():
            out = found.nested.fold == which
            nu = choice["nu_event"], choice["nu_other"]
            fit = svm("y ~ x + z", data[~out], nu=nu, gamma=choice["gamma"], event="b", scale=False)
            wrong[out] = (fit.predict(data[out]) != data["y"][out]).to_numpy()
        is_event = data["y"] == "b"
        expected = {"p_f": wrong[~is_event].mean(), "p_m": wrong[is_event].mean()}
        assert {name: found.nested.rates[name] for name in expected} == pytest.approx(expected)
        se = np.sqrt(expected["p_f"] * (1 - expected["p_f"]) / ((~is_event).sum() - 1))
        assert found.nested.rates["p_f_se"] == pytest.approx(se)
    assert found.nested_score == max(found.nested.rates["p_f"], found.nested.rates["p_m"])
    assert np.isnan(found.nested_score_se)
    assert "All tuned anew without each of 3 folds" in str(found)


BAD = [
    ({"nested": 1}, "nested=1 is not allowed: it must be an integer >= 2"),
    ({"nested": "yes"}, "nested='yes' is not allowed"),
    (
        {"nested": True, "criterion": "gacv"},
        "nested=10 is not allowed: it must be left out with GACV, a number of the fit",
    ),
    ({"nested": 3, "criterion": neyman_pearson(0.2, 0.2)}, "nested=3 is not allowed: it must be left out with delta"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[str(case[0])[:40] for case in BAD])
def test_what_is_refused(arguments, message):
    with pytest.raises(ArgumentError) as caught:
        tune("y ~ x + z", sample(2, 60), **arguments)
    assert message in str(caught.value)


def test_rows_that_do_not_suffice(data):
    few = data[data["y"] != "b"]
    few = pd.concat([few, data[data["y"] == "b"].head(4)])
    with pytest.raises(DataError, match="nested=5 needs 5 different rows of each level: the level 'b' has 4"):
        tune("y ~ x + z", few, nested=5, **GRID)
    with pytest.raises(DataError, match="folds=4 needs 4 different rows of each level: the level 'b' has 3"):
        tune("y ~ x + z", few, nested=4, criterion="kfold", folds=4, **GRID)


@pytest.mark.parametrize("groups", [None, "g"])
def test_a_level_that_is_lost_where_one_row_more_is_left_out_is_refused_before_any_fit(groups, monkeypatch):
    data = sample(2, 60).assign(y=np.where(np.arange(60) < 3, "b", "a"), g=np.arange(60) // 2)
    monkeypatch.setattr(nested, "run_pieces", None)
    what = "group" if groups else "row"
    told = f"nested: without the rows of fold [01], the level 'b' has 1 {what}, and nothing where one is left out"
    with pytest.raises(DataError, match=told):
        tune("y ~ x + z", data, C=[1.0, 2.0], gamma=0.5, nested=2, groups=groups)


def test_without_it_there_is_no_estimate():
    found = quiet("y ~ x + z", sample(2, 60), C=1.0, gamma=0.5)
    with pytest.raises(UnavailableError, match=r"nested_score is for tune\(…, nested=True\)"):
        found.nested_score  # noqa: B018


def test_rows_left_out_of_a_search_for_a_shift_are_judged_by_the_shifted_rule(monkeypatch):
    data, kept = standardised(sample(2, 90, seed=3)), []
    left_out = nested.LeftOut
    monkeypatch.setattr(nested, "LeftOut", lambda *given: kept.append(given) or left_out(*given))
    options = {"criterion": minimax(), "search": "bias", "nu": [0.3, 0.6], "gamma": [0.2, 1.0], "scale": False}
    found = quiet("y ~ x + z", data, nested=3, folds=3, rng=1, event="b", **options)
    f, is_event = kept[0][1][:, 0], (data["y"] == "b").to_numpy()
    for which, choice in found.nested.choices.iterrows():
        out, nu = (found.nested.fold == which).to_numpy(), (choice["nu_event"], choice["nu_other"])
        fit = svm("y ~ x + z", data[~out], nu=nu, gamma=choice["gamma"], event="b", scale=False)
        shift = f[out] - fit.decision_function(data[out]).to_numpy()
        assert np.ptp(shift) < 1e-6 and abs(shift.mean()) > 1e-3
    assert found.nested.rates["p_f"] == np.mean(f[~is_event] > 0)
    assert found.nested.rates["p_m"] == np.mean(f[is_event] <= 0)


def test_rows_that_are_too_few_for_inner_folds_are_said_to_be_those_of_the_others():
    data = pd.DataFrame({"x": np.random.default_rng(5).normal(size=10), "y": [True, False] * 5})
    expected = (
        r"nested: without the rows of fold 0, folds=5 needs 5 different rows of each level: the level \w+ has [34]\."
    )
    with pytest.raises(DataError, match=expected):
        tune("y ~ x", data, criterion="kfold", folds=5, nested=3)


@pytest.mark.parametrize(
    ("events", "groups", "criterion", "advised"),
    [
        (60, None, "loo", True),
        (8, None, "loo", 8),
        (8, None, "kfold", 8),
        (6, None, "kfold", 6),
        (5, None, "kfold", None),
        (3, None, "loo", 3),
        (2, None, "loo", None),
        (60, 4, "loo", 4),
        (60, 12, "loo", True),
        (60, 5, "kfold", None),
    ],
)
def test_the_nested_search_that_is_advised_can_be_done(events, groups, criterion, advised):
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"a": rng.normal(size=120), "y": np.arange(120) % 120 < events})
    options = {"criterion": criterion, "C": [1.0, 4.0], "gamma": 0.5, "rng": 1}
    if groups:
        data["y"] = rng.random(120) < 0.5
        options |= {"groups": np.arange(120) % groups}
    text = " ".join(str(quiet("y ~ a", data, **options)).split())
    if advised is None:
        assert "nested=" not in text and "too few to tune anew" in text
        return
    assert f"; nested={advised} tunes anew without each of " in text
    found = quiet("y ~ a", data, nested=advised, **options)
    assert len(found.nested.choices) == (10 if advised is True else advised)
    what = "groups" if groups else "rows"
    assert f"standard error is that of a mean over the {what}," in " ".join(str(found).split())


def test_the_nested_search_that_minimax_advises_can_be_done():
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"a": rng.normal(size=80), "y": rng.random(80) < 0.5, "g": np.arange(80) % 4})
    options = {"criterion": minimax(), "nu": [0.6, 0.8], "gamma": 0.5, "rng": 1, "folds": 2, "groups": "g"}
    text = " ".join(str(quiet("y ~ a", data, **options)).split())
    assert "nested=4 estimates by how much" in text
    assert len(quiet("y ~ a", data, nested=4, **options).nested.choices) == 4
