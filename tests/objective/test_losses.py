"""Losses as margins and class weights, by their formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmstat.objective.losses import NAMES, Loss, bayes_weights, hinge, make_loss, p0

TOL_ROUNDING = 1e-12  # a few operations of size 1 to 100 in another order


Y = np.array([1.0, -1.0, -1.0, 1.0])

thresholds = st.floats(0.01, 0.99)
decision_values = st.floats(-30, 30)


def p0_at(threshold):
    return p0(2 * (1 - threshold), 2 * threshold)


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
    np.testing.assert_array_equal(loss.values(np.full(2, f), y), value)


def test_names_and_equality():
    assert hinge().name in NAMES
    assert hinge(1.0, 2.0) == hinge(1.0, 2.0)
    assert hinge(1.0, 2.0) != hinge(2.0, 1.0)
    with pytest.raises(AttributeError):
        hinge().name = "other"


@pytest.mark.parametrize(("name", "loss"), [("hinge", hinge), ("p0", p0)])
def test_losses_by_name(name, loss):
    assert name in NAMES
    assert make_loss(name, 1.5, 0.5) == loss(1.5, 0.5)


# -- the p0 loss -------------------------------------------------------------------------------------------------------


@given(P0=thresholds, f=decision_values)
def test_the_p0_loss_is_that_of_the_paper(P0, f):
    """An event costs 2[−log P0 − (1 − P0) f]₊, another row 2[−log(1 − P0) + P0 f]₊."""
    value = p0_at(P0).values(np.full(2, f), np.array([1.0, -1.0]))
    expected = [2 * max(0.0, -np.log(P0) - (1 - P0) * f), 2 * max(0.0, -np.log(1 - P0) + P0 * f)]
    np.testing.assert_allclose(value, expected, rtol=TOL_ROUNDING, atol=TOL_ROUNDING)
    assert p0_at(P0).threshold == pytest.approx(P0, rel=TOL_ROUNDING)


@given(P0=thresholds, f=decision_values)
def test_half_the_p0_loss_lies_below_a_log_likelihood_that_it_touches_at_zero(P0, f):
    """−log p for p = 1/(1 + exp(−f − log(P0/(1 − P0)))), which is P0 at f = 0."""
    for y, share in ((1.0, P0), (-1.0, 1 - P0)):
        loss = 0.5 * p0_at(P0).values(np.array([f, 0.0]), np.full(2, y))
        below = np.logaddexp(0.0, -y * (f + np.log(P0 / (1 - P0))))
        assert loss[0] <= below + TOL_ROUNDING * max(1.0, below)
        assert loss[1] == pytest.approx(-np.log(share), rel=TOL_ROUNDING)


@given(f=decision_values, y=st.sampled_from([-1.0, 1.0]))
def test_at_one_half_the_p0_loss_is_the_hinge_loss_of_another_scale(f, y):
    m = 2 * np.log(2)
    expected = m * hinge().values(np.array([f / m]), np.array([y]))
    np.testing.assert_allclose(p0().values(np.array([f]), np.array([y])), expected, rtol=TOL_ROUNDING, atol=1e-14)


@given(a=st.floats(0.01, 100), b=st.floats(0.01, 100), f=decision_values, name=st.sampled_from(NAMES))
def test_the_other_class_as_the_event(a, b, f, name):
    value = make_loss(name, a, b).values(np.full(2, f), np.array([1.0, -1.0]))
    swapped = make_loss(name, b, a).values(np.full(2, -f), np.array([-1.0, 1.0]))
    np.testing.assert_allclose(value, swapped, rtol=TOL_ROUNDING)


@given(
    fp=st.floats(0.01, 100), fn=st.floats(0.01, 100), sample=st.floats(0.01, 0.99), target=st.floats(0.01, 0.99)
)  # fmt: skip
def test_class_weights_of_the_bayes_rule(fp, fn, sample, target):
    """In proportion to [000: 18], with mean one; the threshold is what [000: 19] says."""
    event, other = bayes_weights(fp, fn, sample, target)
    assert event + other == pytest.approx(2.0, rel=TOL_ROUNDING)
    ratio = fn * (1 - sample) * target / (fp * sample * (1 - target))
    assert event / other == pytest.approx(ratio, rel=TOL_ROUNDING)
    for loss in (hinge(event, other), p0(event, other)):
        assert loss.threshold == pytest.approx(1 / (1 + ratio), rel=TOL_ROUNDING)
