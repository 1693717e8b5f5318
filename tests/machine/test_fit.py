"""Machines of any number of classes: weights as repeated rows, order and labels, decision values by every road."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from machines import KERNELS, TOL_FIT, assert_same, fit
from problems import seeds

import svmstat.machine.fit
from svmstat.calibration import fit_maps, fit_maps_of, fit_platt
from svmstat.kernels import RBF, Linear, Polynomial, Precomputed, gram
from svmstat.machine import cancelled, group_rows, point_by_point, reweighted
from svmstat.resampling import leave_one_out
from svmstat.solver import Gram, Status

TOL_VALUES = 1e-10  # the same kernel expansion summed in another order, relative to max(1, Σα max|K|)
TOL_SUM = 1e-13  # a few numbers added in another order


every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


# -- group_rows --------------------------------------------------------------------------------------------------------


def groups_by_hand(X, y, weights):
    """First rows, group of each row and weights: the distinct rows of positive weight, sorted."""
    rows = [(*x, label) for x, label in zip((X + 0.0).tolist(), y.tolist(), strict=True)]
    distinct = sorted({row for row, weight in zip(rows, weights, strict=True) if weight > 0})
    of_row = np.array([distinct.index(row) if w > 0 else -1 for row, w in zip(rows, weights, strict=True)])
    first = [int(np.flatnonzero(of_row == g)[0]) for g in range(len(distinct))]
    return first, of_row, [weights[of_row == g].sum() for g in range(len(first))]


@given(n=st.integers(1, 30), p=st.integers(0, 3), levels=st.integers(1, 4), seed=seeds)
def test_groups(n, p, levels, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, size=(n, p)) * rng.choice([1.0, -1.0], (n, p))  # 0 and −0 are one number
    y, weights = rng.choice([-1.0, 1.0], n), rng.choice([0.0, 1.0, 0.5, 3.0], n)
    groups = group_rows(X, y, weights)
    first, of_row, total = groups_by_hand(X, y, weights)
    np.testing.assert_array_equal(groups.first, first)
    np.testing.assert_array_equal(groups.of_row, of_row)
    np.testing.assert_allclose(groups.weights, total, rtol=1e-15)


@pytest.mark.parametrize(
    ("x", "asked"), [([2.0, 5.0, 1.0, 5.0, 6.0], [5.0, 6.0]), ([6.0, 5.0], [6.0, 5.0]), ([2.0, 2.0], [])]
)
def test_what_is_known_is_not_computed_and_the_rest_once_for_each_point(x, asked):
    computed = []

    def compute(X):
        computed.extend(X[:, 0].tolist())
        return 10.0 * X[:, 0]

    found = point_by_point(np.array(x)[:, None], np.array([[1.0], [2.0]]), np.array([0.7, 0.8]), compute)
    known = {1.0: 0.7, 2.0: 0.8}
    assert found.tolist() == [known.get(each, 10.0 * each) for each in x] and computed == asked


def test_near_rows_are_not_the_same():
    groups = group_rows(np.array([[1.0], [np.nextafter(1.0, 2.0)], [1.0]]), np.ones(3), np.ones(3))
    np.testing.assert_array_equal(groups.of_row, [0, 1, 0])


# -- weights, order, labels --------------------------------------------------------------------------------------------


@every_kernel
def test_a_weight_of_two_is_a_row_given_twice(clouds, kernel, K):
    """Digit by digit: both are one row of the problems."""
    X, codes = clouds(60, K, seed=10)
    weights = np.random.default_rng(11).integers(1, 4, 60)
    rows = np.repeat(np.arange(60), weights)
    weighted, repeated = fit(kernel, X, codes, weights), fit(kernel, X[rows], codes[rows])
    np.testing.assert_array_equal(repeated.decision_values, weighted.decision_values[rows])
    np.testing.assert_array_equal(repeated.intercept, weighted.intercept)
    np.testing.assert_array_equal(repeated.totals, weighted.totals)
    for p, (one, other) in enumerate(zip(weighted.pairs, repeated.pairs, strict=True)):
        np.testing.assert_array_equal(other.solution.alpha, one.solution.alpha)
        assert other.solution.intercept_interval == one.solution.intercept_interval
        np.testing.assert_allclose(np.bincount(rows, repeated.alpha[:, p]), weighted.alpha[:, p], rtol=TOL_SUM)
        np.testing.assert_allclose(np.bincount(rows, repeated.upper[:, p]), weighted.upper[:, p], rtol=TOL_SUM)
    a, b = fit_maps(weighted, "wu-lin-weng"), fit_maps(repeated, "wu-lin-weng")
    np.testing.assert_allclose(a.slope, b.slope, rtol=1e-9)
    np.testing.assert_allclose(a.intercept, b.intercept, rtol=0, atol=1e-9)


@every_kernel
def test_weight_zero_is_absent_and_predicted(clouds, kernel, K):
    """Also where its class is unknown, or that of no other row."""
    X, codes = clouds(60, K, seed=12)
    weights = np.where(np.arange(60) % 4 == 3, 0.0, 1.5)
    weights[: 2 * K] = 1.5
    unused = weights == 0
    codes[unused] = np.where(np.arange(60) % 8 == 3, -1, codes)[unused]
    assert (codes[unused] == -1).any() and (codes[unused] >= 0).any()
    whole, part = fit(kernel, X, codes, weights), fit(kernel, X[~unused], codes[~unused], weights[~unused])
    np.testing.assert_array_equal(whole.decision_values[~unused], part.decision_values)
    np.testing.assert_array_equal(whole.alpha[unused], 0.0)
    np.testing.assert_array_equal(whole.upper[unused], 0.0)
    np.testing.assert_array_equal(whole.alpha[~unused], part.alpha)
    assert_same(whole.decision_values[unused], part.decision_function(X[unused]), TOL_VALUES)
    a, b = fit_maps(whole, "wu-lin-weng"), fit_maps(part, "wu-lin-weng")
    np.testing.assert_allclose(a.slope, b.slope, rtol=1e-12)
    np.testing.assert_array_equal(a.totals, b.totals)


def test_alpha_is_shared_in_proportion_to_the_weights(clouds, K):
    X, codes = clouds(70, K, seed=31)
    rows = np.array([0, 0, 0, *range(70)])
    weights = np.ones(len(rows))
    weights[:3] = 0.5, 2.0, 0.0
    machine = fit(RBF(0.5), X[rows], codes[rows], weights, C=0.2)
    share = np.array([0.5, 2.0, 0.0, 1.0])
    assert (machine.alpha[0] > 0).any()
    np.testing.assert_allclose(machine.alpha[:4], 2 * machine.alpha[0] * share[:, None], rtol=1e-14)
    own = machine.upper[0] > 0
    np.testing.assert_allclose(machine.upper[:4, own], np.tile(0.2 * weights[:4, None], own.sum()), rtol=1e-14)
    np.testing.assert_array_equal(machine.decision_values[:4], np.tile(machine.decision_values[0], (4, 1)))
    for p, pair in enumerate(machine.pairs):
        assert machine.alpha[:, p].sum() == pytest.approx(pair.solution.alpha.sum(), rel=1e-13)
    np.testing.assert_allclose((machine.alpha * machine.signs).sum(axis=0), 0.0, atol=1e-12)
    assert (machine.alpha <= machine.upper * (1 + 1e-15)).all()


@given(seed=seeds, loss=st.sampled_from(["hinge", "p0"]))
def test_permuted_classes(clouds, pairs, seed, loss):
    """Machines of permuted classes are the same, with the sign of the class that comes first."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 6))
    X, codes = clouds(50, K, seed=seed)
    new = rng.permutation(K)
    L = rng.choice([0.5, 1.0, 2.0], K).tolist()
    machine = fit(RBF(0.5), X, codes, loss=loss, class_weight=dict(enumerate(L)))
    permuted = fit(
        RBF(0.5), X, new[codes], loss=loss, class_weight=dict(zip(new.tolist(), L, strict=True))
    ).decision_values
    place = {pair: p for p, pair in enumerate(pairs(K))}
    expected = np.empty_like(permuted)
    for p, (i, j) in enumerate(pairs(K)):
        a, b = int(new[i]), int(new[j])
        expected[:, place[min(a, b), max(a, b)]] = machine.decision_values[:, p] * (1 if a < b else -1)
    assert_same(permuted, expected)


