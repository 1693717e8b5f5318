"""The end of a path: what is lost on the way keeps no row from its bound."""

import numpy as np
import pytest

from svmstat.solver.roads.paths import ARRIVED, Paths, Wanted, put_certificate, settle_all
from svmstat.solver.solution import off_the_sum


def test_the_sum_of_large_numbers_is_known_to_the_last_digit():
    beta = np.array([1e16, 1.0, -1e16, 1e-9, -1.0])
    assert off_the_sum(beta) == pytest.approx(1e-9, rel=2e-3)
    assert off_the_sum(np.array([0.5, -0.25, -0.25])) == 0.0


@pytest.mark.parametrize(("lost", "other", "settles"), [(3e-10, 0.0, True), (3e-10, -3e-10, False), (0.01, 0.0, False)])
def test_a_row_is_put_at_its_bound_if_the_sum_is_off_by_as_much(lost, other, settles):
    """All of four rows are at a bound of 0.1 of their margins, so that b is an interval, unless one is free."""
    K, signs = np.eye(4), np.array([1.0, 1.0, -1.0, -1.0])
    upper = np.full(4, 0.1)
    paths = Paths.empty(1, 4)
    paths.beta[0] = signs * upper
    paths.beta[0, 0] -= lost
    paths.beta[0, 2] -= other
    paths.h[0] = signs - K @ paths.beta[0]
    paths.code[0] = ARRIVED
    lo, hi = np.where(signs > 0, 0.0, -upper), np.where(signs > 0, upper, 0.0)
    put_certificate(lo, hi, 0, paths)
    paths.code[0] = ARRIVED
    settle_all(K, Wanted(signs, upper[None]), paths)
    assert (paths.beta[0, 0] == 0.1) == settles
    if settles:
        assert paths.interval[0] == pytest.approx([-0.9, 0.9]) and paths.h[0] == pytest.approx(0.9 * signs)
