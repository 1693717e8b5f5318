"""One entry for all problems: against a dense QP solver, against itself by other roads, and by identities."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from problems import clouds, part, problem, seeds, size, two_classes, with_upper

from svmstat.kernels import RBF, Polynomial
from svmstat.solver import TOLERANCE, BoxQP, Gram, Road, Status, solve
from svmstat.solver.solve import anchor_at

# Two solutions with violations ≤ 1e-8 differ in the objective by at most 1e-8 · Σu; most are exact to rounding.
TOL_OBJECTIVE = 1e-8
# Decision values of two certified solutions, relative to max(1, |h|).
TOL_FIELD = 1e-6
# Ends of the intercept's interval, relative to max(1, |h|): they move with h.
TOL_INTERVAL = 1e-6
# Σβ = 0, relative to max(1, Σα): as exact as the other conditions of optimality.
TOL_SUM = 1e-8
# Accuracy of the interior-point method in decision values, where it claims to have converged.
TOL_QP = 1e-3


def new_bounds(drawn, kinds, number=3):
    """Bounds of other kinds, each as (n,), and the first rows deleted one by one."""
    qp, rng = drawn.qp, drawn.rng
    others = [kinds.make_upper(str(rng.choice(kinds.upper)), qp.n, rng) for _ in range(number)]
    deleted = [np.where(np.arange(qp.n) == k, 0.0, qp.upper) for k in range(min(qp.n, 4))]
    return np.array(others + deleted + [qp.upper, 2.0 * qp.upper])


def one(batch, q):
    """The q-th problem of a batch, with the attributes of a solution that are compared."""
    return SimpleNamespace(
        field=batch.field[q], intercept_interval=batch.intercept_interval[q], gap=batch.gap[q]
    )  # fmt: skip


def assert_same(a, b, qp, rows_a=slice(None), rows_b=slice(None), interval=True):
    """The same decision values and the same interval of b, as far as the two certificates tell: ½‖h − h*‖² ≤ gap."""
    if np.isnan(b.field).all():  # one class
        assert np.isnan(a.field).all()
        return
    unsure = np.sqrt(2.0 * qp.gram.diagonal.max()) * (np.sqrt(max(a.gap, 0.0)) + np.sqrt(max(b.gap, 0.0)))
    scale = size(b.field)
    np.testing.assert_allclose(a.field[rows_a], b.field[rows_b], rtol=0, atol=TOL_FIELD * scale + unsure)
    if interval:
        np.testing.assert_allclose(
            a.intercept_interval, b.intercept_interval, rtol=0, atol=TOL_INTERVAL * scale + 2.0 * unsure
        )


def of_one_size(qp, upper):
    """Whether rounding at the old bounds is rounding at the new ones: free rows can be told from bound ones."""
    return qp.upper.max() <= 1e3 * upper[upper > 0].min()


def assert_optimal(judged, alpha, upper):
    """Feasible, and primal and dual value meet as a violation of 1e-8 in every row lets them."""
    total = max(1.0, abs(judged.primal), abs(judged.dual), upper.sum())
    assert judged.total <= TOL_SUM * max(1.0, alpha.sum())
    assert judged.outside_box <= 0.0
    assert abs(judged.primal + judged.dual) <= TOL_OBJECTIVE * total


@settings(max_examples=120)
@given(seed=seeds)
def test_one_problem_against_the_dense_solver(draw_problem, dense_qp, optimality, seed):
    qp = draw_problem(seed).qp
    solution = solve(qp)
    if not two_classes(qp, qp.upper):
        assert solution.status is Status.ONE_CLASS
        return
    assert solution.status is Status.CERTIFIED
    assert_optimal(optimality(qp, solution.alpha, solution.intercept), solution.alpha, qp.upper)
    reference = dense_qp(qp)
    K = qp.gram.complete()
    excess = reference.objective - solution.objective
    scale = max(1.0, abs(solution.objective), qp.upper.sum())
    assert excess >= -TOL_OBJECTIVE * scale
    # any feasible point with this excess is so near to the solution: ½‖h − h*‖² ≤ excess
    away = reference.beta - qp.signs * solution.alpha
    assert 0.5 * away @ K @ away <= max(excess, 0.0) + TOL_OBJECTIVE * scale
    if reference.accurate:
        h = K @ reference.beta
        np.testing.assert_allclose(solution.field, h, rtol=0, atol=TOL_QP * size(h))


@settings(max_examples=60)
@given(seed=seeds)
@example(seed=1839)  # the path ended at 1.4e-8, and the descent from there as well
def test_many_bounds_against_cold_and_the_dense_solver(draw_problem, kinds, dense_qp, optimality, seed):
    drawn = draw_problem(seed)
    qp = drawn.qp
    uppers = new_bounds(drawn, kinds)
    batch = solve(qp, uppers)
    for q, upper in enumerate(uppers):
        if not two_classes(qp, upper):
            assert batch.status[q] == Status.ONE_CLASS
            assert np.isnan(batch.decision[q]).all()
            continue
        assert batch.status[q] == Status.CERTIFIED
        assert batch.violation[q] <= TOLERANCE
        cold = solve(with_upper(qp, upper))
        judged = optimality(qp, batch.alpha[q], batch.intercept[q], upper)
        assert_optimal(judged, batch.alpha[q], upper)
        assert abs(judged.primal + judged.dual - batch.gap[q]) <= TOL_OBJECTIVE * max(size(judged.primal), upper.sum())
        np.testing.assert_allclose(batch.field[q], judged.h, rtol=0, atol=1e-9 * size(batch.alpha[q].sum()))
        assert_same(one(batch, q), cold, qp, interval=of_one_size(qp, upper))
        assert judged.dual <= dense_qp(qp, upper).objective + TOL_OBJECTIVE * max(size(judged.dual), upper.sum())


@settings(max_examples=60)
@given(seed=seeds)
def test_the_interval_of_a_path_is_all_minimisers(draw_problem, kinds, intercepts, seed):
    """Whatever the road: a row that ends at its bound to rounding must not pass for a free one."""
    drawn = draw_problem(seed, design="normal")
    qp = drawn.qp
    uppers = new_bounds(drawn, kinds)
    batch = solve(qp, uppers)
    for q, upper in enumerate(uppers):
        if two_classes(qp, upper) and of_one_size(qp, upper):
            expected = intercepts(qp, batch.field[q], upper)
            scale = size(batch.field[q])
            np.testing.assert_allclose(batch.intercept_interval[q], expected, rtol=0, atol=TOL_INTERVAL * scale)


@given(seed=seeds)
def test_batch_is_a_loop(draw_problem, kinds, seed):
    """Each problem of a batch is solved as if it were alone."""
    drawn = draw_problem(seed)
    qp = drawn.qp
    uppers = new_bounds(drawn, kinds)
    start = solve(qp)
    batch = solve(qp, uppers, start=start)
    for q in range(len(uppers)):
        alone = solve(qp, uppers[q : q + 1], start=start)
        assert (batch.status[q], batch.road[q]) == (alone.status[0], alone.road[0])
        if batch.status[q] == Status.CERTIFIED:
            assert_same(one(batch, q), one(alone, 0), qp)


@given(seed=seeds)
@example(seed=877)  # more free rows than the rank of the matrix: NaN
def test_start_makes_no_difference(draw_problem, kinds, seed):
    drawn = draw_problem(seed)
    qp = drawn.qp
    for upper in new_bounds(drawn, kinds, number=2)[:4]:
        if two_classes(qp, upper):
            cold = solve(with_upper(qp, upper))
            warm = solve(with_upper(qp, upper), start=solve(qp))
            assert warm.status is Status.CERTIFIED
            assert_same(warm, cold, qp, interval=of_one_size(qp, upper))


@given(seed=seeds)
def test_zero_bound_is_deletion(draw_problem, seed):
    drawn = draw_problem(seed)
    qp = drawn.qp
    gone = drawn.rng.random(qp.n) < 0.3
    upper = np.where(gone, 0.0, qp.upper)
    if not two_classes(qp, upper):
        return
    kept = np.flatnonzero(~gone)
    reduced, zeroed, moved = solve(part(qp, kept)), solve(with_upper(qp, upper)), solve(qp, upper[None])
    assert (zeroed.alpha[gone] == 0).all()
    assert (moved.alpha[0, gone] == 0).all()
    assert_same(zeroed, reduced, qp, rows_a=kept)
    assert_same(one(moved, 0), reduced, qp, rows_a=kept)


@given(seed=seeds)
def test_counts_are_repeated_rows(draw_problem, seed):
    drawn = draw_problem(seed, upper="1")
    qp = drawn.qp
    counts = drawn.rng.poisson(1.2, qp.n)
    upper = counts * qp.upper
    if not two_classes(qp, upper):
        return
    rows = np.repeat(np.arange(qp.n), counts)
    repeated, counted, moved = solve(part(qp, rows)), solve(with_upper(qp, upper)), solve(qp, upper[None])
    assert repeated.status is Status.CERTIFIED
    assert_same(counted, repeated, qp, rows_a=rows)
    assert_same(one(moved, 0), repeated, qp, rows_a=rows)


@given(seed=seeds)
def test_deleting_a_row_that_is_no_support_vector_changes_nothing(draw_problem, seed):
    qp = draw_problem(seed).qp
    start = solve(qp)
    idle = np.flatnonzero((start.alpha == 0) & (qp.upper > 0))
    uppers = np.array([np.where(np.arange(qp.n) == k, 0.0, qp.upper) for k in idle])
    if len(idle) == 0:
        return
    batch = solve(qp, uppers, start=start)
    for q, upper in enumerate(uppers):
        if two_classes(qp, upper):
            np.testing.assert_array_equal(batch.alpha[q], start.alpha)
            one_rounding = 2.0**-52 * np.maximum(np.abs(start.field), np.abs(qp.linear))  # the field is s − (s − f)
            assert (np.abs(batch.field[q] - start.field) <= one_rounding).all()
            low, high = batch.intercept_interval[q]
            rounding = 1e-12 * size(start.field)
            assert low <= start.intercept_interval[0] + rounding
            assert high >= start.intercept_interval[1] - rounding
            assert batch.events[q] == 0
            assert batch.steps[q] == 0


@pytest.mark.parametrize("C", [0.3, 30.0])
def test_which_problems_are_solved_together_changes_no_bit(C):
    """Deletions and drawn rows, in batches of other sizes."""
    rng = np.random.default_rng(6)
    X, y = clouds(60, 2, rng)
    qp = BoxQP(Gram(RBF(0.5).bind(X)), y, np.ones(60), np.full(60, C))
    drawn = C * rng.multinomial(60, np.full(60, 1 / 60), size=7)
    uppers = np.concatenate([np.where(np.eye(60, dtype=bool)[:30], 0.0, C), drawn])
    start = solve(qp)
    whole = solve(qp, uppers, start=start)
    for size_of in (1, 2, 3, 5):
        parts = [solve(qp, uppers[q : q + size_of], start=start) for q in range(0, len(uppers), size_of)]
        for name in ("alpha", "field", "intercept_interval"):
            np.testing.assert_array_equal(np.concatenate([getattr(each, name) for each in parts]), getattr(whole, name))


@given(seed=seeds)
def test_unchanged_bounds_change_nothing(draw_problem, seed):
    qp = draw_problem(seed).qp
    start = solve(qp)
    if start.status is Status.CERTIFIED:
        batch = solve(qp, np.array([qp.upper, qp.upper]), start=start)
        assert (batch.status == Status.CERTIFIED).all()
        for q in range(2):
            assert_same(one(batch, q), start, qp)


def test_unchanged_bounds_of_a_rounded_start(plain_problem):
    """A start whose violation is above rounding, though certified, at bounds that do not move."""
    K = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]]) * 1e-10
    rng = np.random.default_rng(0)
    for scale in (1e-9, 3e-9, 9e-9):
        start = solve(plain_problem(K, [1, -1, 1], [1.0, 2.0, 1.0]))
        qp = plain_problem(K, [1, -1, 1], [1.0, 2.0, 1.0], margin=1 + scale * rng.uniform(size=3))
        batch = solve(qp, np.tile(qp.upper, (3, 1)), start=start)
        assert (batch.violation <= TOLERANCE).all()


@given(seed=seeds)
@example(seed=594)  # more free rows than the rank of the matrix: NaN
def test_swapped_labels_negate_f(draw_problem, seed):
    qp = draw_problem(seed).qp
    if not two_classes(qp, qp.upper):
        return
    given, other = solve(qp), solve(BoxQP(qp.gram, -qp.signs, qp.margin, qp.upper))
    low, high = other.intercept_interval
    swapped = SimpleNamespace(field=-other.field, intercept_interval=(-high, -low), gap=other.gap)
    assert_same(swapped, given, qp)
    assert other.objective == pytest.approx(given.objective, rel=1e-9, abs=1e-9)


@given(seed=seeds, factor=st.sampled_from([1e-3, 0.1, 7.0, 100.0]))
def test_scaled_bounds_and_kernel(draw_problem, plain_problem, seed, factor):
    """u → c u with K → K / c: α → c α, f as before."""
    qp = draw_problem(seed, upper="1", design="normal").qp
    scaled = plain_problem(qp.gram.complete() / factor, qp.signs, factor * qp.upper, qp.margin)
    given, other = solve(qp), solve(scaled)
    other = SimpleNamespace(
        field=other.field, intercept_interval=other.intercept_interval, gap=other.gap / factor,
        objective=other.objective / factor,
    )  # fmt: skip
    assert_same(other, given, qp)
    assert other.objective == pytest.approx(given.objective, rel=1e-7, abs=1e-9)


@given(seed=seeds)
def test_order_of_the_rows(draw_problem, seed):
    drawn = draw_problem(seed)
    qp = drawn.qp
    if not two_classes(qp, qp.upper):
        return
    order = drawn.rng.permutation(qp.n)
    given, other = solve(qp), solve(part(qp, order))
    assert_same(other, given, qp, rows_b=order)


@given(seed=seeds)
def test_a_copy_shares_the_bound(draw_problem, seed):
    """A row as two rows, of bounds a and u − a."""
    drawn = draw_problem(seed)
    qp = drawn.qp
    if not two_classes(qp, qp.upper):
        return
    rows = np.append(np.arange(qp.n), 0)
    split = part(qp, rows)
    share = drawn.rng.uniform()
    split.upper[0], split.upper[-1] = share * qp.upper[0], (1 - share) * qp.upper[0]
    given, other = solve(qp), solve(split)
    assert other.status is Status.CERTIFIED
    assert_same(other, given, qp, rows_a=slice(-1))


@pytest.mark.parametrize("remaining", [1.0, -1.0, 0.0])
def test_one_class_left_is_a_status(draw_problem, remaining):
    qp = draw_problem(5, n=30, upper="1", design="normal", kernel="rbf").qp
    upper = np.where(qp.signs == remaining, 1.0, 0.0)
    single = solve(with_upper(qp, upper))
    batch = solve(qp, np.array([upper, qp.upper, upper]))
    assert single.status is Status.ONE_CLASS
    assert np.isnan(single.alpha).all() and np.isnan(single.decision).all()
    assert np.isnan([single.intercept, single.violation, single.gap, single.objective]).all()
    np.testing.assert_array_equal(batch.status, [Status.ONE_CLASS, Status.CERTIFIED, Status.ONE_CLASS])
    np.testing.assert_array_equal(np.isnan(batch.decision).all(axis=1), [True, False, True])
    np.testing.assert_array_equal(np.isnan(batch.intercept), [True, False, True])
    np.testing.assert_array_equal(np.isnan(batch.alpha).any(axis=1), [True, False, True])


def test_from_one_class_to_two(draw_problem):
    """A start that has no solution is no help and no hindrance."""
    qp = draw_problem(5, n=30, upper="1", design="normal", kernel="rbf").qp
    lonely = with_upper(qp, np.where(qp.signs > 0, 1.0, 0.0))
    batch, cold = solve(lonely, qp.upper[None]), solve(qp)
    assert batch.status[0] == Status.CERTIFIED
    assert_same(one(batch, 0), cold, qp)
    warm = solve(qp, start=solve(lonely))
    assert warm.status is Status.CERTIFIED
    assert_same(warm, cold, qp)


def test_no_problem_at_all(draw_problem):
    qp = draw_problem(5, n=30, upper="1").qp
    batch = solve(qp, np.empty((0, 30)))
    assert batch.alpha.shape == batch.field.shape == batch.decision.shape == (0, 30)
    assert batch.intercept.shape == batch.status.shape == (0,)


def arrays_of(qp, uppers, start):
    return qp.gram.complete(), qp.upper, uppers, start.alpha, start.field, start.basis.inverse


def test_inputs_are_not_changed(draw_problem, kinds):
    drawn = draw_problem(21, upper="tenths")
    qp = drawn.qp
    uppers = new_bounds(drawn, kinds)
    start = anchor_at(qp, solve(qp))
    before = [a.copy() for a in arrays_of(qp, uppers, start.solution)]
    solve(qp, uppers, start=start)
    after = arrays_of(qp, uppers, start.solution)
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(old, new)


# -- a table of data, kernels and costs ------------------------------------------------------------------------------


def table_data(name, mackerel):
    rng = np.random.default_rng(17)
    match name:
        case "mackerel":
            return mackerel.X, mackerel.y
        case "duplicates":
            X, y = clouds(60, 3, rng)
            rows = rng.integers(0, 60, 150)
            return X[rows], y[rows] * np.where(np.arange(150) % 9 == 0, -1, 1)
        case "factors":
            X = np.hstack([np.eye(k)[rng.integers(0, k, 120)] for k in (2, 3, 5)])
            return X, np.where(X @ rng.normal(size=10) + rng.normal(size=120) > 0, 1.0, -1.0)
        case "separable":
            return clouds(100, 4, rng, apart=12.0)
        case "ten rows":
            return clouds(10, 2, rng)
        case "imbalance":
            X = rng.normal(size=(202, 3))
            y = np.full(202, -1.0)
            y[:2] = 1.0
            return X, y
        case "constant columns":
            X, y = clouds(90, 2, rng)
            return np.column_stack([X, np.full(90, 3.0), np.zeros(90)]), y
        case "wide":
            return clouds(40, 80, rng, apart=0.2)


DATA = ("mackerel", "duplicates", "factors", "separable", "ten rows", "imbalance", "constant columns", "wide")
COSTS = (1e-3, 1e-1, 1.0, 100.0, 1e4)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "cubic", "spline"])
@pytest.mark.parametrize("name", DATA)
def test_every_cost_is_certified(name, kernel, kinds, mackerel, optimality):
    X, y = table_data(name, mackerel)
    gram = Gram(kinds.make_kernel(kernel, X).bind(X))
    for C in COSTS:
        qp = BoxQP(gram, y, np.ones(len(y)), np.full(len(y), C))
        solution = solve(qp)
        judged = optimality(qp, solution.alpha, solution.intercept)
        assert solution.status is Status.CERTIFIED
        assert judged.violation <= TOLERANCE + 2 * judged.rounding
        assert_optimal(judged, solution.alpha, qp.upper)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "spline"])
@pytest.mark.parametrize("name", ["duplicates", "factors", "ten rows", "imbalance", "constant columns"])
def test_deletions_over_the_table(name, kernel, kinds, mackerel):
    X, y = table_data(name, mackerel)
    n = min(len(y), 40)
    gram = Gram(kinds.make_kernel(kernel, X).bind(X))
    for C in (1e-2, 1.0, 100.0):
        qp = BoxQP(gram, y, np.ones(len(y)), np.full(len(y), C))
        uppers = np.where(np.eye(len(y), dtype=bool)[:n], 0.0, qp.upper)
        batch = solve(qp, uppers)
        assert (batch.status == Status.CERTIFIED).all()
        for k in range(0, n, 7):
            cold = solve(with_upper(qp, uppers[k]))
            assert_same(one(batch, k), cold, qp)


def test_roads_are_told(mackerel):
    """Deletions in general position all take the exact path, and a cold solution says so."""
    qp = BoxQP(Gram(RBF(0.25).bind(mackerel.X)), mackerel.y, np.ones(634), np.full(634, 16.0))
    start = solve(qp)
    batch = solve(qp, np.where(np.eye(634, dtype=bool)[:100], 0.0, 16.0), start=start)
    assert start.road is Road.COLD
    assert start.steps > 0
    assert (batch.road == Road.TABLEAU).all()
    assert (batch.events[start.alpha[:100] > 0] > 0).all()


@pytest.mark.parametrize("few", [False, True])
def test_deletions_where_f_is_nearly_flat_see_all_rows_that_are_near(few):
    """Of rare events most rows are near the margin: a path that does not see them ends at no solution."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1400, 4))
    y = np.where(rng.random(1400) < 0.06 / (1.0 + np.exp(-X[:, 0])), 1.0, -1.0)
    budget = 8 * 1400**2 * (1 if few else 40)
    qp = BoxQP(Gram(RBF(0.25).bind(X), budget=budget), y, np.ones(1400), np.ones(1400))
    start = solve(qp)
    deleted = np.flatnonzero(start.alpha > 0.0)[::2]
    uppers = np.ones((len(deleted), 1400))
    uppers[np.arange(len(deleted)), deleted] = 0.0
    batch = solve(qp, uppers, start=anchor_at(qp, start))
    assert (batch.status == Status.CERTIFIED).all()
    assert np.count_nonzero(batch.road == Road.RESCUE) <= (0.1 * len(deleted) if few else 0)
    for k in range(0, len(deleted), 9):
        assert_same(one(batch, k), solve(with_upper(qp, uppers[k])), qp)


