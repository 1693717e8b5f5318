"""GACV from scikit-learn's dual coefficients, the leave-one-out loss from a loop of fits, GCKL from its formula."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from svmstat import datasets, svm
from svmstat.diagnostics.gacv import gacv, gckl, observed_loss, optimism
from svmstat.errors import UnavailableError
from svmstat.machine import Contrast, fit_machine
from svmstat.objective.losses import hinge, p0

TOL = 1e-6  # GACV of two accurate solutions of one problem, relative: the issue's own figure
TOL_ROUNDING = 1e-12  # the same sums in another order
AT_MARGIN = 1e-6  # a row so near to y f = −1 is on it: far above what two accurate solutions differ by
RIDGE = 1e-3  # on the diagonal of a matrix in single precision, to keep it positive definite

WEIGHTS = [1.0, 2.0, 0.25, 0.0, 1.5, 3.0]


def sample(n=70, seed=1, copies=0):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    y = np.where(x + z**2 + rng.normal(size=n) > 1.6, "sick", "well")
    data = pd.DataFrame({"x": x, "z": z, "y": y})
    return pd.concat([data, data.head(copies)], ignore_index=True)


def given_gram(data, kernel, **options):
    """The data with a gram matrix, exact in the single precision of SVC and positive definite, in place of columns."""
    plain = svm("y ~ x + z", data, kernel=kernel, **options)
    K = np.asarray(plain.kernel(plain.frame.X, plain.frame.X))
    same = (plain.frame.X[:, None] == plain.frame.X).all(axis=2)  # copies stay copies
    K = (K + RIDGE * np.diag(K).mean() * same).astype(np.float32).astype(float)
    return pd.DataFrame(np.tril(K) + np.tril(K, -1).T).add_prefix("k").assign(y=data["y"])


def by_svc(fit, K):
    """GACV [000: section 4] row by row, from SVC's α, f and the class weights."""
    y, w, L = fit.frame.y, fit.frame.weights, fit.class_weight or dict.fromkeys(fit.classes, 1.0)
    used, other = w > 0, next(level for level in fit.classes if level != fit.event)
    svc = SVC(C=fit.C, kernel="precomputed", tol=1e-10, max_iter=10**7)
    svc.set_params(class_weight={1.0: L[fit.event], -1.0: L[other]})
    svc.fit(K[np.ix_(used, used)], y[used], sample_weight=w[used])
    K, y, w = K[np.ix_(used, used)], y[used], w[used]
    f, alpha = svc.decision_function(K), np.zeros(len(y))
    alpha[svc.support_] = np.abs(svc.dual_coef_[0])
    total = 0.0
    for i in range(len(y)):
        weight, per_copy = w[i] * (L[fit.event] if y[i] > 0 else L[other]), alpha[i] / w[i]
        total += weight * max(0.0, 1 - y[i] * f[i])
        if y[i] * f[i] < -1 - AT_MARGIN:
            total += 2 * weight * per_copy * K[i, i]
        elif y[i] * f[i] <= 1 + AT_MARGIN:
            total += weight * per_copy * K[i, i]
    return total / w.sum()


# -- GACV --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("copies", [0, 25])
@pytest.mark.parametrize(
    "stakes",
    [
        {},
        {"costs": {"fp": 1, "fn": 6}},
        {"priors": {"sick": 0.1, "well": 0.9}, "costs": {"fn": 2}},
        {"class_weight": {"sick": 3}},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("kernel", "C"), [("rbf", 0.01), ("rbf", 1.0), ("rbf", 100.0), ("linear", 0.1), ("linear", 10.0), ("poly", 1.0)]
)
def test_gacv_from_the_dual_coefficients_of_svc(kernel, C, stakes, copies, weighted):
    data = given_gram(sample(copies=copies), kernel, gamma=0.5, coef0=1.0, degree=2)
    weights = np.resize(WEIGHTS, len(data)) if weighted else None
    fit = svm("y ~ .", data, kernel="precomputed", C=C, weights=weights, event="sick", **stakes)
    assert fit.gacv() == pytest.approx(by_svc(fit, data.drop(columns="y").to_numpy()), rel=TOL)


@pytest.mark.parametrize("C", [0.01, 0.3])
def test_gacv_of_a_kernel_by_name(C):
    fit = svm("y ~ x + z", sample(), C=C, costs={"fn": 3})
    assert fit.gacv() == pytest.approx(by_svc(fit, fit.kernel(fit.frame.X, fit.frame.X)), rel=TOL)


def tied(seed, n=40):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, 2)).astype(float)
    y = np.where(X[:, 0] - X[:, 1] + 1.5 * rng.normal(size=n) > 0, "yes", "no")
    return pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "y": y})


