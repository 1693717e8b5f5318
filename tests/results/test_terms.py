"""Terms dropped and added: the fits without and with them from scratch, their comparison, and what is refused."""

from dataclasses import replace
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from levels import sample
from statsmodels.stats.multitest import multipletests

from svmstat import compare, svm, tune
from svmstat.errors import ArgumentError, ArgumentTypeError, DataError, FormulaError, UnavailableError
from svmstat.kernels import RBF, Linear
from svmstat.objective.predictive import Estimate
from svmstat.objective.units import Units
from svmstat.resampling.covariance import generalised_covariance
from svmstat.results.terms import _tells_nothing

FORMULA = "y ~ x + np.log(z + 60) + site + side + x:side"
# A kernel of fewer columns adds them in the same order; held-out probabilities carry the tolerance of two solutions.
TOL = 1e-6


@pytest.fixture
def data(K):
    return sample(K, 90, seed=4)


def fitted(data, formula=FORMULA, **options):
    options = {"gamma": 0.4, **options} if "kernel" not in options else options
    return svm(formula, data, **{"C": 2.0, "weights": "w", **options})


def assert_near(found, expected):
    np.testing.assert_allclose(found.probability, expected.probability, atol=TOL)


def test_a_fit_without_a_term_is_that_of_the_formula_without_it(data):
    fit = fitted(data, gamma="scale")
    tests = fit.drop1()
    gone = {"x": "- x - x:side", "np.log(z + 60)": "- np.log(z + 60)", "site": "- site", "side": "- side - x:side"}
    for term, change in gone.items():
        smaller = fit.update(f". ~ . {change}", gamma=fit.kernel.gamma)
        assert_near(tests[term].evidence, smaller.loo())
    assert tests["x"].with_it == tests["side"].with_it == ("x:side",) and tests["site"].with_it == ()
    assert list(tests.table.index) == [*gone, "x:side"]


@pytest.mark.parametrize("formula", [FORMULA, "y ~ s(x) + s(z)"])
def test_the_summary_of_a_fit_shows_its_deletions(data, formula):
    """All that drop1() prints but the fit that it is of, each note once, and the summary as it was beside it."""
    fit = fitted(data, formula)
    tests = fit.drop1()
    whole, alone, plain = fit.summary(True, terms=tests), tests.summary(), fit.summary(True)
    assert [part for part in whole.parts if part not in plain.parts] == list(alone.parts[1:])
    assert [part for part in whole.parts if part not in alone.parts[1:]] == list(plain.parts)
    assert set(whole.notes) == {*alone.notes, *plain.notes} and len(set(whole.notes)) == len(whole.notes)
    assert set(whole.warnings) == {*alone.warnings, *plain.warnings}
    assert fit.update().summary(True, terms=tests) == whole


@pytest.mark.parametrize("K", [2])
def test_the_summary_refuses_the_deletions_of_another_fit(data):
    fit = fitted(data, "y ~ x + z")
    for other in (fitted(data, "y ~ x + z", C=1.0).drop1(), fitted(data, "y ~ x").drop1(), fit.add1("site"), "x"):
        with pytest.raises(ArgumentError, match=r"terms=.* it must be what the method drop1\(\) of this very fit gave"):
            fit.summary(terms=other)


def test_changes_are_those_of_compare(data):
    fit = fitted(data)
    smaller = fit.update(". ~ . - site")
    both = compare(fit, smaller).table.iloc[1]
    row = fit.drop1(["site"]).table.iloc[0]
    assert row["delta_score"] == pytest.approx(both["delta"], abs=1e-3)
    assert row["se"] == pytest.approx(both["delta_se"], rel=1e-3)


def test_nested_changes_are_those_of_compare():
    data = sample(2, 90, seed=4)
    fit = fitted(data, "y ~ x + site", weights=None)
    smaller = fit.update(". ~ . - site")
    both = compare(fit, smaller, nested=True, repeats=2, rng=3)
    tests = fit.drop1(["site"], nested=True, repeats=2, rng=np.random.default_rng(3))
    again = fit.drop1(["site"], nested=True, repeats=2, rng=np.random.default_rng(3))
    assert tests.table.equals(again.table) and "2 splits into 10 folds" in str(tests)
    assert tests.table["nested_se"].iloc[0] == pytest.approx(both.table["nested_se"].iloc[1], rel=0.5)  # other folds


