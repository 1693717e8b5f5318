"""The size of kernel values, found without overflow."""

import numpy as np
import pytest

from svmstat.errors import DataError
from svmstat.kernels.magnitude import LARGEST, check_magnitude, log10_largest, log10_squared_norm


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e-20, 1.0, 1e20, 1e170, 1e300])
def test_the_size_of_rows(size):
    X = size * np.array([[3.0, -4.0], [0.5, 0.0], [0.0, 0.0]])
    assert log10_squared_norm(X) == pytest.approx(2 * np.log10(size) + np.log10(25.0), abs=1e-9)
    assert log10_largest(X) == pytest.approx(np.log10(size) + np.log10(4.0), abs=1e-9)


@pytest.mark.parametrize("X", [np.zeros((3, 2)), np.empty((0, 2)), np.empty((3, 0))])
def test_nothing_at_all(X):
    assert log10_squared_norm(X) == log10_largest(X) == -np.inf


def test_what_is_allowed():
    for exponent in (-np.inf, -LARGEST, 0.0, LARGEST):
        check_magnitude(exponent, "a kernel", "nothing")
    for exponent in (np.inf, np.nan, LARGEST + 0.1, -LARGEST - 0.1):
        with pytest.raises(DataError, match=r"a kernel has .* between 1e-150 and 1e\+150: scale\."):
            check_magnitude(exponent, "a kernel", "scale")
