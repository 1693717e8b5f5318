"""Sums in twice the precision, against rational arithmetic."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from svmstat.kernels import Precomputed
from svmstat.solver import Gram


@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([1.0, 1e8, 1e15]))
def test_residuals_are_rounded_once(seed, size):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(9, 9))
    K, linear, beta = A @ A.T, rng.normal(size=9), size * rng.normal(size=9)
    beta[rng.random(9) < 0.3] = 0.0
    beta[-1] -= beta.sum()
    K = np.tril(K) + np.tril(K, -1).T
    exact = [
        float(Fraction(s) - sum((Fraction(k) * Fraction(b) for k, b in zip(row, beta, strict=True)), Fraction(0)))
        for s, row in zip(linear, K, strict=True)
    ]
    found = Gram(Precomputed().bind(K)).residual(beta, linear)
    np.testing.assert_allclose(found, exact, rtol=4e-16, atol=1e-28 * size)
