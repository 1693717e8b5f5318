"""How badly rows are predicted against what they do to the fit, those beyond either envelope labelled."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from svmstat._tools.arrays import Floats
from svmstat._tools.texts import counted
from svmstat.objective.replicated import above
from svmstat.reporting.plots.index import MOST_LABELS, label_points
from svmstat.reporting.plots.style import ACCENT, GREY, INK, SMALL, Axes, drawing, settle
from svmstat.reporting.rendering.values import percent

_ROOM, _EDGE = 1.12, 0.02
"""Of the largest value, where an axis ends, and how far before 0 it begins: points at 0 are to be seen."""

_LEFT = 0.4
"""The share of the axis on which a label stands that no line may cross."""


def outlying_plot(
    influence: ArrayLike,
    outlyingness: ArrayLike,
    labels: Sequence[object],
    envelopes: tuple[float, float],
    *,
    level: float,
    extreme: int = 0,
    ax: Axes | None = None,
    xlabel: str = "influence, rms change of f",
    ylabel: str = "outlyingness, −2 log π",
    what: str = "row",
) -> Axes:
    """Outlyingness against influence with an envelope of each.

    Parameters
    ----------
    influence, outlyingness : array_like (n,)
        Rows with NaN are left out, and counted in the figure.
    labels : sequence (n,)
        The index labels of the rows.
    envelopes : tuple of float
        Where the dashed lines are drawn, of influence and of outlyingness; nowhere if they are not finite.
    level : float
        Of each envelope.
    extreme : int
        How many of the largest values of either kind are labelled where there is no envelope.
    ax : Axes, optional
        Drawn into; by default a new figure.
    xlabel, ylabel : str
        What the values are.
    what : str
        What has them.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = outlying_plot([0.1, 0.2, 0.9], [1.0, 9.0, 2.0], ["a", "b", "c"], (0.5, 6.0), level=0.95)
    >>> [text.get_text() for text in ax.texts]
    ['95 % envelope', '95 % envelope', 'c', 'b']
    >>> plt.close(ax.figure)
    """
    x, y = np.asarray(influence, dtype=float), np.asarray(outlyingness, dtype=float)
    beyond = above(x, envelopes[0]) | above(y, envelopes[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        excess = np.maximum(x / envelopes[0], y / envelopes[1])
    chosen = np.flatnonzero(beyond)
    chosen = chosen[np.argsort(-excess[chosen], kind="stable")][:MOST_LABELS]
    if extreme and not np.isfinite(envelopes).any():
        largest = (np.argsort(-np.nan_to_num(each), kind="stable")[:extreme] for each in (y, x))
        chosen = np.array(list(dict.fromkeys(np.concatenate(list(largest)).tolist())), np.intp)
    with drawing(ax) as ax:
        for which, colour, size in ((~beyond, GREY, 7.0), (beyond, ACCENT, 16.0)):
            ax.scatter(x[which], y[which], s=size, color=colour, linewidths=0, zorder=3)
        across, up = _largest(x, envelopes[0]), _largest(y, envelopes[1])
        ax.set_xlim(-_EDGE * across, _ROOM * across)
        ax.set_ylim(-_EDGE * up, _ROOM * up)
        told, aside = f"{percent(level)} envelope", {"textcoords": "offset points", "fontsize": SMALL}
        dashed = {"color": INK, "linewidth": 0.9, "linestyle": (0, (5, 3))}
        if np.isfinite(end := envelopes[0]):
            ax.axvline(end, **dashed)
            ax.annotate(told, (end, 0.5), (3, 0), ("data", "axes fraction"), rotation=90.0, va="center", **aside)
        right = envelopes[0] < _LEFT * across
        if np.isfinite(end := envelopes[1]):
            ax.axhline(end, **dashed)
            ax.annotate(
                told, (float(right), end), (-4 if right else 4, 3), ("axes fraction", "data"),
                ha="right" if right else "left", va="bottom", **aside,
            )  # fmt: skip
        ax.set_xlabel(xlabel)
        ax.set_ylabel(ylabel)
        settle(ax)
        points = [(float(x[k]), float(y[k]), str(labels[k])) for k in chosen.tolist()]
        placed = label_points(ax, points, x, y, stems=False)
        more, missing = int(beyond.sum()) - placed, int((np.isnan(x) | np.isnan(y)).sum())
        notes = [f"{more} more beyond a line not labelled"] * (more > 0)
        notes += [f"{len(points) - placed} of the largest not labelled"] * (not beyond.any() and placed < len(points))
        notes += [f"{counted(missing, what)} without a value"] * (missing > 0)
        if notes:
            ax.set_title("; ".join(notes), fontsize=SMALL)
    return ax


def _largest(values: Floats, end: float) -> float:
    """The largest of the values and the envelope that is finite; 1 where it is 0."""
    finite = [value for value in (*values, end) if np.isfinite(value)]
    return float(max(finite, default=1.0)) or 1.0
