"""A kernel on fewer columns is the kernel on the whole rows where the others are constant."""

import numpy as np
import pytest

from svmstat.kernels import RBF, Laplace, Linear, Polynomial, on_fewer_columns

X = np.random.default_rng(0).normal(size=(12, 4))
KERNELS = {
    "rbf": RBF(gamma=0.3),
    "scaled laplace": 2.0 * Laplace(gamma=0.3),
    "sum": Linear() + 0.5 * RBF(gamma=0.2),
    "some columns": Linear().on(1, 3) + RBF(gamma=0.2).on(0, 2, 3),
    "polynomial": Polynomial(gamma=0.5, degree=2, coef0=1.0).on(2, 3),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("kept", [[0, 1, 2, 3], [0, 2, 3], [3]])
def test_columns_that_are_gone_add_nothing(name, kept):
    without = np.zeros_like(X)
    without[:, kept] = X[:, kept]
    found, kernel = on_fewer_columns(KERNELS[name], kept), KERNELS[name]
    np.testing.assert_allclose(found(X[:, kept], X[:, kept]), kernel(without, without), rtol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "kept", "expected"),
    [
        (RBF(gamma=0.3), [], None),
        (Linear().on(1), [0, 2], None),
        (Linear().on(1) + RBF(gamma=0.2).on(0), [0, 2], RBF(gamma=0.2).on(0)),
        (Linear().on(1) + 3.0 * RBF(gamma=0.2).on(0), [1, 2], Linear().on(0)),
        (Linear().on(1) + RBF(gamma=0.2).on(0), [3], None),
        (Linear() + RBF(gamma=0.2).on(0), [2], Linear()),
    ],
)
def test_parts_without_columns_vanish(kernel, kept, expected):
    assert on_fewer_columns(kernel, kept) == expected