# -- what a machine says of itself -------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
@every_kernel
def test_decision_values_by_the_expansion(clouds, pairs, kernel, C, K):
    X, codes = clouds(70, K, seed=15)
    weights = np.random.default_rng(16).choice([0.0, 0.5, 1.0, 2.0], 70)
    weights[: 2 * K] = 1.0
    X, codes, weights = np.vstack([X, X[:20]]), np.append(codes, codes[:20]), np.append(weights, np.full(20, 0.7))
    machine = fit(kernel, X, codes, weights, C)
    values = gram(kernel, X)
    size = max(1.0, machine.alpha.sum(axis=0).max() * np.abs(values).max())
    for p, (i, j) in enumerate(pairs(K)):
        assert machine.pairs[p].solution.status is Status.CERTIFIED
        y = np.where(codes == i, 1.0, np.where(codes == j, -1.0, 0.0))
        alpha = machine.alpha[:, p]
        assert (alpha[y == 0] == 0).all() and (alpha >= 0).all()
        assert (alpha <= C * weights * (1 + TOL_SUM)).all()
        assert alpha @ y == pytest.approx(0, abs=1e-12 * max(1.0, C * 90))
        by_definition = values @ (alpha * y) + machine.intercept[p]
        np.testing.assert_allclose(machine.decision_values[:, p], by_definition, rtol=0, atol=TOL_VALUES * size)
    again = machine.decision_function(X)
    np.testing.assert_allclose(again, machine.decision_values, rtol=0, atol=TOL_VALUES * size)
    if isinstance(kernel, Linear):
        by_direction = X @ machine.directions + machine.intercept
        np.testing.assert_allclose(by_direction, machine.decision_values, rtol=0, atol=TOL_VALUES * size)
    np.testing.assert_allclose(machine.totals, [weights[codes == c].sum() for c in range(K)], rtol=TOL_SUM)
    assert machine.n_classes == K