def test_the_test_is_of_held_out_residuals_without_the_term(data, K):
    fit = fitted(data)
    found = fit.drop1(["site"])["site"]
    X, used = fit.model_matrix, fit.frame.weights > 0
    columns = [name.startswith("site") for name in X]
    residuals = (np.eye(K)[fit.frame.codes] - found.evidence.probability)[used]
    expected = generalised_covariance(
        residuals, X.loc[:, columns].to_numpy()[used], X.loc[:, np.logical_not(columns)].to_numpy()[used],
        fit.frame.weights[used],
    )  # fmt: skip
    assert found.dependence == expected and expected.df == K - 1  # of two contrasts of three sites side tells one


def test_of_what_the_others_read_too_there_is_nothing_to_test(data):
    found = fitted(data).drop1(["x:side"])
    assert np.isnan(found.table["statistic"]).all() and np.isfinite(found.table["delta_score"]).all()
    assert "x:side: no test, since the terms that stay read the same data" in " ".join(str(found).split())


def test_without_any_term_there_are_the_class_frequencies(data):
    fit = fitted(data, "y ~ site")
    found = fit.drop1()["site"].evidence
    assert found.score == pytest.approx(fit.loo().null_score)
    assert found.rsquared == pytest.approx(0.0, abs=1e-12)
    nested = fit.drop1(nested=True, repeats=1, rng=0)["site"].nested
    assert np.isfinite(nested.value) and nested.se > 0


def test_copies_are_weights(data, K):
    whole = data[data["w"] > 0]
    copies = whole.loc[whole.index.repeat(whole["w"])].reset_index(drop=True)
    options = {"scale": True, "formula": "y ~ x + site"}
    one, other = (fitted(each, weights=w, **options).drop1().table for each, w in ((whole, "w"), (copies, None)))
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_numbers_do_not_depend_on_workers(data, n_jobs):
    fit = fitted(data)
    pd.testing.assert_frame_equal(fit.drop1().table, fitted(data).drop1(n_jobs=n_jobs).table)


def test_kernels_on_columns_lose_theirs(data):
    kernel = Linear().on("site") + 0.5 * RBF(gamma=0.3).on("x", "np.log(z + 60)")
    fit = fitted(data, "y ~ x + np.log(z + 60) + site", kernel=kernel)
    tests = fit.drop1()
    without = {"site": ("x", "np.log(z + 60)"), "x": ("site", "np.log(z + 60)")}
    kernels = {"site": 0.5 * RBF(gamma=0.3), "x": Linear().on("site") + 0.5 * RBF(gamma=0.3).on("np.log(z + 60)")}
    for term, stay in without.items():
        other = fitted(data, f"y ~ {' + '.join(stay)}", kernel=kernels[term])
        assert_near(tests[term].evidence, other.loo())


def test_beyond_many_rows_folds_are_held_out(monkeypatch):
    for module in ("resampled", "calibrated"):
        monkeypatch.setattr(f"svmstat.results.{module}.MOST_LEFT_OUT", 50)
    fit = fitted(sample(2, 90, seed=4), "y ~ x + site")
    tests = fit.drop1()
    assert "CV score, 10 folds" in str(tests)
    assert_near(tests["x"].evidence, fit.update(". ~ . - x").kfold())


# add1


def test_smooth_terms_go_with_what_contains_them():
    rng = np.random.default_rng(11)
    data = pd.DataFrame({"v": rng.normal(size=70), "u": rng.normal(size=70), "g": rng.choice(list("abc"), 70)})
    data["y"] = data["v"] + data["u"] + 0.5 * rng.logistic(size=70) > 0
    for formula, goes in {
        "y ~ s(v) + s(u) + ti(v, u)": {"s(v)": ("ti(v, u)",), "s(u)": ("ti(v, u)",), "ti(v, u)": ()},
        "y ~ v + s(v) + s(v, by=g)": {"v": ("s(v)", "s(v, by=g)"), "s(v)": ("s(v, by=g)",), "s(v, by=g)": ()},
        "y ~ s(v) + s(v, u) + u": {"s(v)": ("s(v, u)",), "s(v, u)": (), "u": ("s(v, u)",)},
    }.items():
        tests = svm(formula, data).drop1()
        assert {test.name: test.with_it for test in tests.tests} == goes
        assert "Dropped with it, since they contain it" in str(tests)
        if "ti" in formula:
            alone = svm("y ~ s(v) + s(u)", data).drop1().table.loc["s(v)"]
            change = svm("y ~ s(u)", data).loo().score - svm(formula, data).loo().score
            assert tests.table.loc["s(v)", "delta_score"] == pytest.approx(change, abs=1e-6)
            assert tests.table.loc["s(v)", "statistic"] == pytest.approx(alone["statistic"], rel=1e-6)
            assert tests.table.loc["s(v)", "df"] == alone["df"] == 2  # v and its square, once


