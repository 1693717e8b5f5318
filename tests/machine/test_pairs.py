"""The machines of all pairs against libsvm, a dense program and machines of their rows; weights, order and labels."""

import pickle

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from svmstat.calibration import fit_maps, fit_platt
from svmstat.kernels import RBF, CustomKernel, Linear, Polynomial, Precomputed, Spline, gram
from svmstat.machine import Contrast, contrasts, fit_machine, pairs_of
from svmstat.objective.losses import make_loss
from svmstat.resampling import leave_one_out
from svmstat.solver import Gram, Status
from svmstat.solver import gram as gram_module

TOL_LIBSVM = 2e-6  # libsvm keeps kernel values as 32-bit floats (6e-8), some tens of which add up; relative to max |f|
TOL_FIT = 1e-6  # two certified fits of one problem, relative to max(1, |f|)
TOL_VALUES = 1e-10  # the same kernel expansion summed in another order, relative to max(1, Σα max|K|)
TOL_SUM = 1e-13  # a few numbers added in another order

seeds = st.integers(0, 2**32 - 1)


def laplace(A, B):
    return np.exp(-np.abs(A[:, None, :] - B[None, :, :]).sum(axis=2))


def kernels(X):
    return {
        "linear": Linear(),
        "rbf": RBF(0.5),
        "poly": Polynomial(0.5, 1.0, 2),
        "spline": Spline(X.min(axis=0), X.max(axis=0)),
        "custom": CustomKernel(laplace),
    }


NAMES = ("linear", "rbf", "poly", "spline", "custom")


def assert_same(a, b, tolerance=TOL_FIT):
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * max(1.0, np.abs(b).max()))


def pairs_fit(kernel, X, codes, weights=None, C=1.0, loss="hinge", class_weight=None, order=None, **options):
    weights = np.ones(len(codes)) if weights is None else np.asarray(weights, float)
    asked = contrasts(pairs_of(codes.max() + 1) if order is None else order, loss, class_weight)
    return fit_machine(kernel, X, codes, weights, asked, C=C, **options)


def two_class(kernel, X, codes, weights, first, second, C, loss):
    """The two-class machine on the rows of a pair, and its decision values on all rows."""
    rows = (codes == first) | (codes == second)
    machine = fit_machine(kernel, X[rows], codes[rows], weights[rows], [Contrast(first, second, loss)], C=C)
    return machine, machine.decision_function(X)[:, 0]


