"""Refits to other labels against fits to the copies that were drawn, one by one; what is computed of them."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from levels import laplace
from machines import fit

from svmstat.calibration import fit_maps, fit_maps_of
from svmstat.kernels import RBF, CustomKernel, Linear, Precomputed, gram
from svmstat.machine import in_units
from svmstat.objective.units import units_of
from svmstat.resampling import relabelled
from svmstat.resampling.bootstrap import drawn_labels, replicate_generator
from svmstat.resampling.leave_one_out import held_out_values, leave_one_out
from svmstat.resampling.predicted import How, held_out_score, predicted
from svmstat.resampling.relabelled import arrangements, first_of_points, permuted_labels, points_of, refits
from svmstat.resampling.structure import look_at_residuals, nearness, residuals, statistics
from svmstat.resampling.unseen import unseen

TOL = 1e-6  # by two certified fits of one sample
SEED = np.random.SeedSequence(5)
RNG = np.random.default_rng(0)  # of looks that draw nothing
KINDS = ("loo", "kfold", "insample")


def whole(n, seed=3):
    return np.random.default_rng(seed).integers(1, 4, n) * 1.0


def seen(machine, point, rng):
    return machine, point


def by_hand(machine, coupling, kind):
    """Held-out probabilities (n, K) by fits without a row, and maps without its value."""
    insample = fit_maps(machine, coupling)
    left = leave_one_out(machine, insample, influence=False)
    if kind == "insample":
        return unseen(machine, left, insample, None)
    return unseen(machine, left, fit_maps_of(machine, left.decision_values, coupling, kind), left.decision_values)


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear(), CustomKernel(laplace)], ids=["rbf", "linear", "function"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_replicate_is_the_fit_to_what_was_drawn(clouds, fit, kernel, weighted, K):
    X, codes = clouds(60, K, seed=1)
    X, codes = np.vstack([X, X[:6]]), np.concatenate([codes, (codes[:6] + 1) % K])
    weights = whole(66) if weighted else np.ones(66)
    machine, maps = fit(kernel, X, codes, weights, C=2.0)
    chances, first = maps.probabilities(machine.group_values), first_of_points(machine)
    for r, found in enumerate(refits(machine, seen, chances=chances, B=3, seed=SEED, what="")):
        copies = np.add.reduceat(drawn_labels(machine, chances, replicate_generator(SEED, r)), first)
        again, point = found
        rows, drawn = np.nonzero(copies)
        other, _ = fit(kernel, machine.X[machine.groups.first[first[rows]]], drawn, copies[rows, drawn], C=2.0)
        np.testing.assert_array_equal(np.column_stack([point, again.codes]), np.column_stack([rows, drawn]))
        np.testing.assert_allclose(again.decision_values, other.decision_values, rtol=0, atol=TOL)


def test_permuted_labels_are_those_of_the_copies(clouds, fit, K):
    X, codes = clouds(40, K, seed=2)
    machine, _ = fit(RBF(0.5), X, codes, whole(40))
    found = [permuted_labels(machine, replicate_generator(SEED, r)) for r in range(30)]
    for copies in found:
        np.testing.assert_array_equal(copies.sum(axis=1), machine.groups.weights)
        np.testing.assert_array_equal(copies.sum(axis=0), machine.totals)
    expected = machine.totals / machine.totals.sum() * machine.groups.weights[:, None]
    assert np.abs(np.mean(found, axis=0) - expected).max() < 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_held_out_predictions_are_those_of_the_leave_one_out(clouds, fit, kind, K):
    machine, _ = fit(RBF(0.5), *clouds(60, K, seed=3), whole(60), C=3.0)
    found = predicted(machine, How("wu-lin-weng", kind))
    if kind != "kfold":
        expected = by_hand(machine, "wu-lin-weng", kind)
        np.testing.assert_allclose(found.unseen.probability, expected.probability, rtol=0, atol=TOL)
        score = -2.0 * machine.weights @ expected.log_likelihood
        assert held_out_score(How("wu-lin-weng", kind), machine, np.arange(60), RNG) == pytest.approx(score, rel=TOL)
    assert found.deviance == pytest.approx(
        -2.0 * machine.weights @ found.insample.log_likelihoods(machine.decision_values, machine.codes)
    )
    folded = predicted(machine, How("wu-lin-weng", "kfold", 4)).unseen
    assert folded.folds == "4 folds" and np.isfinite(folded.log_likelihood).all()


def test_own_values_are_those_of_the_leave_one_out(clouds, fit, K):
    machine, maps = fit(RBF(0.5), *clouds(60, K, seed=4), C=3.0)
    expected = leave_one_out(machine, maps, influence=False).decision_values
    found = held_out_values(machine)
    np.testing.assert_allclose(found.decision_values[machine.groups.of_row], expected, rtol=0, atol=1e-9)
    assert found.certified.all()


def by_definition(X, codes, weights, probability, event=None):
    """T with a loop over copies."""
    rows = np.repeat(np.arange(len(X)), weights.astype(int))
    d = ((X[rows, None] - X[rows]) ** 2).sum(axis=2)
    R = np.exp(-d / np.median(d[np.triu_indices(len(rows), 1)]))
    np.fill_diagonal(R, 0.0)
    levels = [event] if event is not None else range(probability.shape[1])
    total = 0.0
    for level in levels:
        p = probability[rows, level]
        r = (codes[rows] == level) - p
        total += r @ R @ r / (p * (1 - p)).sum()
    return total


@pytest.mark.parametrize("given", [False, True], ids=["design", "matrix"])
def test_the_statistic_is_its_definition(clouds, fit, given, K):
    X, codes = clouds(40, K, seed=5)
    X, codes, weights = np.vstack([X, X[:5]]), np.append(codes, (codes[:5] + 1) % K), whole(45)
    weights[-1] = 0.0
    kernel, data = (Precomputed(), gram(Linear(), X)) if given else (Linear(), X)
    machine, maps = fit(kernel, data, codes, weights)
    p = maps.probabilities(machine.decision_values)
    own = residuals(machine, p, 0.0, points_of(machine), len(first_of_points(machine)))
    expected = by_definition(X, codes, weights, p, machine.classes[0, 0] if K == 2 else None)
    assert statistics(machine, [own, None])[0] == pytest.approx(expected, rel=1e-9)
    assert np.isnan(statistics(machine, [None, own])[0])


def test_a_row_with_a_probability_weight_is_no_neighbour_of_itself(clouds, fit, K):
    X, codes = clouds(40, K, seed=5)
    w = np.random.default_rng(0).uniform(0.2, 3.0, 40)
    machine, maps = fit(RBF(0.5), X, codes, w)
    machine = replace(machine, units=units_of(None, w, False, machine.groups.of_row))
    p, levels = maps.probabilities(machine.decision_values), machine.classes[0, :1] if K == 2 else np.arange(K)
    R = nearness(machine)(np.arange(40))[np.ix_(points_of(machine), points_of(machine))]
    np.fill_diagonal(R, 0.0)
    found = statistics(machine, [residuals(machine, p, 0.0, points_of(machine), 40)])[0]
    r, variance = w[:, None] * ((codes[:, None] == levels) - p[:, levels]), w @ (p * (1.0 - p))[:, levels]
    assert found == pytest.approx((np.einsum("kl,km,lm->m", R, r, r) / variance).sum(), rel=1e-9)


def test_half_of_the_pairs_at_one_point(clouds, fit):
    """The median distance is zero: the mean takes its place."""
    codes = np.arange(40) % 2
    machine, maps = fit(Linear(), np.where(np.arange(40) < 36, 0.0, 1.0)[:, None], codes)
    p = maps.probabilities(machine.decision_values)
    own = residuals(machine, p, 0.0, points_of(machine), 2)
    assert np.isfinite(statistics(machine, [own])).all()


def test_a_lost_class_is_none(clouds, fit, K):
    X, codes = clouds(40, K, seed=7, apart=4.0)
    rows = np.flatnonzero((codes != K - 1) | (np.cumsum(codes == K - 1) == 1))
    machine, _ = fit(RBF(0.5), X[rows], codes[rows])
    chances = np.where(np.arange(K) == K - 1, 0.01, 1.0) * np.ones((len(machine.group_codes), 1))
    look = partial(look_at_residuals, How("wu-lin-weng", "loo"), len(first_of_points(machine)), None)
    chances /= chances.sum(axis=1, keepdims=True)
    found = refits(machine, look, chances=chances, B=12, seed=SEED, what="")
    draws = [drawn_labels(machine, chances, replicate_generator(SEED, r)) for r in range(12)]
    lost = [(copies.sum(axis=0) < 2).any() for copies in draws]  # of one row of a class nothing is left without it
    assert [each is None for each in found] == lost and sum(lost) > 0
    assert all(np.isfinite(each.deviance) for each in found if each is not None)


@pytest.mark.parametrize(("n", "least"), [(200, 8 * 200**2), (5200, 0)])
def test_what_is_announced_counts_a_matrix_only_where_there_is_one(n, least, fit, monkeypatch):
    """Rows of a factor go without: 5200 of them would take 0.2 GB, and a worker three times that."""
    announced = []
    monkeypatch.setattr(relabelled, "run_pieces", lambda *_, outlook, **__: announced.append(outlook.memory(1)) or [])
    X = np.random.default_rng(0).normal(size=(n, 2))
    machine, _ = fit(Linear(), X, (X[:, 0] > 0.0).astype(int), C=0.1)
    refits(machine, seen, chances=None, B=5, seed=SEED, what="")
    assert least <= announced[0] < 1e8


# -- rows that belong together -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("constant", [False, True], ids=["within", "whole"])
@pytest.mark.parametrize("K", [2, 3])
def test_permuted_labels_stay_in_their_units(K, constant):
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(15), 4)
    codes = (group if constant else np.arange(60)) % K
    X, weights = rng.integers(0, 4, size=(60, 2)).astype(float), rng.integers(1, 3, 60).astype(float)
    machine = fit(RBF(0.5), X, codes, weights)
    units = units_of(group, weights, True, machine.groups.of_row)
    machine = replace(machine, units=units)
    members = np.eye(K)[codes] * weights[:, None]
    for again, point in refits(machine, seen, chances=None, B=5, seed=np.random.SeedSequence(1), what=""):
        assert again.weights.sum() == weights.sum()
        assert len(point) == len(again.codes) == len(again.units.of_row)
        found = again.units.sums(np.eye(K)[again.codes] * again.weights[:, None])
        before = units.sums(members)
        if constant:
            assert ((found > 0).sum(axis=1) == 1).all()
        else:
            before, found = before[np.lexsort(before.T)], found[np.lexsort(found.T)]
        np.testing.assert_allclose(np.sort(found.sum(axis=1)), np.sort(before.sum(axis=1)))
        if not constant:
            np.testing.assert_allclose(found, before)


@pytest.mark.parametrize("groups", [np.arange(60), np.repeat(np.arange(12), [2, 8] * 6)], ids=["rows", "groups"])
@pytest.mark.parametrize("whole", [False, True], ids=["fractions", "whole"])
def test_a_label_takes_the_weight_of_its_unit_along(groups, whole):
    """The weights of the classes stay what they are, and those of the labels that units have."""
    rng = np.random.default_rng(5)
    codes = groups % 2
    weights = (
        np.where(codes == 1, 0.3, 1.5) * rng.uniform(0.8, 1.2, 60) if not whole else np.where(codes == 1, 1.0, 3.0)
    )
    machine = fit(RBF(0.5), rng.normal(size=(60, 2)), codes, weights)
    units = units_of(groups, weights, True, machine.groups.of_row)
    machine = replace(machine, units=units)
    own = np.sort(units.sums(np.eye(2)[codes] * weights[:, None]), axis=0)
    for again, _ in refits(machine, seen, chances=None, B=5, seed=np.random.SeedSequence(1), what=""):
        found = again.units.sums(np.eye(2)[again.codes] * again.weights[:, None])
        np.testing.assert_allclose(np.sort(found, axis=0), own, rtol=1e-12)


def test_a_machine_divided_among_units_leaves_out_what_a_fit_does():
    rng = np.random.default_rng(3)
    group, codes = np.repeat(np.arange(10), 6), rng.integers(0, 2, 60)
    X = rng.integers(0, 4, size=(60, 2)).astype(float)
    machine = fit(RBF(0.5), X, codes)
    units = units_of(group, np.ones(60), True, machine.groups.of_row)
    whole = replace(machine, units=units)
    alone = fit(RBF(0.5), X[machine.groups.first], machine.group_codes, machine.groups.weights)
    parts = in_units(alone, alone.groups.of_row[machine.groups.of_row], np.ones(60), units)
    expected, found = (leave_one_out(each, fit_maps(each), influence=False) for each in (whole, parts))
    np.testing.assert_allclose(found.decision_values, expected.decision_values, rtol=0, atol=1e-9)


def test_arrangements_are_counted_by_the_copies_that_are_permuted():
    codes, weights = np.array([0, 0, 1, 1, 1, 0]), np.array([2.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    machine = fit(Linear(), np.arange(6.0)[:, None] ** 2 % 7, codes, weights)
    assert arrangements(machine) == pytest.approx(35.0)  # 3 of 7 copies
    within = replace(machine, units=units_of(np.array([0, 0, 0, 1, 1, 1]), weights, True, machine.groups.of_row))
    assert arrangements(within) == pytest.approx(4.0 * 3.0)
    whole = replace(machine, units=units_of(np.array([0, 0, 1, 1, 2, 3]), weights, True, machine.groups.of_row))
    assert arrangements(whole) == pytest.approx(6.0)  # two of four groups


def test_labels_of_rows_with_the_same_predictors_have_one_arrangement():
    rng = np.random.default_rng(2)
    X, codes = np.repeat(rng.normal(size=(6, 2)), 2, axis=0), np.resize([0, 1], 12)
    machine = fit(RBF(0.5), X, codes, weights=rng.integers(1, 9, 12) * 1.0)
    within = replace(machine, units=units_of(np.repeat(np.arange(6), 2), machine.weights, True, machine.groups.of_row))
    assert arrangements(within) == 1.0
