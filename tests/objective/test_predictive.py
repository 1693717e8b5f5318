"""Numbers of predictions against scikit-learn, statsmodels and plain loops; weights are repeats."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from svmstat.objective import predictive
from svmstat.objective.units import Units

# Sums in another order.
TOL = 1e-12
# Two Newton iterations that stop at 1e-12 and 1e-8.
TOL_NEWTON = 1e-6


def forecast(n=120, ties=False, seed=0):
    """Probabilities that are too extreme, outcomes and whole weights."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(1 if ties else 12)
    return expit(2.0 * x + 0.3), rng.random(n) < expit(x), rng.integers(1, 4, n).astype(float)


def both(p):
    return np.column_stack([1.0 - p, p])


@pytest.mark.parametrize("ties", [False, True])
def test_against_scikit_learn(ties):
    p, event, w = forecast(ties=ties)
    codes = event.astype(int)
    own = np.log(both(p)[np.arange(len(p)), codes])
    assert predictive.score(own, w).value == pytest.approx(2 * log_loss(event, p, sample_weight=w, normalize=False))
    assert predictive.brier(both(p), codes, w).value == pytest.approx(brier_score_loss(event, p, sample_weight=w), TOL)
    assert predictive.auc(p, event, w).value == pytest.approx(roc_auc_score(event, p, sample_weight=w), rel=TOL)


def test_brier_of_many_classes():
    rng = np.random.default_rng(1)
    p, codes, w = rng.dirichlet(np.ones(4), 50), rng.integers(4, size=50), rng.random(50)
    expected = brier_score_loss(codes, p, sample_weight=w, labels=range(4))
    assert predictive.brier(p, codes, w).value == pytest.approx(expected, rel=TOL)


def test_calibration_line_against_statsmodels():
    p, event, w = forecast()
    design = sm.add_constant(np.log(p / (1 - p)))
    fit = sm.GLM(event.astype(float), design, family=sm.families.Binomial(), freq_weights=w).fit(tol=1e-12)
    line = predictive.calibration_line(p, event, w)
    for found, value, se in zip(line, fit.params, fit.bse, strict=True):
        assert found == pytest.approx((value, se), rel=TOL_NEWTON)
    assert 0.3 < line.slope.value < 0.8


def test_calibration_line_of_probabilities_of_zero():
    """Of five neighbours, as of a forest: logits of zero and one are as large as numbers allow."""
    rng = np.random.default_rng(0)
    p = rng.integers(0, 6, size=200) / 5.0
    event = rng.random(200) < 0.25 + 0.4 * p
    kept = np.maximum(p, np.finfo(float).tiny)
    logits = np.log(kept) - np.log(np.maximum(1.0 - p, np.finfo(float).epsneg))
    fit = sm.GLM(event.astype(float), sm.add_constant(logits), family=sm.families.Binomial()).fit(tol=1e-12)
    for found, value, se in zip(predictive.calibration_line(p, event, np.ones(200)), fit.params, fit.bse, strict=True):
        assert found == pytest.approx((value, se), rel=TOL_NEWTON)


def test_calibration_line_of_many_probabilities_of_zero():
    """Of rare events, as a forest predicts them: its steps are so short that the slope takes many."""
    rng = np.random.default_rng(3)
    p = np.maximum(rng.beta(0.3, 4.0, size=600) - 0.02, 0.0)
    event = rng.random(600) < np.minimum(1.5 * p, 0.9)
    assert np.count_nonzero(p == 0.0) > 150
    some = p > 0.0
    logits = np.log(p[some]) - np.log1p(-p[some])
    fit = sm.GLM(event[some].astype(float), sm.add_constant(logits), family=sm.families.Binomial()).fit(tol=1e-12)
    for found, value, se in zip(predictive.calibration_line(p, event, np.ones(600)), fit.params, fit.bse, strict=True):
        assert found == pytest.approx((value, se), rel=1e-6)


