"""Venn–Abers probabilities of all pairs: each pair alone, coupled as Platt's; held out is what the other rows say."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from levels import COUPLINGS

from svmstat.calibration import Maps, couple, fit_venn_abers, fit_venn_abers_maps, held_out_venn_abers
from svmstat.kernels import RBF
from svmstat.objective.units import Units

TOL = 1e-12  # the same formula in another order

many = pytest.mark.parametrize("K", [2, 3, 5])
both = pytest.mark.parametrize("coupling", COUPLINGS)


@pytest.fixture
def given(clouds, fit):
    """A function: the machines of K classes with weights, some of them zero, and values as if left out, some NaN."""

    def make(K, n=50, whole=False):
        X, codes = clouds(n, K, seed=K)
        rng = np.random.default_rng(K)
        weights = rng.choice([0.0, 1.0, 2.0, 3.0] if whole else [0.0, 0.5, 1.0, 2.0], n)
        weights[: 2 * K] = 1.0
        codes[np.flatnonzero(weights == 0)[:2]] = -1
        machine, maps = fit(RBF(0.5), X, codes, weights)
        f = np.round(machine.decision_values + rng.normal(size=machine.decision_values.shape), 1)
        f[7, 0] = np.nan
        return machine, maps, f

    return make


def one_by_one(maps, f, codes, weights, pairs, K):
    """r (m, K, K) of values f (m, P), by fits to the rows of each pair."""
    r = np.full((len(f), K, K), 0.5)
    for p, (i, j) in enumerate(pairs):
        rows = (codes == i) | (codes == j)
        found = fit_venn_abers(maps[rows, p], np.where(codes[rows] == i, 1.0, -1.0), weights[rows])
        r[:, i, j] = found.probability(f[:, p])
        r[:, j, i] = 1.0 - r[:, i, j]
    return r


def sizes(codes, weights, K):
    totals = np.bincount(codes[codes >= 0], weights[codes >= 0], K)
    return totals[:, None] + totals


@many
@both
def test_probabilities_are_the_pairs_coupled(given, pairs, K, coupling):
    machine, _, f = given(K)
    maps = fit_venn_abers_maps(machine, f, coupling)
    new = np.random.default_rng(1).normal(size=(9, f.shape[1]))
    new[3, -1] = np.nan
    r = one_by_one(f, new, machine.codes, machine.weights, pairs(K), K)
    expected = couple(r, coupling, sizes(machine.codes, machine.weights, K))
    p = maps.probabilities(new)
    np.testing.assert_allclose(p, expected, rtol=1e-9, atol=TOL)
    assert np.isnan(p[3]).all() and not np.isnan(np.delete(p, 3, axis=0)).any()
    codes = np.resize([*range(K), -1], 9)
    own = np.where(codes >= 0, np.log(expected[np.arange(9), codes]), np.nan)
    np.testing.assert_allclose(maps.log_likelihoods(new, codes), own, rtol=1e-9)


@many
@both
def test_held_out_probabilities_are_those_of_the_other_rows(given, pairs, K, coupling):
    """A row of weight w loses min(w, 1); the classes' sums of weights, by which pairs are coupled, lose it too."""
    machine, _, f = given(K)
    found = held_out_venn_abers(machine, f, coupling)
    for k in range(len(f)):
        left = machine.weights.copy()
        left[k] -= min(left[k], 1.0)
        r = one_by_one(f, f[[k]], machine.codes, left, pairs(K), K)
        expected = couple(r, coupling, sizes(machine.codes, left, K))[0]
        np.testing.assert_allclose(found.probability[k], expected, rtol=1e-9, atol=TOL)
        own = np.log(expected[machine.codes[k]]) if machine.codes[k] >= 0 else np.nan
        np.testing.assert_allclose(found.log_likelihood[k], own, rtol=1e-9)


@pytest.mark.parametrize("grouped", [False, True])
def test_pairs_whose_maps_are_of_other_values(given, pairs, grouped):
    """As those that a class has no held-out value for: of these the fit's own make the map."""
    machine, _, f = given(3)
    unit = np.where(machine.weights > 0, np.arange(len(f)) // 2, -1)
    units = Units(unit, len(f) // 2, True) if grouped else None
    by = f.copy()
    by[:, 1] = machine.decision_values[:, 1]
    found = held_out_venn_abers(replace(machine, units=units), f, by=by)
    for k in range(len(f)):
        left = machine.weights.copy()
        lost = np.flatnonzero(unit == unit[k]) if grouped and unit[k] >= 0 else [k]
        left[lost] -= left[lost] if grouped else np.minimum(left[lost], 1.0)
        r = np.full((1, 3, 3), 0.5)
        for p, (i, j) in enumerate(pairs(3)):
            rows = np.isin(machine.codes, (i, j))
            y = np.where(machine.codes[rows] == i, 1.0, -1.0)
            r[:, i, j] = fit_venn_abers(by[rows, p], y, left[rows]).probability(f[[k], p])
            r[:, j, i] = 1.0 - r[:, i, j]
        expected = couple(r, "wu-lin-weng", sizes(machine.codes, left, 3))[0]
        np.testing.assert_allclose(found.probability[k], expected, rtol=1e-9, atol=TOL)


@many
def test_whole_weights_are_repeats(given, K):
    machine, _, f = given(K, whole=True)
    count = machine.weights.astype(int)
    codes = np.repeat(machine.codes, count)
    repeated = replace(machine, codes=codes, weights=np.ones(len(codes)))
    again = held_out_venn_abers(repeated, np.repeat(f, count, axis=0))
    once = held_out_venn_abers(machine, f)
    np.testing.assert_allclose(np.repeat(once.probability, count, axis=0), again.probability, rtol=TOL)


@both
def test_the_interface_is_that_of_platts_maps(given, coupling):
    """What is read of a calibration, with the shapes that Platt's maps have."""
    for K in (2, 4):
        machine, _, f = given(K)
        maps = fit_venn_abers_maps(machine, f).with_coupling(coupling)
        platt = Maps(np.full(len(maps.pairs), -1.0), np.zeros(len(maps.pairs)), maps.converged, maps.pairs, maps.totals,
                     coupling, "loo")  # fmt: skip
        for name in ("pairs", "totals", "converged", "coupling"):
            np.testing.assert_array_equal(getattr(maps, name), getattr(platt, name))
        assert (maps.kind, maps.alone.kind, maps.converged.all()) == ("venn-abers", "venn-abers", True)
        values = f[None, 10:20]
        assert maps.probabilities(values).shape == platt.probabilities(values).shape
        codes = machine.codes[10:20]
        assert maps.log_likelihoods(values, codes).shape == platt.log_likelihoods(values, codes).shape
        assert maps.bounds(values).p0.shape == values.shape


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_event_of_two_classes_is_the_first_of_the_pair(clouds, fit, order):
    X, codes = clouds(40, 2)
    machine, _ = fit(RBF(0.5), X, codes, order=[order])
    maps = fit_venn_abers_maps(machine, machine.decision_values)
    p0, p1 = maps.bounds(machine.decision_values)
    event = maps.probabilities(machine.decision_values)[:, order[0]]
    np.testing.assert_allclose(event, (p1 / (1 - p0 + p1))[:, 0])
    assert event[codes == order[0]].mean() > event[codes == order[1]].mean()


def test_pickle(given):
    machine, _, f = given(3)
    maps = fit_venn_abers_maps(machine, f)
    again = pickle.loads(pickle.dumps(maps))
    np.testing.assert_array_equal(again.probabilities(f), maps.probabilities(f))
