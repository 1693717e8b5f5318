"""What a summary says in words: each flag is raised where it belongs, and not elsewhere."""

import re
from dataclasses import replace
from inspect import signature
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from svmstat import compare, datasets, etable, svm, tune
from svmstat.diagnostics.worth import balanced_folds, numbers_of
from svmstat.errors import SvmstatWarning
from svmstat.kernels import RBF, Nystrom
from svmstat.objective.units import Units
from svmstat.results.flags import _knows_groups, _no_better

MACKEREL = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"

NOTHING = "no better than the class frequencies"
HARDLY = "hardly better than the class frequencies"
ONE_LEVEL = "for every row"
DEFAULTS = "chosen without a look at how well"
FEW = "noisy, and so are all numbers of held-out rows"


def said(fit, **options):
    return " ".join(str(fit.summary(**options)).split())


def frame(n=120, seed=0, signal=2.0, events=0.5):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    return data.assign(y=signal * data["a"] + rng.logistic(size=n) > np.log(1 / events - 1) * (1 + signal / 2))


def test_a_good_tuned_fit_has_no_flags():
    text = said(svm(MACKEREL, datasets.load("mackerel"), C=16, gamma=0.25))
    for flag in (NOTHING, HARDLY, ONE_LEVEL, DEFAULTS, FEW, "WARNING"):
        assert flag not in text


def test_noise_is_called_noise():
    data = frame()
    fit = svm("y ~ a + b + c", data.assign(y=np.random.default_rng(1).permutation(data["y"])))
    assert fit.loo().rsquared <= 0 < fit.pseudo_rsquared
    text = said(fit)
    assert f"WARNING: held out, the probabilities are {NOTHING} (R-squared {fit.loo().rsquared:.3f}" in text
    assert NOTHING not in said(svm("y ~ a + b + c", data))


@pytest.mark.parametrize("optimism", [-1e-13, 0.0, 1e-13])
def test_what_is_said_of_a_fit_that_is_worth_nothing_does_not_hang_on_rounding(optimism):
    """R² = 0, the map being the class frequency, less an optimism that is rounding."""
    data = frame(seed=3, signal=0.0)
    fit = replace(svm("y ~ a + b + c", data, gamma=1e-4, C=0.25), optimism=optimism)
    assert fit.loo().rsquared == 0.0
    assert NOTHING in said(fit)


def test_defaults_are_named_with_the_call_that_would_choose_them():
    data = frame()
    text = said(svm("y ~ a + b", data))
    gamma = svm("y ~ a + b", data).kernel_parameters["gamma"]
    assert f"C = 1 and gamma = {gamma:.4g} are defaults, {DEFAULTS} they predict" in text
    assert "tune('y ~ a + b', data)" in text and "(the held-out probabilities span" in text
    assert f"C = 1 is the default, {DEFAULTS} it predicts" in said(svm("y ~ a + b", data, gamma=0.3))
    assert f"C = 1 is the default, {DEFAULTS} it predicts" in said(svm("y ~ a + b", data, kernel="linear"))
    assert DEFAULTS not in said(svm("y ~ a + b", data, kernel="linear", C=1.0))
    assert DEFAULTS not in said(svm("y ~ a + b", data, nu=0.3, gamma=0.5))


def test_where_a_larger_cost_is_advised_the_search_is_over_costs():
    """All rows are at their bound whatever gamma is."""
    data = frame(200, seed=2, signal=0.5, events=0.04)
    small, large = said(svm("y ~ a", data, C=0.01)), said(svm("y ~ a + b", frame(), C=10.0))
    assert "a larger C, or costs" in small and "By the data, C too: tune('y ~ a', data)." in small
    assert "a larger C, or" not in large and "By the data: tune('y ~ a + b', data, C=10.0)." in large
    assert "By the data: tune('y ~ a', data)." in said(svm("y ~ a", data))


def test_probabilities_of_rare_events_have_two_digits():
    data = frame(400, seed=2, signal=0.3, events=0.03)
    fit = svm("y ~ a + b", data)
    p = fit.loo().prob
    assert p.max() < 0.1
    assert f"(the held-out probabilities span {p.min():.2g} to {p.max():.2g})" in said(fit, loo=True)


def test_who_has_given_costs_is_not_told_to_give_costs():
    data = frame(200, seed=2, signal=0.5, events=0.04)
    plain, costly = (svm("y ~ a", data, C=0.01, costs=costs) for costs in (None, {"fp": 1, "fn": 2}))
    bound = "at C = 0.01 all rows of a level are at their bound; a larger C, or"
    assert f"{bound} costs or class_weight for other levels" in said(plain)
    assert f"{bound} more weight of other levels" in said(costly)


