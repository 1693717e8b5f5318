"""Held-out probabilities against fits and maps that were made without the row, one by one."""

import numpy as np
import pytest
from levels import COUPLINGS, matrix, sample, standardised

from svmstat import compare, svm
from svmstat.calibration import Maps, fit_platt

# A map by Newton's method from the full one and from nothing.
TOL = 1e-9
# The value of a reduced fit by the exact path and from nothing.
TOL_FIT = 1e-6


def by_hand(fit, values, out, k, copies):
    """Class probabilities of row k from ``values`` by maps without it; out: the values that they are made of."""
    machine, w = fit.machine, fit.frame.weights.copy()
    w[k] -= copies
    found = []
    for p, pair in enumerate(machine.pairs):
        y = pair.signs(fit.frame.codes)
        rows = (y != 0) & (w > 0)
        found.append(fit_platt(out[rows, p], y[rows], w[rows], "loo"))
    numbers = np.array([[each.slope, each.intercept] for each in found]).T
    totals = np.bincount(fit.frame.codes, w, len(fit.classes))
    coupling = fit.insample_maps.coupling
    maps = Maps(*numbers, np.ones(len(found), bool), machine.classes, totals, coupling, "loo")
    return maps.probabilities(values[k][None])[0]


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize("calibration", ["loo", "kfold"])
def test_a_loop_of_maps(calibration, coupling, K):
    data = sample(K, 50, seed=3)
    weights = np.resize([1.0, 2.5, 0.0, 0.4], 50)
    fit = svm("y ~ x + z", data, weights=weights, C=3.0, calibration=calibration, coupling=coupling)
    loo = fit.loo()
    out = fit.fitted_maps().by
    if calibration == "loo":
        np.testing.assert_array_equal(out, loo.values)
    for k in np.flatnonzero(weights > 0):
        expected = by_hand(fit, loo.values, out, k, min(weights[k], 1.0))
        np.testing.assert_allclose(loo.probability[k], expected, rtol=TOL, atol=TOL)
        assert loo.log_likelihood.iloc[k] == pytest.approx(np.log(expected[fit.frame.codes[k]]), rel=1e-7, abs=TOL)
    absent = weights == 0
    p = fit.predict_proba().to_numpy()
    np.testing.assert_allclose(loo.probability[absent], p[absent])
    assert loo.n_failed == 0


@pytest.mark.parametrize("calibration", ["insample", "loo", "venn-abers"])
def test_folds_are_fits_without_them(calibration, K):
    """With the map that each fit has by its own rows: nothing that is said of a fold depends on its labels."""
    data = standardised(sample(K, 60, seed=4))
    options = {"C": 2.0, "gamma": 0.5, "scale": False, "calibration": calibration}
    fit = svm("y ~ x + z", data, **options)
    folds = fit.kfold(4)
    assert folds.how == "4 folds"
    from_fits = 0
    for fold in range(4):
        rows = fit.splits(4).fold == fold
        refit = svm("y ~ x + z", data[~rows], **options)
        np.testing.assert_allclose(folds.values[rows], matrix(refit.decision_function(data[rows])), atol=TOL_FIT)
        np.testing.assert_allclose(folds.probability[rows], refit.predict_proba(data[rows]), atol=TOL_FIT)
        assert (folds.error[rows] == (refit.predict(data[rows]) != data["y"][rows])).all()
        from_fits += rows.sum()
    assert from_fits == 60
    by_compare = compare(fit, svm("y ~ x", data, **options), folds=fit.splits(4).fold)["svm rbf 1"]
    assert by_compare.score == pytest.approx(folds.score, rel=1e-12)


def test_folds_by_a_map_of_folds_have_that_of_the_other_rows(K):
    """calibration="kfold", as for many rows: no fit is made for the map but those of its five folds."""
    fit = svm("y ~ x + z", standardised(sample(K, 60, seed=4)), C=2.0, gamma=0.5, scale=False, calibration="kfold")
    folds, out = fit.kfold(4), fit.fitted_maps().by
    for k in range(0, 60, 7):
        np.testing.assert_allclose(folds.probability[k], by_hand(fit, folds.values, out, k, 1.0), rtol=TOL, atol=TOL)


