"""The road of a kernel with a short explicit map, against the road by kernel values."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import AWKWARD, awkward, noisy, posed

from svmstat.solver import BoxQP, LowRank, Road, Status, solve


def agree(problems):
    """Both solutions, whose f, objective and status are the same."""
    low, full = map(solve, problems)
    assert low.status is full.status is Status.CERTIFIED and low.road is Road.LOW_RANK
    assert low.gap <= 1e-9 * abs(low.objective)
    assert low.objective == pytest.approx(full.objective, rel=1e-10)
    np.testing.assert_allclose(low.field, full.field, atol=1e-9 * (1.0 + np.abs(full.field).max()))
    return low, full


@pytest.mark.parametrize("p", [2, 20])
@pytest.mark.parametrize("C", [1e-4, 0.1, 1.0, 1e3])
def test_is_the_solution_by_kernel_values(p, C):
    low, full = agree(posed(*noisy(500, p), upper=C))
    np.testing.assert_allclose(low.intercept_interval, full.intercept_interval, atol=1e-9)
    np.testing.assert_allclose(low.alpha, full.alpha, atol=1e-8 * C)
    assert low.free.sum() <= p + 1


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_a_flat_f_by_which_most_rows_are_at_the_margin(C, monkeypatch):
    """No part of thousands of rows that depend on each other is solved by a matrix of these."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(900, 4))
    y = np.where(X[:, 0] - X[:, 1] ** 2 + rng.normal(size=900) > -1.0, 1.0, -1.0)
    problems = posed(X[:, 1:], y, upper=C)
    monkeypatch.setattr("svmstat.solver.roads.low_rank._solve_part", None)
    low, _ = agree(problems)
    assert low.free.sum() <= 4
    assert np.ptp(low.field) <= 1e-12


def test_weights_margins_and_rows_that_are_absent():
    X, y = noisy(800, 4)
    rng = np.random.default_rng(2)
    upper = np.where(rng.random(800) < 0.3, 0.0, rng.uniform(0.1, 3.0, 800) * np.where(y > 0, 4.0, 1.0))
    low, _ = agree(posed(X, y, upper, margin=np.where(y > 0, 1.7, 0.6)))
    assert not low.alpha[upper == 0.0].any()


@pytest.mark.parametrize("case", AWKWARD)
def test_awkward_designs(case):
    agree(posed(*awkward(case, 600), 10.0))


def test_far_from_the_origin():
    """A shift changes nothing but the intercept; kernel values of size 1e8 have lost eight digits of that."""
    X, y = noisy(600, 5)
    near, far = (solve(posed(Z, y, 10.0)[0]) for Z in (X, X + 1e4))
    assert far.status is Status.CERTIFIED and far.road is Road.LOW_RANK
    assert far.objective == pytest.approx(near.objective, rel=1e-10)
    np.testing.assert_allclose(far.decision, near.decision, atol=1e-6)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_any_problem(draw_problem, seed):
    drawn = draw_problem(seed, kernel="linear")
    qp = drawn.qp
    low = solve(BoxQP(LowRank(np.ascontiguousarray(drawn.X)), qp.signs, qp.margin, qp.upper))
    full = solve(qp)
    assert (low.status is Status.ONE_CLASS) == (full.status is Status.ONE_CLASS)
    if full.status is Status.CERTIFIED:
        assert low.violation <= 1e-8
        assert low.objective == pytest.approx(full.objective, rel=1e-8, abs=1e-10 * qp.upper.sum())


def test_quite_different_bounds_need_no_matrix(monkeypatch):
    X, y = noisy(1500, 5)
    problem, _ = posed(X, y, 2.0)
    uppers = problem.upper * np.random.default_rng(1).poisson(1.0, (3, 1500))
    expected = [solve(BoxQP(problem.gram, problem.signs, problem.margin, upper)) for upper in uppers]

    def complete(self):
        raise AssertionError("a matrix of all rows was made")

    monkeypatch.setattr(LowRank, "complete", complete)
    found = solve(problem, uppers)
    assert (found.status == Status.CERTIFIED).all() and (found.road == Road.LOW_RANK).all()
    np.testing.assert_allclose(found.field, [each.field for each in expected], atol=1e-8)


def test_beside_quite_different_bounds_those_nearby_follow_the_path():
    X, y = noisy(1500, 5)
    problem, _ = posed(X, y, 2.0)
    near = np.where(np.arange(1500) == 3, 0.0, problem.upper)
    uppers = np.array([near, problem.upper * np.random.default_rng(1).poisson(1.0, 1500)])
    found = solve(problem, uppers)
    assert found.road[0] == Road.TABLEAU and (found.status == Status.CERTIFIED).all()
    expected = [solve(BoxQP(problem.gram, problem.signs, problem.margin, upper)) for upper in uppers]
    np.testing.assert_allclose(found.field, [each.field for each in expected], atol=1e-8)


def test_is_reached_from_a_neighbouring_cost():
    X, y = noisy(2000, 5)
    problem, _ = posed(X, y)
    costs = np.array([1.0, 1.7, 0.6, 20.0])
    for C, found in zip(costs, solve(problem, np.outer(costs, np.ones(2000)), in_turn=True), strict=True):
        cold = solve(posed(X, y, C)[0])
        assert found.status is Status.CERTIFIED
        np.testing.assert_allclose(found.decision, cold.decision, atol=1e-9)


def test_many_rows_take_no_matrix():
    """A matrix of 40 000 rows would take 13 GB."""
    X, y = noisy(40_000, 6)
    problem, _ = posed(X, y)
    found = solve(problem)
    assert found.status is Status.CERTIFIED and found.road is Road.LOW_RANK
    w = X.T @ (found.alpha * y)
    np.testing.assert_allclose(found.decision, X @ w + found.intercept, atol=1e-9)
    primal = 0.5 * w @ w + np.maximum(0.0, 1.0 - y * found.decision).sum()
    assert primal + found.objective <= 1e-9 * primal  # the objective is minus that of the dual


@pytest.mark.parametrize("p", [1, 6])
@pytest.mark.parametrize("C", [0.05, 20.0])
def test_deletions_are_refits(p, C):
    problem, _ = posed(*noisy(700, p), upper=C)
    problem.gram.fits = False  # as with more rows, whose kernel matrix would not fit
    start = solve(problem)
    rows = np.concatenate([np.flatnonzero(start.free), np.flatnonzero(start.bounded)[::20]])
    uppers = np.full((len(rows), 700), C)
    uppers[np.arange(len(rows)), rows] = 0.0
    batch = solve(problem, uppers, start=start)
    assert (batch.status == Status.CERTIFIED).all() and (batch.violation <= 1e-8).all()
    assert (batch.road == Road.LOW_RANK).all()
    for upper, alpha, field in list(zip(uppers, batch.alpha, batch.field, strict=True))[::7]:
        cold = solve(replace(problem, upper=upper))
        np.testing.assert_allclose(field, cold.field, atol=1e-8 * (1.0 + np.abs(cold.field).max()))
        np.testing.assert_allclose(alpha, cold.alpha, atol=1e-7 * C)
