"""Rows, blocks, the gram matrix, its diagonal and the cross-gram matrix are the same numbers, bit for bit.

And kernels are values: added, scaled and put on columns they are equal where their numbers are, and print as written.
"""

import pickle

import numpy as np
import pandas as pd
import pytest

from svmstat.errors import ArgumentError, ArgumentTypeError
from svmstat.kernels import (
    RBF,
    Centred,
    CustomKernel,
    Laplace,
    Linear,
    Normed,
    Nystrom,
    On,
    Polynomial,
    Precomputed,
    Product,
    Scaled,
    Spline,
    Sum,
    gram,
    pairs,
)
from svmstat.kernels.gamma import _count

SIZES = [1, 2, 31, 255, 256, 257, 600]  # around the sides of a tile, and more than two of them

KERNELS = {
    "linear": Linear(),
    "rbf": RBF(0.7),
    "poly": Polynomial(0.3, 1.0, 3),
    "spline": Spline(np.full(5, -1.5), np.full(5, 1.5)),
    "laplace": Laplace(0.4),
    "sum": Linear() + 0.3 * RBF(0.7) + Spline(np.full(5, -1.5), np.full(5, 1.5)),
    "scaled": 0.3 * Polynomial(0.3, 1.0, 3),
    "on": RBF(0.7).on(3, 1),
    "additive": 0.1 * RBF(0.7).on(0) + 0.7 * (Linear() + Laplace(0.1)).on(1, 4) + 1.3 * Spline([0.0], [1.0]).on(2),
}
NAMES = {"Sum": Sum, "Scaled": Scaled, "On": On, "Centred": Centred, "Linear": Linear, "RBF": RBF, "Laplace": Laplace,
         "Polynomial": Polynomial, "Spline": Spline, "Precomputed": Precomputed}  # fmt: skip

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


@pytest.mark.parametrize(
    "kernel",
    [
        *KERNELS.values(),
        RBF("median"),
        2 * RBF("scale") + Normed(Linear()),
        Centred(RBF(1.0)),
        Product((RBF("scale"), Linear()), ((0,), (1, 2))),
        Nystrom(RBF("scale"), 5),
        CustomKernel(lambda a, b: (a @ b.T + 1.0) ** 2),
    ],
    ids=str,
)
def test_any_form_of_the_rows_that_are_learnt_from(kernel):
    """A function of the user's gets doubles too: in integers of 8 bits 12100 is 68."""
    X = np.round(points(20) * 4)
    learnt = kernel.resolve(X)
    K = learnt(X, X)
    for other in (X.astype(np.int8), X.tolist(), pd.DataFrame(X), np.ma.masked_array(X), X.astype(object)):
        again = kernel.resolve(other)
        assert (again(other, X) == K).all() and (again(X, other) == K).all()


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
    for kernel in (*KERNELS.values(), RBF(1), Polynomial(1, 0, np.int32(2)), Centred(Laplace(1.0)).resolve(X)):
        bound = kernel.bind(frozen)
        if hasattr(bound, "points"):
            for array in (bound.points, bound.columns):  # as a process that maps them from a file has them
                array.flags.writeable = False
        bound.gram()
        bound.block(slice(0, 20, 2), slice(1, 300, 3))
        bound.block(np.arange(4), np.arange(7))
        bound.block(slice(0, 20, 2), slice(None))
        kernel(frozen, frozen[:, ::1])
        kernel(X[:1, :], X[:1])
    for loop in (pairs.distances, pairs.products, pairs.powers, pairs.spline_sums, pairs.weighted_sums, _count):
        assert len(loop.signatures) <= 1, loop


# Kernels as values

X = points(60)
A, B, C = RBF(0.7), Linear(), Laplace(0.2)


def test_a_sum_is_the_sum_of_the_gram_matrices():
    expected = gram(A, X) + gram(B, X) + gram(C, X)
    for kernel in (A + B + C, A + (B + C), Sum((A, B, C)), Sum([Sum([A]), B, C]), sum([A, B, C])):
        np.testing.assert_array_equal(gram(kernel, X), expected)
        assert kernel == Sum((A, B, C)) and hash(kernel) == hash(Sum((A, B, C)))


def test_a_scaled_kernel_is_the_scaled_gram_matrix():
    for kernel in (0.3 * A, A * 0.3, np.float64(0.3) * A, A * np.float32(0.3).item(), Scaled(0.3, A)):
        np.testing.assert_allclose(gram(kernel, X), 0.3 * gram(A, X), rtol=1e-7)
    np.testing.assert_array_equal(gram(0.3 * A, X), 0.3 * gram(A, X))
    np.testing.assert_array_equal(gram(0 * A, X), np.zeros((60, 60)))
    assert 2 * (0.25 * A) == Scaled(2, Scaled(0.25, A)) == Scaled(0.5, A)
    assert (2 * B).kernel == B and (2 * B).factor == 2.0


