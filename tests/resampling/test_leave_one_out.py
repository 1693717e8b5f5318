"""Leave-one-out of any number of classes against refits of all pairs, and against libsvm."""

from importlib import import_module

import joblib
import numpy as np
import pytest
from levels import COUPLINGS, laplace, platt
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.svm import SVC

from svmstat import datasets
from svmstat.calibration import fit_maps
from svmstat.kernels import RBF, CustomKernel, Linear, Polynomial, Precomputed, Spline, gram
from svmstat.machine import Contrast, fit_machine, vote
from svmstat.objective.losses import Loss, hinge
from svmstat.resampling import deletions as tasks
from svmstat.resampling import leave_one_out
from svmstat.resampling.loops import run_pieces
from svmstat.solver import TOLERANCE

module = import_module("svmstat.resampling.leave_one_out")

TOL_REFIT = 1e-6  # decision values of two certified fits, relative to max(1, |f|)
TOL_STATISTIC = 1e-5  # logs and sums of probabilities by such fits, relative
TOL_LIBSVM = 1e-4  # libsvm keeps its kernel matrix in single precision, BFGS stops at 1e-9 of the gradient
TOL_SAME = 1e-12  # the same sums in another order
ERROR_RATE = 0.1625  # mackerel, C = 16, γ = 0.25, in four digits

both = pytest.mark.parametrize("coupling", COUPLINGS)


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
        others = without(weights, k)
        rms = np.sqrt((change**2).mean(axis=1) @ others[used] / others.sum())
        assert loo.changes.max_change[k] == pytest.approx(
            np.abs(change).max(), rel=TOL_STATISTIC, abs=TOL_REFIT * scale
        )
        assert loo.changes.rms_change[k] == pytest.approx(rms, rel=TOL_STATISTIC, abs=TOL_REFIT * scale)
    assert (loo.violation[~np.isnan(loo.violation)] <= TOLERANCE).all()
    return loo


def check_values(machine, loo, refit):
    """The decision values alone, of samples whose maps are too steep for more."""
    expected = np.array([
        refit(machine, without(machine.weights, k), "wu-lin-weng").f[k] for k in range(len(machine.weights))
    ])  # fmt: skip
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(loo.decision_values, expected, rtol=0, atol=TOL_REFIT * scale)
    assert loo.n_failed == 0
    assert (loo.violation <= TOLERANCE).all()


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
def test_kernels_and_losses(clouds, fit, refit, kernel, C, loss, coupling, K):
    X, codes = clouds(45, K, seed=1)
    machine, maps = fit(kernel, X, codes, C=C, loss=loss, class_weight={0: 2.0, K - 1: 0.5}, coupling=coupling)
    loo = check(machine, maps, refit)
    assert loo.n_failed == 0
    assert loo.n_refits == 45 * (K - 1)


@pytest.mark.parametrize(("kernel", "coupling"), [(RBF(0.5), COUPLINGS[0]), (Linear(), COUPLINGS[1])])
def test_weights_and_duplicates(clouds, fit, refit, kernel, coupling, K):
    """A row loses one copy: all of a weight up to one, one of a larger weight, nothing of zero."""
    X, codes = clouds(36, K, seed=2)
    rows = np.concatenate([np.arange(36), np.arange(12), np.arange(4)])
    weights = np.random.default_rng(3).choice([0.0, 0.3, 1.0, 1.7, 2.0], len(rows))
    weights[:12] = np.tile([1.0, 0.3, 2.0, 1.0, 1.0, 1.7], 2)
    weights[36:42] = 1.0, 0.3, 0.0, 2.0, 0.6, 1.7
    machine, maps = fit(kernel, X[rows], codes[rows], weights, C=2.0, coupling=coupling)
    loo = check(machine, maps, refit)
    assert loo.n_failed == 0
    assert loo.n_refits == n_distinct(machine) * (K - 1) < (K - 1) * len(rows)
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
def test_rows_without_a_class(clouds, fit, coupling, K):
    """Weight zero and class −1: predicted, no likelihood, and nothing else is changed."""
    X, codes = clouds(40, K, seed=6)
    unknown = np.array([13, 20, 33])
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
    assert loo.n_refits == alone.n_refits == 37 * (K - 1)


@both
def test_a_row_of_weight_two_alone_in_its_class(clouds, fit, refit, coupling, K):
    """It loses one copy, and its class stays."""
    X, codes = clouds(30, K, seed=8)
    rows = np.flatnonzero((codes != K - 1) | (np.cumsum(codes == K - 1) == 1))
    weights = np.where(codes[rows] == K - 1, 2.0, 1.0)
    machine, maps = fit(RBF(0.5), X[rows], codes[rows], weights, coupling=coupling)
    assert check(machine, maps, refit).n_failed == 0


