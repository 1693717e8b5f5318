"""Gram matrices about their centre."""

import numpy as np
import pytest

from svmstat.kernels import RBF, CustomKernel, Linear, Polynomial, Precomputed, centred_gram

TOL = 1e-14  # sums over the rows, relative to the largest entry

X = np.random.default_rng(0).normal(size=(30, 3))


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear(), Polynomial(0.3, 1.0, 3), CustomKernel(lambda a, b: a @ b.T)])
def test_double_centring(kernel):
    n = len(X)
    K = kernel.bind(X).gram()
    H = np.eye(n) - 1 / n
    found = centred_gram(kernel, X)
    np.testing.assert_allclose(found, H @ K @ H, rtol=0, atol=30 * TOL * np.abs(K).max())
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(found, centred_gram(Precomputed(), K)) if not isinstance(kernel, RBF) else None


def test_a_matrix_is_not_changed():
    K = X @ X.T
    before = K.copy()
    centred_gram(Precomputed(), K)
    np.testing.assert_array_equal(K, before)


def test_digits_of_a_wide_kernel():
    """γ → 0: γ⁻¹ K̃ tends to twice the centred linear kernel, where exp(−γd²) has no digit left."""
    H = np.eye(30) - 1 / 30
    found = centred_gram(RBF(1e-17), X) / 1e-17
    np.testing.assert_allclose(found, 2 * H @ X @ X.T @ H, rtol=0, atol=1e-13)
