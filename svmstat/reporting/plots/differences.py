"""Differences of scores from the first model, with their standard errors."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from svmstat.reporting.plots.style import ACCENT, GREY, INK, Axes, drawing, fitted, told_apart

_EACH, _MARGIN = 0.42, 1.3
"""Inches of a new figure for each model, and around them."""


def differences_plot(
    names: Sequence[object], delta: ArrayLike, se: ArrayLike, *, nested: tuple[ArrayLike, ArrayLike] | None = None,
    xlabel: str = "", ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """A dot chart: a line for each model, the first of which is at zero.

    Parameters
    ----------
    names : sequence of K names
    delta : array_like (K,)
        Score minus that of the first model; it may be NaN.
    se : array_like (K,)
        Its standard error, NaN for the first.
    nested : tuple of array_like (K,), optional
        The same by nested cross-validation.
    xlabel : str
        By default that of scores of models beside the first.
    ax : Axes, optional
        Drawn into; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = differences_plot(["svm", "logit"], [0.0, 19.9], [float("nan"), 11.2])
    >>> [text.get_text() for text in ax.get_yticklabels()], ax.get_title("left")
    (['svm', 'logit'], 'dots: difference, lines: ± its paired standard error')
    >>> plt.close(ax.figure)
    """
    y = np.arange(len(names), dtype=float)
    with drawing(ax, (6.0, _MARGIN + _EACH * len(names))) as ax:
        ax.axvline(0.0, color=GREY, linewidth=0.8)
        offset = 0.0 if nested is None else 0.14
        _dots(ax, y - offset, delta, se, INK, "o")
        title = "dots: difference, lines: ± its paired standard error"
        if nested is not None:
            _dots(ax, y + offset, *nested, ACCENT, "s")
            title += "; squares: nested"
        labels = told_apart(names)
        ax.set_yticks(y, labels)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.set_xlabel(fitted(ax, xlabel or f"score minus that of {labels[0]}: smaller is better", labels))
        ax.set_title(fitted(ax, title, labels))
        return ax


def _dots(ax: Axes, y: ArrayLike, values: ArrayLike, se: ArrayLike, colour: str, marker: str) -> None:
    values, se = np.asarray(values, float), np.asarray(se, float)
    ax.hlines(y, values - se, values + se, color=colour, linewidth=1.2)
    ax.plot(values, y, marker, color=colour, markersize=5)