def test_where_no_cost_helps_none_is_searched_for():
    """h = 0 whatever C is: ten costs would be the same fit ten times."""
    data = frame(n=300, signal=0.0).assign(y=np.arange(300) % 25 == 0)
    fit = svm("y ~ a + b", data, kernel="linear")
    assert "h = 0 whatever C is" in said(fit) and DEFAULTS not in said(fit)
    assert DEFAULTS in said(svm("y ~ a + b", data, kernel="linear", class_weight="balanced"))
    assert DEFAULTS in said(svm("y ~ a + b", data))
    some = data.assign(y=np.repeat(["A", "B", "C"], [260, 20, 20]))
    some["a"] += np.select([some["y"] == "B", some["y"] == "C"], [1.0, -1.0], 0.0)
    fit = svm("y ~ a + b", some, kernel="linear")
    assert np.isinf(fit.margin).tolist() == [True, True, False]  # C changes the third pair
    assert "h = 0 whatever C is" in said(fit) and DEFAULTS in said(fit)


def test_the_search_that_is_advised_takes_folds_where_rows_are_many():
    data = frame(n=5200)
    assert "data, kernel='linear', criterion='kfold')." in said(svm("y ~ a + b", data, kernel="linear"))
    assert "data, kernel='linear')." in said(svm("y ~ a + b", data.head(300), kernel="linear"))
    for groups, folds in ((3, ", folds=3"), (30, "")):
        fit = svm("y ~ a + b", data.assign(g=np.arange(5200) % groups), kernel="linear", groups="g")
        assert f"kernel='linear', groups='g', criterion='kfold'{folds})." in said(fit)
    assert signature(tune).parameters["folds"].default == 5  # more than three


def test_a_kernel_of_many_arguments_is_written_as_it_was_given():
    kernel = Nystrom(RBF(), landmarks=20)
    text = said(svm("y ~ a + b", frame(), kernel=kernel))
    assert "tune('y ~ a + b', data, kernel=Nystrom(RBF(gamma='scale'), landmarks=20))." in text


CAUSES = {
    "priors": ({"priors": {False: 0.99, True: 0.01}}, "priors move the rule so far that no row is beyond it"),
    "costs": ({"costs": {"fp": 1e3}}, "costs move the rule so far"),
    "class weights": ({"class_weight": {True: 1e-3}}, "class weights move the rule so far"),
    "wide": ({"gamma": 1e-5}, "to this kernel all rows look alike; a larger gamma"),
    "narrow": ({"gamma": 1e5, "C": 1e-2}, "to this kernel no row resembles another; a smaller gamma"),
    "small C": ({"C": 1e-4, "gamma": 0.3}, "at C = 0.0001 all rows of a level are at their bound"),
}


@pytest.mark.parametrize("which", CAUSES)
def test_one_level_for_every_row_has_its_cause(which):
    options, cause = CAUSES[which]
    data = frame(events=0.3)
    fit = svm("y ~ a + b", data, **options)
    assert set(fit.predict()) == {False}
    assert f"WARNING: it predicts y = False {ONE_LEVEL}: {cause}" in said(fit).replace("|", "")


@pytest.mark.parametrize("options", [{}, {"class_weight": {True: 1.5}}, {"priors": {True: 0.3, False: 0.7}}], ids=str)
def test_weights_that_call_for_the_other_level_are_no_cause(options):
    """h = 0 by the linear kernel, which weights like these leave as it is; no C changes that."""
    data = frame(events=0.1, signal=0.3)
    data["y"] = np.arange(len(data)) % 10 < 3
    data["a"] = np.where(data["y"], 0.1, 1.0) * data["a"]
    fits = [svm("y ~ a", data, kernel="linear", C=C, **options) for C in (0.1, 10.0)]
    for fit in fits:
        assert set(fit.predict()) == {False} and np.isinf(fit.margin)
        cause = "to this kernel a mean of the rows with y = False is one of the others, so that h = 0 whatever C is"
        assert f"{ONE_LEVEL}: {cause}" in said(fit)


@pytest.mark.parametrize("options", [{"kernel": "linear", "scale": False}, {"C": 1e-15}])
def test_values_of_h_that_are_lost_beside_the_intercept_are_the_cause(options):
    """Not "whatever C is": with another C, or predictors in another unit, they are seen."""
    data = frame(events=0.45)
    unit = 1.0 if "C" in options else 1e-8
    fit = svm("y ~ a + b", data.assign(a=unit * data["a"], b=unit * data["b"]), **options)
    assert np.isinf(fit.margin)
    assert f"{ONE_LEVEL}: values of h, up to" in said(fit)
    assert "are lost beside the intercept; a larger C, or predictors on a larger scale, shows them" in said(fit)


