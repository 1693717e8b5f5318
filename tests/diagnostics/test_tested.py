"""Tests of the fit, of any association, and influence with its envelopes: what they refuse, say and draw."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from levels import repeated, sample

from svmstat import svm, tune
from svmstat.diagnostics.envelope import Envelope
from svmstat.diagnostics.permutation import PermutationResult
from svmstat.errors import ArgumentError, CertificateWarning, DataError, UnavailableError
from svmstat.objective.replicated import pvalue, upper_point
from svmstat.objective.units import Units
from svmstat.results import tested

OPTIONS = {"C": 2.0, "gamma": 0.02, "scale": False}
CALLS = [lambda fit, **o: fit.gof(**o), lambda fit, **o: fit.permutation_test(**o)]


def printed(result):
    return " ".join(str(result).split())


THREE = SimpleNamespace(two=False)

calls = pytest.mark.parametrize("call", CALLS, ids=["gof", "permutation"])


@pytest.fixture
def weighted(K):
    return sample(K, 70, seed=7)


@calls
def test_weights_are_repeats(call, weighted):
    found = [
        call(fit, B=3, rng=2)
        for fit in (svm("y ~ x + z", weighted, weights="w", **OPTIONS), svm("y ~ x + z", repeated(weighted), **OPTIONS))
    ]
    assert found[0].statistic == pytest.approx(found[1].statistic, rel=1e-6)
    np.testing.assert_allclose(found[0].replicates, found[1].replicates, rtol=1e-5, atol=1e-7)


def test_envelopes_count_weights_as_repeats():
    data = sample(2, 30, seed=7)
    maxima = [
        fit.get_influence().envelope(rng=2).maxima
        for fit in (svm("y ~ x + z", data, weights="w", **OPTIONS), svm("y ~ x + z", repeated(data), **OPTIONS))
    ]
    np.testing.assert_allclose(*maxima, rtol=1e-4, atol=1e-6)


@calls
def test_fractional_weights_are_refused(call, K):
    with pytest.raises(DataError, match="the weights must be whole numbers"):
        call(svm("y ~ x + z", sample(K, 60), weights=np.linspace(0.5, 2, 60)))


@calls
@pytest.mark.filterwarnings("ignore:probabilities are by the map of the fit's own")
def test_rows_that_cannot_be_held_out_are_refused(call, lonely):
    with pytest.raises(UnavailableError, match="1 of 40 rows cannot be held out"):
        call(svm("y ~ x + z", lonely), B=3)


@calls
@pytest.mark.filterwarnings("ignore:the best")
def test_a_search_is_repeated_in_each_replicate(call):
    data = sample(2, 50, seed=9)
    found = tune("y ~ x + z", data, C=[0.1, 4.0], gamma=[0.1, 1.0, 2.0])
    fixed, anew = (call(found.best, B=4, rng=1, retune=retune) for retune in (False, True))
    assert fixed.statistic == anew.statistic and anew.retuned and not fixed.retuned
    assert (fixed.replicates != anew.replicates).any()
    np.testing.assert_array_equal(call(found.best, B=4, rng=1, retune=True, n_jobs=2).replicates, anew.replicates)
    with pytest.raises(UnavailableError, match="this fit is not the best of a tune"):
        call(svm("y ~ x + z", data), retune=True)


def test_a_search_with_one_point_changes_nothing(K):
    data = sample(K, 50, seed=9)
    best = tune("y ~ x + z", data, C=[2.0], gamma=[0.5]).best
    found = [best.gof(B=2, rng=1, retune=retune).replicates for retune in (False, True)]
    np.testing.assert_allclose(*found, rtol=1e-6, atol=1e-8)


def test_the_residual_test_sees_what_a_linear_kernel_cannot():
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(150, 2)), columns=["x", "z"])
    data["y"] = data.x * data.z + 0.3 * rng.normal(size=150) > 0
    linear, flexible = (svm("y ~ x + z", data, **o).gof(B=19, rng=1) for o in ({"kernel": "linear"}, {"C": 4.0}))
    assert linear.reject and linear.pvalue == 0.05 and "Rejected: structure is left that these" in printed(linear)
    assert not flexible.reject and "Not rejected" in printed(flexible)
    assert linear.deviance_replicates.shape == (19,) and "bootstrapped deviance" in str(linear)


def test_a_permutation_test_is_of_the_cv_score(K):
    fit = svm("y ~ x + z", sample(K, 60, seed=3, apart=3.0))
    found = fit.permutation_test(B=9, rng=1)
    assert found.statistic == fit.loo().score and found.pvalue == 0.1
    assert (found.replicates > found.statistic).all() and "nothing about how good" in printed(found)
    assert repr(found).startswith("<PermutationResult: CV score ") and "\n" not in repr(found)


def test_parts_of_the_deletion_deviance(K):
    data = sample(K, 60, seed=4)
    fit = svm("y ~ x + z", data, weights="w")
    found, loo = fit.get_influence(), fit.loo()
    used = data["w"] > 0
    own = fit.insample_maps.log_likelihoods(fit.machine.decision_values, fit.frame.codes)
    np.testing.assert_allclose(found.own[used], -2.0 * own[used])
    np.testing.assert_allclose(found.own + found.others, found.delta_deviance, atol=1e-12)
    np.testing.assert_allclose(found.outlyingness, -2.0 * loo.log_likelihood)
    assert (found.summary_frame().loc[~used, ["delta_deviance", "own", "others"]].abs() < 1e-9).all(axis=None)


@pytest.mark.parametrize("K", [2, 3])
def test_envelopes_are_points_of_maxima(K):
    influence = svm("y ~ x + z", sample(K, 30, seed=5)).get_influence()
    with pytest.raises(ArgumentError, match="envelope=None"):
        influence.beyond()
    assert "envelope()" in str(influence) and "by .envelope()" in influence.envelope_lacks()
    found = influence.envelope(rng=1)
    again = influence.envelope(rng=1, n_jobs=2)
    pd.testing.assert_frame_equal(found.maxima, again.maxima, check_exact=True)
    pd.testing.assert_frame_equal(found.second, again.second, check_exact=True)
    for name in found.maxima:
        point = np.sort(found.maxima[name].dropna())[94 - found.n_failed * 19 // 20]
        assert found.critical_value(name) == point * found.raised[name]
        expected = getattr(influence, name) > found.critical_value(name)
        np.testing.assert_array_equal(influence.beyond()[name], expected)
    assert "95 % envelope" in str(influence) and "refits of refits, here up to" in printed(influence)
    for ax in (influence.plot(), influence.plot_index(), influence.plot_index(what="influence"),
               influence.plot_index(what="outlyingness", level=0.5)):  # fmt: skip
        assert any("envelope" in text.get_text() for text in ax.texts)
        plt.close(ax.figure)


def test_envelopes_are_raised_by_what_refits_of_refits_lose():
    names = ["flatter", "sharper", "failed", "without sign"]
    first = pd.DataFrame([[4.0, 2.0, 3.0, 1.0]] * 99, columns=names)
    second = pd.DataFrame([[2.0, 4.0, np.nan, -1.0]] * 49, columns=names)
    second.loc[:20, "flatter"] = np.nan
    envelope = Envelope(first, second)
    assert envelope.raised.to_dict() == {"flatter": 2.0, "sharper": 1.0, "failed": 1.0, "without sign": 1.0}
    assert envelope.critical_value("flatter") == 8.0 and envelope.critical_value("sharper") == 2.0
    assert "28 refits of refits, here up to 2.00 times" in envelope.how_raised
    assert "No refit of a refit" in Envelope(first, second * np.nan).how_raised
    assert Envelope(first, first).how_raised == ""


@pytest.mark.parametrize("K", [2, 3])
def test_an_envelope_of_the_replicates_of_the_test(K):
    """The same as of both apart, where the random numbers are the same."""
    fit = svm("y ~ x + z", sample(K, 40, seed=5))
    together, alone = fit.get_influence(), fit.get_influence()
    gof = fit.gof(B=99, rng=1, envelope_of=together)
    np.testing.assert_allclose(gof.replicates, fit.gof(B=99, rng=1).replicates, rtol=1e-9)
    maxima = alone.envelope(rng=1).maxima
    for name in maxima:
        assert together._known.critical_value(name) == pytest.approx(alone._known.critical_value(name), rel=1e-9)
    assert together.has_envelope and (together.beyond() == alone.beyond()).all(axis=None)
    other = svm("y ~ x + z", sample(K, 40, seed=5)).get_influence()
    for wrong in (other, "influence"):
        with pytest.raises(ArgumentError, match=r"envelope_of=.*get_influence\(\) of this very fit"):
            fit.gof(B=99, envelope_of=wrong)
    with pytest.raises(ArgumentError, match="B=98"):
        fit.gof(B=98, envelope_of=together)
    with pytest.raises(UnavailableError, match="method='pairs' leaves no row out"):
        fit.gof(B=99, method="pairs", envelope_of=together)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"what": "deviance"}, "what='deviance' is not allowed"),
        ({"reference": "normal"}, "reference='normal' is not allowed"),
        ({"reference": "chi2", "what": "own"}, "what='own' is not allowed: it must be 'delta' with reference='chi2'"),
        ({"B": 50}, "B=50 is not allowed: it must be an integer >= 99"),
        ({"level": 1.0}, "level=1.0 is not allowed"),
    ],
)
def test_what_influence_refuses(options, message):
    with pytest.raises(ArgumentError, match=message):
        svm("y ~ x + z", sample(2, 30)).get_influence().plot_index(**options)


def test_an_upper_point_agrees_with_the_pvalue():
    """A statistic is beyond it if and only if p ≤ 1 − level."""
    replicates = np.append(np.random.default_rng(1).normal(size=99), np.nan)
    for statistic in [*replicates[:99] + 1e-9, -9.0, 9.0]:
        assert (statistic > upper_point(replicates, 0.95)) == (pvalue(replicates, statistic) <= 0.05 + 1e-12)
    assert np.isnan(upper_point(np.full(3, np.nan), 0.95)) and pvalue(np.full(3, np.nan), 1.0) == 1.0


@pytest.mark.parametrize(("method", "B", "level", "decided"), [
    ("residual", 18, 0.95, False), ("residual", 19, 0.95, True), ("residual", 9, 0.9, True),
    ("residual", 8, 0.9, False), ("pairs", 5, 0.95, False), ("parametric", 19, 0.95, True),
])  # fmt: skip
def test_too_few_replicates_give_no_verdict(method, B, level, decided):
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    found = svm("y ~ a + b", data.assign(y=data["a"] * data["b"] > 0), C=1.0).gof(B, method, level, rng=1)
    text = printed(found)
    assert found.n_failed == 0 and found.is_decided is decided
    decision = "Reject the fit" if method == "residual" else "Above that point"  # the deviance is no verdict
    assert (f"{decision}: undecided" in text) is not decided and "inf" not in text.split()
    assert ("Reject the fit" in text) is (method == "residual")
    least = "at least 9" if level == 0.9 else "at least 19"
    no_verdict = (
        f"No verdict: a p-value of {1 - level:.4g} or less takes {least} replicates that do not fail, and there"
    )
    assert (no_verdict in text) is not decided
    assert ("no structure was found" in text) is (decided and method == "residual" and not found.reject)


def test_the_least_pvalue_of_few_permutations_is_told(weighted):
    fit = svm("y ~ x + z", weighted)
    assert "No p-value can be less than 0.3333 here" in printed(fit.permutation_test(B=2, rng=1))
    assert "No p-value" not in printed(fit.permutation_test(B=19, rng=1))


def apart(n=60):
    """Two classes far apart: many replicates draw the very labels that were observed."""
    rng = np.random.default_rng(5)
    y = np.repeat(["no", "yes"], n // 2)
    return pd.DataFrame({"x": rng.normal(size=n) + 10.0 * (y == "yes"), "z": rng.normal(size=n), "y": y})


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_replicates_of_the_observed_labels_tie_with_the_fit(kernel):
    """Their T is that of the fit but for rounding, and counts as no less."""
    test = svm("y ~ x + z", apart(), kernel=kernel, C=10).gof(B=59, rng=1)
    as_large = (test.replicates - test.statistic > -1e-12 * abs(test.statistic)).sum()
    assert as_large > (np.abs(test.replicates - test.statistic) == 0).sum()
    assert test.pvalue == pytest.approx((1 + as_large) / 60)
    assert test.reject == (test.pvalue <= 0.05)


def test_a_row_on_the_envelope_is_not_above_it():
    fit = svm("y ~ x + z", apart(), C=10)
    influence = fit.get_influence()
    envelope = influence.envelope(rng=1)
    largest = influence.summary_frame()[envelope.maxima.columns.tolist()].max()
    for name in envelope.maxima:
        near = envelope.critical_value(name) * (1 + 1e-12)
        assert influence.beyond()[name].any() == (largest[name] > near)


def test_influence_says_what_deletion_deviances_are_made_of():
    rng = np.random.default_rng(0)
    good = pd.DataFrame({"x": rng.normal(size=150)}).assign(y=lambda d: d["x"] + rng.logistic(size=150) > 0)
    for data, own in ((good, True), (apart(), False)):
        influence = svm("y ~ x", data, C=1).get_influence()
        frame = influence.summary_frame()
        assert (frame["delta_deviance"].corr(frame["own"]) >= 0.8) == own
        assert ("nearly all own misfit" in printed(influence)) == own


@pytest.mark.parametrize("weight_type", ["frequency", "probability"])
def test_influence_without_an_envelope_says_why_and_draws_the_rest(weight_type):
    data = sample(2, 60).assign(w=np.linspace(0.5, 2, 60))
    influence = svm("y ~ x + z", data, weights="w", weight_type=weight_type).get_influence()
    why = "has 0.5. Weights that are no repeats" if weight_type == "frequency" else "and not how often it is there"
    assert "There is no envelope" in printed(influence) and why in printed(influence)
    assert ".envelope()" not in printed(influence)
    for ax in (influence.plot(), influence.plot_index()):
        assert not [line for line in ax.lines if line.get_linestyle() == "--"] and len(ax.texts) >= 1
        plt.close(ax.figure)
    with pytest.raises(DataError, match="the envelope draws a label for every copy"):
        influence.envelope()
    critical = influence.plot_index(reference="chi2")
    assert "χ²(1)" in critical.texts[0].get_text()
    plt.close(critical.figure)


def test_a_group_whose_first_row_has_no_weight_moves_the_fit_as_much():
    data = sample(2, 60).assign(g=np.repeat(np.arange(12), 5), w=1.0)
    data.loc[[0, 5], "w"] = 0.0
    options = {"groups": "g", "C": 1.0, "gamma": 0.3, "scale": False}
    with_zeros = svm("y ~ x + z", data, weights="w", **options).get_influence().summary_frame()
    without = svm("y ~ x + z", data[data["w"] > 0], **options).get_influence().summary_frame()
    pd.testing.assert_frame_equal(with_zeros.sort_index(), without.sort_index(), rtol=1e-9, atol=1e-12)
    assert (with_zeros["max_change"] >= with_zeros["rms_change"]).all()


@pytest.mark.parametrize("many", [0, 30], ids=["median", "most at one point"])
@pytest.mark.parametrize("options", [{}, {"weights": "w", "weight_type": "probability"}], ids=["", "weighted"])
def test_distances_of_a_precomputed_kernel_are_those_of_the_rows(many, options):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 2))
    y, w = x[:, 0] + rng.logistic(size=40) > 0, rng.uniform(0.3, 2.5, 40)
    x[:many] = 0.0
    rows = pd.DataFrame(x, columns=["a", "b"]).assign(y=y, w=w)
    K = pd.DataFrame(x @ x.T, columns=[f"k{i}" for i in range(40)]).assign(y=y, w=w)
    by_name = svm("y ~ a + b", rows, kernel="linear", scale=False, **options)
    given = svm("y ~ . - w", K, kernel="precomputed", **options)
    assert given.gof(B=3, rng=1).statistic == pytest.approx(by_name.gof(B=3, rng=1).statistic, rel=1e-9)


@pytest.mark.filterwarnings("ignore:.*rows of the level")
def test_few_arrangements_of_the_response_are_said():
    """One group of two labels among 40 of one row each: the labels of its rows are all that can be permuted."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"x": rng.normal(size=40), "id": np.arange(40)})
    data["y"] = data.x + 0.3 * rng.normal(size=40) > 0
    rows = svm("y ~ x", data, groups="id").permutation_test(B=19, rng=1)
    assert rows.arrangements > 1e6 and "can be arranged" not in printed(rows)
    data.loc[data.index[~data.y][0], "id"] = data.id[data.y].iloc[0]
    found = svm("y ~ x", data, groups="id").permutation_test(B=19, rng=1)
    assert found.arrangements == pytest.approx(2.0)
    assert "can be arranged in only 2 ways: no p-value can be much below 0.5," in printed(found)


