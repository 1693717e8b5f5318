"""Costs, priors and class weights: what they make of the problem, and that every statistic works with them."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from levels import by_svc, platt
from sklearn.svm import SVC

from svmstat import datasets, svm, tune
from svmstat.errors import ArgumentError
from svmstat.objective.decision import decide

TOL_WEIGHTS = 1e-12  # a handful of products and quotients
TOL_FIT = 1e-6  # two accurate solutions of one problem, relative to max(1, |f|): the issue's own figure
TOL_DEVIANCE = 1e-6  # deviances by two solvers and two minimisers of the Platt likelihood, relative

N = 60


def sample(n=N, seed=1):
    """The share of "sick" is far from a half; eighths are exact in SVC's single precision."""
    rng = np.random.default_rng(seed)
    x, z = np.round(8 * rng.normal(size=(2, n))) / 8
    y = np.where(x + z**2 + rng.normal(size=n) > 1.8, "sick", "well")
    return pd.DataFrame({"x": x, "z": z, "y": y, "w": np.resize([1.0, 2.0, 0.25, 0.0, 1.5, 1.0, 3.0], n)})


DATA = sample()
FORMULA = "y ~ x + z"


def assert_same(a, b):
    np.testing.assert_allclose(a, b, rtol=0, atol=TOL_FIT * max(1.0, np.abs(b).max()))


# -- class weights -----------------------------------------------------------------------------------------------------

STAKES = [
    {"costs": {"fp": 1, "fn": 5}},
    {"costs": {"fp": 30.0}},
    {"priors": {"sick": 0.05, "well": 0.95}},
    {"costs": {"fp": 1, "fn": 4}, "priors": {"well": 0.6, "sick": 0.4}},
]
stakes = pytest.mark.parametrize("stakes", STAKES, ids=str)
weighted = pytest.mark.parametrize("weights", [None, "w"])


def by_hand(stakes, weights, event="sick"):
    """L of the event and of the other level [000: 18]."""
    w = np.ones(N) if weights is None else DATA[weights].to_numpy()
    share = w[DATA["y"] == event].sum() / w.sum()
    fp, fn = (stakes.get("costs", {}).get(kind, 1.0) for kind in ("fp", "fn"))
    target = stakes.get("priors", {}).get(event, share)
    event_weight, other_weight = fn * (1 - share) * target, fp * share * (1 - target)
    return 2 * np.array([event_weight, other_weight]) / (event_weight + other_weight)


@weighted
@stakes
def test_class_weights_by_hand(stakes, weights):
    fit = svm(FORMULA, DATA, event="sick", weights=weights, **stakes)
    event, other = by_hand(stakes, weights)
    assert fit.class_weight == pytest.approx({"sick": event, "well": other}, rel=TOL_WEIGHTS)
    assert fit.threshold == pytest.approx(other / 2, rel=TOL_WEIGHTS)
    assert fit.priors == stakes.get("priors")
    assert fit.costs == ({"fp": 1.0, "fn": 1.0} | stakes["costs"] if "costs" in stakes else None)


@pytest.mark.parametrize("level", ["sick", "well"])
def test_a_false_positive_is_of_the_event(level):
    """P0 = c_fp / (c_fp + c_fn) without priors, whichever level is the event and whatever its share."""
    fit = svm(FORMULA, DATA, event=level, costs={"fp": 1, "fn": 4})
    assert fit.threshold == pytest.approx(0.2, rel=TOL_WEIGHTS)
    assert fit.class_weight[level] == pytest.approx(1.6, rel=TOL_WEIGHTS)


def test_the_other_level_as_the_event():
    sick = svm(FORMULA, DATA, event="sick", costs={"fp": 1, "fn": 4}, priors={"sick": 0.3, "well": 0.7})
    well = svm(FORMULA, DATA, event="well", costs={"fp": 4, "fn": 1}, priors={"sick": 0.3, "well": 0.7})
    assert well.threshold == pytest.approx(1 - sick.threshold, rel=TOL_WEIGHTS)
    assert_same(well.decision_values, -sick.decision_values)


