"""One bound vector, where descents and paths alone lead nowhere."""

import numpy as np
import pytest
from problems import clouds, posed, problem

from svmstat.solver import Road, Status, solve
from svmstat.solver.roads import single
from svmstat.solver.rough.newton import Outcome


def scales(n, ratio, seed=0):
    """Columns of which one is larger by far, and labels by all of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X @ [1.0, -0.5, 0.3] + rng.logistic(size=n) > 0.0, 1.0, -1.0)
    return X * [ratio, 1.0, 1.0], y


@pytest.mark.parametrize("n", [200, 1500])
@pytest.mark.parametrize("ratio", [1.0, 1e3, 3e3])
def test_a_linear_kernel_of_columns_that_are_far_apart(n, ratio):
    """Descents ended at half of the objective, without a certificate."""
    low, full = map(solve, posed(*scales(n, ratio)))
    assert low.status is full.status is Status.CERTIFIED
    assert full.objective == pytest.approx(low.objective, rel=1e-10)
    np.testing.assert_allclose(full.decision, low.decision, atol=1e-6)


@pytest.mark.parametrize("n", [200, 1500])
def test_what_doubles_cannot_hold_is_as_good_as_they_allow(n):
    """No β of so many digits has an f of eight: the objective is the least nevertheless."""
    X, y = scales(n, 1e6)
    scaled = solve(posed(X / [1e6, 1.0, 1.0] * [30.0, 1.0, 1.0], y)[0])
    for solution in map(solve, posed(X, y)):
        assert solution.status is Status.IMPRECISE
        assert solution.objective == pytest.approx(scaled.objective, rel=1e-2)  # the penalty is less
        assert solution.violation < 1e-3


def test_where_newton_steps_are_blocked_the_descent_goes_on(monkeypatch):
    """The path, which takes seconds to compile, is not needed for that."""
    asked, newton = [], single.newton

    def blocked_at_first(case, beta, h, room):
        asked.append(beta.copy())
        return Outcome.BLOCKED if len(asked) == 1 else newton(case, beta, h, room)

    monkeypatch.setattr(single, "newton", blocked_at_first)
    solution = solve(problem(*clouds(100, seed=4), 2.0))
    assert solution.status is Status.CERTIFIED and solution.events == 0
    assert len(asked) == 2 and (asked[0] != asked[1]).any()


def test_many_rows_take_the_primal_at_once():
    solution = solve(posed(*scales(1000, 1.0))[1])
    assert solution.road is Road.LOW_RANK and solution.steps == 0


def test_where_most_rows_tie_at_the_margin_a_descent_comes_first():
    """From the corner in which the primal ends each deletion was a solution of its own: 118 s for 20."""
    rng = np.random.default_rng(0)
    levels = rng.integers(40, size=1000)
    X = np.column_stack([np.eye(40)[levels], rng.normal(size=1000)])
    y = rng.choice([-1.0, 1.0], size=1000)
    problem = posed(X, y)[1]
    solution = solve(problem)
    at_margin = np.abs(1.0 - y * solution.decision) < 1e-8
    assert solution.status is Status.CERTIFIED and np.count_nonzero(at_margin) > 2 * 42
    assert solution.road is Road.COLD and solution.free.sum() > 10


def test_a_flat_f_is_no_matter_of_dependent_rows_one_by_one():
    """The primal ends with all rows tied, of which a descent needs two hundred."""
    rng = np.random.default_rng(3)
    y = np.where(rng.random(1500) < 0.05, 1.0, -1.0)
    solution = solve(posed(rng.normal(size=(1500, 40)), y, 1e-3)[1])
    assert solution.status is Status.CERTIFIED and solution.flat
    assert solution.road is Road.COLD and solution.events < 500
