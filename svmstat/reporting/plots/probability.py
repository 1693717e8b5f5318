"""Probabilities of a fit against its decision values, with the loss-implied interval."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from svmstat._tools.texts import counted
from svmstat.reporting.plots.style import ACCENT, GREY, INK, LINES, MANY_MARKS, PALE, SMALL, Axes, drawing

_BAND = "loss-implied interval\n(no confidence interval)"


def probability_plot(
    grid: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    maps: Mapping[str, ArrayLike],
    f: ArrayLike,
    event: ArrayLike,
    threshold: float,
    *,
    beyond: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Maps from decision values to probabilities over the loss-implied interval, between the lower and the upper one.

    It says which probabilities the loss cannot tell apart at an f, and is no confidence interval.

    Parameters
    ----------
    grid : array_like (m,)
        Rising decision values.
    low, high : array_like (m,)
        Lower and upper probability at each of them.
    maps : mapping of label to array_like (m,)
        Pointwise probabilities.
    f : array_like (n,)
        Decision values of the rows: ticks at the upper edge for events, at the lower for the others.
    event : array_like (n,) of bool
    threshold : float
        P0, which is marked with f = 0.
    beyond : int
        How many rows are further out than the grid.
    ax : Axes, optional
        Drawn into; by default a new figure.

    Returns
    -------
    Axes
    """
    x, values, is_event = np.asarray(grid, float), np.asarray(f, float), np.asarray(event, bool)
    with drawing(ax) as ax:
        ax.fill_between(x, np.asarray(low, float), np.asarray(high, float), color=PALE, linewidth=0, label=_BAND)
        for i, (label, p) in enumerate(maps.items()):
            ax.plot(x, np.asarray(p, float), LINES[i % 4], color=ACCENT if i == 0 else INK, label=label)
        ax.axvline(0.0, color=GREY, linewidth=0.8)
        ax.axhline(threshold, color=GREY, linewidth=0.8)
        for which, height in ((is_event, 1.04), (~is_event, -0.04)):
            at, many = values[which], len(values) > MANY_MARKS
            ax.plot(at, np.full(len(at), height), "|", color=INK, markersize=5, alpha=0.4, rasterized=many)
        ax.set(xlim=(x[0], x[-1]), ylim=(-0.08, 1.08), xlabel="decision value f", ylabel="P(event)")
        lost = f";\n{counted(beyond, 'row')} further out" if beyond else ""
        title = f"lines at f = 0 and P0 = {threshold:.3g}; ticks: events above, others below{lost}"
        ax.set_title(title, fontsize=SMALL)
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        return ax