# -- other solvers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 1.0, 2.0])
@pytest.mark.parametrize(("kernel", "options"), [(Linear(), {"kernel": "linear"}), (RBF(0.5), {"gamma": 0.5})])
@pytest.mark.parametrize("name", ["liver", "iris", "wine"])
@pytest.mark.parametrize("weighting", ["none", "case", "class", "both"])
def test_against_libsvm(data, name, kernel, options, C, weighting):
    """All n rows by all pairs, the rows of weight zero included."""
    X, codes = data[name]
    K = codes.max() + 1
    weights, L = np.ones(len(codes)), dict.fromkeys(range(K), 1.0)
    if weighting in ("case", "both"):
        weights = np.random.default_rng(3).choice([0.0, 0.25, 1.0, 1.5, 2.0], len(codes))
    if weighting in ("class", "both"):
        L = dict(enumerate(np.linspace(0.5, 2.0, K).tolist()))
    machine = pairs_fit(kernel, X, codes, weights, C, class_weight=L)
    other = SVC(C=C, tol=1e-10, decision_function_shape="ovo", class_weight=L, **options)
    expected = other.fit(X, codes, sample_weight=weights).decision_function(X)
    assert all(pair.solution.status is Status.CERTIFIED for pair in machine.pairs)
    assert machine.decision_values.shape == (len(codes), K * (K - 1) // 2)
    assert_same(machine.decision_values, expected, TOL_LIBSVM)


@pytest.mark.parametrize("kernel", [Precomputed(), CustomKernel(laplace)])
def test_given_kernels_against_libsvm(clouds, kernel):
    X, codes = clouds(120, 4, seed=1)
    weights = np.random.default_rng(2).choice([0.0, 1.0, 1.5], 120)
    weights[:8] = 1.0
    new = clouds(15, seed=3)[0]
    K, K_new = laplace(X, X), laplace(new, X)
    named = isinstance(kernel, Precomputed)
    machine = pairs_fit(kernel, K if named else X, codes, weights)
    used = weights > 0  # with a precomputed kernel scikit-learn loses count of rows of weight zero
    other = SVC(C=1.0, kernel="precomputed", tol=1e-10, decision_function_shape="ovo")
    other.fit(K[np.ix_(used, used)], codes[used], weights[used])
    assert_same(machine.decision_values, other.decision_function(K[:, used]), TOL_LIBSVM)
    new_values = machine.decision_function(K_new if named else new)
    assert_same(new_values, other.decision_function(K_new[:, used]), TOL_LIBSVM)


def dense(K, y, margin, upper):
    """f (m,) by an interior-point method, whose free rows then are solved for exactly."""
    m = len(y)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    lo, hi, s = np.where(y > 0, 0.0, -upper), np.where(y > 0, upper, 0.0), y * margin
    cone = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * m)]
    A = sp.csc_matrix(np.vstack([np.ones((1, m)), np.eye(m), -np.eye(m)]))
    bounds = np.concatenate([[0.0], hi, -lo])
    beta = np.array(clarabel.DefaultSolver(sp.csc_matrix(np.triu(K)), -s, A, bounds, cone, settings).solve().x)
    near = 1e-6 * upper
    free = (beta > lo + near) & (beta < hi - near)
    fixed = np.where(free, 0.0, np.where(beta - lo < hi - beta, lo, hi))
    n_free = np.count_nonzero(free)
    assert n_free
    bordered = np.block([[np.zeros((1, 1)), np.ones((1, n_free))], [np.ones((n_free, 1)), K[np.ix_(free, free)]]])
    solved = np.linalg.solve(bordered, np.concatenate([[-fixed.sum()], s[free] - K[free] @ fixed]))
    fixed[free] = solved[1:]
    assert (fixed >= lo).all() and (fixed <= hi).all()
    return K @ fixed + solved[0]


@pytest.mark.parametrize("loss", ["hinge", "p0"])
@pytest.mark.parametrize("C", [0.5, 100.0, 1e4])
def test_against_a_dense_program(clouds, pairs, C, loss):
    X, codes = clouds(60, 3, seed=4)
    weights = np.random.default_rng(5).uniform(0.5, 2.0, 60)
    L = {0: 1.5, 1: 0.5, 2: 1.0}
    machine = pairs_fit(RBF(0.8), X, codes, weights, C, loss, class_weight=L)
    K = gram(RBF(0.8), X)
    for p, (i, j) in enumerate(pairs(3)):
        rows = np.flatnonzero((codes == i) | (codes == j))
        y = np.where(codes[rows] == i, 1.0, -1.0)
        margin, share = np.ones(len(rows)), L[j] / (L[i] + L[j])
        if loss == "p0":
            margin = np.where(y > 0, -np.log(share) / (1 - share), -np.log(1 - share) / share)
        upper = C * weights[rows] * np.array([L[code] for code in codes[rows].tolist()])
        assert_same(machine.decision_values[rows, p], dense(K[np.ix_(rows, rows)], y, margin, upper))


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("loss", ["hinge", "p0"])
def test_each_pair_is_the_machine_of_its_rows(clouds, pairs, name, C, loss):
    X, codes = clouds(90, 4, seed=6)
    kernel = kernels(X)[name]
    weights = np.random.default_rng(7).choice([0.3, 1.0, 2.0], 90)
    L = {0: 0.5, 2: 2.0}
    machine = pairs_fit(kernel, X, codes, weights, C, loss, class_weight=L)
    for p, (i, j) in enumerate(pairs(4)):
        pair = machine.pairs[p]
        own = make_loss(loss, L.get(i, 1.0), L.get(j, 1.0))
        alone, everywhere = two_class(kernel, X, codes, weights, i, j, C, own)
        assert (pair.first, pair.second, pair.loss) == (i, j, own)
        assert_same(machine.decision_values[:, p], everywhere)
        assert machine.intercept[p] == pytest.approx(alone.pairs[0].solution.intercept, abs=TOL_FIT * max(1, C))
        assert pair.solution.objective == pytest.approx(alone.pairs[0].solution.objective, rel=1e-8)


