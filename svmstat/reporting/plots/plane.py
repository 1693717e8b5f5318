"""The plane of a figure: two predictors of a fit vary, on the axes of the data, the others are held."""

import warnings
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.checks import at_least, nearest, number, refuse
from svmstat._tools.frames import is_name
from svmstat._tools.near import too_far, tree_of
from svmstat.errors import ArgumentError, DataError, DesignWarning
from svmstat.formula import AlteredRows, ModelFrame, Variable

_STEP, _WITHIN = 0.008, 0.35
"""How far rows at one point are spread at most: of the range, by the root of their number; of the way to the next."""

_EVEN, _WIDTH = np.array([0.7548776662466927, 0.5698402909980532]), 0.7
"""Steps that fill a square evenly, the powers of 1/r with r³ = r + 1; the part of the width of a level that is used."""

_MOST_DRAWN = 2000
"""Of more rows so many are drawn, of several panels each an equal part: all would hide the plane, and each other."""

_TURN = np.pi * (3.0 - np.sqrt(5.0))
"""The golden angle, by which each is turned from the one before."""


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """A plane through the predictors, and the rows that are drawn on it.

    Attributes
    ----------
    x, y : Variable
    xs, ys : ndarray (g,), (h,)
        Numbers, or the positions of all levels.
    points : DataFrame (h g, …)
        The points as new data, x running fastest.
    blank : ndarray of bool (h, g)
        Where there are no data near.
    which : ndarray (m,)
        The rows that are drawn, of those that count.
    places : ndarray (m, 2)
        Where they are drawn.
    note : str
        That some are not drawn, or not where they are; nothing if all are.
    held : mapping
        The other predictors with their values.
    level : object
        Of the predictor for each of whose levels there is a plane; None if there is none.
    """

    x: Variable
    y: Variable
    xs: np.ndarray
    ys: np.ndarray
    points: pd.DataFrame
    blank: NDArray[np.bool_]
    which: Codes
    places: Floats
    note: str
    held: Mapping[Hashable, Any]
    level: Any = None

    @property
    def numeric(self) -> bool:
        """Whether both axes are numbers."""
        return self.x.numeric and self.y.numeric


def planes(
    frame: ModelFrame, data: pd.DataFrame | None, x: Any, y: Any, at: Mapping[Hashable, object] | None, by: Any,
    distance: float, grid: int,
) -> list[Plane]:  # fmt: skip
    """The plane of x and y, or one for each level of ``by``.

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        If x, y, by or a name in ``at`` is not a suitable predictor, or the data are not those of the fit.
    """
    grid = at_least("grid", grid, 2)
    distance = number("too_far", distance, lambda value: value > 0, "a number > 0, of the range of each axis")
    rows = AlteredRows.of(frame, data)
    panel = None if by is None else _panels(rows, by)
    first, second = _two(rows, x, y, by)
    held = _held(rows, {first.name, second.name, by}, {} if at is None else at)
    levels = [None] if panel is None else list(range(len(panel.levels or ())))
    most = _MOST_DRAWN // len(levels)
    return [_plane(rows, first, second, held, panel, level, distance, grid, most) for level in levels]


def _plane(
    rows: AlteredRows, x: Variable, y: Variable, held: Mapping[Hashable, Any], panel: Variable | None,
    level: int | None, distance: float, grid: int, most: int,
) -> Plane:  # fmt: skip
    xs, ys = (
        np.arange(len(each.levels)) if each.levels is not None
        else np.linspace(float(each.values.min()), float(each.values.max()), grid)
        for each in (x, y)
    )  # fmt: skip
    across, up = np.tile(xs, len(ys)), np.repeat(ys, len(xs))
    changes = {x.name: (x, across), y.name: (y, up)}
    which = np.arange(len(rows.weights))
    if panel is not None and level is not None:
        changes[panel.name] = (panel, np.full(len(across), level))
        which = np.flatnonzero(panel.values == level)
    points = rows.changed(np.zeros(len(across), np.intp), changes).reset_index(drop=True)
    for name, value in held.items():
        points[name] = [value] * len(points)
    data, few = np.column_stack([x.values, y.values]).astype(float)[which], ""
    reach = np.array([1.0 if each.levels is not None else np.ptp(each.values) for each in (x, y)])
    blank = too_far(np.column_stack([across, up]).astype(float), data, reach, distance).reshape(len(ys), len(xs))
    if len(which) > most:
        drawn = np.sort(np.random.default_rng(20061126).permutation(len(which))[:most])
        few = f"{most} of {len(which)} rows are drawn" if panel is None else f"of more rows in a panel {most} are drawn"
        which, data = which[drawn], data[drawn]
    by_levels = np.array([each.levels is not None for each in (x, y)])
    if by_levels.any():
        places, note = _across_levels(data, by_levels), "rows are spread over the width of their level"
    else:
        places = _spread(data, reach)
        note = "rows at one point are spread around it" if (places != data).any() else ""
    note = "; ".join(filter(None, [few, note]))
    shown = None if panel is None or level is None else f"{panel.name} = {panel.called(level)}"
    return Plane(x, y, xs, ys, points, blank, which, places, note, held, shown)


