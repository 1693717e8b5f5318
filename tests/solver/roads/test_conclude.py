"""A row that is put at its bound leaves the sum of beta as exact as it was."""

import numpy as np
import pytest

from svmstat.kernels import Precomputed
from svmstat.solver import BoxQP, Status, solve
from svmstat.solver.gram import Gram


@pytest.mark.parametrize("scale", [1e-9, 1e-6])
@pytest.mark.parametrize("room", [0.0, 4e-16, 1e-13, 1e-11])
def test_the_other_free_row_makes_up_for_one_that_is_put_at_its_bound(scale, room):
    """K = 11' + scale I: what the events share is half of the sum of the others, next to the bound of the second.

    The spread of f is ``scale`` times an alpha, and a sum that is off by 1e-11 of it would hide a part.
    """
    y = np.array([1.0, 1.0, -1.0, -1.0, -1.0])
    others = np.array([49.33281344705997, 49.33281344705997, 24.666406723529985])
    half = 0.5 * others.sum()
    upper = np.array([2.0 * half, half * (1.0 + room), *others])
    found = solve(BoxQP(Gram(Precomputed().bind(1.0 + scale * np.eye(5))), y, np.ones(5), upper))
    assert found.status is Status.CERTIFIED
    assert abs(found.alpha @ y) <= 1e-14 * found.alpha.sum()
    np.testing.assert_allclose(found.alpha, [half, half, *others], rtol=1e-15 / scale)
    assert found.violation <= 1e-15 and found.resolution < 1e-4 * np.ptp(found.field)
