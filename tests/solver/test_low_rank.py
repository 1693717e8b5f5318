"""A gram matrix of which only a factor is held, against the matrix itself."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmstat.kernels import Precomputed
from svmstat.solver import Gram, LowRank


@pytest.fixture
def pair():
    """A factor, its gram matrix and that matrix as it is otherwise held."""
    A = np.random.default_rng(1).normal(size=(30, 3))
    K = A @ A.T
    return A, LowRank(A), Gram(Precomputed().bind(np.tril(K) + np.tril(K, -1).T))


def test_parts_of_the_matrix(pair):
    _, low, full = pair
    rows, others = np.array([3, 0, 29]), np.array([5, 6])
    np.testing.assert_allclose(low.diagonal, full.diagonal)
    np.testing.assert_allclose(low.block(rows), full.block(rows))
    np.testing.assert_allclose(low.cross(rows, others), full.cross(rows, others))
    np.testing.assert_allclose(low.columns(rows), full.columns(rows))
    np.testing.assert_allclose(low.part(rows).complete(), full.block(rows))
    np.testing.assert_allclose(pickle.loads(pickle.dumps(low)).complete(), full.complete())
    assert (low.complete() == low.complete().T).all()


def test_sums_of_rows(pair):
    _, low, full = pair
    rows, others = np.array([3, 0, 29]), np.array([5, 6])
    coefficients = np.array([[1.0, -2.0], [0.5, 0.0], [3.0, 1.0]])
    found, expected = np.ones(30), np.ones(30)
    low.add(rows, coefficients[:, 0].copy(), found)
    full.add(rows, coefficients[:, 0].copy(), expected)
    np.testing.assert_allclose(found, expected)
    for each in (coefficients, coefficients[:, 1].copy()):
        left, right = low.across(others, rows, each, False)
        np.testing.assert_allclose(left @ right, full.cross(others, rows) @ each, atol=1e-12)


@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([1.0, 1e8, 1e15]))
def test_residuals_are_as_exact_as_those_of_the_matrix(seed, size):
    """The entries of A are small integers, so that K holds no rounding."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-9, 10, (12, 3)).astype(float)
    beta, linear = size * rng.normal(size=12), rng.normal(size=12)
    beta[-1] -= beta.sum()
    exact = Gram(Precomputed().bind(A @ A.T)).residual(beta, linear)
    np.testing.assert_allclose(LowRank(A).residual(beta, linear), exact, rtol=4e-15, atol=1e-27 * size + 1e-15)
