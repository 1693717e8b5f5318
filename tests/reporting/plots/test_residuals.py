"""Shares of decision values by pair: all of few pairs, of many those whose classes are told apart worst."""

from functools import partial
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from svmstat import svm
from svmstat.objective.residuals import Binned
from svmstat.reporting.plots.residuals import overview_plot, residuals_page, residuals_plot, values_plot


def drawn(K):
    """The axes of K classes of 20 and 40 rows, and which share of the rows is on the wrong side by pair."""
    rng = np.random.default_rng(K)
    codes, pairs = np.repeat(np.arange(K), 20 + 20 * (np.arange(K) % 2)), list(combinations(range(K), 2))
    wrong = rng.permutation(len(pairs)) % 19
    sizes = np.bincount(codes)
    f = np.full((len(codes), len(pairs)), np.nan)
    for p, (i, j) in enumerate(pairs):
        f[codes == i, p], f[codes == j, p] = 1.0, -1.0
        f[np.flatnonzero(codes == i)[: wrong[p]], p] = -1.0
    ax = plt.figure().add_subplot()
    values_plot(f, codes, np.ones(len(codes)), pairs, list("abcdefghij")[:K], ax)
    shares = [errs / (sizes[i] + sizes[j]) for errs, (i, j) in zip(wrong, pairs, strict=True)]
    return ax, dict(zip([f"{'abcdefghij'[i]} : {'abcdefghij'[j]}" for i, j in pairs], shares, strict=True))


@pytest.mark.parametrize("K", [3, 6])
def test_all_of_few_pairs_are_drawn(K):
    ax, wrong = drawn(K)
    assert [text.get_text() for text in ax.get_yticklabels()] == list(wrong)[::-1]
    assert ax.get_title() == "shares of each class"


def test_of_many_pairs_those_with_most_errors_are_drawn():
    ax, wrong = drawn(10)
    shown = [text.get_text() for text in ax.get_yticklabels()]
    assert shown == [pair for pair in reversed(wrong) if pair in shown]
    assert len(shown) == 15
    assert min(wrong[pair] for pair in shown) >= max(errs for pair, errs in wrong.items() if pair not in shown)
    assert ax.get_title() == "shares of each class;\nof 45 pairs the 15 with the largest shares of errors"
    assert ax.get_legend_handles_labels()[1] == list("abcdefghij")


def test_more_levels_than_colours_are_told_by_lines_and_markers():
    rng = np.random.default_rng(1)
    at = 2.0 * np.pi * (np.arange(420) % 14) / 12.0  # level 12 lies on level 0
    data = pd.DataFrame({"x": np.cos(at), "z": np.sin(at)}) + 0.2 * rng.normal(size=(420, 2))
    data["y"] = [f"L{k:02d}" for k in np.arange(420) % 14]
    axes = svm("y ~ x + z", data, C=1, gamma=0.5).plot(rng=1)
    (legend,) = axes[0].figure.legends
    assert len({(each.get_color(), each.get_linestyle(), each.get_marker()) for each in legend.legend_handles}) == 14
    at = [text.get_text() for text in axes[3].get_yticklabels()].index("L00 : L12")
    edges = [each for each in axes[3].patches if not each.get_fill() and abs(each.get_data().baseline - at) < 0.01]
    assert len(edges) == 2 and edges[0].get_linestyle() != edges[1].get_linestyle()
    axes[0].figure.draw_without_rendering()
    assert axes[3].title.get_window_extent().x1 <= axes[0].figure.bbox.x1


def drawn_into(found, names, xlabel, ax):
    return residuals_plot(found, names, xlabel=xlabel, ax=ax)


@pytest.mark.parametrize("n", [1, 4])
def test_the_label_of_all_panels_stands_beside_them_and_not_beside_a_long_legend(n):
    names = [f"a level with a name of some length, {k}" for k in range(9)]
    found = [Binned(np.arange(3.0), np.zeros(3), np.ones(3), np.full(3, 9.0))] * len(names)
    axes = residuals_page([partial(drawn_into, found, names, f"x{k}") for k in range(n)], names)
    figure = axes[0].figure
    (label,) = (text for text in figure.texts if "observed" in text.get_text())
    ends = [end for ax in axes for end in ax.get_position().intervaly]
    assert label.get_position()[1] == pytest.approx(np.mean([min(ends), max(ends)]))
    assert label.get_window_extent().y0 > figure.legends[0].get_window_extent().y1


def test_the_title_of_pairs_with_long_names_stays_in_the_figure():
    levels = [12 * letter for letter in "mnopqrs"]
    pairs = list(combinations(range(7), 2))
    codes = np.repeat(np.arange(7), 10)
    f = np.random.default_rng(0).normal(size=(70, len(pairs)))
    draw = [lambda ax: None] * 3 + [lambda ax: values_plot(f, codes, np.ones(70), pairs, levels, ax)]
    axes = overview_plot(draw, "four panels", classes=True)
    figure = axes[3].figure
    figure.canvas.draw()
    assert "the 15 with" in axes[3].get_title(loc="left")
    assert axes[3].get_tightbbox().x1 <= figure.bbox.x1