@pytest.mark.parametrize(("far", "steep"), [(200, 5.0), (700, 5.0), (700, 4.5), (300, 8.0)])
def test_a_row_that_is_certain_and_right_tells_nothing_of_the_line(far, steep):
    rng = np.random.default_rng(0)
    x = 0.3 * rng.normal(size=400)
    x[0], event = far, rng.random(400) < expit(steep * x)
    event[0] = True
    assert not event.all()
    one, other = (
        predictive.calibration_line(expit(x[some:]), event[some:], np.ones(400 - some), None, expit(-x[some:]))
        for some in (0, 1)
    )
    assert 3.0 < one.slope.value < 10.0
    np.testing.assert_allclose(one, other, rtol=1e-8)


@pytest.mark.parametrize("x", [np.repeat([0.2, 0.8], 10), np.full(20, 0.4), np.repeat([0.0, 1.0], 10)])
def test_no_line_where_the_levels_are_apart_or_nothing_differs(x):
    line = predictive.calibration_line(x, np.repeat([False, True], 10), np.ones(20))
    assert np.isnan(line).all()


def test_standard_error_of_the_area_by_its_definition():
    """DeLong et al. (1988), equations 3 and 4."""
    p, event, _ = forecast(n=40, ties=True)
    kernel = (p[event][:, None] > p[~event]) + 0.5 * (p[event][:, None] == p[~event])
    variance = kernel.mean(axis=1).var(ddof=1) / event.sum() + kernel.mean(axis=0).var(ddof=1) / (~event).sum()
    found = predictive.auc(p, event, np.ones(40))
    assert found == pytest.approx((kernel.mean(), np.sqrt(variance)), rel=TOL)
    assert predictive.auc(-p, event, np.ones(40)) == pytest.approx((1 - kernel.mean(), np.sqrt(variance)), rel=TOL)
    assert np.isnan(predictive.auc(p[event], event[event], np.ones(event.sum()))).all()


def test_weights_are_repeats():
    p, event, w = forecast(ties=True)
    often = np.repeat(np.arange(len(p)), w.astype(int))
    own, ones = np.log(np.where(event, p, 1 - p)), np.ones(len(often))
    codes = event.astype(int)
    null = predictive.null_log_likelihoods(codes, w, left_out=True)
    np.testing.assert_allclose(null[often], predictive.null_log_likelihoods(codes[often], ones, left_out=True))
    pairs = [
        (predictive.score(own, w), predictive.score(own[often], ones)),
        (predictive.rsquared(own, null, w), predictive.rsquared(own[often], null[often], ones)),
        (predictive.brier(both(p), codes, w), predictive.brier(both(p[often]), codes[often], ones)),
        (predictive.proportion(event, w), predictive.proportion(event[often], ones)),
        (predictive.auc(p, event, w), predictive.auc(p[often], event[often], ones)),
        *zip(
            predictive.calibration_line(p, event, w),
            predictive.calibration_line(p[often], event[often], ones),
            strict=True,
        ),
    ]
    for one, other in pairs:
        assert one == pytest.approx(other, rel=1e-9)


