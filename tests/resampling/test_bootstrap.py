"""Bootstrapped deviances of two classes and more against fits to the drawn rows and labels, one by one."""

from importlib import import_module

import joblib
import numpy as np
import pytest
from levels import COUPLINGS, laplace

from svmstat.kernels import RBF, CustomKernel, Linear, Precomputed, gram
from svmstat.resampling.bootstrap import bootstrap_deviance, replicate_generator

module = import_module("svmstat.resampling.bootstrap")

TOL_DEVIANCE = 1e-6  # deviances by two certified fits of one sample, relative
TOL_SAME = 1e-12  # the same sums in another order, relative

SEED = np.random.SeedSequence(21)
METHODS = ("pairs", "parametric")
methods = pytest.mark.parametrize("method", METHODS)
couplings = pytest.mark.parametrize("coupling", COUPLINGS)


def drawn(machine, maps, method, r):
    """The rows and classes of a replicate."""
    rng, first = replicate_generator(SEED, r), machine.groups.first
    weights = np.bincount(machine.groups.of_row[machine.weights > 0], machine.weights[machine.weights > 0])
    if method == "pairs":
        times = rng.multinomial(round(weights.sum()), weights / weights.sum())
        return np.repeat(first, times), np.repeat(machine.codes[first], times)
    order = machine.classes[0] if machine.n_classes == 2 else np.arange(machine.n_classes)
    p = maps.probabilities(machine.decision_values[first])[:, order]
    rows, codes = [], []
    for row, times in zip(first.tolist(), rng.multinomial(weights.astype(int), p), strict=True):
        rows += [row] * int(times.sum())
        codes += np.repeat(order, times).tolist()
    return np.array(rows), np.array(codes)


def one_by_one(machine, maps, method, B, fit, **options):
    """Deviances (B,) by fits to the rows that were drawn, each as often as it was; NaN where a class is lost."""
    values = np.full(B, np.nan)
    for r in range(B):
        rows, codes = drawn(machine, maps, method, r)
        if len(np.unique(codes)) < machine.n_classes:
            continue
        X = machine.X[np.ix_(rows, rows)] if isinstance(machine.kernel, Precomputed) else machine.X[rows]
        again, again_maps = fit(machine.kernel, X, codes, C=machine.C, coupling=maps.coupling, **options)
        p = again_maps.probabilities(again.decision_values)
        values[r] = -2.0 * np.log(p[np.arange(len(codes)), codes]).sum()
    return values


def replicates(machine, maps, method, B=5, **options):
    return bootstrap_deviance(machine, maps, B=B, method=method, seed=SEED, **options).deviance


@methods
@couplings
@pytest.mark.parametrize("name", ["liver", "iris", "wine"])
def test_data_sets(data, fit, name, method, coupling):
    X, codes = data[name]
    machine, maps = fit(RBF(0.5), X, codes, C=2.0, coupling=coupling)
    values = replicates(machine, maps, method)
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values, one_by_one(machine, maps, method, 5, fit), rtol=TOL_DEVIANCE)


@methods
@couplings
@pytest.mark.parametrize(
    ("kernel", "C", "loss"), [(Linear(), 0.5, "hinge"), (RBF(0.5), 30.0, "p0"), (CustomKernel(laplace), 1.0, "hinge")]
)
def test_kernels_and_losses(clouds, fit, kernel, C, loss, method, coupling, K):
    X, codes = clouds(80, K, seed=1)
    options = {"loss": loss, "class_weight": {0: 2.0, K - 1: 0.5}}
    machine, maps = fit(kernel, X, codes, C=C, coupling=coupling, **options)
    values = replicates(machine, maps, method)
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values, one_by_one(machine, maps, method, 5, fit, **options), rtol=TOL_DEVIANCE)


@methods
@couplings
def test_weights_duplicates_and_shared_points(clouds, fit, method, coupling, K):
    """Whole numbers, zero among them, also in a row without a class; and points that several classes have."""
    X, codes = clouds(60, K, seed=2)
    X, codes = np.vstack([X, X[:15], X[:6]]), np.concatenate([codes, codes[:15], (codes[:6] + 1) % K])
    weights = np.random.default_rng(3).integers(0, 4, len(codes)) * 1.0
    weights[: 4 * K] = 1.0
    codes[np.flatnonzero(weights == 0)[:2]] = -1
    machine, maps = fit(RBF(0.5), X, codes, weights, C=2.0, coupling=coupling)
    values = replicates(machine, maps, method)
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values, one_by_one(machine, maps, method, 5, fit), rtol=TOL_DEVIANCE)


@couplings
@pytest.mark.parametrize("K", [2, 3], ids=["two", "three"])
def test_fractional_weights_draw_the_rounded_total(clouds, fit, coupling, K):
    X, codes = clouds(50, K, seed=4)
    weights = np.random.default_rng(5).choice([0.0, 0.3, 1.0, 1.7], 50)
    weights[: 2 * K] = 1.0
    assert weights.sum() != round(weights.sum())
    machine, maps = fit(RBF(0.5), X, codes, weights, coupling=coupling)
    assert len(drawn(machine, maps, "pairs", 0)[0]) == round(weights.sum())
    expected = one_by_one(machine, maps, "pairs", 5, fit)
    np.testing.assert_allclose(replicates(machine, maps, "pairs"), expected, rtol=TOL_DEVIANCE)


@methods
def test_precomputed(clouds, fit, method, K):
    X, codes = clouds(60, K, seed=6)
    weights = np.where(np.arange(60) % 13 == 12, 0.0, 1.0)
    machine, maps = fit(Precomputed(), gram(RBF(0.5), X), codes, weights)
    values = replicates(machine, maps, method)
    np.testing.assert_allclose(values, one_by_one(machine, maps, method, 5, fit), rtol=TOL_DEVIANCE)


