"""Effects of predictors: lines over a number, dots over levels, maps of two numbers, and pages of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.texts import written
from svmstat.reporting.plots.style import (
    ACCENT,
    GREY,
    INK,
    MANY_MARKS,
    SIZE,
    SMALL,
    Axes,
    across,
    along_axis,
    along_figure,
    class_look,
    drawing,
    fitted,
    in_legend,
    in_lines,
    label_of,
    legend_below,
    legend_of_classes,
    legend_of_panels,
    panels,
    pyplot,
    told_apart,
    widen,
    with_room_below,
)

Band = tuple[Floats, Floats]
Names = Sequence[Any] | np.ndarray

_FINE = 120
"""Points along each axis of a map, or along a line, between which and its grid values are interpolated."""

_MOST_CURVES = 200
_LONG_TICKS = 24
"""Letters of all names of levels together, from which on they are turned."""

_LETTER = 0.085
"""Inches that a letter of such a name takes, lying."""

_UPRIGHT, _SHORTEST = 6.0, 12
"""Letters of a turned name for each inch of the axes, and how many it may have in any case."""

_HEIGHT = 0.13
"""Inches between two such names."""

_MOST_TICKS = 12
_BLEND = ["#a4452c", "#e8b9a0", "#f7f7f4", "#a9c4de", "#1f5a91"]


@dataclass(frozen=True, slots=True)
class Labels:
    """What stands on the axes, what the q lines are called, and the title."""

    x: str
    y: str
    names: tuple[str, ...]
    title: str


def lines_plot(
    x: Floats, y: Floats, band: Band | None, labels: Labels, *, rug: Floats, panel: bool = False, ax: Axes | None = None
) -> Axes:
    """Lines y (v, q) over numbers x (v,), with their bands, and the observed numbers below.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> labels = Labels("x", "ALE", ("P(y = 1)",), "")
    >>> ax = lines_plot(np.arange(3.0), np.array([[-0.1], [0.0], [0.2]]), None, labels, rug=np.arange(3.0))
    >>> ax.get_xlabel(), len(ax.get_lines())
    ('x', 3)
    >>> plt.close(ax.figure)
    """
    with drawing(ax, with_room_below(SIZE, labels.names)) as ax:
        _rug(ax, rug)
        if np.nanmin(y) < 0.0 < np.nanmax(y):
            ax.axhline(0.0, color=GREY, linewidth=0.8)
        for k, name in enumerate(in_legend(labels.names)):
            colour, line = _of(k, len(labels.names))
            if band is not None:
                ax.fill_between(x, band[0][:, k], band[1][:, k], color=colour, alpha=0.2, linewidth=0)
            marker = "." if len(x) < 30 else ""
            ax.plot(x, y[:, k], line, color=colour, marker=marker, markersize=4, label=name)
        if not panel:
            widen(ax)
        _label(ax, labels, panel)
    return ax


def dots_plot(
    levels: Names, y: Floats, band: Band | None, labels: Labels, *, panel: bool = False, ax: Axes | None = None
) -> Axes:
    """Dots y (v, q) over levels (v,), with lines for their bands.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> labels = Labels("side", "average P", ("P(y = 1)",), "")
    >>> ax = dots_plot(["left", "right"], np.array([[0.1], [0.4]]), None, labels)
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['left', 'right']
    >>> plt.close(ax.figure)
    """
    with drawing(ax) as ax:
        _dots(ax, levels, y, band, labels.names)
        if not panel:
            widen(ax)
        _label(ax, labels, panel)
    return ax


def curves_plot(x: np.ndarray, curves: Floats, mean: Floats, labels: Labels, *, ax: Axes | None = None) -> Any:
    """The curves (n, q, v) of rows over x (v,), numbers or levels, a panel for each of several q; mean (v, q) thick."""
    n, q, _ = curves.shape
    shown = np.unique(np.linspace(0, n - 1, min(n, _MOST_CURVES)).round().astype(int))
    numeric = x.dtype != object
    at = x if numeric else np.arange(len(x))
    some = f"{n} rows" if len(shown) == n else f"{len(shown)} of {n} rows"

    def draw(ax: Axes, k: int) -> None:
        ax.plot(at, curves[shown, k].T, color=GREY, linewidth=0.5, alpha=max(0.15, min(0.6, 20.0 / len(shown))))
        ax.plot(at, mean[:, k], color=ACCENT, linewidth=2.2)
        if not numeric:
            level_ticks(ax, x)

    return _each(draw, q, Labels(labels.x, labels.y, labels.names, f"thin: {some}; {labels.title}"), ax)


def map_plot(
    grid: tuple[np.ndarray, ...], z: Floats, data: Floats, labels: Labels, *, what: str, diverging: bool,
    inside: Callable[[Floats], NDArray[np.bool_]], ax: Axes | None = None,
) -> Any:  # fmt: skip
    """A map z (v, w, q) over two numbers, blank where there are no data near; one panel for each of several q.

    Parameters
    ----------
    grid : (v,) and (w,)
    z : between its grid points it is bilinear
    data : (n, 2) the rows
    labels : of the axes; what the maps are called
    what : z is
    diverging : whether colours part at zero
    inside : whether there are data near points (m, 2)
    ax : Axes, optional
    """
    x, y = (np.linspace(each[0], each[-1], _FINE) for each in grid)
    points = np.column_stack([each.ravel() for each in np.meshgrid(x, y, indexing="ij")])
    blank = ~inside(points).reshape(_FINE, _FINE)
    fine = np.stack([_bilinear(grid, z[..., k], x, y) for k in range(z.shape[-1])])
    shown = np.ma.masked_where(np.broadcast_to(blank, fine.shape), fine)
    low, high = float(shown.min()), float(shown.max())
    if diverging:
        low, high = -max(-low, high), max(-low, high)
    plt = pyplot()
    levels = plt.MaxNLocator(10).tick_values(low, high) if high > low else np.array([low - 0.5, low + 0.5])
    colours = plt.matplotlib.colors.LinearSegmentedColormap.from_list("effects", _BLEND if diverging else _BLEND[2:])
    drawn: list[Any] = []

    def draw(ax: Axes, k: int) -> None:
        drawn.append(ax.contourf(x, y, shown[k].T, levels=levels, cmap=colours))
        ax.contour(x, y, shown[k].T, levels=levels, colors=GREY, linewidths=0.5)
        ax.scatter(*data.T, s=3, color=INK, alpha=max(0.15, min(0.6, 60.0 / len(data))), linewidths=0, zorder=3,
                   rasterized=len(data) > MANY_MARKS)  # fmt: skip
        if len(drawn) == z.shape[-1]:
            axes = [each.axes for each in drawn]
            bar = axes[0].figure.colorbar(drawn[0], ax=axes, shrink=0.8, aspect=28, pad=0.02)
            bar.outline.set_visible(False)
            bar.set_label(along_axis(what))

    return _each(draw, z.shape[-1], labels, ax, (6.2, 4.6))


def grouped_plot(
    x: np.ndarray, y: Floats, labels: Labels, outcomes: Sequence[str], *, by_levels: bool,
    inside: Callable[[Floats], NDArray[np.bool_]] | None = None, ax: Axes | None = None,
) -> Any:  # fmt: skip
    """Lines, or dots over levels, y (v, groups, q) over x (v,), a colour for each group; a panel for each of many q.

    Lines stop where there are no data ``inside`` reach of numbers (m,), by group (m, groups).
    """
    called = told_apart(labels.names)
    if inside is not None:
        x, y = _lines_inside(x, y, inside)

    def draw(ax: Axes, k: int) -> None:
        if by_levels:
            _dots(ax, x, y[:, :, k], None, called)
            return
        for g, name in enumerate(called):
            colour, line = _of(g, len(labels.names))
            ax.plot(x, y[:, g, k], line, color=colour, label=name)

    size = with_room_below(SIZE, called)
    titled = Labels(labels.x, labels.y, tuple(outcomes), labels.title)
    return _each(draw, y.shape[-1], titled, ax, size, legend=True)


def comparisons_plot(
    names: Sequence[str], y: Floats, band: Band | None, outcomes: Sequence[str], *, what: str, title: str,
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Dots y (v, q) with lines for their bands, one below the other.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = comparisons_plot(["x: +1"], np.array([[0.1]]), None, ["P(y = 1)"], what="change", title="")
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['x: +1']
    >>> plt.close(ax.figure)
    """
    q, at = len(outcomes), np.arange(len(names), dtype=float)
    called = [along_axis(name) for name in names]
    lines = 1 + max(name.count("\n") for name in called)
    inches = max(0.3, 0.17 * lines, 0.16 * q) * len(names)
    with drawing(ax, (6.0, 1.5 + inches + 0.2 * (q > 1)), 0.9 * inches) as ax:
        ax.axvline(0.0, color=GREY, linewidth=0.8)
        for k, name in enumerate(in_legend(outcomes)):
            colour, _ = _of(k, q)
            place = at + _beside(k, q)
            if band is not None:
                ax.hlines(place, band[0][:, k], band[1][:, k], color=colour, linewidth=1.2)
            ax.plot(
                y[:, k],
                place,
                "o" if q == 1 else class_look(k).marker,
                color=colour,
                markersize=4.5,
                label=name,
            )
        ax.set_yticks(at, called)
        ax.set_ylim(len(names) - 0.5, -0.5)
        widen(ax, "x")
        ax.set_xlabel(fitted(ax, what), parse_math=False)
        beside = [line for name in called for line in name.split("\n")]
        ax.set_title(fitted(ax, title, beside), fontsize=SMALL)
        if q > 1:
            legend_below(ax, beside=max(map(len, beside)))
    return ax


