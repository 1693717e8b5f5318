"""Lines along a parameter: what is drawn where, what is marked, where lines break."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from svmstat.reporting.plots import criteria_plot, path_plot
from svmstat.reporting.plots.style import ACCENT

C = np.array([4.0, 0.5, 1.0, 16.0])
ORDER = np.argsort(C)


def dots(ax):
    return [line.get_xydata().tolist()[0] for line in ax.lines if line.get_marker() == "o"]


def curves(ax):
    return [line for line in ax.lines if line.get_marker() != "o"]


# -- criteria ----------------------------------------------------------------------------------------------------------


def test_lines_by_the_logarithm_in_rising_order():
    lines = {"GACV": [3.0, 1.0, 2.0, 5.0], "V0": np.array([0.3, 0.1, 0.05, 0.2])}
    ax = criteria_plot(C, lines, name="C")
    for line, (label, values) in zip(curves(ax), lines.items(), strict=True):
        assert line.get_label() == label
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([np.log2(C), values])[ORDER])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("log2 C", "criterion")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(lines)
    assert len({line.get_linestyle() for line in curves(ax)}) == 2  # also told apart without colour


def test_the_least_value_of_each_line_is_marked():
    ax = criteria_plot(C, {"a": [3.0, 1.0, 2.0, 5.0], "b": [9.0, 8.0, 8.5, 1.0]}, name="C")
    assert dots(ax) == [[-1.0, 1.0], [4.0, 1.0]]
    assert ax.get_title("left") == "dots: the least value of each"


def test_of_equal_values_the_smallest_parameter_is_marked():
    assert dots(criteria_plot(C, {"a": [1.0, 1.0, 2.0, 1.0]}, name="C")) == [[-1.0, 1.0]]


def test_lines_break_where_a_criterion_is_missing():
    ax = criteria_plot(C, {"a": [3.0, np.nan, 2.0, 5.0], "nothing": [np.nan] * 4}, name="C")
    values = np.array([np.nan, 2.0, 3.0, 5.0])
    np.testing.assert_array_equal(curves(ax)[0].get_ydata(), values)
    assert dots(ax) == [[0.0, 2.0]]  # and none of the line without values


def test_title_and_parameter():
    ax = criteria_plot([0.1, 0.2], {"a": [1.0, 2.0]}, name="gamma", title="C = 2")
    assert (ax.get_xlabel(), ax.get_title("left")) == ("log2 gamma", "C = 2")


def test_one_value():
    ax = criteria_plot([2.0], {"a": [1.5]}, name="C")
    assert dots(ax) == [[1.0, 1.5]]
    ax.figure.canvas.draw()


def test_a_line_is_not_changed():
    values, line = C.copy(), np.array([3.0, 1.0, 2.0, 5.0])
    criteria_plot(values, {"a": line}, name="C")
    np.testing.assert_array_equal(values, C)
    np.testing.assert_array_equal(line, [3.0, 1.0, 2.0, 5.0])


# -- paths -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3, 40])
def test_a_line_for_each_column(k):
    lines = np.random.default_rng(1).normal(size=(4, k))
    ax = path_plot(C, lines, 2.0, name="C", what="alpha")
    *drawn, mark = ax.lines
    assert len(drawn) == k
    for column, line in enumerate(drawn):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([np.log2(C), lines[:, column]])[ORDER])
    np.testing.assert_array_equal(mark.get_xdata(), [1.0, 1.0])
    assert to_hex(mark.get_color()) == ACCENT
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("log2 C", "alpha")
    assert ax.get_title("left") == "alpha along C; dashed: C = 2"


def test_no_line():
    ax = path_plot(C, np.empty((4, 0)), 1.0, name="C", what="alpha")
    assert len(ax.lines) == 1
    ax.figure.canvas.draw()
