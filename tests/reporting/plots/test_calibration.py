"""Calibration plots: bins, intervals, what is left out."""

import numpy as np

from svmstat.reporting.plots import calibration_plot
from svmstat.reporting.plots.calibration import calibration_bins

RNG = np.random.default_rng(3)
PROB = RNG.uniform(size=500)
EVENT = RNG.uniform(size=500) < PROB
ONES = np.ones(500)


def test_intervals_are_those_of_wilson():
    """Five of ten, and none and all of four: the ends of Wilson's interval solve (p − π)² = z² π (1 − π) / n."""
    bins = calibration_bins(np.repeat([0.1, 0.5, 0.9], [4, 10, 4]), [0] * 4 + [0, 1] * 5 + [1] * 4, np.ones(18), bins=3)
    z = 1.959963984540054
    for end, inside in ((bins.lower, bins.observed > 0), (bins.upper, bins.observed < 1)):
        p, n = bins.observed[inside], bins.total[inside]
        np.testing.assert_allclose((p - end[inside]) ** 2, z**2 * end[inside] * (1 - end[inside]) / n)
    assert bins.lower[0] == 0.0 and bins.upper[-1] == 1.0


def test_ten_bins_of_equal_size():
    bins = calibration_bins(PROB, EVENT, ONES)
    order = np.argsort(PROB).reshape(10, 50)
    np.testing.assert_allclose(bins.total, 50)
    np.testing.assert_allclose(bins.predicted, PROB[order].mean(axis=1))
    np.testing.assert_allclose(bins.observed, EVENT[order].mean(axis=1))


def test_whole_weights_are_repeats():
    w = RNG.integers(0, 4, 500)
    weighted, repeated = (
        calibration_bins(PROB, EVENT, w),
        calibration_bins(*(np.repeat(a, w) for a in (PROB, EVENT, ONES))),
    )
    for name in ("predicted", "observed", "lower", "upper", "total"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name))


def test_equal_probabilities_stay_together():
    bins = calibration_bins(np.repeat([0.2, 0.7], [90, 10]), np.arange(100) % 2 == 0, np.ones(100))
    np.testing.assert_allclose(bins.predicted, [0.2, 0.7])
    np.testing.assert_allclose(bins.total, [90, 10])


def test_what_is_drawn():
    ax = calibration_plot(PROB, EVENT, ONES)
    bins = calibration_bins(PROB, EVENT, ONES)
    diagonal, dots = ax.lines[:2]
    assert (list(diagonal.get_xdata()), list(diagonal.get_ydata())) == ([0, 1], [0, 1])
    np.testing.assert_allclose(dots.get_xydata(), np.column_stack([bins.predicted, bins.observed]))
    bars = np.array(ax.collections[0].get_segments())
    np.testing.assert_allclose(bars[:, :, 1], np.column_stack([bins.lower, bins.upper]))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted probability (leave-one-out)", "observed frequency")
    assert "95 % Wilson" in ax.get_title("left")
    assert len(ax.patches) == 40
    assert max(bar.get_y() + bar.get_height() for bar in ax.patches) < 0


def test_missing_predictions_are_counted():
    prob = PROB.copy()
    prob[[1, 4]] = np.nan
    ax = calibration_plot(prob, EVENT, ONES, bins=5)
    assert ax.get_title("left").endswith("; 2 rows without a prediction")
    kept = ~np.isnan(prob)
    np.testing.assert_allclose(
        ax.lines[1].get_ydata(), calibration_bins(prob[kept], EVENT[kept], ONES[kept], 5).observed
    )


def test_rows_of_weight_zero_do_not_count():
    prob, weights = PROB.copy(), ONES.copy()
    prob[0], weights[0] = np.nan, 0.0
    assert "without" not in calibration_plot(prob, EVENT, weights).get_title("left")


def test_no_prediction_at_all():
    ax = calibration_plot([np.nan, np.nan], [True, False], [1, 1])
    assert ax.get_title("left").endswith("2 rows without a prediction")
