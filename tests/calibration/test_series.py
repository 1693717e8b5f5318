"""The cross-entropy of the rows that are left, and where its gradient is zero, by sums over all rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from svmstat._tools.compiled import compiled
from svmstat.calibration import deviance, deviance_risen, fit_platt, map_without, series_at


@compiled()
def known_without(f, y, weights, slope, intercept, which, copies, out):
    """A, B, how much the deviance rises, and whether the series tells: out (4,)."""
    around = series_at(f, y, weights, slope, intercept)
    out[0], out[1], known = map_without(around, y, which, copies, 0, which.shape[0])
    out[2] = deviance_risen(around, y, which, copies, 0, which.shape[0])
    out[3] = 1.0 if known else 0.0


def sample(n, seed, rate=0.5, weighted=False):
    rng = np.random.default_rng(seed)
    f = 2.0 + 3.0 * rng.normal(size=n)
    y = np.where(rng.random(n) < expit(0.4 * (f - 2.0) + np.log(rate / (1.0 - rate))), 1.0, -1.0)
    return f, y, rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)


def found(f, y, weights, which, copies):
    whole, out = fit_platt(f, y, weights), np.empty(4)
    known_without(f, y, weights, whole.slope, whole.intercept, np.array(which), np.array(copies), out)
    return whole, out


@given(
    seed=st.integers(0, 10_000), n=st.sampled_from([300, 1000, 5000]), rate=st.sampled_from([0.5, 0.1]),
    weighted=st.booleans(), taken=st.integers(1, 3),
)  # fmt: skip
def test_what_is_known_without_rows_is_what_a_fit_to_the_others_says(seed, n, rate, weighted, taken):
    f, y, weights = sample(n, seed, rate, weighted)
    which = np.random.default_rng(seed).permutation(n)[:taken]
    whole, (slope, intercept, risen, known) = found(f, y, weights, which, np.ones(taken))
    if not known:
        return
    left = weights.copy()
    left[which] -= 1.0
    again = fit_platt(f, y, left)
    np.testing.assert_allclose((slope, intercept), (again.slope, again.intercept), rtol=1e-7, atol=1e-8)
    before = deviance(f, y, weights, whole.slope, whole.intercept)
    assert risen == pytest.approx(deviance(f, y, left, slope, intercept) - before, abs=1e-9)


def test_of_many_rows_it_tells_without_any_of_them():
    f, y, weights = sample(634, 1)
    assert np.mean([found(f, y, weights, [k], [1.0])[1][3] for k in range(634)]) > 0.9


def test_it_does_not_tell_where_the_log_odds_change_much():
    f, y, weights = sample(20, 3)
    assert found(f, y, weights, [0, 1, 2, 3], np.ones(4))[1][3] == 0.0


def test_it_does_not_tell_of_values_that_are_equal_without_the_rows():
    f, y = np.append(np.ones(199), 4.0), np.where(np.arange(200) % 3 == 0, 1.0, -1.0)
    assert found(f, y, np.ones(200), [199], [1.0])[1][3] == 0.0


def test_with_nothing_taken_nothing_changes():
    f, y, weights = sample(400, 5)
    whole, (slope, intercept, risen, known) = found(f, y, weights, [7], [0.0])
    assert known
    np.testing.assert_allclose((slope, intercept), (whole.slope, whole.intercept), rtol=1e-9)
    assert risen == pytest.approx(0.0, abs=1e-12)
