"""The tools of scikit-learn, and those that explain its estimators, on the estimator."""

import importlib
import warnings

import joblib
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import sklearn
from levels import sample
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  makes the next line work
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import PartialDependenceDisplay, partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    LeaveOneOut,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from svmstat import compare, svm
from svmstat.kernels import RBF, Linear
from svmstat.sklearn import SVMClassifier

mpl.use("Agg")
CV = StratifiedKFold(3, shuffle=True, random_state=0)


@pytest.fixture(params=[2, 3])
def data(request):
    return sample(request.param, 90)


@pytest.fixture
def X(data):
    return data[["x", "z", "site"]]


@pytest.fixture
def y(data):
    return data["y"]


@pytest.fixture(scope="module")
def shap():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what it uses of matplotlib when it is imported
        return importlib.import_module("shap")


def test_search(X, y):
    grid = [{"kernel": ["rbf", "linear"], "C": [0.5, 4.0]}, {"kernel": [RBF() + Linear()], "formula": ["x", "x + z"]}]
    search = GridSearchCV(SVMClassifier(), grid, cv=CV, scoring=["accuracy", "neg_log_loss"], refit="neg_log_loss")
    search.fit(X, y)
    best = search.best_estimator_
    assert np.isfinite(search.cv_results_["mean_test_neg_log_loss"]).all()
    assert best.result_.nobs == len(X)
    p = best.predict_proba(X)
    p = p if p.shape[1] > 2 else p[:, 1]  # of two levels the scorer gives the loss one column
    assert search.score(X, y) == -log_loss(y, p, labels=best.classes_)


def test_halving(X, y):
    search = HalvingGridSearchCV(SVMClassifier(), {"C": [0.1, 1.0, 10.0]}, cv=CV, factor=2, random_state=1)
    assert search.fit(X[["x", "z"]], y).best_params_["C"] in (0.1, 1.0, 10.0)


def test_leave_one_out_is_that_of_the_fit():
    """With the scaling and the width of the whole fit, which `loo` keeps, they are the same refits."""
    data = sample(2, 40)
    fit = svm("y ~ x + z", data, C=4.0)
    machine = SVMClassifier(C=4.0, gamma=fit.kernel.gamma, scale=False)
    found = cross_val_predict(machine, fit.frame.X, data["y"], cv=LeaveOneOut(), method="decision_function")
    np.testing.assert_allclose(found, fit.loo().decision_values, atol=1e-7)
    scores = cross_val_score(machine, fit.frame.X, data["y"], cv=LeaveOneOut())
    assert 1 - scores.mean() == pytest.approx(fit.loo().error_rate, abs=1e-12)


def test_predictions_of_folds(X, y):
    p = cross_val_predict(SVMClassifier(), X, y, cv=CV, method="predict_proba")
    assert p.shape == (len(y), y.nunique())
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    sizes, _, held_out = learning_curve(SVMClassifier(), X, y, cv=CV, train_sizes=[0.5, 1.0], shuffle=True)
    assert held_out.shape == (len(sizes), 3)
    assert held_out[-1].mean() == cross_val_score(SVMClassifier(), X, y, cv=CV).mean()


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("ensemble", [True, False])
def test_calibration(X, y, method, ensemble):
    calibrated = CalibratedClassifierCV(SVMClassifier(), method=method, cv=CV, ensemble=ensemble).fit(X, y)
    assert calibrated.classes_.tolist() == sorted(y.unique())
    assert accuracy_score(y, calibrated.predict(X)) > 0.6


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_pipeline(X, y, output):
    columns = ColumnTransformer(
        [("numbers", StandardScaler(), ["x", "z"]), ("site", OneHotEncoder(sparse_output=False), ["site"])],
        verbose_feature_names_out=False,
    )
    pipeline = make_pipeline(columns, SVMClassifier(C=4.0)).set_output(transform=output).fit(X, y)
    machine = pipeline[-1]
    named = ["x", "z", "site_east", "site_north", "site_south"]
    assert machine.columns_ == (named if output == "pandas" else [f"x{k}" for k in range(5)])
    alone = SVMClassifier(C=4.0).fit(X, y)
    np.testing.assert_allclose(pipeline.decision_function(X), alone.decision_function(X), atol=1e-5)
    assert pipeline.score(X, y) == alone.score(X, y)


def test_a_formula_in_a_pipeline(X, y):
    columns = ColumnTransformer([("numbers", StandardScaler(), ["x", "z"])], verbose_feature_names_out=False)
    pipeline = make_pipeline(columns, SVMClassifier(formula="s(x) + z")).set_output(transform="pandas").fit(X, y)
    assert pipeline[-1].result_.formula.endswith("~ s(x) + z")


def test_ensembles(X, y):
    members = [("machine", SVMClassifier()), ("line", make_pipeline(OneHotEncoder(), LogisticRegression()))]
    for voting in ("hard", "soft"):
        assert VotingClassifier(members, voting=voting).fit(X[["site"]].assign(x=X["x"].round()), y).score(
            X[["site"]].assign(x=X["x"].round()), y
        ) > 1 / y.nunique()  # fmt: skip


def test_selection(X, y):
    chosen = SequentialFeatureSelector(SVMClassifier(), n_features_to_select=1, cv=CV).fit(X[["x", "z"]], y)
    assert chosen.get_support().sum() == 1


