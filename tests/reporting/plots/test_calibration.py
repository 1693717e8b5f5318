"""Calibration plots: bins, intervals, recalibrated curves, what is left out; a panel for each of many classes."""

from itertools import pairwise

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from svmstat.calibration import consistency_band, recalibrate
from svmstat.reporting.plots import (
    calibration_plot,
    class_calibration_plot,
    class_reliability_plot,
    panels_size,
    reliability_plot,
    svg,
)
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


# -- a panel for each class --------------------------------------------------------------------------------------------

OF_CLASSES = np.random.default_rng(2).dirichlet([1.0, 2.0, 3.0], 300)
OBSERVED = np.random.default_rng(3).integers(0, 3, 300)[:, None] == np.arange(3)


def title(panels):
    return panels[0].figure.get_suptitle()


def test_panels_are_the_bins_of_each_class():
    panels = class_calibration_plot(OF_CLASSES, OBSERVED, np.ones(300), "abc", xlabel="predicted by somebody")
    assert [panel.get_title("left") for panel in panels] == ["a", "b", "c"]
    for k, panel in enumerate(panels):
        bins = calibration_bins(OF_CLASSES[:, k], OBSERVED[:, k], np.ones(300))
        dots = panel.lines[1]
        np.testing.assert_allclose(dots.get_xydata(), np.column_stack([bins.predicted, bins.observed]))
        segments = np.array(panel.collections[0].get_segments())
        np.testing.assert_allclose(segments[:, :, 1], np.column_stack([bins.lower, bins.upper]))
    figure = panels[0].figure
    assert (figure.get_supxlabel(), figure.get_supylabel()) == ("predicted by somebody", "observed frequency")
    assert "95 % Wilson" in title(panels)


def test_weights_of_panels_are_repeats():
    w = np.resize([0, 1, 3, 2], 300)
    weighted = class_calibration_plot(OF_CLASSES, OBSERVED, w, "abc", bins=6)
    rows = [np.repeat(a, w, axis=0) for a in (OF_CLASSES, OBSERVED, np.ones(300))]
    for one, other in zip(weighted, class_calibration_plot(*rows, "abc", bins=6), strict=True):
        np.testing.assert_allclose(one.lines[1].get_xydata(), other.lines[1].get_xydata())
        assert len(one.lines[1].get_xydata()) == 6


def test_rows_without_a_prediction_are_in_no_panel():
    prob, weights = OF_CLASSES.copy(), np.ones(300)
    prob[[1, 4]], weights[4] = np.nan, 0.0
    prob[7, 2] = np.nan
    panels = class_calibration_plot(prob, OBSERVED, weights, "abc")
    assert title(panels).endswith("; 2 rows without a prediction")
    kept = np.delete(np.arange(300), [1, 4, 7])
    bins = calibration_bins(OF_CLASSES[kept, 1], OBSERVED[kept, 1], np.ones(297))
    np.testing.assert_allclose(panels[1].lines[1].get_ydata(), bins.observed)
    nothing = class_calibration_plot(np.full((2, 3), np.nan), np.zeros((2, 3), bool), [1.0, 1.0], "abc")
    assert "2 rows without a prediction" in title(nothing) and len(nothing[0].collections) == 0


@pytest.mark.parametrize("common", [False, True])
def test_rare_events_fill_the_axes(common):
    """Both axes end at the next of 0.01, 0.02, 0.05 … 1 above all that is drawn, or begin as far below one."""
    p = np.random.default_rng(2).uniform(0.005, 0.03, 2000)
    event = np.random.default_rng(3).uniform(size=2000) < p
    curve = recalibrate(p, event, np.ones(2000))
    if common:
        p, event, curve = 1 - p, ~event, recalibrate(1 - p, ~event, np.ones(2000))
    axes = [calibration_plot(p, event, np.ones(2000)), reliability_plot(curve)]
    axes += [*class_calibration_plot(p[:, None], event[:, None], np.ones(2000), "a")]
    axes += [*class_reliability_plot([curve], [None], "a")]
    for ax in axes:
        ticks, ys = ax.get_xticks(), ax.get_yticks()
        low, high = ax.get_xlim()
        np.testing.assert_allclose(ticks, ys)
        assert high - low < 0.22 and low < ticks[0] < ticks[-1] < high
        assert ticks[-1 if common else 0] == pytest.approx(float(common))
        below = [bar for bar in ax.patches if bar.get_height() > 0]
        assert sum(bar.get_width() for bar in below) > 0.1 * (ticks[-1] - ticks[0])
        tops = [bar.get_y() + bar.get_height() for bar in below]
        assert max(tops) < ticks[0] and min(bar.get_y() for bar in below) > ax.get_ylim()[0]


