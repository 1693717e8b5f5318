"""Moving the bounds: straight lines of bounds give piecewise linear solutions, whatever the way."""

import numpy as np
import pytest
from problems import clouds, problem, size, with_upper

from svmstat.kernels import RBF, Linear
from svmstat.solver import TOLERANCE, Road, Status, solve

TOL_FIELD = 1e-6  # decision values of two certified solutions, relative to max(1, |h|)
TOL_LINEAR = 1e-9  # a solution between two events is a mean of others, relative to max(1, |α|)


def assert_same(a, b):
    np.testing.assert_allclose(a, b, rtol=0, atol=TOL_FIELD * size(b))


def assert_cold(qp, uppers, batch, rows=None):
    """Every problem of a batch is certified, and its solution that of a cold start."""
    assert (batch.status == Status.CERTIFIED).all()
    for q in range(len(uppers)) if rows is None else rows:
        cold = solve(with_upper(qp, uppers[q]))
        assert_same(batch.field[q], cold.field)
        np.testing.assert_allclose(batch.intercept_interval[q], cold.intercept_interval, rtol=0, atol=TOL_FIELD)


def test_between_events_the_solution_is_linear():
    """α(u_k) for one falling bound: second differences vanish but at a few kinks."""
    X, y = clouds(60, p=3)
    qp = problem(X, y, 1.0)
    k = int(np.flatnonzero(solve(qp).bounded)[0])
    grid = np.linspace(1.0, 0.0, 201)
    uppers = np.ones((201, 60))
    uppers[:, k] = grid
    batch = solve(qp, uppers)
    assert (batch.road == Road.TABLEAU).all()
    bends = np.abs(np.diff(batch.alpha, n=2, axis=0)).max(axis=1)
    kinks = np.count_nonzero(bends > TOL_LINEAR)
    assert 0 < kinks <= 2 * batch.events[-1]
    np.testing.assert_allclose(batch.alpha[:, k], grid, atol=1e-12)
    assert (np.diff(batch.events) >= 0).all()


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()])
def test_a_grid_of_costs_from_one_fit(kernel, dense_qp):
    X, y = clouds(80, p=3)
    qp = problem(X, y, 1.0, kernel)
    costs = 10.0 ** np.linspace(-4, 4, 17)
    batch = solve(qp, costs[:, None] * np.ones(80))
    for q, C in enumerate(costs):
        cold = solve(with_upper(qp, np.full(80, C)))
        assert batch.status[q] == Status.CERTIFIED
        assert_same(batch.field[q], cold.field)
        assert cold.objective <= dense_qp(qp, np.full(80, C)).objective + 1e-8 * max(1.0, abs(cold.objective))


def test_from_an_empty_free_set():
    """Balanced classes, all at their bounds: a deletion has to free a row first, and may end with none again."""
    X, y = clouds(40, p=3)
    qp = problem(X, y, 1e-3)
    start = solve(qp)
    assert not start.free.any()
    uppers = np.where(np.eye(40, dtype=bool), 0.0, 1e-3)
    batch = solve(qp, uppers, start=start)
    assert (batch.road == Road.TABLEAU).all() and (batch.violation <= TOLERANCE).all()
    assert_cold(qp, uppers, batch)


def test_a_pair_of_each_class_deleted_keeps_the_balance(intercepts):
    """Every row stays at its bound, no row becomes free, and b keeps an interval."""
    X, y = clouds(40, p=3)
    qp = problem(X, y, 1e-3)
    uppers = np.full((20, 40), 1e-3)
    uppers[np.arange(20), 2 * np.arange(20)] = 0.0
    uppers[np.arange(20), 2 * np.arange(20) + 1] = 0.0
    batch = solve(qp, uppers)
    assert (batch.status == Status.CERTIFIED).all()
    np.testing.assert_allclose(batch.alpha, uppers, rtol=0, atol=1e-15)
    for k in range(20):
        expected = intercepts(qp, batch.field[k], uppers[k])
        np.testing.assert_allclose(batch.intercept_interval[k], expected, rtol=0, atol=TOL_FIELD)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_many_bounds_at_once(C):
    """In both directions: folds, counts of a bootstrap, and all rows of a class but one gone."""
    X, y = clouds(120, p=3, seed=6)
    rng = np.random.default_rng(7)
    qp, rows = problem(X, y, C), np.arange(120)
    fold = rng.integers(0, 5, 120)
    folds = [np.where(fold == k, 0.0, C) for k in range(5)]
    counts = C * rng.multinomial(120, np.full(120, 1 / 120), size=10)
    alone = [np.where((y < 0) | (rows == k), C, 0.0) for k in np.flatnonzero(y > 0)[::6]]
    uppers = np.vstack([folds, counts, alone])
    assert_cold(qp, uppers, solve(qp, uppers))


def test_large_sample_follows_only_the_rows_near_an_event():
    """Above some hundred rows the far ones are brought up to date at the end; none is overrun unnoticed."""
    X, y = clouds(1500, seed=12, apart=3.0)
    qp = problem(X, y, 1.0)
    start = solve(qp)
    rng = np.random.default_rng(0)
    free, bounded = np.flatnonzero(start.free), np.flatnonzero(start.bounded)
    rows = np.concatenate([free[:10], bounded[:20], rng.integers(0, 1500, 10)])
    uppers = np.ones((len(rows) + 2, 1500))
    uppers[np.arange(len(rows)), rows] = 0.0
    uppers[-2] = 3.0
    uppers[-1] = rng.poisson(1.0, 1500)
    batch = solve(qp, uppers, start=start)
    assert_cold(qp, uppers, batch, rows=[*range(0, len(rows), 6), len(rows), len(rows) + 1])
