"""Nested cross-validation against a plain reading of the algorithm of Bates, Hastie & Tibshirani (2023)."""

import numpy as np
import pytest

from svmstat.objective.units import Units
from svmstat.resampling.nested import lots, nested_estimate, splits


def fit_and_judge(x, y, kept, rows):
    """The squared errors of rows by the line through the others."""
    slope, intercept = np.polyfit(x[kept], y[kept], 1)
    return (y[rows] - slope * x[rows] - intercept) ** 2


def algorithm_1(x, y, folds, K):
    """Their algorithm: estimate of the mean loss corrected for bias, and its standard error, from given folds."""
    n, a, b, inner_all, outer_all = len(x), [], [], [], []
    for fold in folds:
        for k in range(K):
            own = np.flatnonzero(fold == k)
            outer = fit_and_judge(x, y, fold != k, own)
            inner = []
            for j in range(K):
                if j != k:
                    kept = (fold != k) & (fold != j)
                    inner += list(fit_and_judge(x, y, kept, np.flatnonzero(fold == j)))
            a.append((np.mean(inner) - np.mean(outer)) ** 2)
            b.append(np.var(outer, ddof=1) / len(outer))
            inner_all += inner
            outer_all += list(outer)
    mse = np.mean(a) - np.mean(b)
    bias = (1 + (K - 2) / K) * (np.mean(inner_all) - np.mean(outer_all))
    naive = np.std(inner_all, ddof=1) / np.sqrt(n)
    se = np.sqrt((K - 1) / K) * np.sqrt(max(mse, 0.0))
    return np.mean(inner_all) - bias, min(max(se, naive), np.sqrt(K) * naive), se / naive


def table_of(x, y, folds, K):
    losses = np.full((len(folds), K, len(x)), np.nan)
    for r, fold in enumerate(folds):
        for j, k, rows in lots(fold):
            each = fit_and_judge(x, y, ~np.isin(np.arange(len(x)), rows), rows)
            for one, other in ((j, k), (k, j)):
                of_it = fold[rows] == other
                losses[r, one, rows[of_it]] = each[of_it]
    return losses


@pytest.mark.parametrize(
    ("seed", "K", "inflated"), [(0, 3, False), (1, 4, False), (6, 5, False), (5, 3, True), (7, 4, True), (9, 5, True)]
)
def test_against_the_algorithm(seed, K, inflated):
    rng = np.random.default_rng(seed)
    n = 31
    x = rng.normal(size=n)
    y = x + rng.standard_t(3, size=n)
    folds = splits(np.zeros(n, int), np.ones(n), ["one"], K, 3, np.random.SeedSequence(seed))
    found = nested_estimate(table_of(x, y, folds, K), folds, np.ones(n))
    value, se, ratio = algorithm_1(x, y, folds, K)
    assert (ratio > 1.0) == inflated
    assert found.value == pytest.approx(n * value, rel=1e-12)
    assert found.se == pytest.approx(n * se, rel=1e-12)


def test_rows_of_weight_zero_do_not_count():
    rng = np.random.default_rng(2)
    losses, folds, weights = rng.normal(size=(2, 3, 12)), np.tile(np.arange(12) % 3, (2, 1)), np.ones(12)
    more = np.concatenate([losses, np.full((2, 3, 2), np.nan)], axis=2)
    wider = np.column_stack([folds, np.full((2, 2), -1)])
    assert nested_estimate(more, wider, np.append(weights, [0.0, 0.0])) == nested_estimate(losses, folds, weights)


def test_weights_are_repeats():
    rng = np.random.default_rng(3)
    losses, folds = rng.normal(size=(2, 3, 12)), np.tile(np.arange(12) % 3, (2, 1))
    weights = rng.integers(1, 4, 12)
    rows = np.repeat(np.arange(12), weights)
    one = nested_estimate(losses, folds, weights.astype(float))
    other = nested_estimate(losses[:, :, rows], folds[:, rows], np.ones(len(rows)))
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_splits_are_balanced_and_depend_on_the_seed_alone():
    codes, weights = np.arange(40) % 3, np.ones(40)
    weights[5] = 0.0
    one, again = (splits(codes, weights, "abc", 4, 2, np.random.SeedSequence(7)) for _ in range(2))
    np.testing.assert_array_equal(one, again)
    assert (one[0] != one[1]).any()
    assert (one[:, 5] == -1).all()
    for code in range(3):
        assert np.ptp(np.bincount(one[0, (codes == code) & (weights > 0)], minlength=4)) <= 1


def of_groups(seed=4, G=12, K=4, R=2):
    rng = np.random.default_rng(seed)
    group = np.append(np.arange(G), rng.integers(G, size=28))
    folds = splits(np.zeros(40, int), np.ones(40), ["one"], K, R, np.random.SeedSequence(1), Units(group, G, True))
    losses = rng.normal(size=G)[group] + rng.normal(size=(R, K, 40)) + 0.3 * rng.normal(size=(R, K, 1))
    return losses, folds, Units(group, G, True)


@pytest.mark.parametrize("seed", [2, 4, 7])
def test_of_groups_variances_are_over_those_of_the_other_folds(seed):
    """Algorithm 1 with G/(G − 1) Σ (Σ_g d)²/N for each variance, G and N being of the folds that are not k."""
    losses, folds, units = of_groups(seed)
    _, K, n = losses.shape
    a, b, inner, outer, within = [], [], [], [], []
    for e, fold in zip(losses, folds, strict=True):
        for k in range(K):
            own, rest = fold == k, fold != k
            sums = np.bincount(units.of_row[rest], e[k, rest] - e[k, rest].mean(), units.count)
            G = len(np.unique(units.of_row[rest]))
            within.append(G / (G - 1) * (sums @ sums) / rest.sum())
            a.append((e[k, rest].mean() - e[k, own].mean()) ** 2)
            b.append(within[-1] / own.sum())
            inner, outer = inner + list(e[k, rest]), outer + list(e[k, own])
    naive = np.sqrt(np.mean(within) / n)
    se = np.sqrt((K - 1) / K * max(np.mean(a) - np.mean(b), 0.0))
    value = np.mean(inner) - (1 + (K - 2) / K) * (np.mean(inner) - np.mean(outer))
    expected = n * value, n * min(max(se, naive), np.sqrt(K) * naive)
    assert nested_estimate(losses, folds, np.ones(n), units) == pytest.approx(expected, rel=1e-12)


def test_no_standard_error_is_more_than_that_of_one_fold():
    """√K times the naive one: losses of what no fit has seen that differ from fold to fold by much."""
    rng = np.random.default_rng(1)
    folds = np.tile(np.arange(30) % 5, (2, 1))
    losses = rng.normal(size=(2, 5, 30))
    for k in range(5):
        losses[:, k, folds[0] == k] += 40.0 * (-1.0) ** k
    inner = np.concatenate([losses[:, k][:, folds[0] != k].ravel() for k in range(5)])
    expected = 30 * np.sqrt(5) * np.std(inner, ddof=1) / np.sqrt(30)
    assert nested_estimate(losses, folds, np.ones(30)).se == pytest.approx(expected, rel=1e-12)
