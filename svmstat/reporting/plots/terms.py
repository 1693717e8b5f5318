"""The functions of an additive fit: curves with bands and rug, maps, levels of factors as points with intervals."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from svmstat.reporting.plots.effects import level_ticks
from svmstat.reporting.plots.style import (
    ACCENT,
    GREY,
    INK,
    LINES,
    MANY_MARKS,
    SMALL,
    Axes,
    across,
    class_look,
    drawing_panels,
    fitted,
    legend_below,
    legend_of_classes,
    pyplot,
    told_apart,
)
from svmstat.reporting.rendering.values import percent

_WIDE, _TALL = 3.4, 2.7
"""Inches of a panel."""
_COLOURS = 12
"""Pairs that have colours of their own."""
_FEW_LINES, _LINE = 3, 0.2
"""Lines whose names stand among them; inches of each name below a panel that has more."""


class _Effect(Protocol):
    """What is drawn of a term: see `svmstat.diagnostics.terms.TermEffect`."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def lines(self) -> tuple[str, ...]: ...
    @property
    def x(self) -> NDArray[Any]: ...
    @property
    def estimate(self) -> NDArray[Any]: ...
    @property
    def lower(self) -> NDArray[Any]: ...
    @property
    def upper(self) -> NDArray[Any]: ...
    @property
    def rug(self) -> NDArray[Any]: ...


def terms_plot(
    effects: Sequence[_Effect], pairs: Sequence[str], *, level: float, banded: bool, columns: int = 2,
    ax: Axes | None = None,
) -> NDArray[Any]:  # fmt: skip
    """A panel for each term; of several pairs of levels lines of their own in it, and for maps a panel each.

    So for a term with lines for more levels than there are dashes, or for more pairs than there are colours.

    Parameters
    ----------
    effects : sequence of TermEffect
    pairs : sequence of P names
        Of the pairs of levels; one for two levels, whose name is not shown.
    level : float
        Of the bands.
    banded : bool
        Whether there are bands.
    columns : int
        Panels side by side; one for a narrow page.
    ax : Axes, optional
        Whose place the panels take; by default a new figure.

    Returns
    -------
    ndarray of Axes
        One for each panel, in the order of the terms.
    """
    panels = [(each, pair) for each in effects for pair in (range(len(pairs)) if _is_apart(each) else [None])]
    side = min(columns, len(panels))
    rows = math.ceil(len(panels) / side)
    names_below = [len(each.lines) for each in effects if _is_crowded(each) or (_is_apart(each) and each.kind != "map")]
    below = _LINE * max(names_below, default=0) * (rows if any(map(_is_apart, effects)) else 1)
    size = (_WIDE * side, _TALL * rows + 0.6 + below)
    lines = [each for each in effects if each.kind != "map"]
    own, called, titles = ax is None, told_apart(pairs), _short(each.name for each in effects)
    axis = _short(label for each in effects for label in each.labels)
    with drawing_panels(len(panels), rows, side, size, ax) as (figure, axes):
        for ax, (each, pair) in zip(axes, panels, strict=True):
            of_pair = f", {called[pair]}" if pair is not None and len(pairs) > 1 else ""
            ax.set_title(fitted(ax, f"{titles[each.name]}{of_pair}"))
            if pair is not None and each.kind == "map":
                _map(ax, each, pair)
                ax.set_ylabel(axis[each.labels[1]])
            else:
                drawn = each if pair is None else _of_pair(each, pair)
                _DRAWN[each.kind](ax, drawn)
                if each.kind == "curve" and len(each.lines) > 1:
                    _name_lines(ax, drawn, room_below=own and _is_crowded(drawn))
                ax.axhline(0.0, color=GREY, linewidth=0.6, zorder=0)
            if each.kind != "points":
                ax.set_xlabel(axis[each.labels[0]])
        _one_scale([ax for ax, (each, _) in zip(axes, panels, strict=True) if each.kind != "map"], lines)
        words = across(figure, _words(level, banded, bool(lines)))
        figure.suptitle(words, fontsize=SMALL, x=0.01, ha="left")
        if len(pairs) > 1 and any(not _is_apart(each) for each in lines):
            legend_of_classes(figure, called, title="f > 0 stands for the first of")
        return np.array(axes)


def _short(names: Iterable[str]) -> dict[str, str]:
    """What they are called in a figure."""
    each = list(dict.fromkeys(names))
    return dict(zip(each, told_apart(each), strict=True))


def _words(level: float, banded: bool, lines: bool) -> str:
    if not banded:
        return "h of each term, with mean zero over the rows"
    if not lines:
        return "h of each term, with mean zero over the rows; maps have no bands"
    return (
        f"h of each term; bands: {percent(level)} of replicates, the stability of the estimate; no confidence bands "
        "for a true function"
    )


def _look(k: int, several: bool) -> tuple[str, str, str]:
    look = class_look(k)
    return (look.colour, look.line, look.marker) if several else (ACCENT, "-", "o")


def _series(effect: _Effect) -> list[tuple[int, int, int, bool]]:
    """Pair, line, look and whether there are several, of everything in a panel."""
    P, L = effect.estimate.shape[:2]
    return [(p, j, j if P == 1 else p, P * L > 1) for p in range(P) for j in range(L)]