def test_two_rows_of_two_classes(fit):
    """Nothing is left after either deletion."""
    loo = leave_one_out(*fit(Linear(), np.array([[0.0], [1.0]]), np.arange(2)))
    assert np.isnan(loo.decision_values).all() and loo.n_failed == 2


def test_three_rows_of_three_classes(fit):
    machine, maps = fit(RBF(0.5), np.array([[0.0], [1.0], [3.0]]), np.arange(3))
    loo = leave_one_out(machine, maps)
    assert loo.n_failed == 3
    np.testing.assert_array_equal(np.isnan(loo.decision_values), [[1, 1, 0], [1, 0, 1], [0, 1, 1]])
    np.testing.assert_array_equal(loo.winner, -1)
    assert np.isnan(loo.changes.deviance_deleted).all()


@both
@pytest.mark.parametrize(("n_classes", "lonely"), [(2, 0), (2, 1), (4, 0), (4, 1), (4, 3)])
def test_a_class_of_one_row(clouds, fit, refit, coupling, n_classes, lonely):
    """Its row is NaN and counted; all others are as they should be."""
    X, codes = clouds(40, n_classes, seed=7)
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
def test_tiny_costs_of_balanced_classes(clouds, fit, refit, coupling, K):
    """With a row the majority changes, and with it b by 2: far beyond the spread of f, and so for the map to start."""
    X, _ = clouds(24, seed=21)
    machine, maps = fit(RBF(0.5), X, np.arange(24) % K, C=1e-4, coupling=coupling)
    assert check(machine, maps, refit).n_failed == 0


def awkward(clouds, name, K):
    """Kernel, rows, classes, cost."""
    X, codes = clouds(60, K, seed=8, apart=2.0)
    spline = Spline(X.min(axis=0), X.max(axis=0))
    kernels = {"rbf": RBF(0.5), "linear": Linear(), "poly": Polynomial(0.5, 1.0, 2), "spline": spline}
    which, _, what = name.partition(", ")
    C = {"small cost": 0.1, "tiny cost": 1e-3, "large cost": 100.0, "huge cost": 1e4, "separable": 1e3}.get(what, 1.0)
    match what:
        case "copies":
            rows = np.concatenate([np.arange(40), np.arange(20), np.arange(5)])
            X, codes, C = X[rows], codes[rows], 10.0
        case "one to fifty":
            n = 102 if K == 2 else 42
            X, codes = clouds(n, seed=9)[0], np.zeros(n, int)
            codes[10 : 10 + 2 * (K - 1)] = np.tile(np.arange(1, K), 2)
        case "separable":
            X = clouds(60, K, seed=8, apart=30.0)[0]
        case "no free vector":
            X, codes, C = clouds(24, seed=9)[0], np.arange(24) % K, 1e-2 if which == "rbf" else 1e-3
        case "factors":
            rng = np.random.default_rng(10)
            X = np.hstack([np.eye(k)[rng.integers(0, k, 60)] for k in (2, 3)])
    return kernels[which], X, codes, C


AWKWARD = ["linear, small cost", "linear, copies", "rbf, one to fifty", "linear, one to fifty", "poly, one to fifty",
           "rbf, tiny cost", "rbf, huge cost", "linear, tiny cost", "linear, large cost", "linear, separable",
           "rbf, no free vector", "linear, no free vector", "linear, factors", "rbf, factors",
           "spline, rows"]  # fmt: skip


@pytest.mark.parametrize("name", AWKWARD)
def test_decision_values_of_awkward_samples(clouds, fit, refit, name, K):
    kernel, X, codes, C = awkward(clouds, name, K)
    machine, maps = fit(kernel, X, codes, C=C)
    check_values(machine, leave_one_out(machine, maps), refit)


@pytest.mark.parametrize(
    ("kernel", "loss", "C"),
    [
        (RBF(0.5), Loss("hinge", -np.log(0.3) / 0.7, -np.log(0.7) / 0.3, 1.4, 0.6), 1.0),
        (Linear(), hinge(3.0, 0.5), 0.1),
    ],
)
def test_margins_and_weights_of_a_loss(clouds, kernel, loss, C):
    X, codes = clouds(60, 2, seed=6)

    def machine_of(weights):
        return fit_machine(kernel, X, codes, weights, [Contrast(0, 1, loss)], C=C)

    machine = machine_of(np.ones(60))
    loo = leave_one_out(machine, fit_maps(machine))
    expected = [machine_of(without(np.ones(60), k)).decision_values[k] for k in range(60)]
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(loo.decision_values, expected, rtol=0, atol=TOL_REFIT * scale)


