"""Replicates against fits to the drawn rows, one by one, and their maps against those of the rows left out."""

from importlib import import_module

import joblib
import numpy as np
import pytest

from svmstat.calibration import fit_platt
from svmstat.kernels import RBF, Linear, Nystrom, Precomputed, gram
from svmstat.resampling import bootstrap_deviance
from svmstat.resampling.replicates import least_replicates, pairs_replicates, spread

module = import_module("svmstat.resampling.replicates")

TOL_LOOP = 1e-6  # two certified fits of one sample, and what Platt's map makes of them
TOL_SAME = 1e-12  # the same sums in another order

SEED = np.random.SeedSequence(31)


def by_row(machine, values):
    """What the groups (G,) have, as weights of the n rows: a group's whole in its first row."""
    weights = np.zeros(len(machine.codes))
    weights[machine.groups.first] = values
    return weights


def undrawn(weights, counts):
    """Of w copies, how many are expected to be left out by c draws; of no half of one, none."""
    left_out = [w * (1.0 - 1.0 / max(w, 1.0)) ** c if w > 0 else 0.0 for w, c in zip(weights, counts, strict=True)]
    left_out = np.where((weights < 1.0) & (counts == 0), weights, left_out)
    return np.where(left_out >= 0.5 * np.minimum(weights, 1.0), left_out, 0.0)


def assert_is_refitted(machine, maps, found, refit):
    """Counts, decision values and maps of the replicates that have them, and the probabilities of all rows."""
    f, p = found.decision_function(machine.X), found.probabilities(machine.X)
    known = machine.weights > 0
    for r in np.flatnonzero(~found.failed):
        one = refit(machine, by_row(machine, found.counts[r]), maps.coupling)
        np.testing.assert_allclose(f[r][known], one.f[known], rtol=0, atol=TOL_LOOP * max(1.0, np.abs(one.f).max()))
        if found.unmapped[r]:
            continue
        out = by_row(machine, undrawn(machine.groups.weights, found.counts[r]))
        for j, pair in enumerate(machine.pairs):
            rows = np.flatnonzero((out > 0) & pair.holds(machine.codes))
            platt = fit_platt(one.f[rows, j], pair.signs(machine.codes)[rows], out[rows])
            numbers = found.maps.slope[r, 0, j], found.maps.intercept[r, 0, j]
            np.testing.assert_allclose(numbers, (platt.slope, platt.intercept), rtol=TOL_LOOP, atol=TOL_LOOP)
        np.testing.assert_allclose(p[r].sum(axis=1), 1.0)
    np.testing.assert_array_equal(np.isnan(f).any(axis=2), np.tile(found.failed[:, None], len(machine.codes)))
    np.testing.assert_array_equal(np.isnan(p).any(axis=2), np.tile(found.unmapped[:, None], len(machine.codes)))


@pytest.mark.parametrize(("kernel", "C", "loss"), [(RBF(0.5), 2.0, "hinge"), (Linear(), 0.5, "p0")])
def test_refits(clouds, fit, refit, kernel, C, loss, K):
    """With whole weights, zeros among them, copies of rows, and points that several classes have."""
    X, codes = clouds(60, K, seed=1)
    X, codes = np.vstack([X, X[:15], X[:6]]), np.concatenate([codes, codes[:15], (codes[:6] + 1) % K])
    weights = np.random.default_rng(3).integers(0, 4, len(codes)) * 1.0
    weights[: 4 * K] = 1.0
    machine, maps = fit(kernel, X, codes, weights, C=C, loss=loss, class_weight={0: 2.0})
    found = pairs_replicates(machine, maps, B=6, seed=SEED)
    assert (found.counts.sum(axis=1) == weights.sum()).all()
    assert not found.failed.any() and not found.unmapped.all()
    assert_is_refitted(machine, maps, found, refit)


@pytest.mark.parametrize("coupling", ["wu-lin-weng", "hastie-tibshirani"])
def test_the_drawn_rows_are_those_of_the_bootstrapped_deviance(clouds, fit, coupling, K):
    """D* follows from counts and decision values."""
    machine, maps = fit(RBF(0.5), *clouds(60, K, seed=2), coupling=coupling)
    found = pairs_replicates(machine, maps, B=4, seed=SEED)
    expected = bootstrap_deviance(machine, maps, B=4, method="pairs", seed=SEED).deviance
    f, members = found.decision_function(machine.X[machine.groups.first]), np.eye(K)[machine.group_codes]
    for r in range(4):
        slope, intercept = [], []
        for j, pair in enumerate(machine.pairs):
            platt = fit_platt(f[r, pair.rows, j], pair.problem.signs, 1.0 * found.counts[r, pair.rows])
            slope.append(platt.slope)
            intercept.append(platt.intercept)
        own = type(maps)(
            np.array(slope), np.array(intercept), maps.converged, maps.pairs, found.counts[r] @ members, coupling, ""
        )
        deviance = -2.0 * found.counts[r] @ own.log_likelihoods(f[r], machine.group_codes)
        np.testing.assert_allclose(deviance, expected[r], rtol=TOL_LOOP)


