"""The score of the best point, corrected for the choice: against loops, and on noise."""

import numpy as np
import pandas as pd
import pytest
from levels import quiet, sample

from svmstat.objective.units import Units
from svmstat.tuning.choice import _B, corrected_score, in_order
from svmstat.tuning.scores import Parts

GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.05, 0.5, 5.0]}


def parts_of(each, weights, L, size=7.0):
    return [Parts(row, weights, L, size) for row in each]


def by_loops(each, weights, L, size):
    """The same definition, row by row, beside the best of all points."""
    n, generator = len(weights), np.random.default_rng(0)
    whole = [sum(weights * L * row) for row in each]
    least = whole.index(min(whole))
    above, below = 0.0, 0.0
    for rows in generator.integers(n, size=(_B, n)):
        totals = [sum(weights[k] * L[k] * row[k] for k in rows) for row in each]
        best = each[totals.index(min(totals))]
        for k in sorted(set(range(n)) - set(rows.tolist())):
            above += weights[k] * L[k] * (best[k] - each[least][k])
            below += weights[k] * L[k]
    return size * (min(whole) / sum(weights * L) + above / below)


def test_it_is_the_definition():
    rng = np.random.default_rng(3)
    each, weights, L = rng.normal(size=(6, 20)), rng.uniform(0.5, 3.0, 20), rng.uniform(1.0, 2.0, 20)
    assert corrected_score(parts_of(each, weights, L)) == pytest.approx(by_loops(each, weights, L, 7.0), rel=1e-12)


def test_copies_are_drawn_where_weights_are_whole_numbers():
    rng = np.random.default_rng(5)
    each, weights, L = rng.normal(size=(6, 20)), rng.integers(1, 4, 20) * 1.0, rng.uniform(1.0, 2.0, 20)
    copies = np.repeat(np.arange(20), weights.astype(int))
    expected = by_loops(each[:, copies], np.ones(len(copies)), L[copies], 7.0)
    assert corrected_score(parts_of(each, weights, L)) == pytest.approx(expected, rel=1e-12)
    apart = parts_of(each[:, copies], np.ones(len(copies)), L[copies])
    assert corrected_score(apart) == pytest.approx(expected, rel=1e-12)


def test_without_a_choice_nothing_is_corrected():
    row = np.random.default_rng(4).normal(size=40)
    alike = parts_of(np.tile(row, (5, 1)), np.ones(40), np.ones(40), 1.0)
    one_best = parts_of(np.array([row + 9.0, row, row + 8.0]), np.ones(40), np.ones(40), 1.0)
    assert corrected_score(alike) == corrected_score(one_best) == pytest.approx(row.mean(), rel=1e-12)


@pytest.mark.parametrize("at_once", [1, 7 * 40, 199 * 40])
def test_draws_may_be_held_some_at_a_time(monkeypatch, at_once):
    each = np.random.default_rng(5).normal(size=(6, 40))
    expected = corrected_score(parts_of(each, np.ones(40), np.ones(40)))
    monkeypatch.setattr("svmstat.tuning.choice._NUMBERS", at_once)
    assert corrected_score(parts_of(each, np.ones(40), np.ones(40))) == pytest.approx(expected, rel=1e-12)


def test_on_noise_the_least_promises_what_the_corrected_score_takes_back():
    rng = np.random.default_rng(5)
    found = []
    for _ in range(60):
        parts = parts_of(rng.normal(size=(30, 50)), np.ones(50), np.ones(50), 1.0)
        found.append((min(part.score for part in parts), corrected_score(parts)))
    least, corrected = np.array(found).T
    se = corrected.std(ddof=1) / np.sqrt(60)
    assert least.mean() < -0.2 and abs(corrected.mean()) < 4 * se


@pytest.mark.parametrize("criterion", ["loo", "kfold"])
def test_the_fit_carries_it_to_its_summary(K, criterion):
    data = sample(K, 90, seed=8)
    found = quiet("y ~ x + z", data, criterion=criterion, rng=1, **GRID)
    least = found.best_row["score"]
    assert found.best.optimism == pytest.approx(found.corrected_score - least, rel=1e-12)
    loo = found.best.loo()
    corrected = 1.0 - (loo.score + found.corrected_score - least) / loo.null_score
    assert loo.rsquared == pytest.approx(corrected, abs=1e-12) and loo.is_corrected
    assert f"corrected for tuning - {corrected:.4f} {loo.rsquared_se:.4f}" in said(found.best.summary())
    assert "its standard error is that of the ratio" in said(found.best.summary()).lower()
    assert f"corrected: {found.corrected_score:.5g}" in " ".join(str(found).split())


