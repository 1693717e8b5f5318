"""Leave-one-out of two classes against as many separate fits, from mackerel to samples at the edge."""

import joblib
import numpy as np
import pytest

from svmstat import datasets
from svmstat.calibration import fit_maps
from svmstat.kernels import RBF, Linear, Polynomial, Precomputed, Spline, gram
from svmstat.machine import Contrast, fit_machine
from svmstat.objective.losses import Loss, hinge
from svmstat.resampling import leave_one_out
from svmstat.solver import TOLERANCE


def left_out(machine, **options):
    return leave_one_out(machine, fit_maps(machine), **options)


def fit(kernel, X, y, weights, *, C, loss):
    """The machine of the rows with y = 1 against those with y = −1."""
    return fit_machine(kernel, X, (y > 0).astype(int), weights, [Contrast(1, 0, loss)], C=C)


TOL_REFIT = 1e-6  # decision values of two certified fits, relative to max(1, |f|)
TOL_ROUNDING = 1e-12  # the same sums of some hundred terms of size 1 in another order
ERROR_RATE = 0.1625  # mackerel, C = 16, γ = 0.25, in four digits


def clouds(n, p=2, seed=0, apart=1.0, share=0.5):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < share, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return rng.normal(size=(n, p)) + 0.5 * apart * y[:, None], y


def refits(kernel, X, y, weights, C, loss, rows):
    """f^{[−k]}(x_k) by a fit without one copy of row k, for each of the rows."""
    values = np.empty(len(rows))
    for a, k in enumerate(rows):
        left = weights.copy()
        left[k] = max(left[k] - 1.0, 0.0)
        values[a] = fit(kernel, X, y, left, C=C, loss=loss).decision_values[k, 0]
    return values


def check(kernel, X, y, weights=None, C=1.0, loss=None, rows=None):
    weights = np.ones(len(y)) if weights is None else weights
    loss = loss or hinge()
    machine = fit(kernel, X, y, weights, C=C, loss=loss)
    out = left_out(machine)
    rows = np.arange(len(y)) if rows is None else rows
    expected = refits(kernel, X, y, weights, C, loss, rows)
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(out.decision_values[rows, 0], expected, rtol=0, atol=TOL_REFIT * scale)
    assert out.n_failed == 0
    assert (out.violation <= TOLERANCE).all()
    return machine, out


@pytest.fixture(scope="module")
def mackerel():
    data = datasets.load("mackerel")
    X = data[["lon", "lat", "b_depth", "c_dist", "temp_20m"]].to_numpy(float)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    y = np.where(data["egg_count"] > 0, 1.0, -1.0)
    return fit(RBF(0.25), X, y, np.ones(634), C=16.0, loss=hinge())


def test_mackerel(mackerel):
    """All 634 refits on the kernel matrix of the other 633 rows."""
    K, y, rows = gram(RBF(0.25), mackerel.X), mackerel.signs[:, 0], np.arange(634)
    out = left_out(mackerel)
    expected = np.empty(634)
    for k in rows:
        others = np.delete(rows, k)
        part = K[np.ix_(others, others)]
        machine = fit(Precomputed(), part, y[others], np.ones(633), C=16.0, loss=hinge())
        expected[k] = machine.decision_function(K[k : k + 1, others])[0, 0]
    scale = np.abs(expected).max()
    np.testing.assert_allclose(out.decision_values[:, 0], expected, rtol=0, atol=TOL_REFIT * scale)
    assert np.mean(np.sign(out.decision_values[:, 0]) != y) == pytest.approx(ERROR_RATE, abs=5e-5)
    assert out.n_failed == 0
    assert out.n_rescued == 0
    assert (out.violation <= TOLERANCE).all()


def test_rows_that_are_no_support_vectors_keep_their_value(mackerel):
    out = left_out(mackerel)
    idle = mackerel.alpha[:, 0] == 0
    assert idle.any()
    np.testing.assert_allclose(out.decision_values[idle], mackerel.decision_values[idle], rtol=1e-12)


def test_leaving_a_row_out_never_helps_it(mackerel):
    """y f^{[−k]}(x_k) ≤ y f(x_k): its own loss no longer counts."""
    out = left_out(mackerel)
    assert (mackerel.signs * (out.decision_values - mackerel.decision_values) <= 1e-6).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("backend", ["threading", "sequential"])
def test_workers_make_no_difference(mackerel, n_jobs, backend):
    with joblib.parallel_config(backend=backend):
        out = left_out(mackerel, n_jobs=n_jobs)
    alone = left_out(mackerel)
    np.testing.assert_array_equal(out.decision_values, alone.decision_values)
    np.testing.assert_array_equal(out.violation, alone.violation)
    assert (out.n_events, out.n_rescued, out.n_failed) == (alone.n_events, alone.n_rescued, alone.n_failed)