def test_workers_and_repetition_change_nothing(K):
    fit, other = (svm("y ~ x + z", sample(K, 120, seed=5), calibration="kfold") for _ in range(2))
    first, again = fit.kfold(5, n_jobs=1), other.kfold(5, n_jobs=2)
    np.testing.assert_array_equal(first.probability, again.probability)
    assert fit.kfold(5).score == first.score
    np.testing.assert_array_equal(fit.predict_proba(), other.predict_proba())


def test_auto_is_by_leave_one_out_up_to_5000_rows(monkeypatch, K):
    data = sample(K, 60, seed=6)
    by_loo, by_folds, asked = (svm("y ~ x + z", data, calibration=kind) for kind in ("loo", "kfold", "auto"))
    monkeypatch.setattr("svmstat.results.calibrated.MOST_LEFT_OUT", 59)
    over = svm("y ~ x + z", data)
    assert over.calibration.kind == "kfold"
    np.testing.assert_array_equal(over.predict_proba(), by_folds.predict_proba())
    monkeypatch.undo()
    assert asked.calibration.kind == "loo"
    np.testing.assert_array_equal(asked.predict_proba(), by_loo.predict_proba())


def in_blocks(K):
    """Rows in three blocks, some of weight zero."""
    data = sample(K, 150, seed=6)
    data["block"] = np.arange(150) // 9 % 3
    weights = np.resize([1.0, 2.0, 0.0, 1.0], 150)
    return data, weights


@pytest.mark.parametrize("calibration", ["loo", "kfold", "insample", "venn-abers"])
def test_given_folds_are_refits_with_their_own_maps(calibration, K):
    """A block's labels say nothing about it, and its probabilities are those of a machine that never had it."""
    data, weights = in_blocks(K)
    data = standardised(data, ["x", "z"])
    options = {"C": 2.0, "gamma": 0.5, "scale": False, "calibration": calibration}
    fit = svm("y ~ x + z", data, weights=weights, **options)
    found = fit.kfold(data["block"])
    kept = (data["block"] != 1).to_numpy()
    out = ~kept & (weights > 0)
    refit = svm("y ~ x + z", data[kept], weights=weights[kept], **options)
    np.testing.assert_allclose(found.values[out], matrix(refit.decision_function(data[out])), atol=TOL_FIT)
    np.testing.assert_allclose(found.probability[out], refit.predict_proba(data[out]), atol=TOL_FIT)
    by_compare = compare(fit, svm("y ~ x", data, weights=weights, **options), folds=data["block"])["svm rbf 1"]
    assert by_compare.score == found.score and by_compare.null_score == found.null_score


def test_the_null_of_folds_is_of_rows_that_their_fits_have_seen(K):
    data, weights = in_blocks(K)
    fit = svm("y ~ x + z", data, weights=weights)
    for folds in (data["block"], 4):
        found, null = fit.kfold(folds), 0.0
        fold, codes = fit.splits(folds).fold, fit.frame.codes
        for k in np.flatnonzero(weights > 0):
            seen = np.bincount(codes[fold != fold[k]], weights[fold != fold[k]])
            null -= 2.0 * weights[k] * np.log(seen[codes[k]] / seen.sum())
        assert found.null_score == pytest.approx(null)
        assert found.rsquared == pytest.approx(1.0 - found.score / null)


@pytest.mark.parametrize(
    "formula", ["y ~ site + z + x", "y ~ x + z + C(site, levels=['c', 'a', 'b'])", "y ~ w + site + z"]
)
def test_the_folds_of_a_fit_know_neither_order_nor_sign_of_columns(formula, K):
    """A predictor turned round is the column w; the levels of a factor come in any order."""
    rng = np.random.default_rng(8)
    data = sample(K, 90, seed=7)
    data["site"] = np.array(list("abc"))[rng.integers(3, size=90)]
    data["w"] = -data["x"]
    fit, other = (svm(each, data, C=2.0, calibration="kfold") for each in ("y ~ x + z + site", formula))
    np.testing.assert_array_equal(other.splits(5).fold, fit.splits(5).fold)
    np.testing.assert_allclose(other.predict_proba(), fit.predict_proba(), atol=TOL_FIT)
    turned = data[::-1].reset_index(drop=True)
    np.testing.assert_array_equal(svm(formula, turned, C=2.0).splits(5).fold[::-1], fit.splits(5).fold)
