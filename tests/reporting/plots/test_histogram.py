"""The histogram of replicates: what it counts, and labels that stay apart."""

import numpy as np
import pytest

from svmstat.reporting.plots import replicates_plot

REPLICATES = np.random.default_rng(1).normal(400.0, 20.0, 999)


def texts(ax):
    return sorted(text.get_text() for text in ax.texts)


def counts(ax):
    return [bar.get_height() for bar in ax.patches]


def test_counts_lines_and_labels():
    ax = replicates_plot(REPLICATES, 418.1, 433.25, level=0.95)
    assert sum(counts(ax)) == 999
    assert sorted(line.get_xdata()[0] for line in ax.lines) == [418.1, 433.25]
    assert texts(ax) == ["95 % point 433.2", "D = 418.1"]
    assert ax.get_title("left") == "999 replicates"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("bootstrapped deviance D*", "number of replicates")


def test_failed_replicates_are_counted_and_not_shown():
    some = REPLICATES.copy()
    some[[3, 5, 700]] = np.nan
    ax = replicates_plot(some, 418.1, 433.2, level=0.9)
    assert sum(counts(ax)) == 996
    assert ax.get_title("left") == "996 replicates; 3 failed, not shown"
    assert "90 % point 433.2" in texts(ax)


@pytest.mark.parametrize("spread", [0.0, 2.0, 10.0])
def test_replicates_far_from_the_statistic_can_be_seen(spread):
    ax = replicates_plot(860.0 + spread * np.linspace(-1, 1, 99), 486.0, 856.0, level=0.05)
    assert sum(counts(ax)) == 99
    shown = np.diff(ax.get_xlim())[0]
    assert all(bar.get_width() > shown / 100 for bar in ax.patches)
    white = [bar.get_edgecolor() == (1.0, 1.0, 1.0, 1.0) for bar in ax.patches]
    assert white == [bar.get_width() > shown / 60 for bar in ax.patches]


@pytest.mark.parametrize("replicates", [[np.nan, np.nan], [np.nan]])
def test_all_failed(replicates):
    ax = replicates_plot(replicates, 418.1, float("nan"), level=0.95)
    assert counts(ax) == []
    assert texts(ax) == ["D = 418.1"]
    assert ax.get_title("left") == f"0 replicates; {len(replicates)} failed, not shown"


@pytest.mark.parametrize("replicates", [[400.0], [400.0] * 20, [0.0, 0.0], [0.0] * 99 + [5.0]])
def test_hardly_any_spread(replicates):
    ax = replicates_plot(replicates, 1.0, replicates[-1], level=0.95)
    assert sum(counts(ax)) == len(replicates)


@pytest.mark.parametrize("level", [0.95, 0.975])
@pytest.mark.parametrize("statistic", [250.0, 345.0, 400.0, 430.0, 455.0, 600.0])
@pytest.mark.parametrize("apart", [-30.0, -2.0, 0.0, 0.3, 5.0, 60.0])
def test_no_label_meets_the_other_or_its_line(level, statistic, apart):
    ax = replicates_plot(REPLICATES, statistic, statistic + apart, level=level)
    ax.figure.canvas.draw()
    first, second = (text.get_window_extent() for text in ax.texts)
    assert not first.overlaps(second)
    frame = ax.get_window_extent()
    tops = [line.get_ydata()[1] for line in ax.lines]
    for box, line, top in ((first, ax.lines[1], tops[1]), (second, ax.lines[0], tops[0])):
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1
        x = ax.transData.transform((line.get_xdata()[0], 0.0))[0]
        high = frame.y0 + top * frame.height
        assert not (box.x0 < x < box.x1 and high > box.y0)


def test_the_bars_stay_below_the_labels():
    ax = replicates_plot(REPLICATES, 400.0, 433.2, level=0.95)
    ax.figure.canvas.draw()
    assert ax.transData.transform((0, max(counts(ax))))[1] < min(text.get_window_extent().y0 for text in ax.texts)
