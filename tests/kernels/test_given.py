"""Matrices and functions from the user."""

import numpy as np
import pytest

from svmstat.errors import ArgumentError, DataError
from svmstat.kernels import RBF, CustomKernel, Precomputed, gram

X = np.random.default_rng(2).normal(size=(70, 3))
K = gram(RBF(0.4), X)


def rbf(X, Z):
    return np.exp(-0.4 * ((X[:, None, :] - Z[None]) ** 2).sum(axis=2))


def test_precomputed_rows_are_those_of_the_matrix():
    kernel, some = Precomputed(), np.array([3, 3, 60])
    bound = kernel.bind(K)
    assert bound.gram() is K
    frozen = K.copy()
    frozen.flags.writeable = False
    assert kernel.bind(frozen).gram().flags.writeable
    assert (bound.diagonal == 1).all()
    assert (kernel.rows(K, some) == K[some]).all()
    assert (bound.block(some, [1, 2]) == K[np.ix_(some, [1, 2])]).all()
    assert bound.block(some, slice(0, 70, 2)).flags.c_contiguous
    assert kernel.parameters == {}


def test_precomputed_new_rows():
    new = gram(RBF(0.4), np.vstack([X, X[:5] + 1]))[70:, :70]
    assert (Precomputed()(new, X) == new).all()
    for wrong in (new[:, :69], new[0], np.zeros((0, 3))):
        with pytest.raises(DataError, match=r"one column for each of the 70 training rows, got shape \("):
            Precomputed()(wrong, X)


def test_a_function_is_used_as_it_is():
    kernel, some = CustomKernel(rbf), np.array([5, 0, 69])
    bound = kernel.bind(X)
    np.testing.assert_allclose(bound.gram(), K, atol=1e-14)
    assert (bound.gram() == bound.gram().T).all()
    np.testing.assert_allclose(bound.diagonal, 1.0)
    np.testing.assert_allclose(kernel.rows(X, some), K[some], atol=1e-14)
    np.testing.assert_allclose(bound.block(some, [1, 2]), K[np.ix_(some, [1, 2])], atol=1e-14)
    assert kernel.parameters == {"function": "rbf"}


class Cosine:
    def __call__(self, X, Z):
        return np.cos(X[:, :1] - Z[:, 0])


def test_an_object_that_can_be_called():
    assert CustomKernel(Cosine()).parameters == {"function": "Cosine"}
    assert CustomKernel(Cosine())(X, X[:2]).shape == (70, 2)


def test_other_numeric_types_become_floats():
    assert CustomKernel(lambda X, Z: X @ Z.T > 0)(X, X).dtype == float
    assert CustomKernel(lambda X, Z: (X @ Z.T).tolist())(X, X[:2]).flags.c_contiguous


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X, Z: np.ones((len(X), len(X))), r"shape \(70, 70\).* for 70 and 4 rows .* \(70, 4\)"),
        (lambda X, Z: 1.0, r"shape \(\) and type float64"),
        (lambda X, Z: (X @ Z.T).astype(complex), "type complex128"),
        (lambda X, Z: (X @ Z.T).astype(str), "it must return real numbers"),
        (lambda X, Z: np.where(X[:, :1] == X[7, 0], np.nan, X @ Z.T), r"nan at \(7, 0\): its values must be"),
    ],
)
def test_a_function_that_returns_something_else(function, message):
    with pytest.raises(ArgumentError, match=f"kernel=<lambda> returned .*{message}"):
        CustomKernel(function)(X, X[:4])


def test_a_gram_matrix_that_is_not_symmetric():
    kernel = CustomKernel(lambda X, Z: X[:, :1] + 2 * Z[:, 0])
    with pytest.raises(DataError, match="matrix of kernel=<lambda> is not a symmetric matrix"):
        gram(kernel, X)