def test_twice_a_kernel_is_the_kernel_and_itself():
    np.testing.assert_array_equal(gram(B + B, X), gram(2 * B, X))
    np.testing.assert_array_equal((A + A)(X, X[:9]), (2 * A)(X, X[:9]))


def test_a_kernel_on_columns_is_the_kernel_of_these_columns():
    slices = {"x": slice(0, 2), "g": slice(2, 5), "g[a]": slice(2, 3)}
    for columns, at in [(("x",), [0, 1]), (("g[a]", "x"), [0, 1, 2]), ((4, 0, 4), [0, 4]), (("g", 3), [2, 3, 4])]:
        kernel = A.on(*columns).resolve(X, columns=slices)
        assert kernel.at == tuple(at)
        np.testing.assert_array_equal(gram(kernel, X), gram(A, X[:, at]))
        np.testing.assert_array_equal(kernel(X, X[:7]), A(X[:, at], X[:7, at]))


def test_a_kernel_on_columns_learns_from_these_columns():
    wide = X * [1, 1, 100, 1, 1]
    found = (RBF("median").on(0, 1) + Spline().on(2)).resolve(wide)
    inner, spline = RBF("median").resolve(wide[:, :2]), Spline().resolve(wide[:, 2:3])
    np.testing.assert_array_equal(gram(found, wide), gram(inner, wide[:, :2]) + gram(spline, wide[:, 2:3]))


def test_names_are_looked_up_anew_where_a_resolved_kernel_is_used_again():
    kernel = B.on("z").resolve(X, columns={"x": slice(0, 1), "z": slice(1, 2)})
    assert kernel.resolve(X).at == (1,)
    assert kernel.resolve(X, columns={"z": slice(0, 1), "x": slice(1, 2)}).at == (0,)


def test_every_part_is_resolved_with_the_weights():
    weights = np.arange(60) % 3 * 1.0
    found = (Linear() + 0.5 * RBF("scale") + Laplace("median").on(1, 2)).resolve(X, weights)
    parts = [Linear(), 0.5 * RBF("scale").resolve(X, weights), Laplace("median").resolve(X[:, 1:3], weights).on(1, 2)]
    assert found == Sum([*parts[:2], parts[2].resolve(X)])
    assert found.unresolved == ()
    assert found.resolve(X * 2) == found


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (RBF(), "RBF(gamma='scale')"),
        (Polynomial(0.5, degree=2), "Polynomial(gamma=0.5, coef0=0.0, degree=2)"),
        (Spline([0.1], [np.float64(2)]), "Spline(lower=(0.1,), upper=(2.0,))"),
        (Linear() + 1 / 3 * RBF(np.float32(0.5)), "Linear() + 0.3333333333333333 * RBF(gamma=0.5)"),
        (2 * (Linear() + Laplace(1)), "2.0 * (Linear() + Laplace(gamma=1.0))"),
        (0.5 * RBF("median").on("x", 3), "0.5 * RBF(gamma='median').on('x', 3)"),
        ((0.5 * RBF("median")).on("x"), "(0.5 * RBF(gamma='median')).on('x')"),
        ((Linear() + RBF(2)).on("a:b") + 3 * Centred(Linear()), None),
        (Centred(Linear() + RBF(1.0)), "Centred(Linear() + RBF(gamma=1.0))"),
        (Precomputed(), "Precomputed()"),
    ],
)
def test_what_is_printed_makes_the_kernel(kernel, text):
    again = eval(repr(kernel), dict(NAMES))
    assert again == kernel and hash(again) == hash(kernel)
    assert text is None or repr(kernel) == text
    assert pickle.loads(pickle.dumps(kernel)) == kernel


def test_a_summary_shows_six_digits_and_nothing_that_is_long():
    kernel = 1 / 3 * RBF(2 / 3).on("x") + Spline().resolve(X)
    assert str(kernel) == "0.333333 * RBF(gamma=0.666667).on('x') + Spline()"


def test_kernels_with_other_numbers_are_other_kernels():
    different = [A, RBF(0.8), Laplace(0.7), 0.5 * A, A.on(1), A.on(2), A + B, B + A, B, Centred(A), CustomKernel(gram)]
    assert len(set(different)) == len(different)
    assert all((one == other) == (one is other) for one in different for other in different)