@pytest.mark.parametrize("loss", ["hinge", "p0"])
@pytest.mark.parametrize("name", NAMES)
def test_the_event_of_two_classes_gives_the_sign(clouds, name, loss):
    """One pair on the gram matrix itself, in either order."""
    X, codes = clouds(70, 2, seed=8)
    kernel, weights = kernels(X)[name], np.random.default_rng(9).choice([0.0, 0.5, 1.0, 3.0], 70)
    weights[:4] = 1.0
    machine, other = (
        pairs_fit(kernel, X, codes, weights, 2.0, loss, class_weight={0: 1.5, 1: 0.5}, order=[order])
        for order in ((0, 1), (1, 0))
    )
    assert machine.pairs[0].problem.gram is machine.gram
    assert_same(machine.decision_values, -other.decision_values)
    assert_same(machine.decision_function(X), -other.decision_function(X))
    assert_same(machine.alpha, other.alpha)
    maps, other_maps = fit_maps(machine), fit_maps(other)
    assert maps.slope[0] == pytest.approx(other_maps.slope[0], rel=TOL_FIT)
    assert maps.intercept[0] == pytest.approx(-other_maps.intercept[0], abs=TOL_FIT)
    p = maps.alone.probability(machine.decision_values[:, 0])
    assert_same(maps.probabilities(machine.decision_values), np.column_stack([p, 1 - p]))
    assert_same(other_maps.probabilities(other.decision_values), np.column_stack([p, 1 - p]))


