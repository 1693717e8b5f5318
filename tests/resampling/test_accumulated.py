"""Accumulated local effects against the definition, written out row by row and cell by cell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmstat.resampling.accumulated import accumulated, accumulated_pair, bins_of, pooled, quantiles

TOL = 1e-12  # sums of some hundred numbers in another order


def surface(x, z):
    """Two outcomes of two columns, which interact."""
    return np.stack([np.sin(x) * z + x**2, np.exp(0.3 * x - 0.2 * z)], axis=-1)


def sample(n=60, ties=False, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    z = 0.7 * x + rng.normal(size=n)
    return (x.round(0), z.round(0)) if ties else (x, z)


def first_order(x, z, edges):
    """As PyALE and ALEPlot have it: bins (e_k, e_k+1], the first closed; the mean of the middles is zero over rows."""
    which = np.array([max(k for k in range(len(edges) - 1) if k == 0 or edges[k] < value) for value in x])
    effect = [np.zeros(2)]
    for k in range(len(edges) - 1):
        own = z[which == k]
        up, down = surface(np.full(len(own), edges[k + 1]), own), surface(np.full(len(own), edges[k]), own)
        effect.append(effect[-1] + (up - down).mean(axis=0))
    effect = np.array(effect)
    return effect - np.mean([(effect[k] + effect[k + 1]) / 2 for k in which], axis=0)


def means_of(bins, x, z, weights):
    K = len(bins.edges) - 1
    delta = surface(bins.edges[bins.of_row + 1], z) - surface(bins.edges[bins.of_row], z)
    totals = np.bincount(bins.of_row, weights, K)
    return np.array([weights[bins.of_row == k] @ delta[bins.of_row == k] / totals[k] for k in range(K)]), totals


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("count", [1, 2, 7, 200])
def test_first_order(count, ties):
    x, z = sample(ties=ties)
    bins = bins_of(x, np.ones(len(x)), count)
    assert np.isin(bins.edges, x).all() and bins.edges[0] == x.min() and bins.edges[-1] == x.max()
    delta, totals = means_of(bins, x, z, np.ones(len(x)))
    assert (totals > 0).all()
    np.testing.assert_allclose(accumulated(delta, totals), first_order(x, z, bins.edges), rtol=TOL, atol=TOL)


@given(st.integers(0, 10**6), st.integers(1, 30))
def test_weights_are_repeats(seed, count):
    rng = np.random.default_rng(seed)
    x, w = rng.integers(0, 9, 25).astype(float), rng.integers(1, 4, 25)
    shares = np.linspace(0, 1, count + 1)
    many = np.repeat(x, w)
    np.testing.assert_array_equal(quantiles(x, w.astype(float), shares), quantiles(many, np.ones(len(many)), shares))
    at = [max(-(-len(many) * k // count), 1) - 1 for k in range(count + 1)]  # in whole numbers: 10/11 is no double
    np.testing.assert_array_equal(quantiles(x, w.astype(float), shares), np.sort(many)[at])


def second_order(x, z, edges):
    """As ALEPlot of R has it, for the first outcome: accumulated, minus both main effects of that, minus the mean."""
    a, b = (np.maximum(np.searchsorted(e, v) - 1, 0) for e, v in zip(edges, (x, z), strict=True))
    K, L = len(edges[0]) - 1, len(edges[1]) - 1
    delta, counts = np.full((K, L), np.nan), np.zeros((K, L))
    for k in range(K):
        for j in range(L):
            own = (a == k) & (b == j)
            counts[k, j] = own.sum()
            if own.any():
                f = {(i, m): surface(edges[0][k + i], edges[1][j + m])[0] for i in (0, 1) for m in (0, 1)}
                delta[k, j] = f[1, 1] - f[0, 1] - f[1, 0] + f[0, 0]
    middle = [(e[1:] + e[:-1]) / 2 / np.ptp(e) for e in edges]
    full = np.argwhere(counts > 0)
    for k, j in np.argwhere(counts == 0):
        away = [np.hypot(middle[0][k] - middle[0][p], middle[1][j] - middle[1][q]) for p, q in full]
        delta[k, j] = delta[tuple(full[np.argmin(away)])]
    f = np.zeros((K + 1, L + 1))
    f[1:, 1:] = delta.cumsum(axis=0).cumsum(axis=1)
    rise = f[1:] - f[:-1]
    main = np.append(0, np.cumsum((counts * (rise[:, :-1] + rise[:, 1:]) / 2).sum(axis=1) / counts.sum(axis=1)))
    rise = f[:, 1:] - f[:, :-1]
    other = np.append(0, np.cumsum((counts * (rise[:-1] + rise[1:]) / 2).sum(axis=0) / counts.sum(axis=0)))
    f = f - main[:, None] - other[None, :]
    return f - (counts * (f[:-1, :-1] + f[:-1, 1:] + f[1:, :-1] + f[1:, 1:]) / 4).sum() / counts.sum()


@pytest.mark.parametrize("counts", [(1, 1), (3, 4), (9, 7)])
def test_second_order(counts):
    x, z = sample(50)
    bins = [bins_of(each, np.ones(50), count) for each, count in zip((x, z), counts, strict=True)]
    (e, a), (g, b) = ((each.edges, each.of_row) for each in bins)
    shape = len(e) - 1, len(g) - 1
    cell = np.ravel_multi_index((a, b), shape)
    totals = np.bincount(cell, minlength=np.prod(shape)).astype(float)
    each = surface(e[a + 1], g[b + 1]) - surface(e[a], g[b + 1]) - surface(e[a + 1], g[b]) + surface(e[a], g[b])
    sums = np.stack([np.bincount(cell, column, len(totals)) for column in each.T], axis=-1)
    delta = (sums / np.maximum(totals, 1)[:, None]).reshape(*shape, 2)
    found = accumulated_pair(np.stack([delta, 2 * delta]), totals.reshape(shape), (e, g))
    assert found.shape == (2, shape[0] + 1, shape[1] + 1, 2)
    np.testing.assert_allclose(found[0, :, :, 0], second_order(x, z, (e, g)), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found[1], 2 * found[0], rtol=TOL, atol=TOL)


@pytest.mark.parametrize("factor", [0.1, 1 / 3, 0.3048, 2.54])
def test_a_pair_does_not_depend_on_units_and_on_which_column_comes_first(factor):
    """Empty cells of a lattice have several that are equally near: rounding must not choose one."""
    rng = np.random.default_rng(4)
    x, z = rng.integers(0, 11, (2, 60)).astype(float)
    y = 0.3 * x * z + rng.normal(size=60)

    def effect(x, z):
        bins = bins_of(x, np.ones(60), 10), bins_of(z, np.ones(60), 10)
        shape = tuple(len(each.edges) - 1 for each in bins)
        place = np.ravel_multi_index((bins[0].of_row, bins[1].of_row), shape)
        totals = np.bincount(place, minlength=np.prod(shape)).astype(float)
        with np.errstate(invalid="ignore"):
            delta = np.bincount(place, y, minlength=np.prod(shape)) / totals
        edges = bins[0].edges, bins[1].edges
        return accumulated_pair(delta.reshape(*shape, 1), totals.reshape(shape), edges)[..., 0]

    plain = effect(x, z)
    assert np.isfinite(plain).all() and np.ptp(plain) > 0.1
    np.testing.assert_allclose(effect(factor * x, z), plain, rtol=0, atol=1e-12 * np.ptp(plain))
    np.testing.assert_allclose(effect(x + 1e9, z), plain, rtol=0, atol=1e-12 * np.ptp(plain))
    np.testing.assert_allclose(effect(z, x).T, plain, rtol=0, atol=1e-12 * np.ptp(plain))


@pytest.mark.parametrize("factor", [0.1, 0.3, 1 / 3])
def test_quantiles_do_not_depend_on_the_unit_of_weights(factor):
    rng = np.random.default_rng(0)
    for _ in range(20):
        w, x = rng.integers(1, 8, 2000).astype(float), rng.normal(size=2000)
        w[0] += (-w.sum()) % 20
        shares = np.linspace(0.0, 1.0, 21)
        assert (quantiles(x, factor * w, shares) == quantiles(x, w, shares)).all()


def test_what_columns_do_by_themselves_is_not_of_second_order():
    x, z = sample(80)
    bins = [bins_of(each, np.ones(80), 5) for each in (x, z)]
    totals = np.zeros((5, 5))
    np.add.at(totals, (bins[0].of_row, bins[1].of_row), 1.0)
    nothing = accumulated_pair(np.zeros((5, 5, 1)), totals, (bins[0].edges, bins[1].edges))
    assert (nothing == 0).all()


@given(st.integers(0, 10**6), st.integers(2, 20), st.sampled_from([0, 1, 2]))
def test_no_bin_is_a_sliver(seed, count, digits):
    """A value that many rows share leaves next to none of them between it and a quantile."""
    rng = np.random.default_rng(seed)
    x, weights = rng.normal(size=200).round(digits), rng.integers(1, 4, size=200).astype(float)
    x[:60] = 0.0
    which, values = pooled(x, weights, count), np.unique(x)
    starts = np.array([which[x == value][0] for value in values])
    assert (np.diff(starts) >= 0).all() and all(np.ptp(which[x == value]) == 0 for value in values)
    if len(values) > count:
        assert which.max() < count
        assert np.bincount(which, weights).min() >= 0.5 * weights.sum() / count


@pytest.mark.parametrize(("counts", "sizes"), [([2, 7, 1, 5, 5], [9, 6, 5]), ([2, 7, 1, 9, 1], [10, 10])])
def test_a_sliver_joins_the_lighter_neighbour(counts, sizes):
    """The fifth and the tenth of 20 rows have the second and the third value, which only one row has."""
    x = np.repeat(np.arange(len(counts), dtype=float), counts)
    assert pooled(x, np.ones(20), 4).tolist() == np.repeat(np.arange(len(sizes)), sizes).tolist()


def test_a_bin_of_half_the_weight_that_each_would_have_stays():
    x = np.repeat(np.arange(6.0), [6, 2, 4, 4, 2, 2])
    assert np.bincount(pooled(x, np.ones(20), 5)).tolist() == [6, 2, 4, 4, 4]