def test_class_frequencies_have_no_calibration_line():
    """Those of the other groups differ, but by what was left out only: the line of noise had a slope of -26 +- 4."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(24), rng.integers(3, 9, 24))
    noise = pd.DataFrame({"y": rng.random(len(group)) < 0.3, "g": group}).assign(x=rng.normal(size=len(group)))
    loo = svm("y ~ x", noise.assign(z=rng.normal(size=len(group))), groups="g").loo()
    assert abs(loo.score - loo.null_score) < 1e-6 and len(np.unique(loo.prob.round(12))) > 2
    assert np.isnan([loo.calibration_slope, loo.calibration_slope_se, loo.calibration_intercept]).all()
    assert "there are none where the probabilities are all the same or class frequencies" in " ".join(str(loo).split())


def test_a_row_that_has_most_of_the_score_is_named():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(size=180), "g": rng.choice(list("uv"), 180), "y": rng.random(180) < 0.12})
    fit = svm("y ~ s(a) + g", data.set_index("row" + data.index.astype(str).to_series().to_numpy()))
    losses = -2.0 * fit.loo().log_likelihoods
    told = f"one row, row{np.argmax(losses)}, has {losses.max():.4g} of {losses.sum():.4g}"
    assert losses.max() > 0.25 * losses.sum()
    assert f"WARNING: of the held-out score {told}" in said(fit)
    assert f"WARNING: of the score {told}" in " ".join(str(fit.loo()).split())
    assert f"of the score {told}" in " ".join(str(fit.drop1()).split())
    assert f"WARNING: fit: of the score {told}" in " ".join(str(etable({"fit": fit})).split())
    assert "one row, " not in said(svm("y ~ a + b", frame()))
    x = np.linspace(-3, 3, 80)
    data = pd.DataFrame({"x": np.where(np.arange(80) < 79, x, -9.0), "y": x > 0})
    folds = svm("y ~ x", data, kernel="linear").kfold(5)
    assert "WARNING: of the score one row, 79, has 43.23 of 82.99:" in " ".join(str(folds).split())


def test_weights_that_count_as_copies_are_said_to():
    """Those of a survey, left at the default type, would make confident results of noise without a word."""
    data = frame(60).assign(w=np.arange(60) % 4)
    told = "Weights are numbers of copies: 45 rows count as 90 independent ones, in standard errors and p-values too."

    def printed(**options):
        fit = svm("y ~ a + b", data, **options)
        yield from (fit.summary(), fit.loo(), fit.kfold(5), fit.drop1(), compare(fit, fit), etable(fit, loo=True))
        yield from (fit.permutation_test(B=1, rng=1), fit.gof(B=1, rng=1), fit.gof(B=1, method="pairs", rng=1))

    assert all(told in " ".join(str(each).split()) for each in printed(weights="w"))
    for options in ({}, {"weights": "w", "weight_type": "probability"}):
        assert not any("numbers of copies" in " ".join(str(each).split()) for each in printed(**options))


def test_a_nu_at_which_the_hulls_meet_is_the_cause():
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(90, 2)).round(), columns=["a", "b"])
    fit = svm("y ~ a + b", data.assign(y=np.arange(90) < 45), nu=0.2)
    assert fit.machine.pairs[0].solution.rho == 0.0
    assert f"{ONE_LEVEL}: at this nu the reduced hulls of the levels meet (rho = 0); a larger nu" in said(fit)


@pytest.mark.parametrize("nu", [0.2, (1.0, 1.0)])
def test_where_the_means_of_the_levels_are_one_no_nu_helps(nu):
    data = pd.DataFrame({"a": np.repeat(np.random.default_rng(0).normal(size=30), 2), "y": np.arange(60) % 2 == 0})
    told = said(svm("y ~ a", data, nu=nu))
    assert "the means of the levels are the same, so that h = 0 whatever nu is" in told and "larger nu" not in told


def test_rows_that_resemble_few_others_resemble_some():
    """Most pairs of rows are far apart, but a row and its nearest are alike: a smaller gamma does not help."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": np.repeat(30.0 * np.arange(30), 3) + rng.normal(size=90)})
    data["y"] = np.arange(90) == 45
    alone = svm("y ~ a", data, gamma=0.1, scale=False)
    assert "no row resembles another" not in said(alone) and "all rows of a level are at their bound" in said(alone)


def test_errors_beside_those_of_a_constant():
    """Each weighs what the fit was told that it costs: many cheap errors are no fault."""
    data = frame(events=0.15, signal=1.0)
    costly = svm("y ~ a + b", data, costs={"fp": 1, "fn": 8}, gamma=0.1)
    assert costly.loo().error_rate > costly.loo().base_error
    assert "it errs in" not in said(costly)
    noise = data.assign(y=np.random.default_rng(1).permutation(data["y"]))
    for options in ({"C": 50, "gamma": 5}, {"C": 50, "gamma": 5, "costs": {"fp": 1, "fn": 30}}):
        fit = svm("y ~ a + b", noise, **options)
        L = np.array([fit.class_weight[level] for level in fit.classes]) if "costs" in options else np.ones(2)
        cells = L[:, None] * fit.loo().confusion.to_numpy()
        own, constants = cells[[0, 1], [1, 0]].sum() / cells.sum(), cells.sum(axis=1)[::-1] / cells.sum()
        of = f"what errors can cost, and who always says {constants.argmin() == 1}"
        of = of if "costs" in options else "the rows, and who always says the commonest level"
        assert f"WARNING: held out it errs in {own:.4f} of {of} in {constants.min():.4f}." in said(fit)


def test_few_rows_of_a_level():
    data = frame(n=100)
    data["y"] = np.arange(100) < 12
    assert f"Only 12 rows have y = True: with fewer than 30 a map of held-out values is {FEW}" in said(
        svm("y ~ a", data)
    )