def test_adding_is_the_larger_formula_and_the_other_way_round(data):
    fit = fitted(data, "y ~ x + site")
    larger = fit.update(". ~ . + z")
    one, back = fit.add1("z"), larger.drop1(["z"])
    assert one.table["delta_score"].iloc[0] == pytest.approx(-back.table["delta_score"].iloc[0], abs=1e-3)
    for name in ("se", "statistic", "df", "pvalue"):
        assert one.table[name].iloc[0] == pytest.approx(back.table[name].iloc[0], rel=1e-3)


def test_names_of_the_caller_are_known_in_what_is_added(data):
    def third(x):
        return x**3

    fit = fitted(data, "y ~ x + site")
    tests = fit.add1(["third(z)", "x:site"])
    assert list(tests.table.index) == ["third(z)", "x:site"]
    assert np.isnan(tests.table.loc["x:site", "pvalue"]) and np.isfinite(tests.table.loc["third(z)", "pvalue"])
    assert third(2.0) == 8.0


@pytest.mark.parametrize(
    ("scope", "error", "message"),
    [
        ("x", ArgumentError, "scope='x' is not allowed: it must be a term that is none of 'x', 'site'"),
        ([], ArgumentTypeError, "scope=.* must be the text of a term"),
        ([3], ArgumentTypeError, "scope=.* must be the text of a term"),
        ("z", DataError, "scope: 'z' is missing in 2 of the 90 rows"),
    ],
)
def test_what_cannot_be_added_is_refused(scope, error, message):
    data = sample(2, 90, seed=4)
    data.loc[[3, 8], "z"] = np.nan
    with pytest.raises(error, match=message):
        fitted(data, "y ~ x + site").add1(scope)


# What is refused and printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"terms": ["sit"]}, "terms='sit' is not allowed: .* did you mean 'site'"),
        ({"terms": ["site", "site"]}, "must be different terms"),
        ({"terms": ["site", " site"]}, "must be different terms"),
        ({"nested": 1}, "nested=1 is not allowed"),
        ({"nested": True, "repeats": 0}, "repeats=0 is not allowed"),
        ({"rng": -1}, "rng=-1 is not allowed"),
        ({"n_jobs": 0}, "n_jobs=0 is not allowed"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        fitted(sample(2, 90, seed=4)).drop1(**arguments)


@pytest.mark.parametrize("terms", [[], 3, [3]])
def test_terms_are_texts(terms):
    with pytest.raises(ArgumentTypeError, match="is not allowed: it must be the text of a term, or several"):
        fitted(sample(2, 90, seed=4)).drop1(terms)


def test_a_level_that_folds_would_lose_is_refused():
    data = sample(2, 60, seed=4).assign(rare=lambda d: np.arange(60) < 2)
    with pytest.raises(DataError, match="the level True of the response has 2 rows"):
        fitted(data, "rare ~ x + z", weights=None).drop1(nested=True)


def test_a_gram_matrix_has_no_terms():
    x = np.random.default_rng(0).normal(size=(20, 2))
    frame = pd.DataFrame(x @ x.T, columns=[f"k{i}" for i in range(20)]).assign(y=np.arange(20) % 2)
    fit = svm("y ~ .", frame, kernel="precomputed")
    for method, arguments in (("drop1", ()), ("add1", ("z",))):
        with pytest.raises(UnavailableError, match=f"{method}.* needs the columns of terms"):
            getattr(fit, method)(*arguments)


def test_rows_that_cannot_be_held_out_are_counted():
    data = pd.DataFrame({"y": [1] + [0] * 19, "x": np.arange(20.0), "z": np.arange(20) % 3})
    tests = svm("y ~ x + z", data, C=1.0, gamma=0.1).drop1()
    assert np.isnan(tests.table["delta_score"]).all()
    assert "<none>: 1 row could not be held out, and the score is missing." in " ".join(str(tests).split())


def test_rows_that_were_not_held_out_exactly_leave_a_score():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 2)), columns=["x", "z"])
    data["y"] = data["x"] + rng.normal(size=60) > 0
    fit = svm("y ~ x + z", data, C=1e8, kernel="poly", degree=5)
    tests = fit.drop1()
    told = [each for each in tests.summary().warnings if "could not be held out" in each]
    assert fit.converged and not tests.table["delta_score"].isna().any()
    assert told and all(each.endswith("rows could not be held out exactly.") for each in told)


def test_the_printout_and_the_figure(data):
    tests = fitted(data).drop1()
    text = " ".join(str(tests).split())
    for part in (
        "Single term deletions",
        "With the term dropped",
        "Shah & Peters",
        "Dropped with it",
        "concurvity near 1",
    ):
        assert part in text
    assert "x:side" in tests.summary().as_html() and "tabular" in tests.summary().as_latex()
    assert repr(tests).startswith("<TermTests: drop1, leave-one-out, score ")
    ax = tests.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["<none>", *tests.table.index]
    assert ax.get_xlabel() == "CV score without the term minus that of the fit"
    plt.close(ax.figure)


