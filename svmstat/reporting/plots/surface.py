"""The decision surface of a fit over two predictors, and the regions of its classes if these are more than two."""

import textwrap
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.near import TOO_FAR
from svmstat._tools.texts import probability_of, written
from svmstat.formula import ModelFrame
from svmstat.reporting.plots.effects import level_ticks
from svmstat.reporting.plots.plane import Plane, planes
from svmstat.reporting.plots.style import (
    GREY,
    INK,
    SMALL,
    Axes,
    along_axis,
    along_figure,
    checked_axes,
    class_look,
    drawing,
    fitted,
    in_legend,
    in_lines,
    label_of,
    legend_below,
    legend_of_panels,
    panels,
    pyplot,
    told_apart,
)

_BANDS = ["#faf0da", "#6496c5"]  # from f < 0 to f > 0, light to dark also in grey; matplotlib 3.8 needs a list

_RARE, _FLAT = 0.1, 1e-4
"""Probabilities that are all below this, or above one less it, have steps of their own if they vary so much."""

_BLANK = "\N{NO-BREAK SPACE}"
_SIZE = (6.2, 5.0)
_LETTERS = 12
"""Of an inch of a title."""
_MOST_HELD = 9
"""Predictors whose values stand in a title."""
_MANY, _PARTS = 1000, 25
"""Of more rows than this the classes are drawn in turn, a part of each at a time."""


class _Fit(Protocol):
    """What these figures read of a fit."""

    @property
    def frame(self) -> ModelFrame: ...
    @property
    def classes(self) -> tuple[Any, ...]: ...
    @property
    def event(self) -> Any: ...
    @property
    def response_name(self) -> str: ...
    @property
    def alpha(self) -> Any: ...
    def decision_function(self, newdata: pd.DataFrame | None = None) -> Any: ...
    def predict_proba(self, newdata: pd.DataFrame | None = None) -> pd.DataFrame: ...
    def predicted_codes(self, newdata: pd.DataFrame | None = None) -> Codes: ...


def surface_plot(
    fit: _Fit,
    data: pd.DataFrame | None = None,
    x: Hashable | None = None,
    y: Hashable | None = None,
    *,
    at: Mapping[Hashable, object] | None = None,
    by: Hashable | None = None,
    on: str = "decision",
    too_far: float = TOO_FAR,
    ax: Axes | None = None,
    grid: int = 120,
) -> Any:
    """f, or P(event), over two columns of the data, with the rows, their classes and the support vectors.

    The surface is blank where no rows are near. The rows are projected onto it: a row may lie on the wrong side only
    because its other predictors differ from those held.

    Parameters
    ----------
    fit : SVMResults
        With two levels.
    data : DataFrame, optional
        The data of the fit.
    x, y : column name, optional
        Two predictors; by default the first two numbers, and levels where there are none.
    at : mapping, optional
        Values of other predictors; by default the weighted median of a number, the most frequent value of
        anything else.
    by : column name, optional
        A predictor that goes by levels, with a panel for each and its own rows in it.
    on : {"decision", "prob"}
    too_far : float
        How far from the nearest row the surface goes, in units of the range of each axis.
    ax : Axes, optional
        Drawn into, or divided for the panels; by default a new figure.
    grid : int
        Points on each axis of numbers.

    Returns
    -------
    Axes, or an array of them

    Raises
    ------
    ArgumentError, DataError
        If x, y, by or a name in ``at`` is not a suitable predictor, or the data are not those of the fit.
    """
    found = planes(fit.frame, data, x, y, at, by, too_far, grid)
    values = [_values(fit, plane, on) for plane in found]
    scale = _scale(values, on)
    label = "decision value f" if on == "decision" else probability_of(fit.response_name, fit.event)
    zero = None if on == "decision" else [_values(fit, plane, "decision") for plane in found]

    def draw(ax: Axes, k: int) -> Any:
        shape = _shaded(ax, found[k], values[k], scale)
        _points(ax, fit, found[k])
        _lines(ax, found[k], values[k] if zero is None else zero[k], margins=zero is None)
        return shape

    return _figure(fit, found, draw, ax, label)


