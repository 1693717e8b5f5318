"""Sets of labels by their definition from loo(), nested in the level, the same for repeats; what is printed of them."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from levels import matrix, repeated, sample, standardised

from svmstat import svm
from svmstat.diagnostics import LabelSets

LEVELS = (0.5, 0.8, 0.9, 0.95)


def scores(f, p, event, classes):
    """How strange rows are for each level."""
    if len(classes) > 2:
        return -np.log(p)
    sign = np.where(np.array(classes) == event, 1.0, -1.0)
    return -matrix(f) * sign


@pytest.fixture
def data(K):
    return sample(K, 60, seed=2)


@pytest.mark.parametrize("calibration", ["auto", "insample"])
def test_by_the_definition(data, calibration, K):
    fit = svm("y ~ x + z + site", data, C=2, calibration=calibration)
    new, loo = sample(K, 40, seed=3), fit.loo()
    p = fit.insample_maps.probabilities(matrix(fit.decision_function(new)))
    fresh = scores(fit.decision_function(new), p, fit.event, fit.classes)
    left_out = scores(loo.decision_values, loo.arrays.probability, fit.event, fit.classes)
    y = data["y"].to_numpy()
    for level in LEVELS:
        found = fit.predict_set(new, level)
        assert found.columns.tolist() == list(fit.classes) and found.index.equals(new.index)
        assert set(map(str, found.dtypes)) == {"bool"}
        for k, name in enumerate(fit.classes):
            known = left_out[y == name, k]
            counts = (known >= fresh[:, [k]] - 1e-8).sum(axis=1)
            inside = (1 + counts) * 1e6 > round((1 - level) * 1e6) * (len(known) + 1)
            np.testing.assert_array_equal(found[name], inside)


def test_sets_are_nested(data, K):
    fit = svm("y ~ x + z", data)
    for newdata in (None, sample(K, 40, seed=3)):
        found = [fit.predict_set(newdata, level).to_numpy() for level in LEVELS]
        for narrow, wide in pairwise(found):
            assert (narrow <= wide).all() and (narrow < wide).any()


def test_weights_are_repeats_and_the_order_of_rows_makes_no_difference(data, K):
    data = standardised(data)
    new, how = standardised(sample(K, 40, seed=3)), {"C": 2, "gamma": 0.5, "scale": False}
    weighted = svm("y ~ x + z", data, weights="w", **how)
    long = repeated(data)
    for other in (long, long.sample(frac=1.0, random_state=1)):
        same = svm("y ~ x + z", other, **how)
        pd.testing.assert_frame_equal(weighted.label_sets(new).pvalues, same.label_sets(new).pvalues, atol=1e-9)
        one, two = weighted.label_sets(), same.label_sets()
        pd.testing.assert_series_equal(one.coverage, two.coverage)
        pd.testing.assert_series_equal(one.mean_size, two.mean_size)


def test_the_rows_of_the_fit_have_the_sets_of_their_held_out_scores(data, K):
    """A row of the fit is ranked among the others of its level."""
    found = svm("y ~ x + z", data).label_sets(level=0.8)
    assert isinstance(found, LabelSets) and found.how == "leave-one-out"
    own = found.p[np.arange(60), found.codes] * found._totals[found.codes]
    np.testing.assert_allclose(own, np.round(own), atol=1e-9)
    np.testing.assert_allclose(found.size, found.frame.sum(axis=1))
    for k, name in enumerate(found.shape.levels):
        rows = found.codes == k
        assert found.coverage[name] == pytest.approx(found.frame.loc[rows, name].mean())
        assert found.mean_size[name] == pytest.approx(found.size[rows].mean())
        assert found.coverage[name] >= 0.8


def test_missing_predictors(data, K):
    fit, new = svm("y ~ x + z", data), sample(K, 40, seed=3)
    whole = fit.predict_set(new)
    new.loc[[1, 4], "x"] = np.nan
    found = fit.predict_set(new)
    assert set(map(str, found.dtypes)) == {"boolean"}
    assert found.index[found.isna().all(axis=1)].tolist() == [1, 4] == found.index[found.isna().any(axis=1)].tolist()
    pd.testing.assert_frame_equal(found.drop([1, 4]).astype(bool), whole.drop([1, 4]))
    assert fit.label_sets(new).size.isna().sum() == 2
    assert "2 rows without a set" in str(fit.label_sets(new))


@pytest.mark.filterwarnings("ignore::svmstat.errors.CalibrationWarning")
def test_a_level_of_one_row_is_in_every_set(lonely):
    """The row itself cannot be left out, and has no set."""
    fit = svm("y ~ x + z", lonely)
    found = fit.predict_set(lonely)
    assert found["only"].all()
    own = fit.predict_set()
    assert own.loc["r7"].isna().all() and own.drop("r7").notna().all(axis=None) and own["only"].drop("r7").all()
    said = " ".join(str(fit.label_sets()).split())
    assert re.search(r"in every set:.*only \(1\)", said)
    assert f"Sets of {len(lonely) - 1} rows" in said  # of which the shares below are
    assert "1 row of the fit could not be left out, and counts as the strangest of the level" in said


def test_a_machine_that_ranks_nothing_has_all_labels():
    """Contradictory rows at each point: every score ties."""
    data = pd.DataFrame({"x": np.tile(np.arange(12.0), 2), "y": np.repeat(["a", "b"], 12)})
    fit = svm("y ~ x", data, class_weight={"a": 5.0, "b": 1.0})
    assert (fit.decision_values == fit.decision_values.iloc[0]).all()
    assert fit.predict_set(data).all(axis=None)


def test_what_is_printed(data, K):
    shown = svm("y ~ x + z", data).label_sets(sample(K, 40, seed=3), 0.8)
    text = " ".join(str(shown).split())
    for words in ("Conformal label sets at 80 %", "held out: leave-one-out", "Sets of 40 rows", "no label", "K labels"):
        assert words.replace("K", str(K)) in text
    assert repr(shown).startswith("<LabelSets: 40 rows at 80 %") and "<table" in shown._repr_html_()
    assert max(map(len, str(shown).splitlines())) <= 78


def test_sets_by_folds_are_said_to_be_by_folds(monkeypatch):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=90)}).assign(y=lambda d: d.x + rng.normal(size=90) > 0)
    assert "but for the one row by which the fits without a row" in " ".join(
        str(svm("y ~ x", data).label_sets()).split()
    )
    monkeypatch.setattr("svmstat.results.resampled.MOST_LEFT_OUT", 50)
    fit = svm("y ~ x", data, calibration="kfold")
    assert "but for the rows of a fold by which the fits without them" in " ".join(str(fit.label_sets()).split())


def test_copies_are_said_to_count_as_independent_rows():
    data = sample(2, 60, seed=2).assign(copies=np.resize([1.0, 2.0, 3.0], 60))
    note = "Weights are numbers of copies: 60 rows count as 120 independent ones"
    weighted, plain = svm("y ~ x + z", data, weights="copies"), svm("y ~ x + z", data)
    for ask in (lambda fit: fit.label_sets(), lambda fit: fit.loo().reliability(B=39, rng=1)):
        assert note in " ".join(str(ask(weighted)).split()) and "copies" not in str(ask(plain))
    assert "copies" not in str(weighted.loo().reliability(B=0))


@pytest.mark.parametrize(("rare", "told"), [(8, True), (9, False)])
def test_with_fewer_than_nine_rows_a_level_is_in_every_set(rare, told):
    few = pd.DataFrame({"x": np.random.default_rng(0).normal(size=60), "y": np.where(np.arange(60) < rare, "a", "b")})
    printed = " ".join(str(svm("y ~ x", few.assign(x=few.x + 2.0 * (few.y == "a"))).label_sets(level=0.9)).split())
    assert (f"With fewer than 9 rows a level is in every set: a ({rare})" in printed) == told


def test_label_sets_of_new_rows_count_groups():
    """(1 + Σ over groups of the share of their rows of the label that are as strange) / (1 + groups with the label)."""
    rng = np.random.default_rng(0)
    group = np.r_[np.arange(12), rng.integers(0, 4, 48)]  # uneven
    data = pd.DataFrame({"x": rng.normal(size=60), "z": rng.normal(size=12)[group], "g": group})
    data["y"] = np.where(data["x"] + data["z"] + rng.logistic(size=60) > 0, "b", "a")
    fit, new = svm("y ~ x + z", data, groups="g", C=2, gamma=0.5), pd.DataFrame({"x": [-0.3, 0.9], "z": [0.2, -0.4]})
    found, f, left = fit.label_sets(new).pvalues, fit.decision_function(new).to_numpy(), fit.loo().values[:, 0]
    for label, sign in (("a", 1.0), ("b", -1.0)):
        own = data["y"] == label
        for i in range(2):
            share = pd.Series(sign * left >= sign * f[i])[own].groupby(data["g"][own]).mean()
            assert found[label].iloc[i] == pytest.approx((1.0 + share.sum()) / (1.0 + len(share)))


def printed(result):
    return " ".join(str(result).split())


def test_rows_that_do_not_count_or_have_no_set_have_no_part_in_the_coverage():
    data = sample(2, 60, seed=2).assign(w=np.resize([1.0, 2.0, 1.0, 3.0], 60))
    found = svm("y ~ x + z", data, weights="w").label_sets(level=0.8)
    p, k = found.held_out_p.copy(), found.codes[0]
    rows = np.flatnonzero(found.codes == k)
    weights = found.weights.copy()
    weights[rows[:4]], p[rows[4]], p[rows[:4]] = 0.0, np.nan, 0.0
    kept, level = rows[5:], found.shape.levels[k]
    changed = replace(found, weights=weights, held_out_p=p)
    inside = p[kept] > 0.2 + 1e-9
    assert changed.coverage[level] == pytest.approx(np.average(inside[:, k], weights=weights[kept]))
    assert changed.mean_size[level] == pytest.approx(np.average(inside.sum(axis=1), weights=weights[kept]))


def test_levels_are_counted_by_their_weights():
    data = sample(2, 60, seed=2)
    found = svm("y ~ x + z", data, weights="w").label_sets()
    totals = [row[0] for row in found.summary().parts[0].cells]
    assert totals == data.groupby("y")["w"].sum().loc[list(found.shape.levels)].tolist()


def test_shares_of_sizes_are_of_the_rows_that_have_a_set():
    data = sample(2, 60, seed=2)
    new = sample(2, 40, seed=3)
    new.loc[[1, 4], "x"] = np.nan
    found = svm("y ~ x + z", data).label_sets(new)
    table = found.summary().parts[1]
    counts, shares = zip(*table.cells, strict=True)
    assert table.index == ("no label", "one label", "2 labels")
    assert sum(counts) == 38 and sum(shares) == pytest.approx(1.0)
    assert list(counts) == [int((found.size == k).sum()) for k in range(3)]
    assert repr(found).endswith(f"mean size {(counts[1] + 2 * counts[2]) / 38:.3g}>")


def test_of_groups_it_is_told_what_is_exchangeable():
    data = sample(2, 60, seed=2).assign(g=np.arange(60) // 6)
    by_row, by_group = (svm("y ~ x + z", data, **how).label_sets(level=0.95) for how in ({}, {"groups": "g"}))
    assert by_row.summary().parts[0].headers[0] == "n" and by_group.summary().parts[0].headers[0] == "groups"
    assert "Of new rows of each level" in printed(by_row) and "Of new groups" not in printed(by_row)
    assert "Of new groups, exchangeable with those of the fit" in printed(by_group)
    assert "by which the fits without a group differ" in printed(by_group)
    assert "With fewer than 19 groups that have it a level is in every set" in printed(by_group)


def test_where_rows_have_weights_it_is_told_that_sizes_count_each_once():
    data = sample(2, 60, seed=2).assign(g=np.arange(60) // 6, one=1.0)
    for told, options in (
        (False, {}),
        (False, {"weights": "one"}),
        (True, {"weights": "w"}),
        (False, {"weights": "w", "groups": "g"}),
    ):
        title = svm("y ~ x + z", data, **options).label_sets().summary().parts[1].title
        assert title == "Sets of 60 rows" + ", each once" * told


def test_what_a_level_has_of_weights_that_are_no_counts_is_no_number_of_rows():
    data = sample(2, 60, seed=2).assign(w=np.linspace(0.5, 2.0, 60), c=1.0 + np.arange(60) % 2)
    headers = [
        svm("y ~ x + z", data, weights=name, weight_type=kind).label_sets().summary().parts[0].headers[0]
        for name, kind in (("w", "probability"), ("w", "frequency"), ("c", "frequency"))
    ]
    assert headers == ["weight", "weight", "n"]