def said(printed):
    return " ".join(str(printed).split())


def test_where_it_is_not_known():
    data = sample(2, 60, seed=9)
    one = quiet("y ~ x + z", data, C=1.0, gamma=0.5)
    assert one.corrected_score is None and one.best.optimism is None
    of_fit = quiet("y ~ x + z", data, criterion="gacv", **GRID)
    assert of_fit.corrected_score is None
    error = quiet("y ~ x + z", data, score="error", **GRID)
    assert error.corrected_score is not None and np.isnan(error.best.optimism)
    for each in (of_fit, error):
        assert "the best of many fits, and too good for that: by how much is not known" in said(each.best.summary())
    assert "best of many fits" not in said(one.best.summary())
    text = str(error.best.summary())
    loo = error.best.loo()
    assert "corrected for tuning" not in text and not loo.is_corrected
    assert loo.rsquared == pytest.approx(1.0 - loo.score / loo.null_score, rel=1e-12)


@pytest.mark.parametrize("seed", [1, 5])
def test_where_one_point_is_always_the_best_nothing_is_too_good(seed):
    """The sums of drawn rows differ in their last digits: no summary is to say that a score is too good by 1e-14."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=80)
    data = pd.DataFrame({"x": x, "y": x + 0.3 * rng.logistic(size=80) > 0})
    found = quiet("y ~ x", data, C=[1e-9, 1.0], gamma=[0.5])
    assert found.corrected_score == pytest.approx(found.best_row["score"], abs=1e-10)
    assert found.best.optimism == 0.0


def test_the_order_of_the_rows_makes_no_difference():
    each, order = np.random.default_rng(1).normal(size=(5, 30)), np.random.default_rng(2).permutation(30)
    w = np.random.default_rng(3).integers(1, 4, size=30).astype(float)
    units = Units(np.random.default_rng(4).integers(12, size=30), 12, True)
    renamed = Units(np.random.default_rng(5).permutation(12)[units.of_row][order], 12, True)
    for own, other in ((None, None), (units, renamed)):
        first = [Parts(row, w, np.ones(30), 1.0, own) for row in each]
        again = [Parts(row[order], w[order], np.ones(30), 1.0, other) for row in each]
        found = corrected_score(in_order(first))
        assert found == pytest.approx(corrected_score(in_order(again)), rel=1e-12)
        assert found != pytest.approx(corrected_score(first), rel=1e-3)
    data = sample(2, 90, seed=8)
    tuned = [quiet("y ~ x + z", each, **GRID).corrected_score for each in (data, data.sample(frac=1, random_state=1))]
    assert tuned[0] == pytest.approx(tuned[1], rel=1e-9)


def test_of_groups_of_weighted_rows_it_is_the_definition_for_their_sums():
    rng = np.random.default_rng(6)
    each, weights, L = rng.normal(size=(6, 30)), rng.integers(1, 4, 30) * 1.0, rng.uniform(1.0, 2.0, 30)
    units = Units(np.append(rng.permutation(9), rng.integers(9, size=21)), 9, True)
    totals = units.sums(weights * L)
    means = np.array([units.sums(weights * L * x) / totals for x in each])
    found = corrected_score([Parts(x, weights, L, 7.0, units) for x in each])
    assert found == pytest.approx(by_loops(means, totals, np.ones(9), 7.0), rel=1e-12)


@pytest.mark.parametrize("losses", [(1.1e-16, 0.0), (0.0, 0.0), (0.0, 1.1e-16)])
def test_a_loss_of_rounding_orders_nothing(losses):
    """Of rows on their margin, whose losses are 1e-16 in one order of the data and 0 in another."""
    each = np.array([2.0, 1.0, 3.0, 0.5]), np.array([*losses, 1.0, 2.0])
    ordered = in_order([Parts(part, np.ones(4), np.ones(4), 1.0) for part in each])
    np.testing.assert_array_equal(ordered[0].each, [1.0, 2.0, 3.0, 0.5])
