"""``compare()``: what it refuses, and that its numbers are those of the models' own leave-one-out."""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from svmstat import compare, svm
from svmstat.errors import ArgumentError, ArgumentTypeError, DataError

LOGISTIC = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
TREE = DecisionTreeClassifier(max_depth=3, min_samples_leaf=5, random_state=0)


@pytest.fixture(scope="module")
def fit(data):
    return svm("y ~ x + z", data)


@pytest.fixture(scope="module")
def logit(data):
    return smf.logit("y ~ x + z", data).fit(disp=False)


def test_evidence_of_a_fit_is_its_own(fit, logit):
    both, loo = compare(fit, logit), fit.loo()
    for name in ("score", "score_se", "rsquared", "brier", "auc", "error_rate", "calibration_slope"):
        assert getattr(both["svm rbf"], name) == pytest.approx(getattr(loo, name), rel=1e-12)


@pytest.mark.parametrize("formula", ["y ~ s", "y ~ x"])
@pytest.mark.parametrize("calibration", ["auto", "venn-abers"])
def test_evidence_of_several_levels_is_its_own(formula, calibration):
    """Rows are ranked by maps that they share: by π they would be by their own left-out label."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"y": rng.choice(list("abc"), 90), "s": rng.choice(list("pqrst"), 90)})
    data = data.assign(x=rng.normal(size=90), block=rng.permutation(90) % 5)
    fit, other = svm(formula, data, calibration=calibration), svm(formula, data, C=2)
    for both, own in (
        (compare(other, fit), fit.loo()),
        (compare(other, fit, folds="block"), fit.kfold("block")),
    ):
        found = both["svm rbf 2"]
        np.testing.assert_array_equal(found.auc, own.auc)
        np.testing.assert_array_equal(found.auc_se, own.auc_se)
        for level in range(3):
            np.testing.assert_array_equal(found.along(level), own.along(level))


def test_differences_have_paired_standard_errors(fit, logit):
    both = compare(fit, logit)
    one, other = (each.log_likelihoods for each in both.evidence)
    row = both.table.loc["logit"]
    assert row["delta"] == pytest.approx(both["logit"].score - both["svm rbf"].score)
    assert row["delta_se"] == pytest.approx(2.0 * np.sqrt(80 * np.var(one - other, ddof=1)))


def test_either_may_come_first(fit, logit):
    one, other = compare(fit, logit).table, compare(logit, fit).table
    assert list(other.index) == ["logit", "svm rbf"]
    assert one.loc["logit", "delta"] == pytest.approx(-other.loc["svm rbf", "delta"])
    for name in ("score", "auc", "error_rate", "calibration_slope"):
        np.testing.assert_allclose(other[name][::-1], one[name])


def test_names(data, fit, logit):
    found = compare(fit, svm("y ~ x", data), logit, (TREE, "y ~ x", data), net=(LOGISTIC, "y ~ x + z", data))
    assert found.names == ("svm rbf 1", "svm rbf 2", "logit", "decisiontreeclassifier", "net")


def test_labels_of_levels_are_found(data, logit):
    """As numbers, as texts, by position; and where two models call the other level the event."""
    named = data.assign(y=np.where(data["y"] == 1, "yes", "no"), flag=data["y"] == 1)
    X = sm.add_constant(data[["x", "z"]])
    by_text = compare(svm("y ~ x + z", named), smf.glm("y ~ x + z", named, family=sm.families.Binomial()).fit())
    by_value = compare(svm("flag ~ x + z", named), logit)
    by_position = compare(svm("y ~ x + z", named), sm.MNLogit(data["y"].to_numpy(), X).fit(disp=False))
    by_event = compare(svm("y ~ x + z", named, event="no"), sm.Logit(1 - data["y"], X).fit(disp=False))
    for other in (by_text, by_value, by_position, by_event):
        np.testing.assert_allclose(other.evidence[1].score, compare(logit, logit).evidence[0].score, rtol=1e-8)
    turned = compare(svm("y ~ x + z", named), svm("y ~ x + z", named, event="no")).table
    np.testing.assert_allclose(turned["auc"].iloc[0], turned["auc"].iloc[1], rtol=1e-9)
    assert turned["mcnemar"].iloc[1] == 1.0


@pytest.mark.parametrize("kind", ["y", "kind"])
def test_weights_are_repeats(data, kind):
    """Of rows that are left out one copy at a time, and of which as many are counted."""
    whole = data.loc[data.index.repeat(data["w"])].reset_index(drop=True)
    X = sm.add_constant(data[["x", "z"]])
    weighted = [svm(f"{kind} ~ x + z", data, weights="w"), (LOGISTIC, f"{kind} ~ x + z", data)]
    repeated = [svm(f"{kind} ~ x + z", whole), (LOGISTIC, f"{kind} ~ x + z", whole)]
    if kind == "y":
        family = sm.families.Binomial()
        weighted.append(sm.GLM(data["y"], X, family=family, freq_weights=data["w"]).fit(tol=1e-14))
        repeated.append(smf.logit("y ~ x + z", whole).fit(disp=False, tol=1e-12))
    one, other = compare(*weighted).table, compare(*repeated).table
    columns = [name for name in one if name != "rows"]
    np.testing.assert_allclose(one[columns], other[columns], rtol=1e-4, atol=1e-6)


def test_many_classes(data):
    fit = svm("kind ~ x + z", data)
    both = compare(
        fit,
        sm.MNLogit(data["kind"], sm.add_constant(data[["x", "z"]])).fit(disp=False),
        tree=(TREE, "kind ~ x + z", data),
    )
    assert not {"auc", "calibration_slope"} & set(both.table)
    assert list(both["mnlogit"].auc.index) == ["a", "b", "c"]
    assert both.table.loc["svm rbf", "brier"] == fit.loo().brier
    assert "Of more than two levels" in str(both)


def test_folds_are_the_same_for_all(data, fit, logit):
    tree = (TREE, "y ~ x + z", data)
    found = compare(fit, logit, tree, folds=5, rng=3)
    again = compare(fit, logit, tree, folds=5, rng=3, n_jobs=2)
    pd.testing.assert_frame_equal(found.table, again.table)
    assert found.how == "5 folds"
    assert (compare(fit, logit, folds=5, rng=4).table["score"] != found.table["score"].iloc[:2]).all()


def test_nested(data, fit, logit):
    found = compare(fit, logit, nested=True, repeats=2, rng=1)
    again = compare(logit, fit, nested=True, repeats=2, rng=1)
    table = found.table
    assert (table["nested_se"].iloc[1:] > 0).all() and table["delta_nested"].iloc[0] == 0.0
    np.testing.assert_allclose(table.loc["logit", "delta_nested"], -again.table.loc["svm rbf", "delta_nested"])
    np.testing.assert_allclose(table.loc["logit", "nested_se"], again.table.loc["svm rbf", "nested_se"])
    assert "Nested: 2 splits into 10 folds" in str(found)


@pytest.mark.parametrize(("n", "folds"), [(8, 4), (15, 7), (20, 10)])
def test_nested_folds_of_few_rows_hold_two_at_least(n, folds):
    rng = np.random.default_rng(n)
    few = pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n), "y": np.arange(n) % 2})
    larger, smaller = svm("y ~ x + z", few, gamma=0.5), svm("y ~ x", few, gamma=0.5)
    found, tests = compare(larger, smaller, nested=True, repeats=1, rng=1), larger.drop1(["z"], nested=True, rng=1)
    assert np.isfinite(found.table["nested_se"].iloc[1])
    assert f"Nested: 1 split into {folds} folds" in str(found)
    assert f"splits into {folds} folds" in str(tests)
    same = larger.drop1(["z"], nested=True, repeats=1, rng=1).table.iloc[0]  # in the same folds
    np.testing.assert_allclose(same[["delta_nested", "nested_se"]], found.table.iloc[1][same.index[2:4]], rtol=1e-9)


def test_two_rows_of_a_level_are_enough_for_two_folds():
    few = pd.DataFrame({"x": np.random.default_rng(1).normal(size=22), "y": np.arange(22) < 2})
    fit = svm("y ~ x", few)
    found = compare(fit, logit=(LogisticRegression(), "y ~ x", few), folds=2, rng=1)
    assert np.isfinite(found.table["score"]).all()
    with pytest.raises(DataError, match="every level must have 3, since two folds may be left out together"):
        compare(fit, fit, nested=True)
    with pytest.raises(DataError, match=r"has 1 row: for folds every level must have 2\."):
        compare(*[svm("y ~ x", few[1:])] * 2, folds=2)


def test_a_row_that_cannot_be_held_out_is_why_there_is_no_slope():
    few = pd.DataFrame({"x": np.random.default_rng(1).normal(size=21), "y": np.arange(21) < 1})
    told = " ".join(str(compare(svm("y ~ x", few), logit=(LogisticRegression(), "y ~ x", few))).split())
    assert "No slope of svm rbf, logit: there is none without a prediction of every row." in told


def test_other_rows_are_refused(data, fit):
    gap = data.assign(z=data["z"].where(data.index != "r5"))
    with pytest.raises(
        DataError, match=r"row 'r5' is the first of 1 that 'svm rbf' has and 'tree' has not\. Every form"
    ):
        compare(fit, tree=(TREE, "y ~ x + z", gap))
    with pytest.raises(DataError, match=r"row 'r5' is the first of 1 that 'glm' has and 'svm rbf' has not"):
        compare(svm("y ~ x + z", gap), smf.glm("y ~ x", gap, family=sm.families.Binomial()).fit())
    with pytest.raises(
        DataError, match="another order, or not equally often there: row 0 is 'r0' in 'svm rbf' and 'r79'"
    ):
        compare(fit, tree=(TREE, "y ~ x", data[::-1]))
    few = sm.Logit(data["y"].to_numpy()[:70], sm.add_constant(data[["x"]].to_numpy()[:70])).fit(disp=False)
    with pytest.raises(DataError, match="'svm rbf' has 80 rows and 'logit' has 70; arrays have no labels"):
        compare(fit, few)


def test_other_responses_and_weights_are_refused(data, fit, logit):
    turned = data.assign(y=data["y"].where(data.index != "r6", 1 - data["y"]))
    with pytest.raises(
        DataError, match=r"the responses differ, first in row 'r6', where 'svm rbf' has \d and 'tree' has"
    ):
        compare(fit, tree=(TREE, "y ~ x", turned))
    with pytest.raises(DataError, match="their levels differ: 'svm rbf' has 0, 1, 'tree' has 'a', 'b', 'c'"):
        compare(fit, tree=(TREE, "kind ~ x", data))
    row = data.index[data["w"] != 1][0]
    with pytest.raises(
        DataError, match=f"the weights differ, first in row '{row}', where 'svm rbf' has . and 'logit' has 1"
    ):
        compare(svm("y ~ x + z", data, weights="w"), logit)


def test_what_is_no_model_is_refused(data, fit):
    with pytest.raises(ArgumentTypeError, match="the classifier DecisionTreeClassifier has no rows to be fitted to"):
        compare(fit, tree=TREE)
    with pytest.raises(ArgumentTypeError, match="an object of type str is no model that can be compared"):
        compare(fit, "logit")
    with pytest.raises(ArgumentTypeError, match=r"^fold: an object of type int is .* Options are folds, nested"):
        compare(fit, fit, fold=5)
    with pytest.raises(ArgumentError, match="there must be two to compare"):
        compare(fit)
    with pytest.raises(ArgumentError, match="the name 'svm rbf' is given to one model"):
        compare(fit, **{"svm rbf": fit})


@pytest.mark.parametrize(
    ("name", "value"), [("folds", 1), ("repeats", 0), ("nested", "yes"), ("n_jobs", 0), ("rng", -1)]
)
def test_other_arguments_are_checked(fit, logit, name, value):
    with pytest.raises(ArgumentError, match=f"^{name}={value!r} is not allowed"):
        compare(fit, logit, **{name: value})


def test_folds_need_rows_of_every_level(data):
    rare = data.assign(y=(data.index == "r1") | (data.index == "r2"))
    with pytest.raises(DataError, match="the level True of the response has 2 rows"):
        compare(svm("y ~ x + z", rare), tree=(TREE, "y ~ x + z", rare), folds=4)


@pytest.mark.parametrize(
    "options", [{"priors": {0: 0.5, 1: 0.5}}, {"costs": {"fp": 1.0, "fn": 4.0}}, {"nu": (0.4, 0.7)}]
)
def test_errors_of_rules_that_weigh_the_levels_otherwise_are_not_compared(options):
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=["x", "z"])
    data["y"] = (data["x"] + rng.logistic(size=90) > 0.8).astype(int)
    plain, other = svm("y ~ x + z", data), svm("y ~ x", data)
    weighed = svm("y ~ x + z", data, **options)
    found = compare(plain, other=other, weighed=weighed)
    assert found.table["mcnemar"].notna().tolist() == [False, True, False]
    text = " ".join(str(found).split())
    assert "No McNemar p of weighed: its rule weighs the levels otherwise than that of svm rbf" in text
    again = svm("y ~ x", data, **options)
    both = compare(weighed, again=again)
    assert both.table["mcnemar"].isna().all() and "McNemar p:" not in str(both)
    text = " ".join(str(both).split())
    assert "No McNemar p of again and svm rbf: their rules weigh the levels (costs," in text


def test_a_rule_is_the_same_whichever_level_is_called_the_event():
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=["x", "z"])
    data["y"] = np.where(data["x"] + rng.logistic(size=90) > 0.8, "yes", "no")
    first = svm("y ~ x + z", data, event="yes", costs={"fp": 1.0, "fn": 3.0})
    same, other = (svm("y ~ x", data, event="no", costs={"fp": cost, "fn": 4.0 - cost}) for cost in (3.0, 1.0))
    found = compare(first, same=same, other=other)
    assert found.table["mcnemar"].isna().all()
    text = " ".join(str(found).split())
    assert "No McNemar p of other: its rule weighs the levels otherwise" in text
    assert "No McNemar p of same and svm rbf: their rules weigh the levels" in text


def test_a_rule_is_the_same_whatever_the_order_of_the_levels():
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=["x", "z"])
    data["y"] = np.array(list("abc"))[(data["x"].to_numpy()[:, None] + rng.logistic(size=(90, 1)) > [-0.7, 0.7]).sum(1)]
    turned = data.assign(y=pd.Categorical(data["y"], ["c", "a", "b"]))
    weights = {"a": 1.0, "b": 2.0, "c": 5.0}
    found = compare(
        svm("y ~ x + z", data, class_weight=weights),
        same=svm("y ~ x", turned, class_weight=weights),
        other=svm("y ~ x", turned, class_weight={"a": 1.0, "b": 5.0, "c": 2.0}),
    )
    assert [each != found.thresholds[0] for each in found.thresholds] == [False, False, True]


def test_models_in_a_list_and_unknown_names(data):
    fit = svm("y ~ x", data)
    with pytest.raises(ArgumentError, match=r"the models are given one by one, .* of a list, compare\(\*models\)"):
        compare([fit, fit])
    with pytest.raises(ArgumentError, match="name='tree' is not allowed: it must be one of 'svm rbf', 'again'"):
        compare(fit, again=fit)["tree"]


def test_nested_refits_that_separate_are_told():
    data = sm.datasets.spector.load_pandas().data
    formula = "GRADE ~ GPA + TUCE + PSI"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logit = smf.logit(formula, data).fit(disp=False)
        found = compare(svm(formula, data, kernel="linear"), logit=logit, nested=True, rng=1)
    text = " ".join(str(found).split())
    assert "WARNING: logit: 8 predictions of nested refits gave what was observed next to no probability" in text
    assert "svm linear: 8" not in text and found.impossible[0] == 0
    assert "nested refits" not in str(compare(svm(formula, data, kernel="linear"), logit=logit))


def test_folds_of_tables_of_counts_are_refused():
    """They would hold out all of one level at a point; given row by row there is nothing against them."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.integers(1, 6, 300), "z": rng.integers(0, 3, 300)})
    rows["y"] = (0.8 * (rows["x"] - 3.0) + rng.logistic(size=300) > 0).astype(int)
    table = rows.groupby(["x", "z", "y"]).size().reset_index(name="count")
    both, one = (svm(formula, table, weights="count") for formula in ("y ~ x + z", "y ~ x"))
    for given, named in (({"folds": 5}, "folds=5"), ({"nested": True}, "nested=True")):
        with pytest.raises(DataError, match=rf"{named} holds out rows whole.*data\.index\.repeat"):
            compare(both, one, **given)
    alone, together = compare(both, one), compare(svm("y ~ x + z", rows), svm("y ~ x", rows))
    np.testing.assert_allclose(alone.table["score"], together.table["score"], rtol=1e-6)
    by_folds = compare(svm("y ~ x + z", rows), svm("y ~ x", rows), folds=5, rng=1)
    assert by_folds["svm rbf 1"].auc > 0.6