@pytest.mark.parametrize(("term", "theta"), [("s(z)", None), ("z", {"s(x)": 2.0}), ("x:side", None)])
def test_a_term_is_added_to_an_additive_fit(data, term, theta):
    fit = svm("y ~ s(x) + side", data, weights="w", C=2.0, theta=theta)
    both = compare(fit, fit.update(f". ~ . + {term}")).table.iloc[1]
    assert fit.add1(term).table["delta_score"].iloc[0] == pytest.approx(both["delta"], abs=1e-8)


def test_a_smooth_is_not_added_to_a_joint_kernel(data):
    with pytest.raises(ArgumentError, match=r"scope='s\(z\)' is not allowed: it must be a term of the one joint"):
        fitted(data, "y ~ x").add1("s(z)")


def test_few_rows_of_a_level_are_told_beside_the_test(data):
    rare = data.assign(y=np.where(np.arange(len(data)) % 9 == 0, "rare", "common"))
    text = " ".join(str(fitted(rare).drop1(["site"])).split())
    assert "Only 13 rows have y = rare: with fewer than 30 the test of a number rejects a true H0 too often" in text
    assert "the test of a number rejects" not in str(fitted(sample(2, 90, seed=4)).drop1(["site"]))


def test_a_level_of_rows_without_weight_is_not_counted(data):
    others = data.head(3).assign(y="other", w=0.0)
    fit = svm(FORMULA, pd.concat([data, others], ignore_index=True), weights="w")
    assert "Single term deletions" in str(fit.drop1(["site"]))


def test_what_is_added_takes_nothing_away(data):
    with pytest.raises(ArgumentError, match="and takes none away"):
        fitted(data).add1("I(x**2) - site")


def test_a_change_by_rounding_is_none():
    noise = pd.DataFrame({"x": np.random.default_rng(0).normal(size=6), "y": [0, 1] * 3})
    assert svm("y ~ x", noise).drop1().table["delta_score"].tolist() == [0.0]


def test_factors_of_many_levels_are_warned_of():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=200), "many": rng.integers(11, size=200).astype(str)})
    data["y"] = data["x"] + rng.logistic(size=200) > 0
    text = " ".join(str(svm("y ~ x + many", data).drop1()).split())
    assert "WARNING: many: fewer than 50 rows or groups for each df. There the test rejected a true H0 at 0.05" in text
    assert "for each df. There" not in str(svm("y ~ x", data).drop1())


def test_scope_as_r_has_it(data):
    fit = fitted(data, "y ~ x")
    pd.testing.assert_frame_equal(fit.add1("~ . + z").table, fit.add1("z").table)