def test_rows_of_the_largest_measures_are_named():
    """Also where they are not among those of largest ΔD; days without a time."""
    rng = np.random.default_rng(2)
    data = pd.DataFrame(
        {"x": rng.normal(size=80), "z": rng.normal(size=80)}, index=pd.date_range("2020-01-01", periods=80)
    )
    data["y"] = (data["x"] + rng.logistic(size=80) > 0).astype(int)
    influence = svm("y ~ x + z", data, C=1000, gamma=0.2).get_influence()
    most = influence.outlyingness.idxmax()
    assert most not in influence.delta_deviance.nlargest(10).index
    named = f"the largest -2 log pi, {influence.outlyingness.max():.4g}, in row {most:%Y-%m-%d}."
    assert named in printed(influence) and "00:00:00" not in str(influence)
    influence.envelope(rng=1)
    assert "Not among those" not in str(influence)
    line = next(each for each in str(influence).splitlines() if each.startswith("-2 log pi "))
    assert line.split()[4] == f"{most:%Y-%m-%d}"


def test_what_weights_do_to_the_measures_is_told():
    data = sample(2, 60, seed=3).assign(w=np.random.default_rng(1).uniform(0.5, 2.0, 60))
    for how, of in (("probability", "the row times its weight"), ("frequency", "min(w, 1) copies of it")):
        assert f"own misfit are of {of}" in printed(
            svm("y ~ x + z", data, weights="w", weight_type=how).get_influence()
        )
    assert "own misfit are of" not in printed(svm("y ~ x + z", data).get_influence())