def numbers(n):
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=(2, n))
    return pd.DataFrame({"x": x, "z": z, "w": 200.0 * rng.lognormal(size=n), "y": (x + rng.logistic(size=n) > 0) * 1})


def test_weights_that_are_no_repeats_may_be_a_multiple_in_another_model():
    data = numbers(80)
    fit, binomial = svm("y ~ x + z", data, weights="w", weight_type="probability"), sm.families.Binomial()
    found = [
        compare(fit, glm=smf.glm("y ~ x + z", data, family=binomial, freq_weights=w).fit())
        for w in (data["w"], data["w"] / data["w"].mean())
    ]
    pd.testing.assert_frame_equal(found[0].table, found[1].table, rtol=1e-6)
    assert "Paired se: 2 sqrt(n/(n - 1) sum w^2" in " ".join(str(found[0]).split())


@pytest.mark.parametrize(("n", "size"), [(60, 10), (80, 2), (240, 40), (240, 2)])
def test_few_groups_are_told_and_not_their_rows(n, size):
    data = numbers(n).assign(g=np.arange(n) // size)
    text = " ".join(str(compare(svm("y ~ x", data, groups="g"), svm("y ~ z", data, groups="g"))).split())
    assert ("With fewer than 30 groups such standard errors are too small" in text) == (n // size < 30)
    assert "fewer than 100" not in text


@pytest.mark.parametrize("copies", [1, 4])
def test_few_rows_are_counted_with_their_copies(copies):
    counts = numbers(60).assign(w=copies)
    found = compare(svm("y ~ x", counts, weights="w"), svm("y ~ z", counts, weights="w"))
    assert ("fewer than 100" in " ".join(str(found).split())) == (copies == 1)


def test_a_slope_that_is_missing_has_a_reason():
    rng = np.random.default_rng(2)
    data = pd.DataFrame(rng.normal(size=(150, 3)), columns=["a", "b", "c"])
    data["y"] = (rng.random(150) < 0.3) ^ (data["c"] > 0.3)
    flat, linear = svm("y ~ a + b", data, gamma=0.3), smf.logit("y ~ c", data.astype({"y": int})).fit(disp=False)
    found = compare(flat, linear)
    assert list(found.table["calibration_slope"].isna()) == [True, False]
    assert "No slope of svm rbf: there are none where" in " ".join(str(found).split())
    other = smf.logit("y ~ c + a", data.astype({"y": int})).fit(disp=False)
    assert "No slope of" not in str(compare(linear, other))


def test_all_models_may_be_named():
    data = pd.DataFrame(np.random.default_rng(3).normal(size=(40, 2)), columns=["x", "z"])
    data["y"] = data["x"] > 0
    one, other = svm("y ~ x", data), svm("y ~ x + z", data)
    assert list(compare(small=one, large=other).table.index) == ["small", "large"]
    assert compare(first=one, second=other).names == ("first", "second")
    with pytest.raises(ArgumentError, match="one model is given"):
        compare(small=one)
    with pytest.raises(ArgumentError, match="no model is given"):
        compare()
    with pytest.raises(ArgumentTypeError, match="NoneType is no model"):
        compare(None, small=one)


def test_either_of_two_models_of_groups_may_come_first():
    """Fits number their groups by their own columns: folds go by the rows of the groups."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"x": rng.normal(size=90), "z": rng.normal(size=90), "g": rng.integers(25, size=90)})
    data["y"] = data.x + rng.logistic(size=90) > 0.3
    one, other = svm("y ~ x + z", data, groups="g"), svm("y ~ z", data, groups="g")
    options = {"folds": 5, "nested": True, "repeats": 1, "rng": 1}
    first, second = (compare(*models, **options).table for models in ((one, other), (other, one)))
    np.testing.assert_allclose(second["score"], first["score"].iloc[::-1], rtol=1e-9)
    np.testing.assert_allclose(second["delta_nested"].iloc[1], -first["delta_nested"].iloc[1], rtol=1e-7)
    turned = compare(svm("y ~ z + x", data.assign(x=-data.x), groups="g"), other, **options).table
    np.testing.assert_allclose(turned["score"], first["score"], rtol=1e-6)
