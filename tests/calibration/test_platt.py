"""Platt's map against a general minimiser, and at the ends of the number line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from svmstat.calibration.platt import Platt, deviance, fit_maps_without, fit_platt

TOL_GRADIENT = 1e-9  # gradient of the cross-entropy in standardised f, per unit of weight
TOL_PROBABILITY = 1e-6  # BFGS stops where the cross-entropy is flat to rounding: 1e-8 in A and B, at best
TOL_EXACT = 1e-12  # two sums of the same terms in another order

seeds = st.integers(0, 2**32 - 1)


def sample(seed, n=60, weighted=True):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n)
    y[:2] = 1.0, -1.0
    f = 0.8 * y * rng.uniform(0, 2) + rng.normal(size=n)
    weights = rng.choice([0.25, 1.0, 2.0, 3.5], n) if weighted else np.ones(n)
    return f, y, weights


def targets(y, weights):
    n_event, n_other = weights[y > 0].sum(), weights[y < 0].sum()
    return np.where(y > 0, (n_event + 1) / (n_event + 2), 1 / (n_other + 2))


def cross_entropy(ab, f, y, weights):
    """−Σ w [t log p + (1 − t) log(1 − p)], p = 1 / (1 + exp(A f + B)), and its gradient."""
    z, t = ab[0] * f + ab[1], targets(y, weights)
    value = -weights @ (t * log_expit(-z) + (1 - t) * log_expit(z))
    slope = weights * (t - expit(-z))
    return value, np.array([slope @ f, slope.sum()])


@given(seed=seeds)
def test_against_a_general_minimiser(seed):
    f, y, weights = sample(seed)
    platt = fit_platt(f, y, weights)
    best = minimize(cross_entropy, [0.0, 0.0], (f, y, weights), jac=True, method="BFGS", options={"gtol": 1e-9})
    value, gradient = cross_entropy((platt.slope, platt.intercept), f, y, weights)
    assert platt.converged
    assert value <= best.fun + 1e-12 * abs(best.fun)
    np.testing.assert_allclose(gradient / weights.sum(), 0.0, atol=TOL_GRADIENT)
    reference = expit(-(best.x[0] * f + best.x[1]))
    np.testing.assert_allclose(platt.probability(f), reference, rtol=0, atol=TOL_PROBABILITY)


@given(seed=seeds)
def test_weights_are_repeats(seed):
    f, y, _ = sample(seed)
    counts = np.random.default_rng(seed).integers(0, 4, len(y))
    counts[:2] = 1, 2
    rows = np.repeat(np.arange(len(y)), counts)
    weighted, repeated = fit_platt(f, y, counts.astype(float)), fit_platt(f[rows], y[rows], np.ones(len(rows)))
    assert weighted.slope == pytest.approx(repeated.slope, rel=1e-9, abs=1e-9)
    assert weighted.intercept == pytest.approx(repeated.intercept, rel=1e-9, abs=1e-9)


@given(seed=seeds)
def test_weight_zero_is_absent(seed):
    f, y, weights = sample(seed)
    weights[5:30] = 0.0
    kept = weights > 0
    a, b = fit_platt(f, y, weights), fit_platt(f[kept], y[kept], weights[kept])
    assert a.slope == pytest.approx(b.slope, rel=1e-9, abs=1e-9)
    assert a.intercept == pytest.approx(b.intercept, rel=1e-9, abs=1e-9)


def test_rows_of_weight_zero_may_lie_anywhere():
    f, y, weights = sample(3)
    a = fit_platt(np.append(f, 1e9), np.append(y, -1.0), np.append(weights, 0.0))
    b = fit_platt(f, y, weights)
    assert a.slope == pytest.approx(b.slope, rel=1e-9)
    assert a.intercept == pytest.approx(b.intercept, rel=1e-9)


@given(seed=seeds, scale=st.sampled_from([1e-9, 1e-4, 1.0, 1e4, 1e9]), shift=st.sampled_from([0.0, 1.0, -30.0]))
def test_probabilities_do_not_depend_on_the_unit_of_f(seed, scale, shift):
    """Huge and tiny decision values: A is rescaled, p stays."""
    f, y, weights = sample(seed)
    other = scale * (f + shift)
    a, b = fit_platt(f, y, weights), fit_platt(other, y, weights)
    assert a.converged and b.converged
    assert b.slope * scale == pytest.approx(a.slope, rel=1e-6, abs=1e-8)
    np.testing.assert_allclose(b.probability(other), a.probability(f), rtol=0, atol=1e-8)


@given(seed=seeds)
def test_swapped_labels(seed):
    """Events and others exchanged, f negated: p becomes 1 − p."""
    f, y, weights = sample(seed)
    a, b = fit_platt(f, y, weights), fit_platt(-f, -y, weights)
    assert b.slope == pytest.approx(a.slope, rel=1e-8, abs=1e-9)
    assert b.intercept == pytest.approx(-a.intercept, rel=1e-8, abs=1e-9)
    np.testing.assert_allclose(b.probability(-f), 1.0 - a.probability(f), atol=1e-9)


@given(seed=seeds)
def test_mean_probability_is_the_mean_target(seed):
    """The derivative in B is zero."""
    f, y, weights = sample(seed)
    p = fit_platt(f, y, weights).probability(f)
    assert weights @ p == pytest.approx(weights @ targets(y, weights), rel=1e-9)


@pytest.mark.parametrize("value", [0.0, -3.0, 1e-300, 1e12])
@pytest.mark.parametrize("weighted", [True, False])
def test_constant_decision_values(value, weighted):
    _, y, weights = sample(4, weighted=weighted)
    platt = fit_platt(np.full(len(y), value), y, weights)
    expected = weights @ targets(y, weights) / weights.sum()
    assert platt.slope == 0.0
    assert platt.converged
    np.testing.assert_allclose(platt.probability(np.array([value, 0.0, 5.0])), expected, rtol=1e-9)


@pytest.mark.parametrize("value", [-1.0, 0.0, 1e-9])
@pytest.mark.parametrize("weighted", [True, False])
def test_constant_held_out_values_have_the_class_frequency(value, weighted):
    _, y, weights = sample(4, weighted=weighted)
    platt = fit_platt(np.full(len(y), value), y, weights, kind="loo")
    assert platt.slope == 0.0
    np.testing.assert_allclose(platt.probability(value), np.average(y > 0, weights=weights), rtol=1e-14)


@pytest.mark.parametrize("gap", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("n", [1, 2, 20, 500])
def test_perfectly_separated(gap, n):
    """Two values of f: p is exactly the target of each class, and A and B are finite."""
    f, y = np.repeat([-gap, gap], n), np.repeat([-1.0, 1.0], n)
    platt = fit_platt(f, y, np.ones(2 * n))
    assert np.isfinite([platt.slope, platt.intercept]).all()
    assert platt.slope < 0
    assert platt.converged
    np.testing.assert_allclose(platt.probability(np.array([-gap, gap])), [1 / (n + 2), (n + 1) / (n + 2)], rtol=1e-8)


@pytest.mark.parametrize(("others", "events"), [(200, 5), (373, 8), (3686, 91), (10_000, 10), (10, 10_000)])
def test_perfectly_separated_and_unbalanced(others, events):
    """The first step leaves one class without curvature, and the second is far too long."""
    platt = fit_platt(np.array([-1.0, 1.0]), np.array([-1.0, 1.0]), np.array([others, events], float))
    assert platt.converged
    assert platt.slope == pytest.approx(-0.5 * (np.log(others + 1) + np.log(events + 1)), rel=1e-9)


def test_separated_and_spread():
    """The targets keep the minimum finite even where the classes do not touch."""
    f = np.concatenate([np.linspace(-9, -1, 40), np.linspace(0.5, 30, 25)])
    y = np.where(f > 0, 1.0, -1.0)
    platt = fit_platt(f, y, np.ones(65))
    assert platt.converged
    np.testing.assert_allclose(cross_entropy((platt.slope, platt.intercept), f, y, np.ones(65))[1], 0.0, atol=1e-7)


def test_one_far_value():
    """A decision value of 1e6 among ordinary ones."""
    f, y, weights = sample(8)
    far, label = np.append(f, 1e6), np.append(y, 1.0)
    platt = fit_platt(far, label, np.append(weights, 1.0))
    assert np.isfinite([platt.slope, platt.intercept]).all()
    assert platt.converged
    p = platt.probability(far)
    assert np.isfinite(p).all() and (p >= 0).all() and (p <= 1).all()


@given(seed=seeds)
def test_always_finite(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    y = rng.choice([-1.0, 1.0], n)
    f = rng.choice([0.0, 1.0, 1e-8, 1e8, -1.0], n) * rng.standard_cauchy(n)
    platt = fit_platt(f, y, 10.0 ** rng.uniform(-6, 6, n))
    p = platt.probability(f)
    assert np.isfinite([platt.slope, platt.intercept]).all()
    assert np.isfinite(p).all()
    assert isinstance(platt.converged, bool)


@pytest.mark.parametrize("present", [1.0, -1.0])
def test_one_class_only(present):
    """The smoothed frequency (N + 1) / (N + 2) is the best that can be said."""
    platt = fit_platt(np.linspace(-1, 1, 10), np.full(10, present), np.ones(10))
    expected = 11 / 12 if present > 0 else 1 / 12
    np.testing.assert_allclose(platt.probability(np.linspace(-1, 1, 10)), expected, rtol=1e-6)


def test_f_without_information_reversed():
    """Decision values that point the wrong way give a positive A: the map is not forced to rise."""
    f, y, weights = sample(11)
    assert fit_platt(-f, y, weights).slope > 0


@pytest.mark.parametrize("z", [-1e4, -800.0, -40.0, -1.0, 0.0, 1.0, 40.0, 800.0, 1e4])
def test_log_likelihoods_near_one(z):
    """log p keeps its digits where p rounds to one, and does not overflow where p rounds to zero."""
    platt = Platt(slope=-1.0, intercept=0.0, converged=True, kind="insample")
    f = np.array([z, z])
    got = platt.log_likelihoods(f, np.array([1.0, -1.0]))
    np.testing.assert_allclose(got, [log_expit(z), log_expit(-z)], rtol=1e-15)
    assert (got <= 0).all()


@given(seed=seeds)
def test_log_likelihoods_are_logs(seed):
    f, y, weights = sample(seed)
    platt = fit_platt(f, y, weights)
    p = platt.probability(f)
    expected = np.log(np.where(y > 0, p, 1.0 - p))
    np.testing.assert_allclose(platt.log_likelihoods(f, y), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gain", [1e-3, 1.0, 60.0])
def test_deviance_is_minus_twice_the_log_likelihood(weighted, gain):
    f, y, weights = (np.tile(part, 30) for part in sample(5, weighted=weighted))
    weights[3] = 0.0
    platt = fit_platt(f, y, weights)
    expected = -2 * weights @ platt.log_likelihoods(gain * f, y)
    assert deviance(gain * f, y, weights, platt.slope, platt.intercept) == pytest.approx(expected, rel=1e-13)


def test_deviance_keeps_the_digits_of_sure_rows():
    assert deviance(np.full(9, 200.0), np.ones(9), np.ones(9), -1.0, 0.0) == pytest.approx(18 * np.exp(-200), rel=1e-14)


def test_probability_of_any_shape_and_of_nan():
    platt = Platt(slope=-2.0, intercept=0.5, converged=True, kind="insample")
    f = np.array([[0.0, np.nan, -1.0], [1e300, -1e300, 3.0]])
    p = platt.probability(f)
    assert p.shape == (2, 3)
    assert np.isnan(p[0, 1])
    np.testing.assert_array_equal(np.isnan(p), np.isnan(f))
    np.testing.assert_allclose(p[1, :2], [1.0, 0.0], atol=0)
    assert p[0, 0] == pytest.approx(1 / (1 + np.exp(0.5)), rel=1e-15)


def test_infinite_decision_values_of_a_flat_map():
    """A = 0 is the constant map, whatever f."""
    platt = fit_platt(np.zeros(6), np.array([1.0, 1.0, 1.0, -1.0, 1.0, 1.0]), np.ones(6))
    assert platt.probability(np.array([1e300]))[0] == pytest.approx(platt.probability(np.zeros(1))[0], rel=TOL_EXACT)


@pytest.mark.parametrize("order", range(6))
def test_a_slope_that_is_zero_but_for_rounding_is_the_frequency(order):
    """The values of both classes have one mean: what the sums leave of it hung on the order of the rows."""
    f = np.array([0.1, 0.2, 0.6, 0.3, 0.3, 0.3, 0.7, -0.1, 0.1, 0.5])
    y = np.where(np.arange(10) < 3, 1.0, -1.0)
    turned = np.random.default_rng(order).permutation(10)
    f, y, weights = f[turned], y[turned], np.ones(10)
    found = fit_platt(f, y, weights, "loo", near=Platt(-1e-3, 0.8, True, "loo") if order % 2 else None)
    assert (found.slope, found.intercept) == (0.0, np.log(7.0 / 3.0))
    more = [np.append(each, value) for each, value in ((f, 5.0), (y, 1.0), (weights, 1.0))]
    all_of_them = fit_platt(*more, "loo")
    maps, converged = np.empty((2, 1)), np.empty(1, bool)
    given = np.array([0, 1]), np.array([10]), np.ones(1), all_of_them.slope, all_of_them.intercept
    fit_maps_without(*more, *given, maps, converged)
    assert maps[:, 0].tolist() == [0.0, np.log(7.0 / 3.0)]


def test_kind_is_kept():
    f, y, weights = sample(1)
    assert fit_platt(f, y, weights).kind == "insample"
    assert fit_platt(f, y, weights, kind="loo").kind == "loo"


def test_converged_is_at_the_minimum():
    """Convergence is a claim that is checked: the flag is True only at a minimum."""
    f, y, weights = sample(2)
    platt = fit_platt(f, y, weights)
    gradient = cross_entropy((platt.slope, platt.intercept), f, y, weights)[1]
    assert platt.converged
    assert np.abs(gradient).max() <= 1e-6


@pytest.mark.parametrize("rare", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_map_without_a_row_of_many_is_that_of_the_others(rare, weighted):
    """Two Newton steps by sums, however far out the row is."""
    rng = np.random.default_rng(7)
    n = 20_000
    f = rng.standard_t(4.0, size=n)
    y = np.where(rng.random(n) < expit(2.0 * f - 3.0 * rare), 1.0, -1.0)
    weights = rng.uniform(0.2, 3.0, n) if weighted else np.ones(n)
    whole = fit_platt(f, y, weights)
    which = np.concatenate([np.argsort(-np.abs(f))[:20], rng.integers(n, size=20)])
    start = np.append(np.arange(0, 40, 2), 40)  # two rows at a time
    copies = np.minimum(weights[which], 1.0)
    maps, converged = np.empty((2, 20)), np.empty(20, bool)
    fit_maps_without(f, y, weights, start, which, copies, whole.slope, whole.intercept, maps, converged)
    assert converged.all()
    for k in range(20):
        left = weights.copy()
        np.subtract.at(left, which[2 * k : 2 * k + 2], copies[2 * k : 2 * k + 2])
        again = fit_platt(f, y, left)
        np.testing.assert_allclose(maps[:, k], (again.slope, again.intercept), rtol=1e-9)


@pytest.mark.parametrize("value", [-1.1507282898071236, 0.1, 1.0])
def test_the_map_without_a_row_of_equal_values_is_the_frequency_of_the_others(value):
    """Whatever rounding makes of their mean, and however they are ordered."""
    for seed in range(20):
        _, y, weights = sample(seed, weighted=True)
        n, f = len(y), np.full(len(y), value)
        whole = fit_platt(f, y, weights)
        maps, converged = np.empty((2, n)), np.empty(n, bool)
        rows = np.arange(n)
        fit_maps_without(f, y, weights, np.arange(n + 1), rows, weights, whole.slope, whole.intercept, maps, converged)
        events, others = weights @ (y > 0), weights @ (y < 0)
        np.testing.assert_array_equal(maps[0], 0.0)
        expected = np.log((others - weights * (y < 0)) / (events - weights * (y > 0)))
        np.testing.assert_allclose(maps[1], expected, rtol=1e-10, atol=1e-12)


def test_the_one_row_that_differs_says_nothing_of_the_others():
    y = np.where(np.arange(100) < 70, 1.0, -1.0)
    f, weights = np.append(np.ones(99), -1.0), np.ones(100)
    whole = fit_platt(f, y, weights)
    maps, converged, one = np.empty((2, 1)), np.empty(1, bool), np.array([0, 1])
    fit_maps_without(f, y, weights, one, np.array([99]), np.ones(1), whole.slope, whole.intercept, maps, converged)
    np.testing.assert_allclose(maps[:, 0], (0.0, np.log(29.0 / 70.0)))


@pytest.mark.parametrize("rare", [False, True])
@pytest.mark.parametrize("far_out", [1.0, 12.0])
@pytest.mark.parametrize("n", [60, 250, 634])
def test_without_each_row_the_gradient_of_the_others_is_zero(n, far_out, rare):
    """By the series or anew: where that is short of the minimum a step of Newton's, made here, would go on."""
    rng = np.random.default_rng(n)
    f = rng.normal(size=n)
    f[0] *= far_out
    y = np.where(rng.random(n) < expit(1.5 * f - 2.0 * rare), 1.0, -1.0)
    whole = fit_platt(f, y, np.ones(n), kind="loo")
    maps, converged, rows = np.empty((2, n)), np.empty(n, bool), np.arange(n)
    start = np.arange(n + 1)
    fit_maps_without(f, y, np.ones(n), start, rows, np.ones(n), whole.slope, whole.intercept, maps, converged)
    assert converged.all()
    x, event = np.column_stack([f, np.ones(n)]), y > 0
    for k in rows:
        left = rows != k
        events, others = np.count_nonzero(event & left), np.count_nonzero(~event & left)
        target = np.where(event, (events + 1.0) / (events + 2.0), 1.0 / (others + 2.0))
        p = expit(-x @ maps[:, k])
        gradient = x[left].T @ (target - p)[left]
        hessian = (x[left].T * (p * (1.0 - p))[left]) @ x[left]
        assert gradient @ np.linalg.solve(hessian, gradient) <= 1e-19 * hessian[1, 1]  # the decrement: ten digits
