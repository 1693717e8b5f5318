"""The dot chart of differences of scores."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from svmstat.reporting.plots import differences_plot

NAMES, DELTA, SE = ["svm", "_logit", "net"], [0.0, 20.0, -5.0], [np.nan, 4.0, 2.0]


@pytest.fixture
def ax():
    yield plt.figure().add_subplot()
    plt.close("all")


def ends(ax, which):
    return np.array([each[:, 0] for each in ax.collections[which].get_segments() if len(each)])


def test_dots_lines_and_names(ax):
    assert differences_plot(NAMES, DELTA, SE, ax=ax) is ax
    np.testing.assert_array_equal(ax.lines[1].get_xdata(), DELTA)
    np.testing.assert_array_equal(ends(ax, 0), [[16.0, 24.0], [-7.0, -3.0]])
    assert [text.get_text().strip() for text in ax.get_yticklabels()] == NAMES
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first model is on top
    assert ax.get_xlabel() == "score minus that of svm: smaller is better"


def test_nested_ones_stand_below(ax):
    differences_plot(NAMES, DELTA, SE, nested=([0.0, 18.0, -4.0], [np.nan, 9.0, 3.0]), ax=ax)
    np.testing.assert_array_equal(ends(ax, 1), [[9.0, 27.0], [-7.0, -1.0]])
    assert (ax.lines[2].get_ydata() > ax.lines[1].get_ydata()).all()
    assert "squares: nested" in ax.get_title("left")