def test_processes_make_no_difference():
    """But in the last digit, which depends on whether a process compiled the loops or found them compiled."""
    X, y = clouds(150)
    machine = fit(RBF(0.5), X, y, np.ones(150), C=1.0, loss=hinge())
    with joblib.parallel_config(backend="loky", n_jobs=2):
        out = left_out(machine, n_jobs=2)
    alone = left_out(machine)
    np.testing.assert_allclose(out.decision_values, alone.decision_values, rtol=0, atol=TOL_ROUNDING)
    assert (out.n_events, out.n_rescued, out.n_failed) == (alone.n_events, alone.n_rescued, alone.n_failed)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_linear_kernel_with_copies(C):
    X, y = clouds(40, apart=1.5)
    rows = np.concatenate([np.arange(40), np.arange(20), np.arange(5)])
    machine, out = check(Linear(), X[rows], y[rows], C=C)
    assert machine.gram.n == 40
    np.testing.assert_array_equal(out.decision_values[:20], out.decision_values[40:60])


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear(), Polynomial(0.5, 1.0, 2)])
def test_one_to_fifty(kernel):
    X, y = clouds(102, share=0.0)
    y[:] = -1.0
    y[[10, 60]] = 1.0
    check(kernel, X, y, C=1.0)


def test_a_class_of_one_row_is_lost():
    X, y = clouds(30, share=0.0)
    y[:] = -1.0
    y[7] = 1.0
    machine = fit(RBF(0.5), X, y, np.ones(30), C=1.0, loss=hinge())
    out = left_out(machine)
    assert out.n_failed == 1
    np.testing.assert_array_equal(np.isnan(out.decision_values[:, 0]), y > 0)
    others = np.flatnonzero(y < 0)
    expected = refits(RBF(0.5), X, y, np.ones(30), 1.0, hinge(), others)
    np.testing.assert_allclose(out.decision_values[others, 0], expected, rtol=0, atol=TOL_REFIT)


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()])
def test_weights(kernel):
    """One copy is what a row loses: all of a weight up to one, one of a larger weight, nothing of zero."""
    X, y = clouds(60, seed=2)
    weights = np.random.default_rng(3).choice([0.0, 0.3, 1.0, 1.7, 2.0, 5.0], 60)
    weights[:2] = 1.0
    machine, out = check(kernel, X, y, weights, C=2.0)
    unused = weights == 0
    assert unused.any()
    np.testing.assert_array_equal(out.decision_values[unused], machine.decision_values[unused])
    np.testing.assert_array_equal(out.violation[unused], machine.pairs[0].solution.violation)


def test_class_weights_and_margins():
    X, y = clouds(60, seed=6, share=0.3)
    p0 = 0.3
    loss = Loss("hinge", -np.log(p0) / (1 - p0), -np.log(1 - p0) / p0, 2 * (1 - p0), 2 * p0)
    check(RBF(0.5), X, y, C=1.0, loss=loss)
    check(Linear(), X, y, C=0.1, loss=hinge(3.0, 0.5))


@pytest.mark.parametrize("C", [1e-3, 1e4])
def test_tiny_and_huge_costs(C):
    X, y = clouds(50, seed=7, apart=2.0)
    check(RBF(0.5), X, y, C=C)
    check(Linear(), X, y, C=min(C, 100.0))


def test_separable():
    X, y = clouds(60, seed=8, apart=10.0)
    check(Linear(), X, y, C=1e3)


def test_balanced_with_no_free_vector():
    """Small cost, as many rows of each class: the full fit has no free vector, a reduced one may have none."""
    X, _ = clouds(24, seed=9)
    y = np.where(np.arange(24) % 2 == 0, 1.0, -1.0)
    check(RBF(0.5), X, y, C=1e-2)
    check(Linear(), X, y, C=1e-3)


def test_factors_only():
    rng = np.random.default_rng(10)
    X = np.hstack([np.eye(k)[rng.integers(0, k, 80)] for k in (2, 3)])
    y = np.where(X[:, 0] + rng.normal(size=80) > 0.5, 1.0, -1.0)
    check(Linear(), X, y, C=1.0)
    check(RBF(1.0), X, y, C=1.0)


def test_spline_kernel():
    X, y = clouds(60, seed=11)
    check(Spline(X.min(axis=0), X.max(axis=0)), X, y, C=1.0)


def test_two_rows():
    """Nothing is left after either deletion."""
    machine = fit(Linear(), np.array([[0.0], [1.0]]), np.array([-1.0, 1.0]), np.ones(2), C=1.0, loss=hinge())
    out = left_out(machine)
    assert np.isnan(out.decision_values).all()
    assert out.n_failed == 2


def test_the_machine_is_not_changed(mackerel):
    before = (
        mackerel.pairs[0].solution.alpha.copy(),
        mackerel.decision_values.copy(),
        mackerel.pairs[0].problem.upper.copy(),
    )
    left_out(mackerel)
    np.testing.assert_array_equal(mackerel.pairs[0].solution.alpha, before[0])
    np.testing.assert_array_equal(mackerel.decision_values, before[1])
    np.testing.assert_array_equal(mackerel.pairs[0].problem.upper, before[2])