@pytest.mark.parametrize("formula", [None, "x*site"])
def test_explained(data, X, y, formula):
    machine = SVMClassifier(formula=formula, C=4.0).fit(X, y)
    found = permutation_importance(machine, X, y, n_repeats=3, random_state=0, scoring="neg_log_loss")
    assert (found.importances[1] == 0.0).all() == (formula is not None)  # z is not in the formula
    target = {"target": machine.classes_[-1]} if y.nunique() > 2 else {}
    drawn = PartialDependenceDisplay.from_estimator(machine, X, ["x", "site"], categorical_features=["site"], **target)
    assert len(drawn.bounding_ax_.figure.axes) >= 3
    plt.close("all")
    averaged = partial_dependence(machine, X, ["x"], grid_resolution=5, response_method="predict_proba")
    ours = machine.result_.effects("x", kind="pdp", grid=averaged["grid_values"][0].tolist()).summary_frame()
    last = ours[ours["level"] == machine.classes_[-1]] if "level" in ours else ours
    np.testing.assert_allclose(averaged["average"][-1], last["estimate"], atol=1e-12)


@pytest.mark.parametrize("formula", [None, "x + np.exp(z / 50)"])
def test_shap(shap, X, y, formula):
    numbers = X[["x", "z"]]
    machine = SVMClassifier(formula=formula, C=4.0).fit(numbers, y)
    explainer = shap.KernelExplainer(machine.predict_proba, numbers[:20])
    values = explainer.shap_values(numbers[:4], l1_reg=False, silent=True)
    assert values.shape == (4, 2, y.nunique())
    given = machine.predict_proba(numbers[:4])
    np.testing.assert_allclose(values.sum(axis=1) + explainer.expected_value, given, atol=1e-9)


def test_metadata_are_routed(X, y, data):
    weights = data["w"] + 0.5
    with sklearn.config_context(enable_metadata_routing=True):
        machine = SVMClassifier().set_fit_request(sample_weight=True)
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        found = cross_validate(
            machine, X, y, params={"sample_weight": weights}, cv=CV, scoring=scorer, return_estimator=True
        )
    for estimator, (train, _) in zip(found["estimator"], CV.split(X, y), strict=True):
        assert estimator.result_.nobs == pytest.approx(weights.iloc[train].sum())


def test_groups_are_held_out_together(X, y, data):
    groups = np.arange(len(y)) // 3
    with sklearn.config_context(enable_metadata_routing=True):
        machine = SVMClassifier(C=4.0).set_fit_request(groups=True)
        found = cross_validate(machine, X, y, params={"groups": groups}, cv=GroupKFold(3), return_estimator=True)
    for estimator, (train, _) in zip(found["estimator"], GroupKFold(3).split(X, y, groups), strict=True):
        assert estimator.result_.n_groups == len(np.unique(groups[train]))
    alone, together = (SVMClassifier(C=4.0).fit(X, y, groups=given) for given in (None, groups))
    np.testing.assert_array_equal(alone.decision_function(X), together.decision_function(X))
    assert (alone.predict_proba(X) != together.predict_proba(X)).any()


def test_a_gram_matrix_is_cut_in_rows_and_columns(X, y):
    points = X[["x", "z"]].to_numpy() / 10
    given = cross_val_score(SVMClassifier(kernel="precomputed"), points @ points.T, y, cv=CV)
    assert (given == cross_val_score(SVMClassifier(kernel="linear", scale=False), points, y, cv=CV)).all()


def test_workers_and_pickles(X, y, tmp_path):
    machine = SVMClassifier(formula="x + poly(z, 3)").fit(X, y)
    joblib.dump(machine, tmp_path / "machine.joblib")
    again = joblib.load(tmp_path / "machine.joblib")
    np.testing.assert_array_equal(again.predict_proba(X), machine.predict_proba(X))
    with joblib.parallel_config("threading"):
        scores = cross_val_score(clone(machine), X, y, cv=CV, n_jobs=2)
    assert (scores == cross_val_score(clone(machine), X, y, cv=CV)).all()


def test_a_frozen_fit(data, X, y):
    fit = svm("y ~ x + z + site", data)
    calibrated = CalibratedClassifierCV(FrozenEstimator(fit.as_estimator()), method="sigmoid").fit(X, y)
    assert (calibrated.predict(X) == fit.predict(data)).mean() > 0.8
    assert calibrated.calibrated_classifiers_[0].estimator.result_ is fit


def test_beside_other_models(data):
    machine = SVMClassifier(C=4.0)
    fit = svm("y ~ x + z", data, C=4.0)
    table = compare(fit, machine=(machine, "y ~ x + z", data)).table
    assert table.loc["machine", "error_rate"] == pytest.approx(fit.loo().error_rate, abs=0.05)


@pytest.mark.parametrize("kind", [">i8", ">f8", "float16", "longdouble"])
def test_labels_of_any_type_of_numbers(kind):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
    found = SVMClassifier().fit(X, y.astype(kind))
    np.testing.assert_array_equal(found.predict(X), SVMClassifier().fit(X, y).predict(X))
    assert found.predict(X).dtype == found.classes_.dtype == np.dtype(kind)