def test_copies_within_groups_make_no_rows():
    """As beside drop1(), which has the same words."""
    data = frame(n=100).assign(w=3, g=np.arange(100) // 2)
    data["y"] = np.arange(100) < 12
    assert "Only 12 rows have y = True" in said(svm("y ~ a", data, weights="w", groups="g"))
    assert FEW not in said(svm("y ~ a", data, weights="w"))


def test_probability_weights_make_no_rows():
    data = frame(n=200)
    data["y"] = np.arange(200) < 40
    few, many = (
        said(svm("y ~ a", data[k:], weights=np.where(data["y"][k:], w, 1.0), weight_type="probability"))
        for k, w in ((28, 20.0), (0, 0.1))
    )
    assert "Only 12 rows have y = True" in few and FEW not in many


CALLS = {
    "kernel='linear', scale=False": {"kernel": "linear", "scale": False},
    "weights=..., costs={'fp': 1, 'fn': 2}": {"weights": np.ones(120), "costs": {"fp": 1, "fn": 2}},
    "gamma=0.3": {"gamma": 0.3},
    "gamma='median', subset='a > -1'": {"gamma": "median", "subset": "a > -1"},
}


@pytest.mark.parametrize("call", CALLS)
def test_the_search_that_is_named_is_of_the_same_rows_and_machine(call):
    text = said(svm("y ~ a + b", frame(), **CALLS[call]))
    assert f"tune('y ~ a + b', data, {call})." in text and re.search("C = 1 (and gamma = .* are|is the) default", text)


@pytest.mark.parametrize("loo", [True, False, None])
def test_when_held_out_numbers_are_computed(loo, monkeypatch):
    fit = svm("y ~ a + b", frame())
    if loo is None:
        monkeypatch.setattr("svmstat.results.resampled._CHEAP", 10.0)
    text = said(fit, loo=loo)
    assert ("Evidence (held out: leave-one-out)" in text) == bool(loo)
    assert ("fit.loo(), or summary(loo=True)" in text) == (not loo)
    assert fit.has_maps == bool(loo) and ("Platt A" in text) == bool(loo)
    fit.loo()
    assert "Evidence (held out: leave-one-out)" in said(fit, loo=loo)


def test_many_rows_are_held_out_by_folds(monkeypatch):
    monkeypatch.setattr("svmstat.results.resampled.MOST_LEFT_OUT", 100)
    monkeypatch.setattr("svmstat.results.calibrated.MOST_LEFT_OUT", 100)
    text = said(svm("y ~ a + b", frame()), loo=True)
    assert "Evidence (held out: 10 folds)" in text and "map of decision values by five folds" in text


def test_a_level_of_one_row_is_said_the_same_everywhere():
    data = frame(60, events=0.0001).assign(y=np.arange(60) == 7)
    fit = svm("y ~ a + b", data)
    text = said(fit)
    assert "Only 1 row has y = True" in text and "(map of own decision values)" in text and DEFAULTS not in text
    printed = " ".join(str(fit.loo()).split())
    assert "1 row could not be left out" in printed and "Rows left out: 59" in printed and "nan" not in printed
    tests = fit.drop1()
    assert tests.table["pvalue"].isna().all() and "no row of a level could be held out" in " ".join(str(tests).split())


def test_numbers_that_are_missing_have_a_reason():
    data = frame(n=60)
    data["y"] = np.array(list("abc"))[np.repeat([0, 1, 2], [1, 30, 29])]
    assert "1 row could not be held out, and held-out numbers that need them are missing." in said(
        svm("y ~ a + b", data)
    )
    assert "could not be held out" not in said(svm("y ~ a + b", data[1:]))


def test_a_group_that_holds_a_whole_level_is_told_at_the_head():
    """Standard errors, of specificity for instance, are over the groups that could be left out."""
    data = frame(n=60).assign(y=np.repeat([True, False], [15, 45]), g=np.repeat(list("pqrs"), 15))
    fit = svm("y ~ a + b", data, groups="g")
    head = " ".join(" ".join(fit.summary(loo=True).warnings).split())
    assert "15 rows could not be held out, and held-out numbers that need them are missing." in head
    assert "they promise too much" in head
    for text in (said(fit), " ".join(str(fit.loo()).split())):
        assert "standard errors are over 3 groups, independent of each other" in text
    (specificity,) = (each for each in numbers_of(fit.loo()) if each[0] == "Specificity")
    hit = (fit.loo().winner == fit.loo().codes)[15:]
    by_group = np.add.reduceat(hit - hit.mean(), [0, 15, 30])
    assert specificity[2].se == pytest.approx(np.sqrt(3 / 2 * (by_group**2).sum() * 44 / 45) / 45)


@pytest.mark.parametrize("event", [0, 1])
def test_rows_on_the_boundary_are_counted(event):
    """The fourth row lies in the middle of the others, and the third in that of its neighbours."""
    x = np.array([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0])
    fit = svm("y ~ x", pd.DataFrame({"x": x, "y": (x >= 0).astype(int)}), kernel="linear", event=event)
    loo = fit.loo()
    assert np.flatnonzero(loo.values == 0.0).tolist() == [2, 3]
    words = f"Held out, f is 0 in 2 rows: neither level is predicted, and errors count them as y = {1 - event}."
    assert words in said(fit)
    assert loo.error.iloc[2:4].tolist() == ([0.0, 1.0] if event else [1.0, 0.0])
    assert "f is 0" not in said(svm("y ~ a + b", frame()))


def test_what_hangs_on_leaving_rows_out_is_told_where_there_is_no_signal():
    data = frame(n=100).assign(y=np.arange(100) % 2)
    noise, signal = svm("y ~ b", data, kernel="linear", C=0.01), svm("y ~ a", frame())
    assert noise.loo().auc < 0.3 < noise.kfold(10).auc
    assert "AUC may come near 0" in said(noise) and "by 0.03 at 50 rows" not in said(noise)
    assert "AUC may come near 0" not in said(signal) and "by 0.03 at 50 rows" in said(signal)


def test_slopes_are_called_near_one_where_they_are():
    data = frame(n=60, seed=3, signal=0.3, events=0.15)
    found = set()
    for fit in (svm("y ~ a", frame()), svm("y ~ a + b + c", data, C=10), svm("y ~ b", data, C=1e-3)):
        slope, text = fit.loo().calibration_slope, said(fit)
        assert ("near that by construction" in text) == (abs(slope - 1) <= 0.25)
        assert ("bring them near that where there is much to be seen" in text) == (abs(slope - 1) > 0.25)
        assert ("the probabilities are all the same" in text) == np.isnan(slope)
        found.add(bool(abs(slope - 1) <= 0.25))
    assert found == {False, True}


def test_what_the_class_frequencies_gain_by_row_is_no_knowledge_of_groups():
    rng = np.random.default_rng(0)
    ill = np.repeat(np.arange(40) % 10 < 3, 5)
    data = pd.DataFrame({"id": np.repeat(np.arange(40), 5), "x": rng.normal(size=200), "y": ill})
    told = "rows are predicted from other rows of their own group"
    noise = svm("y ~ x", data, groups="id")
    assert noise.loo().score - noise.loo(by="row").score > 2 and told not in said(noise)
    known = svm(
        "y ~ x", data.assign(x=data["id"].map(pd.Series(rng.normal(size=40)))), groups="id", gamma=100.0, C=10.0
    )
    assert told in said(known)


def test_rule_and_map_that_disagree_are_told():
    data = frame(n=200, signal=0.5, events=0.2)
    balanced, plain = (svm("y ~ a + b", data, class_weight=each, C=1.0) for each in ("balanced", None))
    for fit in (balanced, plain):
        assert ("they call for different levels" in said(fit)) == (fit.disagreement > 0.05)


def test_rows_are_not_predicted_from_their_group_where_by_row_is_worse():
    """One of four rows of each group is an event: what changes by row is the score of the class frequencies."""
    data = sm.datasets.modechoice.load_pandas().data
    fit = svm("choice ~ C(mode) + ttme + invc + invt + gc", data, groups="individual", C=4)
    assert fit.by_rows.loo().score > fit.loo().score
    assert "Held out by row the score" not in said(fit, loo=True)


def test_a_solution_without_a_certificate_has_no_other_cause():
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.normal(size=(150, 3)), columns=list("abc"))
    data["y"] = data["a"] + data["b"] * data["c"] + 0.7 * rng.normal(size=150) > 0
    with pytest.warns(SvmstatWarning):
        fit = svm("y ~ a + b + c", data, C=1e16, gamma=1e-4, calibration="insample")
    text = said(fit, loo=False)
    assert not fit.converged and "a smaller C" in text and "a larger C" not in text
    assert "the solution is not certified, and its violation hides f" in text


