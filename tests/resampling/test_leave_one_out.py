"""Leave-one-out of two classes and more against refits of all pairs, and against libsvm."""

from importlib import import_module

import joblib
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.svm import SVC

from svmstat.kernels import RBF, CustomKernel, Linear, Precomputed, gram
from svmstat.machine import vote
from svmstat.resampling import deletions as tasks
from svmstat.resampling import leave_one_out
from svmstat.solver import TOLERANCE

module = import_module("svmstat.resampling.leave_one_out")

TOL_REFIT = 1e-6  # decision values of two certified fits, relative to max(1, |f|)
TOL_STATISTIC = 1e-5  # logs and sums of probabilities by such fits, relative
TOL_LIBSVM = 1e-4  # libsvm keeps its kernel matrix in single precision, BFGS stops at 1e-9 of the gradient
TOL_SAME = 1e-12  # the same sums in another order

COUPLINGS = ("wu-lin-weng", "hastie-tibshirani")
classes = pytest.mark.parametrize("K", [2, 3, 6])
both = pytest.mark.parametrize("coupling", COUPLINGS)


def laplace(A, B):
    return np.exp(-np.abs(A[:, None, :] - B[None, :, :]).sum(axis=2))


def without(weights, k):
    """The weights (n,) without one copy of row k."""
    reduced = weights.copy()
    reduced[k] -= min(reduced[k], 1.0)
    return reduced


def check(machine, maps, refit, rows=None):
    """Each of the rows, whose class must not vanish, by the definition; returns the result."""
    loo = leave_one_out(machine, maps)
    weights, used = machine.weights, machine.weights > 0
    for k in range(len(weights)) if rows is None else rows:
        other = refit(machine, without(weights, k), maps.coupling)
        scale = max(1.0, np.abs(other.f).max())
        np.testing.assert_allclose(loo.decision_values[k], other.f[k], rtol=0, atol=TOL_REFIT * scale)
        np.testing.assert_allclose(loo.probability[k], other.p[k], rtol=0, atol=TOL_REFIT * scale)
        assert loo.log_likelihood[k] == pytest.approx(other.log_likelihood[k], rel=TOL_STATISTIC, abs=TOL_REFIT)
        assert loo.winner[k] == vote(loo.decision_values[k : k + 1], machine.classes)[0]
        assert loo.changes.deviance_deleted[k] == pytest.approx(other.deviance, rel=TOL_STATISTIC)
        change = (other.f - machine.decision_values)[used]
        rms = np.sqrt((change**2).mean(axis=1) @ weights[used] / weights.sum())
        assert loo.changes.max_change[k] == pytest.approx(
            np.abs(change).max(), rel=TOL_STATISTIC, abs=TOL_REFIT * scale
        )
        assert loo.changes.rms_change[k] == pytest.approx(rms, rel=TOL_STATISTIC, abs=TOL_REFIT * scale)
    assert (loo.violation[~np.isnan(loo.violation)] <= TOLERANCE).all()
    return loo


def n_distinct(machine):
    """How many deletions differ."""
    used = machine.weights > 0
    return len({*zip(machine.groups.of_row[used].tolist(), np.minimum(machine.weights[used], 1).tolist(), strict=True)})


# -- the definition ----------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("name", ["liver", "iris", "wine"])
def test_data_sets(data, fit, refit, name, coupling):
    """Every third row by refits, all rows by what holds for all."""
    X, codes = data[name]
    machine, maps = fit(RBF(0.5), X, codes, C=2.0, coupling=coupling)
    loo = check(machine, maps, refit, range(1, len(codes), 3))
    assert loo.n_failed == 0
    assert loo.calibrated.all()
    assert loo.n_refits == n_distinct(machine) * codes.max()
    np.testing.assert_array_equal(loo.winner, vote(loo.decision_values, machine.classes))
    np.testing.assert_array_equal(loo.log_likelihood, np.log(loo.probability[np.arange(len(codes)), codes]))
    np.testing.assert_allclose(loo.probability.sum(axis=1), 1.0, rtol=0, atol=TOL_SAME)
    assert (loo.changes.rms_change <= loo.changes.max_change).all()


