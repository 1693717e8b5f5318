"""Which gram matrix a machine works on, and that it makes no difference."""

from importlib import import_module

import numpy as np
import pytest

from svmstat.kernels import RBF, Linear
from svmstat.machine import groups
from svmstat.machine.fit import fit_machine
from svmstat.machine.pairs import contrasts, pairs_of
from svmstat.solver import Gram, LowRank


@pytest.mark.parametrize(
    "kernel", [Linear(), 0.5 * Linear(), Linear().on(0, 2) + 2.0 * Linear()], ids=["linear", "scaled", "sum"]
)
def test_features_give_the_kernel_values(kernel):
    X, Z = np.random.default_rng(1).normal(size=(2, 6, 3))
    np.testing.assert_allclose(kernel.features(X) @ kernel.features(Z).T, kernel(X, Z), rtol=1e-12)
    assert (kernel + RBF(1.0)).features(X) is None


def test_a_factor_is_taken_for_many_rows_of_few_columns():
    X = np.random.default_rng(1).normal(size=(5000, 2))
    every = np.arange(5000)
    assert isinstance(groups.gram_of(Linear(), X, every), LowRank)
    assert type(groups.gram_of(Linear(), X, every[1:])) is Gram
    assert type(groups.gram_of(Linear(), np.ones((5000, 501)), every)) is Gram
    assert type(groups.gram_of(RBF(1.0), X, every)) is Gram


def test_machines_agree(monkeypatch, K):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60 * K, 3))
    codes = np.arange(60 * K) % K
    X[:, 0] += codes
    weights = rng.choice([0.0, 0.5, 2.0], 60 * K)
    new = rng.normal(size=(9, 3))
    asked = contrasts(pairs_of(K), "hinge")
    full = fit_machine(Linear(), X, codes, weights, asked, C=2.0)
    monkeypatch.setattr(groups, "_MANY", 1)
    low = fit_machine(Linear(), X, codes, weights, asked, C=2.0)
    assert isinstance(low.gram, LowRank) and type(full.gram) is Gram
    np.testing.assert_allclose(low.decision_values, full.decision_values, atol=1e-9)
    expected = full.decision_function(new)
    np.testing.assert_allclose(low.decision_function(new), expected, atol=1e-9)
    starts = import_module("svmstat.resampling.bootstrap")._every_label(low)
    assert all(isinstance(start.problem.gram, LowRank) for start in starts)
    monkeypatch.setattr("svmstat.machine.fit.expansion", None)  # of few rows too no kernel values are computed
    np.testing.assert_array_equal(full.decision_function(new), expected)