def test_envelopes_are_raised_by_medians_and_no_single_replicate():
    names = ["delta_deviance", "own"]
    first, second = np.full((99, 2), 3.0), np.full((49, 2), 2.0)
    first[0], second[:2] = 1e6, 1e7
    found = Envelope(pd.DataFrame(first, columns=names), pd.DataFrame(second, columns=names))
    assert found.raised.tolist() == [1.5, 1.5]


def of_permutations(replicates, **given):
    given = {"retuned": False} | given
    return PermutationResult(statistic=10.0, replicates=np.array(replicates), null_score=25.0, **given)


def test_without_a_permutation_that_could_be_fitted_there_is_no_pvalue():
    found = of_permutations([np.nan] * 9)
    assert np.isnan(found.pvalue) and found.n_failed == 9
    assert "nan" not in str(found) and "p-value: -" in " ".join(str(found).split())


@pytest.mark.parametrize(("lost", "told"), [(1, False), (5, True)])
def test_of_many_replicates_that_failed_it_is_told(lost, told):
    said = printed(of_permutations(np.r_[np.full(lost, np.nan), np.arange(20.0 - lost)]))
    assert (f"WARNING: {lost} of 20 replicates failed" in said) == told
    fit = svm("y ~ x + z", sample(2, 60, seed=4), nu=(0.9, 0.9))
    found = fit.gof(B=19, rng=1, method="pairs")
    assert found.n_failed > 1 and f"WARNING: {found.n_failed} of 19 replicates failed" in printed(found)


