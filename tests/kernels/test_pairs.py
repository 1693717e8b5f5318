"""Tasks in threads; sums over the columns in their order."""

import numpy as np
import pytest

from svmstat._tools.threads import in_threads
from svmstat.kernels.pairs import distances, powers, products, weighted_sums


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
    squares = absolute = inner = 0.0
    for k in range(p):
        squares += (x[k] - z[k]) * (x[k] - z[k])
        absolute += abs(x[k] - z[k])
        inner += x[k] * z[k]
    out = np.empty((1, 1))
    for power, expected in ((2, squares), (1, absolute)):
        distances(x[None], np.ascontiguousarray(z[:, None]), power, -3.0, out)
        assert out[0, 0] == -3.0 * expected
    products(x[None], np.ascontiguousarray(z[:, None]), out)
    assert out[0, 0] == inner


@pytest.mark.parametrize("degree", [1, 2, 3, 5, 8, 31])
def test_powers_of_whole_numbers_are_exact(degree):
    values = np.array([[-3.0, 0.0, 1.0, 2.0]])
    powers(values, 1.0, 0.0, degree)
    assert values[0].tolist() == [(-3) ** degree, 0, 1, 2**degree]


def test_weighted_sums_do_not_depend_on_the_other_rows():
    rng = np.random.default_rng(0)
    K, w = rng.normal(size=(40, 300)), rng.uniform(size=300)
    whole, part = np.empty(40), np.empty(3)
    weighted_sums(K, w, whole)
    weighted_sums(K[7:10], w, part)
    assert (whole[7:10] == part).all()
    np.testing.assert_allclose(whole, K @ w, rtol=0, atol=1e-12)
