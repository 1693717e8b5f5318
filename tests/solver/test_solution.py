"""The certificate, judged by the definitions: primal value, dual value, conditions of optimality, minimisers over b."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from problems import seeds, two_classes

from svmstat.solver import TOLERANCE, Status, solve
from svmstat.solver.solution import certify, middle, resolved

TOL_ROUNDING = 1e-10  # sums of at most n products, relative to the sum of their sizes
TOL_INTERVAL = 1e-9  # ends of the intercept's interval, relative to max |f|: what a violation of 1e-8 does not explain


@given(seed=seeds)
def test_certificate_of_any_feasible_point(draw_problem, optimality, seed):
    """Not only of optimal ones: the violation is by definition, the gap is primal minus dual at the midpoint."""
    drawn = draw_problem(seed, kernel="rbf", upper="tenths")
    qp, rng = drawn.qp, drawn.rng
    alpha = qp.upper * rng.choice([0.0, 0.3, 1.0], qp.n)
    plus, minus = alpha[qp.signs > 0].sum(), alpha[qp.signs < 0].sum()
    if min(plus, minus) == 0:
        return
    alpha *= np.where(qp.signs > 0, min(plus, minus) / plus, min(plus, minus) / minus)
    beta, (lo, hi) = qp.signs * alpha, qp.box(qp.upper)
    h = qp.linear - qp.gram.complete() @ beta
    b_low, b_high, violation, gap = certify(h, beta, lo, hi)
    judged = optimality(qp, alpha, middle(b_low, b_high))
    assert violation == pytest.approx(max(b_low - b_high, 0.0), abs=1e-15)
    if np.isfinite([b_low, b_high]).all():
        assert violation == pytest.approx(judged.violation, abs=TOL_ROUNDING * max(1.0, alpha.sum()))
    size = max(1.0, abs(judged.primal), abs(judged.dual))
    assert gap == pytest.approx(judged.primal + judged.dual, abs=TOL_ROUNDING * size)
    assert gap >= -TOL_ROUNDING * size


@pytest.mark.parametrize("where", ["h", "beta", "both"])
def test_nothing_that_is_not_a_number_is_certified(where):
    h, beta = np.array([0.5, 0.5, 0.5]), np.array([1.0, -0.5, -0.5])
    lo, hi = np.array([0.0, -1.0, -1.0]), np.array([2.0, 0.0, 0.0])
    assert certify(h, beta, lo, hi)[2] == 0.0
    if where != "beta":
        h[:] = np.nan
    if where != "h":
        beta[:] = np.nan
    assert not certify(h, beta, lo, hi)[2] <= TOLERANCE


def test_unbalanced_is_not_certified():
    h, beta = np.array([0.5, 0.5]), np.array([1.0, -0.9])
    assert certify(h, beta, np.array([0.0, -2.0]), np.array([2.0, 0.0]))[2] > TOLERANCE


@given(seed=seeds)
def test_certificate_of_a_solution(draw_problem, optimality, seed):
    qp = draw_problem(seed).qp
    if not two_classes(qp):
        return
    solution = solve(qp)
    judged = optimality(qp, solution.alpha, solution.intercept)
    total = max(1.0, abs(judged.primal), abs(judged.dual), solution.norm_squared)
    assert solution.status is Status.CERTIFIED
    assert solution.violation <= TOLERANCE
    assert judged.violation <= TOLERANCE + 2 * judged.rounding
    assert judged.total <= TOL_ROUNDING * max(1.0, solution.alpha.sum())
    assert judged.outside_box <= 0.0
    rounded = judged.rounding * qp.upper.sum()
    assert solution.gap == pytest.approx(judged.primal + judged.dual, abs=TOL_ROUNDING * total + rounded)
    assert solution.objective == pytest.approx(judged.dual, abs=TOL_ROUNDING * total)
    assert solution.norm_squared == pytest.approx(solution.alpha * qp.signs @ judged.h, abs=TOL_ROUNDING * total)
    np.testing.assert_allclose(solution.field, judged.h, rtol=0, atol=1e-12 + judged.rounding)
    decision = resolved(solution.field + solution.intercept, solution.resolution)
    np.testing.assert_array_equal(solution.decision, decision)


@given(seed=seeds)
def test_interval_is_all_minimisers_over_the_intercept(draw_problem, intercepts, seed):
    qp = draw_problem(seed, design="normal").qp
    if not two_classes(qp):
        return
    solution = solve(qp)
    expected = intercepts(qp, solution.field)
    scale = max(1.0, np.abs(solution.field).max())
    np.testing.assert_allclose(solution.intercept_interval, expected, rtol=0, atol=TOL_INTERVAL * scale)
    if solution.free.any():
        low, high = solution.intercept_interval
        assert abs(high - low) <= TOL_INTERVAL * scale


def test_both_ends_by_hand(plain_problem):
    """K = I and u = 0.1: h = ±0.1, so f = ±0.1 + b keeps both margins for b in [−0.9, 0.9]."""
    solution = solve(plain_problem(np.eye(4), [1, 1, -1, -1], 0.1))
    assert solution.intercept_interval == pytest.approx((-0.9, 0.9), abs=1e-15)
    assert solution.intercept == pytest.approx(0.0, abs=1e-15)
    assert solution.gap == pytest.approx(0.0, abs=1e-15)


def test_separable_rows_by_hand(plain_problem):
    """x = 0, 2, 5 with labels −, +, +: the hard margin is f(x) = x − 1, α = ½ on the inner rows."""
    x = np.array([0.0, 2.0, 5.0])
    solution = solve(plain_problem(np.outer(x, x), [-1, 1, 1], 100.0))
    np.testing.assert_allclose(solution.alpha, [0.5, 0.5, 0.0], atol=1e-14)
    np.testing.assert_allclose(solution.decision, x - 1.0, atol=1e-13)
    np.testing.assert_array_equal(solution.free, [True, True, False])
    assert solution.norm_squared == pytest.approx(1.0, abs=1e-13)
    assert solution.objective == pytest.approx(-0.5, abs=1e-13)


def test_margins_by_hand(plain_problem):
    """Two rows, K = I: f = α y + b with α = (m₁ + m₂) / 2 and b = (m₁ − m₂) / 2."""
    solution = solve(plain_problem(np.eye(2), [1, -1], 100.0, margin=[3.0, 1.0]))
    np.testing.assert_allclose(solution.alpha, 2.0, rtol=1e-14)
    assert solution.intercept == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(-1.0, 3.0, 1.0), (-np.inf, 2.0, 2.0), (0.5, np.inf, 0.5), (2.0, 2.0, 2.0)],
)
def test_middle(low, high, expected):
    assert middle(low, high) == expected


def test_partition_of_a_solution(plain_problem):
    alpha, upper = np.array([0.0, 0.5, 1.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.0])
    solution = replace(solve(plain_problem(np.eye(4), [1, -1, 1, -1], 1.0)), alpha=alpha, upper=upper)
    np.testing.assert_array_equal(solution.free, [False, True, False, False])
    np.testing.assert_array_equal(solution.bounded, [False, False, True, False])


def test_every_status_has_an_advice():
    assert all(status.advice for status in Status)
    assert len({status.advice for status in Status}) == len(Status)


def test_results_are_frozen(plain_problem):
    solution = solve(plain_problem(np.eye(2), [1, -1], 1.0))
    with pytest.raises(AttributeError):
        solution.gap = 0.0
