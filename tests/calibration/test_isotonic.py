"""Pooled points against scikit-learn, and what must not matter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from svmstat.calibration.isotonic import isotonic, points_of

TOL = 1e-12  # sums of some hundred weights in another order

seeds = st.integers(0, 2**32 - 1)


def sample(seed, n=60, whole=False):
    """Values with ties, events and weights, some of them zero."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, rng.integers(1, 2 * n), n) / 7.0
    event = rng.random(n) < rng.random()
    w = rng.integers(0, 4, n).astype(float) if whole else rng.uniform(0, 3, n) * (rng.random(n) < 0.8)
    w[0] = 1.0
    return x, event, w


def fitted(x, event, w):
    """(n,) the fit at each row, NaN for the absent."""
    points = points_of(x, event, w)
    return np.append(isotonic(points.events, points.others), np.nan)[points.of_row]


@given(seed=seeds, n=st.integers(1, 80))
def test_it_is_scikit_learns(seed, n):
    x, event, w = sample(seed, n)
    used = w > 0
    expected = IsotonicRegression().fit_transform(x[used], event[used].astype(float), sample_weight=w[used])
    np.testing.assert_allclose(fitted(x, event, w)[used], expected, rtol=TOL, atol=TOL)
    assert np.isnan(fitted(x, event, w)[~used]).all()


@given(seed=seeds)
def test_whole_weights_are_repeats(seed):
    x, event, w = sample(seed, whole=True)
    count = w.astype(int)
    repeated = fitted(*(np.repeat(each, count) for each in (x, event)), np.ones(count.sum()))
    np.testing.assert_array_equal(np.repeat(fitted(x, event, w), count), repeated)


@given(seed=seeds)
def test_the_order_of_the_rows_and_the_direction_do_not_matter(seed):
    x, event, w = sample(seed, whole=True)
    p = fitted(x, event, w)
    order = np.random.default_rng(seed).permutation(len(x))
    np.testing.assert_array_equal(fitted(x[order], event[order], w[order]), p[order])
    np.testing.assert_allclose(fitted(-x, ~event, w), 1.0 - p, atol=TOL)


def test_rows_without_a_value_are_absent():
    x, event, w = sample(5)
    lost = x.copy()
    lost[3:9] = np.nan
    w_lost = w.copy()
    w_lost[3:9] = 0.0
    np.testing.assert_array_equal(fitted(lost, event, w), fitted(x, event, w_lost))


@pytest.mark.parametrize("event", [True, False])
def test_one_kind_of_row(event):
    np.testing.assert_array_equal(fitted(np.arange(4.0), np.full(4, event), np.ones(4)), float(event))


def test_huge_weights_keep_a_rare_kind():
    """Of 1e17 events and one other the share of others is not zero, though the share of events is one."""
    points = points_of(np.zeros(2), np.array([True, False]), np.array([1e17, 1.0]))
    assert isotonic(points.others, points.events)[0] == 1e-17
    assert isotonic(np.empty(0), np.empty(0)).shape == (0,)
