"""Held-out errors over kernels, folds and pairs: against fits of single folds, and their bookkeeping."""

import numpy as np
import pytest

from svmstat.errors import ArgumentError, DataError
from svmstat.kernels import RBF, Linear, Precomputed
from svmstat.machine import fit_machine, nu_contrast
from svmstat.objective.nu import Nu
from svmstat.resampling.folds import assign_folds
from svmstat.tuning.nu_grid import nu_grid_errors

NUS = np.array([0.1, 0.3, 0.62, 0.9, 1.0])
KERNELS = [RBF(0.1), RBF(1.0), RBF(10.0)]


def sample(n=90, seed=3):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    X = rng.normal(size=(n, 2)) + 0.8 * y[:, None]
    weights = rng.integers(1, 4, n).astype(float)
    return X, y, weights, assign_folds(y, 5, rng)


X, Y, W, FOLD = sample()


def errors(kernels=KERNELS, nu_event=NUS, nu_other=NUS, **options):
    return nu_grid_errors(kernels, X, Y, W, FOLD, nu_event, nu_other, **options)


def by_hand(kernel, nu_event, nu_other):
    """False alarms and misses by a machine for each fold; its share of the rows that are kept."""
    wrong = np.zeros(2)
    for k in range(5):
        kept, out = np.flatnonzero(k != FOLD), np.flatnonzero(k == FOLD)
        sizes = [W[kept][Y[kept] == sign].sum() for sign in (1.0, -1.0)]
        nu = Nu(nu_event, nu_other, *sizes)
        asked = [nu_contrast(1, 0, nu)]
        machine = fit_machine(kernel, X[kept], (Y[kept] > 0).astype(int), W[kept], asked, C=1.0)
        f = machine.decision_function(X[out])[:, 0]
        wrong += W[out][(Y[out] < 0) & (f > 0)].sum(), W[out][(Y[out] > 0) & (f <= 0)].sum()
    return wrong


def test_every_number_is_that_of_single_fits():
    found = errors()
    assert not found.constant.any() and found.unresolved.astype(bool).mean() < 0.05
    assert np.nanmax(found.violation) <= 1e-8
    for s, kernel in enumerate(KERNELS):
        for j in range(0, 5, 2):
            for i in range(5):
                if found.unresolved[s, j, i]:
                    assert np.isnan(found.misses[s, j, i]) and min(NUS[i], NUS[j]) == 0.1
                    continue
                alarms, misses = by_hand(kernel, NUS[i], NUS[j])
                assert (found.false_alarms[s, j, i], found.misses[s, j, i]) == (alarms, misses)
    np.testing.assert_allclose(found.false_alarm_rate, found.false_alarms / W[Y < 0].sum())
    np.testing.assert_allclose(found.miss_rate, found.misses / W[Y > 0].sum())


def test_order_repetition_and_part_of_the_grid():
    found = errors()
    order = np.array([3, 0, 4, 1, 1])
    other = errors(nu_event=NUS[order], nu_other=NUS[order[:3]])
    for name in ("false_alarms", "misses", "unresolved", "constant"):
        np.testing.assert_array_equal(getattr(other, name), getattr(found, name)[:, order[:3]][:, :, order])


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_the_number_of_workers(n_jobs):
    one, many = errors(), errors(n_jobs=n_jobs)
    for name in ("false_alarms", "misses", "violation"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))


def test_a_given_matrix():
    found = nu_grid_errors([Precomputed()], RBF(1.0).bind(X).gram(), Y, W, FOLD, NUS, NUS)
    np.testing.assert_array_equal(found.misses[0], errors().misses[1])


def test_classes_that_overlap_are_constant_or_unresolved():
    found = errors([Linear()], NUS, NUS)
    left = (found.unresolved > 0) | (found.constant > 0)
    assert left.any() and not left.all()
    assert np.isnan(found.misses[found.unresolved > 0]).all()
    all_constant = found.constant == 5
    assert (found.misses[all_constant] == found.n_event).all() and not found.false_alarms[all_constant].any()


@pytest.mark.parametrize("values", [[], [0.0, 0.5], [1.5], [np.nan], [[0.5]]])
def test_values_outside_the_unit_interval(values):
    with pytest.raises(ArgumentError, match=r"nu_other=.*a sequence of numbers in"):
        errors(nu_other=np.array(values))


def test_a_fold_with_a_whole_class():
    with pytest.raises(DataError, match="fold 0 holds all rows of a class"):
        nu_grid_errors(KERNELS, X, Y, W, np.where(Y > 0, 1, 0), NUS, NUS)