# -- weights, order, labels --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_weight_of_two_is_a_row_given_twice(clouds, name):
    """Digit by digit: both are one row of the problems."""
    X, codes = clouds(60, seed=10)
    kernel, weights = kernels(X)[name], np.random.default_rng(11).integers(1, 4, 60)
    rows = np.repeat(np.arange(60), weights)
    weighted, repeated = pairs_fit(kernel, X, codes, weights), pairs_fit(kernel, X[rows], codes[rows])
    np.testing.assert_array_equal(repeated.decision_values, weighted.decision_values[rows])
    np.testing.assert_array_equal(repeated.intercept, weighted.intercept)
    np.testing.assert_array_equal(repeated.totals, weighted.totals)
    for p in range(3):
        np.testing.assert_allclose(np.bincount(rows, repeated.alpha[:, p]), weighted.alpha[:, p], rtol=TOL_SUM)
    a, b = fit_maps(weighted, "wu-lin-weng"), fit_maps(repeated, "wu-lin-weng")
    np.testing.assert_allclose(a.slope, b.slope, rtol=1e-9)
    np.testing.assert_allclose(a.intercept, b.intercept, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_weight_zero_is_absent_and_predicted(clouds, name):
    """Also where its class is unknown, or that of no other row."""
    X, codes = clouds(60, seed=12)
    kernel, weights = kernels(X)[name], np.where(np.arange(60) % 4 == 3, 0.0, 1.5)
    unused = weights == 0
    codes[unused] = np.where(np.arange(60) % 8 == 3, -1, codes)[unused]
    assert (codes[unused] == -1).any() and (codes[unused] >= 0).any()
    whole, part = pairs_fit(kernel, X, codes, weights), pairs_fit(kernel, X[~unused], codes[~unused], weights[~unused])
    np.testing.assert_array_equal(whole.decision_values[~unused], part.decision_values)
    np.testing.assert_array_equal(whole.alpha[unused], 0.0)
    np.testing.assert_array_equal(whole.alpha[~unused], part.alpha)
    assert_same(whole.decision_values[unused], part.decision_function(X[unused]), TOL_VALUES)
    a, b = fit_maps(whole, "wu-lin-weng"), fit_maps(part, "wu-lin-weng")
    np.testing.assert_allclose(a.slope, b.slope, rtol=1e-12)
    np.testing.assert_array_equal(a.totals, b.totals)


def test_weight_zero_of_a_gram_matrix(clouds):
    X, codes = clouds(50, seed=13)
    weights = np.arange(50) % 3 * 1.0
    codes[weights == 0] = -1
    by_rows = pairs_fit(RBF(0.5), X, codes, weights)
    by_gram = pairs_fit(Precomputed(), gram(RBF(0.5), X), codes, weights)
    assert_same(by_gram.decision_values, by_rows.decision_values)


@given(seed=seeds)
def test_order_of_the_rows(clouds, seed):
    rng = np.random.default_rng(seed)
    X, codes = clouds(40, int(rng.integers(2, 5)), seed=seed)
    order = rng.permutation(np.concatenate([np.arange(40), np.arange(10)]))
    weights = rng.choice([0.5, 1.0], len(order))
    total = np.bincount(order, weights, 40)
    assert_same(
        pairs_fit(RBF(0.5), X[order], codes[order], weights).decision_values,
        pairs_fit(RBF(0.5), X, codes, total).decision_values[order],
    )


@given(seed=seeds, loss=st.sampled_from(["hinge", "p0"]))
def test_permuted_classes(clouds, pairs, seed, loss):
    """Machines of permuted classes are the same, with the sign of the class that comes first."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 6))
    X, codes = clouds(50, K, seed=seed)
    new = rng.permutation(K)
    L = rng.choice([0.5, 1.0, 2.0], K).tolist()
    machine = pairs_fit(RBF(0.5), X, codes, loss=loss, class_weight=dict(enumerate(L)))
    permuted = pairs_fit(
        RBF(0.5), X, new[codes], loss=loss, class_weight=dict(zip(new.tolist(), L, strict=True))
    ).decision_values
    place = {pair: p for p, pair in enumerate(pairs(K))}
    expected = np.empty_like(permuted)
    for p, (i, j) in enumerate(pairs(K)):
        a, b = int(new[i]), int(new[j])
        expected[:, place[min(a, b), max(a, b)]] = machine.decision_values[:, p] * (1 if a < b else -1)
    assert_same(permuted, expected)


def test_a_point_of_several_classes(clouds):
    """Rows that agree in X but not in class are different observations."""
    X, codes = clouds(30, seed=14)
    X, codes = np.vstack([X, X[:9], X[:9]]), np.concatenate([codes, (codes[:9] + 1) % 3, codes[:9]])
    machine = pairs_fit(RBF(0.5), X, codes)
    assert len(machine.group_codes) == 39
    other = SVC(gamma=0.5, tol=1e-10, decision_function_shape="ovo").fit(X, codes)
    assert_same(machine.decision_values, other.decision_function(X), TOL_LIBSVM)
    np.testing.assert_array_equal(machine.decision_values[:9], machine.decision_values[-9:])


# -- what a machine says of itself -------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
@pytest.mark.parametrize("name", NAMES)
def test_decision_values_by_the_expansion(clouds, pairs, name, C):
    X, codes = clouds(70, 4, seed=15)
    kernel, weights = kernels(X)[name], np.random.default_rng(16).choice([0.0, 0.5, 1.0, 2.0], 70)
    weights[:8] = 1.0
    X, codes, weights = np.vstack([X, X[:20]]), np.append(codes, codes[:20]), np.append(weights, np.full(20, 0.7))
    machine = pairs_fit(kernel, X, codes, weights, C)
    K = gram(kernel, X)
    size = max(1.0, machine.alpha.sum(axis=0).max() * np.abs(K).max())
    for p, (i, j) in enumerate(pairs(4)):
        y = np.where(codes == i, 1.0, np.where(codes == j, -1.0, 0.0))
        alpha = machine.alpha[:, p]
        assert (alpha[y == 0] == 0).all() and (alpha >= 0).all()
        assert (alpha <= C * weights * (1 + TOL_SUM)).all()
        assert alpha @ y == pytest.approx(0, abs=1e-12 * max(1.0, C * 90))
        by_definition = K @ (alpha * y) + machine.intercept[p]
        np.testing.assert_allclose(machine.decision_values[:, p], by_definition, rtol=0, atol=TOL_VALUES * size)
    values = machine.decision_function(X)
    np.testing.assert_allclose(values, machine.decision_values, rtol=0, atol=TOL_VALUES * size)
    np.testing.assert_allclose(machine.totals, [weights[codes == c].sum() for c in range(4)], rtol=TOL_SUM)
    assert machine.n_classes == 4


def test_new_rows_in_pieces(clouds, monkeypatch):
    X, codes = clouds(60, seed=17)
    machine, new = pairs_fit(RBF(0.5), X, codes), clouds(101, seed=18)[0]
    whole = machine.decision_function(new)
    monkeypatch.setattr("svmstat.machine.groups._CHUNK", 64)
    np.testing.assert_allclose(machine.decision_function(new), whole, rtol=0, atol=1e-12)
    assert machine.decision_function(new[:0]).shape == (0, 3)


def test_no_column_at_all():
    """K = 0: each f is a constant of the sign of the larger class."""
    codes = np.array([0, 0, 0, 1, 1, 2, 1, 1])
    machine = pairs_fit(Linear(), np.empty((8, 0)), codes)
    np.testing.assert_allclose(machine.decision_values, np.tile([-1.0, 1.0, 1.0], (8, 1)), atol=1e-12)


@pytest.mark.parametrize("C", [0.3, 30.0])
def test_setting_off_from_a_near_machine(clouds, C):
    X, codes = clouds(80, 4, seed=19)
    near = pairs_fit(RBF(0.5), X, codes, C=1.0)
    warm = pairs_fit(RBF(0.5), X, codes, C=C, loss="p0", class_weight={1: 2.0}, near=near)
    cold = pairs_fit(RBF(0.5), X, codes, C=C, loss="p0", class_weight={1: 2.0})
    assert_same(warm.decision_values, cold.decision_values)
    assert warm.gram is near.gram
    assert all(a.problem.gram is b.problem.gram for a, b in zip(warm.pairs, near.pairs, strict=True))


def test_inputs_are_not_changed(clouds):
    X, codes = clouds(40, seed=20)
    weights = np.ones(40)
    given_arrays = X.copy(), codes.copy(), weights.copy()
    pairs_fit(Linear(), *given_arrays)
    for a, b in zip((X, codes, weights), given_arrays, strict=True):
        np.testing.assert_array_equal(a, b)


# -- maps --------------------------------------------------------------------------------------------------------------


def test_maps_are_those_of_the_rows_of_each_pair(clouds, pairs):
    X, codes = clouds(90, 4, seed=21)
    weights = np.random.default_rng(22).choice([0.0, 0.5, 1.0, 2.0], 90)
    weights[:8] = 1.0
    codes[np.flatnonzero(weights == 0)[:3]] = -1
    machine = pairs_fit(RBF(0.5), X, codes, weights)
    given_f = machine.decision_values + np.random.default_rng(23).normal(size=machine.decision_values.shape)
    given_f[4:7, 0] = np.nan
    for f, kind in ((None, "insample"), (given_f, "loo")):
        maps = fit_maps(machine, "hastie-tibshirani", f)
        values = machine.decision_values if f is None else f
        for p, (i, j) in enumerate(pairs(4)):
            rows = ((codes == i) | (codes == j)) & np.isfinite(values[:, p])
            platt = fit_platt(values[rows, p], np.where(codes[rows] == i, 1.0, -1.0), weights[rows])
            assert maps.slope[p] == pytest.approx(platt.slope, rel=1e-12)
            assert maps.intercept[p] == pytest.approx(platt.intercept, rel=1e-12)
        assert maps.converged.all()
        assert (maps.kind, maps.coupling) == (kind, "hastie-tibshirani")
        np.testing.assert_array_equal(maps.totals, machine.totals)


@pytest.mark.parametrize("lonely", [[1], [1, 2]])
def test_leave_one_out_maps_with_classes_of_one_row(clouds, fit, lonely):
    """Their rows have no leave-one-out value; the other pairs have their maps."""
    X, codes = clouds(40, 4, seed=7)
    rows = np.flatnonzero(~np.isin(codes, lonely) | np.isin(np.arange(40), lonely))
    machine, maps = fit(RBF(0.5), X[rows], codes[rows])
    f = leave_one_out(machine, maps).decision_values
    by_loo = fit_maps(machine, "wu-lin-weng", f)
    for p, pair in enumerate(machine.pairs):
        own = np.isin(codes[rows], [pair.first, pair.second]) & np.isfinite(f[:, p])
        if pair.first not in lonely and pair.second not in lonely:
            y = np.where(codes[rows][own] == pair.first, 1.0, -1.0)
            platt = fit_platt(f[own, p], y, np.ones(own.sum()))
            assert by_loo.slope[p] == pytest.approx(platt.slope, rel=1e-12)
            assert by_loo.intercept[p] == pytest.approx(platt.intercept, rel=1e-12)


def test_rounding_is_no_signal():
    """Here f = −1 for every row is optimal, and found to 1e-11; the map must be constant."""
    rng = np.random.default_rng(251)
    X, codes = rng.normal(size=(30, 2)), np.where(rng.random(30) < 0.25, 0, 1)
    codes[:2] = 0, 1
    machine = pairs_fit(Polynomial(0.5, 1.0, 2), X, codes, C=1000.0)
    assert np.ptp(machine.decision_values) < 1e-9
    maps = fit_maps(machine, "wu-lin-weng")
    share = (codes == 0) @ np.full(30, 1 / 30)
    np.testing.assert_allclose(maps.probabilities(machine.decision_values)[:, 0], share, rtol=0, atol=0.05)


@pytest.mark.parametrize("coupling", ["wu-lin-weng", "hastie-tibshirani"])
def test_permuted_classes_have_permuted_probabilities(clouds, fit, coupling):
    X, codes = clouds(80, 4, seed=24)
    new = np.array([2, 0, 3, 1])
    machine, maps = fit(RBF(0.5), X, codes, coupling=coupling)
    permuted, permuted_maps = fit(RBF(0.5), X, new[codes], coupling=coupling)
    p, q = maps.probabilities(machine.decision_values), permuted_maps.probabilities(permuted.decision_values)
    np.testing.assert_allclose(q[:, new], p, rtol=0, atol=TOL_FIT)


# -- parts of a gram matrix --------------------------------------------------------------------------------------------

N = 151
POINTS = np.random.default_rng(25).normal(size=(N, 3))
LAYOUTS = ("complete", "lazy", "beyond budget", "part beyond budget")
PARTS = {"some": np.array([150, 3, 77, 20, 21]), "none": np.array([], np.intp), "most": np.arange(N)[::-1][:120]}


@pytest.fixture(params=LAYOUTS)
def layout(request, monkeypatch):
    """The budget for each layout."""
    if request.param == "lazy":
        monkeypatch.setattr(gram_module, "AT_ONCE", 10)
    return {"beyond budget": 8 * N**2 - 1, "part beyond budget": 100}.get(request.param, 8 * N**2)


@pytest.fixture(params=["rbf", "custom", "precomputed"])
def whole(request, layout):
    """A gram matrix of some layout and the plain one."""
    kernel = {**kernels(POINTS), "precomputed": Precomputed()}[request.param]
    points = laplace(POINTS, POINTS) if request.param == "precomputed" else POINTS
    return Gram(kernel.bind(points), budget=layout), gram(kernel, points)


@pytest.mark.parametrize("which", list(PARTS))
def test_a_part_has_the_values_of_the_whole(whole, which):
    matrix, K = whole
    rows = PARTS[which]
    part, expected = matrix.part(rows), K[np.ix_(rows, rows)]
    assert part.n == len(rows)
    np.testing.assert_array_equal(part.diagonal, expected.diagonal())
    np.testing.assert_allclose(part.columns(np.arange(len(rows))), expected, rtol=TOL_SUM)
    inner = np.arange(len(rows))[::-2]
    np.testing.assert_allclose(part.block(inner), expected[np.ix_(inner, inner)], rtol=TOL_SUM)
    coefficients, out = np.linspace(-1, 1, len(inner)), np.ones(len(rows))
    part.add(inner, coefficients, out)
    np.testing.assert_allclose(out, 1.0 + coefficients @ expected[inner], rtol=0, atol=1e-12)
    if part.fits:
        np.testing.assert_allclose(part.complete(), expected, rtol=TOL_SUM)
    else:
        with pytest.raises(MemoryError):
            part.complete()


def test_a_part_of_a_part(whole):
    matrix, K = whole
    outer, inner = PARTS["most"], np.array([5, 100, 1])
    part = matrix.part(outer).part(inner)
    np.testing.assert_allclose(part.block(np.arange(3)), K[np.ix_(outer[inner], outer[inner])], rtol=TOL_SUM)


@pytest.mark.parametrize("which", list(PARTS))
def test_cross(whole, which):
    matrix, K = whole
    columns = np.array([4, 4, 150, 0])
    for _ in range(2):  # the second time with some rows known
        cross = matrix.cross(PARTS[which], columns)
        np.testing.assert_allclose(cross, K[np.ix_(PARTS[which], columns)], rtol=TOL_SUM)
        assert cross.shape == (len(PARTS[which]), 4)
        matrix.columns(np.array([3, 20]))
    assert matrix.cross(columns, np.array([], np.intp)).shape == (4, 0)


def test_known_values_are_not_computed_again():
    class Counting:
        def __init__(self, source):
            self.source, self.diagonal, self.asked = source, source.diagonal, 0

        def block(self, rows, columns):
            self.asked += len(rows) * len(columns)
            return self.source.block(rows, columns)

        def gram(self):
            self.asked += N**2
            return self.source.gram()

    source = Counting(RBF(0.5).bind(POINTS))
    matrix = Gram(source)
    part = matrix.part(PARTS["most"])
    part.complete()
    part.part(np.arange(50)).complete()
    matrix.cross(PARTS["some"], PARTS["most"])
    assert source.asked == N**2


def test_pickles_of_parts(whole):
    """Parts that are pickled together share their whole, whose values stay behind."""
    matrix, K = whole
    rows = [np.arange(100), np.arange(50, 150)]
    packed = pickle.dumps([matrix.part(some) for some in rows])
    parts = pickle.loads(packed)
    for part, some in zip(parts, rows, strict=True):
        everything = np.arange(100)
        np.testing.assert_allclose(part.columns(everything), K[np.ix_(some, some)], rtol=TOL_SUM)
    assert parts[0]._source._whole is parts[1]._source._whole
    alone = len(pickle.dumps(matrix))
    assert len(packed) < alone + 4000  # the row numbers and what names the classes


@pytest.mark.parametrize("budget", ["whole too large", "parts too large"])
def test_machines_beyond_the_budget(clouds, budget, monkeypatch):
    """Kernel values in blocks: the same machines."""
    X, codes = clouds(90, 4, seed=26)
    weights = np.where(np.arange(90) % 5 == 4, 0.0, 1.0)
    expected = pairs_fit(RBF(0.5), X, codes, weights)
    allowed = {"whole too large": 8 * 60**2, "parts too large": 1000}[budget]
    monkeypatch.setitem(Gram.__init__.__kwdefaults__, "budget", allowed)
    machine = pairs_fit(RBF(0.5), X, codes, weights)
    assert not machine.gram.fits
    assert all(pair.problem.gram.fits == (allowed > 1000) for pair in machine.pairs)
    assert_same(machine.decision_values, expected.decision_values)
    assert_same(machine.decision_function(X), expected.decision_values)