def region_plot(
    fit: _Fit,
    data: pd.DataFrame | None = None,
    x: Hashable | None = None,
    y: Hashable | None = None,
    *,
    at: Mapping[Hashable, object] | None = None,
    by: Hashable | None = None,
    on: str = "class",
    too_far: float = TOO_FAR,
    ax: Axes | None = None,
    grid: int = 200,
) -> Any:
    """The predicted class over two columns of the data, with the rows, their classes and the support vectors.

    Parameters and errors are those of `surface_plot`; ``fit`` is one with more than two levels, and ``on`` "class", or
    "prob" for a panel with the probability of each level, without ``by``.

    Returns
    -------
    Axes, or an array of them
    """
    found = planes(fit.frame, data, x, y, at, by, too_far, grid)
    if on == "prob":
        (plane,) = found
        p = fit.predict_proba(plane.points).to_numpy().T.reshape(-1, *plane.blank.shape)
        each = [np.ma.masked_where(plane.blank | ~np.isfinite(values), values) for values in p]
        scale = _scale(each, on)

        def draw(ax: Axes, k: int) -> Any:
            shape = _shaded(ax, plane, each[k], scale)
            own = _counted(fit, fit.frame.codes)[plane.which] == k
            ax.scatter(*plane.places[~own].T, s=3, color=GREY, linewidths=0, zorder=3)
            ax.scatter(*plane.places[own].T, s=8, color=INK, linewidths=0, zorder=4)
            return shape

        names = [probability_of(fit.response_name, level) for level in fit.classes]
        return _figure(fit, [plane] * len(names), draw, ax, "probability; black: rows of the level", names)

    def draw_regions(ax: Axes, k: int) -> None:
        plane = found[k]
        codes = fit.predicted_codes(plane.points).reshape(plane.blank.shape)
        _regions(ax, plane, np.where(plane.blank, -1, codes), len(fit.classes))
        _class_points(ax, fit, plane)

    return _figure(fit, found, draw_regions, ax, "")


def _values(fit: _Fit, plane: Plane, on: str) -> Any:
    """f or P(event) (h, g) on the grid, masked where it is blank or nothing can be predicted."""
    f = fit.decision_function(plane.points) if on == "decision" else fit.predict_proba(plane.points)[fit.event]
    values = f.to_numpy().reshape(plane.blank.shape)
    return np.ma.masked_where(plane.blank | ~np.isfinite(values), values)


def _counted(fit: _Fit, values: Any) -> Any:
    """What the rows (n, …) have, of those that count."""
    return np.asarray(values)[np.asarray(fit.frame.weights) > 0]


def _scale(values: Sequence[Any], on: str) -> Floats:
    """Levels that all panels share; of probabilities tenths, or parts of the first or last if all are there."""
    if on == "prob":
        shown = [each.compressed() for each in values if each.count()]
        low, high = min(map(np.min, shown), default=0.0), max(map(np.max, shown), default=1.0)
        rare = (high < _RARE or low > 1.0 - _RARE) and high - low > _FLAT
        steps = pyplot().MaxNLocator(10).tick_values(low, high) if rare else np.linspace(0.0, 1.0, 11)
        return np.unique(np.clip(steps, 0.0, 1.0))
    reach = max([1.0, *(float(np.abs(each).max()) for each in values if each.count())])
    return np.asarray(pyplot().MaxNLocator(10, symmetric=True).tick_values(-reach, reach))


