"""Calibration plots: predicted probabilities against observed frequencies."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from svmstat.reporting.plots.style import (
    ACCENT,
    GREY,
    INK,
    PALE,
    SMALL,
    Axes,
    class_look,
    drawing,
    label_of,
    legend_below,
    percent,
)

_LEVEL = 0.95
_BAND = 0.14
"""The height of the histogram below the axis, as a probability."""


@dataclass(frozen=True, slots=True)
class CalibrationBins:
    """The k bins of a calibration plot: predicted probability and observed frequency of each.

    Attributes
    ----------
    predicted, observed : ndarray (k,)
        Weighted means of the probabilities and of the events.
    lower, upper : ndarray (k,)
        Wilson intervals of the observed frequencies [Wilson 1927].
    total : ndarray (k,)
        Sums of weights.
    """

    predicted: np.ndarray
    observed: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    total: np.ndarray


def calibration_bins(prob: ArrayLike, event: ArrayLike, weights: ArrayLike, bins: int = 10) -> CalibrationBins:
    """Bins of equal weight along the predicted probabilities; equal probabilities stay together.

    Parameters
    ----------
    prob : array_like (n,)
        Without NaN.
    event : array_like (n,) of bool
    weights : array_like (n,)
        Rows of weight zero do not count.
    bins : int
        The greatest number of bins.

    Returns
    -------
    CalibrationBins

    Examples
    --------
    >>> calibration_bins([0.1, 0.2, 0.8, 0.9], [False, False, True, True], [1, 1, 1, 1], bins=2).observed
    array([0., 1.])
    """
    p, e, w = (np.asarray(each, dtype=float) for each in (prob, event, weights))
    p, e, w = p[w > 0], e[w > 0], w[w > 0]
    values, first = np.unique(p, return_inverse=True)
    mass = np.bincount(first, w, len(values))
    middle = np.cumsum(mass) - mass / 2
    _, group = np.unique(np.floor(bins * middle / mass.sum()), return_inverse=True)
    which = group[first]
    total, events = np.bincount(which, w), np.bincount(which, w * e)
    observed = events / total
    proportion = importlib.import_module("statsmodels.stats.proportion")  # takes nearly a second, for this figure only
    lower, upper = proportion.proportion_confint(events, total, 1.0 - _LEVEL, method="wilson")
    lower, upper = np.minimum(lower, observed), np.maximum(upper, observed)  # at 0 and 1 but for rounding
    return CalibrationBins(np.bincount(which, w * p) / total, observed, lower, upper, total)


def calibration_plot(
    prob: ArrayLike,
    event: ArrayLike,
    weights: ArrayLike,
    *,
    ax: Axes | None = None,
    bins: int = 10,
    xlabel: str = "predicted probability (leave-one-out)",
) -> Axes:
    """Predicted probabilities against observed frequencies, with the distribution of the predictions below.

    Parameters
    ----------
    prob : array_like (n,)
        Predicted probabilities of the event; rows with NaN are left out, and counted in the title.
    event : array_like (n,) of bool
        Whether it was observed.
    weights : array_like (n,)
        Case weights.
    ax : Axes, optional
        Drawn into; by default a new figure.
    bins : int
        The greatest number of bins, which are of equal weight.
    xlabel : str
        What the predictions are.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = calibration_plot([0.1, 0.3, 0.8, 0.9], [False, False, True, True], [1, 1, 1, 1], bins=2)
    >>> ax.get_ylabel()
    'observed frequency'
    >>> plt.close(ax.figure)
    """
    p, e, w = np.asarray(prob, dtype=float), np.asarray(event, dtype=bool), np.asarray(weights, dtype=float)
    known = ~np.isnan(p)
    missing = int((~known & (w > 0)).sum())
    p, e, w = p[known], e[known], w[known]
    with drawing(ax, (4.6, 4.9)) as ax:
        _frame(ax, xlabel, missing, _BAND)
        if w.sum() > 0:
            shown = calibration_bins(p, e, w, bins)
            ax.vlines(shown.predicted, shown.lower, shown.upper, colors=ACCENT, linewidths=1.2)
            ax.plot(shown.predicted, shown.observed, "o", color=ACCENT, markersize=4.5)
            _distribution(ax, p, w)
        ax.axhline(0.0, color=GREY, linewidth=0.8, zorder=1)
    return ax


def class_calibration_plot(
    prob: ArrayLike, observed: ArrayLike, weights: ArrayLike, levels: Sequence[object], *, ax: Axes | None = None,
    bins: int = 10, xlabel: str = "predicted probability (leave-one-out)",
) -> Axes:  # fmt: skip
    """Predicted probabilities of every class against how often it was observed, one curve for each.

    Parameters
    ----------
    prob : array_like (n, K)
        Rows with NaN are left out, and counted in the title.
    observed : array_like (n, K) of bool
    weights : array_like (n,)
        Case weights.
    levels : sequence (K,)
        The names of the classes.
    ax : Axes, optional
        Drawn into; by default a new figure.
    bins : int
        The greatest number of bins, which are of equal weight.
    xlabel : str
        What the predictions are.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = class_calibration_plot([[0.9, 0.1], [0.2, 0.8]], [[True, False], [False, True]], [1, 1], ["a", "b"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b']
    >>> plt.close(ax.figure)
    """
    p, e, w = np.asarray(prob, dtype=float), np.asarray(observed, dtype=bool), np.asarray(weights, dtype=float)
    known = ~np.isnan(p).any(axis=1) & (w > 0)
    missing = int((~known & (w > 0)).sum())
    with drawing(ax, (4.6, 4.9)) as ax:
        _frame(ax, xlabel, missing)
        for k, level in enumerate(levels):
            look = class_look(k)
            if known.any():
                shown = calibration_bins(p[known, k], e[known, k], w[known], bins)
                ax.vlines(shown.predicted, shown.lower, shown.upper, colors=look.colour, linewidths=0.8, alpha=0.5)
                ax.plot(
                    shown.predicted, shown.observed, color=look.colour, marker=look.marker, linestyle=look.line,
                    markersize=4.5, label=label_of(level),
                )  # fmt: skip
        if known.any():
            legend_below(ax)
    return ax


def _frame(ax: Axes, xlabel: str, missing: int, below: float = 0.0) -> None:
    """The diagonal, the axes, ``below`` that of frequency 0 as much room as a histogram takes, and the title."""
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.9, linestyle=(0, (5, 3)), zorder=1)
    ticks = np.linspace(0, 1, 6)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02 - below, 1.02), aspect="equal", xticks=ticks, yticks=ticks)
    ax.set(xlabel=xlabel, ylabel="observed frequency")
    title = f"bins of equal size with {percent(_LEVEL)} Wilson intervals"
    notes = ["below: histogram of the predictions"] if below else []
    if missing:
        notes.append(f"{missing} {'row' if missing == 1 else 'rows'} without a prediction")
    ax.set_title(";\n".join([title, "; ".join(notes)]) if notes else title, fontsize=SMALL, color=INK)


def _distribution(ax: Axes, p: Any, w: Any) -> None:
    """The histogram of the predictions, standing below the line of frequency 0."""
    heights, edges = np.histogram(p, bins=40, range=(0.0, 1.0), weights=w)
    scaled = _BAND * heights / heights.max()
    ax.bar(edges[:-1], scaled, np.diff(edges), bottom=-0.01 - _BAND, align="edge", color=PALE, linewidth=0)
