"""Each kernel against another computation of the same formula."""

from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel

from svmstat.errors import ArgumentError
from svmstat.kernels import RBF, Centred, Laplace, Linear, Polynomial, Spline, gram

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


@pytest.mark.parametrize("gamma", [1e-3, 0.25, 40])
@pytest.mark.parametrize("p", [1, 2, 3, 4, 5, 6])
def test_laplace(p, gamma):
    K = Laplace(gamma)(X[:, :p], Z[:, :p])
    np.testing.assert_allclose(K, np.exp(-gamma * cdist(X[:, :p], Z[:, :p], "cityblock")), rtol=1e-11, atol=TOL)


def test_laplace_is_a_product_of_columns():
    K = Laplace(0.3)(X, Z)
    product = np.prod([Laplace(0.3)(X[:, k : k + 1], Z[:, k : k + 1]) for k in range(6)], axis=0)
    np.testing.assert_allclose(K, product, rtol=1e-12)
    assert (gram(Laplace(3.0), np.full((5, 3), 0.1)) == 1).all()


@pytest.mark.parametrize("kernel", [RBF(1e-20), Laplace(1e-20), RBF(0.5), Laplace(0.5)])
def test_a_kernel_without_its_constant_has_the_digits_of_small_distances(kernel):
    exponents = np.empty((40, 300))
    kernel.exponents(X, np.ascontiguousarray(Z.T), exponents)
    np.testing.assert_allclose(kernel.without_constant()(X, Z), np.expm1(exponents), rtol=1e-15)
    np.testing.assert_allclose(kernel.without_constant()(X, Z), kernel(X, Z) - 1, rtol=0, atol=2e-16)


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
        (lambda: RBF(0.0), "gamma=0.0 is not allowed: it must be 'scale', 'median' or a finite number > 0"),
        (lambda: RBF(np.inf), "gamma=inf is not allowed"),
        (lambda: Polynomial(-1.0, 0.0, 3), "gamma=-1.0 is not allowed"),
        (lambda: Polynomial(1.0, np.nan, 3), "coef0=nan is not allowed: it must be a finite number"),
        (lambda: Polynomial(1.0, 0.0, 0), "degree=0 is not allowed: it must be an integer >= 1"),
        (lambda: Polynomial(1.0, 0.0, 2.0), "degree=2.0 is not allowed"),
        (lambda: Laplace("wide"), "gamma='wide' is not allowed: it must be 'scale', 'median' or a finite number > 0"),
        (lambda: Spline("ab", [1.0]), "lower='ab' is not allowed: it must be a finite number for each column, or None"),
        (lambda: Spline([0.0, np.nan], [1.0, 1.0]), r"lower\[1\]=nan is not allowed: it must be a finite number"),
        (lambda: Spline([0.0], 1.0), "upper=1.0 is not allowed: it must be a finite number for each column"),
    ],
)
def test_parameters_out_of_range(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_parameters_by_name():
    assert Linear().parameters == {}
    assert RBF(0.5).parameters == {"gamma": 0.5}
    assert Polynomial(0.5, 1.0, 2).parameters == {"gamma": 0.5, "coef0": 1.0, "degree": 2}
    assert Laplace().parameters == {"gamma": "scale"}
    assert Spline(np.zeros(1), np.ones(1)).parameters == {}
    assert (Linear() + RBF(0.5)).parameters == {}


def test_numbers_are_kept_as_python_s_own():
    kernel = Polynomial(np.float64(0.5), np.float32(1.0), np.int64(2))
    assert [type(value) for value in (kernel.gamma, kernel.coef0, kernel.degree)] == [float, float, int]
    assert kernel == Polynomial(0.5, 1, 2) and repr(kernel) == "Polynomial(gamma=0.5, coef0=1.0, degree=2)"


points = arrays(
    float,
    array_shapes(min_dims=2, max_dims=2, max_side=12),
    elements=st.floats(-8, 8, allow_subnormal=False, width=16),
)


@given(points, st.floats(1e-3, 10))
def test_gram_is_positive_semidefinite(Y, gamma):
    kernels = [Linear(), RBF(gamma), Polynomial(gamma, 1.0, 3), Spline(Y.min(axis=0), Y.max(axis=0)), Laplace(gamma)]
    kernels += [Linear() + gamma * RBF(1.0), Laplace(1.0).on(0), Centred(RBF(gamma)).resolve(Y)]
    for kernel in kernels:
        K = gram(kernel, Y)
        assert np.linalg.eigvalsh(K).min() >= -TOL_PSD * len(K) * np.abs(K).max(), kernel