def test_a_fit_that_is_constant_without_a_term_is_told():
    """Its change is that to the class frequencies, whatever the term is."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"age": rng.normal(size=150), "noise": rng.normal(size=150)})
    data["bad"] = 0.8 * data["age"] + rng.logistic(size=150) > 0
    found = svm("bad ~ age + noise", data, nu=0.6, gamma=0.2).drop1()
    assert found["age"].is_constant and found["noise"].is_constant
    assert "WARNING: age, noise: without it f is constant" in " ".join(str(found).split())
    plain = svm("bad ~ age + noise", data).drop1()
    assert not plain["noise"].is_constant and "f is constant" not in str(plain)


def test_a_rare_level_is_told_beside_the_test_of_a_number():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 400))
    told = []
    for events in (40, 120):
        y = np.repeat(["rare", "often"], [events, 400 - events])
        told.append(" ".join(str(svm("y ~ x + z", pd.DataFrame({"x": x, "z": z, "y": y})).drop1()).split()))
    assert "40 of 400 rows have y = rare: where a level is so rare the test of a skewed number" in told[0]
    assert "so rare" not in told[1] and "fewer than 30" not in told[0]


def test_a_term_that_no_part_of_the_kernel_reads_is_told(data):
    fit = svm("y ~ x", data, kernel=RBF(0.5).on("x"))
    added = fit.add1("z")
    assert added.table.loc["z", ["delta_score", "se"]].tolist() == [0.0, 0.0]
    assert "WARNING: z: every prediction is the same with the term and without" in " ".join(str(added).split())
    assert "every prediction is the same" not in str(svm("y ~ x", data, gamma=0.5).add1("z"))


def additive(n=120, seed=5):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 2)), columns=["x", "z"]).assign(k=rng.integers(0, 5, n))
    data["u"] = data.x**3 + rng.normal(size=n)
    return data.assign(y=(np.sin(2.0 * data.x) + data.k - 2.0 + rng.logistic(size=n) > 0.0).astype(int))


def test_a_term_goes_with_those_that_are_smooth_in_its_columns_and_more():
    data = additive()
    gone = {test.name: test.with_it for test in svm("y ~ s(x) + s(z) + s(z, by=x) + s(x, z)", data).drop1().tests}
    assert gone["s(x)"] == ("s(x, z)",)
    assert set(gone["s(z)"]) == {"s(z, by=x)", "s(x, z)"}
    assert gone["s(z, by=x)"] == ("s(x, z)",) and gone["s(x, z)"] == ()
    fit = svm("y ~ s(x) + s(x, gamma=5) + s(z)", data)
    assert all(test.with_it == () for test in fit.drop1().tests)


@pytest.mark.filterwarnings("ignore::svmstat.errors.DesignWarning")
def test_what_the_machine_does_not_read_is_nothing_to_be_given():
    data = additive()
    for formula, others, options, name in (
        ("y ~ x + k + I(k > 6)", "y ~ x + k", {}, "k"),
        ("y ~ s(x) + s(u) + s(z)", "y ~ s(x) + s(z)", {"theta": {"s(u)": 0}}, "s(x)"),
    ):
        found, expected = (
            svm(each, data, **given).drop1([name]).tests[0].dependence
            for each, given in ((formula, options), (others, {}))
        )
        assert found.df == expected.df and found.why_not == ""
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)


@pytest.mark.filterwarnings("ignore::svmstat.errors.DesignWarning")
@pytest.mark.parametrize("formula", ["y ~ x + still", "y ~ s(x) + still"])
def test_a_constant_is_no_function_of_others(formula):
    found = svm(formula, additive().assign(still=3.0)).drop1().tests[1].dependence
    assert found.why_not == "its columns are constant in these rows" and np.isnan(found.concurvity)


def test_several_terms_without_a_test_are_several():
    data = additive().assign(site=np.resize(list("pqr"), 120))
    data["region"] = data.site.map({"p": "P", "q": "Q", "r": "R"})
    found = svm("y ~ x + site + region", data).drop1()
    assert "site, region: no test, since their columns are functions of the other predictors." in " ".join(
        str(found).split()
    )


def test_a_factor_that_is_another_one_is_a_function_of_it():
    data = additive().assign(site=np.resize(list("pqr"), 120))
    data["region"] = data.site.map({"p": "P", "q": "Q", "r": "R"})
    tests = svm("y ~ s(x) + site + region", data).drop1().tests
    assert {test.dependence.why_not for test in tests[1:]} == {"its columns are functions of the other predictors"}


@pytest.mark.filterwarnings("ignore::svmstat.errors.DesignWarning")
@pytest.mark.parametrize("by", ["g", "b"])
def test_a_function_by_what_is_constant_is_one_curve(by):
    data = additive().assign(g="a", b=1)
    fit = svm(f"y ~ s(x, by={by}) + s(z)", data)
    axes = fit.plot_terms(B=39, rng=1)
    assert len(axes) == 2
    plt.close("all")


def test_terms_are_found_with_other_blanks(data):
    """As by plot_terms() and theta=."""
    fit = svm("y ~ s(x, z) + np.log(x + 20)", data)
    found = fit.drop1(["s(x,z)", "np.log( x+20 )"])
    assert [test.name for test in found.tests] == ["s(x, z)", "np.log(x + 20)"]


@pytest.mark.parametrize(("rare", "told"), [(8, True), (40, False)])
def test_a_level_with_next_to_no_events_is_told(rare, told):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=200), "g": np.where(np.arange(200) % 200 < rare, "u", "v")})
    data["y"] = rng.permutation(200) < 40
    found = svm("y ~ x + g", data).drop1()
    fewest = {test.name: test.fewest for test in found.tests}
    assert np.isnan(fewest["x"]) and fewest["g"] == pytest.approx(rare * 40 / 200)
    text = " ".join(str(found).split())
    assert ("g (1.6): so many rows of the rarest level of each would have y = True by chance" in text) == told
    assert ("validity rare-levels" in text) == told
    added = svm("y ~ x", data).add1("g").tests[0]
    assert added.fewest == pytest.approx(fewest["g"])


def test_levels_with_few_events_are_counted_over_groups_and_cells():
    data = pd.DataFrame({"g": list("uuuuvvvv") * 25, "h": list("ab") * 100, "w": np.repeat(np.arange(100), 2)})
    data["y"] = np.random.default_rng(1).permutation(200) < 60
    by_row, by_group = svm("y ~ g * h", data), svm("y ~ g * h", data, groups="w")
    fewest = [{test.name: test.fewest for test in fit.drop1().tests} for fit in (by_row, by_group)]
    assert fewest[0]["g"] == pytest.approx(50 * 0.3)  # the cells of g and g:h
    assert fewest[1]["g"] == pytest.approx(50 * 0.3)  # in as many groups, of two rows, one of each cell


@pytest.mark.parametrize("K", [2])
def test_deletions_by_folds_are_of_the_fit_that_has_left_rows_out_since(data, monkeypatch):
    monkeypatch.setattr("svmstat.results.resampled.MOST_LEFT_OUT", 50)
    fit = fitted(data, "y ~ x + z", weights=None)
    tests = fit.drop1()
    fit.loo()
    assert str(tests.summary().notes[0]) in fit.summary(terms=tests).notes


@pytest.mark.parametrize("K", [2])
def test_what_is_refused_does_not_move_a_generator(data):
    fit, rng = fitted(data, "y ~ x + z"), np.random.default_rng(3)
    state = rng.bit_generator.state
    for ask in (
        lambda: fit.add1("nothing", nested=True, rng=rng),
        lambda: compare(fit, 3, nested=True, rng=rng),
        lambda: tune("y ~ nothing", data, criterion="kfold", rng=rng),
    ):
        with pytest.raises((ArgumentError, ArgumentTypeError, FormulaError)):
            ask()
        assert rng.bit_generator.state == state


def test_held_out_values_that_tell_nothing_are_told():
    """f varies, and the map of held-out values is flat: scores are those of the class frequencies."""
    rng = np.random.default_rng(2)
    data = pd.DataFrame(rng.normal(size=(150, 3)), columns=["a", "b", "c"])
    data["y"] = (rng.random(150) < 0.3) ^ (data["c"] > 0.3)
    found = svm("y ~ a + b + c", data, gamma=0.3).drop1()
    assert [test.is_flat for test in found.tests] == [False, False, True] and not found["c"].is_constant
    assert found["c"].evidence.score == pytest.approx(found["c"].evidence.null_score, rel=1e-12)
    words = " ".join(str(found).split())
    assert "WARNING: c: without it held-out values tell nothing" in words and "whatever its f" not in words
    noise = svm("y ~ a + b", data, gamma=0.3)
    assert np.ptp(noise.decision_values) > 0.1
    for tests in (noise.drop1(), noise.add1("c")):
        assert "this fit says the class frequencies, whatever its f" in " ".join(str(tests).split())
    only = svm("y ~ c", data).drop1()
    assert not only["c"].is_flat and "held-out values tell nothing" not in " ".join(str(only).split())


def test_a_term_whose_function_is_zero_is_told_though_rounding_differs():
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"a": rng.integers(1, 4, size=90), "b": rng.normal(size=90)})
    data["y"] = data["a"] + rng.normal(size=90) > 2
    fit = svm("y ~ a + b", data)
    found = fit.drop1()
    test = found["b"]
    rounded = replace(found.evidence, values=found.evidence.values * (1.0 + 1e-11))
    same = replace(found, tests=(replace(test, evidence=rounded),))
    assert "b: every prediction is the same with the term and without" in " ".join(str(same).split())
    moved = replace(same.tests[0], evidence=replace(rounded, log_likelihoods=rounded.log_likelihoods - 1e-11))
    assert replace(same, tests=(moved,)).summary().parts[1].cells[0][:2] == (0.0, 0.0)  # and not two standard errors
    apart = replace(found.evidence, values=found.evidence.values * (1.0 + 1e-6))
    other = replace(found, tests=(replace(test, evidence=apart),))
    assert "every prediction is the same" not in " ".join(str(other).split())


@pytest.fixture(scope="module")
def dropped():
    data = sample(2, 120, seed=4, apart=3.0).assign(w=1.0)
    return svm("y ~ x + site", data, gamma=0.5).drop1()


def with_evidence(found, **changes):
    return " ".join(str(replace(found, evidence=replace(found.evidence, **changes))).split())


@pytest.mark.parametrize(("fewest", "told"), [(3.99, True), (4.0, False)])
def test_how_many_rows_of_both_rarest_levels_are_few(dropped, fewest, told):
    tests = tuple(replace(each, fewest=fewest) for each in dropped.tests)
    text = " ".join(str(replace(dropped, tests=tests)).split())
    assert (f"x ({fewest:.2g}), site ({fewest:.2g}): so many rows of the rarest level" in text) == told


def test_what_is_counted_where_levels_are_rare_is_named():
    """Of a term with its interactions the rarest combination; of groups how many of them have it."""
    data = sample(2, 120, seed=4, apart=3.0).assign(unit=np.arange(120) // 3)
    data["u"] = np.where(np.arange(120) % 60 < 4, "rare", "often")
    alone, joined = (str(svm(f"y ~ {right}", data).drop1()) for right in ("x + u", "site * u"))
    grouped = str(svm("y ~ x + u", data, groups="unit").drop1())
    of = "so many {} of the rarest {} would have y"
    assert of.format("rows", "level of each") in " ".join(alone.split())
    assert of.format("rows", "combination of levels of each with its interactions") in " ".join(joined.split())
    assert of.format("groups", "level of each") in " ".join(grouped.split())


@pytest.mark.parametrize(
    ("rare", "others", "told"), [(99, 700, True), (100, 700, False), (60, 400, True), (75, 400, False)]
)
def test_how_rare_a_level_is_told_beside_the_test_of_a_number(dropped, rare, others, told):
    """Fewer than 100 rows, and fewer than 0.15 of all."""
    codes, weights = dropped.evidence.codes, np.ones(120)
    counts = np.bincount(codes)
    for code, total in zip(np.argsort(counts), (rare, others), strict=True):
        weights[np.flatnonzero(codes == code)[0]] += total - counts[code]
    text = with_evidence(dropped, weights=weights)
    assert (f"{rare} of {rare + others} rows have y" in text) == told


@pytest.mark.parametrize(("df", "rows", "told"), [(8, 399, True), (8, 400, False), (7, 300, False), (9, 449, True)])
def test_how_many_rows_each_degree_of_freedom_takes(dropped, df, rows, told):
    """Weights are copies; of probability weights each row is one, whatever it carries."""
    one = replace(dropped.tests[1], dependence=replace(dropped.tests[1].dependence, df=df))
    found, weights = replace(dropped, tests=(one,)), np.r_[np.ones(119), rows - 119.0]
    assert ("site: fewer than 50 rows or groups for each df" in with_evidence(found, weights=weights)) == told
    carried = with_evidence(found, weights=weights, units=Units(np.arange(120), 120, False))
    assert ("fewer than 50 rows or groups" in carried) == (df >= 8)


@pytest.mark.parametrize(("groups", "told"), [(19, True), (20, False)])
def test_how_few_groups_are_told_beside_the_test(dropped, groups, told):
    text = with_evidence(dropped, units=Units(np.arange(120) % groups, groups, True))
    assert (f"the {groups} groups count as about" in text) == told


@pytest.mark.parametrize(("alike", "told"), [(79, True), (80, False)])
def test_as_how_few_rows_uneven_weights_are_told_beside_the_test(dropped, alike, told):
    weights = np.where(np.arange(120) < alike, 1.0, 1e-9)
    text = with_evidence(dropped, weights=weights, units=Units(np.arange(120), 120, False))
    assert (f"the rows count as about {alike} of one weight" in text) == told


def test_the_printout_and_the_figure_of_terms_say_what_was_done_to_them(dropped):
    data = sample(2, 120, seed=4, apart=3.0)
    added = svm("y ~ x", data, gamma=0.5).add1("site")
    for found, sense, word in ((dropped, "positive", "without"), (added, "negative", "with")):
        assert f"{sense} where it helps" in " ".join(str(found).split())
        ax = found.plot()
        assert f"{word} the term minus" in ax.get_xlabel()
        plt.close(ax.figure)
        tests = tuple(replace(each, is_constant=True) for each in found.tests)
        assert f"site: {word} it f is constant" in " ".join(str(replace(found, tests=tests)).split())


def test_pvalues_are_adjusted_for_all_terms_that_have_one():
    data = sample(2, 120, seed=4).assign(k=np.random.default_rng(0).normal(size=120))
    table = svm("y ~ x + z + site + k + np.exp(k / 9)", data, gamma=0.5).drop1().table
    known = table["pvalue"].dropna()
    assert len(known) < len(table)
    expected = multipletests(known, method="holm")[1]
    np.testing.assert_allclose(table["pvalue_holm"].dropna(), expected)
    assert (expected > known).any() and table["pvalue_holm"].isna().equals(table["pvalue"].isna())


def test_predictions_that_are_the_same_tell_nothing_where_f_varies(dropped):
    values = dropped.evidence.values
    for f, told in ((values, True), (np.zeros_like(values), False)):
        same = replace(dropped.tests[0], evidence=replace(dropped.tests[0].evidence, values=f))
        text = with_evidence(replace(dropped, tests=(same,)), values=f)
        assert ("x: every prediction is the same" in text) == told


def test_nested_changes_are_drawn_beside_their_terms(dropped):
    nested = tuple(replace(each, nested=Estimate(30.0 + k, 1.0)) for k, each in enumerate(dropped.tests))
    ax = replace(dropped, tests=nested).plot()
    names = {text.get_text(): place for place, text in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)}
    drawn = [point for line in ax.lines for point in line.get_xydata()]
    for k, each in enumerate(dropped.tests):
        (y,) = [y for x, y in drawn if x == 30.0 + k]
        assert abs(y - names[each.name]) < 0.5
    plt.close(ax.figure)


def test_an_added_term_after_which_held_out_values_tell_nothing_is_told():
    """Of the larger fit, whatever the fit itself says."""
    rng = np.random.default_rng(2)
    data = pd.DataFrame(rng.normal(size=(150, 3)), columns=["a", "b", "c"])
    data["y"] = (rng.random(150) < 0.3) ^ (data["c"] > 0.3)
    found = svm("y ~ c", data, gamma=300.0).add1("a")
    assert found["a"].is_flat and not found["a"].is_constant and not found.evidence.is_of_frequencies
    words = " ".join(str(found).split())
    assert "WARNING: a: with it held-out values tell nothing" in words and "whatever its f" not in words
    back = svm("y ~ c + a", data, gamma=300.0).drop1("a")
    assert not back["a"].is_flat and "whatever its f" in " ".join(str(back).split())


def test_a_fit_that_is_constant_is_not_told_for_what_its_map_says():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"age": rng.normal(size=150), "noise": rng.normal(size=150)})
    data["bad"] = 0.8 * data["age"] + rng.logistic(size=150) > 0
    found = svm("bad ~ age + noise", data, nu=0.6, gamma=0.2).drop1()
    assert [(test.is_constant, test.is_flat) for test in found.tests] == [(True, False)] * 2


@pytest.mark.parametrize(
    ("f", "of_frequencies", "said"),
    [
        ([[1.0, 2.0], [1.0, 2.0], [9.0, 9.0]], True, (True, False)),
        ([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]], True, (False, True)),
        ([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]], False, (False, False)),
    ],
)
def test_f_is_constant_where_that_of_every_pair_is_at_the_rows_that_count(f, of_frequencies, said):
    machine, frame = SimpleNamespace(decision_values=np.array(f)), SimpleNamespace(weights=np.array([1.0, 2.0, 0.0]))
    fit, held_out = SimpleNamespace(machine=machine, frame=frame), SimpleNamespace(is_of_frequencies=of_frequencies)
    assert _tells_nothing(fit, held_out) == said


@pytest.mark.parametrize(
    ("own", "other", "told"),
    [
        ([[0.0], [2.0], [np.nan]], [[0.0], [2.0], [np.nan]], True),
        ([[0.0], [2.0], [np.nan]], [[0.0], [2.0], [3.0]], False),
        ([[0.0], [2.0], [3.0]], [[0.0], [2.0], [np.nan]], False),
        ([[np.nan]] * 3, [[np.nan]] * 3, False),
        ([[0.0], [2.0], [3.0]], np.empty((3, 0)), False),
        ([[0.0, 1.0], [2.0, 1.0], [3.0, 1.0]], [[0.0, 1.0], [2.0, 1.0], [3.0, 1.0]], True),
        ([[0.0], [2e6], [3e6]], [[1e-5], [2e6], [3e6]], True),
        ([[0.0], [2e-6], [3e-6]], [[1e-9], [2e-6], [3e-6]], False),
    ],
)
def test_of_which_values_f_is_the_same(dropped, own, other, told):
    """Those that both fits have; 1e-8 of the spread of any pair, whatever its size."""
    test = dropped.tests[0]
    changed = replace(test, evidence=replace(test.evidence, values=np.array(other)))
    found = replace(dropped, evidence=replace(dropped.evidence, values=np.array(own)), tests=(changed,))
    assert any("every prediction is the same" in each for each in found.summary().warnings) == told


def test_terms_of_the_best_fit_of_a_search_say_what_the_search_was_of():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "z"])
    data["y"] = data["a"] + rng.normal(size=60) > 0
    best = tune("y ~ a + b", data, C=[0.5, 1.0, 2.0], gamma=0.3).best
    told = "The fit is the best of many by tune(), and those"
    dropped, added = (" ".join(str(each).split()) for each in (best.drop1(), best.add1(["z"])))
    assert f"{told} without a term have its C and kernel: after a search of their own they may lose less" in dropped
    assert f"{told} with a term have its C and kernel: after a search of their own they may gain more" in added
    assert told not in " ".join(str(svm("y ~ a + b", data).drop1()).split())