def test_fractional_weights_draw_the_rounded_total(clouds, fit, refit, K):
    X, codes = clouds(50, K, seed=4)
    weights = np.random.default_rng(5).choice([0.0, 0.3, 1.0, 1.7], 50)
    weights[: 2 * K] = 1.0
    weights[0] += 0.25
    machine, maps = fit(RBF(0.5), X, codes, weights)
    found = pairs_replicates(machine, maps, B=4, seed=SEED)
    assert weights.sum() != round(weights.sum())
    assert (found.counts.sum(axis=1) == round(weights.sum())).all()
    assert_is_refitted(machine, maps, found, refit)


def test_precomputed(clouds, fit, refit, K):
    X, codes = clouds(60, K, seed=6)
    machine, maps = fit(Precomputed(), gram(RBF(0.5), X), codes, np.where(np.arange(60) % 13 == 12, 0.0, 1.0))
    found = pairs_replicates(machine, maps, B=3, seed=SEED)
    assert_is_refitted(machine, maps, found, refit)
    np.testing.assert_allclose(found.decision_function(machine.X[:4]), found.decision_function(machine.X)[:, :4])


@pytest.mark.parametrize("kernel", [Linear(), Nystrom(RBF(0.5), landmarks=12)], ids=["linear", "landmarks"])
def test_a_short_map_takes_no_kernel_values(kernel, clouds, fit, K, monkeypatch):
    """Through all support vectors predictions of many rows take long."""
    X, codes = clouds(60, K, seed=9)
    machine, maps = fit(kernel.resolve(X), X, codes)
    found, new = pairs_replicates(machine, maps, B=5, seed=SEED), np.random.default_rng(10).normal(size=(7, X.shape[1]))
    values = machine.kernel(new, machine.X[machine.groups.first])
    monkeypatch.setattr("svmstat.machine.fit.expansion", None)
    f = found.decision_function(new)
    for p, (rows, beta) in enumerate(zip(found.rows, found.coefficients, strict=True)):
        expected = values[:, rows] @ beta.T + found.intercept[:, p]
        np.testing.assert_allclose(f[:, :, p], expected.T, rtol=0, atol=TOL_SAME * max(1.0, np.abs(expected).max()))


def test_what_fails(clouds, fit, refit, K):
    """A class of two rows: neither drawn is a class lost, both drawn is one that no map can be made of."""
    X, codes = clouds(60, K, seed=7, apart=3.0)
    rows = np.flatnonzero((codes != K - 1) | (np.cumsum(codes == K - 1) <= 2))
    machine, maps = fit(RBF(0.5), X[rows], codes[rows])
    found = pairs_replicates(machine, maps, B=40, seed=SEED)
    rare = found.counts[:, machine.group_codes == K - 1]
    np.testing.assert_array_equal(found.lost, (rare == 0).all(axis=1))
    np.testing.assert_array_equal(found.failed, found.lost)
    unmapped = (rare == 0).all(axis=1) | (rare > 0).all(axis=1)
    assert found.unmapped[unmapped].all() and found.lost.any() and not found.unmapped.all()
    assert_is_refitted(machine, maps, found, refit)


def test_a_constant_machine_has_constant_replicates(fit):
    """One class outweighs the other at every point: h = 0, and no rounding is left of Σ α y K at other points."""
    X, new = np.random.default_rng(8).normal(size=(2, 8, 2))
    found = pairs_replicates(
        *fit(RBF(0.5), np.tile(X, (2, 1)), np.repeat([0, 1], 8), np.full(16, 3.0), class_weight={0: 50.0}),
        B=8,
        seed=SEED,
    )
    f = found.decision_function(new)
    assert (np.ptp(f, axis=1) == 0.0).sum() >= 4
    assert not any(beta[r].any() for beta in found.coefficients for r in np.flatnonzero(np.ptp(f, axis=1) == 0.0))