def test_kernels_are_frozen():
    for kernel, name in ((A, "gamma"), (2 * A, "factor"), (A + B, "kernels"), (A.on(1), "columns")):
        with pytest.raises(AttributeError):
            setattr(kernel, name, 1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: -1 * A, r"factor=-1 is not allowed: it must be a finite number >= 0"),
        (lambda: A * np.inf, "factor=inf is not allowed: it must be a finite number"),
        (lambda: 1e200 * (1e200 * A), "factor=inf is not allowed"),
        (lambda: Scaled(True, A), "factor=True is not allowed"),
        (lambda: Scaled(2, "rbf"), r"kernel='rbf' is not allowed: it must be a kernel such as RBF\(\)"),
        (lambda: Sum([]), r"kernels=\(\) is not allowed: it must be one kernel or several"),
        (lambda: Sum(A), r"kernels=RBF\(gamma=0.7\) is not allowed: it must be a sequence of kernels"),
        (lambda: Sum([A, gram]), r"kernels\[1\]=<function gram .* is not allowed: it must be a kernel such as RBF\(\)"),
        (lambda: A + Precomputed(), r"Precomputed\(\) cannot be a part of another kernel"),
        (lambda: 2 * Precomputed(), r"Precomputed\(\) cannot be a part of another kernel"),
        (A.on, r"columns=\(\) is not allowed: it must be one name or several"),
        (lambda: A.on(1.5), "columns=1.5 is not allowed: it must be names of terms or columns"),
        (lambda: A.on(True), "columns=True is not allowed"),
        (lambda: (A.on("x") + B).on("z"), "is a kernel on some columns, and cannot be put on others"),
        (
            lambda: A.on("x").resolve(X),
            "columns='x' is not allowed: it must be a position: columns have no names",
        ),
        (lambda: A.on(5).resolve(X), "columns=5 is not allowed: it must be a position from 0 to 4"),
        (lambda: A.on(-1), "columns=-1 is not allowed: it must be names of .* or positions from 0 on"),
        (
            lambda: A.on("lan").resolve(X, columns={"lon": slice(0, 1), "depth": slice(1, 2)}),
            r"columns='lan' is not allowed: it must be one of 'lon', 'depth'; did you mean 'lon'\?",
        ),
        (
            lambda: A.on("z").resolve(X, columns={"z": slice(1, 1)}),
            r"RBF\(gamma=0.7\).on\('z'\) has no columns: those of 'z' are constant",
        ),
    ],
)
def test_what_cannot_be_made(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_names_of_numpy_are_names():
    assert repr(A.on(*np.array(["x", "z"]))) == repr(A.on("x", "z"))


def test_a_product_says_where_products_are():
    with pytest.raises(ArgumentTypeError, match=r"te\(\) and ti\(\) of a formula, and Product"):
        A * A


@pytest.mark.parametrize("make", [lambda: A + 1, lambda: 1 + A, lambda: A + gram, lambda: A * A, lambda: A * "2",
                                  lambda: np.ones(3) * A, lambda: A * True])  # fmt: skip
def test_what_is_neither_a_sum_nor_a_multiple(make):
    with pytest.raises(TypeError, match=r"unsupported operand|can't multiply"):
        make()


@pytest.mark.parametrize(
    ("kernel", "names"),
    [
        (RBF(), "gamma"),
        (Linear() + 2 * Laplace("median"), "gamma"),
        (Spline(), "lower and upper"),
        (Spline(lower=[0.0] * 5), "upper"),
        (Linear().on("x"), "columns"),
        (Centred(Linear()), "centre"),
        (Centred(RBF()).on("x"), "columns and centre and gamma"),
    ],
)
def test_a_kernel_that_has_seen_no_data_has_no_values(kernel, names):
    for use in (lambda: kernel(X, X), lambda: kernel.bind(X), lambda: gram(kernel, X)):
        with pytest.raises(ArgumentError, match=rf"has not learnt its {names} yet: kernel.resolve\(X\) does so"):
            use()


def test_a_sum_with_a_function_is_symmetric_and_checked():
    def almost(X, Z):
        return X @ Z.T * (1 + 1e-12 * X[:, :1])

    X = points(600)
    kernel = RBF(0.7) + 2 * CustomKernel(almost)
    K = gram(kernel, X)
    assert (K == K.T).all()
    np.testing.assert_allclose(K, gram(RBF(0.7), X) + 2 * gram(CustomKernel(almost), X), rtol=1e-9, atol=1e-10)
    assert kernel.may_be_indefinite and not (RBF(0.7) + Linear()).may_be_indefinite
