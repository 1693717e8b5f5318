"""One bound vector, where descents and paths alone lead nowhere."""

import numpy as np
import pytest
from problems import posed

from svmstat.solver import Road, Status, solve


def scales(n, ratio, seed=0):
    """Columns of which one is larger by far, and labels by all of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X @ [1.0, -0.5, 0.3] + rng.logistic(size=n) > 0.0, 1.0, -1.0)
    return X * [ratio, 1.0, 1.0], y


@pytest.mark.parametrize("n", [200, 1500])
@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e4])
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
        assert solution.objective >= scaled.objective - abs(scaled.objective) * 1e-2  # a penalty that is less
        assert solution.violation < 1e-3


def test_many_rows_take_the_primal_at_once():
    solution = solve(posed(*scales(1000, 1.0))[1])
    assert solution.road is Road.LOW_RANK and solution.steps == 0
