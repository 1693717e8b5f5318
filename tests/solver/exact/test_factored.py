"""Solutions by a short factor of K: where K has lost the digits that tell the free rows apart."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import seeds

from svmstat import svm
from svmstat.kernels import RBF, Linear, Polynomial
from svmstat.solver import BoxQP, Gram, Status, solve
from svmstat.solver.case import case_of, fresh, judge
from svmstat.solver.exact.factored import finish, unsettled
from svmstat.solver.hulls import feasible, may_reach
from svmstat.solver.pivoted import MOST_COLUMNS, short_factor

EPS = 2.0**-52


def factor_of(K):
    return short_factor(K.__getitem__, K.diagonal())


@given(seed=seeds, n=st.integers(1, 80), scale=st.sampled_from([1e-150, 1.0, 1e150]))
def test_a_short_factor_is_the_matrix(seed, n, scale):
    x = np.random.default_rng(seed).normal(size=n)
    K = scale * np.exp(-0.5 * (x[:, None] - x) ** 2)
    G = factor_of(K)
    assert G.shape[1] <= n
    assert np.abs(G @ G.T - K).max() <= 64.0 * EPS * scale
    assert (np.diff((G**2).max(axis=0)) <= 1e-12 * scale).all()


def test_it_has_as_many_columns_as_the_matrix_has_rank():
    level = np.eye(4)[np.arange(40) % 4]
    assert factor_of(level @ level.T).shape[1] == 4


@pytest.mark.parametrize(
    "K", [np.zeros((5, 5)), np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])]
)
def test_what_is_no_product_has_none(K):
    assert factor_of(K) is None


@pytest.mark.parametrize("n", [120, MOST_COLUMNS + 1])
def test_a_matrix_of_full_rank_has_none(n):
    assert factor_of(np.eye(n)) is None


@given(seed=seeds)
def test_from_zero_it_leads_to_the_solution(draw_problem, seed):
    qp = draw_problem(seed).qp
    G = qp.gram.short_factor()
    if G is None or G.shape[1] == 0 or not ((qp.upper * (qp.signs > 0)).any() and (qp.upper * (qp.signs < 0)).any()):
        return
    case, beta, h = case_of(qp, qp.upper), np.zeros(qp.n), np.empty(qp.n)
    finish(case, G, beta, h)
    found = solve(qp)
    assert (case.lo <= beta).all()
    assert (beta <= case.hi).all()
    assert abs(beta.sum()) <= 1e-12 * (1.0 + np.abs(beta).sum())
    if found.status is not Status.CERTIFIED:
        return
    h = fresh(case, beta)
    objective = 0.5 * beta @ (qp.linear - h) - qp.linear @ beta
    noise = 1e3 * (found.rounding + EPS) * (1.0 + np.abs(beta).sum())
    assert judge(case, beta, h).violation <= 1e-8 + noise
    assert objective == pytest.approx(found.objective, rel=1e-8, abs=noise)


def test_a_matrix_of_zeros_keeps_the_sum():
    """Of three events and five others the lighter class is at its bounds, and h = 0."""
    y = np.array([1.0] * 3 + [-1.0] * 5)
    qp = BoxQP(Gram(Linear().bind(np.zeros((8, 1)))), y, np.ones(8), np.ones(8))
    case, beta, h = case_of(qp, qp.upper), np.zeros(8), np.empty(8)
    finish(case, np.zeros((8, 0)), beta, h)
    assert beta.sum() == 0.0
    assert beta[:3].tolist() == [1.0] * 3
    np.testing.assert_array_equal(h, qp.linear)


@given(seed=seeds)
def test_hulls_by_it_are_as_near_as_by_the_path(draw_hulls, seed):
    qp = draw_hulls(seed).qp
    lo, hi = qp.box(qp.upper)
    G = qp.gram.short_factor()
    if G is None or not may_reach(qp, lo, hi):
        return
    case, found = case_of(qp, qp.upper), solve(qp)
    beta, h = feasible(np.zeros(qp.n), np.zeros(qp.n), lo, hi, 1.0), np.empty(qp.n)
    ended = finish(case, G, beta, h) < 60 * (G.shape[1] + 2) + 4 * qp.n  # else events without progress may go on
    assert (case.lo <= beta).all() and (beta <= case.hi).all()
    for sign in (1.0, -1.0):
        assert beta[qp.signs == sign].sum() == pytest.approx(sign, rel=1e-12)
    squared, noise = -beta @ fresh(case, beta), 1e3 * EPS * np.abs(qp.gram.diagonal).max()
    if ended and found.status is Status.CERTIFIED:
        assert squared <= max(-found.nearest.beta @ found.nearest.h * (1.0 + 1e-8) + noise, case.nothing)


@pytest.mark.parametrize(("nu", "rate"), [((0.5, 0.5), 0.4), (0.12, 0.4), ((0.5, 0.5), 0.05)])
def test_hulls_of_one_predictor_are_certified_and_so_are_deletions(nu, rate):
    """Where they meet all is done at once; where they all but touch R has no digits, and neither had f."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=400)
    data = pd.DataFrame({"x": x, "y": rng.random(400) < 1.0 / (1.0 + np.exp(-1.5 * x) * (1.0 - rate) / rate)})
    fit = svm("y ~ x", data, nu=nu)
    loo = fit.loo()
    assert fit.converged and loo.n_failed == 0
    solution = fit.machine.pairs[0].solution
    for row in np.flatnonzero(fit.alpha)[:: len(fit.support) // 3]:
        upper = fit.machine.pairs[0].problem.upper.copy()
        upper[fit.machine.groups.of_row[row]] = 0.0
        refit = solve(replace(fit.machine.pairs[0].problem, upper=upper))
        assert refit.status is Status.CERTIFIED
        f = refit.decision[fit.machine.groups.of_row[row]]
        assert loo.decision_values.iloc[row] == pytest.approx(f, abs=1e-4 * max(1.0, abs(f)), rel=0)
    assert (solution.rho == 0.0) == (np.ptp(fit.decision_values) == 0.0)


def rare(rng, n, share, of=8):
    """Points on a grid, the events where they happen to be: h is far smaller than the margins."""
    x = np.sort(rng.integers(-64, 65, n)) / 64.0
    y = np.where(rng.random(n) < share, 1.0, -1.0)
    y[rng.integers(n)], y[0] = 1.0, -1.0
    return BoxQP(Gram(Polynomial(0.25, 1.0, of).bind(x[:, None])), y, np.ones(n), np.ones(n)), x


def exactly(x, qp, free, beta, of):
    """f at all rows but for the intercept, by the free and bound rows of a solution: in rational arithmetic."""
    points = [Fraction(value) for value in x.tolist()]
    M, bound = np.flatnonzero(free), np.flatnonzero(~free & (beta != 0.0))

    def K(i, j):
        return (points[i] * points[j] / 4 + 1) ** of

    at_bound = {int(j): Fraction(float(beta[j])) for j in bound}
    rows = [[K(i, j) for j in M] + [Fraction(1)] for i in M] + [[Fraction(1)] * len(M) + [Fraction(0)]]
    right = [Fraction(float(qp.linear[i])) - sum(b * K(i, j) for j, b in at_bound.items()) for i in M]
    solved = eliminated(rows, [*right, -sum(at_bound.values())])
    weights = at_bound | dict(zip(M.tolist(), solved[:-1], strict=True))
    return np.array([float(sum(b * K(i, j) for j, b in weights.items())) for i in range(len(x))])


def eliminated(rows, right):
    """The solution of a regular system, by elimination."""
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    for p in range(len(table)):
        pivot = next(k for k in range(p, len(table)) if table[k][p] != 0)
        table[p], table[pivot] = table[pivot], table[p]
        for k in range(len(table)):
            if k != p and table[k][p] != 0:
                times = table[k][p] / table[p][p]
                table[k] = [a - times * b for a, b in zip(table[k], table[p], strict=True)]
    return [row[-1] / row[p] for p, row in enumerate(table)]


@pytest.mark.parametrize("seed", range(6))
def test_f_is_that_of_rational_arithmetic(seed):
    qp, x = rare(np.random.default_rng(seed), 60, 0.08)
    found = solve(qp)
    assert found.status is Status.CERTIFIED
    if found.flat:
        return
    true = exactly(x, qp, found.free, qp.signs * found.alpha, 8)
    off = np.ptp(found.field - true)
    assert off <= max(1e-6 * np.ptp(true), found.resolution)


@pytest.mark.parametrize(("n", "share", "seed"), [(300, 0.03, 3), (300, 0.1, 7), (300, 0.1, 0), (300, 0.03, 0)])
def test_what_is_nearly_flat_is_the_same_from_everywhere(n, share, seed):
    """Solutions differ by a tenth of their spread at most, or what digits of K may change; they had shared none."""
    rng = np.random.default_rng(seed)
    qp = BoxQP(
        Gram(RBF(1.0).bind(rng.normal(size=(n, 1)))), np.where(rng.random(n) < share, 1.0, -1.0), *np.ones((2, n))
    )
    case, G, found = case_of(qp, qp.upper), qp.gram.short_factor(), solve(qp)
    beta, h = np.zeros(n), np.empty(n)
    finish(case, G, beta, h)
    h = fresh(case, beta)
    changes = 8.0 * unsettled(case, G, beta, h)
    assert judge(case, beta, h).violation <= 1e-13
    assert found.status is Status.CERTIFIED
    assert np.ptp(qp.linear - h - found.field) <= max(changes, found.resolution, 0.1 * np.ptp(qp.linear - h))


def test_many_rows_of_one_predictor_are_certified():
    """Where no kernel value is kept K has a short factor all the same; it had been 40 s, and no certificate."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=5000)
    y = np.where(rng.random(5000) < 0.4 / (1.0 + np.exp(-2.0 * x)), 1.0, -1.0)
    qp = BoxQP(Gram(RBF(1.0).bind(x[:, None] / x.std())), y, np.ones(5000), np.ones(5000))
    found = solve(qp)
    assert found.status is Status.CERTIFIED
    assert found.violation <= 1e-11


def test_each_row_left_out_is_a_refit():
    """Rare events and one predictor: f is a constant but for a millionth, and each deletion finds it."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"x": rng.normal(size=300), "y": rng.random(300) < 0.1})
    how = {"gamma": 1.0, "scale": False}
    fit = svm("y ~ x", data, **how)
    values, spread = fit.loo().decision_values, np.ptp(fit.decision_values)
    assert 1e-7 < spread < 1e-5
    for row in (*np.flatnonzero(data.y)[:4], 0, 1):
        refit = svm("y ~ x", data.drop(index=row), **how)
        assert values[row] == pytest.approx(refit.decision_function(data.iloc[[row]]).iloc[0], abs=1e-2 * spread)


@pytest.mark.parametrize("seed", [130, 202, 248])
def test_a_row_far_away_does_not_hide_what_the_others_tell(seed):
    """Its kernel value with itself is far larger than theirs; a last place of it had counted as one of each."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.lognormal(size=(16, 3)) ** 2, columns=list("abc"))
    data["y"] = rng.permutation(16) < 8
    how = {"kernel": "poly", "degree": 3, "coef0": 1.0, "gamma": 1.0, "scale": False, "C": 1e4}
    fit = svm("y ~ a + b + c", data, **how)
    assert fit.converged
    f = fit.decision_values
    assert ((f > 0) == data["y"]).all()
    held_out = fit.loo().decision_values
    for row in range(16):
        refit = svm("y ~ a + b + c", data.drop(index=row), **how).decision_function(data.iloc[[row]]).iloc[0]
        assert held_out[row] == pytest.approx(refit, rel=1e-5, abs=1e-5)


def test_a_wide_kernel_of_some_thousand_rows_has_a_factor():
    """Its diagonal falls below zero by what so many columns leave of rounding."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 4))
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    squares = (X**2).sum(axis=1)
    K = np.exp(-0.01 * np.maximum(squares[:, None] + squares - 2.0 * X @ X.T, 0.0))
    np.fill_diagonal(K, 1.0)
    G = factor_of(K)
    assert G is not None and 500 < G.shape[1] <= MOST_COLUMNS
    assert np.abs(G @ G.T - K).max() < 1e-11
