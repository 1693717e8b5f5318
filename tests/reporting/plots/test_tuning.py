"""Contours of a criterion: round levels, labels inside the axes and away from the best point."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmstat.reporting.plots.tuning import contour_plot, line_plot, rising


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e5), st.sampled_from([1.0, 1.5, 2.0]))
def test_levels_are_round_and_around_all_scores(least, width, power):
    scores = np.array([least, least + width / 3, least + width])
    levels = rising(scores, power)
    if len(levels):
        assert (np.diff(levels) > 0).all() and 2 < len(levels) <= 12
        slack = 1e-9 * max(1.0, abs(least), width)
        assert levels[0] <= scores.min() + slack and levels[-1] >= scores.max() - slack
        steps = 10.0 ** np.floor(np.log10(np.diff(levels))) / 10
        np.testing.assert_allclose(levels[1:] / steps, np.round(levels[1:] / steps), rtol=1e-9, atol=1e-6)


def test_equal_scores_have_no_levels():
    assert len(rising(np.full(4, 3.0), 2.0)) == 0 and len(rising(np.empty(0), 2.0)) == 0


@pytest.mark.parametrize("size", [(4.0, 3.0), (6.0, 3.8)])
def test_labels_are_inside_and_the_best_point_is_free(size):
    C, gamma = 2.0 ** np.arange(-2, 9), 2.0 ** np.arange(-6, 4)
    x, y = np.meshgrid(np.log2(C), np.log2(gamma))
    scores = 480 + (x - 7.5) ** 2 + (y + 5.5) ** 2 + 0.3 * x * y
    ax = plt.figure(figsize=size, layout="constrained").add_subplot()
    contour_plot(C, gamma, scores, (128.0, 2.0**-5), np.zeros(scores.shape, bool), ax=ax)
    ax.figure.canvas.draw()
    frame, mark = ax.get_window_extent(), ax.transData.transform((7.0, -5.0))
    assert len(ax.texts) >= 2
    for text in ax.texts:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
        assert not box.contains(*mark)
        assert float(text.get_text().replace("−", "-")) in rising(scores.ravel(), 2.0)


def test_the_legend_is_below():
    near = np.array([[1.0, 3.0]])
    ax = line_plot({"": ([1.0, 2.0], [3.0, 2.0])}, (2.0, 2.0), near, name="C")
    ax.figure.canvas.draw()
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["within one paired se of the best"]
    assert legend.get_window_extent().y1 < ax.get_window_extent().y0
