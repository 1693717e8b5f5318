"""Outlyingness against influence: every row is there, those beyond either envelope are labelled."""

import numpy as np
import pytest

from svmstat.reporting.plots import outlying_plot

X, Y, NAMES = [0.1, 0.2, 0.9, 0.3], [1.0, 9.0, 2.0, np.nan], ["a", "b", "c", "d"]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_rows_beyond_either_are_labelled():
    ax = outlying_plot(X, Y, NAMES, (0.5, 6.0), level=0.9)
    assert texts(ax) == ["90 % envelope", "90 % envelope", "c", "b"]  # the farthest beyond first
    assert ax.get_title("left") == "1 row without a value"
    assert ax.get_xlabel() == "influence, rms change of f" and ax.get_ylabel() == "outlyingness, −2 log π"
    drawn = np.vstack([each.get_offsets().filled(np.nan) for each in ax.collections])
    assert {(0.1, 1.0), (0.2, 9.0), (0.9, 2.0)} <= set(map(tuple, drawn.tolist()))
    assert ax.get_xlim()[1] > 0.9 and ax.get_ylim()[1] > 9.0


@pytest.mark.parametrize("end", [np.inf, np.nan])
def test_without_an_envelope_nothing_is_beyond(end):
    ax = outlying_plot(X, Y, NAMES, (end, end), level=0.95)
    assert texts(ax) == []


def test_more_than_can_be_labelled_are_counted():
    ax = outlying_plot(np.ones(60), np.full(60, 7.0), range(60), (0.5, 6.0), level=0.95)
    assert "more beyond a line not labelled" in ax.get_title("left")


def test_no_label_stands_above_another_point():
    """Without an envelope the largest are labelled; beside its point a label would be taken for that of the next."""
    x, y = [0.142, 0.139, 0.1395, 0.124, 0.124], [9.7, 9.3, 8.4, 7.9, 14.7]
    ax = outlying_plot(
        x, y, [f"a group of rows, number {k}" for k in range(5)], (np.inf, np.inf), level=0.95, extreme=5
    )
    ax.figure.draw_without_rendering()
    points = ax.transData.transform(np.column_stack([x, y]))
    for text in ax.texts:
        box, own = text.get_window_extent(), int(text.get_text()[-1])
        below = (points[:, 0] > box.x0) & (points[:, 0] < box.x1) & (abs(box.y0 - points[:, 1]) < 10.0)
        assert set(np.flatnonzero(below).tolist()) <= {own}
    left = 5 - len(ax.texts)
    assert left > 0 and ax.get_title("left") == f"{left} of the largest not labelled"


def test_points_at_zero_are_seen():
    ax = outlying_plot(np.zeros(5), np.arange(5.0), range(5), (0.0, 9.0), level=0.95)
    assert ax.get_xlim()[0] < 0.0 and ax.get_ylim()[0] < 0.0


@pytest.mark.parametrize("end", [0.05, 0.7])
def test_no_line_crosses_a_label(end):
    ax = outlying_plot(X, Y, NAMES, (end, 6.0), level=0.9)
    ax.figure.draw_without_rendering()
    across = ax.transData.transform((end, 0.0))[0]
    box = ax.texts[1].get_window_extent()
    assert ax.texts[1].get_rotation() == 0.0 and not box.x0 <= across <= box.x1