@pytest.mark.parametrize(("K", "rows", "columns"), [(2, 1, 2), (4, 2, 2), (10, 3, 4), (20, 4, 5)])
def test_panels_share_a_scale_and_a_page(K, rows, columns):
    """Not wider than a page; each column has numbers below its lowest panel; long names stay on their panel."""
    prob = np.random.default_rng(K).dirichlet(np.ones(K), 50)
    names = [f"the level with a long and descriptive name: {k}" for k in range(K)]
    panels = class_calibration_plot(prob, prob > 1 / K, np.ones(50), names)
    figure = panels[0].figure
    figure.canvas.draw()
    assert tuple(figure.get_size_inches()) == panels_size(K) and figure.get_size_inches()[0] <= 7.0
    grid = panels[0].get_subplotspec().get_gridspec()
    assert (grid.nrows, grid.ncols, len(panels), len(figure.axes)) == (rows, columns, K, K)
    assert len({panel.get_xlim() + panel.get_ylim() for panel in panels}) == 1
    numbered = [any(label.get_visible() for label in panel.get_xticklabels()) for panel in panels]
    assert numbered == [k + columns >= K for k in range(K)]
    left = [panel._left_title.get_window_extent() for panel in panels]
    for one, other in pairwise(left):
        assert one.x1 <= other.x0 or one.y0 >= other.y1
    assert max(box.x1 for box in left) <= figure.bbox.x1


def test_panels_take_the_place_of_axes():
    figure, (left, right) = plt.subplots(1, 2, layout="constrained", figsize=(11, 5))
    place = right.get_position()
    panels = class_calibration_plot(OF_CLASSES, OBSERVED, np.ones(300), "abc", ax=right)
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number] and right not in figure.axes
    assert {panel.figure for panel in panels} == set(figure.subfigs) and left in figure.axes
    for panel in panels:
        box = panel.get_window_extent().transformed(figure.transFigure.inverted())
        assert box.x0 >= place.x0 - 0.1 and box.x1 <= 1.0


# -- recalibrated curves -----------------------------------------------------------------------------------------------


def curve_and_band(prob=PROB, event=EVENT):
    curve = recalibrate(prob, event, np.ones(len(prob)))
    return curve, consistency_band(curve, B=39, level=0.9, seed=np.random.SeedSequence(1))


def test_a_curve_with_its_band():
    curve, band = curve_and_band()
    ax = reliability_plot(curve, band, level=0.9, missing=3, xlabel="by somebody")
    np.testing.assert_allclose(ax.lines[1].get_xydata(), np.column_stack([curve.predicted, curve.recalibrated]))
    edges = ax.collections[0].get_paths()[0].vertices
    for end in (band.lower, band.upper):
        assert {*zip(curve.predicted, end, strict=True)} <= {*map(tuple, edges)}
    first, shaded, last = ax.get_title("left").splitlines()
    brier = curve.brier
    assert first == (
        f"Brier {brier.score:.3f} = MCB {brier.miscalibration:.3f} - DSC {brier.discrimination:.3f} + UNC "
        f"{brier.uncertainty:.3f}"
    )
    assert "90 % of calibrated curves, point by point" in shaded and last.endswith("; 3 rows without a prediction")
    assert ax.get_xlabel() == "by somebody" and "isotonic" in ax.get_ylabel()


def test_curves_of_classes():
    both = [curve_and_band(p, e) for p, e in ((PROB, EVENT), (1 - PROB, ~EVENT), (PROB**2, EVENT))]
    curves, bands = zip(*both, strict=True)
    panels = class_reliability_plot(curves, bands, ["a", "b", "$c$"])
    for panel, curve in zip(panels, curves, strict=True):
        np.testing.assert_allclose(panel.lines[1].get_ydata(), curve.recalibrated)
        assert f"MCB {curve.brier.miscalibration:.3f}" in panel.get_title("left")
    assert "each class against the rest" in title(panels)
    drawn = svg(lambda ax: class_reliability_plot(curves, bands, "abc", ax=ax), panels_size(3))
    assert drawn == svg(lambda ax: class_reliability_plot(curves, bands, "abc", ax=ax), panels_size(3))
    assert plt.get_fignums() == [panels[0].figure.number]


@pytest.mark.skipif(
    matplotlib.__version_info__ < (3, 11), reason="the layouts of older matplotlib rest for some steps before they end"
)
def test_the_layout_of_squares_is_final_where_they_are_drawn_once():
    """Labels of all panels had stood on those of each."""
    names = [
        "Chronic progressive hepatitis with severe portal fibrosis (stage III)",
        "Acute viral hepatitis, uncomplicated, first presentation",
        "Cirrhosis of the liver, decompensated, transplant listed",
    ]
    kept = []

    def draw(ax):
        kept.extend(class_reliability_plot([recalibrate(PROB, EVENT, ONES)] * 3, [None] * 3, names, ax=ax))

    svg(draw, (7.0, 3.4))
    height = kept[0].get_position().height
    for _ in range(4):
        kept[0].figure.figure.draw_without_rendering()
    assert kept[0].get_position().height == pytest.approx(height, abs=0.003)


def test_a_long_label_is_in_lines():
    ax = reliability_plot(recalibrate(PROB, EVENT, ONES), xlabel=f"predicted probability of {'a level ' * 20}")
    assert 2 <= len(ax.get_xlabel().split("\n")) <= 3
    box = ax.xaxis.label.get_window_extent()
    assert box.x0 > 0.0 and box.x1 < ax.figure.bbox.x1
    plt.close(ax.figure)