@pytest.mark.parametrize("loss", ["hinge", "p0"])
def test_equal_costs_and_priors_as_in_the_sample_change_nothing(loss):
    plain = svm(FORMULA, DATA, loss=loss)
    shares = DATA["y"].value_counts(normalize=True).to_dict()
    assert plain.class_weight is None and plain.threshold == 0.5
    for stakes in ({"costs": {"fp": 7, "fn": 7}}, {"priors": shares}):
        fit = svm(FORMULA, DATA, loss=loss, **stakes)
        assert fit.class_weight == pytest.approx({"sick": 1.0, "well": 1.0}, rel=TOL_WEIGHTS)
        assert_same(fit.decision_values, plain.decision_values)


@given(fp=st.floats(0.01, 100), fn=st.floats(0.01, 100), scale=st.floats(1e-3, 1e3), prior=st.floats(0.01, 0.99))
def test_only_the_ratio_of_the_costs_counts(fp, fn, scale, prior):
    given_arguments = {"class_weight": None, "priors": {"sick": prior, "well": 1 - prior}}
    frame = FIT.frame
    one = decide(frame, costs={"fp": fp, "fn": fn}, **given_arguments).class_weight
    two = decide(frame, costs={"fp": scale * fp, "fn": scale * fn}, **given_arguments).class_weight
    assert two == pytest.approx(one, rel=TOL_WEIGHTS)
    assert sum(one.values()) == pytest.approx(2.0, rel=TOL_WEIGHTS)


FIT = svm(FORMULA, DATA)


def test_levels_that_are_no_text():
    data = DATA.assign(y=DATA["y"] == "sick")
    fit = svm(FORMULA, data, priors={0: 0.9, 1: 0.1})
    assert fit.priors == {False: 0.9, True: 0.1}
    assert_same(fit.decision_values, svm(FORMULA, data, priors={False: 0.9, True: 0.1}).decision_values)


# -- fits by scikit-learn ----------------------------------------------------------------------------------------------


@weighted
@pytest.mark.parametrize("stakes", [*STAKES, {"class_weight": "balanced"}, {"class_weight": {"sick": 6}}], ids=str)
@pytest.mark.parametrize(("kernel", "C"), [("rbf", 0.02), ("rbf", 2.0), ("linear", 0.5), ("poly", 0.1)])
@pytest.mark.parametrize("loss", ["hinge", "p0"])
def test_the_fit_is_svc_with_class_weights(loss, kernel, C, stakes, weights):
    options = {"kernel": kernel, "gamma": 1.0, "degree": 2, "coef0": 1.0, "scale": False}
    fit = svm(FORMULA, DATA, event="sick", loss=loss, C=C, weights=weights, **stakes, **options)
    assert fit.kkt_violation <= 1e-8
    f = by_svc(fit, fit.frame.weights)
    if not fit.intercept_is_unique:  # as with balanced classes at a small cost: SVC may choose any of them
        low, high = fit.intercept_interval
        shift = f.mean() - fit.decision_values.mean()
        assert low - TOL_FIT <= fit.intercept + shift <= high + TOL_FIT
        f = f - shift
    assert_same(fit.decision_values, f)


@stakes
def test_class_weights_of_svc_from_the_formula(stakes):
    """Nothing but SVC's own arguments: C L in place of the fit's numbers."""
    fit = svm(FORMULA, DATA, event="sick", gamma=1.0, scale=False, **stakes)
    event, other = by_hand(stakes, None)
    svc = SVC(C=1.0, gamma=1.0, tol=1e-10, class_weight={"sick": event, "well": other})
    svc.fit(DATA[["x", "z"]].to_numpy(), DATA["y"])
    assert_same(fit.decision_values, -svc.decision_function(DATA[["x", "z"]].to_numpy()))  # its event is "well"