@both
@pytest.mark.parametrize(
    ("kernel", "C", "loss"), [(Linear(), 0.5, "hinge"), (RBF(0.5), 50.0, "p0"), (CustomKernel(laplace), 1.0, "hinge")]
)
@classes
def test_kernels_and_losses(clouds, fit, refit, kernel, C, loss, coupling, K):
    X, codes = clouds(45, K, seed=1)
    machine, maps = fit(kernel, X, codes, C=C, loss=loss, class_weight={0: 2.0, K - 1: 0.5}, coupling=coupling)
    loo = check(machine, maps, refit)
    assert loo.n_failed == 0
    assert loo.n_refits == 45 * (K - 1)


@both
def test_weights_and_duplicates(clouds, fit, refit, coupling):
    """A row loses one copy: all of a weight up to one, one of a larger weight, nothing of zero."""
    X, codes = clouds(36, seed=2)
    rows = np.concatenate([np.arange(36), np.arange(12), np.arange(4)])
    weights = np.random.default_rng(3).choice([0.0, 0.3, 1.0, 1.7, 2.0], len(rows))
    weights[:6] = 1.0, 0.3, 2.0, 1.0, 1.0, 1.7
    weights[36:42] = 1.0, 0.3, 0.0, 2.0, 0.6, 1.7
    machine, maps = fit(RBF(0.5), X[rows], codes[rows], weights, C=2.0, coupling=coupling)
    loo = check(machine, maps, refit)
    assert loo.n_failed == 0
    assert loo.n_refits == n_distinct(machine) * 2 < 2 * len(rows)
    unused = weights == 0
    assert unused.sum() > 3
    p = maps.probabilities(machine.decision_values)
    np.testing.assert_array_equal(loo.decision_values[unused], machine.decision_values[unused])
    np.testing.assert_array_equal(loo.probability[unused], p[unused])
    largest = max(pair.solution.violation for pair in machine.pairs)
    np.testing.assert_array_equal(loo.violation[unused], largest)
    np.testing.assert_array_equal(loo.changes.max_change[unused], 0.0)
    np.testing.assert_array_equal(loo.changes.rms_change[unused], 0.0)
    used = ~unused
    deviance = -2.0 * weights[used] @ np.log(p[used, codes[rows][used]])
    np.testing.assert_allclose(loo.changes.deviance_deleted[unused], deviance, rtol=TOL_SAME)