@pytest.mark.parametrize(
    ("given", "called"),
    [
        ({"kernel": "linear", "gamma": 0.5}, "tune('y ~ a + b', data, kernel='linear')"),
        ({"degree": 2}, "tune('y ~ a + b', data)"),
        ({"kernel": "poly", "degree": 2}, "tune('y ~ a + b', data, kernel='poly', degree=2)"),
    ],
    ids=str,
)
def test_the_search_that_is_named_takes_its_arguments(given, called):
    assert called in said(svm("y ~ a + b", frame(), **given))


def test_a_row_that_counts_many_is_not_said_to_be_unlikely():
    """Most of the score is of a frequent cell, whose probability is no small one."""
    cells = pd.DataFrame([(x, y, 20 + 3 * x * y) for x in range(12) for y in (0, 1)], columns=["x", "y", "w"])
    cells.loc[10, "w"] = 700
    fit = svm("y ~ x", cells, kernel="linear", weights="w")
    losses = -2.0 * fit.loo().log_likelihoods * cells["w"]
    assert losses.max() > 0.25 * losses.sum()
    assert "next to no" not in str(fit.loo())


def test_weights_that_hardly_move_a_rule_are_not_its_cause():
    data = frame(events=0.7, signal=0.5)
    fit = svm("y ~ a + b", data, gamma=1e-6, class_weight={True: 1.001, False: 1.0})
    assert fit.apparent.predicts_one_level is not None
    assert "to this kernel all rows look alike" in said(fit)