def test_scores_of_a_permutation_test_are_told_apart():
    found = of_permutations([12.5, 31.0, np.nan, 9.0])
    text = printed(found)
    for told in ("CV score: 10.000", "least of permutations: 9.000", "of class frequencies: 25.000"):
        assert told in text
    assert "failed: 1 " in text and "1 failed" in repr(found)
    assert found.pvalue == 0.5 and "p-value: 0.5000" in text


@pytest.mark.parametrize(("good", "told"), [(18, True), (19, False)])
def test_permutations_that_failed_do_not_count_for_the_least_pvalue(good, told):
    text = printed(of_permutations([*np.arange(20.0, 20.0 + good), np.nan, np.nan]))
    assert ("No p-value can be less than 0.05263 here, whatever the association: 1 / (1 + 18)" in text) == told
    assert ("No p-value" in text) == told and "A large one says that this fit found none." in text


@pytest.mark.parametrize(
    ("ways", "told"),
    [
        (1.0, "in only 1 way: no p-value can be much below 1,"),
        (2.0, "in only 2 ways: no p-value can be much below 0.5,"),
        (399.0, "in only 399 ways: no p-value can be much below 0.0025,"),
        (400.0, ""),
    ],
)
def test_from_how_few_arrangements_on_they_are_told(ways, told):
    text = printed(of_permutations(np.arange(99.0), arrangements=ways))
    assert told in text and ("can be arranged in only" in text) == bool(told)
    assert ("A large one says that this fit found none." in text) == (not told)


