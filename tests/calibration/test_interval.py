"""Intervals of probability and pointwise maps: the paper's formulas, their order, where they touch."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar

from svmstat import svm
from svmstat.calibration import POINTWISE, pointwise, probability_interval, tightest, touch
from svmstat.errors import ArgumentError, DataError
from svmstat.objective.losses import NAMES, Loss, bayes_weights, hinge, make_loss, p0

TOL_ROUNDING = 1e-13  # some operations on numbers of size 1 to 100
TOL_ROOT = 1e-6  # κ by a search for the smallest gap, where that changes with the square of the distance
NEAR = 1e-3  # so far from the touching point the gap, there quadratic, is above rounding

ratios = st.floats(-2, 2).map(lambda x: 10.0**x)  # costs from 1 : 100 to 100 : 1
decision_values = st.floats(-40, 40)
names = st.sampled_from(NAMES)


def loss_at(name, ratio, scale=1.0):
    """The loss for costs fp : fn = 1 : ratio, its weights with mean ``scale``."""
    event, other = bayes_weights(1.0, ratio, 0.5, 0.5)
    return make_loss(name, scale * event, scale * other)


def ends(f, loss, tightness=1.0):
    low, high = probability_interval(np.atleast_1d(np.asarray(f, float)), loss, tightness)
    return low, high


def gap(f, loss, kappa):
    """p_high − p_low by the definition [002: 7]."""
    high = np.exp(-kappa * loss.weight_event * max(loss.margin_event - f, 0.0))
    return high - 1.0 + np.exp(-kappa * loss.weight_other * max(loss.margin_other + f, 0.0))


EVERY = [loss_at(name, ratio) for name in NAMES for ratio in (0.01, 0.1, 0.5, 1.0, 2.0, 10.0, 100.0)]
every_loss = pytest.mark.parametrize("loss", EVERY, ids=lambda loss: f"{loss.name}, P0 = {loss.threshold:.3g}")


# -- the interval ------------------------------------------------------------------------------------------------------


@given(f=decision_values)
def test_the_plain_hinge_loss(f):
    """[002]: p_high = 2^−[1−f]₊ and p_low = 1 − 2^−[1+f]₊."""
    low, high = ends(f, hinge())
    assert high[0] == pytest.approx(2.0 ** -max(1 - f, 0.0), rel=TOL_ROUNDING)
    assert low[0] == pytest.approx(1 - 2.0 ** -max(1 + f, 0.0), abs=TOL_ROUNDING)


@given(f=decision_values, P0=st.floats(0.01, 0.99))
def test_the_p0_loss(f, P0):
    """κ = ½: an event costs −log p_high, another row −log(1 − p_low), twice."""
    loss = p0(2 * (1 - P0), 2 * P0)
    low, high = ends(f, loss)
    assert high[0] == pytest.approx(np.exp(-max(-np.log(P0) - (1 - P0) * f, 0.0)), rel=TOL_ROUNDING)
    assert low[0] == pytest.approx(1 - np.exp(-max(-np.log(1 - P0) + P0 * f, 0.0)), abs=TOL_ROUNDING)


@given(name=names, ratio=ratios, f=decision_values, scale=st.floats(0.1, 10))
def test_the_interval_is_the_loss_times_kappa(name, ratio, f, scale):
    """−log p_high and −log(1 − p_low) are κ times the loss of an event and of another row."""
    loss = loss_at(name, ratio, scale)
    of_event, of_other = loss.values(np.array([f, f]), np.array([1.0, -1.0]))
    low, high = ends(f, loss)
    assert high[0] == pytest.approx(np.exp(-tightest(loss) * of_event), rel=1e-12)
    assert low[0] == pytest.approx(-np.expm1(-tightest(loss) * of_other), abs=1e-12)


@given(name=names, ratio=ratios, f=decision_values, tightness=st.floats(0.001, 1.0))
def test_the_lower_end_is_never_above_the_upper(name, ratio, f, tightness):
    low, high = ends(f, loss_at(name, ratio), tightness)
    assert 0.0 <= low[0] <= high[0] <= 1.0


@every_loss
def test_order_and_limits_on_a_line(loss):
    f = np.linspace(-60, 60, 24_001)
    low, high = ends(f, loss)
    assert (low <= high).all()
    assert (np.diff(low) >= 0).all() and (np.diff(high) >= 0).all()
    np.testing.assert_array_equal(high[f >= loss.margin_event], 1.0)
    np.testing.assert_array_equal(low[f <= -loss.margin_other], 0.0)
    assert (high[f < loss.margin_event] < 1.0).all()
    assert (low[f > -loss.margin_other] > 0.0).all()


@every_loss
def test_the_ends_meet_at_one_point_and_nowhere_else(loss):
    """Between the margins the gap is convex, and P0 is what both ends are where it vanishes."""
    at = touch(loss)
    assert -loss.margin_other < at < loss.margin_event
    low, high = ends(at, loss)
    assert low[0] == pytest.approx(loss.threshold, rel=TOL_ROUNDING)
    assert high[0] == pytest.approx(loss.threshold, rel=TOL_ROUNDING)
    f = np.linspace(-loss.margin_other, loss.margin_event, 5001)
    f = f[np.abs(f - at) > NEAR * (loss.margin_event + loss.margin_other)]
    low, high = ends(f, loss)
    assert (high - low > 1e-10).all()
    outside = np.array([-5.0, -1.0, -1e-3]) - loss.margin_other, loss.margin_event + np.array([1e-3, 1.0, 5.0])
    low, high = ends(np.concatenate(outside), loss)
    assert (high > low).all()


@every_loss
@pytest.mark.parametrize("tightness", [0.05, 0.5, 0.9, 0.999])
def test_a_wider_interval_touches_nowhere(loss, tightness):
    f = np.append(np.linspace(-loss.margin_other, loss.margin_event, 2001), touch(loss))
    low, high = ends(f, loss, tightness)
    assert (high > low).all()


@given(name=names, ratio=ratios, f=decision_values, pair=st.tuples(st.floats(0.001, 1.0), st.floats(0.001, 1.0)))
def test_nested_in_the_tightness(name, ratio, f, pair):
    loss = loss_at(name, ratio)
    (outer_low, outer_high), (inner_low, inner_high) = (ends(f, loss, t) for t in sorted(pair))
    assert outer_low[0] <= inner_low[0] and inner_high[0] <= outer_high[0]


def test_at_a_tightness_of_nearly_nothing_all_is_possible():
    low, high = ends([-0.5, 0.0, 0.5], hinge(), 1e-9)
    assert (low < 1e-8).all() and (high > 1 - 1e-8).all()


@given(ratio=ratios, scale=st.floats(0.1, 10))
def test_at_zero_the_p0_loss_says_p0(ratio, scale):
    loss = loss_at("p0", ratio, scale)
    low, high = ends(0.0, loss)
    assert low[0] == pytest.approx(loss.threshold, rel=TOL_ROUNDING)
    assert high[0] == pytest.approx(loss.threshold, rel=TOL_ROUNDING)
    assert touch(loss) == pytest.approx(0.0, abs=TOL_ROUNDING)


@given(name=names, ratio=ratios, f=decision_values, tightness=st.floats(0.01, 1.0))
def test_the_other_class_as_the_event(name, ratio, f, tightness):
    low, high = ends(f, loss_at(name, ratio), tightness)
    swapped_low, swapped_high = ends(-f, loss_at(name, 1 / ratio), tightness)
    np.testing.assert_allclose([low, high], [1 - swapped_high, 1 - swapped_low], rtol=0, atol=1e-12)


# -- κ -----------------------------------------------------------------------------------------------------------------


def smallest_gap(loss, kappa):
    """The minimum of the gap over f, by a search that knows nothing of where it is."""
    f = np.linspace(-loss.margin_other, loss.margin_event, 401)
    at = np.argmin([gap(x, loss, kappa) for x in f])
    bounds = f[max(at - 1, 0)], f[min(at + 1, 400)]
    return minimize_scalar(gap, bounds=bounds, args=(loss, kappa), method="bounded", options={"xatol": 1e-12}).fun


@pytest.mark.parametrize(
    "loss",
    [*EVERY, hinge(3.0, 0.5), p0(3.0, 0.5), Loss("hinge", 2.0, 0.3, 0.7, 1.1)],
    ids=lambda loss: f"{loss.name} {loss.weight_event:.3g} {loss.weight_other:.3g}",
)
def test_kappa_is_the_largest_with_which_the_ends_do_not_cross(loss):
    kappa = tightest(loss)
    root = brentq(lambda k: smallest_gap(loss, k), 0.2 * kappa, 5.0 * kappa, xtol=1e-13)
    assert kappa == pytest.approx(root, rel=TOL_ROOT)
    assert smallest_gap(loss, 0.999 * kappa) > 0 > smallest_gap(loss, 1.001 * kappa)


def test_kappa_of_equal_costs_and_of_the_p0_loss():
    assert tightest(hinge()) == pytest.approx(np.log(2), rel=TOL_ROUNDING)
    assert touch(hinge()) == pytest.approx(0.0, abs=TOL_ROUNDING)
    for ratio in (0.01, 0.3, 1.0, 100.0):
        assert tightest(loss_at("p0", ratio)) == pytest.approx(0.5, rel=TOL_ROUNDING)


@given(name=names, ratio=ratios, scale=st.floats(0.1, 10), f=decision_values)
def test_weights_of_another_mean_say_the_same(name, ratio, scale, f):
    """C and L share a factor between them."""
    one, two = loss_at(name, ratio), loss_at(name, ratio, scale)
    assert tightest(two) == pytest.approx(tightest(one) / scale, rel=1e-12)
    assert touch(two) == pytest.approx(touch(one), abs=1e-12)
    np.testing.assert_allclose(ends(f, two), ends(f, one), rtol=0, atol=1e-12)


# -- pointwise maps ----------------------------------------------------------------------------------------------------


@given(f=decision_values)
def test_pointwise_maps_of_the_plain_hinge_loss(f):
    """[002: 9] 1/(1 + 4^−f), and [002: 8]: 1/(1 + 2^−2f) between the margins, 1/(1 + 2^−(f + sign f)) beyond."""
    at = np.array([f])
    assert pointwise(at, hinge(), "semiparametric")[0] == pytest.approx(1 / (1 + 4.0**-f), rel=1e-12)
    exponent = 2 * f if abs(f) <= 1 else f + np.sign(f)
    assert pointwise(at, hinge(), "sollich")[0] == pytest.approx(1 / (1 + 2.0**-exponent), rel=1e-12)


@pytest.mark.parametrize("kind", POINTWISE)
@given(name=names, ratio=ratios, f=decision_values)
def test_pointwise_maps_lie_in_the_interval(kind, name, ratio, f):
    loss = loss_at(name, ratio)
    low, high = ends(f, loss)
    p = pointwise(np.array([f]), loss, kind)[0]
    assert low[0] - TOL_ROUNDING <= p <= high[0] + TOL_ROUNDING


@every_loss
@pytest.mark.parametrize("kind", POINTWISE)
def test_pointwise_maps_rise_through_p0(kind, loss):
    f = np.linspace(-40, 40, 8001)
    p = pointwise(f, loss, kind)
    assert (np.diff(p) >= 0).all() and (p >= 0).all() and (p <= 1).all()
    assert pointwise(np.array([touch(loss)]), loss, kind)[0] == pytest.approx(loss.threshold, rel=1e-12)


# -- no number in, no number out ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [np.empty(0), np.zeros((2, 3)), np.array([np.nan, 0.3, np.nan])], ids=str)
@pytest.mark.parametrize("loss", [hinge(1.9, 0.1), p0(1.9, 0.1)], ids=lambda loss: loss.name)
def test_shapes_and_missing_values(f, loss):
    for values in (*probability_interval(f, loss), *(pointwise(f, loss, kind) for kind in POINTWISE)):
        assert values.shape == f.shape
        np.testing.assert_array_equal(np.isnan(values), np.isnan(f))


@pytest.mark.parametrize("loss", [hinge(1.9, 0.1), p0(0.02, 1.98)], ids=lambda loss: loss.name)
def test_far_away_nothing_overflows(loss):
    f = np.array([-np.inf, -1e300, -1e4, 1e4, 1e300, np.inf])
    low, high = probability_interval(f, loss)
    np.testing.assert_array_equal(high[3:], 1.0)
    np.testing.assert_array_equal(low[:3], 0.0)
    for kind in POINTWISE:
        np.testing.assert_allclose(pointwise(f, loss, kind), [0, 0, 0, 1, 1, 1], atol=1e-9)


# -- of a fit ----------------------------------------------------------------------------------------------------------


def sample(n=60, seed=1):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    y = np.where(x + z**2 + rng.normal(size=n) > 1.8, "sick", "well")
    return pd.DataFrame({"x": x, "z": z, "y": y}, index=[f"r{k}" for k in range(n)])


DATA = sample()
FITS = {
    "hinge": svm("y ~ x + z", DATA, event="sick"),
    "costly hinge": svm("y ~ x + z", DATA, event="sick", costs={"fp": 1, "fn": 8}),
    "p0": svm("y ~ x + z", DATA, event="sick", costs={"fp": 1, "fn": 8}, loss="p0"),
}
each_fit = pytest.mark.parametrize("fit", FITS.values(), ids=list(FITS))


@each_fit
def test_the_columns_of_a_fit(fit):
    found = fit.predict_proba(interval=True)
    assert list(found) == ["p_low", "p_high"] and found.index.equals(DATA.index)
    low, high = probability_interval(fit.decision_values.to_numpy(), fit.machine.pairs[0].loss)
    np.testing.assert_array_equal(found["p_low"], low)
    np.testing.assert_array_equal(found["p_high"], high)
    wider = fit.predict_proba(interval=True, tightness=0.5)
    assert (wider["p_low"] <= low).all() and (wider["p_high"] >= high).all() and (wider["p_high"] > high).any()


@each_fit
@pytest.mark.parametrize("kind", POINTWISE)
def test_pointwise_probabilities_of_both_levels(fit, kind):
    found, ends_found = fit.predict_proba(method=kind), fit.predict_proba(interval=True)
    assert list(found) == ["sick", "well"]
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-15)
    assert found["sick"].between(ends_found["p_low"] - TOL_ROUNDING, ends_found["p_high"] + TOL_ROUNDING).all()
    assert not np.allclose(found, fit.predict_proba())


@each_fit
def test_new_rows_and_missing_values(fit):
    new = DATA.head(4).copy()
    new.loc["r1", "x"] = np.nan
    for options in ({"interval": True}, *({"method": method} for method in POINTWISE)):
        found, known = fit.predict_proba(new, **options), fit.predict_proba(**options)
        assert found.index.equals(new.index)
        assert found.loc["r1"].isna().all() and found.drop("r1").notna().all(axis=None)
        np.testing.assert_allclose(found.drop("r1"), known.loc[["r0", "r2", "r3"]], rtol=0, atol=1e-12)


def test_the_sign_of_f_is_the_side_of_p0_by_the_p0_loss():
    """f > 0 exactly where the whole interval is above P0."""
    fit = FITS["p0"]
    found, f = fit.predict_proba(interval=True), fit.decision_values
    assert (found["p_low"] > fit.threshold).equals(f > 0)
    assert (found["p_high"] < fit.threshold).equals(f < 0)


def test_the_event_is_what_the_interval_is_of():
    well = svm("y ~ x + z", DATA, event="well", costs={"fp": 8, "fn": 1}).predict_proba(interval=True)
    sick = FITS["costly hinge"].predict_proba(interval=True)
    np.testing.assert_allclose(well["p_low"], 1 - sick["p_high"], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tightness": 0}, "tightness=0 is not allowed: it must be a number in (0, 1]."),
        ({"tightness": 1.5}, "tightness=1.5 is not allowed: it must be a number in (0, 1]."),
        ({"tightness": -0.5}, "tightness=-0.5 is not allowed"),
        ({"tightness": np.nan}, "tightness=nan is not allowed: it must be a number in (0, 1]."),
        ({"tightness": "1"}, "tightness='1' is not allowed"),
        ({"tightness": True}, "tightness=True is not allowed"),
        ({"tightness": [0.5]}, "tightness=[0.5] is not allowed"),
        ({"interval": 1}, "interval=1 is not allowed: it must be True or False."),
        ({"interval": "yes"}, "interval='yes' is not allowed"),
        ({"method": "plat"}, "method='plat' is not allowed: it must be one of 'platt', 'sollich', 'semiparametric'; "),
        ({"method": None}, "method=None is not allowed"),
    ],
    ids=str,
)
@each_fit
def test_arguments_that_are_refused(fit, options, message):
    with pytest.raises(ArgumentError, match=re.escape(message)):
        fit.predict_proba(**{"interval": True} | options)


def test_new_data_without_a_predictor():
    with pytest.raises(DataError, match="newdata has no column 'z'"):
        FITS["hinge"].predict_proba(DATA[["x"]], interval=True)
