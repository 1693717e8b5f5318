"""Tasks in threads; sums over the columns in their order."""

import numpy as np
import pytest

from svmstat.kernels.pairs import in_threads, powers, products, squared_distances


def test_results_come_in_the_order_of_the_tasks():
    assert list(in_threads(lambda i: i * i, range(50))) == [i * i for i in range(50)]
    assert list(in_threads(str, [])) == []


def test_an_error_in_a_thread_reaches_the_caller():
    def fail(i):
        if i == 3:
            raise ValueError("three")
        return i

    with pytest.raises(ValueError, match="three"):
        list(in_threads(fail, range(8)))


@pytest.mark.parametrize("p", range(1, 10))
def test_sums_are_those_of_plain_loops(p):
    rng = np.random.default_rng(p)
    x, z = rng.normal(size=p), rng.normal(size=p)
    squares = inner = 0.0
    for k in range(p):
        squares += (x[k] - z[k]) * (x[k] - z[k])
        inner += x[k] * z[k]
    out = np.empty((1, 1))
    squared_distances(x[None], np.ascontiguousarray(z[:, None]), 1.0, out)
    assert out[0, 0] == squares
    products(x[None], np.ascontiguousarray(z[:, None]), out)
    assert out[0, 0] == inner


@pytest.mark.parametrize("degree", [1, 2, 3, 5, 8, 31])
def test_powers_of_whole_numbers_are_exact(degree):
    values = np.array([[-3.0, 0.0, 1.0, 2.0]])
    powers(values, 1.0, 0.0, degree)
    assert values[0].tolist() == [(-3) ** degree, 0, 1, 2**degree]