@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_at_one_half_a_p0_fit_is_a_hinge_fit(kernel, C):
    """f is m = 2 log 2 times that of the hinge loss at cost C / m."""
    m = 2 * np.log(2)
    fit = svm(FORMULA, DATA, loss="p0", kernel=kernel, C=C)
    plain = svm(FORMULA, DATA, kernel=kernel, C=C / m)
    assert fit.threshold == 0.5
    assert_same(fit.decision_values, m * plain.decision_values)
    assert fit.intercept == pytest.approx(m * plain.intercept, abs=TOL_FIT)
    assert fit.margin == pytest.approx(plain.margin / m, rel=TOL_FIT)
    assert fit.predict().equals(plain.predict())
    np.testing.assert_allclose(fit.fittedvalues, plain.fittedvalues, rtol=1e-5)


# -- statistics with costs, priors and the p0 loss ---------------------------------------------------------------------

CASES = [
    {"costs": {"fp": 1, "fn": 5}},
    {"priors": {"sick": 0.4, "well": 0.6}, "weights": "w"},
    {"loss": "p0"},
    {"loss": "p0", "costs": {"fp": 1, "fn": 5}},
    {"loss": "p0", "priors": {"sick": 0.1, "well": 0.9}, "weights": "w"},
]
cases = pytest.mark.parametrize("case", CASES, ids=str)
OPTIONS = {"event": "sick", "C": 2.0, "gamma": 0.5}


def reduced(fit, weights):
    """f on all rows, A, B and the deviance of the fit with other weights and the same L."""
    f, y, used = by_svc(fit, weights), fit.frame.y, weights > 0
    A, B = platt(f[used], y[used], weights[used])
    return f, A, B, 2 * weights[used] @ np.logaddexp(0, y[used] * (A * f[used] + B))


@cases
def test_leave_one_out_and_influence_are_a_loop_of_fits(case):
    fit = svm(FORMULA, DATA, calibration="insample", **OPTIONS, **case)
    loo, delta, w, y = fit.loo(), fit.get_influence().delta_deviance, fit.frame.weights, fit.frame.y
    f, log_likelihood, each_loss = np.empty(N), np.zeros(N), np.zeros(N)
    assert loo.n_failed == 0
    assert fit.deviance == pytest.approx(reduced(fit, w)[3], rel=TOL_DEVIANCE)
    for k in range(N):
        left = w.copy()
        left[k] -= min(1.0, w[k])
        all_f, A, B, deviance = reduced(fit, left)
        f[k] = all_f[k]
        log_likelihood[k] = -np.logaddexp(0, y[k] * (A * f[k] + B))
        each_loss[k] = fit.machine.pairs[0].loss.values(f[[k]], y[[k]])[0]
        assert loo.deviance_deleted[k] == pytest.approx(deviance, rel=TOL_DEVIANCE)
        assert delta[k] == pytest.approx(fit.deviance - deviance, abs=TOL_DEVIANCE * deviance)
    assert_same(loo.decision_values, f)
    assert loo.score == pytest.approx(-2 * w @ log_likelihood, rel=TOL_DEVIANCE)
    assert loo.error_rate == pytest.approx(w @ ((f > 0) != (y > 0)) / w.sum(), rel=1e-12)
    assert loo.mean_loss == pytest.approx(w @ each_loss / w.sum(), rel=TOL_FIT)


