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


def test_dependent_free_rows_are_no_case_for_it():
    X = np.arange(12.0)[:, None]
    y = np.where(np.arange(12) % 2 == 0, 1.0, -1.0)
    qp = BoxQP(Gram(Linear().bind(X)), y, np.ones(12), np.full(12, 1.0))
    beta = 0.5 * y
    h = qp.linear - qp.gram.complete() @ beta
    before = beta.copy(), h.copy()
    assert newton(case_of(qp, qp.upper), beta, h, Room()) is not Outcome.EXACT
    np.testing.assert_array_equal((beta, h), before)


def test_a_solution_found_by_it_can_be_left_from(narrow):
    solution = solve(narrow)
    assert solution.free.sum() >= MANY
    assert solution.basis is None
    basis = anchor_at(narrow, solution).solution.basis
    found = basis.inverse @ bordered(narrow.gram.complete()[np.ix_(basis.rows, basis.rows)])
    np.testing.assert_allclose(found, np.eye(len(found)), atol=1e-8)
