"""The decision surface of a fit over two predictors, and the regions of its classes if these are more than two."""

import textwrap
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from pandas.api import types

from svmstat._tools.arrays import Codes
from svmstat._tools.checks import at_least, ended, nearest, refuse
from svmstat.errors import ArgumentError, DataError
from svmstat.formula import ModelFrame
from svmstat.reporting.plots.style import INK, SMALL, Axes, class_look, drawing, label_of, legend_below, pyplot

_BANDS = ["#faf0da", "#6496c5"]  # from f < 0 to f > 0, light to dark also in grey; matplotlib 3.8 needs a list

_BLANK = "\N{NO-BREAK SPACE}"


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
    def predicted_codes(self, newdata: pd.DataFrame | None = None) -> Codes: ...


def surface_plot(
    fit: _Fit,
    data: pd.DataFrame,
    x: Hashable | None = None,
    y: Hashable | None = None,
    *,
    at: Mapping[Hashable, object] | None = None,
    ax: Axes | None = None,
    grid: int = 120,
) -> Axes:
    """Contours of f over two columns of the data, with the data, their classes and the support vectors.

    The surface ends where the data end. The points are projected onto it: a point may lie on the wrong side only
    because its other predictors differ from those held.

    Parameters
    ----------
    fit : SVMResults
    data : DataFrame
        The data of the fit.
    x, y : column name, optional
        Two numeric predictors; by default the first two.
    at : mapping, optional
        Values of other predictors; by default the weighted median of a number, the most frequent value of
        anything else.
    ax : Axes, optional
        Drawn into; by default a new figure.
    grid : int
        Points on each axis.

    Returns
    -------
    Axes

    Raises
    ------
    ArgumentError, DataError
        If x, y or a name in ``at`` is not a suitable predictor, or the data are not those of the fit.
    """
    plane = _plane(fit, data, x, y, at, grid)
    f = fit.decision_function(plane.points).to_numpy().reshape(grid, grid)
    with drawing(ax, (6.2, 5.0)) as ax:
        _contours(ax, plane.xs, plane.ys, f)
        _points(ax, fit, plane)
        _frame(ax, plane)
    return ax


def region_plot(
    fit: _Fit,
    data: pd.DataFrame,
    x: Hashable | None = None,
    y: Hashable | None = None,
    *,
    at: Mapping[Hashable, object] | None = None,
    ax: Axes | None = None,
    grid: int = 200,
) -> Axes:
    """The predicted class over two columns of the data, with the data, their classes and the support vectors.

    Parameters and errors are those of `surface_plot`; ``fit`` is one with more than two levels.

    Returns
    -------
    Axes
    """
    plane = _plane(fit, data, x, y, at, grid)
    codes = fit.predicted_codes(plane.points).reshape(grid, grid)
    with drawing(ax, (6.2, 5.0)) as ax:
        _regions(ax, plane, codes, len(fit.classes))
        _class_points(ax, fit, plane)
        _frame(ax, plane)
    return ax


@dataclass(frozen=True, slots=True)
class _Plane:
    """The plane of a figure: two predictors of a fit vary, the others are held at one value.

    Attributes
    ----------
    x, y : their names
    xs, ys : (g,) the values of the grid
    points : its g² points as new data, x running fastest
    data_x, data_y : (n,) the values of the rows of the fit
    held : the other predictors with their values
    """

    x: Hashable
    y: Hashable
    xs: Any
    ys: Any
    points: pd.DataFrame
    data_x: Any
    data_y: Any
    held: Mapping[Hashable, Any]