@both
@classes
def test_weights_are_repeats(clouds, fit, coupling, K):
    X, codes = clouds(40, K, seed=4)
    counts = np.random.default_rng(5).integers(1, 4, 40)
    rows = np.repeat(np.arange(40), counts)
    weighted, repeated = (
        leave_one_out(*both)
        for both in (fit(RBF(0.5), X, codes, counts, coupling=coupling),
                     fit(RBF(0.5), X[rows], codes[rows], coupling=coupling))
    )  # fmt: skip
    np.testing.assert_array_equal(repeated.decision_values, weighted.decision_values[rows])
    np.testing.assert_array_equal(repeated.winner, weighted.winner[rows])
    np.testing.assert_allclose(repeated.log_likelihood, weighted.log_likelihood[rows], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(repeated.changes.deviance_deleted, weighted.changes.deviance_deleted[rows], rtol=1e-9)
    np.testing.assert_allclose(repeated.changes.max_change, weighted.changes.max_change[rows], rtol=1e-9, atol=TOL_SAME)
    np.testing.assert_allclose(repeated.changes.rms_change, weighted.changes.rms_change[rows], rtol=1e-9, atol=TOL_SAME)
    assert repeated.n_refits == weighted.n_refits == 40 * (K - 1)


@both
def test_rows_without_a_class(clouds, fit, coupling):
    """Weight zero and class −1: predicted, no likelihood, and nothing else is changed."""
    X, codes = clouds(40, seed=6)
    unknown = np.array([7, 20, 33])
    weights, codes[unknown] = np.ones(40), -1
    weights[unknown] = 0.0
    kept = weights > 0
    machine, maps = fit(RBF(0.5), X, codes, weights, coupling=coupling)
    part = fit(RBF(0.5), X[kept], codes[kept], coupling=coupling)
    loo = leave_one_out(machine, maps)
    alone = leave_one_out(*part)
    np.testing.assert_allclose(loo.log_likelihood[kept], alone.log_likelihood, rtol=1e-9)
    np.testing.assert_array_equal(loo.winner[kept], alone.winner)
    np.testing.assert_allclose(loo.changes.deviance_deleted[kept], alone.changes.deviance_deleted, rtol=1e-9)
    assert np.isnan(loo.log_likelihood[unknown]).all()
    np.testing.assert_array_equal(loo.winner[unknown], vote(machine.decision_values[unknown], machine.classes))
    np.testing.assert_array_equal(loo.probability[unknown], maps.probabilities(machine.decision_values[unknown]))
    assert (loo.n_failed, alone.n_failed) == (0, 0)
    assert loo.n_refits == alone.n_refits == 37 * 2


@both
@pytest.mark.parametrize("lonely", [0, 1, 3])
def test_a_class_of_one_row(clouds, fit, refit, coupling, lonely):
    """Its row is NaN and counted; all others are as they should be."""
    X, codes = clouds(40, 4, seed=7)
    rows = np.flatnonzero((codes != lonely) | (np.cumsum(codes == lonely) == 1))
    X, codes = X[rows], codes[rows]
    k = int(np.flatnonzero(codes == lonely)[0])
    machine, maps = fit(RBF(0.5), X, codes, coupling=coupling)
    loo = check(machine, maps, refit, [row for row in range(len(codes)) if row != k])
    assert loo.n_failed == 1
    assert loo.winner[k] == -1
    for values in (loo.probability[k], loo.log_likelihood[k]):
        assert np.isnan(values).all()
    concerned = np.array([lonely in (pair.first, pair.second) for pair in machine.pairs])
    np.testing.assert_array_equal(np.isnan(loo.decision_values[k]), concerned)
    for column in (loo.changes.deviance_deleted, loo.changes.max_change, loo.changes.rms_change):
        np.testing.assert_array_equal(np.flatnonzero(np.isnan(column)), [k])
    assert not loo.calibrated[k]
    assert np.isfinite(np.delete(loo.probability, k, axis=0)).all()


@both
def test_a_row_of_weight_two_alone_in_its_class(clouds, fit, refit, coupling):
    """It loses one copy, and its class stays."""
    X, codes = clouds(30, seed=8)
    rows = np.flatnonzero((codes != 2) | (np.cumsum(codes == 2) == 1))
    weights = np.where(codes[rows] == 2, 2.0, 1.0)
    machine, maps = fit(RBF(0.5), X[rows], codes[rows], weights, coupling=coupling)
    assert check(machine, maps, refit).n_failed == 0


def test_three_rows_of_three_classes(fit):
    machine, maps = fit(RBF(0.5), np.array([[0.0], [1.0], [3.0]]), np.arange(3))
    loo = leave_one_out(machine, maps)
    assert loo.n_failed == 3
    np.testing.assert_array_equal(np.isnan(loo.decision_values), [[1, 1, 0], [1, 0, 1], [0, 1, 1]])
    np.testing.assert_array_equal(loo.winner, -1)
    assert np.isnan(loo.changes.deviance_deleted).all()


@both
def test_tiny_costs_of_balanced_classes(clouds, fit, refit, coupling):
    """With a row the majority changes, and with it b by 2: far beyond the spread of f, and so for the map to start."""
    X, _ = clouds(24, seed=21)
    machine, maps = fit(RBF(0.5), X, np.arange(24) % 3, C=1e-4, coupling=coupling)
    assert check(machine, maps, refit).n_failed == 0


# -- identities --------------------------------------------------------------------------------------------------------


def test_pairs_without_the_class_keep_their_decision_values(data, fit):
    """Bit for bit."""
    X, codes = data["liver"]
    machine, maps = fit(Linear(), X, codes, C=2.0)
    loo = leave_one_out(machine, maps)
    for p, pair in enumerate(machine.pairs):
        other = (codes != pair.first) & (codes != pair.second)
        assert other.any()
        np.testing.assert_array_equal(loo.decision_values[other, p], machine.decision_values[other, p])


def test_leaving_a_row_out_never_helps_it(data, fit):
    """y f^{[−k]}(x_k) ≤ y f(x_k) in each pair with its class: its own loss no longer counts."""
    X, codes = data["liver"]
    machine, maps = fit(RBF(0.5), X, codes, C=2.0)
    loo = leave_one_out(machine, maps)
    for p, pair in enumerate(machine.pairs):
        y = np.where(codes == pair.first, 1.0, np.where(codes == pair.second, -1.0, 0.0))
        assert (y * (loo.decision_values[:, p] - machine.decision_values[:, p]) <= 1e-6).all()


@both
def test_permuted_classes(clouds, fit, coupling):
    X, codes = clouds(50, 4, seed=9)
    new = np.array([3, 1, 0, 2])
    machine, permuted = fit(RBF(0.5), X, codes, coupling=coupling), fit(RBF(0.5), X, new[codes], coupling=coupling)
    a, b = leave_one_out(*machine), leave_one_out(*permuted)
    np.testing.assert_allclose(b.probability[:, new], a.probability, rtol=0, atol=TOL_REFIT)
    np.testing.assert_allclose(b.log_likelihood, a.log_likelihood, rtol=TOL_STATISTIC, atol=TOL_REFIT)
    np.testing.assert_array_equal(b.winner, new[a.winner])
    np.testing.assert_allclose(b.changes.deviance_deleted, a.changes.deviance_deleted, rtol=TOL_STATISTIC)
    np.testing.assert_allclose(b.changes.max_change, a.changes.max_change, rtol=TOL_STATISTIC, atol=TOL_REFIT)
    np.testing.assert_allclose(b.changes.rms_change, a.changes.rms_change, rtol=TOL_STATISTIC, atol=TOL_REFIT)


@classes
def test_order_of_the_rows(clouds, fit, K):
    X, codes = clouds(50, K, seed=10)
    order = np.random.default_rng(11).permutation(50)
    a, b = fit(RBF(0.5), X, codes), fit(RBF(0.5), X[order], codes[order])
    np.testing.assert_array_equal(leave_one_out(*b).decision_values, leave_one_out(*a).decision_values[order])
    deviances = leave_one_out(*a).changes.deviance_deleted[order]
    np.testing.assert_allclose(leave_one_out(*b).changes.deviance_deleted, deviances, rtol=1e-9)


@classes
def test_precomputed_is_the_kernel(clouds, fit, K):
    X, codes = clouds(50, K, seed=12)
    weights = np.where(np.arange(50) % 6 == 5, 0.0, 1.0)
    by_rows, by_gram = fit(RBF(0.5), X, codes, weights), fit(Precomputed(), gram(RBF(0.5), X), codes, weights)
    a, b = leave_one_out(*by_rows), leave_one_out(*by_gram)
    np.testing.assert_allclose(b.decision_values, a.decision_values, rtol=0, atol=TOL_REFIT)
    np.testing.assert_allclose(b.changes.deviance_deleted, a.changes.deviance_deleted, rtol=TOL_STATISTIC)


@pytest.mark.parametrize("loss", ["hinge", "p0"])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_classes_by_the_definition(clouds, fit, refit, loss, order):
    """With copies, and weights that are no whole numbers."""
    X, codes = clouds(60, 2, seed=13)
    rows = np.concatenate([np.arange(60), np.arange(10)])
    weights = np.random.default_rng(14).choice([0.0, 0.4, 1.0, 2.0], 70)
    weights[:4] = 1.0
    L = {0: 1.5, 1: 0.5}
    machine, maps = fit(RBF(0.5), X[rows], codes[rows], weights, C=3.0, loss=loss, class_weight=L, order=[order])
    loo = check(machine, maps, refit)
    assert (loo.n_failed, loo.calibrated.all()) == (0, True)


def test_what_is_asked_for_later_is_the_same(clouds, fit):
    for K in (2, 4):
        machine, maps = fit(RBF(0.5), *clouds(50, K, seed=13))
        loo, short = leave_one_out(machine, maps), leave_one_out(machine, maps, influence=False)
        np.testing.assert_array_equal(short.log_likelihood, loo.log_likelihood)
        for name in ("deviance_deleted", "max_change", "rms_change"):  # all rows are left out again
            np.testing.assert_array_equal(getattr(short.changes, name), getattr(loo.changes, name))


# -- another solver and another calibration ----------------------------------------------------------------------------


def platt(f, y):
    """A, B by a general minimiser of the cross-entropy."""
    n_event, n_other = np.count_nonzero(y > 0), np.count_nonzero(y < 0)
    t = np.where(y > 0, (n_event + 1) / (n_event + 2), 1 / (n_other + 2))

    def loss(ab):
        z = ab[0] * f + ab[1]
        residual = t - expit(-z)
        return (t * z + np.logaddexp(0, -z)).sum(), np.array([residual @ f, residual.sum()])

    start = [0.0, np.log((n_other + 1) / (n_event + 1))]
    return minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-9}).x


