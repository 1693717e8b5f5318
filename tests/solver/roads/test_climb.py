"""Smooth kernels with large costs: descents end too far from the solution, the way along the bounds does not."""

from dataclasses import replace

import numpy as np
import pytest

from svmstat.kernels import Spline
from svmstat.solver import BoxQP, Gram, Status, solve
from svmstat.solver.roads import climb as roads


def spline(n, C, seed=0):
    rng = np.random.default_rng([n, seed])
    x = np.arange(n) / (n - 1)
    y = np.where(rng.uniform(size=n) < 1 - np.abs(1 - 2 * x), 1.0, -1.0)
    kernel = Spline().resolve(x[:, None])
    return BoxQP(Gram(kernel.bind(x[:, None])), y, np.ones(n), np.full(n, C))


@pytest.mark.parametrize("power", [14, 18])
def test_a_spline_of_many_rows_and_a_large_cost_is_certified(power):
    problem = spline(1025, 2.0**power)
    solution = solve(problem)
    assert solution.status is Status.CERTIFIED
    field = problem.gram.complete().astype(np.longdouble) @ (problem.signs * solution.alpha).astype(np.longdouble)
    np.testing.assert_allclose(solution.field, field.astype(float), atol=1e-6)
    slack = problem.signs * solution.decision - 1.0
    assert (slack[solution.alpha < problem.upper] > -1e-6).all() and (slack[solution.alpha > 0.0] < 1e-6).all()
    assert abs(problem.signs @ solution.alpha) < 1e-6 * solution.alpha.sum()


def test_it_ends_at_the_solution_that_a_descent_finds():
    problem = spline(129, 2.0**10)
    climbed, found = roads.climb(problem), solve(problem)
    assert climbed.status is found.status is Status.CERTIFIED
    np.testing.assert_allclose(climbed.decision, found.decision, atol=1e-7)


def test_it_is_given_up_where_a_step_is_not_certified(monkeypatch):
    problem = spline(33, 4.0)
    start = solve(problem)
    lost = [start, replace(start, status=Status.UNCERTIFIED)]
    monkeypatch.setattr(roads, "chain", lambda *_: iter(lost))
    assert roads.climb(problem) is None
    monkeypatch.setattr(roads, "solve_single", lambda *_: lost[1])
    assert roads.climb(problem) is None
