"""Descent by blocks of rows, in each of its branches at sizes that a test can afford."""

import numpy as np
import pytest
from problems import problem, size

from svmstat.kernels import RBF, Linear, Polynomial
from svmstat.solver import TOLERANCE, Gram, Road, Status, solve
from svmstat.solver import gram as gram_module
from svmstat.solver.case import case_of
from svmstat.solver.gram import Room
from svmstat.solver.rough import descent
from svmstat.solver.rough.descent import descend
from svmstat.solver.solution import certify
from svmstat.solver.solve import anchor_at

TOL_FIELD = 1e-6  # decision values of two certified solutions, relative to max(1, |h|)
TOL_H = 1e-9  # h = s − Kβ after many blocks, relative to Σ|β|


def clouds(n, p=3, seed=0, apart=1.5):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    return rng.normal(size=(n, p)) + 0.5 * apart * y[:, None], y


LAYOUTS = ("complete", "lazy", "beyond budget")


@pytest.fixture(params=LAYOUTS)
def make(request, monkeypatch):
    """A function that makes a problem whose matrix is complete, lazy or beyond the budget, with small blocks."""
    monkeypatch.setattr(descent, "_SMALL", 50)
    monkeypatch.setattr(descent, "_SAMPLE", 120)
    monkeypatch.setattr(descent, "_LARGEST_BLOCK", 300)
    if request.param == "lazy":
        monkeypatch.setattr(gram_module, "AT_ONCE", 10)

    def make(X, y, upper, kernel=None):
        budget = 8 * len(y) * 100 if request.param == "beyond budget" else gram_module.DEFAULT_BUDGET
        qp = problem(X, y, upper, kernel, budget=budget)
        assert qp.gram.fits == (request.param != "beyond budget")
        assert qp.gram.is_complete == (request.param == "complete")
        return qp

    return make


def assert_same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOL_FIELD * size(expected))


def solve_both(make, X, y, upper=1.0, kernel=None):
    """The solution, which is certified, and the one with the whole matrix, which says the same."""
    solution, expected = solve(make(X, y, upper, kernel)), solve(problem(X, y, upper, kernel))
    assert solution.status is Status.CERTIFIED
    assert solution.violation <= TOLERANCE
    assert_same(solution.field, expected.field)
    return solution, expected


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4])
@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
def test_ends_within_the_tolerance(make, C, tolerance):
    X, y = clouds(700)
    qp = make(X, y, C)
    K = RBF(0.5).bind(X).gram()
    lo, hi = qp.box(qp.upper)
    beta, h = np.zeros(700), qp.linear.copy()
    steps = descend(case_of(qp, qp.upper), beta, h, tolerance, 1_000_000, Room())
    assert isinstance(steps, int) and steps > 0
    assert (beta >= lo).all() and (beta <= hi).all()
    assert abs(beta.sum()) <= TOL_H * np.abs(beta).sum()
    np.testing.assert_allclose(h, qp.linear - K @ beta, rtol=0, atol=TOL_H * size(np.abs(beta).sum()))
    assert certify(h, beta, lo, hi)[2] <= tolerance


def test_stops_after_the_steps_allowed(make):
    X, y = clouds(700)
    qp = make(X, y, 50.0)
    beta, h = np.zeros(700), qp.linear.copy()
    assert descend(case_of(qp, qp.upper), beta, h, 1e-6, 37, Room()) <= 37
    assert abs(beta.sum()) <= TOL_H * np.abs(beta).sum()
    np.testing.assert_allclose(h, qp.linear - RBF(0.5).bind(X).gram() @ beta, rtol=0, atol=1e-9)


def test_goes_on_from_where_it_was(make):
    X, y = clouds(700)
    qp = make(X, y, 1.0)
    lo, hi = qp.box(qp.upper)
    beta, h = np.zeros(700), qp.linear.copy()
    descend(case_of(qp, qp.upper), beta, h, 1e-1, 1_000_000, Room())
    descend(case_of(qp, qp.upper), beta, h, 1e-5, 1_000_000, Room())
    assert certify(h, beta, lo, hi)[2] <= 1e-5
    assert descend(case_of(qp, qp.upper), beta, h, 1e-5, 1_000_000, Room()) == 0


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_solution_does_not_depend_on_the_layout(make, kernel, C):
    X, y = clouds(900, seed=2)
    solution, expected = solve_both(make, X, y, C, kernel)
    assert solution.intercept == pytest.approx(expected.intercept, abs=TOL_FIELD * size(expected.field))