def coupled_by_hand(r, sizes, coupling):
    """p (K,) by the bordered linear system, or by a general minimiser of the divergence."""
    K = len(r)
    if coupling == "wu-lin-weng":
        Q = np.diag((r**2).sum(axis=0)) - r * r.T
        bordered = np.block([[Q, np.ones((K, 1))], [np.ones((1, K)), np.zeros((1, 1))]])
        return np.linalg.solve(bordered, np.eye(K + 1)[-1])[:-1]
    n = sizes[:, None] + sizes
    np.fill_diagonal(n, 0.0)
    n = n / n.sum()

    def divergence(beta):
        odds = beta[:, None] - beta
        return (n * r * np.logaddexp(0, -odds)).sum(), (n * (r.T * expit(odds) - r * expit(-odds))).sum(axis=1)

    beta = minimize(divergence, np.zeros(K), jac=True, method="BFGS", options={"gtol": 1e-10}).x
    return np.exp(beta - beta.max()) / np.exp(beta - beta.max()).sum()


@both
def test_a_loop_of_libsvm(clouds, fit, pairs, coupling):
    """Nothing of the package in it."""
    n, K = 42, 3
    X, codes = clouds(n, K, seed=15)
    machine, maps = fit(RBF(0.5), X, codes, C=2.0, coupling=coupling)
    loo = leave_one_out(machine, maps)
    for k in range(0, n, 2):
        kept = np.arange(n) != k
        other = SVC(C=2.0, gamma=0.5, tol=1e-10, decision_function_shape="ovo").fit(X[kept], codes[kept])
        f = other.decision_function(X)
        r = np.zeros((n, K, K))
        for p, (i, j) in enumerate(pairs(K)):
            own = kept & ((codes == i) | (codes == j))
            A, B = platt(f[own, p], np.where(codes[own] == i, 1.0, -1.0))
            r[:, i, j], r[:, j, i] = expit(-(A * f[:, p] + B)), expit(A * f[:, p] + B)
        prob = np.array([coupled_by_hand(row, np.bincount(codes[kept]) * 1.0, coupling) for row in r])
        np.testing.assert_allclose(loo.decision_values[k], f[k], rtol=0, atol=TOL_LIBSVM)
        np.testing.assert_allclose(loo.probability[k], prob[k], rtol=0, atol=TOL_LIBSVM)
        assert loo.log_likelihood[k] == pytest.approx(np.log(prob[k, codes[k]]), rel=TOL_LIBSVM)
        deviance = -2 * np.log(prob[kept, codes[kept]]).sum()
        assert loo.changes.deviance_deleted[k] == pytest.approx(deviance, rel=TOL_LIBSVM)


