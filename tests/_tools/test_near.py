"""Where there are data: what is at the distance itself, in any unit."""

import numpy as np
import pytest

from svmstat._tools.near import too_far


@pytest.mark.parametrize("factor", [1.0, 0.1, 1 / 3, 0.3048, 2.54, 1e9])
def test_a_point_at_the_distance_itself_has_data_near(factor):
    rng = np.random.default_rng(0)
    data = rng.integers(0, 11, (12, 2)).astype(float)
    data[:2] = [0.0, 0.0], [10.0, 10.0]
    grid = np.stack(np.meshgrid(np.arange(11.0), np.arange(11.0)), axis=-1).reshape(-1, 2)
    away = np.sqrt(((grid[:, None] - data) ** 2).sum(axis=2).min(axis=1))
    for origin in (0.0, 1e9 if factor == 1.0 else 1e3):
        found = too_far(factor * grid + origin, factor * data + origin, factor * np.full(2, 10.0))
        assert (found == (away > 1.0)).all() and found.any() and (away == 1.0).any()
