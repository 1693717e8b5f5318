"""Bounds far from the start's: by the descent on the open rows or, where that would be long, by the path."""

import sys

import numpy as np
import pytest
from problems import size, with_upper
from programs import bordered

from svmstat.kernels import RBF, Linear, Polynomial
from svmstat.solver import TOLERANCE, BoxQP, Gram, Road, Status, solve
from svmstat.solver.exact.bordered import INDEPENDENT, bordered_block, bordered_inverse
from svmstat.solver.roads import compact

TOL_FIELD = 1e-6  # decision values of two certified solutions, relative to max(1, |h|)
TOL_INVERSE = 1e-9  # an inverse times its matrix

B = 24


def replicates(sample, kernel, C):
    """The problem of a sample and the bounds of B bootstrap replicates."""
    n = len(sample.y)
    qp = BoxQP(Gram(kernel.bind(sample.X)), sample.y, np.ones(n), np.full(n, float(C)))
    return qp, C * np.array([np.random.default_rng(r).multinomial(n, np.full(n, 1 / n)) for r in range(B)], float)


def assert_cold(qp, uppers, found):
    """Every third solution against a cold one."""
    assert (found.status == Status.CERTIFIED).all() and (found.violation <= TOLERANCE).all()
    for q in range(0, B, 3):
        cold = solve(with_upper(qp, uppers[q]))
        near = TOL_FIELD * size(cold.field)
        np.testing.assert_allclose(found.field[q], cold.field, rtol=0, atol=near)
        np.testing.assert_allclose(found.intercept_interval[q], cold.intercept_interval, rtol=0, atol=near)


@pytest.mark.parametrize(
    ("kernel", "C", "road"),
    [(Linear(), 0.1, Road.COMPACT), (Linear(), 1.0, Road.COMPACT), (Linear(), 16.0, Road.PATH),
     (Linear(), 100.0, Road.PATH),
     (Polynomial(0.2, 1.0, 2), 1.0, Road.COMPACT), (RBF(0.25), 1.0, Road.COMPACT), (RBF(0.25), 16.0, Road.COMPACT)],
    ids=lambda value: getattr(value, "name", str(value)),
)  # fmt: skip
def test_bootstrap_replicates(mackerel, kernel, C, road):
    """A kernel of low rank leaves more free rows to the descent than are independent, and steps without end."""
    qp, uppers = replicates(mackerel, kernel, C)
    found = solve(qp, uppers)
    assert np.mean(found.road == road) >= 0.9 and np.mean(found.road == Road.RESCUE) <= 0.05
    assert_cold(qp, uppers, found)


@pytest.mark.parametrize("patience", [0, 10**9])
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.25)], ids=lambda kernel: kernel.name)
def test_both_ways_lead_to_the_same(mackerel, kernel, patience, monkeypatch):
    monkeypatch.setattr(compact, "_SETTING_OFF", patience)
    monkeypatch.setattr(compact, "_EVENTS", 0.0)
    qp, uppers = replicates(mackerel, kernel, 2.0)
    found = solve(qp, uppers)
    assert (found.road == (Road.COMPACT if patience else Road.PATH)).mean() >= 0.9
    assert (found.steps[found.road == Road.PATH] == 0).all()
    assert_cold(qp, uppers, found)


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.25)], ids=lambda kernel: kernel.name)
def test_of_many_rows_each_sets_off_for_itself(mackerel, kernel, monkeypatch):
    """No path of thousands of events is walked from the fit, of which a third of the bounds change."""
    monkeypatch.setattr(sys.modules["svmstat.solver.solve"], "LARGEST", 100)
    qp, uppers = replicates(mackerel, kernel, 2.0)
    found = solve(qp, uppers)
    assert (found.road == Road.RESCUE).all()
    assert_cold(qp, uppers, found)


def test_what_has_not_failed_is_no_rescue(mackerel, monkeypatch):
    """Of a smooth kernel, which has a short factor, each had begun with the way that is for what fails elsewhere."""
    monkeypatch.setattr(sys.modules["svmstat.solver.solve"], "LARGEST", 100)
    qp, uppers = replicates(mackerel, RBF(0.01), 2.0)
    expected = solve(qp, uppers)

    def failed(*arguments):
        raise AssertionError("a factor was tried first")

    monkeypatch.setattr("svmstat.solver.roads.single._factored", failed)
    np.testing.assert_array_equal(solve(qp, uppers).alpha, expected.alpha)
    monkeypatch.setattr(sys.modules["svmstat.solver.solve"], "arrived", lambda origin: False)  # the fit itself has
    with pytest.raises(AssertionError, match="a factor was tried first"):
        solve(qp, uppers)


def test_independent_rows_of_a_block():
    """Two columns and the constant: of eight rows no more than three are independent."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(12, 2))
    K, rows, R = X @ X.T, np.array([3, 7, 1, 11, 0, 5, 9, 2]), np.full((20, 20), 9.0)
    chosen = rows.copy()
    group = np.zeros(12, np.int64)
    assert bordered_block(K, group, chosen, INDEPENDENT, R, 1) == 3
    assert sorted(chosen) == sorted(rows)
    free = chosen[:3]
    np.testing.assert_allclose(bordered(K[np.ix_(free, free)]) @ R[:4, :4], np.eye(4), rtol=0, atol=TOL_INVERSE)
    independent, fresh = bordered_inverse(K[np.ix_(rows, rows)], group[rows], 1)
    np.testing.assert_array_equal(rows[independent], free)
    np.testing.assert_allclose(R[:4, :4], fresh, rtol=0, atol=TOL_INVERSE)
    for nothing, of in ((K, np.empty(0, np.int64)), (np.zeros((12, 12)), rows)):
        assert bordered_block(nothing, group, of, INDEPENDENT, R, 1) == 0
    assert len(bordered_inverse(np.zeros((400, 400)), np.zeros(400, np.int64), 1)[0]) == 0


@pytest.mark.parametrize("n", [40, 400])
def test_a_negative_direction_that_the_sum_excludes_makes_no_row_dependent(n):
    """β'Kβ is positive where Σβ = 0, but a small c does not see to the rest: K_ii are unlike, and few of them large."""
    rng = np.random.default_rng(2)
    definite, own = rng.normal(size=(n, n)), np.where(np.arange(n) % 10, 0.0, 30.0)
    K = definite @ definite.T / n + np.diag(own) + 0.01 * np.eye(n) - 1.0
    assert np.linalg.eigvalsh(K)[0] < -1.0
    rows, R = bordered_inverse(K, np.zeros(n, np.int64), 1)
    assert len(rows) == n
    np.testing.assert_allclose(bordered(K[np.ix_(rows, rows)]) @ R, np.eye(n + 1), rtol=0, atol=TOL_INVERSE)


@pytest.mark.parametrize("n", [40, 400])
@pytest.mark.parametrize("lead", [1, 2])
def test_no_row_depends_on_others_for_being_small_beside_them(n, lead):
    X, size = np.random.default_rng(5).normal(size=(n, 3)), np.ones(n)
    size[::10] = 1e5
    K, group = size[:, None] * RBF(5.0).bind(X).gram() * size, np.arange(n) % lead
    rows, R = bordered_inverse(K, group, lead)
    assert len(rows) == n
    E = (group[rows][:, None] == np.arange(lead)).astype(float)
    whole = np.block([[np.zeros((lead, lead)), E.T], [E, K[np.ix_(rows, rows)]]])
    units = np.concatenate([np.ones(lead), size[rows]])  # those in which the free rows count the same
    np.testing.assert_allclose(whole @ R * units / units[:, None], np.eye(n + lead), rtol=0, atol=1e-6)
