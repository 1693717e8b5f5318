"""The histogram of a bootstrapped statistic, with the observed one and the percentile."""

import itertools
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from svmstat.reporting.plots.style import ACCENT, GREY, INK, PALE, SMALL, Axes, drawing, settle
from svmstat.reporting.rendering.values import percent

_ROWS = (0.965, 0.885)  # heights of the labels in the axes
_GAP = 4.0  # points between a line and its label
_NARROW, _NARROWEST = 1 / 60, 1 / 80  # of what is shown: a bin without edges, one that can still be seen
_SLACK = 1.2  # a later layout may make the axes narrower


def replicates_plot(
    replicates: ArrayLike,
    statistic: float,
    critical_value: float,
    *,
    level: float,
    ax: Axes | None = None,
    letter: str = "D",
    xlabel: str = "bootstrapped deviance D*",
) -> Axes:
    """A histogram of bootstrap replicates, with the observed statistic and the percentile marked.

    Parameters
    ----------
    replicates : array_like (B,)
        Failed replicates are NaN; they are not shown, and counted in the title.
    statistic : float
        The observed one.
    critical_value : float
        The percentile of the replicates at ``level``; without one, NaN or infinite.
    level : float
        Between 0 and 1.
    ax : Axes, optional
        Drawn into; by default a new figure.
    letter : str
        What the statistic is called.
    xlabel : str
        What the replicates are.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = replicates_plot([380.0, 410.5, 432.1, float("nan")], 418.1, 432.1, level=0.95)
    >>> ax.get_title("left")
    '3 replicates; 1 failed, not shown'
    >>> sorted(text.get_text() for text in ax.texts)
    ['95 % point 432.1', 'D = 418.1']
    >>> plt.close(ax.figure)
    """
    every = np.asarray(replicates, dtype=float)
    finite = every[np.isfinite(every)]
    failed = len(every) - len(finite)
    marks = [
        (statistic, f"{letter} = {_rounded(statistic)}", ACCENT, "-"),
        (critical_value, f"{percent(level)} point {_rounded(critical_value)}", INK, (0, (5, 3))),
    ]
    marks = [mark for mark in marks if np.isfinite(mark[0])]
    with drawing(ax) as ax:
        top, ends = 1.0, [*finite, *(mark[0] for mark in marks)]
        width = max(ends) - min(ends) if ends else 0.0
        if len(finite):
            edges = _bins(finite, width)
            narrow = edges[1] - edges[0] < _NARROW * width
            look = {"color": GREY} if narrow else {"color": PALE, "edgecolor": "white", "linewidth": 0.6}
            counts, _, _ = ax.hist(finite, bins=edges, **look)
            top = counts.max()
        ax.set_ylim(0.0, 1.3 * top)
        margin = 0.04 * width if width > 0 else 1.0
        ax.set_xlim(min(ends, default=0.0) - margin, max(ends, default=0.0) + margin)
        ax.yaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel=xlabel, ylabel="number of replicates")
        noun = "replicate" if len(finite) == 1 else "replicates"
        title = f"{len(finite)} {noun}; {failed} failed, not shown" if failed else f"{len(finite)} {noun}"
        ax.set_title(title, fontsize=SMALL)
        settle(ax)
        _mark(ax, marks)
    return ax


def _rounded(value: float) -> str:
    """One decimal of a deviance, three of a small number."""
    return f"{value:.1f}" if abs(value) >= 10.0 else f"{value:.3f}"


def _bins(finite: Any, shown: float) -> Any:
    """Edges by the rule of Freedman and Diaconis, 8 to 40 bins of one width, none too narrow to be seen."""
    extent, least = float(np.ptp(finite)), _NARROWEST * shown if shown > 0 else 1.0
    if extent <= least:
        middle = 0.5 * (finite.min() + finite.max())
        return np.array([middle - 0.5 * least, middle + 0.5 * least])
    spread = 2.0 * np.subtract(*np.percentile(finite, [75, 25])) / len(finite) ** (1 / 3)
    number = np.clip(np.ceil(extent / spread) if spread > 0 else 8, 8, 40)
    return np.linspace(finite.min(), finite.max(), int(min(number, extent / least)) + 1)


def _mark(ax: Axes, marks: list[Any]) -> None:
    """Lines with their labels, in the first arrangement in which nothing crosses a label."""
    frame, gap = ax.get_window_extent(), _GAP * ax.figure.dpi / 72.0
    at = [ax.transData.transform((mark[0], 0.0))[0] for mark in marks]
    across = ax.get_xaxis_transform()
    texts = [
        ax.annotate(
            label,
            (value, _ROWS[0]),
            xycoords=across,
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=SMALL,
            color=colour,
            va="center",
        )
        for value, label, colour, _ in marks
    ]
    widths = [_SLACK * text.get_window_extent().width for text in texts]
    heights, directions = (itertools.product(each, repeat=len(marks)) for each in ((0, 1), (1, -1)))

    def trouble(way: Any) -> tuple[int, float]:
        rows, sides = way
        spans = [sorted((x + s * gap, x + s * (gap + w))) for x, s, w in zip(at, sides, widths, strict=True)]
        bad = sum(low < frame.x0 or high > frame.x1 for low, high in spans)
        for i, j in itertools.permutations(range(len(marks)), 2):
            bad += rows[j] <= rows[i] and spans[i][0] - gap < at[j] < spans[i][1] + gap
            bad += rows[i] == rows[j] and spans[i][0] < spans[j][1] and spans[j][0] < spans[i][1]
        return bad, float(sum(rows))

    rows, sides = min(itertools.product(heights, directions), key=trouble)
    for (value, _, colour, style), text, row, side in zip(marks, texts, rows, sides, strict=True):
        height = 1.0 if row == 0 else _ROWS[row] + 0.03
        ax.axvline(value, ymax=height, color=colour, linestyle=style, linewidth=1.4)
        text.xy = (value, _ROWS[row])
        text.set_position((side * _GAP, 0))
        text.set_ha("left" if side > 0 else "right")
