"""Classifiers without some of their rows."""

import time

import joblib
import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from svmstat import compare, svm
from svmstat.comparison.classifiers import Classifiers, design_of, is_classifier, observed_of
from svmstat.errors import DataError, LongRunWarning, RefitWarning
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