def _curve(ax: Axes, effect: _Effect) -> None:
    lines = told_apart(effect.lines)
    for p, j, look, several in _series(effect):
        colour, line, marker = _look(look, several)
        line = _line_of(j) if _needs_lines(effect) else line
        x, h, ends = effect.x[j], effect.estimate[p, j], (effect.lower[p, j], effect.upper[p, j])
        label = lines[j] if p == 0 and len(effect.lines) > 1 else None
        if np.ptp(x) > 0.0:
            ax.fill_between(x, *ends, color=colour, alpha=0.18, linewidth=0)
            ax.plot(x, h, line, color=colour, label=label)
        else:
            _intervals(ax, x[:1], h[:1], [end[:1] for end in ends], colour, marker, label)
    ax.plot(effect.rug, np.zeros(len(effect.rug)), "|", color=INK, alpha=0.35, markersize=5,
            markeredgewidth=0.6, transform=ax.get_xaxis_transform(), clip_on=False,
            rasterized=len(effect.rug) > MANY_MARKS)  # fmt: skip
    ax.locator_params(axis="x", nbins=5)


def _intervals(
    ax: Axes, x: Any, h: Any, ends: Sequence[Any], colour: str, marker: str, label: str | None = None
) -> None:  # fmt: skip
    """Values with their intervals."""
    ax.vlines(x, *ends, color=colour, linewidth=1.2)
    ax.plot(x, h, marker, color=colour, markersize=5, label=label)


def _needs_lines(effect: _Effect) -> bool:
    """Whether colours tell pairs of levels, and the lines of a variable must be told by their dashes."""
    return len(effect.estimate) > 1 and len(effect.lines) > 1


def _is_apart(effect: _Effect) -> bool:
    """Whether each pair has a panel of its own: a map, and lines that are more than dashes, of pairs beyond colours."""
    if effect.kind != "curve":
        return effect.kind == "map"
    return _needs_lines(effect) and (len(effect.lines) > len(LINES) or len(effect.estimate) > _COLOURS)


def _of_pair(effect: Any, pair: int) -> Any:
    """What is drawn of one of several pairs."""
    kept = {name: getattr(effect, name)[pair : pair + 1] for name in ("estimate", "lower", "upper")}
    return replace(effect, **kept)


def _line_of(j: int) -> str:
    return LINES[j % len(LINES)]


def _name_lines(ax: Axes, effect: _Effect, room_below: bool) -> None:
    """A legend below the panel where a figure of its own has room for it, else among the lines."""
    if _needs_lines(effect):
        line = partial(pyplot().matplotlib.lines.Line2D, [], [], color=INK)
        named = [line(linestyle=_line_of(j), label=name) for j, name in enumerate(told_apart(effect.lines))]
        ax.legend(handles=named, fontsize=SMALL - 1.0, title="pairs by colour alone", title_fontsize=SMALL - 1.0)
    elif room_below:
        legend_below(ax, columns=1)
    else:
        ax.legend(fontsize=SMALL - 1.0)


def _is_crowded(effect: _Effect) -> bool:
    """Whether it has so many lines that their names have no room among them."""
    return effect.kind == "curve" and len(effect.lines) > _FEW_LINES and len(effect.estimate) == 1


def _levels(ax: Axes, effect: _Effect) -> None:
    P, places = len(effect.estimate), np.arange(len(effect.lines), dtype=float)
    for p in range(P):
        colour, _, marker = _look(p, P > 1)
        x = places + (0.5 * (p + 0.5) / P - 0.25 if P > 1 else 0.0)
        ends = effect.lower[p, :, 0], effect.upper[p, :, 0]
        _intervals(ax, x, effect.estimate[p, :, 0], ends, colour, marker)
    level_ticks(ax, effect.lines)
    ax.set_xlim(-0.6, len(places) - 0.4)


def _rows(ax: Axes, effect: _Effect) -> None:
    for p in range(len(effect.estimate)):
        colour, line, _ = _look(p, len(effect.estimate) > 1)
        ax.fill_between(effect.x[0], effect.lower[p, 0], effect.upper[p, 0], color=colour, alpha=0.18, linewidth=0)
        ax.plot(effect.x[0], effect.estimate[p, 0], line, color=colour)


_DRAWN = {"curve": _curve, "points": _levels, "rows": _rows}


def _map(ax: Axes, effect: _Effect, pair: int) -> None:
    side = math.isqrt(effect.x.shape[1])
    x, y, h = (each.reshape(side, side) for each in (*effect.x, effect.estimate[pair, 0]))
    most = float(np.nanmax(np.abs(h))) or 1.0
    levels = np.linspace(-most, most, 12)
    h = np.ma.masked_invalid(h)
    filled = ax.contourf(x, y, h, levels, cmap="PuOr_r")
    ax.contour(x, y, h, [0.0], colors=INK, linewidths=0.8)
    ax.plot(*effect.rug, ".", color=INK, alpha=0.3, markersize=2, rasterized=len(effect.rug[0]) > MANY_MARKS)
    bar = ax.figure.colorbar(filled, ax=ax, shrink=0.9)
    bar.ax.tick_params(labelsize=SMALL - 1.0)
    bar.locator = pyplot().matplotlib.ticker.MaxNLocator(5)
    bar.update_ticks()
    ax.locator_params(axis="x", nbins=5)


def _one_scale(axes: Sequence[Axes], effects: Sequence[_Effect]) -> None:
    """One vertical scale for all functions: their sizes are what is compared."""
    values = [np.concatenate([np.ravel(v) for v in (e.estimate, e.lower, e.upper)]) for e in effects]
    ends = [(np.nanmin(v), np.nanmax(v)) for v in values]
    if ends:
        low, high = min(0.0, *(a for a, _ in ends)), max(0.0, *(b for _, b in ends))
        margin = 0.08 * (high - low) or 1.0
        for ax in axes:
            ax.set_ylim(low - margin, high + margin)
            ax.set_ylabel("h")
