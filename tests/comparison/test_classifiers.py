"""Classifiers without some of their rows."""

import time

import joblib
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from svmstat import compare, svm
from svmstat.comparison.classifiers import Classifiers, design_of, is_classifier, observed_of
from svmstat.errors import ArgumentTypeError, DataError, LongRunWarning, RefitWarning
from svmstat.resampling import loops

TOL = 1e-5  # scikit-learn stops at a gradient of 1e-10 of the mean loss
LOGISTIC = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)


def member(classifier, formula, data, weights=None):
    frame = design_of(formula, data, {})
    return Classifiers(observed_of("it", frame, weights), classifier, frame.X)


@pytest.mark.parametrize("response", ["y", "kind"])
@pytest.mark.parametrize("classifier", [LOGISTIC, make_pipeline(StandardScaler(), LOGISTIC)], ids=["alone", "scaled"])
def test_unpenalised_logistic_regression_is_that_of_statsmodels(data, response, classifier):
    X = sm.add_constant(data[["x", "z"]])
    model = sm.Logit if response == "y" else sm.MNLogit
    fit = svm(f"{response} ~ x + z", data)
    both = compare(fit, model(data[response], X).fit(disp=False), sklearn=(classifier, f"{response} ~ x + z", data))
    one, other = both.evidence[1:]
    np.testing.assert_allclose(one.probability, other.probability, atol=TOL)
    np.testing.assert_array_equal(one.winner, other.winner)


def test_every_row_by_the_classifier_without_it(data):
    tree = DecisionTreeClassifier(max_depth=3, random_state=1)
    found = member(tree, "kind ~ x + z", data).one_by_one(2, progress=False)
    X, y = data[["x", "z"]].to_numpy(), data["kind"].to_numpy()
    for k in range(10):
        kept = np.arange(80) != k
        again = DecisionTreeClassifier(max_depth=3, random_state=1).fit(X[kept], y[kept])
        np.testing.assert_array_equal(found.probability[k], again.predict_proba(X[[k]])[0])
        assert "abc"[found.winner[k]] == again.predict(X[[k]])[0]
    assert not hasattr(tree, "tree_")


def test_weights_are_repeats(data):
    counted = member(LOGISTIC, "y ~ x + z", data, data["w"].to_numpy(float)).without([np.array([4, 7])], None, False)
    repeated = data.loc[data.index.repeat(data["w"])]
    kept = repeated[~repeated.index.isin(["r4", "r7"])]
    fitted = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(kept[["x", "z"]], kept["y"])
    expected = fitted.predict_proba(data.loc[["r4", "r7"], ["x", "z"]])
    np.testing.assert_allclose(counted[0].probability, expected, atol=TOL)


def test_fractional_weights_are_refused(data):
    with pytest.raises(DataError, match=r"weight of row 'r3' is 0\.5: only whole numbers"):
        observed_of("it", design_of("y ~ x", data, {}), np.where(np.arange(80) == 3, 0.5, 1.0))


def test_of_a_lost_class_nothing_is_known(data):
    alone = data.assign(kind=data["kind"].where(data.index != "r9", "d"))
    found = member(LOGISTIC, "kind ~ x + z", alone).one_by_one(None, progress=False)
    lost = np.arange(80) == 9
    np.testing.assert_array_equal(np.isnan(found.probability).any(axis=1), lost)
    np.testing.assert_array_equal(found.failed, lost)
    assert found.winner[9] == -1


@pytest.mark.parametrize(("backend", "n_jobs"), [("threading", None), ("threading", 2), ("loky", 2)])
def test_warnings_of_refits_are_counted(data, backend, n_jobs):
    """Also those of other processes."""
    network = MLPClassifier(3, max_iter=2, random_state=0)
    told = r"^it: 80 warnings in 80 refits, the first a ConvergenceWarning: "
    with pytest.warns(RefitWarning, match=told) as caught, joblib.parallel_config(backend):
        member(network, "y ~ x + z", data).one_by_one(n_jobs, progress=False)
    assert not any(issubclass(each.category, ConvergenceWarning) for each in caught)


CODED = {
    "numbers": (lambda y: y + 1, 1),
    "in another order": (lambda y: pd.Categorical(y, [1, 0]), 1),
    "texts": (lambda y: np.where(y == 1, "yes", "no"), "yes"),
    "truth": (lambda y: y == 1, True),
    "plus and minus": (lambda y: 2.0 * y - 1.0, -1.0),
}