def test_a_replicate_depends_on_its_number_alone(clouds, fit, K):
    machine, maps = fit(RBF(0.5), *clouds(60, K, seed=12))
    many, few = (pairs_replicates(machine, maps, B=B, seed=SEED) for B in (21, 3))
    np.testing.assert_array_equal(many.counts[:3], few.counts)
    np.testing.assert_allclose(many.probabilities(machine.X)[:3], few.probabilities(machine.X), atol=TOL_SAME)
    other = pairs_replicates(machine, maps, B=3, seed=np.random.SeedSequence(32))
    assert (other.counts != few.counts).any(axis=1).all()


def test_the_order_of_rows_makes_no_difference(clouds, fit, K):
    X, codes = clouds(60, K, seed=13)
    order = np.random.default_rng(1).permutation(60)
    one, other = (pairs_replicates(*fit(RBF(0.5), X[o], codes[o]), B=5, seed=SEED) for o in (np.arange(60), order))
    np.testing.assert_allclose(one.probabilities(X), other.probabilities(X), atol=TOL_LOOP)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_make_no_difference(clouds, fit, backend, K):
    machine, maps = fit(RBF(0.5), *clouds(60, K, seed=14), C=5.0)
    alone = pairs_replicates(machine, maps, B=40, seed=SEED, n_jobs=1)
    with joblib.parallel_config(backend):
        found = pairs_replicates(machine, maps, B=40, seed=SEED, n_jobs=2)
        wide = spread(alone, machine.X, 0.9, n_jobs=2)
    np.testing.assert_array_equal(found.intercept, alone.intercept)
    np.testing.assert_array_equal(found.maps.slope, alone.maps.slope)
    for one, other in zip(found.coefficients, alone.coefficients, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(wide.lower, spread(alone, machine.X, 0.9, n_jobs=1).lower)


def test_beyond_the_memory_budget(clouds, fit, monkeypatch):
    X, codes = clouds(48, 4, seed=15)
    expected = pairs_replicates(*fit(RBF(0.5), X, codes), B=3, seed=SEED)
    budgets = type(expected.machine.gram).__init__.__kwdefaults__
    monkeypatch.setitem(budgets, "budget", 1000)
    machine, maps = fit(RBF(0.5), X, codes)
    assert not machine.gram.fits
    found = pairs_replicates(machine, maps, B=3, seed=SEED)
    np.testing.assert_allclose(found.probabilities(X), expected.probabilities(X), atol=TOL_LOOP)


def test_percentiles(clouds, fit, monkeypatch, K):
    """The (B + 1)α-th of the replicates that have probabilities, however the rows are dealt out to tasks."""
    machine, maps = fit(RBF(0.5), *clouds(60, K, seed=16))
    found = pairs_replicates(machine, maps, B=39, seed=SEED)
    p = np.sort(found.probabilities(machine.X)[~found.unmapped], axis=0)
    level = 1.0 - 4.0 / (len(p) + 1)  # the second from either end
    wide = spread(found, machine.X, level)
    np.testing.assert_allclose(wide.lower, p[1], atol=TOL_SAME)
    np.testing.assert_allclose(wide.upper, p[-2], atol=TOL_SAME)
    np.testing.assert_allclose(wide.se, p.std(axis=0, ddof=1), atol=TOL_SAME)
    monkeypatch.setattr(module, "_ROOM", 39 * K * K * 7)
    np.testing.assert_allclose(spread(found, machine.X, level).lower, wide.lower, atol=TOL_SAME)
    assert np.isnan(spread(found, machine.X, 1.0 - 1.0 / (len(p) + 1)).upper).all()
    assert spread(found, machine.X[:0], level).se.shape == (0, K)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99])
def test_least_replicates(level):
    B = least_replicates(level)
    assert (B + 1) * (1 - level) / 2 >= 1 - 1e-9 and B * (1 - level) / 2 < 1


def test_maps_of_replicates_are_coupled_by_the_rows_that_made_them(clouds, fit):
    """n_st of Hastie and Tibshirani are the sizes of the samples that the pairs' maps are of: rows left out."""
    machine, maps = fit(RBF(0.5), *clouds(60, 3, seed=2), coupling="hastie-tibshirani")
    found = pairs_replicates(machine, maps, B=4, seed=np.random.SeedSequence(1))
    members = np.eye(3)[machine.group_codes]
    expected = np.where(found.counts == 0, machine.groups.weights, 0.0) @ members
    np.testing.assert_array_equal(found.maps.totals[:, 0], expected)
