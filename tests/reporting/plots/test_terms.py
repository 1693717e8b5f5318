"""Figures of terms and of their weights."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from levels import sample
from matplotlib import pyplot as plt

from svmstat import svm
from svmstat.reporting.plots import profiles_plot, selection_plot


@pytest.mark.parametrize("K", [2, 3])
def test_a_panel_for_each_term_and_for_each_map_of_a_pair(K):
    fit = svm("y ~ s(x) + s(x, by=site) + te(x, z) + side", sample(K), theta={"s(x, by=site)": 0.5})
    axes, pairs = fit.plot_terms(B=39, rng=1), len(fit.machine.pairs)
    titles = [ax.get_title(loc="left") for ax in axes]
    assert len(axes) == 3 + pairs
    assert [title.partition(", a")[0] for title in titles[:3]] == ["s(x)", "s(x, by=site)", "te(x, z)"]
    words = " ".join(axes[0].figure.get_suptitle().split())
    assert words.startswith("h of each term; bands: 95 % of replicates, the stability of the estimate; no confidence")
    assert len({ax.get_ylim() for ax in (axes[0], axes[1], axes[-1])}) == 1
    assert [text.get_text() for text in axes[-1].get_xticklabels()] == ["l", "r"]
    low, high = axes[0].collections[0].get_datalim(axes[0].transData).intervaly
    curve = axes[0].lines[0].get_ydata()
    assert (low <= curve.max()) and (high >= curve.min())
    assert len(axes[0].figure.legends) == (pairs > 1)


def test_terms_that_are_asked_for_and_no_bands():
    fit = svm("y ~ s(x) + te(x, z) + side", sample(2), theta={"side": 0})
    assert len(fit.plot_terms(B=0)) == 2
    one, other = (fit.plot_terms("s(x)", **each)[0] for each in ({"B": fit.bootstrap(39, rng=1)}, {"B": 39, "rng": 1}))
    bands = [ax.collections[0].get_paths()[0].vertices for ax in (one, other)]
    np.testing.assert_array_equal(*bands)
    (ax,) = fit.plot_terms("te( x,z )", B=0)
    assert "mean zero" in ax.figure.get_suptitle()
    (ax,) = fit.plot_terms(["s(x)"], B=0)
    assert ax.get_xlabel() == "x"
    np.testing.assert_allclose(ax.lines[0].get_xdata()[[0, -1]], sample(2)["x"].agg(["min", "max"]))


def test_weights_over_the_bound():
    theta = {"s(x)": [1.0, 2.0], "s(z)": [0.0, 0.5], "_side": [0.0, 1.0]}
    ax = selection_plot([1.0, 4.0], theta, [0.5, np.nan], 0, what="loss")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["s(x)"]
    assert ax.lines[0].get_xdata() == [1.0, 1.0]
    assert len(ax.lines) == 4
    assert ax.get_title(loc="left").endswith("; thin grey: terms left out there")
    every = selection_plot([1.0, 4.0], theta, [0.5, 0.4], 1, what="loss")
    assert "grey" not in every.get_title(loc="left")


def test_profiles_about_the_best_point():
    ax = profiles_plot({"C": ([1.0, -1.0, 0.0], [5.0, 6.0, 4.0]), "s(x)": ([0.0], [4.0])}, what="deviance")
    assert ax.lines[1].get_ydata().tolist() == [6.0, 4.0, 5.0]
    assert ax.get_ylabel() == "deviance"


def test_names_of_pairs_are_different_and_inside_the_figure():
    rng = np.random.default_rng(0)
    names = ["a major complication that was seen at night", "a major complication that was seen by day", "none", "some"]
    data = pd.DataFrame(
        {"x": rng.normal(size=120), "g": rng.choice([f"ward number {k} of it" for k in range(15)], 120)}
    )
    axes = svm("y ~ s(x) + g", data.assign(y=rng.choice(names, 120))).plot_terms(B=0)
    figure = axes[0].figure
    figure.draw_without_rendering()
    (legend,) = figure.legends
    told = [text.get_text() for text in legend.get_texts()]
    assert len(set(told)) == 6 and legend.get_window_extent().x1 <= figure.bbox.x1
    boxes = [label.get_window_extent() for label in axes[1].get_xticklabels()]
    assert all(one.x1 <= other.x0 + 1 for one, other in pairwise(boxes))
    assert figure._suptitle.get_window_extent().x1 <= figure.bbox.x1


def test_a_line_of_one_value_is_a_point_with_its_interval():
    data = sample(2).assign(x=lambda d: np.where(d["site"] == d["site"].iloc[0], d["x"].iloc[0], d["x"]))
    (ax,) = svm("y ~ s(x, by=site) + site", data).plot_terms("s(x, by=site)", B=39, rng=1)
    alone = [line for line in ax.lines if len(line.get_xdata()) == 1 and not line.get_label().startswith("_")]
    assert [(line.get_label(), line.get_xdata()[0]) for line in alone] == [(data["site"].iloc[0], data["x"].iloc[0])]
    (interval,) = [each.get_segments() for each in ax.collections if hasattr(each, "get_segments")]
    assert interval[0][:, 0].tolist() == [data["x"].iloc[0]] * 2
    low, high = interval[0][:, 1]
    assert low <= alone[0].get_ydata()[0] <= high


def test_lines_of_a_variable_are_told_by_dashes_where_colours_tell_pairs():
    data = sample(3)
    (ax,) = svm("y ~ s(x, by=site) + site", data).plot_terms("s(x, by=site)", B=0)
    sites = sorted(data["site"].unique())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == sites
    drawn = {(line.get_color(), line.get_linestyle()) for line in ax.lines if len(line.get_xdata()) > 1}
    looks = [line.get_linestyle() for line in ax.get_legend().get_lines()]
    assert len(set(looks)) == len(sites) and {dash for _, dash in drawn} >= set(looks)
    assert len({colour for colour, _ in drawn if colour}) >= 3


@pytest.mark.parametrize(("levels", "panels"), [(4, 1), (6, 3)])
def test_lines_that_are_more_than_dashes_have_a_panel_for_each_pair(levels, panels):
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"v": rng.normal(size=240), "g": rng.choice([f"g{k}" for k in range(levels)], 240)})
    data["y"] = rng.choice(["a", "b", "c"], 240)
    axes = svm("y ~ s(v, by=g)", data).plot_terms(B=0)
    assert len(axes) == panels
    for ax in axes:
        looks = [(line.get_color(), line.get_linestyle()) for line in ax.lines if len(line.get_xdata()) > 2]
        looks = [look for look in looks if look[1] != "None"]
        assert len(set(looks)) == len(looks) == (levels if panels > 1 else 3 * levels)
        assert len(ax.get_legend().get_texts()) == levels
    titles = [ax.get_title(loc="left") for ax in axes]
    assert titles == (["s(v, by=g)"] if panels == 1 else [f"s(v, by=g), {p}" for p in ("a : b", "a : c", "b : c")])
    shown = axes[0].get_legend().get_title().get_text()
    assert shown == ("pairs by colour alone" if panels == 1 else "")
    plt.close(axes[0].figure)