@pytest.mark.parametrize("coded", CODED)
def test_parameters_of_a_classifier_name_the_levels(data, coded):
    code, level = CODED[coded]
    data = data.assign(y=code(data["y"].to_numpy()))
    labels = np.asarray(data["y"])
    given = LogisticRegression(class_weight={**dict.fromkeys(np.unique(labels).tolist(), 1.0), level: 5.0}, tol=1e-8)
    found = member(given, "y ~ x + z", data).one_by_one(None, progress=False)
    X, levels = data[["x", "z"]].to_numpy(), design_of("y ~ x + z", data, {}).response.levels
    for k in range(0, 80, 9):
        kept = np.arange(80) != k
        again = clone(given).fit(X[kept], labels[kept])
        order = [again.classes_.tolist().index(each) for each in levels]
        np.testing.assert_allclose(found.probability[k], again.predict_proba(X[[k]])[0, order], atol=1e-6)
        assert levels[found.winner[k]] == again.predict(X[[k]])[0]


def test_levels_that_are_no_classes_for_others_are_their_codes(data):
    dates = data.assign(y=pd.Categorical(pd.to_datetime("2020-01-01") + pd.to_timedelta(data["y"], "D")))
    one, other = (member(LOGISTIC, "y ~ x + z", each).without([np.array([0])], None, False) for each in (data, dates))
    np.testing.assert_allclose(one[0].probability, other[0].probability, rtol=1e-12)


def test_what_is_not_fitted_anew_is_refused(data):
    """It has seen the rows that are left out, and would look perfect."""
    forest = RandomForestClassifier(5, random_state=0).fit(data[["x", "z"]].to_numpy(), data["y"])
    fit = svm("y ~ x + z", data)
    for frozen in (FrozenEstimator(forest), CalibratedClassifierCV(FrozenEstimator(forest))):
        with pytest.raises(DataError, match="m: a FrozenEstimator stays as it was fitted, and has seen the rows"):
            compare(fit, m=(frozen, "y ~ x + z", data))


class Remembers:
    """A classifier without scikit-learn's base class, which tells a row that it has met before."""

    def __init__(self, met=0.9):
        self.met = met

    def get_params(self, deep=True):
        return {"met": self.met}

    def fit(self, X, y):
        self.seen = np.vstack([getattr(self, "seen", np.empty((0, X.shape[1]))), X])
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        known = (X[:, None] == self.seen).all(axis=2).any(axis=1)
        return np.column_stack([1.0 - self.met * known, self.met * known])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_a_copy_has_the_parameters_and_not_the_fit(data):
    fitted = Remembers(0.7).fit(data[["x", "z"]].to_numpy(), data["y"].to_numpy())
    found = member(fitted, "y ~ x + z", data).one_by_one(None, progress=False)
    np.testing.assert_array_equal(found.probability, np.tile([1.0, 0.0], (80, 1)))


def row(p):
    return lambda self, X: np.tile(p, (len(X), 1))