def _figure(
    fit: _Fit, found: Sequence[Plane], draw: Callable[[Axes, int], Any], ax: Axes | None, bar: str,
    names: Sequence[str] = (),
) -> Any:  # fmt: skip
    """One figure, or a panel for each plane; with a bar of colours if it has a label."""
    notes = dict.fromkeys(part for plane in found for part in plane.note.split("; "))
    where = "; ".join(part for part in (_where(found[0].held), *notes) if part)
    checked_axes(ax)
    inches = _SIZE[0] if ax is None else ax.figure.bbox.width / ax.figure.dpi
    title = "\n".join(textwrap.wrap(where, int(_LETTERS * inches), break_long_words=False)).replace(_BLANK, " ")
    if len(found) == 1 and not names:
        with drawing(ax, _SIZE) as ax:
            shape = draw(ax, 0)
            _frame(ax, found[0])
            ax.set_title(title, fontsize=SMALL, parse_math=False)
            _bar(ax.figure, shape, ax, bar)
            legend_below(ax, f"{fit.response_name}:")
        return ax
    called = in_legend(names) if names else told_apart([each.level for each in found])
    with panels(ax, len(found)) as (figure, axes):
        for k, (panel, plane) in enumerate(zip(axes, found, strict=True)):
            shape = draw(panel, k)
            _frame(panel, plane)
            panel.set(xlabel="", ylabel="")
            panel.set_title(in_lines(called[k], panel), fontsize=SMALL, parse_math=False)
        _bar(figure, shape, list(axes), bar)
        size = pyplot().rcParams["axes.labelsize"]
        for panel in axes:
            if panel.get_subplotspec().is_last_row():
                panel.set_xlabel(fitted(panel, label_of(found[0].x.name)), parse_math=False)
        figure.supylabel(along_figure(figure, str(found[0].y.name)), fontsize=size, color=INK)
        if title:
            figure.suptitle(title, fontsize=SMALL, color=INK, x=0.02, ha="left")
        if not names:
            legend_of_panels(figure, axes, most=2, title=f"{fit.response_name}:")
    return axes


def _bar(figure: Any, shape: Any, axes: Any, label: str) -> None:
    if label:
        bar = figure.colorbar(shape, ax=axes, shrink=0.7, aspect=28, pad=0.02, drawedges=False)
        bar.outline.set_visible(False)
        bar.set_label(along_axis(label))


def _frame(ax: Axes, plane: Plane) -> None:
    ax.set_xlabel(fitted(ax, str(plane.x.name)), parse_math=False)
    ax.set_ylabel(along_axis(str(plane.y.name)), parse_math=False)
    for variable, limits, steps in ((plane.x, ax.set_xlim, plane.xs), (plane.y, ax.set_ylim, plane.ys)):
        margin = 0.5 if variable.levels is not None else 0.03 * (steps[-1] - steps[0])
        limits(steps[0] - margin, steps[-1] + margin)
    if plane.x.levels is not None:
        level_ticks(ax, plane.x.levels)
    if plane.y.levels is not None:
        ax.set_yticks(plane.ys, told_apart([plane.y.called(k) for k in plane.ys]))


def _shaded(ax: Axes, plane: Plane, values: Any, levels: Floats) -> Any:
    """Contours of two numbers, cells or strips where an axis has levels."""
    colours = pyplot().matplotlib.colors
    blend = colours.LinearSegmentedColormap.from_list("svmstat", _BANDS)
    if plane.numeric:
        return ax.contourf(plane.xs, plane.ys, values, levels=levels, cmap=blend)
    norm = colours.BoundaryNorm(levels, blend.N)
    shape = ax.pcolormesh(plane.xs, plane.ys, values, cmap=blend, norm=norm, shading="nearest", rasterized=True)
    _apart(ax, plane)
    return shape


def _apart(ax: Axes, plane: Plane) -> None:
    """White lines between the levels of an axis."""
    for variable, line, steps in ((plane.x, ax.axvline, plane.xs), (plane.y, ax.axhline, plane.ys)):
        if variable.levels is not None:
            for between in steps[:-1] + 0.5:
                line(between, color="white", linewidth=2.5, zorder=2)


def _lines(ax: Axes, plane: Plane, f: Any, margins: bool) -> None:
    """Where f is zero, and ±1; those that are drawn have a name."""
    for ends, width, style, name in (((0.0,), 1.8, "-", "f = 0"), ((-1.0, 1.0), 0.9, "--", "f = ±1"))[: 1 + margins]:
        passed = [end for end in ends if f.count() and f.min() < end < f.max()]
        look = {"linewidths": width, "linestyles": style, "colors": INK}
        if plane.numeric:
            drawn = [ax.contour(plane.xs, plane.ys, f, levels=[end], **look) for end in passed]
        else:
            drawn = [line for end in passed for line in _crossings(ax, plane, np.ma.filled(f, np.nan) - end, look)]
        if drawn:
            ax.plot([], [], color=INK, linewidth=width, linestyle=style, label=name)