def test_rows_without_room_and_uneven_bounds(make):
    X, y = clouds(800, seed=3)
    upper = np.random.default_rng(4).choice([0.0, 0.5, 1.0, 7.0], 800)
    solution, _ = solve_both(make, X, y, upper)
    assert (solution.alpha[upper == 0] == 0).all()


def test_a_rare_class(make):
    """Few rows of one class: a sample of the rows may hold none of them."""
    X, y = clouds(1500, seed=5)
    y[:] = -1.0
    y[[3, 700, 1400]] = 1.0
    solve_both(make, X, y)


def test_all_copies(make):
    """Four places only, 400 rows: the matrix has rank four, and every free row has copies."""
    X = np.repeat(np.array([[0.0], [1.0], [2.0], [3.0]]), 100, axis=0)
    y = np.where(np.random.default_rng(6).random(400) < 0.3 + 0.1 * X[:, 0], 1.0, -1.0)
    solve_both(make, X, y)


def test_deletions_beyond_the_budget(make):
    """Without the whole matrix every new bound is solved anew, from the start given."""
    X, y = clouds(600, seed=8)
    qp = make(X, y, 1.0)
    start = solve(qp)
    support = np.flatnonzero(start.alpha)[:3]
    uppers = np.ones((4, 600))
    uppers[np.arange(3), support] = 0.0
    batch = solve(qp, uppers, start=start)
    assert (batch.status == Status.CERTIFIED).all()
    assert_same(batch.field, solve(problem(X, y, 1.0), uppers).field)


def test_three_thousand_rows_beyond_the_budget(monkeypatch):
    """With the constants that users have, up to the largest block."""
    X, y = clouds(3000, p=2, seed=10, apart=3.0)
    small, lazy = problem(X, y, 1.0, budget=2**20), problem(X, y, 1.0)
    assert not small.gram.fits
    assert not lazy.gram.is_complete
    a, b = solve(small), solve(lazy)
    assert a.status is Status.CERTIFIED
    assert b.status is Status.CERTIFIED
    assert_same(a.field, b.field)
    np.testing.assert_allclose(a.field, RBF(0.5).bind(X).gram() @ (a.alpha * y), rtol=0, atol=1e-9 * a.alpha.sum())


@pytest.mark.parametrize(("n", "seed"), [(60, 12), (100, 2), (100, 24), (150, 16)])
def test_a_path_that_leads_nowhere_leaves_what_the_descent_had(n, seed):
    """Kernel values over fourteen decades at a large cost: no double can be certified, but none is thrown away."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) * 10 ** rng.uniform(-2, 2, 5)
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    qp = problem(X, y, 1e4, Polynomial(0.5, 0.0, 4))
    lo, hi = qp.box(qp.upper)
    beta, h = np.zeros(n), qp.linear.copy()
    descend(case_of(qp, qp.upper), beta, h, 1e-2, 20_000, Room())
    assert solve(qp).violation <= (1.0 + TOL_FIELD) * certify(h, beta, lo, hi)[2]


def test_deletions_that_move_nothing_beyond_the_budget(monkeypatch):
    """They take no kernel value, which would have to be computed."""
    X, y = clouds(300, seed=9)
    qp = problem(X, y, 1.0, budget=1)
    start = solve(qp)
    anchor = anchor_at(qp, start)
    idle = np.flatnonzero(start.alpha == 0)
    uppers = np.ones((len(idle), 300))
    uppers[np.arange(len(idle)), idle] = 0.0
    with monkeypatch.context() as nothing:
        nothing.setattr(Gram, "add", None)
        nothing.setattr(Gram, "block", None)
        batch = solve(qp, uppers, start=anchor)
    assert len(idle) > 50 and (batch.status == Status.CERTIFIED).all() and (batch.road == Road.PATH).all()
    np.testing.assert_array_equal(batch.alpha, np.tile(start.alpha, (len(idle), 1)))
    assert_same(batch.field, solve(problem(X, y, 1.0), uppers).field)