WRONG = {
    "one column": (
        lambda self, X: np.full(len(X), 0.4),
        r"gives an array of shape \(1,\) for 1 rows: predict_proba must give",
    ),
    "a sum of three": (row([1.2, 1.8]), "gives 1.2, 1.8 for it: predict_proba must give a probability for each"),
    "negative": (row([-0.5, 1.5]), "gives -0.5, 1.5 for it"),
    "missing": (row([np.nan, np.nan]), "gives nan, nan for it"),
    "none at all": (lambda self, X: None, r"gives an array of shape \(\)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_are_no_probabilities_is_refused(data, name):
    wrong, match = WRONG[name]
    strange = type("Strange", (Remembers,), {"predict_proba": wrong, "predict": lambda self, X: np.zeros(len(X), int)})
    with pytest.raises(DataError, match=f"^it: the refit without row 'r0' {match}"):
        member(strange(), "y ~ x + z", data).one_by_one(None, progress=False)


def test_probabilities_in_single_precision_are_fine(data):
    single = type("Single", (LogisticRegression,), {"predict_proba": lambda self, X: np.float32([[0.1, 0.9]])})
    assert not member(single(), "y ~ x + z", data).one_by_one(None, progress=False).failed.any()


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_error_names_the_model_and_the_row(data, n_jobs):
    neighbours = KNeighborsClassifier(80)
    told = r"^it: the refit without row 'r0' failed: ValueError: Expected n_neighbors <= n_samples_fit"
    with pytest.raises(DataError, match=told):
        member(neighbours, "y ~ x + z", data).one_by_one(n_jobs, progress=False)
    eight = type("Eight", (Remembers,), {"predict": lambda self, X: np.full(len(X), 8)})
    with pytest.raises(DataError, match=r"without row 'r4' and 1 others failed: ValueError: 8 is none of the levels"):
        member(eight(), "y ~ x + z", data).without([np.array([4, 7])], None, False)


def test_a_stack_without_a_model_on_top_is_one(data):
    stack = StackingClassifier([("a", GaussianNB())], cv=2)
    assert is_classifier(stack)
    found = member(stack, "y ~ x + z", data).without([np.array([3])], None, False)[0]
    kept = np.arange(80) != 3
    X, y = data[["x", "z"]].to_numpy(), data["y"].to_numpy()
    np.testing.assert_allclose(found.probability, clone(stack).fit(X[kept], y[kept]).predict_proba(X[[3]]), rtol=1e-9)


def test_a_message_says_what_is_lacking(data):
    fit = svm("y ~ x + z", data)
    with pytest.raises(ArgumentTypeError, match=r"a tuple of 3 is no model .* LinearSVC has no predict_proba\.$"):
        compare(fit, (LinearSVC(), "y ~ x + z", data))


def test_whole_probability_weights_are_so_many_rows_in_any_order_of_models(data):
    data = data.assign(w=data["w"] + 1)
    fit = svm("y ~ x + z", data, weights="w", weight_type="probability")
    X = sm.add_constant(data[["x", "z"]])
    glm = sm.GLM(data["y"], X, family=sm.families.Binomial(), freq_weights=data["w"]).fit()
    given = {"m": (LOGISTIC, "y ~ x + z", data)}
    one, other = compare(fit, glm, **given), compare(glm, fit, **given)
    np.testing.assert_allclose(one.table["score"].sort_index(), other.table["score"].sort_index(), rtol=1e-9)


@pytest.mark.parametrize(
    "weighs",
    [
        LogisticRegression(class_weight={0: 1.0, 1: 4.0}),
        make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced")),
        FixedThresholdClassifier(LogisticRegression(), threshold=0.2),
    ],
    ids=["weights", "in a pipeline", "threshold"],
)
def test_errors_of_a_rule_that_weighs_the_levels_are_not_tested(data, weighs):
    fit = svm("y ~ x + z", data)
    found = compare(fit, plain=(LOGISTIC, "y ~ x + z", data), m=(weighs, "y ~ x + z", data))
    assert np.isnan(found.table["mcnemar"]["m"]) and np.isfinite(found.table["mcnemar"]["plain"])
    assert "No McNemar p of m: its rule weighs the levels" in " ".join(str(found.summary()).split())


class Slow(LogisticRegression):
    """It takes a tenth of a second."""

    def fit(self, X, y):
        time.sleep(0.1)
        return super().fit(X, y)


def test_long_runs_are_announced(data, monkeypatch):
    monkeypatch.setattr(loops, "LONG", 0.15)
    with pytest.warns(LongRunWarning, match=r"^it will take about .*, because 2 refits take some 0\.\d+ seconds each"):
        member(Slow(), "y ~ x + z", data).without([np.array([k]) for k in range(3)], None, progress=False)


def test_what_is_a_classifier():
    assert is_classifier(LOGISTIC) and is_classifier(make_pipeline(StandardScaler(), LOGISTIC))
    assert not is_classifier(LogisticRegression) and not is_classifier(StandardScaler()) and not is_classifier("tree")


def test_a_dot_does_not_stand_for_the_folds():
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"block": np.arange(60) // 10, "x": rng.normal(size=60), "z": rng.normal(size=60)})
    data["y"] = data["x"] + data["block"] + rng.normal(size=60) > 2
    fit = svm("y ~ x", data)
    scores = [
        compare(fit, (LogisticRegression(), f"y ~ {right}", data), folds="block").table["score"].iloc[1]
        for right in (".", "x + z", "x + z + block")
    ]
    assert scores[0] == scores[1] != scores[2]
