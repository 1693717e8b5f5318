"""Upper bounds as the vocabulary of resampling."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from svmstat.errors import ArgumentError
from svmstat.objective.bounds import check_range, deletions, weighted

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


# What doubles can carry


@pytest.mark.parametrize(
    "factors",
    [
        {"C": 1e100, "weights": np.ones(2), "costs": np.ones(2)},
        {"C": 1e-100, "weights": np.ones(2), "costs": np.ones(2)},
        {"C": 1.0, "weights": np.array([1e-12, 1e12]), "costs": np.ones(2)},
        {"C": 1.0, "weights": np.array([1e-90, 1e90]), "costs": np.array([1e9, 1e-9])},
        {"C": 1e200, "weights": np.array([1e-150]), "costs": np.ones(1)},
    ],
)
def test_bounds_that_doubles_carry(factors):
    check_range(factors)


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ({"C": 1e308, "weights": np.ones(2)}, "C=1e+308 is not allowed: {} would be 1e+308, 1e+208 times too large."),
        ({"C": 1e-150, "weights": np.ones(2)}, "C=1e-150 is not allowed: {} would be 1e-150, 1e+50 times too small."),
        (
            {"C": 10.0, "weights": np.array([1.0, 1e120])},
            "w = 1e+120, from weights, is not allowed: {} would be 1e+121, 1e+21 times too large.",
        ),
        (
            {"C": 1e300, "weights": np.array([1.0, 1e300])},
            "C=1e+300 is not allowed: {} would be 1e+600, 1e+500 times too large.",
        ),
        (
            {"C": 1.0, "weights": np.ones(2), "costs": np.array([1.0, 0.0])},
            "L = 0, from costs, is not allowed: {} would be 0, which is no cost at all.",
        ),
        (
            {"C": 1e-40, "weights": np.ones(2), "class_weight": np.array([1.0, 1e-80])},
            "L = 1e-80, from class_weight, is not allowed: {} would be 1e-120, 1e+20 times too small.",
        ),
    ],
)
def test_bounds_that_doubles_do_not_carry(factors, message):
    with pytest.raises(ArgumentError, match=re.escape(message.format("an upper bound C · w · L"))) as caught:
        check_range(factors)
    assert "Bounds must be between 1e-100 and 1e+100, for their products" in str(caught.value)