@pytest.mark.parametrize("method", ["pairs", "parametric"])
@pytest.mark.parametrize("case", [case for case in CASES if "weights" not in case], ids=str)
def test_replicates_are_fits_to_drawn_data(case, method):
    """The very counts that were drawn, with L as in the full fit."""
    fit = svm(FORMULA, DATA, **OPTIONS, **case)
    gof = fit.gof(B=3, method=method, rng=11)
    assert gof.statistic == fit.deviance and gof.n_failed == 0
    first, weights = fit.machine.groups.first, fit.machine.groups.weights
    loss, K = fit.machine.pairs[0].loss, fit.kernel(fit.frame.X[first], fit.frame.X[first])
    a, c = 0.5 * (loss.margin_event + loss.margin_other), 0.5 * (loss.margin_event - loss.margin_other)
    p = fit.insample.probability(fit.machine.pairs[0].solution.decision)
    for r in range(3):
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(11, spawn_key=(r,))))
        if method == "pairs":
            copies = rng.multinomial(N, weights / N)
            rows, y = np.repeat(np.arange(len(first)), copies), fit.machine.pairs[0].problem.signs
            y = y[rows]
        else:
            events = rng.binomial(weights.astype(int), p)
            rows = np.repeat(np.tile(np.arange(len(first)), 2), np.concatenate([events, weights.astype(int) - events]))
            y = np.repeat([1.0, -1.0], [events.sum(), N - events.sum()])
        svc = SVC(C=fit.C / a, kernel="precomputed", tol=1e-10)
        svc.set_params(class_weight={1.0: loss.weight_event, -1.0: loss.weight_other})
        f = a * svc.fit(K[np.ix_(rows, rows)], y).decision_function(K[np.ix_(rows, rows)]) + c
        A, B = platt(f, y, np.ones(len(y)))
        assert gof.replicates[r] == pytest.approx(2 * np.logaddexp(0, y * (A * f + B)).sum(), rel=TOL_DEVIANCE)


def test_the_pairs_test_with_weights_and_the_p0_loss_has_replicates():
    gof = svm(FORMULA, DATA, **OPTIONS, **CASES[-1]).gof(B=5, method="pairs", rng=1)
    assert np.isfinite(gof.replicates).all() and 0 < gof.pvalue <= 1


@cases
def test_a_tuned_point_is_the_leave_one_out_of_the_fit(case):
    found = tune(FORMULA, DATA, **OPTIONS, **case)
    loo = svm(FORMULA, DATA, **OPTIONS, **case).loo()
    assert found.best_row["score"] == pytest.approx(loo.score, rel=TOL_FIT)
    assert found.best_row["error"] == pytest.approx(loo.error_rate, rel=1e-12)
    by_loss = tune(FORMULA, DATA, score="loss", **OPTIONS, **case)
    assert by_loss.best_row["score"] == pytest.approx(loo.mean_loss, rel=TOL_FIT)


@cases
@pytest.mark.parametrize("score", ["loss", "weighted_error", "deviance"])
def test_folds_are_a_loop_of_fits(case, score):
    """Every fold with L as in the full fit."""
    how = {"criterion": "kfold", "folds": 4, "rng": 2, "calibration": "insample"}
    found = tune(FORMULA, DATA, score=score, **how, **OPTIONS, **case)
    fit, f, log_likelihood = found.best, np.empty(N), np.empty(N)
    w, y, fold = fit.frame.weights, fit.frame.y, found.fold.to_numpy()
    assert ((fold == -1) == (w == 0)).all()
    for k in range(4):
        out = fold == k
        all_f, A, B, _ = reduced(fit, np.where(out, 0.0, w))
        f[out], log_likelihood[out] = all_f[out], -np.logaddexp(0, y[out] * (A * all_f[out] + B))
    used, loss = w > 0, fit.machine.pairs[0].loss
    w, y, f, log_likelihood = w[used], y[used], f[used], log_likelihood[used]
    wL = w * loss.class_weight(y)
    expected = {
        "loss": w @ loss.values(f, y) / w.sum(),
        "weighted_error": wL @ ((f > 0) != (y > 0)) / wL.sum(),
        "deviance": -2 * w @ log_likelihood,
    }
    assert found.best_row["score"] == pytest.approx(expected[score], rel=TOL_DEVIANCE)


