"""Sums of kernel values over the support vectors, chunk by chunk."""

import numpy as np
import pytest

from svmstat.kernels import RBF, Centred, Linear, centred
from svmstat.machine import groups
from svmstat.machine.groups import expansion

X = np.random.default_rng(0).normal(size=(40, 2))
TOL = 1e-14  # sums of the same numbers, relative to the largest


@pytest.mark.parametrize("kernel", [Centred(RBF(0.5)), 2.0 * Centred(RBF(0.5)).on(0) + Centred(Linear())])
def test_means_of_a_centred_kernel_are_taken_once_and_not_for_every_chunk(kernel, monkeypatch):
    """They are over all rows: 20 000 rows of an additive fit took minutes."""
    kernel, taken, means = kernel.resolve(X), [], centred._means
    rows, coefficients = np.arange(0, 40, 2), np.linspace(-1.0, 1.0, 20)[:, None]
    whole = kernel(X, X[rows]) @ coefficients
    monkeypatch.setattr(centred, "_means", lambda *given: taken.append(0) or means(*given))
    once = expansion(kernel, X, X, rows, coefficients, np.matmul)
    n_once = len(taken)
    monkeypatch.setattr(groups, "_CHUNK", 60)
    by_chunks = expansion(kernel, X, X, rows, coefficients, np.matmul)
    assert len(taken) == 2 * n_once and n_once <= 2
    np.testing.assert_allclose(once, whole, rtol=0, atol=TOL * np.abs(whole).max())
    np.testing.assert_allclose(by_chunks, whole, rtol=0, atol=TOL * np.abs(whole).max())
