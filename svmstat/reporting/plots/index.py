"""Index plots: one value per row, those above a critical value labelled."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from svmstat._tools.texts import counted
from svmstat.objective.replicated import above
from svmstat.reporting.plots.style import ACCENT, GREY, INK, SMALL, Axes, drawing, pyplot, settle

MOST_LABELS = 15

_NEAR = ((0, 5, "center"), (5, 2, "left"), (-5, 2, "right"))  # offsets in points, alignment
_FAR = tuple((dx, dy, "center") for dy in (16, 27, 38, 49) for dx in (0, 16, -16, 32, -32))
_ALONG = np.linspace(0.0, 1.0, 12)
_PAPER = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.4}
_STEM = 12.0
"""Points of distance that a label may go to avoid crossing one more stem."""
_BELOW = 14.0
"""Points within which a label beside its point must not stand above another one, as if it were the label of that."""


def index_plot(
    values: ArrayLike,
    labels: Sequence[object],
    critical: float,
    *,
    label: str,
    ax: Axes | None = None,
    ylabel: str = "deletion deviance ΔD",
    what: str = "row",
    extreme: int = 0,
    places: ArrayLike | None = None,
) -> Axes:
    r"""Values against the position of their rows, those above a critical value labelled.

    Parameters
    ----------
    values : array_like (n,)
        Rows with NaN are left out, and counted in the figure.
    labels : sequence (n,)
        The index labels of the rows.
    critical : float
        Where the dashed line is drawn; nowhere if it is not finite.
    label : str
        What it is.
    ax : Axes, optional
        Drawn into; by default a new figure.
    ylabel : str
        What the values are.
    what : str
        What they are of.
    extreme : int
        How many of the largest values are labelled where there is no line.
    places : array_like (n,), optional
        The positions of the rows, rising; by default 1 … n.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = index_plot([0.3, 5.1, 1.2], ["a", "b", "c"], 3.84, label="95 % point\nof χ²(1)")
    >>> [text.get_text() for text in ax.texts]
    ['95 % point\nof χ²(1): 3.84', 'b']
    >>> plt.close(ax.figure)
    """
    y = np.asarray(values, dtype=float)
    x = np.arange(1, len(y) + 1) if places is None else np.asarray(places)
    high = above(y, critical)
    has_line, beyond, missing = bool(np.isfinite(critical)), int(high.sum()), int(np.isnan(y).sum())
    chosen = np.argsort(-y, kind="stable")[: min(beyond, MOST_LABELS) if has_line else min(extreme, len(y) - missing)]
    with drawing(ax) as ax:
        _stems(ax, x, y, high)
        ends = [0.0, *y]
        if has_line:
            ends.append(critical)
            ax.axhline(critical, color=INK, linewidth=0.9, linestyle=(0, (5, 3)))
            ax.annotate(
                f"{label}: {critical:.2f}",
                (1.0, critical),
                xycoords=("axes fraction", "data"),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=SMALL,
                annotation_clip=False,
            )
        low, high = np.nanmin(ends), np.nanmax(ends)
        ax.set_ylim(low - 0.03 * (high - low) * (low < 0), high + 0.14 * (high - low))
        last = int(x.max(initial=1))
        margin = max(0.5, 0.015 * last)
        ax.set_xlim(1 - margin, last + margin)
        ax.set(xlabel=f"position of the {what}", ylabel=ylabel)
        settle(ax)
        placed = label_points(ax, [(float(x[k]), float(y[k]), str(labels[k])) for k in chosen], x, y)
        if note := _note(beyond - placed if has_line else 0, missing, what):
            ax.set_title(note, fontsize=SMALL)
    return ax


def _note(unlabelled: int, missing: int, what: str = "row") -> str:
    parts = []
    if unlabelled:
        parts.append(f"{unlabelled} more above the line {'is' if unlabelled == 1 else 'are'} not labelled")
    if missing:
        parts.append(f"{counted(missing, what)} without a value")
    return "; ".join(parts)


def _stems(ax: Axes, x: Any, y: Any, high: Any) -> None:
    shown = ~np.isnan(y)
    for which, colour, width, size in ((shown & ~high, GREY, 0.7, 4.0), (high, ACCENT, 1.2, 16.0)):
        ax.vlines(x[which], 0.0, y[which], colors=colour, linewidths=width)
        ax.scatter(x[which], y[which], s=size, color=colour, linewidths=0, zorder=3)
    ax.axhline(0.0, color=GREY, linewidth=0.8)


def label_points(ax: Axes, points: list[tuple[float, float, str]], x: Any, y: Any, stems: bool = True) -> int:
    """Label points, the largest first, where no other text, labelled point or leader is; how many found a place.

    ``x``, ``y`` are all points that are drawn, on ``stems`` or not.
    """
    pixel, line = ax.figure.dpi / 72.0, pyplot().matplotlib.path.Path
    frame = ax.get_window_extent()
    tips = ax.transData.transform(np.column_stack([x, np.nan_to_num(y)]))
    marks = ax.transData.transform([point[:2] for point in points]) if points else np.empty((0, 2))
    taken: list[Any] = []
    leaders, ends = np.empty((0, 2)), list[Any]()
    for k, (px, py, name) in enumerate(points):
        text = ax.annotate(name, (px, py), xytext=(0, 0), textcoords="offset points", fontsize=SMALL)
        best = None
        for dx, dy, side in _NEAR + _FAR:
            text.set_position((dx, dy))
            text.set_ha(side)
            box = text.get_window_extent().padded(1.5 * pixel)
            leader = marks[k] + np.outer(_ALONG, (dx * pixel, dy * pixel)) if (dx, dy, side) in _FAR else leaders[:0]
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
            obstacles = np.vstack([np.delete(marks, k, axis=0), leaders])
            if not inside or box.count_contains(obstacles):
                continue
            if any(box.overlaps(each) or each.count_contains(leader) for each in taken):
                continue
            if len(leader) and any(line(leader[[0, -1]]).intersects_path(each, filled=False) for each in ends):
                continue
            within = tips[(tips[:, 0] > box.x0) & (tips[:, 0] < box.x1), 1]
            if side != "center" and ((within > box.y0 - _BELOW * pixel) & (within <= box.y0)).any():
                continue
            cost = float(np.hypot(dx, dy) + _STEM * (stems and np.count_nonzero(within > box.y0)))
            if best is None or cost < best[0]:
                best = (cost, (dx, dy, side), box, leader)
        if best is None:
            text.remove()
            continue
        _, (dx, dy, side), box, leader = best
        text.set_position((dx, dy))
        text.set_ha(side)
        text.set_bbox(_PAPER)
        if len(leader):
            start, end = ax.transData.inverted().transform(leader[[0, -1]])
            ax.plot([start[0], end[0]], [start[1], end[1]], color=GREY, linewidth=0.6, zorder=2)
            leaders = np.vstack([leaders, leader])
            ends.append(line(leader[[0, -1]]))
        taken.append(box)
    return len(taken)
