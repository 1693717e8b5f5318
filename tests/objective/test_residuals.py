"""Residuals: their definitions, statsmodels' numbers, and normal quantiles where the probabilities are true."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import kstest, norm

from svmstat.objective.residuals import KINDS, residuals


def test_those_of_a_logistic_model():
    rng = np.random.default_rng(1)
    X = sm.add_constant(rng.normal(size=(80, 2)))
    y = rng.random(80) < 0.4
    fit = sm.GLM(y.astype(float), X, family=sm.families.Binomial()).fit()
    theirs = {"response": fit.resid_response, "pearson": fit.resid_pearson, "deviance": fit.resid_deviance}
    for kind, values in theirs.items():
        np.testing.assert_allclose(residuals(kind, y, fit.fittedvalues, rng), values, rtol=1e-9)


def test_quantile_residuals_are_normal_where_the_probabilities_are_true():
    rng = np.random.default_rng(2)
    p = rng.beta(0.5, 2.0, 4000)
    observed = rng.random(4000) < p
    found = residuals("quantile", observed, p, np.random.default_rng(3))
    assert kstest(found, "norm").pvalue > 0.01
    assert kstest(residuals("quantile", observed, p**2, np.random.default_rng(3)), "norm").pvalue < 1e-6
    inside = norm.cdf(found) > 1.0 - p
    np.testing.assert_array_equal(inside, observed)


def test_extremes_and_gaps():
    p, observed = np.array([0.0, 1.0, 0.0, 1.0, np.nan, 1e-300]), np.array([False, True, True, False, True, True])
    found = {kind: residuals(kind, observed, p, np.random.default_rng(0)) for kind in KINDS}
    for kind in KINDS:
        assert np.isnan(found[kind][4])
    np.testing.assert_array_equal(found["response"][:4], [0.0, 0.0, 1.0, -1.0])
    np.testing.assert_array_equal(found["pearson"][:4], [0.0, 0.0, np.inf, -np.inf])
    np.testing.assert_array_equal(found["deviance"][:4], [0.0, 0.0, np.inf, -np.inf])
    np.testing.assert_array_equal(found["quantile"][2:4], [np.inf, -np.inf])
    assert found["quantile"][5] == pytest.approx(37.0, abs=1.0) and np.isfinite(found["quantile"][:2]).all()