def page_plot(
    draw: Sequence[Callable[[Axes], Any]], kinds: Sequence[str], labels: Labels, *, ax: Axes | None = None
) -> Any:
    """Small multiples, each drawn by a function into its panel; those of a kind have one vertical scale."""
    with panels(ax, len(draw), share=False) as (figure, axes):
        for each, panel in zip(draw, axes, strict=True):
            each(panel)
        for kind in set(kinds):
            alike = [panel for panel, own in zip(axes, kinds, strict=True) if own == kind]
            ends = np.array([panel.get_ylim() for panel in alike])
            for panel in alike:
                panel.set_ylim(ends[:, 0].min(), ends[:, 1].max())
                widen(panel)
        _frame(figure, labels)
        if len(labels.names) > 1:
            legend_of_classes(figure, in_legend(labels.names))
    return axes


def _each(
    draw: Callable[[Axes, int], None], q: int, labels: Labels, ax: Axes | None,
    size: tuple[float, float] = SIZE, legend: bool = False,
) -> Any:  # fmt: skip
    """One figure, or a panel for each of several q."""
    if q == 1:
        with drawing(ax, size) as ax:
            draw(ax, 0)
            _label(ax, labels, False)
            if legend:
                legend_below(ax)
        return ax
    with panels(ax, q) as (figure, axes):
        for k, (panel, name) in enumerate(zip(axes, in_legend(labels.names), strict=True)):
            draw(panel, k)
            panel.set_title(in_lines(name, panel), fontsize=SMALL)
        if legend:  # it would stand between the panels and the label of all
            for panel in axes:
                panel.set_xlabel(fitted(panel, label_of(labels.x)) if panel.get_subplotspec().is_last_row() else "")
            legend_of_panels(figure, axes)
        _frame(figure, replace(labels, x="") if legend else labels)
    return axes


