"""Upper bounds as the vocabulary of resampling."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from svmstat.bounds import deletions, weighted

positive = st.floats(1e-3, 1e3)


@given(n=st.integers(1, 20), data=st.data())
def test_weighted_is_the_product(n, data):
    C = data.draw(positive)
    w = data.draw(arrays(float, n, elements=st.floats(0, 50)))
    L = data.draw(arrays(float, n, elements=positive))
    np.testing.assert_allclose(weighted(C, w, L), [C * a * b for a, b in zip(w, L, strict=True)], rtol=1e-15)


@given(n=st.integers(1, 20), data=st.data())
def test_deletions_change_one_entry_each(n, data):
    weights = data.draw(arrays(float, n, elements=positive))
    upper = 2.0 * weights
    rows = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=8)), dtype=np.intp)
    copies = np.minimum(weights[rows], 1.0)
    uppers = deletions(upper, weights, rows, copies)
    assert uppers.shape == (len(rows), n)
    for q, k in enumerate(rows):
        np.testing.assert_array_equal(np.delete(uppers[q], k), np.delete(upper, k))
        assert uppers[q, k] == pytest.approx(2.0 * (weights[k] - copies[q]), abs=1e-12)
    assert (uppers >= 0).all()


def test_the_whole_weight_leaves_exactly_nothing():
    weights = np.array([0.1, 0.3, 7.0, 1 / 3])
    uppers = deletions(0.7 * weights, weights, np.arange(4), weights)
    np.testing.assert_array_equal(uppers.diagonal(), 0.0)


def test_nothing_taken_leaves_the_bound_as_it_is():
    weights = np.array([0.1, 0.3, 7.0, 1 / 3])
    upper = 0.7 * weights
    np.testing.assert_array_equal(deletions(upper, weights, np.arange(4), np.zeros(4)), np.tile(upper, (4, 1)))


def test_the_bounds_given_are_not_changed():
    upper, weights = np.ones(3), np.ones(3)
    deletions(upper, weights, np.array([1]), np.ones(1))
    np.testing.assert_array_equal(upper, 1.0)