def test_many_levels_of_equal_size_are_not_rare():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(size=320), "y": np.repeat(list("pqrstuvw"), 40)})
    data["a"] += 2.0 * np.arange(320) // 40
    assert "one row in eleven" not in said(svm("y ~ a", data), loo=True)


def test_folds_that_are_advised_exist():
    rng = np.random.default_rng(1)
    noise = pd.DataFrame(rng.normal(size=(64, 2)), columns=["a", "b"]).assign(
        g=np.arange(64) % 8, y=rng.random(64) < 0.5
    )
    fit, other = svm("y ~ a", noise, groups="g"), svm("y ~ b", noise, groups="g")
    told = re.search(r"fit\.kfold\((\d+)\) keeps", " ".join(str(fit.loo()).split()))
    assert told and fit.kfold(int(told[1])).how.startswith("4 folds")  # eight would be the groups one by one
    text = " ".join(str(compare(fit, other)).split())
    told = re.search(r"when a (row|group) is left out, since the predictors tell little; folds=(\d+) keeps", text)
    assert told and told[1] == "group" and compare(fit, other, folds=int(told[2])).how.startswith("4 folds")


def test_folds_that_are_advised_for_counts_are_those_of_the_rows():
    counts = pd.DataFrame({"a": [0, 0, 1, 1], "y": [0, 1] * 2, "w": [3] * 4})
    rows = counts.loc[counts.index.repeat(counts["w"])].reset_index(drop=True)
    assert balanced_folds(svm("y ~ a", counts, weights="w").loo()) == balanced_folds(svm("y ~ a", rows).loo()) == 6


@pytest.mark.parametrize(("events", "folds"), [(6, 6), (3, 3), (1, None)])
def test_folds_that_are_advised_hold_two_rows_and_one_of_each_level(events, folds):
    noise = pd.DataFrame(np.random.default_rng(1).normal(size=(12, 2)), columns=["a", "b"])
    held = svm("y ~ a + b", noise.assign(y=np.arange(12) < events)).loo()
    assert balanced_folds(held) == folds


def test_no_larger_cost_is_recommended_where_the_pairs_of_the_predicted_level_are_flat_at_any():
    rng = np.random.default_rng(3)
    a, y = rng.integers(0, 2, 400), rng.choice(["u", "v", "w"], 400, p=[0.7, 0.15, 0.15])
    a = np.where(y == "w", a | (rng.random(400) < 0.8), a)  # v and w differ, and neither can be told from u
    fit = svm("y ~ a", pd.DataFrame({"a": a, "y": y}), kernel="linear", C=1e4)
    assert set(fit.predict()) == {"u"} and np.isinf(fit.margin).tolist() == [True, True, False]
    assert "so that h = 0 whatever C is" in said(fit) and "a larger C, or costs" not in said(fit)


def test_groups_that_all_have_the_same_shares_move_no_intercept():
    rng = np.random.default_rng(1)
    matched = pd.DataFrame({"set": np.repeat(np.arange(40), 4), "x": rng.normal(size=160), "y": [1, 0, 0, 0] * 40})
    assert not svm("y ~ x", matched, groups="set").loo().levels_move
    assert svm("y ~ x", matched.assign(set=rng.permutation(matched["set"])), groups="set").loo().levels_move


def test_values_that_are_all_the_same_move_with_no_intercept():
    fit = svm("y ~ a + b", frame(events=0.2), C=1e-4, calibration="insample")
    loo = fit.loo()
    assert loo.levels_move == bool(np.ptp(loo.values) > 0.0)


@pytest.mark.parametrize(
    ("found", "se", "words"), [(-0.01, 0.1, "are no better"), (0.19, 0.1, "hardly"), (0.21, 0.1, None)]
)
def test_two_standard_errors_of_rsquared_are_asked_for(found, se, words):
    told = list(_no_better(SimpleNamespace(rsquared=found, rsquared_se=se, is_corrected=False)))
    assert (words in told[0]) if words else not told


def test_what_ranks_rows_and_is_too_sure_is_not_said_to_tell_nothing():
    rng = np.random.default_rng(28)
    data = pd.DataFrame({"x": rng.normal(size=24), "z": rng.normal(size=24)})
    data["y"] = 2.0 * data["x"] + rng.normal(size=24) > 0
    fit = svm("y ~ x + z", data, C=100, kernel="linear")
    assert fit.loo().rsquared < 0.0 and fit.loo().error_rate < 0.2
    text = said(fit, loo=True)
    assert f"{NOTHING} (R-squared -" in text and "tell the levels apart" not in text
    assert "it errs less than who always says the commonest level (0.1250, 0.5000), but its probabilities are" in text
    noise = svm("y ~ x + z", data.assign(y=rng.permutation(data["y"])), C=100, kernel="linear")
    assert noise.loo().rsquared <= 0.0
    assert "this fit does not tell the levels apart" in said(noise, loo=True)


