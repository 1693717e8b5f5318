"""Kernels of terms: centred, of one size, sums and products of known kernels."""

import numpy as np
import pytest

from svmstat.errors import ArgumentError, DataError
from svmstat.formula.smooth import TermColumns
from svmstat.kernels import RBF, Centred, Linear, Normed, Precomputed, Product, Spline, additive_kernel, gram
from svmstat.kernels.additive import theta_of

TOLERANCE = 1e-12  # sums of a few hundred terms of size one


def term(kind="s", parts=((0,),), by=None, kernel=None, gamma=None, name=None):
    return TermColumns(name or f"{kind}{parts}{by}", kind, parts, by, kernel, gamma, (), False)


ALL = (
    term(),
    term(parts=((0,), (1,))),
    term(parts=((1,),), kernel="spline"),
    term(parts=((1,),), gamma=3.0),
    term("linear", ((0, 2),)),
    term("te", ((0,), (1,))),
    term("ti", ((0,), (1,))),
    term("ti", ((0,), (1,)), by=(2,)),
    term(by=(2,)),
    term(by=(2, 3), kernel="spline"),
)


@pytest.fixture
def X():
    rng = np.random.default_rng(2)
    groups = np.eye(2)[rng.integers(0, 2, 40)]
    return np.column_stack([rng.normal(size=(40, 2)), groups])