@pytest.mark.parametrize("seed", range(1, 7))
def test_a_row_on_the_other_margin_counts_once(seed):
    """Where both labels occur at one x and a row is free, y f of its rival is −1: inside [−1, 1], to rounding.

    The same number from SVC, from the rows in another order and from the path.
    """
    data = tied(seed)
    fit = svm("y ~ x + z", data, gamma=1.0)
    on_margin = (fit.frame.y * fit.decision_values + 1).abs() < AT_MARGIN
    assert on_margin.any()
    expected = by_svc(fit, fit.kernel(fit.frame.X, fit.frame.X))
    assert fit.gacv() == pytest.approx(expected, rel=TOL)
    assert svm("y ~ x + z", data[::-1], gamma=1.0).gacv() == pytest.approx(expected, rel=TOL)
    assert fit.path([0.7, 1.0]).table["gacv"][1.0] == pytest.approx(expected, rel=TOL)


@pytest.mark.parametrize("costs", [None, {"fp": 1, "fn": 4}])
def test_weights_are_repeats(costs):
    data = sample(50).assign(w=np.random.default_rng(2).integers(0, 4, 50))
    weighted = svm("y ~ x + z", data, weights="w", costs=costs)
    repeated = svm("y ~ x + z", data.loc[data.index.repeat(data["w"])], costs=costs)
    assert weighted.gacv() == pytest.approx(repeated.gacv(), rel=1e-10)
    assert weighted.gacv() == pytest.approx(svm("y ~ x + z", data[data["w"] > 0], weights="w", costs=costs).gacv())


def test_class_weights_of_another_size():
    """All L twice at half the cost: the same fit, twice the loss and D̂."""
    data = sample()
    plain, doubled = svm("y ~ x + z", data), svm("y ~ x + z", data, C=0.5, class_weight={"sick": 2, "well": 2})
    assert doubled.gacv() == pytest.approx(2 * plain.gacv(), rel=TOL)


def test_terms_by_hand():
    """y f = 1.5, 1, 0.2, −1, −1.5 with L = 2, 2, ½, ½, 2."""
    y, loss = np.array([1.0, 1.0, -1.0, -1.0, 1.0]), hinge(2.0, 0.5)
    f, alpha, diagonal = y * [1.5, 1.0, 0.2, -1.0, -1.5], np.array([0.0, 0.3, 0.5, 0.25, 2.0]), np.arange(1.0, 6.0)
    w = np.array([1.0, 2.0, 1.0, 0.5, 1.0])
    loss_by_hand = 0.5 * 0.8 + 0.5 * 0.5 * 2.0 + 2 * 2.5
    optimism_by_hand = 2 * 0.3 * 2 + 0.5 * 0.5 * 3 + 0.5 * 0.25 * 4 + 2 * 2 * 2.0 * 5
    assert observed_loss(f, y, w, loss) == pytest.approx(loss_by_hand / 5.5, rel=TOL_ROUNDING)
    assert optimism(f, y, w, alpha, diagonal, loss) == pytest.approx(optimism_by_hand / 5.5, rel=TOL_ROUNDING)
    total = (loss_by_hand + optimism_by_hand) / 5.5
    assert gacv(f, y, w, alpha, diagonal, loss) == pytest.approx(total, rel=TOL_ROUNDING)


@pytest.mark.parametrize("gamma", [0.02, 0.25, 2.0])
def test_mackerel_at_a_small_cost(gamma):
    """There a row alone changes f little, and GACV is the leave-one-out loss within 1 %."""
    formula = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"
    fit = svm(formula, datasets.load("mackerel"), C=0.01, gamma=gamma)
    left_out = fit.loo().mean_loss
    own = observed_loss(fit.decision_values.to_numpy(), fit.frame.y, fit.frame.weights, fit.machine.pairs[0].loss)
    assert own < min(left_out, fit.gacv())
    assert fit.gacv() == pytest.approx(left_out, rel=0.01)


