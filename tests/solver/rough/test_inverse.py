"""The inverse without a division is one to 0.3 %, and never too large."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from svmstat.solver.rough.inverse import rough_inverse


@njit
def inverses(values, out):
    for k in range(values.shape[0]):
        out[k] = rough_inverse(values[k])
    return out


def shares(values):
    """What it gives, as a share of 1/x."""
    return inverses(values, np.empty_like(values)).astype(float) * values.astype(float)


@pytest.mark.parametrize(("number", "rounding"), [(np.float32, 1e-6), (np.float64, 1e-14)])
def test_it_is_nearly_the_inverse(number, rounding):
    octave = np.linspace(1.0, 4.0, 100_001, dtype=number)  # the guess is the same in every second octave
    found = shares(octave)
    assert 0.997 < found.min() < 0.9975 and found.max() <= 1.0 + rounding


@given(st.floats(1e-290, 1e290))
def test_of_every_size(x):
    assert 0.997 < shares(np.array([x]))[0] <= 1.0 + 1e-14


@given(st.floats(float(np.float32(1e-30)), float(np.float32(1e30)), width=32))
def test_of_every_size_in_single_precision(x):
    assert 0.997 < shares(np.array([x], np.float32))[0] <= 1.0 + 1e-6