# -- workers -----------------------------------------------------------------------------------------------------------


def assert_same_bits(found, expected):
    for one, other in ((found, expected), (found.changes, expected.changes)):
        for name in other.__dataclass_fields__.keys() - {"later"}:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.fixture
def many_pieces(monkeypatch):
    """So few deletions in a task that workers are worth it: the size is part of what the result may depend on."""
    monkeypatch.setattr(tasks, "_CHUNK", 16)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_make_no_difference(clouds, fit, many_pieces, backend):
    X, codes = clouds(150, 4, seed=16)
    weights = np.random.default_rng(17).choice([0.0, 0.5, 1.0, 2.0], 150)
    weights[:8] = 1.0
    machine, maps = fit(RBF(0.5), X, codes, weights, C=5.0)
    loo = leave_one_out(machine, maps, n_jobs=1)
    with joblib.parallel_config(backend):
        assert_same_bits(leave_one_out(machine, maps, n_jobs=2), loo)


def test_the_size_of_a_task_is_only_rounding(clouds, fit, monkeypatch):
    X, codes = clouds(60, seed=18)
    machine, maps = fit(RBF(0.5), X, codes)
    loo = leave_one_out(machine, maps)
    monkeypatch.setattr(tasks, "_CHUNK", 7)
    monkeypatch.setattr(module, "_ROOM", 60 * 9 * 5)
    again = leave_one_out(machine, maps)
    np.testing.assert_allclose(again.decision_values, loo.decision_values, rtol=0, atol=1e-9)
    np.testing.assert_allclose(again.changes.deviance_deleted, loo.changes.deviance_deleted, rtol=1e-9)


