"""The equations of a Newton step: solved to rounding, whichever the precision of the factor."""

from types import SimpleNamespace

import numpy as np
import pytest
from programs import bordered
from scipy.linalg.blas import dsymv

from svmstat.kernels import RBF
from svmstat.solver.rough import equations
from svmstat.solver.rough.equations import WORTH, newton_step


def drawn(m, gamma, size=1.0):
    """A kernel matrix (m, m), a right side (m,) and a sum."""
    rng = np.random.default_rng(m)
    K = size * RBF(gamma).bind(rng.normal(size=(m, 5))).gram()
    return K, rng.normal(size=m), 0.3


def left_of(K, d, target):
    """What d (m,) leaves of the equations, in roundings of their largest terms."""
    left = target - K @ d
    left -= left.mean()
    return np.abs(left).max() / np.finfo(float).eps / (K.max() * np.abs(d).sum() + np.abs(target).max())


def led_by(monkeypatch, name):
    """Whether this way, which leaves K as it is, led to a step, each time that it is tried from now on."""
    led, way = [], getattr(equations, name)

    def counted(K, target, total):
        before = K.copy()
        step = way(K, target, total)
        np.testing.assert_array_equal(K, before)
        led.append(step is not None)
        return step

    monkeypatch.setattr(equations, name, counted)
    return led


@pytest.mark.parametrize("m", [1, 2, 30, WORTH - 1, WORTH, 700])
def test_the_step_solves_the_bordered_equations(m):
    K, target, total = drawn(m, 2.0)
    d = newton_step(K.copy(), target, total)
    assert left_of(K, d, target) <= 20.0
    assert abs(d.sum() - total) <= 1e-14 * np.abs(d).sum()
    expected = np.linalg.solve(bordered(K), np.r_[total, target])[1:]
    np.testing.assert_allclose(d, expected, rtol=0.0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("m", [30, WORTH])
def test_what_all_targets_have_in_common_takes_no_digits_of_the_step(m):
    """At a tiny C the target is a margin of one in all rows but for a millionth, which is all that makes the step."""
    K, target, _ = drawn(m, 2.0)
    common = 2.0**20
    target = np.round(target * 2.0**20) / 2.0**20  # so that the sum below is exact
    far, near = newton_step(K.copy(), common + target, 0.0), newton_step(K.copy(), target, 0.0)
    assert abs(far.sum()) <= 1e-14 * np.abs(far).sum()
    np.testing.assert_allclose(far, near, rtol=0.0, atol=1e-11 * np.abs(near).max())


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_single_precision_leads_to_rounding(monkeypatch, size):
    led = led_by(monkeypatch, "_refined")
    K, target, total = drawn(WORTH, 2.0, size)
    d = newton_step(K.copy(), target, total)
    assert led == [True]
    assert left_of(K, d, target) <= 8.0


@pytest.mark.parametrize(("gamma", "size"), [(0.02, 1.0), (2.0, 1e-35), (2.0, 1e40)])
def test_where_it_does_not_the_factor_is_in_double_precision(monkeypatch, gamma, size):
    led = led_by(monkeypatch, "_refined")
    K, target, total = drawn(WORTH, gamma, size)
    d = newton_step(K.copy(), target, total)
    assert led == [False]
    assert left_of(K, d, target) <= 20.0


@pytest.mark.parametrize(("m", "gamma"), [(500, 30.0), (600, 30.0), (900, 8.0), (900, 30.0)])
@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_of_a_narrow_kernel_products_lead_to_rounding(monkeypatch, m, gamma, size):
    led, by_factor = led_by(monkeypatch, "_conjugate"), led_by(monkeypatch, "_refined")
    K, target, total = drawn(m, gamma, size)
    d = newton_step(K.copy(), target, total)
    assert led == [True]
    assert by_factor == []
    assert left_of(K, d, target) <= 8.0
    assert abs(d.sum() - total) <= 1e-13 * np.abs(d).sum()
    expected = np.linalg.solve(bordered(K / size), np.r_[total, target / size])[1:]
    np.testing.assert_allclose(d, expected, rtol=0.0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize(("gamma", "size"), [(0.3, 1.0), (0.02, 1.0), (2.0, 1e-35), (2.0, 1e40)])
def test_where_they_do_not_a_factor_does(monkeypatch, gamma, size):
    led = led_by(monkeypatch, "_conjugate")
    K, target, total = drawn(600, gamma, size)
    d = newton_step(K.copy(), target, total)
    assert led == [False]
    assert left_of(K, d, target) <= 20.0


def test_of_no_curvature_and_no_numbers_products_find_nothing():
    m = 600
    K, target, _ = drawn(m, 2.0)
    assert equations._conjugate(np.ones((m, m)), target, 0.0) is None
    assert equations._conjugate(-np.eye(m), target, 0.0) is None
    assert equations._conjugate(K, 1e300 * target, 0.0) is None
    K[0, 1] = K[1, 0] = 1e300
    assert equations._conjugate(K, target, 0.3) is None


def test_products_that_do_not_lead_there_are_few(monkeypatch):
    """As the first of them tell; a factor of 900 rows costs as much as 36."""
    K, target, total = drawn(900, 1.0)
    products = []

    def counted(*arguments, **options):
        products.append(1)
        return dsymv(*arguments, **options)

    monkeypatch.setattr(equations, "blas", SimpleNamespace(dsymv=counted))
    assert equations._conjugate(K, target, total) is None
    assert len(products) <= 2 + equations._TRIAL


def test_what_products_find_is_held_against_the_equations(monkeypatch):
    """What is left is updated from product to product, and may drift."""
    K, target, total = drawn(600, 30.0)
    assert equations._conjugate(K, target, total) is not None
    left, asked = equations._left, []

    def drifted(K, target, d):
        asked.append(d)
        return left(K, target, d) + 1e-9 * (len(asked) > 1)

    monkeypatch.setattr(equations, "_left", drifted)
    assert equations._conjugate(K, target, total) is None
    assert len(asked) == 2


def test_off_the_diagonal_values_may_be_too_large_for_single_precision():
    K, target, total = drawn(WORTH, 2.0)
    K[0, 1] = K[1, 0] = 1e300
    assert newton_step(K, target, total) is None


@pytest.mark.parametrize("m", [5, WORTH])
def test_of_rows_that_are_alike_there_is_none(m):
    assert newton_step(np.ones((m, m)), np.zeros(m), 0.0) is None
    assert newton_step(-np.eye(m), np.zeros(m), 0.0) is None


def test_a_target_that_is_met_is_left():
    d = newton_step(drawn(WORTH, 2.0)[0], np.ones(WORTH), 0.0)
    np.testing.assert_array_equal(d, np.zeros(WORTH))
