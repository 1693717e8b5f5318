"""Each kernel against another computation of the same formula."""

from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

from svmstat.errors import ArgumentError
from svmstat.kernels import RBF, Linear, Polynomial, Spline, gram

TOL = 1e-13  # rounding of sums of a few terms, relative to their size
TOL_PSD = 1e-13  # negative eigenvalues by rounding, relative to n times the largest entry

rng = np.random.default_rng(5)
X, Z = rng.normal(size=(40, 6)), rng.normal(size=(300, 6))

BERNOULLI = [1.0, -1 / 2, 1 / 6, 0.0, -1 / 30]  # the numbers B_0, ..., B_4


def bernoulli(r, x):
    """k_r(x) = B_r(x) / r!, the scaled Bernoulli polynomial."""
    return sum(comb(r, k) * BERNOULLI[r - k] * x**k for k in range(r + 1)) / factorial(r)


def spline(X, Z, lower, upper):
    """The additive spline kernel, one pair and one column after the other."""
    K = np.zeros((len(X), len(Z)))
    for k in range(X.shape[1]):
        s = np.clip((X[:, k] - lower[k]) / (upper[k] - lower[k]), 0, 1)
        t = np.clip((Z[:, k] - lower[k]) / (upper[k] - lower[k]), 0, 1)
        for i, j in np.ndindex(K.shape):
            main = sum(bernoulli(r, s[i]) * bernoulli(r, t[j]) for r in (1, 2))
            K[i, j] += 1 + main - bernoulli(4, abs(s[i] - t[j]))
    return K


@pytest.mark.parametrize("p", [1, 2, 3, 4, 5, 6])
def test_linear(p):
    np.testing.assert_allclose(Linear()(X[:, :p], Z[:, :p]), linear_kernel(X[:, :p], Z[:, :p]), atol=TOL)


@pytest.mark.parametrize("gamma", [1e-3, 0.25, 40])
@pytest.mark.parametrize("p", [1, 2, 3, 4, 5, 6])
def test_rbf(p, gamma):
    K = RBF(gamma)(X[:, :p], Z[:, :p])
    expected = np.exp(-gamma * cdist(X[:, :p], Z[:, :p], "sqeuclidean"))
    np.testing.assert_allclose(K, expected, rtol=1e-11, atol=TOL)
    np.testing.assert_allclose(K, rbf_kernel(X[:, :p], Z[:, :p], gamma=gamma), atol=1e-11)


def test_rbf_keeps_the_digits_of_small_distances():
    near = np.array([[1e4], [1e4 + 2.0**-20]])
    assert RBF(1.0)(near, near)[0, 1] == np.exp(-(2.0**-40))
    assert (gram(RBF(3.0), np.full((5, 3), 0.1)) == 1).all()


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 7, 12])
@pytest.mark.parametrize("coef0", [0, 1.5, -0.5])
def test_polynomial(degree, coef0):
    K = Polynomial(0.3, coef0, degree)(X, Z)
    expected = polynomial_kernel(X, Z, degree=degree, gamma=0.3, coef0=coef0)
    np.testing.assert_allclose(K, expected, rtol=1e-11, atol=1e-11)


def test_spline_is_the_sum_of_bernoulli_polynomials():
    lower, upper = X.min(axis=0), X.max(axis=0)
    np.testing.assert_allclose(Spline(lower, upper)(X, Z[:30]), spline(X, Z[:30], lower, upper), rtol=TOL)


def test_spline_is_constant_beyond_the_training_range():
    kernel = Spline(np.array([0.0, -1.0]), np.array([2.0, 1.0]))
    inside, outside = np.array([[2.0, -1.0]]), np.array([[7.0, -30.0]])
    points = np.array([[0.5, 0.5], [9.0, 0.0]])
    assert (kernel(inside, points) == kernel(outside, points)).all()


def test_spline_of_a_column_without_range():
    kernel = Spline(np.array([3.0, 0.0]), np.array([3.0, 1.0]))
    one = Spline(np.array([0.0]), np.array([1.0]))
    Y = np.array([[3.0, 0.2], [3.0, 0.9]])
    np.testing.assert_allclose(kernel(Y, Y), one(Y[:, 1:], Y[:, 1:]) + one(Y[:1, :1] * 0, Y[:1, :1] * 0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(0.0), r"gamma=0.0 is not allowed: it must be a finite number > 0"),
        (lambda: RBF(np.inf), "gamma=inf is not allowed"),
        (lambda: Polynomial(-1.0, 0.0, 3), "gamma=-1.0 is not allowed"),
        (lambda: Polynomial(1.0, np.nan, 3), "coef0=nan is not allowed: it must be a finite number"),
        (lambda: Polynomial(1.0, 0.0, 0), "degree=0 is not allowed: it must be an integer >= 1"),
        (lambda: Polynomial(1.0, 0.0, 2.0), "degree=2.0 is not allowed"),
    ],
)
def test_parameters_out_of_range(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_parameters_by_name():
    assert Linear().parameters == {}
    assert RBF(0.5).parameters == {"gamma": 0.5}
    assert Polynomial(0.5, 1.0, 2).parameters == {"gamma": 0.5, "coef0": 1.0, "degree": 2}
    assert Spline(np.zeros(1), np.ones(1)).parameters == {}


points = arrays(
    float,
    array_shapes(min_dims=2, max_dims=2, max_side=12),
    elements=st.floats(-8, 8, allow_subnormal=False, width=16),
)


@given(points, st.floats(1e-3, 10))
def test_gram_is_positive_semidefinite(Y, gamma):
    kernels = [Linear(), RBF(gamma), Polynomial(gamma, 1.0, 3), Spline(Y.min(axis=0), Y.max(axis=0))]
    for kernel in kernels:
        K = gram(kernel, Y)
        assert np.linalg.eigvalsh(K).min() >= -TOL_PSD * len(K) * np.abs(K).max(), kernel