def test_the_null_forecasts_by_the_other_rows():
    codes, w = np.array([0, 0, 0, 1, 1]), np.array([1.0, 2.0, 0.5, 1.0, 1.0])
    null = np.exp(predictive.null_log_likelihoods(codes, w, left_out=True))
    np.testing.assert_allclose(null, [2.5 / 4.5, 2.5 / 4.5, 3.0 / 5.0, 1.0 / 4.5, 1.0 / 4.5])
    np.testing.assert_allclose(np.exp(predictive.null_log_likelihoods(codes, w, left_out=False))[3], 2.0 / 5.5)
    for weight in (1.0, 1e20):
        null = predictive.null_log_likelihoods(np.array([0, 0, 1]), np.array([1.0, weight, 1.0]), left_out=True)
        assert np.isnan(null).tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("name", "covered"),
    [("score", 0.95), ("brier", 0.95), ("auc", 0.95), ("rsquared", 0.95), ("slope", 0.95), ("intercept", 0.95)],
)
def test_standard_errors_are_those_of_repeated_samples(name, covered):
    """Of a forecast that does not depend on the sample: within 1.1 times of the spread over 2000 samples."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(2000):
        x = rng.normal(size=150)
        event, p = rng.random(150) < expit(x), expit(1.3 * x - 0.2)
        own, w = np.log(np.where(event, p, 1 - p)), np.ones(150)
        null = predictive.null_log_likelihoods(event.astype(int), w, left_out=False)
        found.append(
            {
                "score": lambda own=own, w=w: predictive.score(own, w),
                "brier": lambda p=p, event=event, w=w: predictive.brier(both(p), event.astype(int), w),
                "auc": lambda p=p, event=event, w=w: predictive.auc(p, event, w),
                "rsquared": lambda own=own, null=null, w=w: predictive.rsquared(own, null, w),
                "slope": lambda p=p, event=event, w=w: predictive.calibration_line(p, event, w).slope,
                "intercept": lambda p=p, event=event, w=w: predictive.calibration_line(p, event, w).intercept,
            }[name]()
        )
    values, ses = np.array(found).T
    assert values.std(ddof=1) / np.sqrt((ses**2).mean()) == pytest.approx(1.0, abs=0.1)
    near = np.abs(values - values.mean()) <= 1.96 * ses
    assert near.mean() == pytest.approx(covered, abs=0.03)


def test_a_share_of_all_is_one_whatever_the_order_of_the_sums():
    """Of weights of all sizes a part added up in another order may exceed the whole by rounding."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        w = 10.0 ** rng.uniform(-12, 12, size=30)
        share, se = predictive.proportion(w >= 1e-16 * w.max(), w)
        assert 0.0 <= share <= 1.0 and se >= 0.0


def test_the_standard_error_of_auc_over_groups_of_weighted_rows_is_that_of_their_copies():
    rng = np.random.default_rng(3)
    f, event, weights = rng.normal(size=60), rng.random(60) < 0.4, rng.integers(1, 4, 60) * 1.0
    group = np.append(np.arange(15), rng.integers(15, size=45))
    copy = np.repeat(np.arange(60), weights.astype(int))
    found = predictive.auc(f, event, weights, Units(group, 15, True))
    expected = predictive.auc(f[copy], event[copy], np.ones(len(copy)), Units(group[copy], 15, True))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_that_are_tied_count_half_in_the_area(weighted):
    rng = np.random.default_rng(5)
    n = 60
    values, event, tied = rng.normal(size=n), rng.random(n) < 0.4, rng.integers(3, 9, n)
    w = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    one, other = np.flatnonzero(event), np.flatnonzero(~event)
    wins = np.where(tied[one][:, None] == tied[other], 0.5, values[one][:, None] > values[other])
    by_event, by_other = wins @ w[other] / w[other].sum(), w[one] @ wins / w[one].sum()
    found = predictive.auc(values, event, w, tied=tied)
    assert found.value == pytest.approx(w[one] @ by_event / w[one].sum(), rel=TOL)
    variance = sum(
        u @ (each - u @ each / u.sum()) ** 2 / (u.sum() - 1) / u.sum()
        for each, u in ((by_event, w[one]), (by_other, w[other]))
    )
    assert found.se == pytest.approx(variance**0.5, rel=1e-10)


@pytest.mark.parametrize("small", [1.0, 0.1, 0.004])
def test_the_se_of_a_share_does_not_hang_on_how_much_weight_its_rows_have(small):
    which = np.arange(100) < 71
    units = Units(np.arange(100), 100, False)
    found = predictive.proportion(which, np.full(100, small), units)
    assert found.se == pytest.approx((0.71 * 0.29 / 100) ** 0.5)


