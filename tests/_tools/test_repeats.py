"""Distinct rows: found exactly, and in an order that rounding does not decide."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmstat import svm
from svmstat._tools.repeats import distinct_rows
from svmstat.machine import group_rows

SEEDS = st.integers(0, 2**32 - 1)


def tables(seed, n=30, q=3):
    """Rows of few values, labels and weights."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, q)) / 3.0
    return X, rng.integers(0, 3, n), rng.integers(1, 4, n).astype(float), rng


@given(SEEDS)
def test_copies_are_those_of_all_digits(seed):
    X, labels, w, rng = tables(seed)
    X[rng.random(X.shape) < 0.3] *= 1.0 + 2.0**-52
    found = distinct_rows(X, w, labels)
    keys = [(*row, label) for row, label in zip((X + 0.0).tolist(), labels, strict=True)]
    assert len(found.first) == len(set(keys))
    for row, key in enumerate(keys):
        assert keys[found.first[found.of_row[row]]] == key
        assert found.first[found.of_row[row]] == keys.index(key)
    np.testing.assert_array_equal(found.weights, [sum(w[found.of_row == g]) for g in range(len(found.first))])


@given(SEEDS)
def test_rows_that_differ_in_the_label_alone_follow_each_other(seed):
    X, labels, w, rng = tables(seed)
    X[rng.random(X.shape) < 0.3] *= 1.0 + 2.0**-52
    groups = group_rows(X, labels, w)
    at = [tuple(row) for row in (X[groups.first] + 0.0).tolist()]
    np.testing.assert_array_equal(groups.point, [at.index(each) for each in at])


@given(SEEDS)
def test_the_order_is_that_of_the_values_in_any_order_of_the_rows(seed):
    X, labels, w, rng = tables(seed)
    moved = rng.permutation(len(X))
    one, other = distinct_rows(X, w, labels), distinct_rows(X[moved], w[moved], labels[moved])
    np.testing.assert_array_equal(X[one.first], X[moved][other.first])
    np.testing.assert_array_equal(X[one.first], X[one.first][np.lexsort(X[one.first].T[::-1])])


@given(SEEDS)
def test_rounding_does_not_decide_the_order(seed):
    """Columns that are symmetric up to rounding tie in one processor's digits and not in those of another."""
    rng = np.random.default_rng(seed)
    month = rng.integers(1, 13, 60)
    X = np.column_stack([np.abs(np.arange(12) - 5.5), np.cos(np.arange(12.0)), np.sin(np.arange(12.0))])
    w = np.ones(60)
    one, other = (
        distinct_rows((X * (1.0 + rng.uniform(-4.0, 4.0, X.shape) * 2.0**-52))[month - 1], w) for _ in range(2)
    )
    np.testing.assert_array_equal(one.first, other.first)
    np.testing.assert_array_equal(one.of_row, other.of_row)


def test_no_columns_and_no_rows():
    found = distinct_rows(np.empty((3, 0)), np.ones(3), np.array([1, 0, 1]))
    np.testing.assert_array_equal(found.of_row, [1, 0, 1])
    assert distinct_rows(np.empty((0, 2)), np.ones(0)).first.size == 0


@pytest.mark.parametrize("column", [[0.0, -0.0, 0.0], [5e-324, 0.0, 5e-324], [1e308, -1e308, 1e308]], ids=str)
def test_values_at_the_ends(column):
    found = distinct_rows(np.array(column)[:, None], np.ones(3))
    assert len(found.first) == len(set(column))


def test_infinite_values_are_values():
    """As those of rows that cannot be left out: numpy had warned of them."""
    rows = np.array([[1.0, np.inf, 0.5], [1.0, 0.5, 0.5], [1.0, np.inf, 0.5], [1.0, -np.inf, 3.0], [1.0, np.inf, 0.25]])
    found = distinct_rows(rows, np.ones(5))
    assert len(found.first) == 4 and found.of_row[0] == found.of_row[2]
    np.testing.assert_array_equal(rows[found.first][found.of_row], rows)


def test_replicates_of_one_seed_do_not_hang_on_the_last_digit():
    """As of months 2 and 11 in cc(month), which have one value in its first column but for that of the processor."""
    rng = np.random.default_rng(0)
    at, y = rng.integers(0, 10, 100), rng.random(100) < 0.4
    month = np.column_stack([np.abs(np.arange(10) - 4.5) / 3.0, np.sin(np.arange(10.0))])
    found = []
    for k in range(2):
        last = np.array([1.0, -1.0])[(np.arange(10) + k) % 2]
        data = pd.DataFrame((month * (1.0 + last[:, None] * 2.0**-52))[at], columns=["a", "b"]).assign(y=y)
        fit = svm("y ~ a + b", data, scale=False, calibration="insample")
        found.append(fit.get_prediction(B=39, rng=1).summary_frame())
    pd.testing.assert_frame_equal(*found, rtol=1e-6)