def _spread(data: Floats, reach: Floats) -> Floats:
    """Rows (m, 2), those at one point in a spiral around it, the same in every figure."""
    points, point, count = np.unique(data / reach, axis=0, return_inverse=True, return_counts=True)
    point = point.ravel()
    order = np.argsort(point, kind="stable")
    rank = np.empty(len(data))
    rank[order] = np.arange(len(data)) - np.repeat(np.cumsum(count) - count, count)
    away = tree_of(points).query(points, k=[2])[0].ravel()  # infinite if there is no other
    largest = np.minimum(_STEP * np.sqrt(count), _WITHIN * away)
    radius = largest[point] * np.sqrt(rank / count[point])
    moved = data + reach * radius[:, None] * np.column_stack([np.cos(rank * _TURN), np.sin(rank * _TURN)])
    return np.where((rank > 0)[:, None], moved, data)


def _across_levels(data: Floats, by_levels: NDArray[np.bool_]) -> Floats:
    """Rows (m, 2), spread evenly over the width of their levels, the same in every figure."""
    step = np.arange(len(data))[:, None] * _EVEN % 1.0 - 0.5
    return np.asarray(data + by_levels * _WIDTH * step)


def _panels(rows: AlteredRows, by: Any) -> Variable:
    names = [each.name for each in rows.variables(complete=True) if each.levels is not None and each.varies]
    if not is_name(by) or by not in names:
        listed = ", ".join(map(repr, names)) or "there is none"
        raise refuse("by", by, f"a predictor that goes by levels ({listed}){nearest(str(by), map(str, names))}")
    return rows.variable("by", by)


def _two(rows: AlteredRows, x: Any, y: Any, by: Any) -> tuple[Variable, Variable]:
    """The axes: those that are asked for, else numbers, and levels where there are not two numbers."""
    known = {each.name: each for each in rows.variables(complete=True) if each.varies and each.name != by}
    for name, given in (("x", x), ("y", y)):
        if given is not None and not (is_name(given) and given in known):
            listed = ", ".join(map(repr, known)) or "none"
            raise refuse(name, given, f"a predictor that varies ({listed}){nearest(str(given), map(str, known))}")
    if x is not None and x == y:
        raise ArgumentError(f"x and y are both {x!r}: they must be different predictors.")
    free = sorted((name for name in known if name not in (x, y)), key=lambda name: not known[name].numeric)
    first, second = (given if given is not None else free.pop(0) if free else None for given in (x, y))
    if first is None or second is None:
        raise ArgumentError(f"a surface needs two predictors that vary; the fit has {len(known)}.")
    return known[first], known[second]


def _held(rows: AlteredRows, shown: set[Any], at: Mapping[Hashable, object]) -> dict[Hashable, Any]:
    if not isinstance(at, Mapping):
        raise refuse("at", at, "a mapping of predictors to values, such as {'x': 0.5}")
    others = [name for name in rows.frame.design.predictors if name not in shown]
    for name, value in at.items():
        if name not in others:
            listed = ", ".join(map(repr, others)) or "there is none"
            raise ArgumentError(
                f"at={dict(at)!r} is not allowed: {name!r} is not among the predictors held ({listed})."
            )
        if types.is_scalar(value) and pd.isna(cast("Any", value)):
            raise ArgumentError(f"at={dict(at)!r} is not allowed: {name!r} must be held at a value.")
    if at:
        _try(rows, at)
    return {name: at[name] if name in at else _typical(rows.data[name], rows.weights) for name in others}


def _try(rows: AlteredRows, at: Mapping[Hashable, Any]) -> None:
    """Refuse values that a row cannot have: a new level, text for a number, or an infinite one."""
    row = rows.data.head(1).copy()
    for name, value in at.items():
        row[name] = [value]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DesignWarning)  # what it would say of is refused
            missing = rows.frame.design.transform(row).missing
    except DataError as error:
        raise ArgumentError(f"at={dict(at)!r} is not allowed: {str(error).removeprefix('newdata ')}") from error
    if missing.any():
        raise ArgumentError(f"at={dict(at)!r} is not allowed: what the formula makes of it is no number.")


def _typical(values: pd.Series, weights: Floats) -> Any:
    """The weighted median of numbers, the lower of two; else the value of the largest weight."""
    if not types.is_numeric_dtype(values.dtype) or types.is_bool_dtype(values.dtype):
        return pd.Series(weights).groupby(values.astype(object).to_numpy()).sum().idxmax()
    ordered = values.to_numpy().argsort(kind="stable")
    reached = np.cumsum(weights[ordered])
    return values.iloc[int(ordered[np.searchsorted(reached, reached[-1] / 2)])]
