"""What searches make as small as possible is what the fits say of themselves."""

from types import SimpleNamespace

import numpy as np
import pytest
from levels import platt, quiet, sample

from svmstat import svm
from svmstat.diagnostics.span import machine_span
from svmstat.errors import DataError
from svmstat.solver import Status
from svmstat.tuning.criteria import GACV, _point

ONE = {"C": [2.0], "gamma": [0.5]}
FIT = {"C": 2.0, "gamma": 0.5}


@pytest.mark.parametrize("calibration", ["insample", "loo", "venn-abers"])
def test_the_score_is_by_the_maps_that_the_fit_has(calibration):
    data = sample(2, 60, seed=3)
    loo = svm("y ~ x + z", data, calibration=calibration, **FIT).loo()
    row = quiet("y ~ x + z", data, calibration=calibration, **ONE).best_row
    assert row["score"] == pytest.approx(loo.score, rel=1e-9) and row["score_se"] == pytest.approx(loo.score_se)


@pytest.mark.parametrize("how", [{"groups": "g"}, {"groups": "g", "weights": "w"}])
def test_the_standard_error_of_a_score_is_over_groups(how):
    data = sample(2, 60, seed=3).assign(g=np.arange(60) // 5)
    loo, by_row = (svm("y ~ x + z", data, **given, **FIT).loo() for given in (how, how | {"groups": None}))
    row = quiet("y ~ x + z", data, **how, **ONE).best_row
    assert row["score_se"] == pytest.approx(loo.score_se) != pytest.approx(by_row.score_se, rel=0.01)


def test_the_apparent_error_of_a_search_counts_weights():
    data = sample(2, 60, seed=3, apart=0.5)
    fit = svm("y ~ x + z", data, weights="w", **FIT)
    assert quiet("y ~ x + z", data, weights="w", criterion="gacv", **ONE).best_row["error"] == fit.apparent_error
    unweighted = np.mean((fit.decision_values > 0).to_numpy() != (fit.frame.y > 0))
    assert unweighted != pytest.approx(fit.apparent_error, rel=0.01)


def test_the_span_loss_beside_a_score_is_the_mean_loss_of_what_the_span_predicts():
    data = sample(2, 60, seed=3)
    fit = svm("y ~ x + z", data, **FIT)
    row = quiet("y ~ x + z", data, further=["span_loss", "loo_loss"], **ONE).best_row
    loss = np.maximum(1.0 - fit.frame.y * machine_span(fit.machine)[:, 0], 0.0).mean()
    assert row["span_loss"] == pytest.approx(loss) and row["loo_loss"] == pytest.approx(fit.loo().mean_loss)


def test_one_pair_without_a_certificate_leaves_no_score():
    pairs = [
        SimpleNamespace(solution=SimpleNamespace(status=status, violation=violation))
        for status, violation in ((Status.CERTIFIED, 1e-10), (None, 3e-4))
    ]
    point = _point(GACV(), {}, SimpleNamespace(pairs=pairs, n_support=7.0), None, None)
    assert np.isnan(point.score) and point.n_support == 7.0
    assert point.reason == "the fit is not certified, its KKT violation is 0.0003"
    pairs[1].solution.violation = 1e-10
    point = _point(GACV(), {}, SimpleNamespace(pairs=pairs, n_support=7.0), None, None)
    assert point.reason == "the fit is not certified, rounding hides too much of f"


def test_the_deviance_by_the_span_is_by_platts_map_of_what_it_predicts():
    data = sample(2, 60, seed=3, apart=0.7)
    fit = svm("y ~ x + z", data, **FIT)
    f, y = machine_span(fit.machine)[:, 0], fit.frame.y
    slope, intercept = platt(f, y, np.ones(60))
    expected = 2.0 * np.logaddexp(0.0, y * (slope * f + intercept)).sum()
    assert quiet("y ~ x + z", data, criterion="span", **ONE).best_row["score"] == pytest.approx(expected, rel=1e-6)


@pytest.mark.filterwarnings("ignore::svmstat.errors.SvmstatWarning")
def test_a_level_of_one_row_among_three_has_no_score_by_the_span():
    data = sample(2, 40, seed=10)
    data.loc[7, ["y", "x", "z"]] = ["only", 4.0, 70.0]
    with pytest.raises(DataError, match="1 of 40 rows leave a class without any"):
        quiet("y ~ x + z", data, criterion="span", score="error", **ONE)