def test_of_a_flat_f_those_rows_have_room_that_had_it_before():
    """All rows are at the margin, and stay there: seeing them all would make events of rounding."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = np.where(rng.random(1500) < 0.04 / (1.0 + np.exp(-X[:, 0])), 1.0, -1.0)
    qp = BoxQP(Gram(Polynomial(1 / 3, 0.0, 2).bind(X)), y, np.ones(1500), np.ones(1500))
    start = solve(qp)
    assert start.flat
    n_support = np.count_nonzero(start.alpha)
    assert len(anchor_at(qp, start).tableau.rows) <= max(3 * n_support, n_support + 1000) < 1500


def test_a_tableau_in_slices_is_the_same(monkeypatch):
    X, y = clouds(300, seed=4)
    qp = problem(X, y, 3.0)
    start = solve(qp)
    whole = anchor_at(qp, start).tableau
    monkeypatch.setattr("svmstat.solver.exact.tableau._SLICE", 7)
    sliced = anchor_at(qp, start).tableau
    np.testing.assert_allclose(sliced.T, whole.T, rtol=0, atol=1e-13 * np.abs(whole.T).max())


def test_answers_of_free_rows_are_as_good_as_the_kernel_matrix_allows():
    """What an inverse leaves of K̃ Z = K̃_MN grows with the condition of K̃."""
    X, y = clouds(300, p=3, seed=4)
    qp = problem(X, y, 1e6, RBF(0.01))
    tableau, K = anchor_at(qp, solve(qp)).tableau, qp.gram.complete()
    m = np.count_nonzero(tableau.side < 0.0)
    free, others = tableau.rows[:m], tableau.rows[m:]
    assert np.linalg.cond(K[np.ix_(free, free)]) > 1e8
    answers, multiplier = tableau.T[:m, m:], tableau.T_b[0, m:]
    summed = np.abs(answers).sum(axis=0) + np.abs(multiplier) + 1.0  # no kernel value exceeds 1
    left = K[np.ix_(free, free)] @ answers + multiplier + K[np.ix_(free, others)]
    assert (np.abs(left) <= 1e-14 * summed).all()
    assert (np.abs(answers.sum(axis=0) + 1.0) <= 1e-14 * summed).all()


def assert_deletions_go_by_the_tableau(qp, start):
    """Those of all support vectors, and the solutions are those of cold starts."""
    support = np.flatnonzero(start.alpha)
    uppers = np.tile(qp.upper, (len(support), 1))
    uppers[np.arange(len(support)), support] = 0.0
    batch = solve(qp, uppers, start=anchor_at(qp, start))
    assert (batch.road == Road.TABLEAU).all() and (batch.status == Status.CERTIFIED).all()
    for k in range(0, len(support), 20):
        assert_same(one(batch, k), solve(with_upper(qp, uppers[k])), qp)


@pytest.mark.parametrize(("gamma", "upper"), [(0.1, 1e5), (0.01, 1e6)])
def test_stiff_problems_are_followed_by_the_tableau(gamma, upper):
    X, y = clouds(300, p=3, seed=4)
    qp = problem(X, y, upper, RBF(gamma))
    assert_deletions_go_by_the_tableau(qp, solve(qp))


@pytest.mark.parametrize("upper", [0.1, 1.0])
def test_rows_beside_one_far_away_are_free_as_well(upper):
    """Its kernel value is far larger than theirs, and none of them depends on it for that."""
    X, y = clouds(300, p=3, seed=4)
    X[0] = 30.0
    qp = problem(X, y, upper, Polynomial(0.3, 1.0, 3))
    start = solve(qp)
    assert start.status is Status.CERTIFIED and start.free[0] and qp.gram.diagonal.max() > 1e8
    assert np.count_nonzero(anchor_at(qp, start).tableau.side < 0.0) == np.count_nonzero(start.free)
    assert_deletions_go_by_the_tableau(qp, start)


@pytest.mark.parametrize("upper", [0.3, 30.0])
def test_neighbours_are_solved_by_the_rows_that_differ(upper, monkeypatch):
    """Without kernel values in memory h of a deletion is that of the full solution, and what few rows add to it."""
    X, y = clouds(300, seed=4)
    qp, whole = problem(X, y, upper, budget=0), problem(X, y, upper)
    uppers = np.array([np.where(np.arange(300) == k, 0.0, qp.upper) for k in range(40)])
    anchor, numbers = anchor_at(qp, solve(qp)), []
    n_support = np.count_nonzero(anchor.solution.alpha)

    def add(gram, rows, coefficients, out):
        numbers.append(len(rows))
        return plain(gram, rows, coefficients, out)

    plain = Gram.add
    monkeypatch.setattr(Gram, "add", add)
    found = solve(qp, uppers, start=anchor)
    monkeypatch.undo()
    assert (found.status == Status.CERTIFIED).all() and 0 < max(numbers) <= 0.5 * n_support
    expected = solve(whole, uppers, start=anchor_at(whole, solve(whole)))
    np.testing.assert_allclose(found.field, expected.field, rtol=0, atol=TOL_FIELD * size(expected.field))
    moved = (found.alpha != anchor.solution.alpha).any(axis=1)
    assert (found.rounding[moved] > anchor.solution.rounding).all()
    for q in np.flatnonzero(moved):  # what is claimed of the digits of h holds
        field = whole.gram.complete() @ (qp.signs * found.alpha[q])
        assert np.abs(field - found.field[q]).max() <= found.rounding[q]


def test_bounds_that_are_far_away_are_no_neighbours():
    """Where most rows are others h is computed from nothing."""
    X, y = clouds(120, seed=5)
    qp = problem(X, y, 1.0, budget=0)
    uppers = np.random.default_rng(1).integers(0, 4, (6, 120)).astype(float)
    found = solve(qp, uppers, start=solve(qp))
    for q, upper in enumerate(uppers):
        cold = solve(with_upper(qp, upper))
        assert found.status[q] == Status.CERTIFIED
        np.testing.assert_allclose(found.field[q], cold.field, rtol=0, atol=TOL_FIELD * size(cold.field))
