"""Losses as margins and class weights."""

import numpy as np
import pytest

from svmstat.losses import NAMES, Loss, hinge

Y = np.array([1.0, -1.0, -1.0, 1.0])


def test_the_plain_hinge():
    np.testing.assert_array_equal(hinge().margin(Y), 1.0)
    np.testing.assert_array_equal(hinge().class_weight(Y), 1.0)


def test_class_weights_by_label():
    loss = hinge(weight_event=3.0, weight_other=0.5)
    np.testing.assert_array_equal(loss.class_weight(Y), [3.0, 0.5, 0.5, 3.0])
    np.testing.assert_array_equal(loss.margin(Y), 1.0)


def test_margins_by_label():
    loss = Loss("hinge", margin_event=2.0, margin_other=0.25, weight_event=1.0, weight_other=1.0)
    np.testing.assert_array_equal(loss.margin(Y), [2.0, 0.25, 0.25, 2.0])


@pytest.mark.parametrize("f", np.linspace(-3, 3, 13))
def test_the_loss_is_the_hinge(f):
    """L(y) [m − y f]₊ for both labels."""
    loss = hinge(2.0, 0.5)
    y = np.array([1.0, -1.0])
    value = loss.class_weight(y) * np.maximum(loss.margin(y) - y * f, 0.0)
    np.testing.assert_allclose(value, [2.0 * max(0.0, 1 - f), 0.5 * max(0.0, 1 + f)], rtol=1e-15)


def test_names_and_equality():
    assert hinge().name in NAMES
    assert hinge(1.0, 2.0) == hinge(1.0, 2.0)
    assert hinge(1.0, 2.0) != hinge(2.0, 1.0)
    with pytest.raises(AttributeError):
        hinge().name = "other"
