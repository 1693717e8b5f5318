"""Sequential minimal optimisation alone: what every step must keep, where it must end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import seeds

from svmstat.solver.rough.smo import _place, smo
from svmstat.solver.solution import certify

TOL_ROUNDING = 1e-10  # sums of at most 60 products, relative to their largest
TOLERANCES = (1e-2, 1e-5, 1e-8)


def run(qp, tolerance, max_steps=100_000):
    """Descend from zero; β, h = s − Kβ, the bounds, and the steps."""
    lo, hi = qp.box(qp.upper)
    beta, h = np.zeros(qp.n), qp.linear.copy()
    steps, violation = smo(qp.gram.complete(), qp.n, lo, hi, beta, h, tolerance, max_steps)
    return beta, h, lo, hi, steps, violation


def objective(qp, beta):
    return 0.5 * beta @ qp.gram.complete() @ beta - qp.linear @ beta


def test_two_rows_in_closed_form(plain_problem):
    # ½α²(K11 + K22 − 2 K12) − 2α is least at α = 2 / (1 + 2 − 1)
    qp = plain_problem([[1.0, 0.5], [0.5, 2.0]], [1, -1], 10.0)
    beta, h, _, _, steps, violation = run(qp, 1e-12)
    np.testing.assert_allclose(beta, [1.0, -1.0], rtol=1e-15)
    np.testing.assert_allclose(h, [0.5, 0.5], rtol=1e-15)
    assert steps == 1
    assert violation <= 1e-12


def test_the_smaller_bound_stops_a_step(plain_problem):
    beta, *_ = run(plain_problem(np.eye(2), [1, -1], [0.25, 0.5]), 1e-12)
    np.testing.assert_array_equal(beta, [0.25, -0.25])


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 128, 130])
def test_sizes_around_the_block_of_rows(n, plain_problem):
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    qp = plain_problem(np.eye(n), y, 0.4)
    beta, _, _, _, steps, violation = run(qp, 1e-10)
    expected = np.where(y > 0, 0.4 * (n // 2) / (n - n // 2), 0.4)  # the larger class shares what the other has
    np.testing.assert_allclose(np.abs(beta), expected, rtol=1e-8)
    assert steps >= n // 2
    assert violation <= 1e-10


def test_the_zero_matrix_is_a_linear_programme(plain_problem):
    """With K = 0 the scarcer class is used up, the other as far as it balances it."""
    y = np.array([1.0, 1.0, -1.0, -1.0, -1.0])
    beta, *_ = run(plain_problem(np.zeros((5, 5)), y, 1.0), 1e-10)
    np.testing.assert_array_equal(beta[:2], 1.0)
    assert beta[2:].sum() == -2.0


def test_a_row_without_room_never_moves(draw_problem):
    qp = draw_problem(3, n=40, upper="zeros", design="normal", kernel="rbf").qp
    beta, *_ = run(qp, 1e-8)
    assert (qp.upper == 0).any()
    assert (beta[qp.upper == 0] == 0).all()


@given(seed=seeds, tolerance=st.sampled_from(TOLERANCES))
def test_every_end_is_feasible_and_h_belongs_to_beta(draw_problem, seed, tolerance):
    qp = draw_problem(seed, kernel="rbf").qp
    beta, h, lo, hi, steps, violation = run(qp, tolerance)
    assert (beta >= lo).all() and (beta <= hi).all()
    assert abs(beta.sum()) <= TOL_ROUNDING * np.abs(beta).max(initial=1.0)
    expected = qp.linear - qp.gram.complete() @ beta
    np.testing.assert_allclose(h, expected, atol=TOL_ROUNDING * max(1.0, np.abs(beta).sum()))
    if steps < 100_000 and qp.upper.any():  # without room there is no condition to violate
        assert violation <= tolerance
        assert certify(h, beta, lo, hi)[2] <= max(tolerance, 0.0)


@given(seed=seeds)
def test_no_step_raises_the_objective(draw_problem, seed):
    qp = draw_problem(seed, upper="1").qp
    lo, hi = qp.box(qp.upper)
    beta, h = np.zeros(qp.n), qp.linear.copy()
    before = 0.0
    for _ in range(20):
        smo(qp.gram.complete(), qp.n, lo, hi, beta, h, 1e-9, 1)
        now = objective(qp, beta)
        assert now <= before + 1e-12 * max(1.0, abs(before))
        before = now


@given(seed=seeds, cut=st.integers(1, 30))
def test_going_on_is_the_same_as_not_stopping(draw_problem, seed, cut):
    qp = draw_problem(seed, upper="1", kernel="rbf").qp
    lo, hi = qp.box(qp.upper)
    beta, h = np.zeros(qp.n), qp.linear.copy()
    K = qp.gram.complete()
    first, _ = smo(K, qp.n, lo, hi, beta, h, 1e-6, cut)
    second, _ = smo(K, qp.n, lo, hi, beta, h, 1e-6, 100_000)
    straight = run(qp, 1e-6)
    assert first <= cut
    assert first + second == straight[4]
    np.testing.assert_array_equal(beta, straight[0])


def test_at_the_optimum_it_does_nothing(draw_problem):
    qp = draw_problem(11, n=50, design="normal", kernel="rbf", upper="1").qp
    beta, h, lo, hi, _, _ = run(qp, 1e-8)
    kept = beta.copy()
    steps, _ = smo(qp.gram.complete(), qp.n, lo, hi, beta, h, 1e-8, 1000)
    assert steps == 0
    np.testing.assert_array_equal(beta, kept)


def test_it_ends_within_its_gap_of_the_optimum(draw_problem, dense_qp):
    for seed in range(20):
        qp = draw_problem(seed, upper="1", kernel="rbf").qp
        beta, *_ = run(qp, 1e-3)
        best = dense_qp(qp).objective
        assert -1e-7 <= objective(qp, beta) - best <= 1e-3 * qp.upper.sum()


NOT_NUMBERS = (np.nan, np.inf, -np.inf, 1e300)


def in_classes(K, y, upper):
    """`smo` with a sum for each class, from the centres of the classes, the events first; β, h and the steps."""
    order = np.argsort(-y, kind="stable")
    K, y = np.ascontiguousarray(K[np.ix_(order, order)]), y[order]
    p = int((y > 0).sum())
    beta = np.where(y > 0, 1.0 / p, -1.0 / (len(y) - p))
    with np.errstate(all="ignore"):
        h = -K @ beta
    steps, _ = smo(K, p, np.where(y > 0, 0.0, -upper), np.where(y > 0, upper, 0.0), beta, h, 1e-8, 500)
    return beta, h, steps


@pytest.mark.parametrize("value", NOT_NUMBERS)
@given(seed=seeds)
def test_no_index_leaves_the_rows_where_numbers_are_not_finite(value, seed):
    """Neither with such kernel values nor with such an h; what it cannot improve it leaves within the bounds."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    X, y = rng.normal(size=(n, 2)), np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    K = X @ X.T
    for i, j in rng.integers(0, n, size=(int(rng.integers(1, 4)), 2)):
        K[i, j] = K[j, i] = value
    lo, hi = np.where(y > 0, 0.0, -2.0), np.where(y > 0, 2.0, 0.0)
    beta, h = np.zeros(n), y.copy()
    h[rng.integers(0, n)] = rng.choice([value, 1.0])
    steps, _ = smo(K, n, lo, hi, beta, h, 1e-8, 500)
    assert 0 <= steps <= 500
    assert ((beta >= lo) & (beta <= hi)).all()
    beta, _, steps = in_classes(K, y, 2.0)
    assert 0 <= steps <= 500
    assert (np.abs(beta) <= 2.0).all()


def test_an_infinite_h_ends_the_descent():
    y = np.array([1.0, -1.0, 1.0, -1.0])
    beta, h = np.zeros(4), np.array([np.inf, -1.0, 1.0, -1.0])
    steps, violation = smo(np.eye(4), 4, np.minimum(y, 0.0), np.maximum(y, 0.0), beta, h, 1e-8, 500)
    assert (steps, violation) == (0, np.inf)
    np.testing.assert_array_equal(beta, 0.0)
    _, _, steps = in_classes(np.full((4, 4), 1e308), y, 1.0)
    assert steps == 0


def test_a_value_that_is_nowhere_has_no_place():
    places = np.arange(3.0)
    assert _place(np.array([1.0, 4.0, 4.0]), 4.0, places, 0, 3) == 1
    assert _place(np.array([1.0, 4.0, 4.0]), 5.0, places, 0, 3) == -1
    assert -1 <= _place(np.array([1.0, np.nan, np.nan]), np.nan, places, 0, 3) < 3
    assert _place(np.array([4.0, 1.0, 4.0]), 4.0, places, 1, 3) == 2
    assert _place(np.array([np.inf, np.inf, 1.0]), np.inf, places, 0, 3) == 0