def by_row_and_group(times_se, n=60, G=20):
    """Gains (n,) in G groups, of weights from 1 to 3, whose mean is so many of its standard errors over groups."""
    rng = np.random.default_rng(0)
    weights, group = rng.integers(1, 4, n).astype(float), np.arange(n) % G
    each = rng.normal(size=n) + rng.normal(size=G)[group]
    each -= np.average(each, weights=weights)
    se = np.sqrt(G / (G - 1) * np.sum(np.bincount(group, weights * each) ** 2))
    each += times_se * se / weights.sum()
    used = np.ones(n, bool)
    by_group = SimpleNamespace(
        weights=weights, failed=~used, units=Units(group, G, True), gains=np.zeros(n), score=50.0
    )
    return by_group, SimpleNamespace(weights=weights, failed=~used, gains=each, score=40.0), 2.0 * se


@pytest.mark.parametrize(("times", "told"), [(1.9, False), (2.1, True), (-2.1, False)])
def test_by_row_better_than_by_group_is_told_beyond_two_standard_errors_over_groups(times, told):
    by_group, by_row, se = by_row_and_group(times)
    found = list(_knows_groups(by_group, by_row))
    assert len(found) == told
    if told:
        assert f"is {times * se:.4g} better than by group (standard error {se:.2g})" in found[0]
        by_row.score = by_group.score
        assert not list(_knows_groups(by_group, by_row))


def test_rounding_is_no_knowledge_of_groups():
    """Of a fit whose f is constant both ways say the class frequencies, but for the last digits."""
    by_group, by_row, _ = by_row_and_group(8.0)
    by_row.gains = by_row.gains * 1e-13
    by_row.score = by_group.score * (1.0 - 1e-15)
    assert not list(_knows_groups(by_group, by_row))


def test_rows_that_are_not_held_out_either_way_tell_nothing_of_groups():
    by_group, by_row, _ = by_row_and_group(2.5)
    expected = list(_knows_groups(by_group, by_row))
    more = {"weights": np.r_[by_group.weights, 1.0, 1.0, 0.0], "gains": np.r_[by_group.gains, np.nan, 1.0, np.nan]}
    units = Units(np.r_[by_group.units.of_row, 0, 1, -1], 20, True)
    left = SimpleNamespace(**more, failed=np.r_[np.zeros(60, bool), True, False, False], units=units, score=50.0)
    gains = np.r_[by_row.gains, 1.0, np.nan, np.nan]
    right = SimpleNamespace(gains=gains, failed=np.r_[np.zeros(60, bool), False, True, False], score=40.0)
    assert list(_knows_groups(left, right)) == expected and len(expected) == 1


def test_where_a_small_cost_hides_an_order_it_is_named():
    """Of exactly even levels the intercept of a fit without a row moves by more than f differs."""
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal(size=(100, 2)), columns=["a", "b"]).assign(y=np.arange(100) % 2)
    data["a"] += 3.0 * data["y"]
    told = "at C = 0.01 nearly all are at their bound, and without a row of a level the intercept moves away from it"
    hidden, seen = svm("y ~ a + b", data, C=0.01), svm("y ~ a + b", data)
    assert hidden.loo().auc == 0.0 and hidden.apparent.auc > 0.9 and told in said(hidden)
    text = " ".join(str(compare(hidden, seen)).split())
    assert "when a row is left out, since it tells little of what the predictors do; folds=10" in text
    noise = svm("y ~ a + b", data.assign(a=rng.normal(size=100)), C=0.01)
    assert told not in said(seen) + said(noise)
    assert "since the predictors tell little; folds=10" in " ".join(str(compare(noise, noise)).split())


def test_a_declared_level_without_rows_is_told():
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"a": rng.normal(size=60), "y": np.where(np.arange(60) % 2, "low", "high")})
    kinds = {kind: pd.Categorical(data["y"], kind.split()) for kind in ("low high", "low mid high", "low high a b")}
    notes = {kind: " ".join(svm("y ~ a", data.assign(y=y)).summary().notes) for kind, y in kinds.items()}
    assert "No row has y" not in notes["low high"]
    assert "No row has y = mid: the fit knows nothing of this level." in notes["low mid high"]
    assert "No row has y = a, b: the fit knows nothing of these levels." in notes["low high a b"]


def test_held_out_values_that_are_not_turned_round_are_not_said_to_be():
    """Of twenty columns of noise f ranks its own rows, and moves by less than it differs."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        noise = pd.DataFrame(rng.normal(size=(60, 20))).add_prefix("x").assign(y=rng.permutation(np.arange(60) % 2))
        fit = svm("y ~ .", noise, C=0.01, kernel="linear")
        assert ("held-out rows the wrong way" in said(fit)) == (fit.loo().auc < 0.4)


def small_cost(sizes, C=0.003, seed=0, twice=()):
    """Levels that f tells apart well, with so small a C that all rows are at their bound; some rows are there twice."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    data = pd.DataFrame(rng.normal(size=(len(codes), 2)), columns=["a", "b"])
    data["a"] += 3.0 * codes
    data["b"] += 3.0 * (codes == 1)
    data = data.assign(y=np.array(list("pqr"))[codes])
    return svm("y ~ a + b", pd.concat([data, data.iloc[list(twice)]], ignore_index=True), C=C)


