"""Moving the bounds: straight lines of bounds give piecewise linear solutions, whatever the way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmstat.kernels import RBF, Linear
from svmstat.solver import TOLERANCE, BoxQP, Gram, Road, Status, solve

TOL_FIELD = 1e-6  # decision values of two certified solutions, relative to max(1, |h|)
TOL_LINEAR = 1e-9  # a solution between two events is a mean of others, relative to max(1, |α|)

seeds = st.integers(0, 2**32 - 1)


def size(values):
    return max(1.0, float(np.abs(values).max(initial=0.0)))


def assert_same(a, b, gap=0.0):
    """Decision values as far as the certificates tell: ½‖h − h*‖² ≤ gap, with K_ii ≤ 1 where a gap is given."""
    np.testing.assert_allclose(a, b, rtol=0, atol=TOL_FIELD * size(b) + 2.0 * np.sqrt(2.0 * max(gap, 0.0)))


def clouds(n, p=3, seed=0, apart=1.0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return rng.normal(size=(n, p)) + 0.5 * apart * y[:, None], y


def problem(X, y, upper, kernel=None):
    return BoxQP(Gram((kernel or RBF(0.5)).bind(X)), y, np.ones(len(y)), np.broadcast_to(upper, y.shape).astype(float))


def at(qp, upper):
    return BoxQP(qp.gram, qp.signs, qp.margin, upper)


@given(seed=seeds)
def test_there_and_back(draw_problem, seed):
    """From u⁰ to u¹, and from there to u⁰ again."""
    drawn = draw_problem(seed, kernel="rbf", design="normal", upper="1")
    qp, rng = drawn.qp, drawn.rng
    upper = qp.upper * rng.choice([0.5, 1.0, 2.0], qp.n)
    origin = solve(qp)
    there = solve(at(qp, upper), start=origin)
    back = solve(qp, start=there)
    assert_same(back.field, origin.field, max(back.gap, origin.gap))
    by_batch = solve(at(qp, upper), qp.upper[None], start=there)
    assert_same(by_batch.field[0], origin.field, max(by_batch.gap[0], origin.gap))
    assert by_batch.status[0] == Status.CERTIFIED


@given(seed=seeds, halves=st.integers(2, 5))
def test_one_way_or_by_stages(draw_problem, seed, halves):
    drawn = draw_problem(seed, upper="tenths", kernel="rbf")
    qp, rng = drawn.qp, drawn.rng
    target = rng.integers(1, 30, qp.n) / 10.0
    if solve(qp).status is not Status.CERTIFIED:
        return
    straight = solve(qp, target[None])
    here = solve(qp)
    for t in np.linspace(0, 1, halves + 1)[1:]:
        here = solve(at(qp, (1 - t) * qp.upper + t * target), start=here)
    assert_same(here.field, straight.field[0], max(here.gap, straight.gap[0]))


def test_between_events_the_solution_is_linear():
    """α(u_k) for one falling bound: second differences vanish but at a few kinks."""
    X, y = clouds(60)
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


def test_the_dual_value_is_convex_along_a_line():
    X, y = clouds(50, seed=4)
    qp = problem(X, y, 1.0)
    t = np.linspace(0, 1, 21)
    target = np.random.default_rng(5).uniform(0, 3, 50)
    batch = solve(qp, (1 - t[:, None]) + t[:, None] * target)
    value = 0.5 * np.einsum("qi,i,qi->q", batch.alpha, y, batch.field) - batch.alpha.sum(axis=1)
    assert (np.diff(value, n=2) >= -1e-9).all()


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()])
def test_a_grid_of_costs_from_one_fit(kernel, dense_qp):
    X, y = clouds(80)
    qp = problem(X, y, 1.0, kernel)
    costs = 10.0 ** np.linspace(-4, 4, 17)
    batch = solve(qp, costs[:, None] * np.ones(80))
    for q, C in enumerate(costs):
        cold = solve(at(qp, np.full(80, C)))
        assert batch.status[q] == Status.CERTIFIED
        assert_same(batch.field[q], cold.field)
        assert cold.objective <= dense_qp(qp, np.full(80, C)).objective + 1e-8 * max(1.0, abs(cold.objective))


def test_from_an_empty_free_set():
    """Balanced classes, all at their bounds: a deletion has to free a row first, and may end with none again."""
    X, y = clouds(40)
    qp = problem(X, y, 1e-3)
    start = solve(qp)
    assert not start.free.any()
    uppers = np.where(np.eye(40, dtype=bool), 0.0, 1e-3)
    batch = solve(qp, uppers, start=start)
    assert (batch.road == Road.TABLEAU).all()
    for k in range(40):
        cold = solve(at(qp, uppers[k]))
        assert batch.violation[k] <= TOLERANCE
        assert_same(batch.field[k], cold.field)
        np.testing.assert_allclose(batch.intercept_interval[k], cold.intercept_interval, rtol=0, atol=TOL_FIELD)


def test_a_pair_of_each_class_deleted_keeps_the_balance(intercepts):
    """Every row stays at its bound, no row becomes free, and b keeps an interval."""
    X, y = clouds(40)
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


@pytest.mark.parametrize("copies", [2, 5])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_deleting_among_copies(copies, C):
    """Copies of a free row depend on each other: deleting one shifts its weight to the others."""
    X, y = clouds(30, p=2, seed=9)
    rows = np.repeat(np.arange(30), copies)
    for kernel in (RBF(0.5), Linear()):
        qp = problem(X[rows], y[rows], C, kernel)
        uppers = np.where(np.eye(len(rows), dtype=bool)[::3], 0.0, C)
        batch = solve(qp, uppers)
        assert (batch.status == Status.CERTIFIED).all()
        for q in range(0, len(uppers), 5):
            assert_same(batch.field[q], solve(at(qp, uppers[q])).field)


def test_both_labels_at_the_same_place():
    """Rows at the same x with other labels: β of one is −β of the other, the difference is free of cost."""
    X, y = clouds(20, p=2, seed=3)
    X, y = np.vstack([X, X[:10]]), np.concatenate([y, -y[:10]])
    for C in (0.01, 1.0, 100.0):
        qp = problem(X, y, C)
        uppers = np.where(np.eye(30, dtype=bool), 0.0, C)
        batch = solve(qp, uppers)
        assert (batch.status == Status.CERTIFIED).all()
        for k in range(30):
            assert_same(batch.field[k], solve(at(qp, uppers[k])).field)


def test_folds_and_bootstrap_counts():
    """Many bounds at once, in both directions."""
    X, y = clouds(120, seed=6)
    rng = np.random.default_rng(7)
    for C in (0.1, 10.0):
        qp = problem(X, y, C)
        fold = rng.integers(0, 5, 120)
        folds = np.array([np.where(fold == k, 0.0, C) for k in range(5)])
        counts = C * rng.multinomial(120, np.full(120, 1 / 120), size=10)
        uppers = np.vstack([folds, counts])
        batch = solve(qp, uppers)
        assert (batch.status == Status.CERTIFIED).all()
        for q in range(len(uppers)):
            assert_same(batch.field[q], solve(at(qp, uppers[q])).field)


def test_a_class_down_to_one_row():
    X, y = clouds(40)
    qp = problem(X, y, 1.0)
    positive = np.flatnonzero(y > 0)
    uppers = np.array([np.where((y < 0) | (np.arange(40) == k), 1.0, 0.0) for k in positive])
    batch = solve(qp, uppers)
    assert (batch.status == Status.CERTIFIED).all()
    for q in range(len(uppers)):
        assert_same(batch.field[q], solve(at(qp, uppers[q])).field)


def test_large_sample_follows_only_the_rows_near_an_event():
    """Above some hundred rows the far ones are brought up to date at the end; none is overrun unnoticed."""
    X, y = clouds(1500, p=2, seed=12, apart=3.0)
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
    assert (batch.status == Status.CERTIFIED).all()
    for q in [*range(0, len(rows), 6), len(rows), len(rows) + 1]:
        assert_same(batch.field[q], solve(at(qp, uppers[q])).field)
