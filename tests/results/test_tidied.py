"""tidy(), glance() and augment(): broom's columns, and nothing in them that the fit does not say elsewhere."""

import numpy as np
import pandas as pd
import pytest
from levels import matrix, sample

from svmstat import svm
from svmstat.errors import ArgumentError, ArgumentTypeError, DataError, UnavailableError

SPREAD = ["std_error", "conf_low", "conf_high"]


@pytest.fixture
def data(K):
    return sample(K, 60, seed=2).set_axis([f"r{k}" for k in range(60)])


@pytest.fixture
def fit(data):
    return svm("y ~ x + z", data, kernel="linear", weights="w")


def columns(found, start):
    return [name for name in found if name.startswith(start)]


def test_tidy(fit, K):
    of_pair = [] if K == 2 else ["positive", "negative"]
    plain = fit.tidy()
    assert plain.columns.tolist() == [*of_pair, "term", "estimate"]
    np.testing.assert_array_equal(plain["estimate"], np.ravel(fit.params, "F"))
    assert plain["term"].tolist() == ["Intercept", "x", "z"] * len(fit.pairs)
    replicates = fit.bootstrap(B=19, rng=1)
    found = fit.tidy(replicates, level=0.9)
    assert found.columns.tolist() == [*plain.columns, *SPREAD]
    pd.testing.assert_frame_equal(found[plain.columns], plain)
    np.testing.assert_array_equal(found[SPREAD], replicates.confint(0.9).summary_frame()[["se", "lower", "upper"]])


def test_tidy_is_for_linear_fits(data):
    with pytest.raises(UnavailableError, match=r"tidy\(\) exists for kernel='linear' only.*drop1\(\)"):
        svm("y ~ x + z", data).tidy()


@pytest.mark.parametrize("K", [2], ids=["two"])
def test_replicates_of_another_fit(fit):
    other = fit.update(C=3).bootstrap(B=39, rng=1)
    for wrong in (other, 199):
        with pytest.raises(ArgumentError, match="what the method bootstrap"):
            fit.tidy(wrong)
    with pytest.raises(ArgumentError, match="B=19 is not allowed: it must be an integer >= 39"):
        fit.tidy(fit.bootstrap(B=19, rng=1))


def test_glance(fit, K):
    row, loo = fit.glance(loo=True).iloc[0], fit.loo()
    support = pd.Series(fit.frame.weights, fit.frame.index)[fit.support].sum()
    same = {
        "kernel": "linear", "C": 1.0, "null_deviance": fit.null_deviance, "log_lik": fit.llf, "deviance": fit.deviance,
        "nobs": fit.nobs, "n_support": support, "held_out": "leave-one-out", "cv_score": loo.score,
        "cv_score_se": loo.score_se, "r_squared": loo.rsquared, "r_squared_se": loo.rsquared_se, "brier": loo.brier,
        "brier_se": loo.brier_se, "error_rate": loo.error_rate, "error_rate_se": loo.error_rate_se,
        "kkt_violation": fit.kkt_violation, "converged": True,
    }  # fmt: skip
    if K == 2:
        same |= {"auc": loo.auc, "auc_se": loo.auc_se, "calibration_slope": loo.calibration_slope}
    else:
        same |= {f"auc_{level}": loo.auc[level] for level in fit.classes}
        same |= {f"calibration_slope_{level}_se": loo.calibration_slope_se[level] for level in fit.classes}
    assert {name: row[name] for name in same} == same
    assert np.isnan(row["gamma"]) and not {"p_value", "df", "aic"} & set(row.index)


def test_glance_without_held_out_rows(data):
    """The columns are the same, so that rows of several fits can be put below one another."""
    fit = svm("y ~ x + z", data, gamma=0.5)
    missing = fit.glance(loo=False)
    assert missing["held_out"].isna().all() and missing[columns(missing, "cv_")].isna().all(axis=None)
    assert missing["gamma"].item() == 0.5
    known = fit.glance(loo=True)
    assert missing.columns.equals(known.columns) and len(known) == 1


def test_augment_rows_of_the_fit(fit, K):
    found, loo = fit.augment(), fit.loo()
    assert found.columns[:3].tolist() == fit.model_frame.columns.tolist()
    assert found.index.equals(fit.frame.index)
    for start, values in (
        (".fitted", fit.fittedvalues), (".decision", fit.decision_values), (".held_out", loo.prob),
        (".resid", fit.residuals()),
    ):  # fmt: skip
        np.testing.assert_array_equal(matrix(found[columns(found, start)]), matrix(values), err_msg=start)
    np.testing.assert_array_equal(found[".outlyingness"], -2.0 * loo.log_likelihood)
    pd.testing.assert_series_equal(found[".class"], fit.predict(), check_names=False)
    several = [".fitted", ".decision", ".held_out", ".resid"]
    if K == 2:
        assert found.columns[3:].tolist() == [".fitted", ".class", *several[1:], ".outlyingness"]
    else:
        assert columns(found, ".resid") == [f".resid_{level}" for level in fit.classes]
        assert columns(found, ".decision") == [f".decision_{i}_{j}" for i, j in fit.pairs]


def test_augment_new_rows(fit, K):
    """All columns stay; residuals are of the probabilities that new rows are given."""
    new = sample(K, 20, seed=5)
    new.loc[3, "x"], new.loc[4, "y"] = np.nan, None
    found = fit.augment(new)
    pd.testing.assert_frame_equal(found[new.columns], new)
    p = fit.predict_proba(new)
    np.testing.assert_array_equal(
        found[columns(found, ".fitted")], p[[fit.event]] if K == 2 else p, err_msg="probabilities of new rows"
    )
    r, levels = matrix(found[columns(found, ".resid")]), [fit.event] if K == 2 else fit.classes
    for k, level in enumerate(levels):
        sign = np.where(new["y"] == level, 1.0, -1.0)
        seen = np.where(new["y"] == level, p[level], 1.0 - p[level])
        seen[4] = np.nan
        np.testing.assert_allclose(r[:, k], sign * np.sqrt(-2.0 * np.log(seen)))
    assert found.loc[3, columns(found, ".")].isna().all()
    assert found.loc[4, columns(found, ".fitted")].notna().all()
    assert columns(fit.augment(new.drop(columns="y")), ".resid") == []


def test_pairs_whose_names_would_be_the_same_are_quoted():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=48), "y": ["a", "a_b", "b_c", "c"] * 12})
    found = svm("y ~ x", data).augment()
    assert found.columns.is_unique
    assert {".decision_'a'_'b_c'", ".decision_'a_b'_'c'", ".fitted_a_b"} <= set(found)


@pytest.mark.parametrize("K", [2], ids=["two"])
def test_columns_that_are_there_already(fit, data):
    again = fit.augment(data)
    with pytest.raises(DataError, match=r"the data have a column '\.fitted' already"):
        fit.augment(again)
    with pytest.raises(ArgumentTypeError, match="newdata"):
        fit.augment([1, 2])