def test_several_levels_that_a_small_cost_hides_are_told_as_two_are():
    fit = small_cost((30, 30, 30))
    text = said(fit, loo=True)
    assert fit.apparent.error_rate < 0.1 and fit.loo().error_rate > 0.9
    assert "what f tells, if anything, is hidden, see below" in text and "does not tell the levels apart" not in text
    assert "f of 3 pairs of levels ranks its own rows" in text and "A larger C tells what f is worth" in text
    assert "By the data, C too: tune('y ~ a + b', data)." in text
    assert fit.kfold(10).error_rate < 0.2
    assert "ranks its own rows" not in said(small_cost((30, 30, 30), C=1.0), loo=True)


@pytest.mark.parametrize(
    ("sizes", "folds", "exact"), [((40, 40), 10, True), ((45, 45), 9, True), ((35, 35), 7, True), ((37, 37), 10, False)]
)
def test_as_many_folds_are_advised_as_divide_the_rows_of_each_level(sizes, folds, exact):
    fit = small_cost(sizes)
    held = fit.loo()
    text = " ".join(str(held).split())
    assert balanced_folds(held) == folds
    assert (f"fit.kfold({folds}) keeps the levels in balance. " in text) == exact
    assert ("in balance but for a row in each fold, by which an f next to constant moves too" in text) != exact
    told = "A larger C, or folds, tell what" if exact else "A larger C tells what"
    assert told in said(fit, loo=True)
    assert (fit.kfold(folds).auc > 0.95) == exact
    compared = " ".join(str(compare(fit, fit.update(C=0.004))).split())
    assert (f"folds={folds} keeps the levels in balance." in compared) == exact


def test_where_folds_keep_copies_together_they_are_no_remedy_for_a_small_cost():
    fit = small_cost((39, 39), twice=(0, 77))
    assert balanced_folds(fit.loo()) is None
    assert "A larger C tells what f is worth" in said(fit, loo=True)


def test_folds_out_of_balance_say_what_that_does_to_pooled_numbers():
    fit = small_cost((45, 45))
    uneven, even = (" ".join(str(fit.kfold(k)).split()) for k in (10, 9))
    told = re.search(r"AUC is (\S+) among rows whose fits have seen as many of each level, and (\S+) of all", uneven)
    assert told and float(told[1]) > 0.95 and float(told[2]) == pytest.approx(fit.kfold(10).auc, abs=6e-4)
    assert "errors, sensitivity and specificity suffer from it as well" in uneven and "biased downwards" not in uneven
    assert "as many of each level" not in even and "biased downwards" in even


def test_a_gamma_that_is_called_too_small_or_too_large_is_not_kept_in_the_search():
    data = frame()
    wide, narrow = said(svm("y ~ a + b", data, gamma=1e-5)), said(svm("y ~ a + b", data, gamma=1e5, C=1e-2))
    assert "a larger gamma" in wide and "By the data, gamma too: tune('y ~ a + b', data)." in wide
    assert "a smaller gamma" in narrow and "gamma=" not in narrow
    assert "gamma=0.3" in said(svm("y ~ a + b", data, gamma=0.3))


def test_a_standard_error_that_there_is_not_is_not_printed():
    fake = SimpleNamespace(rsquared=0.0, rsquared_se=np.nan, is_corrected=False)
    (text,) = _no_better(fake)
    assert "(R-squared 0.000): this fit does not tell the levels apart" in text and "nan" not in text


def test_what_a_small_cost_hides_is_told_whatever_the_map_makes_of_it():
    fit = small_cost((30, 30)).update(calibration="insample")
    assert fit.loo().rsquared > 0.0 and fit.loo().auc < 0.1
    assert "f ranks its own rows" in said(fit, loo=True) and "By the data, C too" in said(fit, loo=True)
    assert "fit.kfold(10) keeps the levels in balance" in " ".join(str(fit.loo()).split())


def test_a_kernel_to_which_no_row_resembles_another_hides_nothing_by_its_cost():
    fit = small_cost((30, 30), C=1.0).update(gamma=1e6)
    assert fit.loo().auc < 0.1 and "f ranks its own rows" not in said(fit, loo=True)


def test_weights_keep_folds_from_being_in_balance():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"]).assign(y=np.repeat(["p", "q"], 40))
    data["a"] += 3.0 * (data["y"] == "q")
    data["w"] = np.where(np.arange(80) % 8 == 0, 3.0, 1.0)
    for kind in ("frequency", "probability"):
        fit = svm("y ~ a + b", data, C=0.003, weights="w", weight_type=kind)
        assert "keeps the levels in balance as far as rows of such weights allow" in " ".join(str(fit.loo()).split())
        assert "or folds, tell" not in said(fit, loo=True)