@pytest.mark.parametrize("costs", [None, {"fp": 1, "fn": 2}])
def test_no_gacv_for_the_p0_loss(costs):
    fit = svm("y ~ x + z", sample(), loss="p0", costs=costs)
    message = "gacv exists for loss='hinge' only; this fit has loss='p0'."
    with pytest.raises(UnavailableError, match=re.escape(message)):
        fit.gacv()


# -- the leave-one-out loss --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize(
    "options",
    [{}, {"costs": {"fp": 1, "fn": 6}}, {"loss": "p0", "costs": {"fp": 3, "fn": 1}}, {"kernel": "linear", "C": 0.3}],
    ids=str,
)
def test_the_mean_loss_is_that_of_a_loop_of_fits(options, weighted):
    data = sample(45, copies=5)
    weights = np.resize(WEIGHTS, 50) if weighted else np.ones(50)
    fit = svm("y ~ x + z", data, weights=weights, event="sick", **options)
    loss, y, total = fit.machine.pairs[0].loss, fit.frame.y, 0.0
    for k in range(50):
        left = weights.copy()
        left[k] -= min(1.0, weights[k])
        refit = fit_machine(fit.kernel, fit.frame.X, (y > 0).astype(int), left, [Contrast(1, 0, loss)], C=fit.C)
        total += weights[k] * loss.values(refit.decision_values[[k], 0], y[[k]])[0]
    assert fit.loo().mean_loss == pytest.approx(total / weights.sum(), rel=TOL)


def test_no_mean_loss_where_a_class_vanishes():
    data = sample(30).assign(y=["sick"] + ["well"] * 29)
    assert np.isnan(svm("y ~ x + z", data).loo().mean_loss)
    weights = np.ones(30)
    weights[0] = 2.0
    assert np.isfinite(svm("y ~ x + z", data, weights=weights).loo().mean_loss)


# -- GCKL --------------------------------------------------------------------------------------------------------------

LOSSES = [hinge(), hinge(1.6, 0.4), p0(0.3, 1.7)]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 20))
def test_gckl_by_its_formula(loss, seed, n):
    rng = np.random.default_rng(seed)
    f, truth, w = rng.normal(size=n) * 2, rng.random(n), rng.choice([0.0, 1.0, 2.5], n)
    w[0] = 1.0
    of_event = loss.weight_event * np.maximum(loss.margin_event - f, 0)
    of_other = loss.weight_other * np.maximum(loss.margin_other + f, 0)
    expected = w @ (truth * of_event + (1 - truth) * of_other) / w.sum()
    assert gckl(f, truth, w, loss) == pytest.approx(expected, rel=TOL_ROUNDING)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_gckl_is_the_expectation_of_the_loss_over_new_labels(loss):
    """Over all 2⁶ of them; where every label is certain it is the observed loss."""
    rng = np.random.default_rng(4)
    f, truth, w = rng.normal(size=6), rng.random(6), np.array([1.0, 2.0, 0.5, 1.0, 0.0, 3.0])
    labels = np.array(np.meshgrid(*[[-1.0, 1.0]] * 6)).reshape(6, -1).T
    probability = np.where(labels > 0, truth, 1 - truth).prod(axis=1)
    expected = sum(p * observed_loss(f, y, w, loss) for p, y in zip(probability, labels, strict=True))
    assert gckl(f, truth, w, loss) == pytest.approx(expected, rel=TOL_ROUNDING)
    y = labels[17]
    assert gckl(f, (y > 0).astype(float), w, loss) == pytest.approx(observed_loss(f, y, w, loss), rel=TOL_ROUNDING)


def test_rows_of_weight_zero_may_hold_anything():
    f, y, w = np.array([0.5, np.nan, -0.2]), np.array([1.0, 1.0, -1.0]), np.array([1.0, 0.0, 1.0])
    assert observed_loss(f, y, w, hinge()) == pytest.approx((0.5 + 0.8) / 2, rel=TOL_ROUNDING)
    assert gckl(f, np.array([1.0, 0.5, 0.0]), w, hinge()) == pytest.approx((0.5 + 0.8) / 2, rel=TOL_ROUNDING)