def test_the_best_fit_has_the_costs():
    stakes = {"loss": "p0", "costs": {"fp": 1, "fn": 3}, "priors": {"sick": 0.1, "well": 0.9}}
    best = tune(FORMULA, DATA, **OPTIONS, **stakes).best
    same = svm(FORMULA, DATA, **OPTIONS, **stakes)
    np.testing.assert_array_equal(best.decision_values, same.decision_values)
    assert (best.costs, best.priors, best.threshold) == (same.costs, same.priors, same.threshold)


# -- bad input ---------------------------------------------------------------------------------------------------------

COSTS = "it must be a mapping of 'fp' (false positive) and 'fn' (false negative) to numbers > 0."
LEVELS = "it must be a mapping of all levels, which are 'sick', 'well', to their shares."
BAD = [
    ({"costs": {"fp": 0, "fn": 1}}, "costs['fp']=0 is not allowed: it must be a finite number > 0."),
    ({"costs": {"fn": -2.5}}, "costs['fn']=-2.5 is not allowed: it must be a finite number > 0."),
    ({"costs": {"fn": np.inf}}, "costs['fn']=inf is not allowed"),
    ({"costs": {"fn": np.nan}}, "costs['fn']=nan is not allowed"),
    ({"costs": {"fn": "5"}}, "costs['fn']='5' is not allowed"),
    ({"costs": {"fn": True}}, "costs['fn']=True is not allowed"),
    ({"costs": {"fn": None}}, "costs['fn']=None is not allowed"),
    ({"costs": {"fp": 1, "fm": 2}}, f"costs={{'fp': 1, 'fm': 2}} is not allowed: {COSTS}"),
    ({"costs": {"sick": 1, "well": 2}}, COSTS),
    ({"costs": {}}, f"costs={{}} is not allowed: {COSTS}"),
    ({"costs": [1, 5]}, f"costs=[1, 5] is not allowed: {COSTS}"),
    ({"costs": 5}, f"costs=5 is not allowed: {COSTS}"),
    ({"costs": "balanced"}, COSTS),
    ({"priors": {}}, f"priors={{}} is not allowed: {LEVELS}"),
    ({"priors": {"sick": 0.2, "well": 0.800001}}, "it must be shares that sum to 1, not to 1.000001."),
    ({"priors": {"sick": np.nan, "well": 0.5}}, "priors['sick']=nan is not allowed"),
    ({"priors": {"sick": "0.5", "well": 0.5}}, "priors['sick']='0.5' is not allowed"),
    ({"priors": [0.2, 0.8]}, "priors=[0.2, 0.8] is not allowed"),
]


@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.parametrize("fitting", [svm, tune])
@pytest.mark.parametrize(("options", "message"), BAD, ids=[str(options)[:50] for options, _ in BAD])
def test_arguments_that_are_refused(fitting, options, message):
    with pytest.raises(ArgumentError, match=re.escape(message)):
        fitting(FORMULA, DATA, **options)


@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.parametrize("fitting", [svm, tune])
def test_costs_are_those_of_two_levels(fitting):
    data = DATA.assign(y=np.resize(["a", "b", "c"], N))
    with pytest.raises(ArgumentError, match=r"costs=\{'fp': 1, 'fn': 2\} is not allowed: .* 'y' has 3 levels"):
        fitting(FORMULA, data, costs={"fp": 1, "fn": 2})


def test_the_weights_of_priors_of_many_levels_are_one_in_the_mean():
    """So that C means the same with them and without."""
    liver = datasets.load("liver")
    levels = sorted(liver["disease"].unique())
    priors = dict(zip(levels, [0.1, 0.2, 0.3, 0.4], strict=True))
    fit = svm("disease ~ np.log(ast) + np.log(alt)", liver, priors=priors)
    shares = liver["disease"].value_counts(normalize=True)
    ratios = pd.Series(priors) / shares
    assert fit.class_weight == pytest.approx((ratios / ratios.mean()).to_dict())
