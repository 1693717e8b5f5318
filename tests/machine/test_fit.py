"""The fitted machine: weights as repeated rows, rows of weight zero, decision values by every road."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmstat.kernels import RBF, CustomKernel, Linear, Polynomial, Precomputed, Spline, gram
from svmstat.machine import Contrast, fit_machine, group_rows
from svmstat.objective.losses import Loss, hinge
from svmstat.solver import Status

TOL_VALUES = 1e-10  # the same kernel expansion summed in another order, relative to max(1, Σα max|K|)
TOL_FIT = 1e-6  # two certified fits of one problem, relative to max(1, |f|)

N = 70
RNG = np.random.default_rng(31)
X = RNG.normal(size=(N, 3))
Y = np.where(X[:, 0] + 0.7 * RNG.normal(size=N) > 0, 1.0, -1.0)

seeds = st.integers(0, 2**32 - 1)


def laplace(A, B):
    return np.exp(-np.abs(A[:, None, :] - B[None, :, :]).sum(axis=2))


KERNELS = {
    "linear": Linear(),
    "rbf": RBF(0.4),
    "poly": Polynomial(0.5, 1.0, 3),
    "spline": Spline(X.min(axis=0), X.max(axis=0)),
    "custom": CustomKernel(laplace),
}


def fit(X=X, y=Y, weights=None, kernel="rbf", C=1.0, loss=None):
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, float)
    asked = [Contrast(1, 0, loss or hinge())]
    return fit_machine(KERNELS.get(kernel, kernel), X, (y > 0).astype(int), weights, asked, C=C)


def assert_same(a, b, tolerance=TOL_FIT):
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * max(1.0, np.abs(b).max()))


# -- group_rows --------------------------------------------------------------------------------------------------------


def groups_by_hand(X, y, weights):
    """First rows, group of each row and weights: the distinct rows of positive weight, sorted."""
    rows = [(*x, label) for x, label in zip((X + 0.0).tolist(), y.tolist(), strict=True)]
    distinct = sorted({row for row, weight in zip(rows, weights, strict=True) if weight > 0})
    of_row = np.array([distinct.index(row) if w > 0 else -1 for row, w in zip(rows, weights, strict=True)])
    first = [int(np.flatnonzero(of_row == g)[0]) for g in range(len(distinct))]
    return first, of_row, [weights[of_row == g].sum() for g in range(len(first))]


@given(n=st.integers(1, 30), p=st.integers(0, 3), levels=st.integers(1, 4), seed=seeds)
def test_groups(n, p, levels, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, size=(n, p)).astype(float) * rng.choice([1.0, -1.0])
    y, weights = rng.choice([-1.0, 1.0], n), rng.choice([0.0, 1.0, 0.5, 3.0], n)
    groups = group_rows(X, y, weights)
    first, of_row, total = groups_by_hand(X, y, weights)
    np.testing.assert_array_equal(groups.first, first)
    np.testing.assert_array_equal(groups.of_row, of_row)
    np.testing.assert_allclose(groups.weights, total, rtol=1e-15)


def test_minus_zero_is_zero():
    groups = group_rows(np.array([[0.0], [-0.0]]), np.ones(2), np.ones(2))
    np.testing.assert_array_equal(groups.of_row, [0, 0])
    np.testing.assert_array_equal(groups.weights, [2.0])


def test_near_rows_are_not_the_same():
    groups = group_rows(np.array([[1.0], [np.nextafter(1.0, 2.0)], [1.0]]), np.ones(3), np.ones(3))
    np.testing.assert_array_equal(groups.of_row, [0, 1, 0])


def test_the_other_label_is_another_group():
    groups = group_rows(np.ones((3, 2)), np.array([1.0, -1.0, 1.0]), np.array([1.0, 2.0, 4.0]))
    np.testing.assert_array_equal(groups.of_row, [1, 0, 1])
    np.testing.assert_array_equal(groups.weights, [2.0, 5.0])


# -- weights -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_a_weight_of_two_is_a_row_given_twice(kernel):
    """Digit by digit: both are one row of the problem."""
    weights = RNG.integers(1, 4, N)
    rows = np.repeat(np.arange(N), weights)
    weighted, repeated = fit(weights=weights, kernel=kernel), fit(X[rows], Y[rows], kernel=kernel)
    np.testing.assert_array_equal(repeated.decision_values, weighted.decision_values[rows])
    np.testing.assert_array_equal(repeated.pairs[0].solution.alpha, weighted.pairs[0].solution.alpha)
    assert repeated.pairs[0].solution.intercept_interval == weighted.pairs[0].solution.intercept_interval
    np.testing.assert_allclose(np.bincount(rows, repeated.alpha[:, 0]), weighted.alpha[:, 0], rtol=1e-14)
    np.testing.assert_allclose(np.bincount(rows, repeated.upper[:, 0]), weighted.upper[:, 0], rtol=1e-14)


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_weight_zero_is_absent_and_predicted(kernel):
    weights = np.where(RNG.random(N) < 0.3, 0.0, 1.5)
    kept = weights > 0
    whole, part = fit(weights=weights, kernel=kernel), fit(X[kept], Y[kept], weights[kept], kernel=kernel)
    np.testing.assert_array_equal(whole.decision_values[kept], part.decision_values)
    np.testing.assert_array_equal(whole.alpha[~kept], 0.0)
    np.testing.assert_array_equal(whole.upper[~kept], 0.0)
    np.testing.assert_array_equal(whole.alpha[kept], part.alpha)
    assert_same(whole.decision_values[~kept], part.decision_function(X[~kept]), TOL_VALUES)


def test_alpha_is_shared_in_proportion_to_the_weights():
    rows = np.array([0, 0, 0, *range(N)])
    weights = np.ones(len(rows))
    weights[:3] = 0.5, 2.0, 0.0
    machine = fit(X[rows], Y[rows], weights, C=0.2)
    group = machine.pairs[0].solution.alpha[machine.groups.of_row[0]]
    np.testing.assert_allclose(machine.alpha[:4, 0], group * np.array([0.5, 2.0, 0.0, 1.0]) / 3.5, rtol=1e-14)
    np.testing.assert_allclose(machine.upper[:4, 0], 0.2 * weights[:4], rtol=1e-14)
    np.testing.assert_allclose(machine.decision_values[:4, 0], machine.decision_values[0, 0], rtol=1e-13)
    assert machine.alpha.sum() == pytest.approx(machine.pairs[0].solution.alpha.sum(), rel=1e-13)
    assert machine.alpha[:, 0] @ machine.signs[:, 0] == pytest.approx(0.0, abs=1e-12)
    assert (machine.alpha <= machine.upper * (1 + 1e-15)).all()


def test_fractional_weights_scale_as_the_cost():
    """All weights a half at cost 2C is the fit at cost C."""
    assert_same(fit(weights=np.full(N, 0.5), C=2.0).decision_values, fit(C=1.0).decision_values)


def test_class_weights_are_case_weights():
    case = np.where(Y > 0, 2.0, 0.25)
    by_loss, by_case = fit(loss=hinge(2.0, 0.25)), fit(weights=case)
    np.testing.assert_array_equal(by_loss.pairs[0].problem.upper, by_case.pairs[0].problem.upper)
    np.testing.assert_array_equal(by_loss.decision_values, by_case.decision_values)


def test_margins_reach_the_problem():
    """Margins 2, 2 at cost C: f is twice that of margins 1, 1 at cost C / 2."""
    loss = Loss("hinge", 2.0, 2.0, 1.0, 1.0)
    assert_same(fit(loss=loss, C=2.0).decision_values, 2.0 * fit(C=1.0).decision_values)


# -- decision values ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
@pytest.mark.parametrize("kernel", list(KERNELS))
def test_decision_values_by_the_expansion(kernel, C):
    machine = fit(kernel=kernel, C=C)
    K = gram(KERNELS[kernel], X)
    size = max(1.0, machine.alpha.sum() * np.abs(K).max())
    by_definition = K @ (machine.alpha * Y[:, None]) + machine.pairs[0].solution.intercept
    assert machine.pairs[0].solution.status is Status.CERTIFIED
    np.testing.assert_allclose(machine.decision_values, by_definition, rtol=0, atol=TOL_VALUES * size)
    np.testing.assert_allclose(machine.decision_function(X), machine.decision_values, rtol=0, atol=TOL_VALUES * size)


def test_new_rows_in_pieces(monkeypatch):
    machine = fit()
    new = RNG.normal(size=(101, 3))
    whole = machine.decision_function(new)
    monkeypatch.setattr("svmstat.machine.groups._CHUNK", 64)
    np.testing.assert_allclose(machine.decision_function(new), whole, rtol=1e-13)
    assert machine.decision_function(new[:0]).shape == (0, 1)


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("weighting", ["ones", "some zero", "counts"])
def test_precomputed_is_the_kernel_itself(kernel, weighting):
    """A gram matrix in place of the rows: the same fit."""
    weights = {"ones": np.ones(N), "some zero": np.arange(N) % 3.0, "counts": 1.0 + np.arange(N) % 2}[weighting]
    new = RNG.normal(size=(9, 3))
    named = fit(weights=weights, kernel=kernel)
    given_gram = fit(gram(KERNELS[kernel], X), Y, weights, kernel=Precomputed())
    assert_same(given_gram.decision_values, named.decision_values)
    assert_same(given_gram.decision_function(KERNELS[kernel](new, X)), named.decision_function(new))
    assert given_gram.pairs[0].solution.intercept == pytest.approx(named.pairs[0].solution.intercept, abs=TOL_FIT)


def test_precomputed_copies_are_grouped():
    rows = np.concatenate([np.arange(N), np.arange(10)])
    K = gram(KERNELS["rbf"], X[rows])
    by_gram, by_rows = fit(K, Y[rows], kernel=Precomputed()), fit(X[rows], Y[rows])
    assert by_gram.gram.n == by_rows.gram.n == N
    assert_same(by_gram.decision_values, by_rows.decision_values)


def test_direction_is_the_linear_function():
    machine = fit(kernel="linear")
    by_direction = X @ machine.directions + machine.pairs[0].solution.intercept
    assert_same(by_direction, machine.decision_values, TOL_VALUES)


def test_no_column_at_all():
    """K = 0: f is a constant of the sign of the larger class."""
    y = np.array([1.0, 1.0, 1.0, -1.0, -1.0])
    machine = fit(np.empty((5, 0)), y, kernel="linear")
    np.testing.assert_allclose(machine.decision_values, 1.0, atol=1e-12)
    assert machine.directions.shape == (0, 1)


def test_inputs_are_not_changed():
    before = X.copy(), Y.copy(), np.ones(N)
    given_arrays = X.copy(), Y.copy(), np.ones(N)
    fit(*given_arrays)
    for a, b in zip(before, given_arrays, strict=True):
        np.testing.assert_array_equal(a, b)


def test_order_of_the_rows():
    order = RNG.permutation(N)
    assert_same(fit(X[order], Y[order]).decision_values, fit().decision_values[order])


def test_swapped_labels():
    assert_same(fit(y=-Y).decision_values, -fit().decision_values)