def _frame(figure: Any, labels: Labels) -> None:
    """Labels and the title of all panels."""
    size = pyplot().rcParams["axes.labelsize"]
    figure.supxlabel(across(figure, labels.x), fontsize=size, color=INK)
    figure.supylabel(along_figure(figure, labels.y), fontsize=size, color=INK)
    if labels.title:
        figure.suptitle(across(figure, labels.title), fontsize=SMALL, color=INK, x=0.02, ha="left")


def _label(ax: Axes, labels: Labels, panel: bool) -> None:
    if panel:
        ax.set_title(in_lines(labels.x, ax), fontsize=SMALL)
        return
    ax.set_xlabel(fitted(ax, labels.x))
    ax.set_ylabel(along_axis(labels.y))
    if labels.title:
        ax.set_title(across(ax.figure, labels.title), fontsize=SMALL)
    if len(labels.names) > 1 and ax.get_legend_handles_labels()[1]:
        legend_below(ax)


def _of(k: int, q: int) -> tuple[str, str]:
    """The colour and line of one of q."""
    return (ACCENT, "-") if q == 1 else (class_look(k).colour, class_look(k).line)


def _beside(k: int, q: int) -> float:
    """How far one of q dots stands from the middle."""
    return 0.0 if q == 1 else 0.6 * (k / (q - 1) - 0.5)


