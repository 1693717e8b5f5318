"""Regions of more than two classes: what is drawn is what the fit says."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.colors import to_hex, to_rgba

from svmstat import datasets, svm
from svmstat.errors import DesignWarning
from svmstat.reporting.plots import region_plot
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
    ax = region_plot(FIT, LIVER, grid=40, at=held, too_far=np.inf)
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
        ax = region_plot(fit, data, grid=40, too_far=np.inf)
    drawn = mesh(ax)
    blank = np.repeat(np.abs(np.linspace(-5, 5, 40)) < 2, 40)
    np.testing.assert_array_equal(np.ma.getmaskarray(drawn.get_array()).ravel(), blank)
    drawn.update_scalarmappable()
    np.testing.assert_array_equal(drawn.get_facecolors()[:, 3] == 0, blank)
    ax.figure.canvas.draw()


def test_one_class_wins_everywhere():
    """h = 0: there is one region, and no line."""
    data = pd.DataFrame({"y": list("abc") * 4, "x": np.repeat(range(4), 3), "z": np.repeat([1, 3, 2, 5], 3)})
    ax = region_plot(
        svm("y ~ x + z", data, weights=np.resize([3.0, 1.0, 1.0], 12), C=1e-3), data, grid=20, too_far=np.inf
    )
    assert np.unique(mesh(ax).get_array()).tolist() == [0] and lines(ax) == []
    ax.figure.canvas.draw()


def test_names_that_matplotlib_would_read_in_its_own_way():
    data = pd.DataFrame({"y": ["_a", "$b$", "c_{"] * 4, "x$1$": np.arange(12.0), "$z": np.arange(12.0) % 5})
    fit = svm("y ~ Q('x$1$') + Q('$z')", data)
    ax, panels = region_plot(fit, data, grid=5), fit.loo().plot_calibration()
    ax.figure.canvas.draw(), panels[0].figure.canvas.draw()
    assert [text.strip() for text in legend(ax)[:3]] == ["$b$", "_a", "c_{"]
    assert [panel.get_title("left").strip() for panel in panels] == ["$b$", "_a", "c_{"]


def test_ten_classes_can_be_told_apart():
    fit, data = ten_classes()
    ax = region_plot(fit, data, grid=60)
    ax.figure.canvas.draw()
    assert legend(ax)[:10] == list(fit.classes)
    looks = {(class_look(k).colour, class_look(k).marker) for k in range(20)}
    assert len(looks) == 20
    drawn = mesh(region_plot(fit, data, grid=60, too_far=np.inf))
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