def test_new_rows_in_pieces(clouds, monkeypatch, K):
    machine, new = fit(RBF(0.5), *clouds(60, K, seed=17)), clouds(101, seed=18)[0]
    whole = machine.decision_function(new)
    monkeypatch.setattr("svmstat.machine.groups._CHUNK", 64)
    np.testing.assert_allclose(machine.decision_function(new), whole, rtol=0, atol=1e-12)
    assert machine.decision_function(new[:0]).shape == (0, K * (K - 1) // 2)


@every_kernel
@pytest.mark.parametrize("weighting", ["ones", "some zero", "counts"])
def test_precomputed_is_the_kernel_itself(clouds, kernel, weighting, K):
    """A gram matrix in place of the rows: the same fit, also where the class of a row of weight zero is unknown."""
    X, codes = clouds(50, K, seed=13)
    weights = {"ones": np.ones(50), "some zero": np.arange(50) % 3.0, "counts": 1.0 + np.arange(50) % 2}[weighting]
    weights[: 2 * K] = 1.0
    codes[weights == 0] = -1
    rows = np.append(np.arange(50), np.arange(10))
    X, codes, weights = X[rows], codes[rows], weights[rows]
    new = clouds(9, seed=14)[0]
    named, by_gram = fit(kernel, X, codes, weights), fit(Precomputed(), gram(kernel, X), codes, weights)
    assert_same(by_gram.decision_values, named.decision_values)
    assert_same(by_gram.decision_function(kernel(new, X)), named.decision_function(new))
    assert_same(by_gram.intercept, named.intercept)
    assert by_gram.gram.n == named.gram.n <= 50  # copies are one row


def test_no_column_at_all(pairs, K):
    """K = 0: each f is a constant of the sign of the larger class."""
    codes = np.repeat(np.arange(K), np.arange(1, K + 1))
    machine = fit(Linear(), np.empty((len(codes), 0)), codes)
    np.testing.assert_allclose(machine.decision_values, -1.0, atol=1e-12)
    assert machine.directions.shape == (0, len(pairs(K)))
    turned = fit(Linear(), np.empty((len(codes), 0)), K - 1 - codes)
    np.testing.assert_allclose(turned.decision_values, 1.0, atol=1e-12)


@pytest.mark.parametrize("C", [0.3, 30.0])
def test_setting_off_from_a_near_machine(clouds, C, K):
    X, codes = clouds(80, K, seed=19)
    near = fit(RBF(0.5), X, codes, C=1.0)
    warm = fit(RBF(0.5), X, codes, C=C, loss="p0", class_weight={1: 2.0}, near=near)
    cold = fit(RBF(0.5), X, codes, C=C, loss="p0", class_weight={1: 2.0})
    assert_same(warm.decision_values, cold.decision_values)
    assert warm.gram is near.gram
    assert all(a.problem.gram is b.problem.gram for a, b in zip(warm.pairs, near.pairs, strict=True))


def test_inputs_are_not_changed(clouds, K):
    X, codes = clouds(40, K, seed=20)
    weights = np.ones(40)
    given_arrays = X.copy(), codes.copy(), weights.copy()
    fit(Linear(), *given_arrays)
    for a, b in zip((X, codes, weights), given_arrays, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("budget", ["whole too large", "parts too large"])
def test_machines_beyond_the_budget(clouds, budget, monkeypatch):
    """Kernel values in blocks: the same machines."""
    X, codes = clouds(90, 4, seed=26)
    weights = np.where(np.arange(90) % 5 == 4, 0.0, 1.0)
    expected = fit(RBF(0.5), X, codes, weights)
    allowed = {"whole too large": 8 * 60**2, "parts too large": 1000}[budget]
    monkeypatch.setitem(Gram.__init__.__kwdefaults__, "budget", allowed)
    machine = fit(RBF(0.5), X, codes, weights)
    assert not machine.gram.fits
    assert all(pair.problem.gram.fits == (allowed > 1000) for pair in machine.pairs)
    assert_same(machine.decision_values, expected.decision_values)
    assert_same(machine.decision_function(X), expected.decision_values)


def test_what_pairs_say_of_other_classes_is_computed_when_asked_for(clouds, monkeypatch):
    X, codes = clouds(60, 3, seed=5)
    weights = np.where(np.arange(60) % 10 == 7, 0.0, 1.0)
    asked = []
    computed = svmstat.machine.fit.decided_elsewhere
    monkeypatch.setattr(svmstat.machine.fit, "decided_elsewhere", lambda *given: asked.append(0) or computed(*given))
    machine = fit(RBF(0.5), X, codes, weights)
    own = machine.own_values
    fit_maps(machine)
    assert not asked
    values = machine.decision_values
    assert len(asked) == 3
    assert machine.decision_values is values
    theirs = (machine.signs != 0.0) & (weights > 0)[:, None]
    np.testing.assert_array_equal(np.isnan(own), ~theirs)
    assert_same(own[theirs], values[theirs])


# -- maps --------------------------------------------------------------------------------------------------------------


def test_maps_are_those_of_the_rows_of_each_pair(clouds, pairs, K):
    X, codes = clouds(90, K, seed=21)
    weights = np.random.default_rng(22).choice([0.0, 0.5, 1.0, 2.0], 90)
    weights[: 2 * K] = 1.0
    codes[np.flatnonzero(weights == 0)[:3]] = -1
    machine = fit(RBF(0.5), X, codes, weights)
    given_f = machine.decision_values + np.random.default_rng(23).normal(size=machine.decision_values.shape)
    given_f[4:7, 0] = np.nan
    for f, kind in ((None, "insample"), (given_f, "loo")):
        maps = fit_maps_of(machine, machine.decision_values if f is None else f, "hastie-tibshirani", kind)
        values = machine.decision_values if f is None else f
        for p, (i, j) in enumerate(pairs(K)):
            rows = ((codes == i) | (codes == j)) & np.isfinite(values[:, p])
            platt = fit_platt(values[rows, p], np.where(codes[rows] == i, 1.0, -1.0), weights[rows])
            assert maps.slope[p] == pytest.approx(platt.slope, rel=1e-12)
            assert maps.intercept[p] == pytest.approx(platt.intercept, rel=1e-12)
        assert maps.converged.all()
        assert (maps.kind, maps.coupling) == (kind, "hastie-tibshirani")
        np.testing.assert_array_equal(maps.totals, machine.totals)


@pytest.mark.parametrize("lonely", [[1], [1, 2]])
def test_leave_one_out_maps_with_classes_of_one_row(clouds, lonely):
    """Their rows have no leave-one-out value; the other pairs have their maps."""
    X, codes = clouds(40, 4, seed=7)
    rows = np.flatnonzero(~np.isin(codes, lonely) | np.isin(np.arange(40), lonely))
    machine = fit(RBF(0.5), X[rows], codes[rows])
    f = leave_one_out(machine, fit_maps(machine, "wu-lin-weng")).decision_values
    by_loo = fit_maps_of(machine, f, "wu-lin-weng", "loo")
    for p, pair in enumerate(machine.pairs):
        own = np.isin(codes[rows], [pair.first, pair.second]) & np.isfinite(f[:, p])
        if pair.first not in lonely and pair.second not in lonely:
            y = np.where(codes[rows][own] == pair.first, 1.0, -1.0)
            platt = fit_platt(f[own, p], y, np.ones(own.sum()))
            assert by_loo.slope[p] == pytest.approx(platt.slope, rel=1e-12)
            assert by_loo.intercept[p] == pytest.approx(platt.intercept, rel=1e-12)


def test_rounding_is_no_signal():
    """Here f = −1 for every row is optimal, and found to 1e-11; the map must be constant."""
    rng = np.random.default_rng(251)
    X, codes = rng.normal(size=(30, 2)), np.where(rng.random(30) < 0.25, 0, 1)
    codes[:2] = 0, 1
    machine = fit(Polynomial(0.5, 1.0, 2), X, codes, C=1000.0)
    assert np.ptp(machine.decision_values) < 1e-9
    maps = fit_maps(machine, "wu-lin-weng")
    share = (codes == 0) @ np.full(30, 1 / 30)
    np.testing.assert_allclose(maps.probabilities(machine.decision_values)[:, 0], share, rtol=0, atol=0.05)


@pytest.mark.parametrize("coupling", ["wu-lin-weng", "hastie-tibshirani"])
def test_permuted_classes_have_permuted_probabilities(clouds, coupling, K):
    X, codes = clouds(80, K, seed=24)
    order = np.random.default_rng(25).permutation(K)[::-1]
    machine, permuted = fit(RBF(0.5), X, codes), fit(RBF(0.5), X, order[codes])
    p, q = (fit_maps(each, coupling).probabilities(each.decision_values) for each in (machine, permuted))
    np.testing.assert_allclose(q[:, order], p, rtol=0, atol=TOL_FIT)


@every_kernel
def test_other_weights_on_the_same_gram_matrix(clouds, kernel, K):
    """Zero is a deletion, also of one of the rows that are the same observation."""
    X, codes = clouds(40, K, seed=8)
    X, codes = np.vstack([X, X[:10]]), np.concatenate([codes, codes[:10]])
    rng = np.random.default_rng(K)
    old, new = rng.choice([0.0, 0.5, 1.0, 3.0], (2, 50))
    old[: 4 * K], new[: 4 * K] = 1.0, 2.0
    new[old == 0.0] = 0.0
    machine = fit(kernel, X, codes, old, C=2.0, loss="p0")
    found, expected = reweighted(machine, new), fit(kernel, X, codes, new, C=2.0, loss="p0")
    assert found.gram is machine.gram
    assert all(pair.solution.status is Status.CERTIFIED for pair in found.pairs)
    assert_same(found.decision_values, expected.decision_values)
    np.testing.assert_allclose(found.totals, expected.totals)


def test_other_weights_share_the_alpha_of_an_observation_anew():
    X, codes = np.array([[0.0], [0.0], [1.0], [2.0], [2.0], [3.0]]), np.array([0, 0, 1, 0, 0, 1])
    old, new = np.ones(6), np.array([1.0, 0.0, 1.0, 2.0, 0.5, 1.0])
    found, expected = reweighted(fit(RBF(0.5), X, codes, old), new), fit(RBF(0.5), X, codes, new)
    np.testing.assert_allclose(found.alpha, expected.alpha, rtol=1e-9)
    np.testing.assert_allclose(found.upper, expected.upper, rtol=1e-12)
    assert found.alpha[1, 0] == 0.0


def test_normal_vectors_far_from_the_origin_keep_their_digits():
    """Terms a million times as large as their sum: of plain sums a coefficient of 0 was left, or six digits."""
    rng = np.random.default_rng(0)
    near = np.round(rng.normal(size=(1000, 2)) * 2.0**20) / 2.0**20  # whole parts, so that far + near is exact
    beta = np.round(rng.normal(size=(1, 1000)) * 2.0**30)
    beta[0, -1] -= beta.sum()
    far = np.add(near, [2.0**20, 0.0])
    np.testing.assert_allclose(cancelled(beta, far), beta @ near, rtol=1e-13)
    np.testing.assert_array_equal(cancelled(np.zeros((2, 0)), np.zeros((0, 3))), np.zeros((2, 3)))
    assert cancelled(np.array([[0.1, 0.2, -0.3]]), np.full((3, 1), 1e6)).item() == 0.0
