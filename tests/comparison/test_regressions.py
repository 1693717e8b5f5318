"""Leave-one-out of statsmodels results against statsmodels itself, fitted again without each row."""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from statsmodels.gam.api import BSplines, GLMGam

from svmstat import compare, svm
from svmstat.comparison.regressions import read_results
from svmstat.errors import ArgumentError, DataError

TOL = 1e-8  # statsmodels stops at gradients, or changes of the deviance, of 1e-12 or so
FIRST = range(12)
BINOMIAL = sm.families.Binomial()
links = sm.families.links


def probabilities(results, n_jobs=None):
    return read_results("it", results).one_by_one(n_jobs, progress=False).probability


def arrays(data):
    return data["y"].to_numpy(), sm.add_constant(data[["x", "z"]].to_numpy())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_logit(data, n_jobs):
    y, X = arrays(data)
    full = sm.Logit(y, X).fit(disp=False)
    found = probabilities(full, n_jobs)
    for k in FIRST:
        kept = np.arange(80) != k
        other = sm.Logit(y[kept], X[kept]).fit(disp=False, tol=1e-12)
        np.testing.assert_allclose(found[k, 1], other.predict(X[[k]])[0], atol=TOL)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-14)


@pytest.mark.parametrize(
    "link", [links.Logit(), links.Probit(), links.CLogLog(), links.Cauchy()], ids=lambda link: type(link).__name__
)
def test_glm_with_weights_and_offset(data, link):
    y, X = arrays(data)
    w, offset = data["w"].to_numpy(float), 0.2 * np.arange(80) / 80
    family = sm.families.Binomial(link)

    def fit(weights):
        return sm.GLM(y, X, family=family, freq_weights=weights, offset=offset).fit(tol=1e-14, maxiter=200)

    found = probabilities(fit(w))
    for k in FIRST:
        less = w - np.where(np.arange(80) == k, np.minimum(w[k], 1.0), 0.0)
        np.testing.assert_allclose(found[k, 1], fit(less).predict(X[[k]], offset=offset[[k]])[0], atol=TOL)


def test_multinomial_logit(data):
    X = sm.add_constant(data[["x", "z"]])
    full = sm.MNLogit(data["kind"], X).fit(disp=False)
    member = read_results("it", full)
    assert member.observed.levels == ("a", "b", "c")
    found = member.one_by_one(None, progress=False)
    for k in FIRST:
        kept = np.arange(80) != k
        other = sm.MNLogit(data["kind"][kept], X[kept]).fit(disp=False, tol=1e-12)
        np.testing.assert_allclose(found.probability[k], other.predict(X.iloc[[k]]).to_numpy()[0], atol=TOL)
    np.testing.assert_array_equal(found.winner, found.probability.argmax(axis=1))
    assert not found.failed.any()


def test_additive_model_with_its_smoother_and_alpha(data):
    y, X = arrays(data)
    smoother = BSplines(data[["x", "z"]], df=[6, 5], degree=[3, 3])

    def fit(kept, alpha=(0.5, 2.0)):
        model = GLMGam(y, exog=X[:, :1], smoother=smoother, alpha=list(alpha), family=BINOMIAL)
        weights = None if kept is None else kept.astype(float)
        return model.fit(tol=1e-13) if kept is None else model._fit_pirls(list(alpha), tol=1e-13, weights=weights)

    full = fit(None)
    found = probabilities(full)
    for k in FIRST:
        without = fit(np.arange(80) != k)
        eta = (full.model.exog @ np.asarray(without.params))[k]
        np.testing.assert_allclose(found[k, 1], 1.0 / (1.0 + np.exp(-eta)), atol=TOL)


def test_lots_are_left_out_together(data):
    y, X = arrays(data)
    lots = [np.array([1, 5, 9]), np.array([3])]
    said = read_results("it", sm.Logit(y, X).fit(disp=False)).without(lots, None, progress=False)
    for lot, each in zip(lots, said, strict=True):
        kept = ~np.isin(np.arange(80), lot)
        other = sm.Logit(y[kept], X[kept]).fit(disp=False, tol=1e-12)
        np.testing.assert_allclose(each.probability[:, 1], other.predict(X[lot]), atol=TOL)


