"""Where figures come from: the given axes or new ones."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from svmstat import svm
from svmstat.errors import ArgumentError, DesignWarning
from svmstat.reporting import plots
from svmstat.reporting.plots.effects import Labels, comparisons_plot, grouped_plot, lines_plot, page_plot
from svmstat.reporting.plots.nu import roc_plot, share_surface_plot
from svmstat.reporting.plots.room import give_room
from svmstat.reporting.plots.style import (
    INK,
    along_axis,
    columns_of,
    drawing,
    in_lines,
    label_of,
    legend_below,
    panels,
    panels_size,
    settle,
    told_apart,
    widen,
)
from svmstat.reporting.plots.tuning import line_plot

SHARES = np.meshgrid([0.25, 0.5, 0.75, 1.0], [0.5, 0.75, 1.0])
WHITE = (1.0, 1.0, 1.0, 1.0)
DATA = pd.DataFrame({"x": np.arange(9.0), "z": np.arange(9.0) ** 2 % 5, "y": np.arange(9) % 3})
DRAW = {
    "index": lambda ax: plots.index_plot([0.1, 5.0, 0.3], "abc", 3.84, label="line", ax=ax),
    "histogram": lambda ax: plots.replicates_plot([1.0, 2.0, 3.0], 2.5, 2.9, level=0.95, ax=ax),
    "criteria": lambda ax: plots.criteria_plot([1.0, 2.0], {"a": [1.0, 2.0]}, name="C", ax=ax),
    "path": lambda ax: plots.path_plot([1.0, 2.0], [[1.0], [2.0]], 1.0, name="C", what="alpha", ax=ax),
    "probability": lambda ax: plots.probability_plot([-1.0, 1.0], [0.2, 0.6], [0.4, 0.8], {}, [], [], 0.5, ax=ax),
    "shares": lambda ax: share_surface_plot(*SHARES, np.arange(12.0).reshape(3, 4), (0, 1), what="score", ax=ax),
    "rates": lambda ax: roc_plot([0.2, 0.5], [0.3, 0.1], (0.2, 0.3), ax=ax),
    "surface": lambda ax: svm("y > 1 ~ x + z", DATA).plot_surface(DATA, ax=ax),
    "regions": lambda ax: svm("y ~ x + z", DATA).plot_surface(DATA, ax=ax),
    "calibration": lambda ax: plots.calibration_plot([0.1, 0.4, 0.8], [False, True, True], [1, 1, 1], ax=ax),
}


@pytest.mark.parametrize("name", DRAW)
def test_draws_into_the_given_axes(name):
    figure, (left, right) = plt.subplots(1, 2)
    assert DRAW[name](right) is right
    assert not left.has_data() and right.has_data()
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize("name", DRAW)
def test_makes_a_figure(name):
    ax = DRAW[name](None)
    assert plt.get_fignums() == [ax.figure.number]
    assert ax.get_xlabel() and ax.get_ylabel()


@pytest.mark.parametrize("name", DRAW)
def test_svg_leaves_no_figure_and_is_the_same_each_time(name):
    first, second = plots.svg(DRAW[name]), plots.svg(DRAW[name])
    assert first == second
    assert first.rstrip().endswith("</svg>")
    assert plt.get_fignums() == []


def test_letters_that_are_boxes_on_a_page_are_told_once_and_without_matplotlib():
    with pytest.warns(DesignWarning, match="letters of names are boxes in the figures") as told:
        plots.svg(lambda ax: ax.set_title("水深"), (3.0, 2.0))
    assert len(told) == 1


def test_the_style_of_the_user_is_untouched():
    before = dict(plt.rcParams)
    with drawing(None) as ax:
        assert not ax.spines["top"].get_visible()
    assert dict(plt.rcParams) == before


def test_what_the_first_figure_switches_on_stays_on():
    """In a notebook it makes matplotlib interactive; undone, no later figure would be shown."""
    assert not plt.isinteractive()
    before = plt.rcParams["font.size"]
    with drawing(None):
        plt.ion()
    assert plt.isinteractive() and plt.rcParams["font.size"] == before
    plt.ioff()


def test_a_legend_has_the_columns_that_fit():
    figure = plt.figure(figsize=(7.0, 4.0))
    assert columns_of(figure, ["a", "b", "c", "d"], 3) == 3
    assert columns_of(figure, ["a" * 36, "b"], 3) == 2
    assert columns_of(figure, ["a" * 80, "b"], 3) == 1
    plt.close(figure)


def test_long_names_lose_their_middle():
    name = "train (regional, long distance), second class"
    assert len(label_of(name)) <= 38 and label_of(name).startswith("train (reg") and label_of(name).endswith("class")
    assert len(label_of(name, 12)) <= 14 and label_of("bus", 12) == "bus"
    assert max(map(len, in_lines(name).splitlines())) <= 18


def test_names_above_narrow_panels_end_where_a_word_does():
    """predictor_number_10 had stood as predictor_number_1 above a 0, beside the name of the next panel."""
    names = [f"predictor_number_{k}" for k in range(17)]
    with panels(None, len(names), share=False) as (figure, axes):
        for panel, name in zip(axes, names, strict=True):
            panel.set_title(in_lines(name, panel), fontsize=8.5)
    boxes = [panel._left_title.get_window_extent() for panel in axes]
    assert [panel.get_title("left").replace("\n", "") for panel in axes] == names
    assert axes[10].get_title("left").split("\n") == ["predictor_", "number_10"]
    beside = [(one, other) for one, other in pairwise(boxes) if other.x0 > one.x0]
    assert len(beside) == 13 and all(one.width > 0.0 and one.x1 < other.x0 for one, other in beside)
    plt.close(figure)


def test_rounding_is_no_curve():
    x, labels = np.arange(4.0), Labels("x", "ALE", ("P(y = 1)",), "")
    ax = lines_plot(x, 1e-16 * x[:, None], None, labels, rug=x)
    assert ax.get_ylim() == pytest.approx((-0.01, 0.01), abs=1e-6)
    axes = page_plot(
        [lambda ax: lines_plot(x, 1e-16 * x[:, None], None, labels, rug=x, panel=True, ax=ax)], "a", labels
    )
    assert axes[0].get_ylim() == pytest.approx((-0.01, 0.01), abs=1e-6)
    with drawing(None) as ax:
        ax.plot([0.0, 1.0], [0.0, 1e-3])
        before = ax.get_ylim()
        widen(ax)
    assert ax.get_ylim() == before


def test_a_legend_is_below_all_lines_of_a_label():
    with drawing(None) as ax:
        ax.plot([0.0, 1.0], [0.0, 1.0], label="a")
        ax.set_xlabel("one\ntwo\nthree")
        legend_below(ax)
        settle(ax)
    label, legend = (each.get_window_extent() for each in (ax.xaxis.label, ax.get_legend()))
    assert legend.y1 <= label.y0


def test_many_panels_are_as_wide_as_some():
    assert panels_size(30)[0] == panels_size(25)[0] == 7.0
    with panels(None, 30) as (_, axes):
        assert len({ax.get_subplotspec().colspan.start for ax in axes}) == 5


def test_a_long_label_of_a_vertical_axis_is_in_lines():
    label = along_axis("average P(outcome = heart disease within the next five years)")
    assert label == "average P(outcome = heart disease\nwithin the next five years)"


def test_an_axis_that_is_turned_around_or_logarithmic_stays():
    with drawing(None) as ax:
        ax.plot([0.0, 1.0], [0.2, 0.4])
        ax.set_ylim(1.0, 0.0)
        widen(ax)
        assert ax.get_ylim() == (1.0, 0.0)
        ax.set_ylim(0.5 + 1e-15, 0.5)
        widen(ax)
        assert ax.get_ylim() == pytest.approx((0.51, 0.49))
        ax.set_yscale("log")
        ax.set_ylim(1e-14, 1e-13)
        widen(ax)
        assert ax.get_ylim() == (1e-14, 1e-13)


def test_axes_whose_place_cannot_be_divided():
    free = plt.figure().add_axes((0.1, 0.1, 0.8, 0.8))
    with pytest.raises(ArgumentError, match="its place is divided for panels"), panels(free, 2):
        raise AssertionError
    free.remove()
    with pytest.raises(ArgumentError, match="it is in no figure any more"), panels(free, 2):
        raise AssertionError


def test_long_names_of_levels_differ_after_they_are_cut():
    levels = [f"level number {k:02d} of the treatment" for k in range(25)]
    for longest in (12, 20, 36):
        for names in (levels, [f"treatment = {level}" for level in levels]):
            cut = told_apart(names, longest)
            assert len(set(cut)) == 25 and max(map(len, cut)) <= max(longest, len("treatment = … 01 …"))
    assert told_apart(["ibuprofen 200 mg", "paracetamol 500 mg", "nothing"], 12)[2] == "nothing"
    assert told_apart(["a very long name that stands alone"], 12) == [
        label_of("a very long name that stands alone", 12)
    ]


@pytest.mark.parametrize("longest", [12, 16, 24])
def test_names_of_crossed_levels_differ_after_they_are_cut(longest):
    regions, kinds = ("northern region", "southern region"), ("urban municipality", "rural municipality")
    levels = [*(f"{region}, {kind}" for region in regions for kind in kinds), "abroad"]
    cut = told_apart(levels, longest)
    assert len(set(cut)) == 5 and cut[4] == "abroad"


def test_texts_stay_within_the_figure():
    names = ["svm", "a_very_long_name_for_this_member_of_the_comparison"]
    for draw in (
        lambda: plots.differences_plot(names, [0.0, 2.0], [np.nan, 1.0]),
        lambda: comparisons_plot(names, np.array([[0.1], [0.2]]), None, ["P"], what="change", title="t"),
        lambda: line_plot({"a": ([1, 2], [3, 4])}, (1, 3), np.empty((0, 2)), name="C", what="least " * 15),
    ):
        ax = draw()
        settle(ax)
        inside = ax.figure.bbox.padded(1.0)
        for text in (ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label, *ax.get_yticklabels()):
            box = text.get_window_extent()
            assert not text.get_text() or (inside.x0 <= box.x0 and box.x1 <= inside.x1), text


def test_many_lines_are_told_apart_and_named():
    names = tuple(f"treatment = level number {k:02d} of the treatment" for k in range(25))
    y = np.linspace(0, 1, 3)[:, None, None] * np.ones((3, 25, 1))
    ax = grouped_plot(np.arange(3.0), y, Labels("x", "P", names, ""), (), by_levels=False)
    assert len({(line.get_color(), line.get_linestyle()) for line in ax.get_lines()}) == 25
    settle(ax)
    assert len({text.get_text() for text in ax.get_legend().get_texts()}) == 25
    assert ax.get_window_extent().height > ax.figure.dpi


def test_numbers_below_panels_side_by_side_are_short():
    """At this width a step of 2.5 would fit by count, and its numbers touch."""
    panel = []

    def draw(ax):
        with panels(ax, 4, share=False) as (_, axes):
            axes[0].plot([-14.8, -1.3], [0.0, 1.0])
            panel.append(axes[0])

    plots.svg(draw, (7.0, 5.6))
    ticks = panel[0].get_xticks()
    np.testing.assert_array_equal(ticks, ticks.round())


def test_a_dark_ground_that_is_given_is_made_white_and_no_other():
    with plt.style.context("dark_background"):
        figure, (dark, untouched) = plt.subplots(1, 2)
        svm("y > 1 ~ x + z", DATA).plot_probability(ax=dark)
    figure_of_grey, grey = plt.subplots(subplot_kw={"facecolor": "0.9"})
    svm("y > 1 ~ x + z", DATA).plot_probability(ax=grey)
    assert dark.get_facecolor() == (1.0, 1.0, 1.0, 1.0) and untouched.get_facecolor() == (0.0, 0.0, 0.0, 1.0)
    assert grey.get_facecolor() == (0.9, 0.9, 0.9, 1.0)
    plt.close(figure)
    plt.close(figure_of_grey)


def test_what_stands_around_dark_axes_is_read_where_they_are_alone():
    """With the ground of the figure, or of what is divided into panels in the place of one axes."""
    fit = svm("y > 1 ~ x + z", DATA)
    with plt.style.context("dark_background"):
        alone, ax = plt.subplots()
        fit.plot_probability(ax=ax)
        divided, (one, other) = plt.subplots(1, 2)
        fit.plot_residuals(ax=one)
    assert alone.get_facecolor() == WHITE
    written = [*ax.get_xticklabels(), *ax.get_legend().get_texts(), ax.xaxis.label, ax.yaxis.label]
    assert {text.get_color() for text in written} == {INK}
    assert divided.subfigs[0].get_facecolor() == WHITE
    assert divided.get_facecolor() == other.get_facecolor() == (0.0, 0.0, 0.0, 1.0)
    plt.close(alone)
    plt.close(divided)


def test_no_grid_of_the_user_is_drawn_over_the_data():
    with plt.rc_context({"axes.grid": True}):
        ax = svm("y > 1 ~ x + z", DATA).plot_probability()
        assert plt.rcParams["axes.grid"]
    assert not any(line.get_visible() for line in ax.get_xgridlines() + ax.get_ygridlines())


def test_numbers_of_an_axis_are_no_code_of_tex():
    """A setting of the user's writes them as code, which no text of ours parses; figures grew, for want of width."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=40), "y": rng.integers(0, 2, 40)})
    fit = svm("y ~ x", data)
    with plt.rc_context({"axes.formatter.use_mathtext": True}):
        figures = [np.ravel(fit.plot_residuals())[0].figure, fit.plot_probability().figure]
        own = plt.figure().add_subplot()
        fit.plot_probability(ax=own)
        for figure in (*figures, own.figure):
            figure.canvas.draw()
            assert figure.get_size_inches()[1] < 12
            assert not any("$" in label.get_text() for ax in figure.axes for label in ax.get_yticklabels())
    plt.close("all")


def test_a_figure_without_room_to_the_sides_is_not_made_higher():
    figure = plt.figure(figsize=(3, 3), layout="constrained")
    ax = figure.add_subplot()
    ax.set_yticks([0, 1], ["a very long name indeed " * 4] * 2)
    with pytest.warns(UserWarning, match="layout not applied"):
        give_room(figure)
    assert figure.get_size_inches().tolist() == [3, 3]
    plt.close(figure)
