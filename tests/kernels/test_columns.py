"""A kernel on fewer columns, or on others: that of whole rows where the rest is constant, and that of a new fit."""

import numpy as np
import pandas as pd
import pytest

from svmstat import svm, tune
from svmstat.errors import ArgumentError, UnavailableError
from svmstat.kernels import (
    RBF,
    Centred,
    Laplace,
    Linear,
    Nystrom,
    Polynomial,
    Product,
    Spline,
    on_fewer_columns,
    on_other_columns,
)

X = np.random.default_rng(0).normal(size=(12, 4))
KERNELS = {
    "rbf": RBF(gamma=0.3),
    "scaled laplace": 2.0 * Laplace(gamma=0.3),
    "sum": Linear() + 0.5 * RBF(gamma=0.2),
    "some columns": Linear().on(1, 3) + RBF(gamma=0.2).on(0, 2, 3),
    "polynomial": Polynomial(gamma=0.5, degree=2, coef0=1.0).on(2, 3),
    "product": Product((RBF(gamma=0.3), 2.0 * Laplace(gamma=0.2), Linear()), ((1,), (3, 0), (2,)), plus=0.5),
    "product in a sum": 3.0 * Product((RBF(gamma=0.3), Linear() + RBF(gamma=0.1)), ((0, 1), (2, 3))) + Linear(),
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
        (Product((RBF(gamma=0.2), Linear()), ((0,), (1,))), [0, 2], None),
        (Product((RBF(gamma=0.2), Linear()), ((0,), (1,))), [1, 2], Product((RBF(gamma=0.2), Linear()), ((), (0,)))),
        (Product((RBF(gamma=0.2), Linear()), ((0,), (1,)), 1.0), [2], None),
    ],
)
def test_parts_without_columns_vanish(kernel, kept, expected):
    assert on_fewer_columns(kernel, kept) == expected


def test_a_factor_that_is_nothing_without_its_columns_is_told():
    product = Product((Centred(RBF(gamma=0.2)), RBF(gamma=0.2)), ((0,), (1,))).resolve(X)
    with pytest.raises(UnavailableError, match=r"cannot do without all columns of Centred\(RBF\(gamma=0.2\)\)"):
        on_fewer_columns(product, [1, 2, 3])


@pytest.mark.parametrize("term", ["te(a, b)", "ti(a, b)", "s(a, by=g)"])
def test_terms_that_are_products_are_dropped_whole(term):
    frame = data().assign(g=np.arange(50) % 2 == 0)
    fit, smaller = (svm(formula, frame) for formula in (f"y ~ s(c) + {term}", "y ~ s(c)"))
    dropped = fit.drop1([term])
    assert dropped.table.loc[term, "delta_score"] == pytest.approx(smaller.loo().score - fit.loo().score, abs=TOL)


def test_a_product_without_a_term_is_the_kernel_of_the_columns_left():
    """A product of kernels of one width is the kernel of all their columns."""
    factors = Product((RBF(gamma=0.4), RBF(gamma=0.4)), ((0,), (1,)))
    fits = [svm("y ~ a + b + c", data(), kernel=kernel) for kernel in (factors, RBF(gamma=0.4).on(0, 1))]
    tables = [fit.drop1().table for fit in fits]
    pd.testing.assert_frame_equal(*tables, atol=TOL)
    assert tables[0].loc["c", "delta_score"] == 0.0


def test_a_function_of_the_user_is_called_with_the_columns_of_each_fit():
    def first_two(X, Z):
        return X[:, :2] @ Z[:, :2].T

    def three(X, Z):
        return (X * [1.0, 2.0, 3.0]) @ Z.T

    tests = svm("y ~ a + b + c", data(), kernel=first_two).drop1()
    assert "first_two() is called with the columns of each fit" in str(tests.summary()).replace("\n", " ")
    with pytest.raises(ArgumentError, match=r"kernel=three failed on rows of the data: ValueError: .*\(2 columns\)"):
        svm("y ~ a + b + c", data(), kernel=three).drop1()


LANDMARKS = Nystrom(RBF(gamma=0.4), landmarks=500)
LEARNT = {
    "spline": (Spline(), Spline()),
    "spline on two": (Spline().on("a", "b"), Spline().on("b")),
    "spline on two, linear": (
        Spline().on("a", "b") + 0.5 * Linear().on("c"),
        Spline().on("b") + 0.5 * Linear().on("c"),
    ),
    "centred": (Centred(RBF(gamma=0.4)), Centred(RBF(gamma=0.4))),
    "landmarks": (LANDMARKS, LANDMARKS),
    "landmarks of a spline": (Nystrom(Spline(), landmarks=500), Nystrom(Spline(), landmarks=500)),
    "landmarks on two": (LANDMARKS.on("a", "b") + Linear().on("c"), LANDMARKS.on("b") + Linear().on("c")),
}
"""Kernels that have learnt numbers of each column, or rows; without the first column."""

TOL = 1e-6  # scores of two certified fits of one problem


def data(n=50):
    rng = np.random.default_rng(3)
    found = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    return found.assign(y=found["a"] + found["c"] ** 2 + rng.normal(size=n) > 1.0)


@pytest.mark.parametrize("name", LEARNT)
def test_a_term_that_is_dropped_or_added_is_that_of_a_new_fit(name):
    kernel, stays = LEARNT[name]
    fit, smaller = svm("y ~ a + b + c", data(), kernel=kernel), svm("y ~ b + c", data(), kernel=stays)
    expected = smaller.loo().score - fit.loo().score
    assert fit.drop1("a").table.loc["a", "delta_score"] == pytest.approx(expected, abs=TOL)
    if kernel == stays:
        assert smaller.add1("a").table.loc["a", "delta_score"] == pytest.approx(-expected, abs=TOL)


@pytest.mark.parametrize("kernel", [Spline(), Nystrom(RBF(gamma=0.4), landmarks=500), Centred(RBF(gamma=0.4))])
def test_the_best_of_a_search_is_made_again_from_other_columns_and_rows(kernel):
    best = tune("y ~ a + b", data(), kernel=kernel, C=[2.0], calibration="insample").best
    fit = svm("y ~ a + b", data(), kernel=kernel, C=2.0, calibration="insample")
    for changes in ({"formula": ". ~ . + c"}, {"formula": ". ~ . - b"}, {"data": data(70)}, {}):
        again, expected = best.update(**changes), fit.update(**changes)
        assert again.loo().score == pytest.approx(expected.loo().score, abs=TOL)


def test_a_range_that_was_given_is_kept():
    X, weights = np.array([[0.0], [2.0], [5.0]]), np.array([1.0, 1.0, 0.0])
    for given, expected in ((Spline(), Spline()), (Spline([0.0], [2.0]), Spline()), (Spline([-1.0], [9.0]), None)):
        found = on_other_columns(given.resolve(X, weights), X, weights)
        assert found == (given if expected is None else expected)
    fit = svm("y ~ a", data(), kernel=Spline([-9.0], [9.0]))
    with pytest.raises(ArgumentError, match="lower has 1 numbers, but the spline kernel has 2 columns"):
        fit.add1("b")


@pytest.mark.parametrize("kernel", [RBF(gamma=1.0), Linear(), Nystrom(RBF(gamma=1.0)).resolve(X[:, :2])])
def test_rows_of_other_columns_are_refused(kernel):
    with pytest.raises(ArgumentError, match="of two rows with the same columns: X and Z have"):
        kernel(X[:, :3], X[:, :2])
