"""Losses as margins and class weights: by their formulas, and fits with them by other programs."""

import clarabel
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from svmstat import svm
from svmstat.kernels import RBF, Linear, gram
from svmstat.machine import Contrast, fit_machine
from svmstat.objective.losses import NAMES, Loss, bayes_weights, hinge, make_loss, p0

TOL_ROUNDING = 1e-12  # a few operations of size 1 to 100 in another order
TOL_FIT = 1e-6  # two accurate solutions of one problem, relative to max(1, |f|): the issue's own figure

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
    """In proportion to [000: 18], with mean one; the threshold is what its [000: 17] says."""
    event, other = bayes_weights(fp, fn, sample, target)
    assert event + other == pytest.approx(2.0, rel=TOL_ROUNDING)
    ratio = fn * (1 - sample) * target / (fp * sample * (1 - target))
    assert event / other == pytest.approx(ratio, rel=TOL_ROUNDING)
    for loss in (hinge(event, other), p0(event, other)):
        assert loss.threshold == pytest.approx(1 / (1 + ratio), rel=TOL_ROUNDING)


# -- fits --------------------------------------------------------------------------------------------------------------


def sample(n=70, seed=1):
    """Eighths, whose products single precision, in which SVC keeps a kernel, holds exactly."""
    rng = np.random.default_rng(seed)
    x, z = np.round(8 * rng.normal(size=(2, n))) / 8
    y = np.where(x + z**2 + rng.normal(size=n) > 1.0, "sick", "well")
    return pd.DataFrame({"x": x, "z": z, "y": y, "w": np.resize([1.0, 2.0, 0.25, 0.0, 1.5], n)})


def assert_same(a, b):
    np.testing.assert_allclose(a, b, rtol=0, atol=TOL_FIT * max(1.0, np.abs(b).max()))


def by_svc(fit):
    """f by SVC, whose margins are 1.

    f = a g + c with a = (m₊ + m₋)/2 and c = (m₊ − m₋)/2 makes m₊ − f = a (1 − g) and m₋ + f = a (1 + g), so that
    ½‖h_f‖² + C Σ w L [m − y f]₊ is a² times ½‖h_g‖² + (C/a) Σ w L [1 − y g]₊.
    """
    loss, w = fit.machine.pairs[0].loss, fit.frame.weights
    a, c = 0.5 * (loss.margin_event + loss.margin_other), 0.5 * (loss.margin_event - loss.margin_other)
    X, used = fit.frame.X, w > 0
    K = fit.kernel(X, X)
    svc = SVC(C=fit.C / a, kernel="precomputed", tol=1e-10, max_iter=10**7)
    svc.set_params(class_weight={1.0: loss.weight_event, -1.0: loss.weight_other})
    svc.fit(K[np.ix_(used, used)], fit.frame.y[used], sample_weight=w[used])
    return a * svc.decision_function(K[:, used]) + c


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("costs", [None, {"fp": 1, "fn": 10}, {"fp": 20, "fn": 1}, {"fp": 1, "fn": 100}])
@pytest.mark.parametrize(("kernel", "C"), [("rbf", 0.02), ("rbf", 1.0), ("linear", 0.1), ("poly", 0.1)])
def test_a_p0_fit_is_an_affine_transformation_of_a_hinge_fit(kernel, C, costs, weights):
    options = {"kernel": kernel, "gamma": 1.0, "degree": 2, "coef0": 1.0, "scale": False, "weights": weights}
    fit = svm("y ~ x + z", sample(), loss="p0", C=C, costs=costs, **options)
    assert fit.kkt_violation <= 1e-8
    assert_same(fit.decision_values, by_svc(fit))


def test_a_p0_fit_with_priors_and_class_weights():
    for stakes in ({"priors": {"sick": 0.05, "well": 0.95}}, {"class_weight": {"sick": 4.0, "well": 3.0}}):
        fit = svm("y ~ x + z", sample(), loss="p0", **stakes)
        assert_same(fit.decision_values, by_svc(fit))


@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_at_one_half_a_p0_fit_is_a_hinge_fit(kernel, C):
    """f is m = 2 log 2 times that of the hinge loss at cost C / m."""
    m = 2 * np.log(2)
    fit = svm("y ~ x + z", sample(), loss="p0", kernel=kernel, C=C)
    plain = svm("y ~ x + z", sample(), kernel=kernel, C=C / m)
    assert fit.threshold == 0.5
    assert_same(fit.decision_values, m * plain.decision_values)
    assert fit.intercept == pytest.approx(m * plain.intercept, abs=TOL_FIT)
    assert fit.margin == pytest.approx(plain.margin / m, rel=TOL_FIT)
    assert fit.predict().equals(plain.predict())
    np.testing.assert_allclose(fit.fittedvalues, plain.fittedvalues, rtol=1e-5)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("loss", [p0(1.5, 0.5), p0(0.02, 1.98), hinge(1.8, 0.2), p0(3.0, 3.0)], ids=str)
@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()])
def test_a_dense_quadratic_programme(kernel, loss, C):
    """min ½α'Qα − m'α, 0 ≤ α ≤ u, y'α = 0 by an interior-point method."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(24, 2))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=24) > 0.4, 1.0, -1.0)
    machine = fit_machine(kernel, X, (y > 0).astype(int), np.ones(24), [Contrast(1, 0, loss)], C=C)
    K, upper, margin = gram(kernel, X), C * loss.class_weight(y), loss.margin(y)
    alpha = interior_point(K * np.outer(y, y), margin, upper, y)
    h = K @ (alpha * y)
    assert_same(machine.decision_values[:, 0] - machine.pairs[0].solution.intercept, h)
    dual = 0.5 * (alpha * y) @ h - margin @ alpha
    assert machine.pairs[0].solution.objective <= dual + 1e-9 * abs(dual)
    f = machine.decision_values[:, 0]
    primal = 0.5 * machine.pairs[0].solution.norm_squared + C * loss.values(f, y).sum()
    assert primal == pytest.approx(-machine.pairs[0].solution.objective, rel=TOL_FIT)


def interior_point(Q, margin, upper, y):
    n = len(y)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    constraints = sp.csc_matrix(np.vstack([y, np.eye(n), -np.eye(n)]))
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * n)]
    bounds = np.concatenate([[0.0], upper, np.zeros(n)])
    solver = clarabel.DefaultSolver(sp.csc_matrix(np.triu(Q)), -margin, constraints, bounds, cones, settings)
    return np.array(solver.solve().x)
