"""The labels, the refusals and the printout of reliability; its numbers are those of svmstat.calibration.corp."""

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from levels import sample

from svmstat import svm
from svmstat.calibration import recalibrate
from svmstat.diagnostics import reliability
from svmstat.errors import ArgumentError, DataError

LEVELS = ("low", "middle", "high", "_top")


def drawn(K, n=120, seed=0):
    """Probabilities (n, K) and the levels drawn from them."""
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet(np.ones(K), n)
    return prob, (rng.random(n)[:, None] > np.cumsum(prob, axis=1)).sum(axis=1)


def of(K, event=None, weights=None, **options):
    prob, codes = drawn(K)
    w = np.ones(len(codes)) if weights is None else weights
    return reliability(prob, codes, w, LEVELS[:K], event, **{"rng": 1, **options})


@pytest.mark.parametrize(("K", "event", "shown"), [(2, 1, [1]), (2, None, [0, 1]), (3, None, [0, 1, 2]), (3, 2, [2])])
def test_each_level_is_compared_with_the_rest(K, event, shown):
    prob, codes = drawn(K)
    found = of(K, event)
    assert found.levels == tuple(LEVELS[k] for k in shown) == tuple(found.table.index)
    for k, (_, row) in zip(shown, found.table.iterrows(), strict=True):
        brier = recalibrate(prob[:, k], codes == k, np.ones(120)).brier
        assert row["brier"] == pytest.approx(((prob[:, k] - (codes == k)) ** 2).mean())
        parts = row[["brier", "miscalibration", "discrimination", "uncertainty"]]
        assert parts.tolist() == [brier.score, brier.miscalibration, brier.discrimination, brier.uncertainty]
        assert row["log_score"] == pytest.approx(
            row["log_miscalibration"] - row["log_discrimination"] + row["log_uncertainty"]
        )


def test_two_levels_mirror_each_other():
    """The table is the same for either level, up to the outcomes that are drawn, and the curves are turned round."""
    table, points = of(2).table, of(2).summary_frame()
    parts = ["brier", "miscalibration", "discrimination", "uncertainty", "log_score"]
    np.testing.assert_allclose(table.iloc[0][parts], table.iloc[1][parts])
    low, middle = (points[points["level"] == name] for name in LEVELS[:2])
    np.testing.assert_allclose(low["recalibrated"], 1 - middle["recalibrated"][::-1])


def test_points_and_the_share_outside():
    found = of(3)
    points = found.summary_frame()
    assert list(points) == ["level", "predicted", "recalibrated", "weight", "lower", "upper"]
    out = (points["recalibrated"] < points["lower"]) | (points["recalibrated"] > points["upper"])
    expected = (out * points["weight"]).groupby(points["level"]).sum() / 120
    pd.testing.assert_series_equal(found.table["share_outside"].sort_index(), expected, check_names=False)
    mean = [band.miscalibration.mean() for band in found.bands]
    assert found.table["miscalibration_if_calibrated"].tolist() == mean


def test_the_seed_makes_the_band():
    once, again = of(3, rng=np.random.default_rng(5)), of(3, rng=np.random.default_rng(5))
    pd.testing.assert_frame_equal(once.table, again.table)
    pd.testing.assert_frame_equal(once.table, of(3, rng=once.seed).table)
    assert not np.array_equal(once.bands[0].lower, of(3, rng=6).bands[0].lower)


def test_rows_without_a_probability_or_a_weight():
    prob, codes = drawn(3)
    gappy, w = prob.copy(), np.ones(120)
    gappy[[2, 7], 1], w[9] = np.nan, 0.0
    gappy[9] = np.nan
    kept = np.delete(np.arange(120), [2, 7, 9])
    found = reliability(gappy, codes, w, LEVELS[:3], rng=1)
    assert found.n_missing == 2 and "2 rows have no probability" in str(found)
    pd.testing.assert_frame_equal(
        found.table, reliability(prob[kept], codes[kept], np.ones(117), LEVELS[:3], rng=1).table
    )


def test_whole_weights_are_repeats():
    prob, codes = drawn(3)
    w = np.resize([0, 1, 3, 2], 120)
    repeated = reliability(*(np.repeat(a, w, axis=0) for a in (prob, codes, np.ones(120))), LEVELS[:3], rng=1)
    pd.testing.assert_frame_equal(of(3, weights=w.astype(float)).table, repeated.table)


