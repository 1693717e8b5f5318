"""Rows, blocks, the gram matrix, its diagonal and the cross-gram matrix are the same numbers, bit for bit."""

import pickle

import numpy as np
import pytest

from svmstat.kernels import RBF, Linear, Polynomial, Spline, gram, pairs
from svmstat.kernels.gamma import _count

SIZES = [1, 2, 31, 255, 256, 257, 600]  # around the sides of a tile, and more than two of them

KERNELS = {
    "linear": Linear(),
    "rbf": RBF(0.7),
    "poly": Polynomial(0.3, 1.0, 3),
    "spline": Spline(np.full(5, -1.5), np.full(5, 1.5)),
}

each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def points(n, p=5):
    return np.random.default_rng(n).normal(size=(n, p))


@each_kernel
@pytest.mark.parametrize("n", SIZES)
def test_every_way_to_a_value_gives_the_same_bits(kernel, n):
    X = points(n)
    K = gram(kernel, X)
    assert K.shape == (n, n)
    assert K.flags.c_contiguous
    assert (K == K.T).all()
    assert (kernel(X, X) == K).all()
    assert (kernel.diagonal(X) == K.diagonal()).all()

    bound, some = kernel.bind(X), np.random.default_rng(0).integers(0, n, size=min(n, 70))
    assert (kernel.rows(X, some) == K[some]).all()
    assert (kernel.rows(X, slice(0, n, 3)) == K[::3]).all()
    assert (bound.block(some, some[:9]) == K[np.ix_(some, some[:9])]).all()
    assert (bound.block(some, np.arange(n)) == K[some]).all()
    assert (bound.block([0], slice(0, n, 2)) == K[:1, ::2]).all()
    assert bound.block(some, some[:0]).shape == (some.size, 0)


@each_kernel
def test_a_pair_does_not_depend_on_the_other_rows(kernel):
    X, Z = points(20), points(700)
    K = kernel(X, Z)
    assert K.flags.c_contiguous
    assert all(kernel(X[i : i + 1], Z[j : j + 1])[0, 0] == K[i, j] for i, j in [(0, 0), (7, 499), (19, 699)])
    assert (kernel(Z, X) == K.T).all()


@each_kernel
def test_any_layout_and_type_of_the_rows(kernel):
    X = np.round(points(40) * 4)
    K = gram(kernel, X)
    frozen = X.copy()
    frozen.flags.writeable = False
    for other in (np.asfortranarray(X), X.astype(int), np.repeat(X, 2, axis=0)[::2], frozen):
        assert (gram(kernel, other) == K).all()
        assert (kernel(other, X) == K).all()


def test_bound_rows_do_not_follow_later_changes():
    X = points(10)
    bound = RBF(1.0).bind(X)
    before = bound.gram()
    X[:] = 0.0
    assert (bound.gram() == before).all()


@each_kernel
def test_pickling(kernel):
    bound = pickle.loads(pickle.dumps(kernel.bind(points(10))))
    assert (bound.gram() == gram(kernel, points(10))).all()


def test_each_loop_is_compiled_for_one_kind_of_arrays():
    X = points(300)
    frozen = X.T.copy().T
    frozen.flags.writeable = False
    for kernel in (*KERNELS.values(), RBF(1), Polynomial(1, 0, np.int32(2))):
        bound = kernel.bind(frozen)
        for array in (bound.points, bound.columns):  # as a process that maps them from a file has them
            array.flags.writeable = False
        bound.gram()
        bound.block(slice(0, 20, 2), slice(1, 300, 3))
        bound.block(np.arange(4), np.arange(7))
        bound.block(slice(0, 20, 2), slice(None))
        kernel(frozen, frozen[:, ::1])
        kernel(X[:1, :], X[:1])
    for loop in (pairs.squared_distances, pairs.products, pairs.powers, pairs.spline_sums, _count):
        assert len(loop.signatures) <= 1, loop