def test_the_line_of_the_other_event_is_the_same_however_extreme():
    x, event = np.array([-70.0, -45.0, -3.0, 1.0, 4.0, 38.0, 60.0]), np.array([0, 1, 0, 0, 1, 0, 1], bool)
    p, rest = np.exp(-np.logaddexp(0.0, -x)), np.exp(-np.logaddexp(0.0, x))
    one = predictive.calibration_line(p, event, np.ones(7), rest=rest)
    other = predictive.calibration_line(rest, ~event, np.ones(7), rest=p)
    assert one.slope.value == pytest.approx(sm.Logit(event, sm.add_constant(x)).fit(disp=False).params[1], rel=1e-6)
    np.testing.assert_allclose(one.slope, other.slope)
    np.testing.assert_allclose(one.intercept, (-other.intercept.value, other.intercept.se))


def test_a_level_of_one_group_is_unknown_to_the_others_whatever_its_weights_are():
    """Its weights less its weights are 0, and not what rounding leaves: log 1e-17 would be all of the score."""
    rng = np.random.default_rng(0)
    weights, codes = rng.uniform(0.1, 1.0, 60), np.repeat([0, 1], [53, 7])
    found = predictive.null_log_likelihoods(codes, weights, True, Units(np.repeat(np.arange(6), 10), 6, True))
    held = predictive.null_log_likelihoods(codes, weights, True, Units(np.r_[np.arange(53) % 5, [5] * 7], 6, True))
    assert np.isfinite(found[:53]).all() and np.isnan(held[53:]).all() and np.isfinite(held[:53]).all()


def grouped(n=80, G=16, seed=3):
    """Rows in groups, of which some hold events only, or other rows only."""
    rng = np.random.default_rng(seed)
    group = np.append(np.arange(G), rng.integers(G, size=n - G))
    x = rng.normal(size=n) + rng.normal(size=G)[group]
    event = rng.random(n) < expit(x)
    event[group == 0], event[group == 1] = True, False
    return expit(1.5 * x - 0.3), event, Units(group, G, True)


def test_calibration_line_over_groups_against_statsmodels():
    """Sandwich over clusters; its only correction here is G/(G − 1)."""
    p, event, units = grouped()
    G = units.count
    logistic = sm.Logit(event.astype(float), sm.add_constant(logit(p))).fit(
        disp=False, tol=1e-12, cov_type="cluster", cov_kwds={"groups": units.of_row, "use_correction": False}
    )
    line = predictive.calibration_line(p, event, np.ones(80), units)
    for found, value, se in zip(line, logistic.params, logistic.bse, strict=True):
        assert found == pytest.approx((value, np.sqrt(G / (G - 1)) * se), rel=1e-6)


def test_standard_error_of_rsquared_by_the_delta_method():
    """Of a/b, two sums of rows, with the gradient (1, −a/b)/b: also of a forecast that is far from the null."""
    rng = np.random.default_rng(1)
    event = rng.random(90) < 0.2
    p = np.where(event, 0.97, 0.02)  # nearly sure: R² of 0.9, so that the ratio matters
    own = np.log(np.where(event, p, 1 - p)) * rng.uniform(0.2, 2.0, 90)
    null = predictive.null_log_likelihoods(event.astype(int), np.ones(90), left_out=True)
    gradient = np.array([1.0, -own.sum() / null.sum()]) / null.sum()
    variance = gradient @ np.cov(own, null) @ gradient * 90
    assert predictive.rsquared(own, null, np.ones(90)).se == pytest.approx(np.sqrt(variance), rel=1e-10)


def test_area_within_strata_is_that_of_their_pairs():
    rng = np.random.default_rng(3)
    f, event, w, strata = rng.normal(size=60), rng.random(60) < 0.4, rng.random(60), rng.integers(5, size=60)
    above = pairs = 0.0
    for i in np.flatnonzero(event):
        for j in np.flatnonzero(~event & (strata == strata[i])):
            pairs += w[i] * w[j]
            above += w[i] * w[j] * (f[i] > f[j])
    assert predictive.auc_within(f, event, w, strata) == pytest.approx(above / pairs, rel=TOL)
    assert predictive.auc_within(f, event, w, np.zeros(60)) == pytest.approx(predictive.auc(f, event, w).value, rel=TOL)
    assert np.isnan(predictive.auc_within(f, event, w, np.where(event, 0, 1)))
