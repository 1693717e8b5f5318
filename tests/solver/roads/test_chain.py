"""Bounds in turn, each solution the start of the path to the next: the same solutions as by cold starts."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import clouds, problem, seeds, with_upper

from svmstat.kernels import RBF, Linear, Polynomial
from svmstat.solver import TOLERANCE, Road, Solution, Status, solve
from svmstat.solver.roads.chain import carried_h, carried_over

TOL_FIELD = 1e-6  # decision values and intercepts of two certified solutions, relative to max(1, |h|)
TOL_H = 1e-12  # rounding of h
TOL_OBJECTIVE = 1e-8  # dual values, relative to max(1, their size): of second order in the violation
TOL_INTERVAL = 1e-6  # ends of the intercept's interval


def in_turn(qp, uppers, **options):
    return list(solve(qp, np.asarray(uppers, float), in_turn=True, **options))


def check(qp, uppers, found):
    """Every solution of a chain against a cold one: certificate, h, value, interval of b."""
    assert len(found) == len(uppers)
    for upper, solution in zip(uppers, found, strict=True):
        cold = solve(with_upper(qp, upper))
        assert solution.status is cold.status is Status.CERTIFIED
        assert solution.violation <= TOLERANCE
        np.testing.assert_array_equal(solution.upper, upper)
        assert (solution.alpha >= 0).all() and (solution.alpha <= upper).all()
        size = max(1.0, float(np.abs(cold.field).max()))
        near = TOL_FIELD * size + 2.0 * np.sqrt(2.0 * max(cold.gap, solution.gap, 0.0) * qp.gram.diagonal.max())
        np.testing.assert_allclose(solution.field, cold.field, rtol=0, atol=near)
        assert solution.objective == pytest.approx(cold.objective, abs=TOL_OBJECTIVE * max(1.0, abs(cold.objective)))
        np.testing.assert_allclose(
            solution.intercept_interval, cold.intercept_interval, rtol=0, atol=near + TOL_INTERVAL * size
        )


@given(seed=seeds, steps=st.integers(1, 6))
def test_costs_up_and_down(draw_problem, seed, steps):
    """Every kind of data, label, margin and kernel; all bounds times a factor."""
    drawn = draw_problem(seed, upper="1", kernel="rbf")
    uppers = np.outer(10 ** drawn.rng.uniform(-3, 3, steps), drawn.qp.upper)
    check(drawn.qp, uppers, in_turn(drawn.qp, uppers))


@given(seed=seeds, steps=st.integers(1, 4))
def test_any_bounds(draw_problem, seed, steps):
    """Bounds that rise and fall, some to zero, and back."""
    drawn = draw_problem(seed, design="normal", kernel="rbf", upper="1")
    rng, y = drawn.rng, drawn.qp.signs
    uppers = rng.choice([0.0, 0.3, 1.0, 5.0], size=(steps, drawn.qp.n))
    uppers[:, np.argmax(y)] = uppers[:, np.argmin(y)] = 1.0
    check(drawn.qp, uppers, in_turn(drawn.qp, uppers))


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear(), Polynomial(0.5, 1.0, 3)], ids=lambda kernel: kernel.name)
def test_a_fine_line_of_costs(kernel, dense_qp):
    X, y = clouds(81, seed=1)
    qp = problem(X, y, 1.0, kernel)
    costs = np.geomspace(0.03, 30, 120)
    found = in_turn(qp, np.outer(costs, np.ones(81)))
    check(qp, np.outer(costs, np.ones(81))[::9], found[::9])
    assert all(solution.road is Road.PATH for solution in found)
    assert sum(solution.steps for solution in found) == 0
    for solution in found[::40]:
        optimum = dense_qp(qp, solution.upper).objective
        assert solution.objective <= optimum + TOL_OBJECTIVE * max(1.0, abs(optimum))


@pytest.mark.parametrize("n", [10, 40])
@pytest.mark.parametrize("apart", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()], ids=lambda kernel: kernel.name)
def test_balanced_classes_at_small_costs_have_no_free_row(kernel, apart, n, intercepts):
    """Every α at its bound: the intercept is an interval, however the solution was reached."""
    for seed in range(4):
        X, y = clouds(n, seed=seed, apart=apart)
        qp = problem(X, y, 1.0, kernel)
        uppers = np.outer([0.1, 1e-2, 1e-3, 1e-4, 1e-2, 1.0, 1e-3], np.ones(n))
        found = in_turn(qp, uppers)
        check(qp, uppers, found)
        for upper, solution in zip(uppers, found, strict=True):
            if solve(with_upper(qp, upper)).free.any():
                continue
            assert not solution.free.any()
            expected = intercepts(qp, solution.field, upper)
            np.testing.assert_allclose(solution.intercept_interval, expected, rtol=0, atol=TOL_INTERVAL)


@pytest.mark.parametrize("apart", [0.5, 8.0])
@pytest.mark.parametrize("kernel", [RBF(2.0), Linear()], ids=lambda kernel: kernel.name)
def test_leaps(kernel, apart):
    """From nearly nothing to nearly separable: hundreds of events, and more free rows than there is room for."""
    X, y = clouds(251, seed=2, apart=apart)
    qp = problem(X, y, 1.0, kernel)
    uppers = np.outer([1e-6, 1e3, 1e-6, 1.0, 1e4, 1e-2], np.ones(251))
    found = in_turn(qp, uppers)
    check(qp, uppers, found)
    if kernel.name == "rbf" and apart < 1:
        assert np.count_nonzero(found[1].free) - np.count_nonzero(found[0].free) > 64


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()], ids=lambda kernel: kernel.name)
def test_copies_and_rivals(kernel):
    """Rows twice, and rows under both labels: a singular matrix, ties along the whole path."""
    X, y = clouds(21, seed=3)
    X, y = np.vstack([X, X[:8], X[4:12]]), np.concatenate([y, y[:8], -y[4:12]])
    qp = problem(X, y, 1.0, kernel)
    uppers = np.outer(np.geomspace(1e-2, 1e2, 25), np.ones(len(y)))
    check(qp, uppers, in_turn(qp, uppers))
    check(qp, uppers[::-1], in_turn(qp, uppers[::-1]))


@pytest.mark.parametrize("apart", [6.0, 12.0])
def test_separable(apart):
    """Beyond some cost the solution stays, and no row is at its bound."""
    X, y = clouds(41, seed=4, apart=apart)
    for kernel in (RBF(0.5), Linear()):
        qp = problem(X, y, 1.0, kernel)
        uppers = np.outer([1e-2, 1.0, 1e2, 1e4, 1e6, 1e2], np.ones(41))
        found = in_turn(qp, uppers)
        check(qp, uppers, found)
        np.testing.assert_allclose(found[4].field, found[3].field, rtol=0, atol=TOL_FIELD)


def test_the_same_bounds_again_cost_nothing():
    X, y = clouds(41)
    qp = problem(X, y, 1.0)
    found = in_turn(qp, np.ones((4, 41)))
    origin = solve(qp)
    for solution in found:
        np.testing.assert_allclose(solution.field, origin.field, rtol=0, atol=1e-12)
        assert (solution.events, solution.steps) == (0, 0)


def test_a_class_that_vanishes_on_the_way():
    """A status and NaN, and the next solution is right again."""
    X, y = clouds(41)
    qp = problem(X, y, 1.0)
    uppers = np.array([np.ones(41), np.where(y > 0, 0.0, 1.0), np.full(41, 2.0), np.zeros(41), np.full(41, 0.5)])
    found = in_turn(qp, uppers)
    check(qp, uppers[::2], found[::2])
    for solution in found[1::2]:
        assert solution.status is Status.ONE_CLASS
        assert np.isnan(solution.alpha).all() and np.isnan(solution.intercept)
    lost = solve(with_upper(qp, uppers[1]))
    check(qp, uppers[::2], in_turn(qp, uppers[::2], start=lost))


def test_a_start_that_is_given():
    X, y = clouds(61, seed=5)
    qp = problem(X, y, 1.0)
    start = solve(with_upper(qp, np.full(61, 3.0)))
    before = start.alpha.copy(), start.field.copy(), start.basis.inverse.copy() if start.basis else None
    uppers = np.outer([3.1, 2.0, 5.0], np.ones(61))
    given_uppers = uppers.copy()
    check(qp, uppers, in_turn(qp, given_uppers, start=start))
    np.testing.assert_array_equal(given_uppers, uppers)
    np.testing.assert_array_equal(start.alpha, before[0])
    np.testing.assert_array_equal(start.field, before[1])
    if start.basis:
        np.testing.assert_array_equal(start.basis.inverse, before[2])


def test_a_matrix_that_is_not_kept():
    X, y = clouds(61, seed=6)
    uppers = np.outer([0.1, 1.0, 20.0, 0.5], np.ones(61))
    small = problem(X, y, 1.0, budget=0)
    assert not small.gram.fits
    whole = in_turn(problem(X, y, 1.0), uppers)
    for one, two in zip(in_turn(small, uppers), whole, strict=True):
        assert one.status is Status.CERTIFIED
        np.testing.assert_allclose(one.decision, two.decision, rtol=0, atol=TOL_FIELD)


def test_one_after_another():
    X, y = clouds(41)
    qp = problem(X, y, 1.0)
    found = solve(qp, np.outer([1.0, 2.0], np.ones(41)), in_turn=True)
    assert isinstance(found, Iterator)
    assert isinstance(next(found), Solution)
    assert len(list(found)) == 1
    assert in_turn(qp, np.empty((0, 41))) == []


@given(seed=seeds, steps=st.integers(1, 5))
def test_one_by_one_from_the_last(draw_problem, seed, steps):
    """solve(…, start=…): costs that rise until no row is at its bound, and bounds that open and close."""
    drawn = draw_problem(seed, design="normal", kernel="rbf", upper="1")
    rng, last, found, uppers = drawn.rng, None, [], []
    for cost in np.sort(10 ** drawn.rng.uniform(-1, 4, steps)):
        uppers.append(cost * drawn.qp.upper * np.where(rng.random(drawn.qp.n) < 0.1, 0.0, 1.0))
        uppers[-1][[np.argmax(drawn.qp.signs), np.argmin(drawn.qp.signs)]] = cost
        last = solve(with_upper(drawn.qp, uppers[-1]), start=last)
        found.append(last)
    check(drawn.qp, uppers, found)


def test_a_solution_without_rows_at_their_bound_stays():
    X, y = clouds(60, seed=2, apart=3.0)
    last = solve(problem(X, y, 1e4, RBF(0.5)))
    assert not last.bounded.any() and last.steps > 0
    more = np.full(60, 1e5)
    found = solve(with_upper(problem(X, y, 1e4, RBF(0.5)), more), start=last)
    np.testing.assert_array_equal(found.alpha, last.alpha)
    assert found.steps == found.events == 0
    np.testing.assert_allclose(found.intercept_interval, last.intercept_interval, rtol=1e-12)
    check(problem(X, y, 1e4, RBF(0.5)), [more], [found])
    closed = np.where(np.arange(60) == np.flatnonzero(last.alpha)[0], 0.0, more)
    opened = solve(with_upper(problem(X, y, 1.0, RBF(0.5)), closed), start=found)
    assert opened.steps + opened.events > 0  # a support vector had to go
    check(problem(X, y, 1.0, RBF(0.5)), [closed], [opened])
    again = solve(with_upper(problem(X, y, 1.0, RBF(0.5)), more), start=opened)
    check(problem(X, y, 1.0, RBF(0.5)), [more], [again])
    assert again.alpha[closed == 0.0] > 0.0


@pytest.mark.parametrize("times", [0.25, 1.0, 3.0])
def test_h_of_a_multiple_needs_no_kernel_value(times):
    """All bounds times a factor: β is carried over as a multiple, and its h with it; of another β it is not known."""
    X, y = clouds(60)
    qp = problem(X, y, 1.0, RBF(0.5))
    last, other = solve(qp), with_upper(qp, times * qp.upper)
    beta = carried_over(other, other.upper, last)
    h = carried_h(other, beta, last)
    np.testing.assert_allclose(h, qp.linear - qp.gram.complete() @ beta, rtol=0, atol=TOL_H)
    assert carried_h(other, np.where(np.arange(60) == np.argmax(np.abs(beta)), 0.5, 1.0) * beta, last) is None
    assert carried_h(other, None, last) is None


@pytest.mark.parametrize(("gamma", "few"), [(0.05, False), (40.0, True)])
def test_where_few_are_at_their_bound_the_same_alpha_sets_off(gamma, few):
    """The objective there is the better of that of the same α and that of all α doubled; its h is known."""
    X, y = clouds(200)
    qp = problem(X, y, 2.0, RBF(gamma))
    last, other = solve(qp), with_upper(qp, 2.0 * qp.upper)
    at_bound = np.count_nonzero(last.bounded)
    assert at_bound > 0 and (at_bound <= 0.3 * last.free.sum()) == few
    beta = carried_over(other, other.upper, last)
    assert np.abs(beta - (1.0 if few else 2.0) * qp.signs * last.alpha).max() <= 1e-12
    h = carried_h(other, beta, last)
    np.testing.assert_allclose(h, qp.linear - qp.gram.complete() @ beta, rtol=0, atol=TOL_H)

    def gained(beta):
        return beta @ qp.linear - 0.5 * beta @ qp.gram.complete() @ beta

    assert gained(beta) >= gained((2.0 if few else 1.0) * qp.signs * last.alpha)
    below = carried_over(other, 0.5 * qp.upper, last)
    assert (np.abs(below) <= 0.5 * qp.upper).all() and abs(below.sum()) <= 1e-12
    check(qp, [2.0 * qp.upper], [solve(other, start=last)])
