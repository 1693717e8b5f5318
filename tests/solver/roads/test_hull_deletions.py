"""Nearest points without a row, by the tableau of two sums: as each for itself, and where it is left to that."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from problems import clouds, problem, seeds, size, two_classes

from svmstat.kernels import RBF, Linear, Polynomial
from svmstat.solver import BoxQP, Gram, Road, Status, anchor_at, solve
from svmstat.solver.roads.hull_deletions import certify_hulls
from svmstat.solver.roads.paths import ARRIVED, Paths, Wanted

# f of two certified solutions, relative to max(1, |f|), and the last digits of an interval.
TOL_FIELD = 1e-6


def without_each(qp, share=0.0):
    """(n, n) the bounds of a problem, of one row a share of them."""
    uppers = np.tile(qp.upper, (qp.n, 1))
    uppers[np.arange(qp.n), np.arange(qp.n)] *= share
    return uppers


def by_tableau(qp, uppers):
    return solve(qp, uppers, start=anchor_at(qp, solve(qp)))


def assert_same(batch, q, other, qp):
    """Result q of a batch is that of another road, in every number that is determined."""
    assert batch.status[q] == Status.CERTIFIED and other.status is Status.CERTIFIED
    apart = np.sqrt(2.0 * np.abs(qp.gram.diagonal).max()) * (np.sqrt(batch.gap[q]) + np.sqrt(max(other.gap, 0.0)))
    atol = 2.0 * (TOL_FIELD * size(other.decision) + apart)
    np.testing.assert_allclose(batch.field[q] + batch.intercept[q], other.field + other.intercept, rtol=0, atol=atol)
    np.testing.assert_allclose(batch.intercept_interval[q], other.intercept_interval, rtol=0, atol=atol)
    assert batch.rho[q] == pytest.approx(other.rho, rel=1e-6 + atol)
    assert batch.violation[q] <= 1e-8 and batch.gap[q] >= 0.0


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_a_row_less_or_half_of_it(seed, draw_hulls):
    drawn = draw_hulls(seed)
    qp = drawn.qp
    if not two_classes(qp) or solve(qp).status is not Status.CERTIFIED:
        return
    uppers = without_each(qp, float(drawn.rng.choice([0.0, 0.5])))
    batch = by_tableau(qp, uppers)
    for q in np.flatnonzero(batch.road == Road.TABLEAU)[:8]:
        assert_same(batch, q, solve(replace(qp, upper=uppers[q])), qp)


def test_all_support_vectors_of_mackerel_go_by_the_tableau(mackerel):
    n, event = len(mackerel.y), mackerel.y > 0
    qp = BoxQP(Gram(RBF(0.25).bind(mackerel.X)), mackerel.y, np.ones(n), np.where(event, 0.45, 0.55) / n, 0.1)
    start = solve(qp)
    batch = by_tableau(qp, without_each(qp))
    assert (batch.status == Status.CERTIFIED).all()
    np.testing.assert_array_equal(batch.road == Road.TABLEAU, start.alpha > 0.0)
    assert not batch.steps.any() and not batch.events[start.alpha == 0.0].any()
    for q in np.flatnonzero(start.alpha > 0.0)[::40]:
        assert_same(batch, q, solve(replace(qp, upper=without_each(qp)[q])), qp)
    np.testing.assert_array_equal(batch.field[start.alpha == 0.0][0], start.field)


@pytest.mark.parametrize("g", [1.0, -1.0])
def test_a_class_that_loses_its_last_free_row(g):
    """One row of each class is free; without it another one has to make up for it."""
    X, y = clouds(60, seed=1, apart=2.0)
    qp = replace(problem(X, y, 0.1, Linear()), total=0.95)
    (row,) = np.flatnonzero(solve(qp).free & (y == g))
    uppers = without_each(qp)
    batch = by_tableau(qp, uppers)
    assert batch.road[row] == Road.TABLEAU and batch.events[row] > 0
    assert_same(batch, row, solve(replace(qp, upper=uppers[row])), qp)


def test_a_class_without_a_free_row():
    """Every row of one class is at its bound: its tableau is made as if one were free, and its rows go by it."""
    X, y = clouds(40, seed=1)
    y = np.where(np.arange(40) < 4, 1.0, -1.0)
    qp = replace(problem(X, y, np.where(y > 0, 0.25, 0.1)), total=1.0)
    start = solve(qp)
    assert not start.free[y > 0].any() and start.free[y < 0].any()
    uppers = np.array([np.where(np.arange(40) == k, 0.2 if y[k] > 0 else 0.0, qp.upper) for k in range(40)])
    uppers[y > 0] = np.where(y > 0, 0.3, uppers[y > 0])
    batch = by_tableau(qp, uppers)
    assert (batch.status == Status.CERTIFIED).all()
    for q in range(0, 40, 3):
        assert_same(batch, q, solve(replace(qp, upper=uppers[q])), qp)


@pytest.mark.parametrize("apart", [0.0, 1e-7])
def test_hulls_without_digits_are_left_to_others(apart):
    """Where they meet, or ρ has fewer digits than h, each is solved for itself."""
    X, _ = clouds(40, seed=5)
    rows, y = np.concatenate([X, X + apart]), np.repeat([1.0, -1.0], 40)
    qp = replace(problem(rows, y, 0.1), total=1.0)
    batch = by_tableau(qp, without_each(qp))
    assert not (batch.road == Road.TABLEAU).any()
    for q in (0, 50):
        other = solve(replace(qp, upper=without_each(qp)[q]))
        assert batch.status[q] == other.status and batch.rho[q] == pytest.approx(other.rho, rel=1e-3, abs=1e-12)


def test_what_a_path_has_lost_is_corrected_class_by_class():
    X, y = clouds(80, seed=2)
    qp = replace(problem(X, y, 0.1), total=1.0)
    start = solve(qp)
    anchor, K, nearest = anchor_at(qp, start), qp.gram.complete(), start.nearest
    paths, ends, unbalanced = Paths.empty(1, 80), np.zeros((2, 1, 2)), np.zeros(1)
    paths.beta[0], paths.code[0] = nearest.beta, ARRIVED
    for g in (1.0, -1.0):
        paths.beta[0, np.flatnonzero(start.free & (y == g))[:2]] += [1e-6, -1e-6]
    paths.h[0] = -K @ paths.beta[0]
    certify_hulls(K, anchor.tableau, Wanted(y, qp.upper[None]), qp.sums.group, paths, *ends, unbalanced)
    assert paths.code[0] == ARRIVED and paths.violation[0] <= 1e-13 and unbalanced[0] <= 1e-13
    np.testing.assert_allclose(paths.beta[0], nearest.beta, rtol=0, atol=1e-11)
    np.testing.assert_allclose(paths.h[0], -K @ paths.beta[0], rtol=0, atol=1e-13)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(0.5, 1.0, 2)])
def test_hulls_that_meet_do_so_without_a_row_that_is_not_needed(kernel):
    """A distance of zero cannot become less, and larger bounds keep it."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(90, 2)), np.where(np.arange(90) % 2 == 0, 1.0, -1.0)
    qp = replace(problem(X, y, 1.0, kernel), total=9.0)
    start = solve(qp)
    assert start.rho == 0.0 and start.flat
    uppers = np.vstack([without_each(qp), 2.0 * qp.upper, np.where(start.alpha > 0.0, qp.upper, 0.0)])
    batch = by_tableau(qp, uppers)
    stays = np.append(start.alpha == 0.0, [True, True])
    assert stays.sum() > 20
    np.testing.assert_array_equal(batch.road == Road.PATH, stays)
    for q in np.flatnonzero(stays)[::9]:
        other = solve(replace(qp, upper=uppers[q]))
        assert other.rho == batch.rho[q] == 0.0 and batch.status[q] == other.status
        np.testing.assert_array_equal(batch.field[q] + batch.intercept[q], other.field + other.intercept)
        assert (batch.alpha[q] <= uppers[q]).all()
    turn = next(solve(qp, uppers[stays][:1], start=start, in_turn=True))
    np.testing.assert_array_equal(turn.upper, uppers[stays][0])
    np.testing.assert_array_equal(turn.alpha, start.alpha)