# -- mackerel ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mackerel():
    data = datasets.load("mackerel")
    X = data[["lon", "lat", "b_depth", "c_dist", "temp_20m"]].to_numpy(float)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    codes = (data["egg_count"] > 0).to_numpy().astype(int)
    machine = fit_machine(RBF(0.25), X, codes, np.ones(634), [Contrast(1, 0, hinge())], C=16.0)
    return machine, leave_one_out(machine, fit_maps(machine))


def test_mackerel(mackerel):
    """Every third of the 634 refits on the kernel matrix of the other 633 rows."""
    machine, loo = mackerel
    K, codes, rows = gram(RBF(0.25), machine.X), machine.codes, np.arange(634)
    some, expected = rows[::3], np.full(634, np.nan)
    for k in some:
        others = np.delete(rows, k)
        contrast = [Contrast(1, 0, hinge())]
        part = fit_machine(Precomputed(), K[np.ix_(others, others)], codes[others], np.ones(633), contrast, C=16.0)
        expected[k] = part.decision_function(K[k : k + 1, others])[0, 0]
    scale = np.abs(expected[some]).max()
    np.testing.assert_allclose(loo.decision_values[some, 0], expected[some], rtol=0, atol=TOL_REFIT * scale)
    assert np.mean((loo.decision_values[:, 0] > 0) != codes) == pytest.approx(ERROR_RATE, abs=5e-5)
    assert (loo.n_failed, loo.n_rescued) == (0, 0)
    assert (loo.violation <= TOLERANCE).all()


