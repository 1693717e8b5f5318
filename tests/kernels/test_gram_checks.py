"""Gram matrices from outside."""

import warnings

import numpy as np
import pytest

from svmstat.errors import DataError, DesignWarning
from svmstat.kernels import RBF, check_gram, clearly_indefinite, gram, warn_if_indefinite


def tanh(n):
    """A "sigmoid kernel", indefinite at this slope."""
    X = np.random.default_rng(0).normal(size=(n, 3))
    return np.tanh(X @ X.T - 1)


def matrix(n=600):
    return gram(RBF(0.5), np.random.default_rng(1).normal(size=(n, 3)))


def test_a_good_matrix_is_not_copied():
    K = matrix()
    assert check_gram(K) is K


def test_rounding_is_made_symmetric_in_a_copy():
    K = matrix()
    K[3, 590] *= 1 + 1e-12
    before = K.copy()
    fixed = check_gram(K)
    assert np.array_equal(K, before)
    assert (fixed == fixed.T).all()
    assert fixed[3, 590] == 0.5 * K[3, 590] + 0.5 * K[590, 3]


@pytest.mark.parametrize("given", [[[1, 0], [0, 1]], np.eye(3, dtype=int), np.asfortranarray(np.eye(4))])
def test_other_forms_are_converted(given):
    checked = check_gram(given)
    assert checked.dtype == float
    assert checked.flags.c_contiguous
    assert (checked == np.eye(len(checked))).all()


def changed(i, j, value):
    K = matrix()
    K[i, j] = value
    return K


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones((3, 4)), r"data is not a gram matrix: it must be square, got shape \(3, 4\)"),
        (np.ones(4), r"must be square, got shape \(4,\)"),
        (np.ones((2, 2, 2)), r"got shape \(2, 2, 2\)"),
        (np.empty((0, 0)), r"got shape \(0, 0\)"),
        (1.0, r"got shape \(\)"),
        ([[1, "a"], ["a", 1]], "data is not a gram matrix of numbers"),
        ([[1, 2], [2]], "data is not a gram matrix of numbers"),
        (changed(7, 560, np.nan), r"data must be finite, but entry \(7, 560\) is nan"),
        (changed(300, 2, -np.inf), r"entry \(300, 2\) is -inf"),
        (changed(559, 290, 5.0), r"symmetric matrix: entry \(290, 559\) is .*, but \(559, 290\) is 5.0"),
        (changed(0, 599, 1e-3), r"entry \(0, 599\) is 0.001, but"),
        (1e200 * matrix(), r"data has values of about 1e\+200 on these data, .* multiply the matrix by a number"),
        (1e-200 * matrix(), "data has values of about 1e-200 on these data"),
    ],
)
def test_what_is_not_a_gram_matrix(given, message):
    with pytest.raises(DataError, match=message):
        check_gram(given)


def test_the_name_is_in_the_message():
    with pytest.raises(DataError, match="newdata is not"):
        check_gram(np.ones((1, 2)), name="newdata")


@pytest.mark.parametrize("n", [50, 1200])
def test_indefinite(n):
    assert clearly_indefinite(tanh(n))
    assert not clearly_indefinite(matrix(n))
    assert clearly_indefinite(-np.eye(n))
    assert not clearly_indefinite(np.zeros((n, n)))
    x = np.random.default_rng(0).normal(size=(n, 2))
    assert not clearly_indefinite(x @ x.T)  # of rank two, with eigenvalues that are zero up to rounding


@pytest.mark.parametrize("n", [50, 1200])
def test_what_is_indefinite_but_for_a_given_sum(n):
    points = np.random.default_rng(0).normal(size=(n, 2))
    distances = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    for K in (-distances, -(distances**2), matrix(n) - 5.0):
        assert clearly_indefinite(K) and not clearly_indefinite(K, sum_given=True)
    for K in (tanh(n), -np.eye(n), distances):
        assert clearly_indefinite(K, sum_given=True)
    assert not clearly_indefinite(matrix(n) + 1e9, sum_given=True)


def test_the_warning():
    with pytest.warns(DesignWarning, match="clearly negative eigenvalues") as record:
        warn_if_indefinite(tanh(50))
    assert record[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_indefinite(matrix(50))
