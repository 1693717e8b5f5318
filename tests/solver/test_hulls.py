"""The sum of each class given: against a dense QP, against the equivalent problem without sums, and by identities."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from problems import part, seeds, size, two_classes

from svmstat.kernels import RBF, Linear, Precomputed
from svmstat.solver import TOLERANCE, BoxQP, Gram, Road, Status, solve
from svmstat.solver.case import case_of
from svmstat.solver.exact.bordered import REGULAR, bordered_block, bordered_inverse
from svmstat.solver.hulls import feasible

# The squared distance by the interior-point method, as a share of the largest kernel value.
TOL_SQUARED = 1e-8
# Decision values of two certified solutions, relative to max(1, |f|).
TOL_FIELD = 1e-6
# An inverse times its matrix.
TOL_INVERSE = 1e-8


def unsure(a, b, qp):
    """How far two certified fits may be apart, on the scale of the margins: ½‖f − f*‖² ≤ gap."""
    return np.sqrt(2.0 * np.abs(qp.gram.diagonal).max()) * (np.sqrt(max(a.gap, 0.0)) + np.sqrt(max(b.gap, 0.0)))


def resolved(solution, qp):
    """Whether ρ is so large that rounding leaves f / ρ eight digits, clearly."""
    hulls, nearest = case_of(qp, qp.upper), solution.nearest
    return solution.rho / qp.total > 4 * hulls.rounding / TOLERANCE and -nearest.beta @ nearest.h > 4 * hulls.nothing


def assert_same(a, b, qp, rows_a=slice(None), rows_b=slice(None)):
    """The same solution, or none for the same reason; where hulls all but touch there is nothing to compare."""
    lost = (Status.ONE_CLASS, Status.INFEASIBLE)
    assert (a.status in lost) == (b.status in lost)
    if a.status in lost or not (resolved(a, qp) or resolved(b, qp)):
        return
    assert a.status is b.status is Status.CERTIFIED
    atol = TOL_FIELD * size(b.decision) + unsure(a, b, qp)
    np.testing.assert_allclose(a.decision[rows_a], b.decision[rows_b], rtol=0, atol=2 * atol)
    assert a.rho == pytest.approx(b.rho, rel=1e-6 + 2 * atol)


def free_in_both(qp, solution):
    return bool(solution.free[qp.signs > 0].any() and solution.free[qp.signs < 0].any())


# -- optimality ------------------------------------------------------------------------------------------------------


@given(seed=seeds)
@example(seed=1025)
@example(seed=1738)
@settings(max_examples=150, deadline=None)
def test_the_distance_of_the_hulls(seed, draw_hulls, dense_hulls):
    qp = draw_hulls(seed).qp
    if not two_classes(qp):
        return
    solution, dense = solve(qp), dense_hulls(qp)
    nearest, hulls = solution.nearest, case_of(qp, qp.upper)
    squared = max(-nearest.beta @ nearest.h, 0.0)
    if dense.accurate:
        assert squared <= dense.squared + TOL_SQUARED * dense.scale
    if solution.status is not Status.CERTIFIED:  # only where rounding leaves f / ρ no eight digits
        assert solution.rho / qp.total < 1.01 * hulls.rounding / TOLERANCE
    assert solution.alpha.min() >= 0.0
    assert (solution.alpha <= solution.upper).all()


@given(seed=seeds)
@settings(max_examples=150, deadline=None)
def test_the_solution_is_that_of_the_equivalent_problem(seed, draw_hulls, optimality):
    """[004: Theorem 2]: without sums, for bounds u/ρ and margins one; and Σα = total/ρ over each class."""
    qp = draw_hulls(seed).qp
    solution = solve(qp) if two_classes(qp) else None
    if solution is None or solution.status is not Status.CERTIFIED or solution.rho == 0.0:
        return
    plain = BoxQP(qp.gram, qp.signs, qp.margin, solution.upper)
    judged = optimality(plain, solution.alpha, solution.intercept)
    assert judged.violation <= 2 * TOLERANCE + 2 * judged.rounding
    np.testing.assert_allclose(solution.upper * solution.rho, qp.upper, rtol=1e-12, atol=0)
    for sign in (1.0, -1.0):
        total = solution.alpha[qp.signs == sign].sum() * solution.rho
        assert total == pytest.approx(qp.total, rel=2 * TOLERANCE)
    low, high = solution.intercept_interval
    for end in (low, high):
        found = optimality(plain, solution.alpha, end).violation
        assert found <= 2 * TOLERANCE + 2 * judged.rounding + 1e-12 * size(end)
    if free_in_both(qp, solution):
        assert high - low <= 1e-7 * size(high)
        assert np.diff(solution.nearest.rho_interval)[0] <= 1e-7 * solution.rho


# -- identities ------------------------------------------------------------------------------------------------------


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_swapped_labels_negate_f(seed, draw_hulls):
    qp = draw_hulls(seed).qp
    if not two_classes(qp):
        return
    ours, swapped = solve(qp), solve(replace(qp, signs=-qp.signs))
    low, high = swapped.intercept_interval
    assert_same(replace(swapped, field=-swapped.field, intercept_interval=(-high, -low)), ours, qp)


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_only_the_ratio_of_bounds_and_total_matters(seed, draw_hulls):
    qp = draw_hulls(seed).qp
    if not two_classes(qp):
        return
    larger = solve(replace(qp, upper=3.7 * qp.upper, total=3.7 * qp.total))
    assert_same(replace(larger, nearest=replace(larger.nearest, rho=larger.rho / 3.7)), solve(qp), qp)


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_a_zero_bound_is_a_deletion(seed, draw_hulls):
    drawn = draw_hulls(seed, upper="zeros")
    qp = drawn.qp
    if not two_classes(qp):
        return
    rows = np.flatnonzero(qp.upper > 0)
    assert_same(solve(qp), solve(part(qp, rows)), qp, rows_a=rows)


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_a_row_split_in_two(seed, draw_hulls):
    drawn = draw_hulls(seed)
    qp = drawn.qp
    if not two_classes(qp):
        return
    split, share = part(qp, np.append(np.arange(qp.n), 0)), drawn.rng.uniform()
    split.upper[0], split.upper[-1] = share * qp.upper[0], (1 - share) * qp.upper[0]
    assert_same(solve(split), solve(qp), qp, rows_a=slice(-1))


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_path_cold_and_in_turn_agree(seed, draw_hulls, kinds):
    drawn = draw_hulls(seed, share=0.4)
    qp, rng = drawn.qp, drawn.rng
    if not two_classes(qp):
        return
    uppers = [np.where(np.arange(qp.n) == k, 0.0, qp.upper) for k in range(min(qp.n, 3))]
    uppers += [qp.upper * rng.poisson(1.0, qp.n), qp.upper * rng.uniform(0.5, 2.0, qp.n), qp.upper]
    batch = solve(qp, np.array(uppers))
    turn = list(solve(qp, np.array(uppers), in_turn=True))
    for q, upper in enumerate(uppers):
        cold = solve(replace(qp, upper=upper))
        assert_same(turn[q], cold, qp)
        lost = (Status.ONE_CLASS, Status.INFEASIBLE)
        assert (batch.status[q] in lost) == (cold.status in lost) == np.isnan(batch.decision[q]).all()
        if cold.status not in lost and resolved(cold, qp):
            assert batch.status[q] == Status.CERTIFIED
            assert batch.rho[q] == pytest.approx(cold.rho, rel=1e-5)
            atol = 2 * (TOL_FIELD * size(cold.decision) + unsure(cold, turn[q], qp))
            np.testing.assert_allclose(batch.decision[q], cold.decision, rtol=0, atol=atol)


def test_deletions_go_by_the_path(mackerel):
    n, event = len(mackerel.y), mackerel.y > 0
    qp = BoxQP(Gram(RBF(0.25).bind(mackerel.X)), mackerel.y, np.ones(n), np.where(event, 0.45, 0.55) / n, 0.1)
    rows = np.arange(0, n, 9)
    uppers = np.tile(qp.upper, (len(rows), 1))
    uppers[np.arange(len(rows)), rows] = 0.0
    start = solve(qp)
    batch = solve(qp, uppers, start=start)
    assert (batch.status == Status.CERTIFIED).all()
    assert (batch.road == Road.PATH).all() and not batch.steps.any()
    unsupported = start.alpha[rows] == 0
    assert unsupported.any() and not batch.events[unsupported].any()
    assert np.abs(batch.decision[unsupported] - start.decision).max() <= 1e-9
    for solution in solve(qp, uppers[unsupported][:2], start=start, in_turn=True):
        np.testing.assert_array_equal(solution.bounded, start.bounded)
        np.testing.assert_array_equal(solution.free, start.free)


# -- the ends of the scale -------------------------------------------------------------------------------------------


def hulls(K, y, upper, total):
    K, y = np.array(K, float), np.array(y, float)
    upper = np.broadcast_to(upper, y.shape).astype(float)
    return BoxQP(Gram(Precomputed().bind(K)), y, np.ones(len(y)), upper, total)


def test_every_row_at_its_bound():
    """ν = 1: the centres of the classes. The margins are where the farthest row of each class is."""
    X = np.array([[0.0], [1.0], [2.0], [5.0], [7.0]])
    qp = hulls(X @ X.T, [-1, -1, -1, 1, 1], [1 / 3, 1 / 3, 1 / 3, 0.5, 0.5], 1.0)
    solution = solve(qp)
    assert solution.status is Status.CERTIFIED
    assert not solution.free.any() and solution.bounded.all()
    # h = (6 − 1) x, margins at x = 7 and x = 0: f = ±1 there
    np.testing.assert_allclose(solution.decision, (2 * X[:, 0] - 7) / 7, rtol=0, atol=1e-12)
    assert solution.rho == pytest.approx(5 * 3.5)
    assert solution.nearest.rho_interval == (pytest.approx(5 * 3.5), np.inf)


def test_an_interval_of_intercepts():
    """Two of four events at their bounds: every b₊ between the second and third is optimal; the middle is taken."""
    X = np.array([[0.0], [-9.0], [4.0], [5.0], [8.0], [9.0]])
    qp = hulls(X @ X.T, [-1, -1, 1, 1, 1, 1], [1, 1, 0.5, 0.5, 0.5, 0.5], 1.0)
    solution = solve(qp)
    assert solution.status is Status.CERTIFIED
    # h = 4.5 x; the margin of the events is at 6.5, half between 5 and 8, that of the others half between −9 and 0
    np.testing.assert_allclose(solution.decision, (2 * X[:, 0] - (6.5 - 4.5)) / 11, rtol=0, atol=1e-12)
    assert solution.intercept_interval[0] < solution.intercept < solution.intercept_interval[1]
    low, high = solution.nearest.rho_interval
    assert (low, high) == (pytest.approx(4.5 * 2.5), pytest.approx(4.5 * 8.5))


def test_hard_margin():
    """A tiny ν: the nearest points of the full hulls."""
    X = np.array([[0.0, 0.0], [0.0, 2.0], [2.0, 1.0], [5.0, 1.0]])
    solution = solve(hulls(X @ X.T, [-1, -1, 1, 1], 1.0, 1e-6))
    np.testing.assert_allclose(solution.decision, X[:, 0] - 1.0, rtol=0, atol=1e-12)
    assert solution.norm_squared == pytest.approx(1.0)
    assert solution.objective == pytest.approx(-0.5)


@pytest.mark.parametrize("share", [1.0, 0.7, 1e-3])
def test_identical_points_give_the_constant_zero(share):
    y = np.array([1.0, -1.0, 1.0, -1.0, -1.0])
    solution = solve(hulls(np.ones((5, 5)), y, 0.2, share * 0.4))
    assert solution.status is Status.CERTIFIED
    assert solution.rho == 0.0 and solution.nearest.rho_interval == (0.0, 0.0)
    assert not solution.decision.any() and solution.norm_squared == 0.0
    assert solution.alpha[y > 0].sum() == pytest.approx(share * 0.4)


def test_hulls_that_overlap():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), np.repeat([-1.0, 1.0], 30)
    gram = Gram(Linear().bind(X))
    overlap = solve(BoxQP(gram, y, np.ones(60), np.full(60, 1 / 30), 0.1))
    apart = solve(BoxQP(gram, y, np.ones(60), np.full(60, 1 / 30), 1.0))
    assert overlap.status is apart.status is Status.CERTIFIED
    assert overlap.rho == 0.0 and not overlap.decision.any()
    assert apart.rho > 0.0


def test_too_small_bounds_are_a_status(draw_hulls):
    qp = draw_hulls(5, n=30, upper="1", design="normal", kernel="rbf", share=1.0).qp
    fewer = np.where(np.arange(30) < 20, qp.upper, 0.0)
    single = solve(replace(qp, upper=fewer))
    assert single.status is Status.INFEASIBLE
    assert "smaller nu" in single.status.advice
    assert np.isnan(single.decision).all() and np.isnan(single.rho)
    one_class = np.where(qp.signs > 0, qp.upper, 0.0)
    batch = solve(qp, np.array([fewer, qp.upper, one_class]))
    np.testing.assert_array_equal(batch.status, [Status.INFEASIBLE, Status.CERTIFIED, Status.ONE_CLASS])
    np.testing.assert_array_equal(np.isnan(batch.decision).all(axis=1), [True, False, True])
    again = solve(qp, start=single)
    assert again.status is Status.CERTIFIED
    assert_same(again, solve(qp), qp)


def test_one_in_a_hundred():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(202, 3))
    y = np.where(np.arange(202) < 2, 1.0, -1.0)
    for share in (1.0, 0.5, 0.05, 1e-4):
        upper = np.where(y > 0, 0.5, 1 / 200)
        solution = solve(BoxQP(Gram(RBF(0.3).bind(X)), y, np.ones(202), upper, share))
        assert solution.status is Status.CERTIFIED
        assert solution.rho > 0.0


def test_more_rows_than_a_block():
    rng = np.random.default_rng(4)
    n = 3000
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, 2)) + 0.6 * y[:, None]
    stored, on_demand = Gram(RBF(0.5).bind(X)), Gram(RBF(0.5).bind(X), budget=2**20)
    solutions = [solve(BoxQP(gram, y, np.ones(n), np.full(n, 1 / n), 0.3)) for gram in (stored, on_demand)]
    assert all(solution.status is Status.CERTIFIED and solution.rho > 0.0 for solution in solutions)
    np.testing.assert_allclose(solutions[0].decision, solutions[1].decision, rtol=0, atol=TOL_FIELD)


def touching(seed):
    """Smooth kernels: ρ is 1e-8 to 1e-10 of K, so that plain sums leave f = −h/ρ no eight digits."""
    rng = np.random.default_rng(seed)
    n, p, gamma = (84, 2, 0.13) if seed % 2 else (222, 4, 0.03)
    X = rng.normal(size=(n, p))
    y = np.where(X[:, 0] * X[:, -1] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    nu = rng.uniform(0.02, 1.0, 2)
    caps = np.where(y > 0, 1.0 / (nu[0] * (y > 0).sum()), 1.0 / (nu[1] * (y < 0).sum()))
    qp = BoxQP(Gram(RBF(gamma).bind(X)), y, np.ones(n), caps, 1.0)
    return qp, solve(qp)


@pytest.mark.parametrize("seed", [9, 47, 52, 56, 175, 206, 219, 314, 342, 398])
def test_what_is_said_of_hulls_that_all_but_touch(seed):
    qp, solution = touching(seed)
    assert 1e-10 < solution.rho < 2.2e-8
    for row in (0, qp.n // 2, qp.n - 1):
        terms = zip(qp.gram.complete()[row].tolist(), solution.nearest.beta.tolist(), strict=True)
        exact = -sum(Fraction(k) * Fraction(b) for k, b in terms)
        assert float(exact) == pytest.approx(solution.nearest.h[row], rel=1e-15)
    f, inside, outside = qp.signs * solution.decision, solution.alpha < solution.upper, solution.alpha > 0
    violation = max((1.0 - f)[inside].max(), (f - 1.0)[outside].max())
    assert violation <= TOLERANCE or solution.status is not Status.CERTIFIED
    if solution.rho > 1e-9:  # below it the last digits of β decide, which are other ones on another processor
        assert solution.status is Status.CERTIFIED and solution.violation <= TOLERANCE


# -- the pieces ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("group", [[0, 1, 0, 1, 1, 0, 0, 1], [0] * 8, [1] * 8])
def test_the_inverse_with_two_borders(group):
    rng = np.random.default_rng(0)
    X, group = rng.normal(size=(8, 3)), np.array(group)
    K = RBF(0.5).bind(X).gram()
    rows = np.array([1, 3, 5, 0, 6])
    R = np.full((9, 9), 9.0)
    assert bordered_block(K, group, rows, REGULAR, R, 2) == 5
    independent, fresh = bordered_inverse(K[np.ix_(rows, rows)], group[rows], 2)
    np.testing.assert_array_equal(independent, np.arange(5))
    np.testing.assert_allclose(R[:7, :7], fresh, rtol=0, atol=TOL_INVERSE)
    classes = np.unique(group[rows])
    E = (group[rows][:, None] == classes).astype(float)
    k = len(classes)
    bordered = np.block([[np.zeros((k, k)), E.T], [E, K[np.ix_(rows, rows)]]])
    kept = np.concatenate([classes, np.arange(2, 7)])
    np.testing.assert_allclose(bordered @ R[np.ix_(kept, kept)], np.eye(k + 5), rtol=0, atol=TOL_INVERSE)


@pytest.mark.parametrize("one_by_one", [False, True])
@given(seed=seeds)
@settings(max_examples=80, deadline=None)
def test_a_carried_start_is_feasible(one_by_one, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    group = rng.integers(0, 2, n)
    group[:2] = 0, 1
    sign = np.where(group == 0, 1.0, -1.0)
    a = rng.uniform(size=n) * (rng.random(n) < 0.7)
    old = np.where(rng.random(n) < 0.3, a, 2 * a + 0.1)
    bound = rng.uniform(size=n) * (rng.random(n) < 0.8)
    bound[:2] += 0.5
    for g in (0, 1):
        bound[group == g] *= rng.uniform(1.0, 3.0) / bound[group == g].sum()
    lo, hi = np.where(group == 0, 0.0, -bound), np.where(group == 0, bound, 0.0)
    beta = feasible(sign * a, old, lo, hi, 1.0, one_by_one=one_by_one)
    assert (beta >= lo - 1e-15).all() and (beta <= hi + 1e-15).all()
    assert beta[group == 0].sum() == pytest.approx(1.0, abs=1e-12)
    assert beta[group == 1].sum() == pytest.approx(-1.0, abs=1e-12)


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_from_another_total(seed, draw_hulls):
    """From any (ν₊, ν₋) to any other."""
    drawn = draw_hulls(seed, share=0.4)
    qp = drawn.qp
    if not two_classes(qp):
        return
    ratio = np.where(qp.signs > 0, *drawn.rng.uniform(0.5, 2.0, 2))
    other = replace(qp, upper=ratio * qp.upper, total=0.7 * qp.total)
    assert_same(solve(other, start=solve(qp)), solve(other), other)


def test_rows_that_give_way_one_by_one_leave_one_free():
    """The first class has no free row, and the other loses one of its."""
    rng = np.random.default_rng(0)
    sign, u = np.repeat([1.0, -1.0], 20), rng.uniform(0.5, 1.5, 40)
    u[20:] *= u[:20].sum() / u[20:].sum()
    lo, hi = np.where(sign > 0.0, 0.0, -u), np.where(sign > 0.0, u, 0.0)
    lo[39] = 0.0
    free = []
    for one_by_one in (False, True):
        found = feasible(sign * u, u, lo, hi, one_by_one=one_by_one)
        assert np.all((found >= lo) & (found <= hi)) and np.array_equal(found[20:], lo[20:])
        assert found[:20].sum() == pytest.approx(u[20:39].sum(), rel=1e-14)
        free.append(int(np.count_nonzero((found[:20] > 0.0) & (found[:20] < hi[:20]))))
    assert free[0] == 20 and free[1] == 1
