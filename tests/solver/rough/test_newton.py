"""The Newton steps: exact from a rough solution, harmless from a bad one."""

import numpy as np
import pytest
from problems import rough
from programs import bordered

from svmstat.kernels import RBF, Linear
from svmstat.solver import TOLERANCE, BoxQP, Gram, solve
from svmstat.solver.case import case_of
from svmstat.solver.gram import Room
from svmstat.solver.rough.newton import MANY, Outcome, newton
from svmstat.solver.solution import certify
from svmstat.solver.solve import anchor_at


@pytest.fixture
def narrow():
    """A kernel so narrow that most rows are free."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 2))
    y = np.where(X[:, 0] + rng.normal(size=500) > 0, 1.0, -1.0)
    return BoxQP(Gram(RBF(20.0).bind(X)), y, np.ones(500), np.full(500, 10.0))


def test_it_is_exact_from_near(narrow):
    lo, hi, beta, h = rough(narrow, 1e-4)
    assert certify(h, beta, lo, hi)[2] > TOLERANCE
    assert newton(case_of(narrow, narrow.upper), beta, h, Room()) is Outcome.EXACT
    assert certify(h, beta, lo, hi)[2] <= TOLERANCE
    np.testing.assert_allclose(h, narrow.linear - narrow.gram.complete() @ beta, atol=1e-10)
    tight = rough(narrow, 1e-10)[2]
    np.testing.assert_allclose(beta, tight, atol=1e-6)


def test_from_far_it_leaves_everything_as_it_was(narrow):
    _, _, beta, h = rough(narrow, 1.0)
    before = beta.copy(), h.copy()
    assert newton(case_of(narrow, narrow.upper), beta, h, Room()) is Outcome.BLOCKED
    np.testing.assert_array_equal((beta, h), before)


def test_of_dependent_free_rows_all_but_the_independent_meet_their_bound():
    X = np.arange(12.0)[:, None]
    y = np.where(np.arange(12) % 2 == 0, 1.0, -1.0)
    qp = BoxQP(Gram(Linear().bind(X)), y, np.ones(12), np.full(12, 1.0))
    beta = 0.5 * y
    h = qp.linear - qp.gram.complete() @ beta
    case = case_of(qp, qp.upper)
    assert newton(case, beta, h, Room()) is Outcome.EXACT
    assert case.free(beta).sum() <= 2
    assert certify(h, beta, case.lo, case.hi)[2] <= 1e-12
    np.testing.assert_allclose(qp.signs * beta, solve(qp).alpha, atol=1e-12)


@pytest.mark.parametrize("gamma", [0.3, 3.0])
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_few_free_rows(C, gamma):
    """Rows meet their bound one after the other; where it ends the gradients of the free rows are rounding."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 2))
    y = np.where(X[:, 0] + rng.normal(size=120) > 0, 1.0, -1.0)
    qp = BoxQP(Gram(RBF(gamma).bind(X)), y, np.ones(120), np.full(120, C))
    lo, hi, beta, h = rough(qp, 1e-3)
    assert 0 < np.count_nonzero((lo < beta) & (beta < hi)) < MANY
    assert newton(case_of(qp, qp.upper), beta, h, Room()) is Outcome.EXACT
    free = (lo < beta) & (beta < hi)
    rounding = 1e-15 * len(y) * C
    assert certify(h, beta, lo, hi)[2] <= rounding and np.ptp(h[free]) <= rounding
    assert abs(beta.sum()) <= rounding
    np.testing.assert_allclose(beta, rough(qp, 1e-11)[2], atol=1e-6 * C)


def test_no_free_row_is_no_case_for_it():
    qp = BoxQP(Gram(Linear().bind(np.array([[0.0], [1.0]]))), np.array([1.0, -1.0]), np.ones(2), np.full(2, 0.1))
    beta = 0.1 * qp.signs
    h = qp.linear - qp.gram.complete() @ beta
    assert newton(case_of(qp, qp.upper), beta, h, Room()) is Outcome.BLOCKED


def test_a_solution_found_by_it_can_be_left_from(narrow):
    solution = solve(narrow)
    assert solution.free.sum() >= MANY
    assert solution.basis is None
    basis = anchor_at(narrow, solution).solution.basis
    found = basis.inverse @ bordered(narrow.gram.complete()[np.ix_(basis.rows, basis.rows)])
    np.testing.assert_allclose(found, np.eye(len(found)), atol=1e-8)