def test_formulas_keep_the_labels_of_rows_and_levels(data):
    named = data.assign(outcome=np.where(data["y"] == 1, "yes", "no"))
    by_formula = smf.logit("y ~ x + z", data).fit(disp=False)
    member = read_results("it", by_formula)
    pd.testing.assert_index_equal(member.observed.index, data.index)
    of_factor = read_results("it", smf.glm("outcome ~ x + z", named, family=BINOMIAL).fit())
    assert of_factor.observed.levels == ("yes", "no")  # the first column of the factor is the success
    np.testing.assert_array_equal(of_factor.observed.codes, 1 - data["y"])
    np.testing.assert_allclose(
        of_factor.one_by_one(None, progress=False).probability[:, 0],
        member.one_by_one(None, progress=False).probability[:, 1],
        atol=TOL,
    )


def test_what_is_no_regression_of_classes_is_refused(data):
    y, X = arrays(data)
    for results in (sm.OLS(y, X).fit(), sm.GLM(y, X, family=sm.families.Poisson()).fit(), sm.Probit(y, X).fit(disp=0)):
        with pytest.raises(ArgumentError, match=r"^it: results of .* Logit, MNLogit, and GLM and GLMGam"):
            read_results("it", results)


def test_what_is_not_at_its_maximum_is_refused(data):
    y, X = arrays(data)
    shrunken = sm.Logit(y, X).fit_regularized(alpha=5.0, disp=False)
    with pytest.raises(ArgumentError, match="not at the maximum of its likelihood; linear predictors differ by 0"):
        read_results("it", shrunken)
    smoother = BSplines(data[["x"]], df=[6], degree=[3])
    options = {"smoother": smoother, "alpha": [1.0], "family": BINOMIAL, "freq_weights": 1.0 + data["w"].to_numpy()}
    ignored = GLMGam(y, X[:, [0, 2]], **options).fit()
    with pytest.raises(ArgumentError, match="freq_weights of a GLMGam, which its fit ignores"):
        read_results("it", ignored)


def test_counts_and_weights_that_are_no_repeats_are_refused(data):
    y, X = arrays(data)
    with pytest.raises(DataError, match=r"^it: the response must be 0 or 1"):
        read_results("it", sm.GLM(np.column_stack([y, 2 - y]), X, family=BINOMIAL).fit())
    with pytest.raises(DataError, match=r"^it: var_weights are not allowed"):
        read_results("it", sm.GLM(y, X, family=BINOMIAL, var_weights=np.full(80, 2.0)).fit())


@pytest.mark.parametrize("folds", [None, 5])
def test_separated_fits_know_nothing_of_what_is_left_out(folds):
    """Of noise with so many columns that the classes are separated a refit from there would know each label."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 50)), rng.integers(0, 2, 60) * 1.0
    data = pd.DataFrame(X, columns=[f"g{k}" for k in range(50)]).assign(y=y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        separated = sm.GLM(y, sm.add_constant(X), family=sm.families.Binomial()).fit()
        found = compare(svm("y ~ .", data, kernel="linear"), separated, folds=folds, rng=1)
    assert found.table["error_rate"].iloc[1] > 0.3 and found.table["auc"].iloc[1] < 0.7


@pytest.mark.parametrize("steps", [5, 15, 100])
def test_separated_classes_have_no_maximum_that_could_be_missed(steps):
    """However far statsmodels has gone, the refits do not converge either, and the comparison says so."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": np.r_[rng.normal(-3.0, 1.0, 20), rng.normal(3.0, 1.0, 20)], "y": np.repeat([0, 1], 20)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        separated = smf.glm("y ~ x", data, family=sm.families.Binomial()).fit(maxiter=steps)
    found = compare(svm("y ~ x", data), separated)
    assert found.evidence[1].n_failed == 40 and "as where classes can be separated" in " ".join(str(found).split())
