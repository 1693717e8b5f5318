"""Replicates against svm() with weights; what bootstrap, get_prediction and label sets refuse before any work."""

import re
from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from levels import matrix, sample, standardised

from svmstat import svm
from svmstat.calibration import fit_maps_of
from svmstat.errors import ArgumentError, DataError, UnavailableError

TOL_LOOP = 1e-6  # two certified fits of one sample, and what Platt's map makes of them


@pytest.fixture
def fit(K):
    return svm("y ~ x + z", sample(K, 40, seed=1))


WRONG = [
    ("bootstrap", {"B": 0}, "B=0 is not allowed: it must be an integer >= 1"),
    ("bootstrap", {"rng": -1}, "rng=-1 is not allowed"),
    ("bootstrap", {"n_jobs": 0}, "n_jobs=0 is not allowed"),
    ("get_prediction", {"B": 38}, "with level=0.95, B=38 is not allowed: it must be an integer >= 39"),
    ("get_prediction", {"B": True}, "B=True is not allowed"),
    ("get_prediction", {"level": 1.0}, "level=1.0 is not allowed: it must be a number between 0 and 1"),
    ("get_prediction", {"progress": 1}, "progress=1 is not allowed"),
    ("predict_set", {"level": 0.0}, "level=0.0 is not allowed"),
    ("label_sets", {"level": "0.9"}, "level='0.9' is not allowed"),
]


@pytest.fixture
def nothing_more_is_solved(fit, monkeypatch):
    def fail(*_, **__):
        raise AssertionError("something was solved")

    for module, name in (
        ("svmstat.results.uncertainty", "pairs_replicates"),
        ("svmstat.results.calibrated", "leave_one_out"),
    ):
        monkeypatch.setattr(import_module(module), name, fail)


@pytest.mark.parametrize(("method", "arguments", "message"), WRONG)
def test_arguments(fit, nothing_more_is_solved, method, arguments, message):
    with pytest.raises(ArgumentError, match=re.escape(message)):
        getattr(fit, method)(**arguments)


@pytest.mark.parametrize("name", ["params", "vcov", "confint"])
def test_coefficients_of_replicates_need_a_linear_kernel(fit, name):
    with pytest.raises(UnavailableError, match=rf"^{name}\(\) exists for kernel='linear' only"):
        getattr(fit.bootstrap(B=39, rng=1), name)()


@pytest.mark.parametrize("method", ["get_prediction", "label_sets", "predict_set"])
def test_new_rows(fit, nothing_more_is_solved, method):
    with pytest.raises(DataError, match="newdata has no column 'x'"):
        getattr(fit, method)(sample(2, 10).drop(columns="x"))


def test_weights_beyond_what_can_be_counted(K):
    data = sample(K, 40, seed=1)
    fit = svm("y ~ x + z", data.assign(w=1e16), weights="w", C=1e-16)
    for method in ("bootstrap", "get_prediction"):
        with pytest.raises(DataError, match="the weights add up to"):
            getattr(fit, method)()


def test_replicates_are_fits_to_weights(K):
    """Decision values of new rows, and the map of the copies that were not drawn: of w drawn c times w (1 − 1/w)^c."""
    data, new = (standardised(sample(K, n, seed=n)) for n in (60, 20))
    how = {"C": 2, "gamma": 0.5, "scale": False, "calibration": "insample"}
    found = svm("y ~ x + z", data, weights="w", **how).bootstrap(B=4, rng=2)
    f, groups, arrays = found.decision_function(new), found.fit.machine.groups, found.replicates
    assert not arrays.failed.all()
    for r in np.flatnonzero(~arrays.failed):
        weights = np.zeros((2, 60))
        weights[0, groups.first] = arrays.counts[r]
        left_out = groups.weights * (1.0 - 1.0 / groups.weights) ** arrays.counts[r]
        weights[1, groups.first] = np.where(left_out >= 0.5, left_out, 0.0)  # the weights are whole
        again = svm("y ~ x + z", data, weights=weights[0], **how)
        g = matrix(again.decision_function(new))
        np.testing.assert_allclose(f[r], g, rtol=0, atol=TOL_LOOP * max(1.0, np.abs(g).max()))
        if arrays.unmapped[r]:
            continue
        maps = fit_maps_of(replace(again.machine, weights=weights[1]), again.machine.decision_values, again.coupled_by)
        np.testing.assert_allclose(arrays.maps.slope[r, 0], maps.slope, rtol=TOL_LOOP, atol=TOL_LOOP)
        np.testing.assert_allclose(arrays.maps.intercept[r, 0], maps.intercept, rtol=TOL_LOOP, atol=TOL_LOOP)


def test_replicates_that_are_made_already(K):
    """Tables, intervals and covariances of the same replicates, of which there must be enough, and of this fit."""
    data = sample(K, 60, seed=1)
    fit, other = svm("y ~ x + z", data, kernel="linear"), svm("y ~ x", data, kernel="linear")
    made = fit.bootstrap(B=39, rng=1)
    for given, drawn in (
        (fit.get_prediction(B=made).summary_frame(), fit.get_prediction(B=39, rng=1).summary_frame()),
        (fit.confint(B=made).summary_frame(), fit.confint(B=39, rng=1).summary_frame()),
        (fit.vcov(B=made), fit.vcov(B=39, rng=1)),
    ):
        pd.testing.assert_frame_equal(given, drawn)
    for ask in (other.get_prediction, other.confint, other.vcov):
        with pytest.raises(ArgumentError, match="B is the bootstrap of another fit"):
            ask(B=made)
    with pytest.raises(ArgumentError, match=r"with level=0\.99, B=39 is not allowed"):
        fit.confint(level=0.99, B=made)


def test_a_generator_moves_on_and_a_seed_does_not(fit):
    rng = np.random.default_rng(3)
    first, second = (fit.bootstrap(B=3, rng=rng).replicates.counts for _ in range(2))
    assert (first != second).any()
    again = [fit.bootstrap(B=3, rng=3) for _ in range(2)]
    np.testing.assert_array_equal(again[0].replicates.counts, again[1].replicates.counts)
    assert again[0].replicates.seed.entropy == 3
    assert repr(again[0]).startswith("<Bootstrap: 3 replicates of drawn rows")


@pytest.mark.parametrize("K", [2], ids=["two"])
def test_fits_by_nu(fit):
    """The bounds of the 2ν form follow the counts."""
    by_nu = svm("y ~ x + z", sample(2, 40, seed=1), nu=(0.4, 0.4))
    found = by_nu.bootstrap(B=5, rng=1)
    f = found.decision_function()
    assert np.isfinite(f[~found.replicates.failed]).all() and found.n_failed < 5
    assert by_nu.predict_set().shape == (40, 2)