@methods
@couplings
def test_a_lost_class_is_nan(clouds, fit, method, coupling, K):
    """NaN in the replicates that lost one, and in no other."""
    X, codes = clouds(60, K, seed=7, apart=3.0)
    rows = np.flatnonzero((codes != K - 1) | (np.cumsum(codes == K - 1) == 1))
    machine, maps = fit(RBF(0.5), X[rows], codes[rows], coupling=coupling)
    values, expected = replicates(machine, maps, method, B=12), one_by_one(machine, maps, method, 12, fit)
    lost = np.isnan(expected)
    assert 0 < lost.sum() < 12
    np.testing.assert_array_equal(np.isnan(values), lost)
    np.testing.assert_allclose(values[~lost], expected[~lost], rtol=TOL_DEVIANCE)


@pytest.mark.parametrize("loss", ["hinge", "p0"])
@methods
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_classes_by_the_definition(clouds, fit, loss, method, order):
    X, codes = clouds(60, 2, seed=8)
    weights = np.random.default_rng(9).choice([0.0, 1.0, 2.0], 60)
    weights[:4] = 1.0
    how = {"loss": loss, "class_weight": {0: 1.5, 1: 0.5}, "order": [order]}
    machine, maps = fit(RBF(0.5), X, codes, weights, C=3.0, **how)
    expected = one_by_one(machine, maps, method, 5, fit, **how)
    np.testing.assert_allclose(replicates(machine, maps, method, B=5), expected, rtol=TOL_DEVIANCE)


def test_the_labels_that_are_drawn_have_their_probabilities(clouds, fit):
    """Means over many draws, within 4.5 standard deviations."""
    X, codes = clouds(40, seed=10)
    weights = np.random.default_rng(11).integers(1, 4, 40) * 1.0
    machine, maps = fit(RBF(0.5), X, codes, weights)
    p, totals = maps.probabilities(machine.group_values), machine.groups.weights
    draws = np.array([module.drawn_labels(machine, p, replicate_generator(SEED, r)) for r in range(2000)])
    np.testing.assert_array_equal(draws.sum(axis=2), np.tile(totals, (2000, 1)))
    variance = totals[:, None] * p * (1 - p) / 2000
    assert (np.abs(draws.mean(axis=0) - totals[:, None] * p) <= 4.5 * np.sqrt(variance)).all()


@methods
def test_a_replicate_depends_on_its_number_alone(clouds, fit, method, K):
    X, codes = clouds(60, K, seed=12)
    machine, maps = fit(RBF(0.5), X, codes)
    first = replicates(machine, maps, method, B=21)
    assert len(np.unique(first)) == 21
    np.testing.assert_allclose(replicates(machine, maps, method, B=3), first[:3], rtol=TOL_SAME)
    other = bootstrap_deviance(machine, maps, B=21, method=method, seed=np.random.SeedSequence(22)).deviance
    assert (other != first).all()


@methods
@pytest.mark.parametrize("what", ["converged", "status"])
def test_a_replicate_without_certificate_or_map_is_nan(clouds, fit, monkeypatch, method, what):
    machine, maps = fit(RBF(0.5), *clouds(40, seed=13))
    first = replicates(machine, maps, method, B=4)

    def failing(real):
        def call(*arguments, **options):
            result = real(*arguments, **options)
            flags = arguments[5] if what == "converged" else getattr(result, "status", None)
            if isinstance(flags, np.ndarray):
                flags[2] = what == "status"  # not certified, or not converged
            return result

        return call

    name = {"converged": "_fit_maps", "status": "solve"}[what]
    monkeypatch.setattr(module, name, failing(getattr(module, name)))
    values = replicates(machine, maps, method, B=4)
    np.testing.assert_array_equal(values, np.where(np.arange(4) == 2, np.nan, first))


@methods
@pytest.mark.parametrize(("backend", "n_jobs"), [("threading", 2), ("loky", 2)])
def test_workers_make_no_difference(clouds, fit, method, backend, n_jobs, K):
    machine, maps = fit(RBF(0.5), *clouds(60, K, seed=14), C=5.0)
    alone = replicates(machine, maps, method, B=40, n_jobs=1)
    with joblib.parallel_config(backend):
        np.testing.assert_array_equal(replicates(machine, maps, method, B=40, n_jobs=n_jobs), alone)


@methods
@pytest.mark.parametrize("budget", [8 * 40**2, 1000])
def test_beyond_the_memory_budget(clouds, fit, monkeypatch, method, budget):
    X, codes = clouds(48, 4, seed=15)
    plain = fit(RBF(0.5), X, codes)
    expected = replicates(*plain, method, B=3)
    monkeypatch.setitem(type(plain[0].gram).__init__.__kwdefaults__, "budget", budget)
    machine, maps = fit(RBF(0.5), X, codes)
    assert not machine.gram.fits
    np.testing.assert_allclose(replicates(machine, maps, method, B=3), expected, rtol=TOL_DEVIANCE)


@methods
def test_nothing_is_changed_and_progress_goes_to_stderr(clouds, fit, capsys, method):
    machine, maps = fit(RBF(0.5), *clouds(40, seed=16))
    before = machine.decision_values.copy(), machine.alpha.copy(), machine.groups.weights.copy()
    first = replicates(machine, maps, method)
    assert capsys.readouterr() == ("", "")
    np.testing.assert_array_equal(replicates(machine, maps, method, progress=True), first)
    captured = capsys.readouterr()
    assert "bootstrap" in captured.err
    assert captured.out == ""
    for a, b in zip((machine.decision_values, machine.alpha, machine.groups.weights), before, strict=True):
        np.testing.assert_array_equal(a, b)
