"""Fits of svmstat without some of their rows: a row of weight zero is no row."""

import numpy as np
import pytest

from svmstat import svm
from svmstat.comparison.machines import Machines

TOL = 1e-6  # decision values and probabilities by two certified fits


@pytest.mark.parametrize("calibration", ["loo", "insample"])
@pytest.mark.parametrize("settings", [{"C": 2.0, "gamma": 0.3}, {"kernel": "linear", "loss": "p0"}], ids=str)
@pytest.mark.parametrize("response", ["y", "kind"])
def test_each_lot_by_a_fit_in_which_it_has_no_weight(data, response, settings, calibration):
    weights = data["w"].to_numpy(float)
    how = {"scale": False, "calibration": calibration, **settings}
    fit = svm(f"{response} ~ x + z", data, weights=weights, **how)
    lots = [np.arange(0, 80, 7), np.array([3]), np.array([1, 2])]
    for lot, said in zip(lots, Machines("it", fit).without(lots, None, progress=False), strict=True):
        kept = weights.copy()
        kept[lot] = 0.0
        again = svm(f"{response} ~ x + z", data, weights=kept, **how)
        np.testing.assert_allclose(said.probability, again.predict_proba(data.iloc[lot]), atol=TOL)
        np.testing.assert_array_equal(np.array(fit.classes)[said.winner], again.predict(data.iloc[lot]))
        assert not said.failed.any()


@pytest.mark.parametrize("settings", [{"C": 2.0}, {"nu": 0.4}, {"nu": (0.3, 0.6), "kernel": "linear"}], ids=str)
def test_a_lot_of_one_row_is_its_deletion(data, settings):
    fit = svm("y ~ x + z", data, calibration="insample", **settings)
    lots, loo = [np.array([k]) for k in range(80)], fit.loo()
    said = Machines("it", fit).without(lots, 2, progress=False)
    np.testing.assert_allclose(np.concatenate([each.values for each in said]), loo.values, atol=TOL)
    np.testing.assert_allclose(np.concatenate([each.probability for each in said]), loo.probability, atol=TOL)


def test_one_by_one_is_the_leave_one_out_of_the_fit(data):
    fit = svm("kind ~ x + z", data, weights="w")
    said, loo = Machines("it", fit).one_by_one(None, progress=False), fit.loo()
    np.testing.assert_array_equal(said.probability, loo.probability)
    np.testing.assert_array_equal(said.winner, loo.winner)


def test_of_a_lost_class_nothing_is_known(data):
    fit = svm("kind ~ x + z", data)
    lost = np.flatnonzero(data["kind"] == "b")
    of_lost, of_other = Machines("it", fit).without([lost, np.array([0])], None, progress=False)
    assert np.isnan(of_lost.probability).all() and of_lost.failed.all() and (of_lost.winner == -1).all()
    assert not of_other.failed.any()
