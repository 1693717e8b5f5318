"""Predicted probabilities with their stability: what the replicates say, in frames, words and figures."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from levels import repeated, sample, standardised

from svmstat import svm
from svmstat.diagnostics import PredictionResult
from svmstat.diagnostics.band import Band, told_outside, why_lost
from svmstat.kernels import RBF

NUMBERS = ["prob", "se", "lower", "upper"]


@pytest.fixture
def fit(K):
    return svm("y ~ x + z", sample(K, 120, seed=2), C=2)


def of_event(fit, values, K):
    """Probabilities (…, m, K) as the numbers of a summary frame, in its order."""
    return values[..., fit.classes.index(fit.event)] if K == 2 else values.reshape(*values.shape[:-2], -1)


def test_it_is_what_the_replicates_say(fit, K):
    new = sample(K, 20, seed=3).set_axis([f"r{k}" for k in range(20)])
    replicates = fit.bootstrap(B=59, rng=5)
    found = fit.get_prediction(new, level=0.9, B=59, rng=5)
    frame = found.summary_frame()
    each = of_event(fit, replicates.predict_proba(new), K)
    each = each[~np.isnan(each).any(axis=1)]
    np.testing.assert_allclose(frame["prob"], of_event(fit, fit.predict_proba(new).to_numpy(), K))
    np.testing.assert_allclose(frame["se"], each.std(axis=0, ddof=1))
    ends = np.quantile(each, [0.05, 0.95], axis=0, method="weibull")
    np.testing.assert_allclose(frame[["lower", "upper"]].to_numpy().T, ends)
    assert found.n_failed == 59 - len(each)
    if K == 2:
        assert frame.columns.tolist() == NUMBERS and frame.index.equals(new.index)
    else:
        assert frame.columns.tolist() == ["level", *NUMBERS]
        assert frame.index.tolist() == np.repeat(new.index, K).tolist()
        one = frame[frame["level"] == fit.classes[1]]
        assert one.index.equals(new.index)
        np.testing.assert_allclose(one["prob"], fit.predict_proba(new)[fit.classes[1]])


def test_rows_of_the_fit_and_one_source_of_replicates(fit):
    replicates = fit.bootstrap(B=59, rng=6)
    own, again = fit.get_prediction(B=59, rng=6), replicates.get_prediction()
    pd.testing.assert_frame_equal(own.summary_frame(), again.summary_frame())
    assert own.index.equals(fit.frame.index)
    narrow = replicates.get_prediction(level=0.5)
    assert (narrow.spread.upper <= own.spread.upper).all() and (narrow.spread.lower >= own.spread.lower).all()
    assert replicates.decision_function().shape == (59, fit.n_rows, len(fit.pairs))


def test_weights_are_repeats(K):
    data = standardised(sample(K, 60, seed=2))
    how = {"C": 2, "gamma": 0.5, "scale": False}
    one = svm("y ~ x + z", data, weights="w", **how).get_prediction(data, B=39, rng=7).summary_frame()
    other = svm("y ~ x + z", repeated(data), **how).get_prediction(data, B=39, rng=7).summary_frame()
    pd.testing.assert_frame_equal(one, other, atol=1e-6)


def test_missing_predictors_and_no_row(fit, K):
    new = sample(K, 20, seed=3)
    whole = fit.get_prediction(new, B=39, rng=8).summary_frame()
    new.loc[3, "z"] = np.nan
    found = fit.get_prediction(new, B=39, rng=8)
    frame = found.summary_frame()
    assert (
        frame.loc[3, NUMBERS].isna().all(axis=None) and np.isnan(fit.bootstrap(3, 8).decision_function(new)[:, 3]).all()
    )
    pd.testing.assert_frame_equal(frame.drop(3), whole.drop(3))
    assert "without a prediction: 1" in " ".join(str(found).split())
    assert len(fit.get_prediction(new.head(0), B=39, rng=8).summary_frame()) == 0


@pytest.mark.filterwarnings("ignore::svmstat.errors.CalibrationWarning")
def test_a_level_of_one_row_leaves_no_replicate(lonely):
    """Its row is drawn, and not left out, or it is lost."""
    found = svm("y ~ x + z", lonely).get_prediction(B=39, rng=9)
    assert found.n_failed == 39
    assert found.summary_frame()["prob"].notna().all() and found.summary_frame()[NUMBERS[1:]].isna().all(axis=None)
    assert "39 of 39 replicates have no probabilities" in " ".join(str(found).split())


def test_ten_rows():
    data = sample(2, 10, seed=4).assign(y=np.tile(["a", "b"], 5))
    found = svm("y ~ x + z", data).get_prediction(B=199, rng=10)
    frame = found.summary_frame()
    assert 0 < found.n_failed <= 199 - 39
    assert (frame["lower"] <= frame["upper"]).all() and (frame["se"] > 0).all()


def test_words_and_figure(fit, K):
    found = fit.get_prediction(B=39, rng=11)
    assert isinstance(found, PredictionResult)
    text = " ".join(str(found).split())
    assert "stability of the estimate" in text and "no confidence interval for the true probability" in text
    assert "stability of the estimate" in repr(found) and "<table" in found._repr_html_()
    assert max(map(len, str(found).splitlines())) <= 78
    ax = found.plot()
    assert "stability of the estimate" in ax.get_title("left")
    assert len(ax.lines) == len(ax.collections) == (1 if K == 2 else K)
    for line in ax.lines:
        assert (np.diff(line.get_ydata()) >= 0).all()
    assert found.plot(ax=ax) is ax
    plt.close("all")


def test_intervals_that_leave_their_own_estimate_out_are_told():
    """Of levels far apart: maps of the rows that replicates left out are less extreme than that of the fit."""
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    data = pd.DataFrame({"x": rng.normal(size=100) + 8.0 * y, "y": y})
    apart = svm("y ~ x", data).get_prediction(data, B=59, rng=1)
    frame = apart.summary_frame()
    outside = (frame["prob"] < frame["lower"]) | (frame["prob"] > frame["upper"])
    assert outside.mean() > 0.1 and (apart.outside == outside.to_numpy()).all()
    shown = " ".join(str(apart).split())
    assert f"estimates outside: {outside.sum()}" in shown
    assert f"the estimate lies outside its interval in {outside.sum()} of 100 rows" in shown
    near = svm("y ~ x", data.assign(x=rng.normal(size=100) + y)).get_prediction(B=59, rng=1)
    assert "WARNING" not in str(near)


def test_effects_outside_their_own_bands_are_told():
    rng = np.random.default_rng(3)
    y = np.arange(60) % 2
    apart = svm("y ~ x", pd.DataFrame({"x": rng.normal(size=60) + 9.0 * y, "y": y}))
    made = apart.bootstrap(59, rng=1)
    told = 0
    for found in (apart.comparisons(B=made), apart.effects("x", B=made), apart.effects("x", kind="pdp", B=made)):
        band, shown = found.band, " ".join(str(found).split())
        outside = (found.estimate < band.lower) | (found.estimate > band.upper)
        many, where = outside.mean() > 0.1, f"{outside.sum()} of {outside.size} estimates"
        assert (f"the estimate lies outside its interval in {where}" in shown) == many
        told += many
    assert told > 0


def test_blank_cells_are_no_estimates():
    """They are not inside their intervals: of two that are shown one is outside."""
    estimate = np.array([[2.0], [0.5], *[[np.nan]] * 18])
    band = Band(np.zeros((20, 1)), np.ones((20, 1)), 0.95, 99, 0)
    assert band.told_of(estimate)[0].startswith("the estimate lies outside its interval in 1 of 2 estimates")
    assert band.told_of(np.where(estimate > 1.0, np.nan, estimate)) == ()


def test_a_figure_without_a_band_says_so(fit, K):
    found = replace(fit.get_prediction(B=39, rng=1), n_failed=1)
    nothing = np.full_like(found.probability, np.nan)
    ax = replace(found, spread=replace(found.spread, lower=nothing, upper=nothing)).plot()
    assert ax.get_title("left") == "no band: too few replicates have probabilities"
    plt.close(ax.figure)


def test_intervals_of_another_map_than_that_of_the_fit_are_said_to_be():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 2)), columns=["x", "z"]).assign(y=lambda d: d.x + rng.normal(size=60) > 0)
    told = "The map of this fit is of its own rows, calibration='insample'"
    for calibration in ("insample", "loo"):
        fit = svm("y ~ x + z", data, C=10, gamma=2, calibration=calibration)
        made = fit.bootstrap(39, rng=1)
        for found in (
            fit.get_prediction(B=made),
            fit.comparisons(B=made),
            fit.effects("x", B=made),
            fit.effects(B=made),
        ):
            assert (told in " ".join(str(found).split())) == (calibration == "insample")
        on_f = " ".join(str(fit.effects("x", B=made, on="decision")).split())
        assert told not in on_f and "drawn with replacement, averaged over the rows" in on_f


def test_maps_of_another_kind_and_flat_ones_are_told():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"]).assign(y=rng.random(200) < 0.45)
    flat = svm("y ~ a + b", data)
    assert flat.maps.slope[0] == 0.0
    steps = flat.update(calibration="venn-abers")
    for fit, told in ((flat, "The map from f to probabilities is flat"), (steps, "calibration='venn-abers'")):
        for printed in (fit.get_prediction(data[:3], B=39, rng=1), fit.effects("a", B=39, rng=1)):
            assert told in " ".join(str(printed).split())
    assert "Greatest minus least is above zero" not in " ".join(str(flat.effects()).split())
    assert "flat" not in str(flat.effects("a", on="decision"))


def test_a_band_leaves_out_whole_replicates_that_failed_in_part_and_tells_when_too_few_are_left():
    values = np.random.default_rng(0).normal(size=(45, 3))
    values[4, 1] = np.nan
    band = Band.of(values, 0.95)
    good = np.delete(values, 4, axis=0)
    assert band.n_failed == 1 and band.is_known
    np.testing.assert_allclose([band.lower, band.upper], np.quantile(good, [0.025, 0.975], axis=0, method="weibull"))
    values[:7, 2] = np.nan
    few = Band.of(values, 0.95)
    assert few.n_failed == 7 and not few.is_known and len(few.warnings) == 1 and np.isnan(few.lower).all()


@pytest.mark.parametrize(("outside", "told"), [(10, False), (11, True)])
def test_twice_the_share_of_estimates_outside_is_told(outside, told):
    assert bool(told_outside(np.arange(100) < outside, 0.95, "rows")) == told


def test_an_estimate_on_an_end_of_its_interval_is_inside():
    band = Band(np.zeros(4), np.ones(4), 0.95, 39, 0)
    assert band.outside(np.array([0.0, 1.0, -1e-9, 1.0 + 1e-9])).tolist() == [False, False, True, True]


def test_of_as_many_replicates_as_a_level_takes_none_may_fail():
    band = Band(np.zeros(1), np.ones(1), 0.95, 39, 0)
    assert band.is_known and band.warnings == () and "95 % of 39 replicates" in band.title
    for failed in (replace(band, n_failed=1), replace(band, B=38)):
        assert not failed.is_known and len(failed.warnings) == 1 and "38 replicates are too few" in failed.title
    assert "95 % of 39 replicates" in replace(band, B=41, n_failed=2).title
    assert told_outside(np.arange(100) < 20, 0.9, "rows") == () != told_outside(np.arange(100) < 21, 0.9, "rows")
    assert told_outside(np.arange(10) < 5, 0.75, "rows") == () != told_outside(np.arange(10) < 6, 0.75, "rows")


def test_replicates_with_too_few_rows_for_nu_are_said_to_have_them():
    data = sample(2, 60, seed=4)
    lost = svm("y ~ x + z", data, nu=(0.97, 0.97)).get_prediction(B=39, rng=1)
    assert lost.n_failed > 0
    told = " ".join(str(lost).split())
    assert "a class was not drawn, or too few of its rows for nu, or no row of it was left out; too few are" in told
    assert "for nu" not in why_lost(by_nu=False)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_beyond_the_values_of_the_fit_are_counted(K, weighted):
    data = sample(K, 120, seed=2)
    data["w"] = np.where(data["x"] == data["x"].max(), 0.0, 1.0) if weighted else 1.0
    fit = svm("y ~ x + z", data, C=2, weights="w" if weighted else None)
    replicates = fit.bootstrap(B=39, rng=1)
    told = "have a value beyond those of the fit's rows, of a predictor or of what the formula makes of some"
    new = data[data["w"] > 0].head(4).copy()
    within = replicates.get_prediction(new)
    assert within.beyond == 0 and "value beyond" not in str(within)
    new.loc[new.index[0], "x"], new.loc[new.index[1], "z"] = 99.0, -99.0
    new.loc[new.index[2], "x"] = np.nan
    found = replicates.get_prediction(new)
    assert found.beyond == 2 and f"2 rows {told}" in " ".join(str(found).split())
    alone = int((data["w"] == 0).sum())
    assert replicates.get_prediction(data).beyond == replicates.get_prediction().beyond == alone


def test_kernel_values_have_no_range():
    data = sample(2, 60, seed=2)
    X = data[["x", "z"]].to_numpy()
    table = pd.DataFrame(RBF(0.5)(X, X)).add_prefix("k").assign(y=data["y"].to_numpy())
    fit = svm("y ~ .", table, C=2, kernel="precomputed")
    assert fit.get_prediction(5.0 * table.head(3).drop(columns="y"), B=39, rng=1).beyond == 0
