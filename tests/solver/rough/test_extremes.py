"""The vectorised extremes are max and min."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from svmstat.solver.rough.extremes import larger, smaller


@njit
def ends(values):
    top, bottom = values[0], values[0]
    for k in range(values.shape[0]):
        top = larger(top, values[k])
        bottom = smaller(bottom, values[k])
    return top, bottom


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=100))
def test_they_are_the_ends_of_a_sample(values):
    values = np.array(values)
    assert ends(values) == (values.max(), values.min())