@pytest.fixture
def w():
    return np.resize([1.0, 2.0, 0.0, 0.5], 40)


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.name)
def test_each_kernel_is_centred_and_of_size_one_by_weight(each, X, w):
    kernel = additive_kernel([each], RBF()).resolve(X, w)
    K = gram(kernel, X)
    np.testing.assert_allclose(K @ w, 0.0, atol=TOLERANCE * w.sum())
    np.testing.assert_allclose(w @ K.diagonal() / w.sum(), 1.0, rtol=TOLERANCE)
    np.testing.assert_allclose(K, kernel(X, X), atol=TOLERANCE)
    assert np.linalg.eigvalsh(K).min() > -1e-12 * len(X)


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.name)
def test_weights_are_repeats(each, X):
    w = np.resize([1, 2, 3], len(X))
    weighted = additive_kernel([each], RBF(0.7)).resolve(X, w.astype(float))
    plain = additive_kernel([each], RBF(0.7)).resolve(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(weighted(X, X), plain(X, X), atol=TOLERANCE)


def test_a_sum_is_that_of_its_terms(X):
    terms = (term(name="a"), term("linear", ((2, 3),), name="b"))
    both = additive_kernel(terms, RBF(1.0), {"b": 0.25}).resolve(X)
    single = [additive_kernel([each], RBF(1.0)).resolve(X) for each in terms]
    np.testing.assert_allclose(gram(both, X), gram(single[0], X) + 0.25 * gram(single[1], X), atol=TOLERANCE)
    np.testing.assert_array_equal(gram(both.with_theta((1.0, 0.0)), X), gram(single[0], X))


def test_te_is_the_sum_of_main_effects_and_ti(X):
    """(1 + a)(1 + b) = 1 + a + b + ab, of which centring takes the constant."""
    margins = [Normed(Centred(RBF(1.0))).on(k).resolve(X) for k in (0, 1)]
    inner = (Normed(Centred(RBF(1.0))),) * 2
    te = Centred(Product(inner, ((0,), (1,)), 1.0)).resolve(X)
    ti = Centred(Product(inner, ((0,), (1,)))).resolve(X)
    both = sum(each(X, X) for each in margins)
    np.testing.assert_allclose(te(X, X), both + ti(X, X), atol=TOLERANCE)


def test_the_product_with_the_levels_of_a_factor_is_zero_across_levels(X):
    kernel = Product((RBF(1.0), Linear()), ((0,), (2, 3)))
    same = X[:, None, 2] == X[None, :, 2]
    np.testing.assert_allclose(kernel(X, X), np.where(same, RBF(1.0)(X[:, :1], X[:, :1]), 0.0), atol=TOLERANCE)


def test_each_term_has_its_own_width_and_the_base_where_it_names_none(X):
    terms = (term(name="a"), term(gamma=3.0, name="b"), term(kernel="spline", name="c"), term(kernel="rbf", name="d"))
    inner = [each.kernel.kernel.kernel for each in additive_kernel(terms, RBF(2.0)).kernels]
    assert inner == [RBF(2.0), RBF(3.0), Spline(), RBF(2.0)]
    inner = [each.kernel.kernel.kernel for each in additive_kernel(terms, Spline()).kernels]
    assert inner == [Spline(), RBF(3.0), Spline(), RBF("scale")]


def test_terms_without_columns_are_left_out():
    terms = (term(parts=((),)), term(), term("ti", ((0,), ())), term("te", ((0,), ())), term(by=()))
    assert additive_kernel(terms, RBF()).names == ("s((0,),)None", "te((0,), ())None", "s((0,),)()")


@pytest.mark.parametrize(
    ("theta", "message"),
    [
        ({"c": 1.0}, "theta has no term 'c': the formula has 'a', 'b'"),
        ({"a": -1.0}, r"theta\['a'\]=-1.0 is not allowed: it must be a finite number >= 0"),
        ({"a": np.inf}, "must be a finite number >= 0"),
        ({"a": 0, "b": 0}, "above zero for one term at least"),
        ([1, 2], "a mapping of terms to numbers"),
    ],
)
def test_theta_that_are_refused(theta, message):
    with pytest.raises(ArgumentError, match=message):
        additive_kernel((term(name="a"), term(gamma=2.0, name="b")), RBF(), theta)


def test_kernels_that_are_refused(X):
    with pytest.raises(ArgumentError, match="it must be 'rbf' or 'spline' with a formula that has s"):
        additive_kernel((term(),), Linear())
    with pytest.raises(ArgumentError, match="has several columns, and a spline is of one"):
        additive_kernel((term(parts=((0,), (1,))),), Spline())
    with pytest.raises(ArgumentError, match="cannot be a part of another kernel"):
        Product((Precomputed(),), ((0,),))
    with pytest.raises(DataError, match="is the same in all rows"):
        Normed(Centred(Linear())).resolve(np.ones((4, 1)))
    for size in (-1, 0, np.inf, np.nan, True, "x"):
        with pytest.raises(ArgumentError, match=r"size=.* is not allowed: it must be a finite number > 0"):
            Normed(RBF(1.0), size=size)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((), ()), r"kernels=\(\) is not allowed: it must be one kernel or several"),
        ((RBF(), RBF()), "it must be one kernel or several"),
        (((RBF(), RBF()), ((0,),)), "it must be for each of the 2 kernels a tuple of positions from 0 on"),
        (((RBF(), RBF()), (0, 1)), "it must be for each of the 2 kernels a tuple of positions"),
        (((RBF(), RBF()), ((0,), ("b",))), "it must be for each of the 2 kernels a tuple of positions"),
        (((RBF(), RBF()), ((0,), (-1,))), "positions from 0 on"),
        (((RBF(), RBF()), ((0,), (1,)), -1.0), "plus=-1.0 is not allowed: it must be a finite number >= 0"),
    ],
)
def test_products_that_are_refused(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        Product(*arguments)


def test_a_product_on_a_column_that_there_is_not(X):
    with pytest.raises(
        ArgumentError, match=f"columns=7 is not allowed: it must be a position from 0 to {X.shape[1] - 1}"
    ):
        Product((RBF(), RBF()), ((0,), (7,))).resolve(X)


def test_what_is_not_resolved_says_so(X):
    kernel = additive_kernel((term(),), RBF())
    assert kernel.unresolved == ("size", "centre", "gamma")
    with pytest.raises(ArgumentError, match="has not learnt"):
        kernel(X, X)
    assert kernel.resolve(X).unresolved == ()
    assert str(kernel.resolve(X)) == "Additive(1 * s((0,),)None)"


def test_theta_of_names_that_differ_in_blanks_alone():
    names = ["s(Q('a b'))", "s(Q('ab'))"]
    assert theta_of(names, {"s(Q('a b'))": 5}) == {"s(Q('a b'))": 5.0}
    assert theta_of(names, {"s(Q('a b'))": 0, "s(Q('ab'))": 3}) == {"s(Q('a b'))": 0.0, "s(Q('ab'))": 3.0}
