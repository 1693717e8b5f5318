"""Regions of more than two classes, and the calibration of each: what is drawn is what the fit says."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.colors import to_hex, to_rgba

from svmstat import datasets, svm
from svmstat.errors import DesignWarning
from svmstat.reporting.plots import class_calibration_plot, region_plot
from svmstat.reporting.plots.calibration import calibration_bins
from svmstat.reporting.plots.style import class_look

LIVER = datasets.load("liver")
FIT = svm("disease ~ np.log(ast) + np.log(alt) + np.log(gldh)", LIVER, C=4)
RNG = np.random.default_rng(5)
MIXED = pd.DataFrame(
    {
        "y": np.resize(["cod", "eel", "hake"], 60),
        "x": RNG.normal(size=60),
    }
)
RIM = "small, no rim: no support vector"


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def points(ax):
    """The points (m, 2) by colour, marker size and order of drawing."""
    return [each for each in ax.collections if isinstance(each, PathCollection)]


def mesh(ax):
    (found,) = [each for each in ax.collections if isinstance(each, QuadMesh)]
    return found


def lines(ax):
    return [each for each in ax.collections if not isinstance(each, PathCollection | QuadMesh)]


@cache
def ten_classes():
    rng = np.random.default_rng(0)
    y = np.resize(np.arange(10), 200)
    a, b = 0.6 * rng.normal(size=(2, 200)) + 3 * np.array([np.cos(0.628 * y), np.sin(0.628 * y)])
    data = pd.DataFrame({"a": a, "b": b, "y": [f"level {k}" for k in y]})
    return svm("y ~ a + b", data, C=4), data


# Regions


@pytest.mark.parametrize("held", [{}, {"gldh": 30.0}])
def test_colours_of_the_regions_are_the_predictions(held):
    ax = region_plot(FIT, LIVER, grid=40, at=held)
    drawn = mesh(ax)
    xs, ys = (np.linspace(LIVER[name].min(), LIVER[name].max(), 40) for name in ("ast", "alt"))
    at = pd.DataFrame({"ast": np.tile(xs, 40), "alt": np.repeat(ys, 40), "gldh": held.get("gldh", 11.0)})
    predicted = FIT.predict(at)
    assert predicted.nunique() >= 3
    np.testing.assert_array_equal(np.ravel(drawn.get_array()), FIT.predicted_codes(at))
    drawn.update_scalarmappable()
    colours = [to_hex(each, keep_alpha=True) for each in drawn.get_facecolors()]
    known = {level: to_hex(to_rgba(class_look(k).colour, 0.22), keep_alpha=True) for k, level in enumerate(FIT.classes)}
    assert colours == [known[level] for level in predicted]
    corners = drawn.get_coordinates()  # each cell around its point
    middle = 0.25 * (corners[:-1, :-1] + corners[1:, :-1] + corners[:-1, 1:] + corners[1:, 1:])
    np.testing.assert_allclose(middle.reshape(-1, 2), at[["ast", "alt"]])


def test_lines_run_between_the_regions():
    fit, data = ten_classes()
    ax = region_plot(fit, data, grid=120)
    assert len(lines(ax)) == 10
    step = np.array([np.ptp(data[name]) / 119 for name in ("a", "b")])
    for k, line in enumerate(lines(ax)):
        on = np.vstack([path.vertices for path in line.get_paths()])
        around = [fit.predicted_codes(pd.DataFrame(on + 0.6 * step * each, columns=["a", "b"])) for each in
                  [(1, 0), (-1, 0), (0, 1), (0, -1)]]  # fmt: skip
        inside = np.array(around) == k
        assert (inside.any(axis=0) & ~inside.all(axis=0)).mean() > 0.98


def test_points_by_class_and_support():
    ax = region_plot(FIT, LIVER, grid=20)
    support = FIT.alpha.to_numpy().any(axis=1)
    codes = FIT.frame.codes
    assert [len(each.get_offsets()) for each in points(ax)] == [
        ((codes == k) & (support == is_support)).sum() for k in range(4) for is_support in (False, True)
    ]
    assert sum(len(each.get_offsets()) for each in points(ax)) == 218
    for k, level in enumerate(FIT.classes):
        plain, rimmed = points(ax)[2 * k : 2 * k + 2]
        rows = (LIVER["disease"] == level) & support
        np.testing.assert_array_equal(rimmed.get_offsets(), LIVER.loc[rows, ["ast", "alt"]])
        for each in (plain, rimmed):
            assert to_hex(each.get_facecolor()[0]) == class_look(k).colour
        assert rimmed.get_sizes()[0] > plain.get_sizes()[0]
        assert rimmed.get_linewidth()[0] > 0 == plain.get_linewidth()[0]


def test_the_legend():
    ax = FIT.plot_surface(LIVER)
    assert legend(ax) == ["ACH", "AVH", "PCH", "PNC", RIM]
    assert ax.get_legend().get_title().get_text() == "disease:"
    handles = ax.get_legend().legend_handles
    assert [to_hex(each.get_facecolor()[0]) for each in handles[:4]] == [class_look(k).colour for k in range(4)]


def test_where_nothing_can_be_predicted_there_is_no_colour():
    """The logarithm of what is below zero is missing: in the middle, where the fit has no rows."""
    data = MIXED.assign(z=np.linspace(-5.0, 5.0, 60))
    with pytest.warns(DesignWarning, match="is not a number in"):
        fit = svm("y ~ x + np.log(np.abs(z) - 2)", data)
    assert fit.n_missing == 24
    with pytest.warns(DesignWarning, match="is not a number in"):
        ax = region_plot(fit, data, grid=40)
    drawn = mesh(ax)
    blank = np.repeat(np.abs(np.linspace(-5, 5, 40)) < 2, 40)
    np.testing.assert_array_equal(np.ma.getmaskarray(drawn.get_array()).ravel(), blank)
    drawn.update_scalarmappable()
    np.testing.assert_array_equal(drawn.get_facecolors()[:, 3] == 0, blank)
    ax.figure.canvas.draw()


def test_one_class_wins_everywhere():
    """h = 0: there is one region, and no line."""
    data = pd.DataFrame({"y": list("abc") * 4, "x": np.repeat(range(4), 3), "z": np.repeat([1, 3, 2, 5], 3)})
    ax = region_plot(svm("y ~ x + z", data, weights=np.resize([3.0, 1.0, 1.0], 12), C=1e-3), data, grid=20)
    assert np.unique(mesh(ax).get_array()).tolist() == [0] and lines(ax) == []
    ax.figure.canvas.draw()


def test_names_that_matplotlib_would_read_in_its_own_way():
    data = pd.DataFrame({"y": ["_a", "$b$", "c_{"] * 4, "x$1$": np.arange(12.0), "$z": np.arange(12.0) % 5})
    fit = svm("y ~ Q('x$1$') + Q('$z')", data)
    for ax in (region_plot(fit, data, grid=5), fit.loo().plot_calibration()):
        ax.figure.canvas.draw()
        assert [text.strip() for text in legend(ax)[:3]] == ["$b$", "_a", "c_{"]


def test_ten_classes_can_be_told_apart():
    fit, data = ten_classes()
    for ax in (region_plot(fit, data, grid=60), fit.loo().plot_calibration()):
        ax.figure.canvas.draw()
        assert legend(ax)[:10] == list(fit.classes)
    looks = {(class_look(k).colour, class_look(k).marker) for k in range(20)}
    assert len(looks) == 20
    drawn = mesh(region_plot(fit, data, grid=60))
    drawn.update_scalarmappable()
    assert np.unique(drawn.get_array()).tolist() == list(range(10))
    assert len(np.unique(drawn.get_facecolors().round(6), axis=0)) == 10


def test_long_names_in_the_legend():
    _, data = ten_classes()
    long = data.assign(y="the level with a long and descriptive name: " + data["y"])
    ax = svm("y ~ a + b", long, C=4).plot_surface(long)
    ax.figure.canvas.draw()
    box, whole = ax.get_legend().get_window_extent(), ax.figure.bbox
    assert whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0


# Calibration of every class


def test_curves_are_the_bins_of_each_class():
    loo = FIT.loo()
    ax = loo.plot_calibration()
    diagonal, *curves = ax.lines
    assert (list(diagonal.get_xdata()), list(diagonal.get_ydata())) == ([0, 1], [0, 1])
    assert legend(ax) == list(FIT.classes) and len(curves) == 4
    bars = ax.collections
    for k, (level, curve) in enumerate(zip(FIT.classes, curves, strict=True)):
        bins = calibration_bins(loo.prob[level], LIVER["disease"] == level, np.ones(218))
        np.testing.assert_allclose(curve.get_xydata(), np.column_stack([bins.predicted, bins.observed]))
        segments = np.array(bars[k].get_segments())
        np.testing.assert_allclose(segments[:, :, 1], np.column_stack([bins.lower, bins.upper]))
        np.testing.assert_allclose(segments[:, 0, 0], bins.predicted)
        look = class_look(k)
        assert (curve.get_color(), curve.get_marker(), curve.get_linestyle()) == (look.colour, look.marker, look.line)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted probability (leave-one-out)", "observed frequency")
    assert ax.get_title("left") == "bins of equal size with 95 % Wilson intervals"


PROB = np.random.default_rng(2).dirichlet([1.0, 2.0, 3.0], 300)
OBSERVED = np.array([np.random.default_rng(3).permutation(3) for _ in range(300)]) == 0
OBSERVED[:, 0] = ~OBSERVED[:, 1:].any(axis=1)


def test_whole_weights_are_repeats():
    w = np.resize([0, 1, 3, 2], 300)
    weighted = class_calibration_plot(PROB, OBSERVED, w, "abc", bins=6)
    repeated = class_calibration_plot(*(np.repeat(a, w, axis=0) for a in (PROB, OBSERVED, np.ones(300))), "abc", bins=6)
    for one, two in zip(weighted.lines, repeated.lines, strict=True):
        np.testing.assert_allclose(one.get_xydata(), two.get_xydata())
    assert len(weighted.lines[1].get_xdata()) == 6


def test_rows_without_a_prediction_are_counted_and_left_out():
    prob = PROB.copy()
    prob[[1, 4], :] = np.nan
    prob[7, 2] = np.nan
    weights = np.ones(300)
    weights[4] = 0.0
    ax = class_calibration_plot(prob, OBSERVED, weights, "abc")
    assert ax.get_title("left").endswith(";\n2 rows without a prediction")
    kept = np.delete(np.arange(300), [1, 4, 7])
    bins = calibration_bins(PROB[kept, 1], OBSERVED[kept, 1], np.ones(297))
    np.testing.assert_allclose(ax.lines[2].get_ydata(), bins.observed)
    prob[7, 2] = 0.5
    assert "1 row without" in class_calibration_plot(prob, OBSERVED, weights, "abc").get_title("left")


def test_no_prediction_at_all():
    prob = np.full((2, 3), np.nan)
    ax = class_calibration_plot(prob, np.zeros((2, 3), bool), [1.0, 1.0], "abc")
    assert "2 rows without a prediction" in ax.get_title("left")
    ax.figure.canvas.draw()
    assert len(ax.lines) == 1


def test_other_words_and_fewer_bins():
    ax = class_calibration_plot(PROB, OBSERVED, np.ones(300), "abc", bins=3, xlabel="predicted by somebody")
    assert ax.get_xlabel() == "predicted by somebody"
    assert [len(curve.get_xdata()) for curve in ax.lines[1:]] == [3, 3, 3]