def _plane(
    fit: _Fit,
    data: pd.DataFrame,
    x: Hashable | None,
    y: Hashable | None,
    at: Mapping[Hashable, object] | None,
    grid: int,
) -> _Plane:
    grid = at_least("grid", grid, 2)
    used = _rows(fit, data)
    x, y = _two(fit, used, x, y)
    weights = np.asarray(fit.frame.weights, dtype=float)
    held = _held(fit, used, weights, {x, y}, at or {})
    xs, ys = (np.linspace(float(used[name].min()), float(used[name].max()), grid) for name in (x, y))
    columns: dict[Hashable, Any] = {name: np.full(grid * grid, value) for name, value in held.items()}
    columns[x], columns[y] = np.tile(xs, grid), np.repeat(ys, grid)
    data_x, data_y = (used[name].to_numpy(dtype=float) for name in (x, y))
    return _Plane(x, y, xs, ys, pd.DataFrame(columns), data_x, data_y, held)


def _frame(ax: Axes, plane: _Plane) -> None:
    ax.set(xlim=_widened(plane.xs), ylim=_widened(plane.ys))
    ax.set_xlabel(str(plane.x), parse_math=False)
    ax.set_ylabel(str(plane.y), parse_math=False)
    if plane.held:
        ax.set_title(_where(plane.held), fontsize=SMALL, parse_math=False)


def _regions(ax: Axes, plane: _Plane, codes: Any, n_classes: int) -> None:
    colours = pyplot().matplotlib.colors
    pale = colours.ListedColormap([colours.to_rgba(class_look(k).colour, 0.22) for k in range(n_classes)])
    shown = np.ma.masked_less(codes, 0)
    ax.pcolormesh(plane.xs, plane.ys, shown, cmap=pale, vmin=-0.5, vmax=n_classes - 0.5, rasterized=True)
    for k in range(n_classes):
        inside = (codes == k).astype(float)
        if 0.0 < inside.mean() < 1.0:
            ax.contour(plane.xs, plane.ys, inside, levels=[0.5], colors=INK, linewidths=0.8)


def _class_points(ax: Axes, fit: _Fit, plane: _Plane) -> None:
    support = (fit.alpha.to_numpy() > 0).any(axis=1)
    for k, level in enumerate(fit.classes):
        look = class_look(k)
        for is_support in (False, True):
            which = (fit.frame.codes == k) & (support == is_support)
            label, rim = (label_of(level), 0.6) if is_support else (None, 0.0)
            _scatter(ax, plane, which, is_support, look.colour, marker=look.marker, linewidths=rim, label=label)
    ax.plot([], [], "o", color=INK, markersize=3, label="small, no rim: no support vector")
    legend_below(ax, f"{fit.response_name}:")


def _rows(fit: _Fit, data: pd.DataFrame) -> pd.DataFrame:
    """The rows of the data that the fit used."""
    used: pd.DataFrame = fit.frame.rows_of(data)
    lost = [name for name in fit.frame.design.predictors if name not in data.columns]
    if lost:
        hint = nearest(str(lost[0]), map(str, data.columns))
        raise DataError(ended(f"data has no column {lost[0]!r}{hint}"))
    return used


def _two(fit: _Fit, used: pd.DataFrame, x: Hashable | None, y: Hashable | None) -> tuple[Hashable, Hashable]:
    predictors = fit.frame.design.predictors
    numeric = [name for name in predictors if _numeric(used[name]) and used[name].min() < used[name].max()]
    for name, given in (("x", x), ("y", y)):
        if given is not None and given not in numeric:
            listed = ", ".join(map(repr, numeric)) or "none"
            hint = nearest(str(given), map(str, numeric))
            raise refuse(name, given, f"a numeric predictor that varies ({listed}){hint}")
    free = [name for name in numeric if name not in (x, y)]
    first, second = (given if given is not None else free.pop(0) if free else None for given in (x, y))
    if first is None or second is None:
        raise ArgumentError(f"a surface needs two numeric predictors; the fit has {len(numeric)}.")
    if first == second:
        raise ArgumentError(f"x and y are both {first!r}: they must be different predictors.")
    return first, second


def _numeric(values: pd.Series) -> bool:
    return types.is_numeric_dtype(values.dtype) and not types.is_bool_dtype(values.dtype)


