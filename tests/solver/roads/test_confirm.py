"""A solution from elsewhere is that of the problem, or what is wrong with it is said."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import clouds, problem, seeds

from svmstat.kernels import RBF, Linear, Polynomial
from svmstat.solver import Status, basis_of, misfit, solve

KERNELS = {"linear": Linear(), "rbf": RBF(0.5), "wide": RBF(1e-9), "poly": Polynomial(0.5, 1.0, 3)}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@given(seed=seeds, log_cost=st.floats(-12, 8), total=st.booleans())
def test_every_solution_is_one(kernel, seed, log_cost, total):
    X, y = clouds(40, seed=seed)
    qp = problem(X, y, 10.0**log_cost, kernel)
    if total:
        qp = replace(qp, total=float(5.0 * qp.upper[0]))
    assert misfit(qp, solve(qp)) is None


@given(seed=seeds, log_cost=st.floats(-3, 5))
def test_a_solution_at_the_end_of_a_path(seed, log_cost):
    X, y = clouds(40, seed=seed)
    start = problem(X, y, 1.0)
    qp = replace(start, upper=np.full(40, 10.0**log_cost))
    assert misfit(qp, solve(qp, start=solve(start))) is None


def solved(total=None):
    X, y = clouds(40)
    qp = replace(problem(X, y, 2.0), total=total)
    return qp, solve(qp)


CHANGES = {
    "not of the 40 rows": {"alpha": np.zeros(39)},
    "what is no number": {"field": np.full(40, np.nan)},
    "outside its bounds": {"alpha": np.full(40, 2.0 + 1e-9), "basis": None},
    "decision values are off": {"field": np.zeros(40)},
    "the intercept": {"intercept_interval": (9.0, 9.0)},
    "its interval": {"intercept_interval": (0.0, 0.0, 0.0)},
    "upper bounds": {"upper": np.full(40, 3.0)},
    "the precision": {"delicate": True},
    "neither true nor false": {"flat": 0},
    "its gap": {"gap": 5.0},
    "its resolution": {"resolution": 0.5},
    "its objective": {"objective": 0.0},
    "other sums": {"nearest": solved(20.0)[1].nearest},
    "its steps": {"steps": 0.5},
}


@pytest.mark.parametrize("message", CHANGES)
def test_what_is_changed_is_found(message):
    qp, solution = solved()
    assert message in misfit(qp, replace(solution, **CHANGES[message]))


@pytest.mark.parametrize("total", [None, 20.0])
def test_a_solution_of_another_problem(total):
    qp, solution = solved(total)
    other = replace(qp, gram=problem(clouds(40, seed=1)[0], qp.signs, 2.0).gram)
    assert misfit(other, solution) is not None
    far = replace(solution, alpha=np.zeros(40), field=np.zeros(40), status=Status.CERTIFIED)
    assert misfit(qp, far) is not None


def test_a_basis_of_other_rows():
    qp, solution = solved()
    basis = basis_of(qp, solution)
    assert misfit(qp, replace(solution, basis=basis)) is None
    for wrong in (
        {"rows": basis.rows + 40},
        {"rows": basis.rows * 0},
        {"rows": basis.rows[1:]},
        {"inverse": basis.inverse[1:]},
    ):
        assert "its basis" in misfit(qp, replace(solution, basis=replace(basis, **wrong)))
