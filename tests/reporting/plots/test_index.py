"""Index plots: every row is there, those above the line are labelled, no two labels meet."""

import itertools

import numpy as np
import pytest

from svmstat.reporting.plots import index_plot
from svmstat.reporting.plots.index import MOST_LABELS

LINE = 3.84


def labels(ax):
    """The texts that name a row, that is, all but the label of the line."""
    return [text for text in ax.texts if "point of" not in text.get_text()]


def names(ax):
    return sorted(text.get_text() for text in labels(ax))


def points(ax):
    return np.vstack(
        [each.get_offsets() for each in ax.collections if hasattr(each, "get_sizes") and len(each.get_sizes())]
    )


def test_all_rows_at_their_positions():
    values = np.array([0.5, 4.0, -0.2, 9.0])
    ax = index_plot(values, ["p", "q", "r", "s"], LINE, label="95 % point of")
    drawn = points(ax)
    order = np.argsort(drawn[:, 0])
    assert drawn[order, 0].tolist() == [1, 2, 3, 4]
    assert drawn[order, 1].tolist() == values.tolist()
    assert names(ax) == ["q", "s"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("position of the row", "deletion deviance ΔD")
    assert ax.get_title("left") == ""


def test_the_line_and_its_label():
    ax = index_plot([1.0, 5.0], [0, 1], LINE, label="95 % point of\nχ²(1)")
    assert [each.get_text() for each in ax.texts if "point of" in each.get_text()] == ["95 % point of\nχ²(1): 3.84"]
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert [list(line.get_ydata()) for line in dashed] == [[LINE, LINE]]


@pytest.mark.parametrize("critical", [np.inf, np.nan])
def test_without_a_line_nothing_is_above(critical):
    ax = index_plot([1.0, 5.0], [0, 1], critical, label="95 % point of")
    assert len(ax.texts) == 0 and ax.get_ylim()[1] < 6.0


def test_without_a_line_the_largest_are_labelled():
    ax = index_plot([1.0, np.nan, 5.0, 3.0], list("abcd"), np.inf, label="", extreme=2)
    assert names(ax) == ["c", "d"] and ax.get_title("left") == "1 row without a value"
    crowded = index_plot(np.r_[np.zeros(400), np.full(5, 5.0)], range(405), np.inf, label="", extreme=5)
    assert crowded.get_title("left") == ""
    assert names(index_plot([np.nan, 2.0], list("ab"), np.inf, label="", extreme=5)) == ["b"]


def test_the_line_is_seen_when_nothing_reaches_it():
    ax = index_plot([0.1, 0.2], [0, 1], LINE, label="95 % point of")
    assert ax.get_ylim()[1] > LINE
    assert names(ax) == []


def test_a_value_on_the_line_is_not_above_it():
    assert names(index_plot([LINE, LINE + 1e-9], ["on", "above"], LINE, label="95 % point of")) == ["above"]


def test_missing_values_are_counted():
    ax = index_plot([np.nan, 5.0, np.nan], ["a", "b", "c"], LINE, label="95 % point of")
    assert len(points(ax)) == 1
    assert names(ax) == ["b"]
    assert ax.get_title("left") == "2 rows without a value"


@pytest.mark.parametrize("values", [[], [np.nan, np.nan]])
def test_nothing_to_show(values):
    ax = index_plot(values, list(range(len(values))), LINE, label="95 % point of")
    assert names(ax) == []


def test_too_many_above_the_line():
    values = np.linspace(4.0, 9.0, 60)
    ax = index_plot(values, list(range(60)), LINE, label="95 % point of")
    shown = len(labels(ax))
    assert 0 < shown <= MOST_LABELS
    assert ax.get_title("left") == f"{60 - shown} more above the line are not labelled"
    assert "59" in names(ax)


@pytest.mark.parametrize("seed", range(8))
def test_labels_do_not_meet_and_stay_inside(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 700))
    values = rng.gamma(0.3, 1.5, n)
    start = int(rng.integers(0, n - 12))
    values[start : start + 12] = rng.uniform(4.0, 9.0, 12)  # neighbours
    values[[0, -1]] = 7.0
    ax = index_plot(values, [f"station {k}" for k in range(n)], LINE, label="95 % point of")
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in labels(ax)]
    assert len(boxes) >= 3
    frame = ax.get_window_extent()
    for box in boxes:
        assert frame.x0 - 1 <= box.x0 and box.x1 <= frame.x1 + 1 and box.y1 <= frame.y1 + 1
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_the_label_of_the_line_is_inside_the_figure():
    ax = index_plot([1.0, 5.0], [0, 1], LINE, label="95 % point of")
    ax.figure.canvas.draw()
    text = next(each for each in ax.texts if "point of" in each.get_text())
    assert text.get_window_extent().x1 <= ax.figure.bbox.x1
