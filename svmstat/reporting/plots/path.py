"""Lines over the logarithm of a parameter: along the path in C, and criteria with their minima."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from svmstat.reporting.plots.style import ACCENT, GREY, INK, LINES, Axes, drawing, fitted

_WIDE, _FEW_DECADES = 10.0, 1000.0
"""Criteria that differ by a larger factor are drawn on a logarithmic scale, and there is room for 2 and 5 on it."""


def path_plot(
    values: ArrayLike, lines: ArrayLike, at: float, *, name: str, what: str, title: str = "", ax: Axes | None = None
) -> Axes:
    """Many lines over log2 of a parameter.

    Parameters
    ----------
    values : array_like (B,)
        The parameter, > 0.
    lines : array_like (B, k)
    at : float
        The value that is marked.
    name, what : str
        Of the parameter and of the lines.
    title : str
        What a line is.
    ax : Axes, optional
        Drawn into; by default a new figure.

    Returns
    -------
    Axes
    """
    x = np.log2(np.asarray(values, float))
    order, y = np.argsort(x), np.asarray(lines, float)
    with drawing(ax) as ax:
        ax.plot(x[order], y[order], color=INK, linewidth=0.5, alpha=max(0.1, min(1.0, 20.0 / max(y.shape[1], 1))))
        ax.axvline(np.log2(at), color=ACCENT, linewidth=1.0, linestyle=(0, (5, 3)))
        ax.set(xlabel=f"log2 {name}", ylabel=what)
        ax.set_title(f"{title or f'{what} along {name}'}; dashed: {name} = {at:.4g}")
        return ax


def criteria_plot(
    values: ArrayLike,
    lines: Mapping[str, ArrayLike],
    *,
    name: str,
    title: str = "",
    at: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Criteria over log2 of a parameter, the least value of each marked.

    Parameters
    ----------
    values : array_like (B,)
        The parameter, > 0.
    lines : mapping of label to array_like (B,)
        Lines break where a criterion is NaN.
    name : str
        Of the parameter.
    title : str
    at : float, optional
        A value that is marked by a dashed line.
    ax : Axes, optional
        Drawn into; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = criteria_plot([1.0, 2.0, 4.0], {"GACV": [0.8, 0.6, 0.7]}, name="C")
    >>> ax.get_xlabel()
    'log2 C'
    >>> plt.close(ax.figure)
    """
    x = np.log2(np.asarray(values, float))
    order = np.argsort(x)
    with drawing(ax) as ax:
        for i, (label, each) in enumerate(lines.items()):
            y = np.asarray(each, float)[order]
            colour = (ACCENT, INK, GREY)[i % 3]
            ax.plot(x[order], y, LINES[i % 4], color=colour, label=label)
            if np.isfinite(y).any():
                least = int(np.nanargmin(y))
                ax.plot(x[order][least], y[least], "o", color=colour, markersize=6, markeredgecolor="white", zorder=5)
        known = np.concatenate([np.asarray(each, float) for each in lines.values()])
        known = known[np.isfinite(known)]
        if len(known) and known.min() > 0.0 and known.max() > _WIDE * known.min():
            ax.set_yscale("log")
            steps = (1.0, 2.0, 5.0) if known.max() < _FEW_DECADES * known.min() else (1.0,)
            ax.yaxis.get_major_locator().set_params(subs=steps)
            ax.yaxis.set_major_formatter("{x:g}")  # matplotlib's own are formulas, and text is shown as it is
            ax.yaxis.set_minor_formatter("")
        if at is not None:
            ax.axvline(np.log2(at), color=GREY, linewidth=1.0, linestyle=(0, (5, 3)), zorder=1)
        ax.set(xlabel=f"log2 {name}", ylabel=next(iter(lines)) if len(lines) == 1 else "criterion")
        ax.set_title(fitted(ax, title or "dots: the least value of each"))
        ax.legend(loc="best")
        return ax
