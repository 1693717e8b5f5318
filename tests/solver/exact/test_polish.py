"""From a rough solution to an exact one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import rough, seeds, size
from programs import bordered

from svmstat.kernels import RBF, Linear, Polynomial
from svmstat.solver import TOLERANCE, BoxQP, Gram, Status, solve
from svmstat.solver.case import case_of
from svmstat.solver.exact.basis import Point
from svmstat.solver.exact.polish import make_basis, polish
from svmstat.solver.problem import Sums
from svmstat.solver.roads.single import basis_of
from svmstat.solver.solution import FREE, certify, partition

TOL_H = 1e-9  # h = s − Kβ, relative to Σ|β|
TOL_INVERSE = 1e-5  # R · [[0, 1'], [1, K_MM]] = I for matrices of condition up to some 1e10


@given(seed=seeds, tolerance=st.sampled_from([1e-1, 1e-2, 1e-3, 1e-6]))
def test_what_polishing_promises(draw_problem, seed, tolerance):
    """Exact or not, it keeps the box and Σβ = 0, and h belongs to β; if it says exact, the certificate holds."""
    qp = draw_problem(seed, upper="1").qp
    lo, hi, beta, h = rough(qp, tolerance)
    before = certify(h, beta, lo, hi)[2]
    polished = polish(case_of(qp, qp.upper), beta, h, 10_000)
    total = max(1.0, np.abs(beta).sum())
    assert (beta >= lo - 1e-12).all() and (beta <= hi + 1e-12).all()
    assert abs(beta.sum()) <= TOL_H * total
    K = qp.gram.complete()
    np.testing.assert_allclose(h, qp.linear - K @ beta, rtol=0, atol=TOL_H * max(1.0, np.abs(K).max()) * total)
    after = certify(h, beta, lo, hi)[2]
    assert polished.exact == (after <= TOLERANCE) or not polished.exact
    if polished.exact:
        assert after <= TOLERANCE
    assert before <= tolerance


@given(seed=seeds)
def test_the_basis_is_the_inverse_over_the_free_rows(draw_problem, seed):
    """[[0, 1'], [1, K_MM]] R = I, and M are rows between their bounds."""
    qp = draw_problem(seed, design="normal", kernel="rbf", upper="1").qp
    solution = solve(qp)
    basis = basis_of(qp, solution)
    rows, R = basis.rows, basis.inverse
    assert set(rows) >= set(np.flatnonzero(solution.free))
    assert len(set(rows.tolist())) == len(rows)
    if len(rows) == 0:
        return
    K = qp.gram.complete()[np.ix_(rows, rows)]
    np.testing.assert_allclose(bordered(K) @ R, np.eye(len(rows) + 1), rtol=0, atol=TOL_INVERSE * size(R))


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(1.0, 1.0, 2)])
def test_dependent_free_rows_slide_to_a_bound(kernel):
    """A linear kernel in two columns leaves at most three independent free rows, a quadratic one seven."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    y = np.where(rng.random(60) < 0.5, 1.0, -1.0)
    gram = Gram(kernel.bind(X))
    K = gram.complete()
    beta = 0.5 * y
    beta[y > 0] *= (y < 0).sum() / (y > 0).sum()
    hi, lo = np.where(y > 0, 2.0, 0.0), np.where(y > 0, 0.0, -2.0)
    before, total = K @ beta, beta.sum()
    status, scalars = partition(beta, lo, hi), np.array([0.3])
    assert (status == FREE).all()
    point = Point(beta, np.zeros(60), lo, hi, status, scalars)
    members, inverse, (m,) = make_basis(K.copy(), Sums(np.zeros(60, np.int64), np.zeros(1)), point)
    rank = 2 if isinstance(kernel, Linear) else 6
    assert m <= rank + 1
    np.testing.assert_array_equal(np.sort(members[:m]), np.flatnonzero(status == FREE))
    assert (beta >= lo).all() and (beta <= hi).all()
    np.testing.assert_allclose(K @ beta + scalars[0], before + 0.3, rtol=0, atol=1e-9 * size(before))
    assert beta.sum() == pytest.approx(total, abs=1e-10)
    M = members[:m]
    found = bordered(K[np.ix_(M, M)]) @ inverse[: m + 1, : m + 1]
    np.testing.assert_allclose(found, np.eye(m + 1), rtol=0, atol=TOL_INVERSE)


def test_no_free_row_is_an_empty_basis():
    y = np.array([1.0, -1.0, 1.0, -1.0])
    qp = BoxQP(Gram(RBF(1.0).bind(np.arange(4.0)[:, None])), y, np.ones(4), np.full(4, 1e-3))
    solution = solve(qp)
    assert len(solution.basis.rows) == 0
    assert solution.basis.inverse.shape == (1, 1)


@pytest.mark.parametrize("C", [1.0, 10.0, 100.0])
def test_polishing_a_rough_fit_of_mackerel(C, mackerel):
    """From a violation of 1e-2 a few dozen events are enough, and rounding is all that is left."""
    qp = BoxQP(Gram(RBF(0.25).bind(mackerel.X)), mackerel.y, np.ones(634), np.full(634, C))
    lo, hi, beta, h = rough(qp, 1e-2)
    polished = polish(case_of(qp, qp.upper), beta, h, 1000)
    assert polished.exact
    assert polished.events <= 60
    assert certify(h, beta, lo, hi)[2] <= 1e-10


def test_the_patience_ends(mackerel):
    qp = BoxQP(Gram(RBF(0.25).bind(mackerel.X)), mackerel.y, np.ones(634), np.full(634, 10.0))
    _, _, beta, h = rough(qp, 1e-1)
    polished = polish(case_of(qp, qp.upper), beta, h, 3)
    assert not polished.exact
    assert polished.events <= 2 * 3 + 2
    assert abs(beta.sum()) <= 1e-9
    np.testing.assert_allclose(h, qp.linear - qp.gram.complete() @ beta, rtol=0, atol=1e-9)


def test_twice_is_once(mackerel):
    qp = BoxQP(Gram(RBF(0.25).bind(mackerel.X)), mackerel.y, np.ones(634), np.full(634, 16.0))
    solution = solve(qp)
    again = solve(qp, start=solution)
    assert again.status is Status.CERTIFIED
    np.testing.assert_allclose(again.alpha, solution.alpha, rtol=0, atol=1e-8)


@pytest.mark.parametrize("seed", [0, 1, 2, 7, 9])
def test_what_many_steps_have_worn_off_h_is_made_good(draw_problem, seed):
    """Also where a descent has met the tolerance by itself, and more rows are free than are independent."""
    qp = draw_problem(seed, n=60, design="pairs", kernel="rbf", upper="1", loss="hinge").qp
    _, _, beta, h = rough(qp, 1e-10)
    h += 1e-9
    assert polish(case_of(qp, qp.upper), beta, h, 10_000).exact
    np.testing.assert_allclose(h, qp.linear - qp.gram.complete() @ beta, rtol=0, atol=1e-13 * size(np.abs(beta).sum()))
