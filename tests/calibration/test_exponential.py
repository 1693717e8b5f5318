import numpy as np
from numba import njit

from svmstat.calibration.exponential import exp_of_negative


@njit
def exponentials(x):
    values = np.empty(len(x))
    for i in range(len(x)):
        values[i] = exp_of_negative(x[i])
    return values


def test_within_two_units_in_the_last_place_of_numpy():
    x = -np.concatenate([np.linspace(0, 700, 200_001), np.geomspace(1e-300, 1, 2001), np.log(2) * np.arange(2000) / 2])
    x = x[x >= -700]
    np.testing.assert_array_max_ulp(exponentials(x), np.exp(x), maxulp=2)


def test_one_at_zero_and_never_below_the_normal_numbers():
    assert exponentials(np.array([0.0, -0.0])).tolist() == [1.0, 1.0]
    np.testing.assert_array_max_ulp(exponentials(np.array([-700.0, -1e6, -np.inf])), np.full(3, np.exp(-700.0)), 2)
