"""Venn–Abers probabilities against isotonic fits made one by one by scikit-learn, with the row added and removed."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from svmstat.calibration import fit_venn_abers
from svmstat.calibration.venn_abers import held_out

TOL = 1e-12  # sums of some hundred weights in another order

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(0, 30)
few = settings(max_examples=40)


def sample(seed, n, whole=False):
    """Values with ties, labels and weights, some of them zero."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, rng.integers(1, 2 * n + 2), n) / 3.0
    y = np.where(rng.random(n) < rng.random(), 1.0, -1.0)
    w = rng.integers(0, 4, n).astype(float) if whole else rng.uniform(0, 3, n) * (rng.random(n) < 0.8)
    return x, y, w


def by_hand(x, y, w, new):
    """p0 and p1 of one new value, by the definition [Vovk & Petej 2014]."""
    used = w > 0
    found = []
    for label in (0.0, 1.0):
        values, weights = np.append(x[used], new), np.append(w[used], 1.0)
        fit = IsotonicRegression().fit(values, np.append(y[used] > 0, label), sample_weight=weights)
        found.append(fit.predict([new])[0])
    return found


@few
@given(seed=seeds, n=sizes)
def test_new_values_are_those_of_the_definition(seed, n):
    """At the values of rows, between them and beyond; also with no row, and with rows of one kind only."""
    x, y, w = sample(seed, n)
    new = np.concatenate([x[:8], x[:8] + 1 / 6, [-1.0, 99.0]])
    expected = np.array([by_hand(x, y, w, value) for value in new])
    np.testing.assert_allclose(np.column_stack(fit_venn_abers(x, y, w).bounds(new)), expected, rtol=TOL, atol=TOL)


@few
@given(seed=seeds, n=st.integers(1, 30))
def test_held_out_rows_are_new_to_the_others(seed, n):
    """A row of weight w loses min(w, 1)."""
    x, y, w = sample(seed, n)
    expected = []
    for k in range(n):
        left = w.copy()
        left[k] -= min(w[k], 1.0)
        expected.append(by_hand(x, y, left, x[k]))
    np.testing.assert_allclose(np.column_stack(held_out(x, y, w).bounds), expected, rtol=TOL, atol=TOL)


@given(seed=seeds, n=sizes)
def test_whole_weights_are_repeats(seed, n):
    x, y, w = sample(seed, n, whole=True)
    count = w.astype(int)
    repeated = [np.repeat(each, count) for each in (x, y, np.ones(n))]
    new = np.linspace(-1, 25, 50)
    for one, other in zip(fit_venn_abers(x, y, w).odds(new), fit_venn_abers(*repeated).odds(new), strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(held_out(x, y, w), held_out(*repeated), strict=True):
        np.testing.assert_array_equal(np.repeat(one, count), other)


@given(seed=seeds, n=sizes)
def test_what_every_one_of_them_has(seed, n):
    """p0 ≤ p ≤ p1 increase with x, 1/(N + 2) ≤ p ≤ (N + 1)/(N + 2), and the other label has 1 − p."""
    x, y, w = sample(seed, n)
    new = np.linspace(-1, 25, 80)
    odds = fit_venn_abers(x, y, w).odds(new)
    (p0, p1), p = odds.bounds, odds.probability
    assert (p0 <= p + TOL).all() and (p <= p1 + TOL).all() and (p0 < 1).all() and (p1 > 0).all()
    for each in (p0, p1, p):
        assert (np.diff(each) >= -TOL).all()
    assert (p >= (1 - TOL) / (w.sum() + 2)).all() and (1 - p >= (1 - 1e-9) / (w.sum() + 2)).all()
    np.testing.assert_allclose(fit_venn_abers(-x, -y, w).probability(-new), 1 - p, atol=TOL)


def test_the_ends_of_the_range_are_reached():
    """Values that separate N = 6 rows: Laplace's rule of succession."""
    x, y = np.arange(6.0), np.repeat([-1.0, 1.0], 3)
    one_kind = fit_venn_abers(x, np.ones(6), np.ones(6))
    np.testing.assert_allclose(one_kind.probability(np.array([-1.0, 9.0])), [1 / 2, 7 / 8])
    np.testing.assert_allclose(
        fit_venn_abers(x, y, np.ones(6)).probability(np.array([-1.0, 2.5, 9.0])), [0.2, 0.5, 0.8]
    )


def test_likelihoods_are_finite_and_those_of_the_probabilities():
    """With 1e17 events and one other, whose probability no float beside one can show."""
    rare = fit_venn_abers(np.zeros(2), np.array([1.0, -1.0]), np.array([1e17, 1.0]))
    np.testing.assert_allclose(rare.log_likelihoods(np.zeros(2), np.array([-1.0, 1.0])), [np.log(2e-17), -2e-17])
    x, y, w = sample(3, 30)
    found = fit_venn_abers(x, y, w)
    p = found.probability(x)
    np.testing.assert_allclose(found.log_likelihoods(x, y), np.log(np.where(y > 0, p, 1 - p)))


def test_nan_and_shapes():
    found = fit_venn_abers(*sample(3, 30))
    new = np.array([[0.5, np.nan, 2.0]])
    assert found.probability(new).shape == found.bounds(new).p0.shape == (1, 3)
    assert np.isnan(found.probability(new)).tolist() == [[False, True, False]]
    x, y, w = sample(4, 12, whole=True)
    gone, weightless = x.copy(), w.copy()
    gone[2], weightless[2] = np.nan, 0.0
    for one, other in zip(held_out(gone, y, w), held_out(x, y, weightless), strict=True):
        assert np.isnan(one[2])
        np.testing.assert_array_equal(np.delete(one, 2), np.delete(other, 2))


def test_no_row_at_all():
    nothing = fit_venn_abers(*np.empty((3, 0)))
    np.testing.assert_array_equal(nothing.bounds(np.zeros(1)), [[0.0], [1.0]])
    assert nothing.probability(np.zeros(1)) == 0.5


@pytest.mark.parametrize("n", [634, 5000])
def test_large_samples(n):
    """All at once is one by one: a few of the held-out rows by hand."""
    rng = np.random.default_rng(n)
    x = rng.normal(size=n)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-x)), 1.0, -1.0)
    found = np.column_stack(held_out(x, y, np.ones(n)).bounds)
    for k in (0, 17, n // 2):
        others = np.arange(n) != k
        np.testing.assert_allclose(found[k], by_hand(x[others], y[others], np.ones(n - 1), x[k]), rtol=TOL)


def test_pickle():
    found = fit_venn_abers(*sample(3, 30))
    again = pickle.loads(pickle.dumps(found))
    assert (again.kind, again.converged) == ("venn-abers", True)
    np.testing.assert_array_equal(again.probability(np.arange(9.0)), found.probability(np.arange(9.0)))


def test_a_value_that_rounding_takes_off_a_point_is_at_it():
    x, y = np.array([-1.0, -1.0, 0.0, 0.0, 2.0]), np.array([-1.0, 1.0, -1.0, 1.0, 1.0])
    found = fit_venn_abers(x, y, np.ones(5), resolution=1e-12)
    for near in (x - 9e-13, x + 9e-13):
        np.testing.assert_array_equal(found.odds(near), found.odds(x))
    assert (found.odds(x - 1e-11).logit != found.odds(x).logit).all()
