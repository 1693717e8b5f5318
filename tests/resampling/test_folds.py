"""Folds: stratified, and each fit without its fold that of an independent solver."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from svmstat.bounds import folds
from svmstat.kernels import RBF
from svmstat.losses import hinge
from svmstat.machine import Contrast, pose
from svmstat.resampling.folds import assign_folds, hold_out

TOL = 1e-4  # libsvm keeps its kernel matrix in single precision; decision values of order 1, C up to 30


@given(n_event=st.integers(1, 40), n_other=st.integers(1, 40), k=st.integers(2, 7), seed=st.integers(0, 999))
def test_folds_are_balanced_within_each_class(n_event, n_other, k, seed):
    y = np.random.default_rng(seed).permutation(np.repeat([1.0, -1.0], [n_event, n_other]))
    fold = assign_folds(y, k, np.random.default_rng(seed))
    for rows in (y > 0, y < 0, y != 0):
        assert np.ptp(np.bincount(fold[rows], minlength=k)) <= 1


def test_folds_leave_bounds_out():
    upper, fold = np.arange(1.0, 6.0), np.array([0, 2, 1, 0, 2])
    uppers = folds(upper, fold, 3)
    np.testing.assert_array_equal(uppers == 0, fold == np.arange(3)[:, None])
    np.testing.assert_array_equal(uppers.sum(axis=0), 2 * upper)


@pytest.mark.parametrize("gamma", [0.3, 5.0])
def test_decision_values_are_those_of_independent_fits(gamma):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.4 * rng.normal(size=90) > 0, 1.0, -1.0)
    w = rng.uniform(0.5, 2.0, size=90)
    posed = pose(RBF(gamma), X, (y > 0).astype(int), w, [Contrast(1, 0, hinge(1.0, 2.0))], C=1.0)
    first = posed.groups.first
    fold = assign_folds(y[first], 4, rng)
    costs = [0.1, 1.0, 30.0]
    for which in range(4):
        held = hold_out(posed, fold == which, costs, "wu-lin-weng")
        kept, out = first[fold != which], first[fold == which]
        assert held.certified.all() and held.calibrated.all()
        for j, C in enumerate(costs):
            other = SVC(C=C, gamma=gamma, tol=1e-10, class_weight={1.0: 1.0, -1.0: 2.0})
            other.fit(X[kept], y[kept], sample_weight=w[kept])
            np.testing.assert_allclose(held.decision_values[j, :, 0], other.decision_function(X[out]), atol=TOL)


def test_a_lost_class_is_told():
    X, codes = np.arange(6.0)[:, None], np.array([1, 0, 0, 0, 0, 0])
    posed = pose(RBF(1.0), X, codes, np.ones(6), [Contrast(1, 0, hinge())], C=1.0)
    held = hold_out(posed, posed.group_codes == 1, [1.0, 2.0], "wu-lin-weng")
    assert np.isnan(held.decision_values).all() and np.isnan(held.n_support).all()
    assert not held.certified.any()
