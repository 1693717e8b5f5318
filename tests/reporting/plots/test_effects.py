"""What stands below the axes of effects."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from svmstat import svm
from svmstat.reporting.plots.effects import comparisons_plot, in_legend, level_ticks
from svmstat.reporting.plots.style import label_of


@pytest.mark.parametrize(("width", "turned"), [(6.4, False), (2.4, True)])
def test_names_of_levels_do_not_run_into_each_other(width, turned):
    fig, ax = plt.subplots(figsize=(width, 3.0))
    ax.set_xlim(-0.5, 2.5)
    level_ticks(ax, ["ex-smoker", "never", "smoker"])
    fig.canvas.draw()
    labels = ax.get_xticklabels()
    assert [label.get_rotation() == 90 for label in labels] == [turned] * 3
    boxes = [label.get_window_extent() for label in labels]
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))
    plt.close(fig)


def test_of_many_turned_names_in_a_narrow_panel_some_are_shown():
    fig, ax = plt.subplots(figsize=(2.4, 3.0))
    ax.set_xlim(-0.5, 29.5)
    level_ticks(ax, [f"habitat of type {k}" for k in range(30)])
    fig.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert len(boxes) > 3 and all(one.x1 <= other.x0 + 1.0 for one, other in pairwise(boxes))
    plt.close(fig)


def test_long_names_of_probabilities_are_called_by_their_levels():
    levels = ["alpine meadow, mown", "alpine meadow, grazed", "dune"]
    assert in_legend([f"P(Q('Vegetation class observed') = {level})" for level in levels]) == levels
    assert in_legend(["P(y = a)", "P(y = b)"]) == ["P(y = a)", "P(y = b)"]
    assert in_legend([f"P({'y' * 40} = a)"]) == [label_of(f"P({'y' * 40} = a)")]


def test_long_names_of_predictors_stay_within_the_figure():
    long = "mean annual temperature at two metres above the ground in degrees Celsius, corrected for the height"
    rng = np.random.default_rng(0)
    data = pd.DataFrame({long: rng.normal(size=60), "z" * 40: rng.normal(size=60), "site": list("abc") * 20})
    data["y"] = data[long] + rng.normal(size=60) > 0
    fit = svm(f"y ~ Q({long!r}) + {'z' * 40} + site", data)
    for ax in (fit.effects(long).plot(), fit.comparisons(long).plot(), fit.plot_surface(), fit.plot_surface(on="prob")):
        ax.figure.canvas.draw()
        inside = ax.figure.bbox.padded(1.0)
        for text in (ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label):
            box = text.get_window_extent()
            assert not text.get_text() or (inside.x0 <= box.x0 and box.x1 <= inside.x1), text
        plt.close(ax.figure)


LONG = [
    "Methicillin-susceptible Staphylococcus aureus (MSSA)", "Methicillin-resistant Staphylococcus aureus (MRSA)",
    "none", "E. coli", "Klebsiella", "Pseudomonas aeruginosa", "Streptococcus pneumoniae, serotype 9F",
    "Streptococcus pneumoniae, serotype 19A",
]  # fmt: skip


@pytest.fixture(scope="module")
def germs():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"temp": rng.normal(38, 1, 200), "wbc": rng.normal(10, 3, 200)})
    data["ward"] = rng.choice(["surgery, first floor", "surgery, second floor", "intensive care"], size=200)
    return data.assign(y=np.array(LONG)[rng.integers(8, size=200)])


@pytest.mark.parametrize(
    "draw",
    [
        lambda fit: fit.comparisons("temp").plot(),
        lambda fit: fit.comparisons("ward").plot(),
        lambda fit: fit.effects("temp", on="decision").plot(),
        lambda fit: fit.effects().plot(),
    ],
    ids=["one comparison", "two comparisons", "pairs", "page"],
)
def test_many_long_names_leave_room_for_the_panels_and_are_all_different(germs, draw):
    """Warnings are errors: constrained layout gave up, and legends stood outside of the figure."""
    axes = np.ravel(draw(svm("y ~ temp + wbc + ward", germs)))
    figure = axes[0].figure
    figure.draw_without_rendering()
    (legend,) = [each for each in (axes[0].get_legend(), *figure.legends) if each is not None]
    names = [text.get_text() for text in legend.get_texts()]
    assert len(names) == len(set(names)) >= 8
    whole, box = figure.bbox, legend.get_window_extent()
    assert whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1
    assert min(ax.bbox.height for ax in axes) > 0.5 * figure.dpi * (1.0 if len(axes) > 1 else 0.3)
    plt.close(figure)


def test_the_legend_of_a_page_has_the_markers_of_dots_and_the_lines_of_curves():
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"x": rng.normal(size=280), "g": rng.choice(list("uv"), size=280), "y": np.arange(280) % 14})
    axes = svm("y ~ x + g", data).effects().plot()
    (shown,) = axes[0].figure.legends
    looks = {(line.get_color(), line.get_marker(), line.get_linestyle()) for line in shown.legend_handles}
    assert len(looks) == 14
    dots = {(line.get_color(), line.get_marker()) for line in axes[1].lines if line.get_label().startswith("P(")}
    assert dots == {look[:2] for look in looks}


def test_a_long_legend_leaves_the_label_of_an_effect_its_room():
    rng = np.random.default_rng(2)
    names = np.array([f"species no. {letter} of the genus" for letter in "abcdefghijkl"])
    data = pd.DataFrame({"x": rng.normal(size=240), "y": names[np.arange(240) % 12]})
    ax = svm("y ~ x", data).effects("x").plot()
    figure = ax.figure
    figure.draw_without_rendering()
    label = ax.yaxis.label.get_window_extent()
    assert figure.bbox.y0 <= label.y0 and label.y1 <= figure.bbox.y1


def test_rounding_is_no_effect():
    ax = comparisons_plot(["x: +1"], np.array([[5.5e-17]]), None, ["P(y = 1)"], what="change", title="")
    low, high = ax.get_xlim()
    assert low < -1e-3 and high > 1e-3
    plt.close(ax.figure)


def test_lines_of_a_pair_end_where_rows_do_and_begin_where_there_are_some():
    rng = np.random.default_rng(1)
    x = np.r_[-6.0, 3.0 + 0.3 * rng.normal(size=59), rng.uniform(-6, 6, size=60)]
    data = pd.DataFrame({"x": x, "g": np.repeat(["a", "b"], 60), "y": rng.random(120) < 0.5})
    effect = svm("y ~ x + g", data, C=10).effects(("x", "g"))
    line = effect.plot().lines[0]
    at, values = line.get_data()
    own = x[:60]
    near = np.abs(at[:, None] - own).min(axis=1) <= 0.1 * np.ptp(x)
    np.testing.assert_array_equal(np.isnan(values), ~near)
    assert near[0] and not near.all() and np.isfinite(values[:2]).all()
    plt.close()


@pytest.mark.parametrize(("n", "is_image"), [(2000, False), (2001, True)])
def test_a_rug_of_many_values_is_an_image(n, is_image):
    data = pd.DataFrame({"a": np.random.default_rng(0).normal(size=n)})
    ax = svm("y ~ a", data.assign(y=data["a"] > 0.3), kernel="linear").effects("a").plot()
    assert {bool(line.get_rasterized()) for line in ax.lines if line.get_marker() == "|"} == {is_image}
    plt.close("all")


@pytest.mark.parametrize("q", [3, 6])
@pytest.mark.parametrize("letters", [3, 60])
def test_the_legend_of_comparisons_is_inside_the_figure_whatever_the_labels(q, letters):
    names = [f"site: {'a very long level ' * (letters // 18)}{k}" for k in range(4)]
    y = np.random.default_rng(0).normal(size=(4, q))
    ax = comparisons_plot(names, y, None, [f"P(y = level {k})" for k in range(q)], what="change", title="")
    ax.figure.canvas.draw()
    box = ax.get_legend().get_window_extent(ax.figure.canvas.get_renderer())
    assert box.x1 <= ax.figure.bbox.x1 and len(ax.get_legend().get_texts()) == q
    plt.close(ax.figure)