def _crossings(ax: Axes, plane: Plane, f: Floats, look: Mapping[str, Any]) -> list[Any]:
    """In each strip of a level, short lines across it where f changes its sign."""
    if not plane.x.numeric and not plane.y.numeric:
        return []
    steps, strips, draw = (plane.xs, f, ax.vlines) if plane.x.numeric else (plane.ys, f.T, ax.hlines)
    drawn = []
    for k, strip in enumerate(strips):
        for j in np.flatnonzero(strip[:-1] * strip[1:] < 0):
            at = steps[j] + (steps[j + 1] - steps[j]) * strip[j] / (strip[j] - strip[j + 1])
            drawn.append(draw(at, k - 0.48, k + 0.48, **look))
    return drawn


def _points(ax: Axes, fit: _Fit, plane: Plane) -> None:
    event = _counted(fit, fit.frame.y)[plane.which] > 0
    support = _counted(fit, fit.alpha)[plane.which] > 0
    other_level = next(level for level in fit.classes if level != fit.event)
    others, events = told_apart([other_level, fit.event])
    for part, some in enumerate(_parts(len(event))):
        for is_event, level, colour in ((False, others, "white"), (True, events, INK)):
            for is_support in (False, True):
                which = some & (event == is_event) & (support == is_support)
                label = None if part else f"{level}{', support vector' if is_support else ''}"
                _scatter(ax, plane, which, is_support, colour, linewidths=0.6, label=label)


def _parts(n: int) -> list[NDArray[np.bool_]]:
    """Which of n rows are drawn one after the other: of many, no class is to cover the others."""
    parts = 1 if n <= _MANY else _PARTS
    return [np.arange(n) % parts == k for k in range(parts)]


def _regions(ax: Axes, plane: Plane, codes: Codes, n_classes: int) -> None:
    colours = pyplot().matplotlib.colors
    pale = colours.ListedColormap([colours.to_rgba(class_look(k).colour, 0.22) for k in range(n_classes)])
    shown = np.ma.masked_less(codes, 0)
    ax.pcolormesh(
        plane.xs, plane.ys, shown, cmap=pale, vmin=-0.5, vmax=n_classes - 0.5, shading="nearest", rasterized=True
    )
    if not plane.numeric:
        _apart(ax, plane)
        return
    for k in range(n_classes):
        inside = np.ma.masked_where(codes < 0, (codes == k).astype(float))
        if 0.0 < inside.mean() < 1.0:
            ax.contour(plane.xs, plane.ys, inside, levels=[0.5], colors=INK, linewidths=0.8)


def _class_points(ax: Axes, fit: _Fit, plane: Plane) -> None:
    support = (_counted(fit, fit.alpha)[plane.which] > 0).any(axis=1)
    codes = _counted(fit, fit.frame.codes)[plane.which]
    for part, some in enumerate(_parts(len(codes))):
        for k, level in enumerate(told_apart(fit.classes)):
            look = class_look(k)
            for is_support in (False, True):
                which = some & (codes == k) & (support == is_support)
                label, rim = (None if part else level, 0.6) if is_support else (None, 0.0)
                _scatter(ax, plane, which, is_support, look.colour, marker=look.marker, linewidths=rim, label=label)
    ax.plot([], [], "o", color=INK, markersize=3, label="small, no rim: no support vector")


def _scatter(ax: Axes, plane: Plane, which: Any, is_support: bool, colour: str, **look: Any) -> None:
    """Some of the rows, the support vectors larger and in front."""
    size, order = (21, 4) if is_support else (8, 3)
    ax.scatter(*plane.places[which].T, s=size, facecolor=colour, edgecolor=INK, zorder=order, **look)


def _where(held: Mapping[Hashable, Any]) -> str:
    """The values that are held, the first of many; they stay in one line with their names."""
    names = told_apart(list(held))
    every = [f"{name} = {written([value])[0]}" for name, value in zip(names, held.values(), strict=True)]
    shown = [each.replace(" ", _BLANK) for each in every]
    if len(shown) > _MOST_HELD:
        shown[_MOST_HELD - 1 :] = [f"and {len(shown) - _MOST_HELD + 1} more"]
    return f"at {', '.join(shown)}" if shown else ""
