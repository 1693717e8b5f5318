"""The step that stops at bounds, against an active set that is solved anew after each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmstat.kernels import RBF, Linear
from svmstat.solver.rough.inside import inside

TOL = 1e-8  # of x, relative to the box


def slowly(K, x, target, lo, hi):
    """The same by the bordered system of the rows that are left, which is solved anew after each bound."""
    x, rows, total = x.copy(), list(range(len(x))), x.sum()
    while rows:
        m = len(rows)
        border = np.ones((m + 1, m + 1))
        border[0, 0], border[1:, 1:] = 0.0, K[np.ix_(rows, rows)]
        d = np.linalg.solve(border, np.r_[-total, target[rows]])[1:]
        bounds = np.where(d > 0.0, hi[rows], lo[rows])
        shares = (bounds - x[rows]) / d
        first = int(shares.argmin())
        share = min(1.0, shares[first])
        x[rows] += share * d
        if share == 1.0:
            return x
        target = target - share * K[:, rows] @ d
        total += share * d.sum()
        x[rows[first]] = bounds[first]
        del rows[first]
    return None


@given(seed=st.integers(0, 10**6), m=st.integers(1, 39))
def test_against_one_system_after_the_other(seed, m):
    rng = np.random.default_rng(seed)
    K = RBF(1.0)(*2 * (rng.normal(size=(m, 3)),)) + 0.01 * np.eye(m)
    lo, hi = -rng.random(m), rng.random(m)
    x = lo + (hi - lo) * rng.uniform(0.1, 0.9, m)
    target, step = rng.normal(size=m), np.empty(m)
    expected, found = slowly(K, x, target, lo, hi), x.copy()
    done = inside(K.copy(), found, target.copy(), x.sum(), lo, hi, step)
    assert (lo <= found).all() and (found <= hi).all()
    assert done == (expected is not None)
    if done:
        np.testing.assert_allclose(found, expected, rtol=0, atol=TOL)
        free = (lo < found) & (found < hi)
        if free.any():
            np.testing.assert_allclose((target - K @ step)[free].std(), 0.0, atol=TOL)
        assert abs(found.sum()) < 1e-9


def test_what_all_targets_have_in_common_takes_no_digits_of_the_step():
    rng = np.random.default_rng(0)
    m, common = 30, 2.0**20
    K, lo, hi = RBF(1.0)(*2 * (rng.normal(size=(m, 3)),)), np.full(m, -1e3), np.full(m, 1e3)
    target = np.round(rng.normal(size=m) * 2.0**20) / 2.0**20  # so that the sum below is exact
    near, far = np.empty(m), np.empty(m)
    for step, shift in ((near, 0.0), (far, common)):
        assert inside(K.copy(), np.zeros(m), target + shift, 0.0, lo, hi, step)
    assert abs(far.sum()) <= 1e-14 * np.abs(far).sum()
    np.testing.assert_allclose(far, near, rtol=0.0, atol=1e-11 * np.abs(near).max())


def test_of_copies_of_a_row_some_meet_their_bound():
    """K has rank one: one direction after the other changes no gradient."""
    m = 12
    K = Linear()(np.ones((m, 1)), np.ones((m, 1)))
    x, lo, hi = np.linspace(-0.5, 0.5, m), np.full(m, -1.0), np.full(m, 1.0)
    step = np.empty(m)
    assert inside(K.copy(), x, np.where(np.arange(m) % 2, 1.0, -1.0), 0.0, lo, hi, step)
    assert np.count_nonzero((lo < x) & (x < hi)) <= 2
    assert (lo <= x).all() and (x <= hi).all() and abs(x.sum()) < 1e-9


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_no_end(bad):
    K, x = np.eye(3), np.zeros(3)
    assert not inside(K, x, np.array([1.0, bad, 0.0]), 0.0, np.full(3, -1.0), np.ones(3), np.empty(3))


def test_it_ends_where_no_row_is_left():
    """The sum that is wanted is beyond the box."""
    assert not inside(np.eye(2), np.full(2, 0.5), np.zeros(2), 9.0, np.zeros(2), np.ones(2), np.empty(2))
