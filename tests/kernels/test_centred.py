"""Gram matrices about their centre."""

import numpy as np
import pytest

from svmstat.kernels import (
    RBF,
    Centred,
    CustomKernel,
    Laplace,
    Linear,
    Polynomial,
    Precomputed,
    Product,
    Spline,
    centred,
    centred_gram,
    gram,
)

TOL = 1e-14  # sums over the rows, relative to the largest entry

X = np.random.default_rng(0).normal(size=(30, 3))


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear(), Polynomial(0.3, 1.0, 3), CustomKernel(lambda a, b: a @ b.T),
                                    Laplace(0.5), Linear() + 0.5 * RBF(0.1).on(0, 2)])  # fmt: skip
def test_double_centring(kernel):
    n = len(X)
    K = kernel.bind(X).gram()
    H = np.eye(n) - 1 / n
    found = centred_gram(kernel, X)
    np.testing.assert_allclose(found, H @ K @ H, rtol=0, atol=30 * TOL * np.abs(K).max())
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(found, centred_gram(Precomputed(), kernel.without_constant().bind(X).gram()))


def test_a_matrix_is_not_changed():
    K = X @ X.T
    before = K.copy()
    centred_gram(Precomputed(), K)
    np.testing.assert_array_equal(K, before)


WIDE = RBF(2e-17)


@pytest.mark.parametrize("kernel", [RBF(1e-17), 0.5 * WIDE, RBF(1e-17).on(0, 1, 2), 0.25 * (WIDE + WIDE)], ids=str)
def test_digits_of_a_wide_kernel(kernel):
    """γ → 0: γ⁻¹ K̃ tends to twice the centred linear kernel, where exp(−γd²) has no digit left."""
    H = np.eye(30) - 1 / 30
    for found in (centred_gram(kernel, X), gram(Centred(kernel).resolve(X), X)):
        np.testing.assert_allclose(found / 1e-17, 2 * H @ X @ X.T @ H, rtol=0, atol=1e-13)


# Centred as a kernel

WEIGHTS = np.random.default_rng(1).integers(0, 4, 30) * 0.5
SEVERAL = [RBF(0.5), Linear(), Laplace("median"), Spline(), Linear() + 0.5 * RBF().on(1)]


@pytest.mark.parametrize("kernel", SEVERAL, ids=str)
def test_centred_by_the_weights(kernel):
    found, plain = Centred(kernel).resolve(X, WEIGHTS), kernel.resolve(X, WEIGHTS)
    w, K = WEIGHTS / WEIGHTS.sum(), gram(plain, X)
    expected = K - (K @ w)[:, None] - K @ w + w @ K @ w
    np.testing.assert_allclose(gram(found, X), expected, rtol=0, atol=30 * TOL * np.abs(K).max())
    np.testing.assert_allclose(w @ gram(found, X), 0, rtol=0, atol=30 * TOL * np.abs(K).max())
    new = X[:4] + 0.5
    level = plain(new, X)
    expected = level - (level @ w)[:, None] - K @ w + w @ K @ w
    np.testing.assert_allclose(found(new, X), expected, rtol=0, atol=60 * TOL * np.abs(K).max())


def test_equal_weights_are_double_centring():
    np.testing.assert_allclose(gram(Centred(RBF(0.5)).resolve(X), X), centred_gram(RBF(0.5), X), rtol=0, atol=1e-15)


@pytest.mark.parametrize("kernel", SEVERAL, ids=str)
def test_every_way_to_a_value_gives_the_same_bits(kernel):
    many = np.random.default_rng(2).normal(size=(300, 3))
    kernel = Centred(kernel).resolve(many)
    K, bound, some = gram(kernel, many), kernel.bind(many), np.array([7, 299, 7, 0])
    assert (K == K.T).all()
    assert (kernel(many, many) == K).all()
    assert (bound.diagonal == K.diagonal()).all()
    assert (bound.block(some, [1, 2]) == K[np.ix_(some, [1, 2])]).all()
    assert (kernel.rows(many, some) == K[some]).all()
    assert kernel(many[5:6], many[8:9])[0, 0] == K[5, 8]


def test_neither_the_order_nor_copies_of_the_rows_change_a_digit():
    order = np.random.default_rng(3).permutation(30)
    counts = np.random.default_rng(4).integers(1, 4, 30)
    centred = Centred(RBF(0.5))
    kernel = centred.resolve(X, counts * 1.0)
    for other in (centred.resolve(X[order], counts[order] * 1.0), centred.resolve(X.repeat(counts, axis=0))):
        assert other == kernel and hash(other) == hash(kernel)
        assert (gram(other, X) == gram(kernel, X)).all()
    assert Centred(RBF(0.5)).resolve(X) != kernel


def test_a_centre_stays_where_it_is():
    kernel = Centred(RBF()).resolve(X)
    assert (kernel.resolve(X + 1)(X, X) == kernel(X, X)).all()
    X_later = X.copy()
    kernel = Centred(Linear()).resolve(X_later)
    before = kernel(X, X)
    X_later[:] = 0.0
    assert (kernel(X, X) == before).all()


@pytest.mark.parametrize("kernel", [Product((Centred(RBF()), Centred(Laplace())), ((0,), (1,)), 1.0),
                                    Centred(RBF(0.3)) + Linear()])  # fmt: skip
def test_means_over_the_rows_are_taken_once_and_not_for_every_strip(kernel, monkeypatch):
    """Of a kernel with centred parts each call takes means over all rows: strip by strip that would be cubic."""
    taken = []
    means = centred._means
    monkeypatch.setattr(centred, "_means", lambda *given: taken.append(len(given[1])) or means(*given))

    def taken_of(n):
        taken.clear()
        found = Centred(kernel).resolve(np.random.default_rng(0).normal(size=(n, 2)))
        values = found(found.centre.rows[:5], found.centre.rows)
        shift = means(found.kernel, found.centre.rows, found.centre.rows, found.centre.weights)
        expected = found.kernel(found.centre.rows[:5], found.centre.rows) - shift[:5, None] - shift + shift.mean()
        np.testing.assert_allclose(values, expected, atol=1e-12)
        return len(taken)

    assert taken_of(700) == taken_of(100)