def _held(
    fit: _Fit, used: pd.DataFrame, weights: Any, shown: set[Hashable], at: Mapping[Hashable, object]
) -> dict[Hashable, Any]:
    others = [name for name in fit.frame.design.predictors if name not in shown]
    for name in at:
        if name not in others:
            listed = ", ".join(map(repr, others)) or "there is none"
            raise ArgumentError(
                f"at={dict(at)!r} is not allowed: {name!r} is not among the predictors held ({listed})."
            )
    return {name: at[name] if name in at else _typical(used[name], weights) for name in others}


def _typical(values: pd.Series, weights: Any) -> Any:
    """The weighted median of numbers, the lower of two; else the value of the largest weight."""
    if not _numeric(values):
        return pd.Series(weights).groupby(values.astype(object).to_numpy()).sum().idxmax()
    ordered = values.to_numpy().argsort(kind="stable")
    reached = np.cumsum(weights[ordered])
    return values.iloc[int(ordered[np.searchsorted(reached, reached[-1] / 2)])]


def _widened(steps: Any) -> tuple[float, float]:
    margin = 0.03 * (steps[-1] - steps[0])
    return steps[0] - margin, steps[-1] + margin


def _contours(ax: Axes, xs: Any, ys: Any, f: Any) -> None:
    plt = pyplot()
    blend = plt.matplotlib.colors.LinearSegmentedColormap.from_list("svmstat", _BANDS)
    reach = float(np.nanmax(np.abs(f), initial=1.0))
    levels = plt.MaxNLocator(10, symmetric=True).tick_values(-reach, reach)
    shape = ax.contourf(xs, ys, np.ma.masked_invalid(f), levels=levels, cmap=blend)
    bar = ax.figure.colorbar(shape, ax=ax, shrink=0.7, aspect=28, pad=0.02, drawedges=False)
    bar.outline.set_visible(False)
    bar.set_label("decision value f")
    low, high = np.nanmin(f), np.nanmax(f)
    for level, width, style in ((0.0, 1.8, "solid"), (-1.0, 0.9, "dashed"), (1.0, 0.9, "dashed")):
        if low < level < high:
            ax.contour(xs, ys, np.ma.masked_invalid(f), levels=[level], colors=INK, linewidths=width, linestyles=style)


def _points(ax: Axes, fit: _Fit, plane: _Plane) -> None:
    event, support = np.asarray(fit.frame.y) > 0, fit.alpha.to_numpy() > 0
    other_level = next(level for level in fit.classes if level != fit.event)
    for is_event, level, colour in ((False, other_level, "white"), (True, fit.event, INK)):
        for is_support in (False, True):
            which = (event == is_event) & (support == is_support)
            label = f"{label_of(level)}{', support vector' if is_support else ''}"
            _scatter(ax, plane, which, is_support, colour, linewidths=0.6, label=label)
    ax.plot([], [], color=INK, linewidth=1.8, label="f = 0")
    ax.plot([], [], color=INK, linewidth=0.9, linestyle="--", label="f = ±1")
    legend_below(ax, f"{fit.response_name}:")


def _scatter(ax: Axes, plane: _Plane, which: Any, is_support: bool, colour: str, **look: Any) -> None:
    """Some of the rows, the support vectors larger and in front."""
    size, order = (21, 4) if is_support else (8, 3)
    ax.scatter(plane.data_x[which], plane.data_y[which], s=size, facecolor=colour, edgecolor=INK, zorder=order, **look)


def _where(held: Mapping[Hashable, Any]) -> str:
    """The values that are held, in lines that break between them."""
    shown = [f"{name} = {value:.4g}" if types.is_number(value) else f"{name} = {value}" for name, value in held.items()]
    lines = textwrap.wrap(f"at {', '.join(each.replace(' ', _BLANK) for each in shown)}", 80, break_long_words=False)
    return "\n".join(lines).replace(_BLANK, " ")