def test_without_a_band():
    """Weights that are no counts have a curve, and no band."""
    found = of(2, 1, weights=np.full(120, 0.5), B=0)
    assert list(found.table)[:4] == ["brier", "miscalibration", "discrimination", "uncertainty"]
    assert found.bands == (None,) and not {"share_outside", "lower"} & {*found.table, *found.summary_frame()}
    pd.testing.assert_frame_equal(found.table, of(2, 1, B=0).table)
    assert "band" not in str(found)
    assert len(found.plot().collections) == 0
    plt.close("all")


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"B": -1}, "B=-1 is not allowed: it must be an integer >= 0"),
        ({"B": 18}, "B=18 is not allowed: it must be 0, or at least 2/(1 - level) - 1 = 19."),
        ({"level": 1.0}, "level=1.0 is not allowed"),
        ({"rng": -3}, "rng=-3 is not allowed"),
        ({"weights": np.resize([1.0, 0.25], 120)}, "weights=0.25 and B=199 are not allowed together"),
    ],
)
def test_arguments_that_are_refused(options, part):
    with pytest.raises(ArgumentError) as error:
        of(3, **options)
    assert part in str(error.value)


def test_probabilities_that_are_none():
    prob, codes = drawn(2)
    prob[4, 0] = 1.5
    with pytest.raises(ArgumentError, match=r"prob=1\.5 is not allowed: it must be a number between 0 and 1, or NaN"):
        reliability(prob, codes, np.ones(120), LEVELS[:2])
    for lost in ({"prob": np.full((120, 2), np.nan)}, {"weights": np.zeros(120)}):
        with pytest.raises(DataError, match="nothing to compare"):
            reliability(**{"prob": drawn(2)[0], "codes": codes, "weights": np.ones(120), "levels": LEVELS[:2]} | lost)


@pytest.mark.parametrize(("K", "event"), [(2, 1), (4, None)])
def test_the_printout_says_what_the_numbers_are(K, event):
    found = of(K, event)
    text = " ".join(str(found).split())
    for words in ("MCB", "DSC", "UNC", "no confidence band", "at least 90 % of calibrated curves", "leave-one-out"):
        assert words in text
    for value in found.table["miscalibration"]:
        assert f"{value:.4f}" in text
    assert "\n" not in repr(found) and repr(found).startswith("<Reliability: ")
    assert found._repr_html_() == found.summary().as_html()
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)


@pytest.mark.parametrize(("levels", "event"), [((False, True), True), ((0, 1), 1), (("no", "yes"), "no")])
def test_the_printout_names_the_event_as_it_is_called(levels, event):
    prob, codes = drawn(2)
    found = reliability(prob, codes, np.ones(len(codes)), levels, levels.index(event), rng=1)
    assert f"Event:  {event}\n" in str(found)


def test_ten_rows():
    prob, codes = drawn(2, n=10)
    assert np.isfinite(reliability(prob, codes, np.ones(10), LEVELS[:2], 1, rng=1).table.to_numpy()).all()


@pytest.mark.parametrize("K", [2, 4])
def test_plots(K):
    found = of(K, 1 if K == 2 else None)
    drawn_axes = np.ravel(found.plot())
    assert len(drawn_axes) == len(found.levels)
    for ax, curve in zip(drawn_axes, found.curves, strict=True):
        np.testing.assert_array_equal(ax.lines[1].get_xydata(), np.column_stack([curve.predicted, curve.recalibrated]))
        assert f"MCB {curve.brier.miscalibration:.3f}" in ax.get_title("left")
    plt.close("all")


def test_rows_that_draw_no_labels_have_no_band_by_default():
    data = sample(2, 60).assign(part=np.resize([1.0, 0.5], 60))
    loo = svm("y ~ x + z", data, weights="part").loo()
    assert loo.reliability().bands == (None,) and loo.reliability().B == 0
    with pytest.raises(ArgumentError, match=r"weights=0\.5 and B=39 are not allowed together"):
        loo.reliability(B=39)


def test_the_share_of_rows_outside_the_band_is_by_weight():
    rng = np.random.default_rng(0)
    p, w = np.repeat([0.1, 0.3, 0.5, 0.9], 15), np.tile(np.repeat([1.0, 4.0, 2.0], 5), 4)
    codes = (rng.random(60) < np.repeat([0.1, 0.3, 0.95, 0.9], 15)).astype(int)
    p = np.repeat(np.linspace(0.1, 0.9, 4), [5, 10, 20, 25])
    found = reliability(np.column_stack([1 - p, p]), codes, w, ["no", "yes"], 1, B=99, level=0.9, rng=1)
    frame = found.summary_frame()
    beyond = (frame["recalibrated"] < frame["lower"]) | (frame["recalibrated"] > frame["upper"])
    assert 0 < beyond.mean() < 1 and np.ptp(frame["weight"]) > 0
    assert found.table["share_outside"].iloc[0] == pytest.approx(np.average(beyond, weights=frame["weight"]))