def test_what_was_held_under_permutation_is_told_by_whether_the_search_can_be_repeated():
    again, never = (printed(of_permutations(np.arange(99.0), repeatable=each)) for each in (True, False))
    assert "use tune() and retune=True" in again and "cannot be repeated" not in again
    assert "cannot be repeated" in never and "use tune()" not in never
    assert "permuted with the weight of its row" in never and "permuted with the weight" not in again
    anew = printed(of_permutations(np.arange(99.0), retuned=True))
    assert "which are chosen anew for each" in anew and "held at those of the fit" not in anew


@pytest.mark.filterwarnings("ignore::svmstat.errors.GridWarning")
def test_a_search_that_is_not_repeated_is_known():
    """No "if" where it was so."""
    for repeatable, told in ((True, "retune=True repeats the search for each permutation"), (False, "too small.")):
        text = printed(of_permutations(np.arange(99.0), repeatable=repeatable, chosen=True))
        assert "WARNING: C and kernel were chosen by this response, and are held" in text and told in text
        assert "if they were chosen" not in text and "had they been chosen" not in text
    assert "WARNING" not in printed(of_permutations(np.arange(99.0), retuned=True, chosen=True))
    data = sample(2, 40)
    best = tune("y ~ x + z", data, C=[1.0, 4.0], gamma=[0.1, 1.0]).best
    assert best.permutation_test(B=9, rng=1).chosen and not svm("y ~ x + z", data).permutation_test(B=9, rng=1).chosen