def _dots(ax: Axes, levels: Names, y: Floats, band: Band | None, names: Sequence[str]) -> None:
    q, at = len(names), np.arange(len(levels), dtype=float)
    for k, name in enumerate(in_legend(names)):
        colour, _ = _of(k, q)
        place = at + _beside(k, q)
        if band is not None:
            ax.vlines(place, band[0][:, k], band[1][:, k], color=colour, linewidth=1.2)
        ax.plot(place, y[:, k], "o" if q == 1 else class_look(k).marker, color=colour, markersize=4.5, label=name)
    level_ticks(ax, levels)
    ax.set_xlim(-0.5, len(levels) - 0.5)


def level_ticks(ax: Axes, levels: Names) -> None:
    """The names of levels 0, 1, … below the axis, turned where they are long, some of them where they are many."""
    names = written(list(levels))
    box = ax.get_window_extent()
    inches, apart = box.height / ax.figure.dpi, box.width / ax.figure.dpi / len(names)
    turned = sum(map(len, names)) > _LONG_TICKS or _LETTER * (1 + max(map(len, names))) > apart
    names = told_apart(names, max(_SHORTEST, int(_UPRIGHT * inches)) if turned else _LONG_TICKS)
    step = -(-len(names) // (2 * _MOST_TICKS if turned else _MOST_TICKS))
    if turned:
        step = max(step, int(np.ceil(_HEIGHT / apart)))
    ax.set_xticks(np.arange(0, len(names), step), names[::step], rotation=90 if turned else 0)


def _rug(ax: Axes, values: Floats) -> None:
    """Ticks along the lower edge."""
    below = ax.get_xaxis_transform()
    ax.plot(values, np.full(len(values), 0.015), "|", color=GREY, markersize=5, markeredgewidth=0.5, transform=below,
            alpha=max(0.2, min(1.0, 150.0 / max(len(values), 1))), zorder=1,
            rasterized=len(values) > MANY_MARKS)  # fmt: skip


def _lines_inside(x: Floats, y: Floats, inside: Callable[[Floats], NDArray[np.bool_]]) -> tuple[Floats, Floats]:
    """Lines y (v, groups, q) at many points, NaN where there are no data near."""
    fine = np.union1d(x, np.linspace(x[0], x[-1], _FINE))
    between = np.apply_along_axis(lambda each: np.interp(fine, x, each), 0, y)
    return fine, np.where(inside(fine)[..., None], between, np.nan)


def _bilinear(grid: tuple[np.ndarray, ...], z: Floats, x: Floats, y: Floats) -> Floats:
    """z (v, w) between the points of its grid, at x (a,) and y (b,)."""
    along = np.array([np.interp(x, grid[0], column) for column in z.T]).T
    return np.array([np.interp(y, grid[1], row) for row in along])