def test_rows_that_are_no_support_vectors_keep_their_value(mackerel):
    machine, loo = mackerel
    idle = machine.alpha[:, 0] == 0
    assert idle.any()
    np.testing.assert_allclose(loo.decision_values[idle], machine.decision_values[idle], rtol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("backend", ["threading", "sequential"])
def test_workers_make_no_difference_to_mackerel(mackerel, n_jobs, backend):
    machine, loo = mackerel
    with joblib.parallel_config(backend=backend):
        assert_same_bits(leave_one_out(machine, fit_maps(machine), n_jobs=n_jobs), loo)


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


def test_leaving_a_row_out_never_helps_it(data, fit, mackerel):
    """y f^{[−k]}(x_k) ≤ y f(x_k) in each pair with its class: its own loss no longer counts."""
    liver = fit(RBF(0.5), *data["liver"], C=2.0)
    for machine, loo in (mackerel, (liver[0], leave_one_out(*liver))):
        assert (machine.signs * (loo.decision_values - machine.decision_values) <= 1e-6).all()


@both
def test_permuted_classes(clouds, fit, coupling, K):
    X, codes = clouds(50, K, seed=9)
    new = np.roll(np.arange(K), 1)
    machine, permuted = fit(RBF(0.5), X, codes, coupling=coupling), fit(RBF(0.5), X, new[codes], coupling=coupling)
    a, b = leave_one_out(*machine), leave_one_out(*permuted)
    np.testing.assert_allclose(b.probability[:, new], a.probability, rtol=0, atol=TOL_REFIT)
    np.testing.assert_allclose(b.log_likelihood, a.log_likelihood, rtol=TOL_STATISTIC, atol=TOL_REFIT)
    np.testing.assert_array_equal(b.winner, new[a.winner])
    np.testing.assert_allclose(b.changes.deviance_deleted, a.changes.deviance_deleted, rtol=TOL_STATISTIC)
    np.testing.assert_allclose(b.changes.max_change, a.changes.max_change, rtol=TOL_STATISTIC, atol=TOL_REFIT)
    np.testing.assert_allclose(b.changes.rms_change, a.changes.rms_change, rtol=TOL_STATISTIC, atol=TOL_REFIT)


def test_order_of_the_rows(clouds, fit, K):
    X, codes = clouds(50, K, seed=10)
    order = np.random.default_rng(11).permutation(50)
    a, b = fit(RBF(0.5), X, codes), fit(RBF(0.5), X[order], codes[order])
    np.testing.assert_array_equal(leave_one_out(*b).decision_values, leave_one_out(*a).decision_values[order])
    deviances = leave_one_out(*a).changes.deviance_deleted[order]
    np.testing.assert_allclose(leave_one_out(*b).changes.deviance_deleted, deviances, rtol=1e-9)


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


def test_what_is_asked_for_later_is_the_same(clouds, fit, K):
    machine, maps = fit(RBF(0.5), *clouds(50, K, seed=13))
    loo, short = leave_one_out(machine, maps), leave_one_out(machine, maps, influence=False)
    np.testing.assert_array_equal(short.log_likelihood, loo.log_likelihood)
    for name in ("deviance_deleted", "max_change", "rms_change"):  # all rows are left out again
        np.testing.assert_array_equal(getattr(short.changes, name), getattr(loo.changes, name))


# -- another solver and another calibration ----------------------------------------------------------------------------


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


@pytest.mark.parametrize(("C", "gamma", "weighted"), [(0.5, 0.3, False), (20.0, 1.0, False), (2.0, 0.5, True)])
def test_a_loop_of_libsvm(clouds, fit, pairs, C, gamma, weighted, K):
    """Nothing of the package in it."""
    n = 42
    X, codes = clouds(n, K, seed=15)
    weights = np.random.default_rng(1).integers(1 - weighted, 3 if weighted else 2, n) * 1.0
    weights[: 2 * K] = 1.0
    machine, maps = fit(RBF(gamma), X, codes, weights, C=C)
    results = {each: leave_one_out(machine, maps.with_coupling(each)) for each in COUPLINGS}
    for k in range(0, n, 2 * K - 2):
        w = without(weights, k)
        kept = w > 0
        other = SVC(C=C, gamma=gamma, tol=1e-10, decision_function_shape="ovo").fit(X[kept], codes[kept], w[kept])
        f = other.decision_function(X).reshape(n, -1) * (-1 if K == 2 else 1)  # two classes: > 0 for the second
        r = np.zeros((n, K, K))
        for p, (i, j) in enumerate(pairs(K)):
            own = kept & ((codes == i) | (codes == j))
            A, B = platt(f[own, p], np.where(codes[own] == i, 1.0, -1.0), w[own])
            r[:, i, j], r[:, j, i] = expit(-(A * f[:, p] + B)), expit(A * f[:, p] + B)
        for coupling, loo in results.items():
            prob = np.array([coupled_by_hand(row, np.bincount(codes, w), coupling) for row in r])
            np.testing.assert_allclose(loo.decision_values[k], f[k], rtol=0, atol=TOL_LIBSVM)
            np.testing.assert_allclose(loo.probability[k], prob[k], rtol=0, atol=TOL_LIBSVM)
            assert loo.log_likelihood[k] == pytest.approx(np.log(prob[k, codes[k]]), rel=TOL_LIBSVM)
            deviance = -2 * w[kept] @ np.log(prob[kept, codes[kept]])
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
def test_workers_make_no_difference(clouds, fit, many_pieces, backend, K):
    X, codes = clouds(150, K, seed=16)
    weights = np.random.default_rng(17).choice([0.0, 0.5, 1.0, 2.0], 150)
    weights[: 2 * K] = 1.0
    machine, maps = fit(RBF(0.5), X, codes, weights, C=5.0)
    loo = leave_one_out(machine, maps, n_jobs=1)
    with joblib.parallel_config(backend):
        assert_same_bits(leave_one_out(machine, maps, n_jobs=2), loo)


def test_what_every_task_needs_is_computed_before_them(clouds, fit, many_pieces, monkeypatch):
    handed = []

    def run(function, pieces, **options):
        handed.extend(task[0]._of_groups.value is None for task in pieces)
        return run_pieces(function, pieces, **options)

    monkeypatch.setattr(module, "run_pieces", run)
    leave_one_out(*fit(RBF(0.5), *clouds(60, 3, seed=18)))
    assert len(handed) > 2 and not any(handed)


def test_the_size_of_a_task_is_only_rounding(clouds, fit, monkeypatch):
    X, codes = clouds(60, seed=18)
    machine, maps = fit(RBF(0.5), X, codes)
    loo = leave_one_out(machine, maps)
    monkeypatch.setattr(tasks, "_CHUNK", 7)
    monkeypatch.setattr(module, "_ROOM", 60 * 9 * 5)
    again = leave_one_out(machine, maps)
    np.testing.assert_allclose(again.decision_values, loo.decision_values, rtol=0, atol=1e-9)
    np.testing.assert_allclose(again.changes.deviance_deleted, loo.changes.deviance_deleted, rtol=1e-9)


def test_nothing_is_changed_and_progress_goes_to_stderr(clouds, fit, capsys, K):
    machine, maps = fit(RBF(0.5), *clouds(40, K, seed=19))

    def held():
        of_pairs = [(pair.solution.alpha, pair.problem.upper) for pair in machine.pairs]
        return [machine.decision_values, machine.alpha, maps.slope, machine.totals, *sum(of_pairs, ())]

    before = [each.copy() for each in held()]
    first = leave_one_out(machine, maps)
    assert capsys.readouterr() == ("", "")
    assert_same_bits(leave_one_out(machine, maps, progress=True), first)
    captured = capsys.readouterr()
    assert "leave-one-out" in captured.err
    assert captured.out == ""
    for a, b in zip(held(), before, strict=True):
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