def test_nothing_is_changed_and_progress_goes_to_stderr(clouds, fit, capsys):
    machine, maps = fit(RBF(0.5), *clouds(40, seed=19))
    before = machine.decision_values.copy(), machine.alpha.copy(), maps.slope.copy(), machine.totals.copy()
    first = leave_one_out(machine, maps)
    assert capsys.readouterr() == ("", "")
    assert_same_bits(leave_one_out(machine, maps, progress=True), first)
    captured = capsys.readouterr()
    assert "leave-one-out" in captured.err
    assert captured.out == ""
    for a, b in zip((machine.decision_values, machine.alpha, maps.slope, machine.totals), before, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("budget", [8 * 40**2, 1000])
def test_beyond_the_memory_budget(clouds, fit, monkeypatch, budget):
    """The whole matrix, or each part too, is computed in blocks again and again: the same statistics."""
    X, codes = clouds(48, 4, seed=20)
    expected = fit(RBF(0.5), X, codes)
    monkeypatch.setitem(type(expected[0].gram).__init__.__kwdefaults__, "budget", budget)
    machine, maps = fit(RBF(0.5), X, codes)
    assert not machine.gram.fits
    assert all(pair.problem.gram.fits == (budget > 1000) for pair in machine.pairs)
    a, b = leave_one_out(machine, maps), leave_one_out(*expected)
    np.testing.assert_allclose(a.decision_values, b.decision_values, rtol=0, atol=TOL_REFIT)
    np.testing.assert_allclose(a.changes.deviance_deleted, b.changes.deviance_deleted, rtol=TOL_STATISTIC)