@pytest.mark.parametrize("given", [{}, {"groups": "g"}])
def test_a_level_that_has_no_weight_is_none(given):
    data = sample(3, 30, seed=5).assign(g=np.arange(30))
    names = sorted(data["y"].unique())
    kept = np.flatnonzero(data["y"] == names[1])[0]
    weights = np.where(data["y"] == names[0], 0.0, 1.0)
    weights[(data["y"] == names[1]) & (np.arange(30) != kept)] = 0.0
    fit = svm("y ~ x + z", data.assign(w=weights), weights="w", **given)
    for test in (fit.gof, fit.permutation_test):
        with pytest.raises(
            UnavailableError, match=f"1 of {weights.sum():.0f} rows cannot be held out.* Each level needs two"
        ):
            test(B=19)


def test_where_the_certificate_is_lost_that_is_said_and_not_that_levels_are_small():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": 1e13 * rng.normal(size=60), "y": rng.integers(0, 2, 60)})
    with pytest.warns(CertificateWarning):
        fit = svm("y ~ x", data, kernel="linear", scale=False)
    for test in (fit.gof, fit.permutation_test):
        with pytest.raises(UnavailableError, match="It is the certificate: a smaller C or scaled predictors help"):
            test(B=19)


@pytest.mark.parametrize("groups", [None, "g"])
def test_where_too_few_rows_are_left_for_nu_a_smaller_one_is_advised(groups):
    """Without one of 20 the others of a level add up to 19/20 of it, or with groups of two to 18/20."""
    data = pd.DataFrame({"x": np.random.default_rng(0).normal(size=40), "y": np.arange(40) % 4 < 2})
    data["g"] = np.arange(40) // 2
    most = 0.95 if groups is None else 0.9
    fits = [svm("y ~ x", data, nu=(most + by, 0.5), groups=groups) for by in (0.01, -0.01)]
    for test in (fits[0].gof, fits[0].permutation_test):
        with pytest.raises(UnavailableError, match=r"20 of 40 rows cannot be held out, too few .* A smaller nu leaves"):
            test(B=19)
    assert fits[1].loo().n_failed == 0


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "It is the certificate: a smaller C or scaled predictors help."),
        ({"nu": 0.5}, "It is the certificate: a larger nu or scaled predictors help."),
        ({"_fewest_units": 1.0}, "Each level needs two rows at least."),
        ({"_fewest_units": 1.0, "grouped": True}, "Each level needs two groups at least."),
        ({"_fewest_units": 1.0, "shape": THREE}, "A level of one row may be left out by subset."),
        ({"_fewest_units": 1.0, "shape": THREE, "grouped": True}, "A level of one group may be left out by subset."),
    ],
)
def test_what_helps_where_rows_cannot_be_held_out(given, told):
    fit = {"nu": None, "grouped": False, "shape": SimpleNamespace(two=True), "_fewest_units": 2.0} | given
    assert tested.Tested._to_hold_out_all.fget(SimpleNamespace(**fit)) == told


@pytest.mark.parametrize(
    ("weights", "units", "fewest"),
    [
        ([1, 1, 1, 1, 1, 0], None, 2.0),
        ([1, 1, 1, 1, 0, 0], None, 1.0),
        ([1, 1, 1, 3, 0, 0], None, 3.0),
        ([1, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 2], 1.0),
        ([1, 1, 1, 1, 1, 1], [0, 1, 1, 1, 2, 2], 2.0),
        ([1, 1, 1, 1, 1, 0], [0, 1, 1, 1, 1, -1], 1.0),
    ],
)
def test_the_level_of_the_fewest_copies_or_groups(weights, units, fewest):
    """What has no weight is not there."""
    frame = SimpleNamespace(codes=np.repeat([0, 1], 3), weights=np.array(weights, float))
    held = None if units is None else Units(np.array(units), max(units) + 1, True)
    fit = SimpleNamespace(frame=frame, machine=SimpleNamespace(units=held))
    assert tested.Tested._fewest_units.fget(fit) == fewest
