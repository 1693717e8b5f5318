"""The threshold with a guarantee: binomial sums term by term, monotone, conservative; simulations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from svmstat.errors import DataError
from svmstat.tuning.guarantee import exceeds, order_of_threshold, rows_needed, threshold

TOL_BINOMIAL = 1e-10  # an incomplete beta function against a sum of up to 300 terms, relative
TOL_BOUNDARY = 1e-9  # δ this near to a binomial tail may count as either side of it

LEVELS = [(0.05, 0.05), (0.1, 0.1), (0.1, 0.05), (0.2, 0.3), (0.5, 0.01), (0.01, 0.5)]


def tail(k, m, a):
    """Σ_{j ≥ k} C(m, j) (1 − a)^j a^{m − j}, with whole binomial coefficients."""
    return math.fsum(math.comb(m, j) * (1.0 - a) ** j * a ** (m - j) for j in range(k, m + 1))


def rising(largest):
    """A level, and then a δ that is not on the boundary of two orders."""
    return st.tuples(st.integers(1, largest), st.floats(0.01, 0.9), st.floats(0.001, 0.9))


# -- the order ---------------------------------------------------------------------------------------------------------


@given(rising(120))
def test_the_tail_term_by_term(drawn):
    m, a, _ = drawn
    k = np.arange(1, m + 1)
    found = exceeds(k, m, a)
    np.testing.assert_allclose(found, [tail(each, m, a) for each in k], rtol=TOL_BINOMIAL, atol=1e-300)
    np.testing.assert_allclose(found, binom.sf(k - 1, m, 1.0 - a), rtol=TOL_BINOMIAL, atol=1e-300)
    assert (np.diff(found) <= 0).all()


@given(rising(200))
def test_the_order_is_the_least_that_will_do(drawn):
    m, a, delta = drawn
    allowed = [k for k in range(1, m + 1) if tail(k, m, a) <= delta]
    if any(abs(tail(k, m, a) / delta - 1.0) < TOL_BOUNDARY for k in range(1, m + 1)):
        return
    if not allowed:
        with pytest.raises(DataError, match=rf"needs at least {rows_needed(a, delta)} held-out rows .* there are {m}"):
            order_of_threshold(m, a, delta)
        assert m < rows_needed(a, delta)
        return
    assert order_of_threshold(m, a, delta) == allowed[0]
    assert m >= rows_needed(a, delta)


@pytest.mark.parametrize(("a", "delta"), LEVELS)
def test_rows_needed_are_the_least_number(a, delta):
    m = rows_needed(a, delta)
    assert (1.0 - a) ** m <= delta < (1.0 - a) ** (m - 1)
    assert order_of_threshold(m, a, delta) == m  # it has to be the largest score then
    with pytest.raises(DataError, match=f"needs at least {m} held-out rows of the other level; there are {m - 1}"):
        order_of_threshold(m - 1, a, delta)


BOUNDARIES = [(0.5, 0.25), (0.2, 0.64), (0.2, 0.512), (0.01, 0.99**24), (0.01, 0.99**29), (0.1, 0.9**4)]


@pytest.mark.parametrize(("a", "delta"), BOUNDARIES)
def test_delta_that_is_a_power_of_the_share_but_for_rounding(a, delta):
    """Whichever side of it counts, the number of rows that a message asks for is one with which it works."""
    needed = rows_needed(a, delta)
    assert 0 <= needed - round(np.log(delta) / np.log1p(-a)) <= 1
    assert order_of_threshold(needed, a, delta) == needed


def test_reference_values():
    """Tong, Feng & Li (2018): 59 rows for 0.05 and 0.05; and tables of the binomial distribution."""
    assert [rows_needed(*level) for level in LEVELS] == [59, 22, 29, 6, 7, 69]
    assert [order_of_threshold(m, 0.05, 0.05) for m in (59, 92, 93, 200)] == [59, 92, 92, 196]
    assert order_of_threshold(100, 0.1, 0.1) == 95


@pytest.mark.parametrize(("a", "delta"), LEVELS)
def test_the_order_is_monotone(a, delta):
    least = rows_needed(a, delta)
    orders = np.array([order_of_threshold(m, a, delta) for m in range(least, least + 120)])
    assert set(np.diff(orders)) <= {0, 1}  # one more row: the same rank or one more
    m = least + 119
    assert order_of_threshold(m, a, 0.5 * delta) >= orders[-1] >= order_of_threshold(m, min(2 * a, 0.9), delta)
    assert orders[-1] / m > 1.0 - a  # above the quantile itself


# -- the threshold -----------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32 - 1), m=st.integers(30, 80))
def test_it_is_a_score_with_so_many_at_most_as_large(seed, m):
    scores = np.random.default_rng(seed).normal(size=m)
    before = scores.copy()
    cut, k = threshold(scores, 0.1, 0.1), order_of_threshold(m, 0.1, 0.1)
    np.testing.assert_array_equal(scores, before)
    assert cut in scores and np.count_nonzero(scores <= cut) == k
    assert threshold(scores[::-1], 0.1, 0.1) == cut
    assert threshold(3.0 * scores + 1.0, 0.1, 0.1) == 3.0 * cut + 1.0


def thresholds(draw, m, a, delta, times):
    """Those of ``times`` samples (times, m), by `threshold`."""
    return np.array([threshold(row, a, delta) for row in draw((times, m))])


TIMES = 4000
GUARANTEES = [(59, 0.05, 0.05), (60, 0.05, 0.05), (200, 0.05, 0.1), (22, 0.1, 0.1), (40, 0.2, 0.3), (15, 0.4, 0.02)]


@pytest.mark.parametrize(("m", "a", "delta"), GUARANTEES)
def test_violations_in_a_simulation(m, a, delta):
    """P(P_F > a) is the binomial tail for continuous scores, which does not exceed δ; four standard errors."""
    rng = np.random.default_rng([m, int(1000 * a)])
    cuts = thresholds(rng.standard_normal, m, a, delta, TIMES)
    violated = np.mean(norm.sf(cuts) > a)
    expected = tail(order_of_threshold(m, a, delta), m, a)
    noise = 4.0 * np.sqrt(expected * (1.0 - expected) / TIMES)
    assert expected <= delta
    assert abs(violated - expected) <= noise
    assert violated <= delta + noise


@pytest.mark.parametrize("levels", [1, 2, 5, 12])
@pytest.mark.parametrize(("m", "a", "delta"), GUARANTEES[:1] + GUARANTEES[3:])
def test_ties_are_conservative(m, a, delta, levels):
    """Scores with few values: f > t leaves all that tie with t out, so that the guarantee holds all the more."""
    rng = np.random.default_rng([m, levels])
    cuts = thresholds(lambda size: rng.integers(0, levels, size), m, a, delta, 1000)
    p_f = 1.0 - (cuts + 1.0) / levels  # P(score > cut)
    expected = tail(order_of_threshold(m, a, delta), m, a)
    assert np.mean(p_f > a + 1e-12) <= expected + 4.0 * np.sqrt(expected * (1.0 - expected) / 1000)


def test_rows_needed_of_a_power_but_for_rounding():
    for a in np.arange(1, 100) / 100:
        for m in range(1, 60):
            assert rows_needed(a, (1 - a) ** m) == m
