"""A gram matrix of which only a factor is held, against the matrix itself."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import noisy, posed

from svmstat.kernels import Precomputed
from svmstat.solver import Gram, LowRank, Road, Status, anchor_at, solve


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


@pytest.mark.parametrize("n", [1, 255, 256, 257, 600])
def test_the_whole_matrix_is_symmetric_and_of_the_products_below_the_diagonal(n):
    A = np.random.default_rng(n).normal(size=(n, 4))
    K = LowRank(A).complete()
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(np.tril(K), np.tril(A @ A.T))


def test_deletions_without_the_memory_of_a_matrix():
    """With a small share of it there is no tableau, and each solution is found beside the one that is known."""
    qp = posed(*noisy(300, 4), 0.5)[0]
    start = solve(qp)
    rows = np.flatnonzero(start.alpha)[::20]
    uppers = np.tile(qp.upper, (len(rows), 1))
    uppers[np.arange(len(rows)), rows] = 0.0
    with_tableau, without = anchor_at(qp, start), anchor_at(qp, start, 1e-6)
    assert with_tableau.tableau is not None and without.tableau is None
    full, low = solve(qp, uppers, start=with_tableau), solve(qp, uppers, start=without)
    assert (full.road == Road.TABLEAU).all() and set(low.road) <= {Road.LOW_RANK, Road.RESCUE}
    assert (low.status == Status.CERTIFIED).all()
    np.testing.assert_allclose(low.decision, full.decision, rtol=0, atol=1e-7)
