"""Calibration plots: predicted probabilities against observed frequencies, in bins or by isotonic regression."""

import importlib
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from svmstat._tools.texts import counted
from svmstat.calibration import ConsistencyBand, Corp
from svmstat.reporting.plots.style import (
    ACCENT,
    GREY,
    INK,
    MANY_MARKS,
    PALE,
    SMALL,
    Axes,
    drawing,
    fitted,
    in_lines,
    label_of,
    panels,
    pyplot,
    told_apart,
)
from svmstat.reporting.rendering.values import percent

_LEVEL = 0.95
_BELOW = 0.14
"""The height of the histogram below the axis, as a share of what the axis shows."""

_OF_PANELS = 7.5
_OF_AXIS = 80
"""Letters of a label below the axis."""

_HISTOGRAM = "below: histogram of predictions"


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


def calibration_bins(
    prob: ArrayLike, event: ArrayLike, weights: ArrayLike, bins: int = 10, along: ArrayLike | None = None
) -> CalibrationBins:
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
    along : array_like (n,), optional
        What the bins are along, and equal in rows that stay together, if it is not ``prob``.

    Returns
    -------
    CalibrationBins

    Examples
    --------
    >>> calibration_bins([0.1, 0.2, 0.8, 0.9], [False, False, True, True], [1, 1, 1, 1], bins=2).observed
    array([0., 1.])
    """
    p, e, w, a = (np.asarray(x, dtype=float) for x in (prob, event, weights, prob if along is None else along))
    p, e, w, a = (x[w > 0] for x in (p, e, w, a))
    values, first = np.unique(a, return_inverse=True)
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
    independent: bool = True,
    along: ArrayLike | None = None,
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
    independent : bool
        Whether rows are, or copies of them, as the intervals take them.
    along : array_like (n,), optional
        As in `calibration_bins`.

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
    with drawing(ax, (4.6, 4.9)) as ax:
        shown = _binned(p[known], e[known], w[known], bins, p[known] if along is None else np.asarray(along)[known])
        window = _window([shown], p[known & (w > 0)])
        _square(ax, 6, window)
        _bins(ax, shown, p[known], w[known], window)
        ax.set_xlabel(xlabel)
        ax.set_ylabel("observed frequency")
        title = _of_bins(independent)
        ax.set_title(f"{title}{_without(missing)}", fontsize=SMALL, color=INK)
    return ax


def _of_bins(independent: bool) -> str:
    but = "" if independent else ",\nas if rows were independent"
    return f"bins of equal size with {percent(_LEVEL)} Wilson intervals{but};\n{_HISTOGRAM}"


def class_calibration_plot(
    prob: ArrayLike, observed: ArrayLike, weights: ArrayLike, levels: Sequence[object], *, ax: Axes | None = None,
    bins: int = 10, xlabel: str = "predicted probability (leave-one-out)", independent: bool = True,
    along: ArrayLike | None = None,
) -> Any:  # fmt: skip
    """Predicted probabilities of every class against how often it was observed, one panel for each.

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
        Its place is divided into the panels, and it is taken out of its figure; by default they have a new figure.
    bins : int
        The greatest number of bins, which are of equal weight.
    xlabel : str
        What the predictions are.
    independent : bool
        Whether rows are, or copies of them, as the intervals take them.
    along : array_like (n, K), optional
        As in `calibration_bins`, of every class.

    Returns
    -------
    ndarray (K,) of Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> axes = class_calibration_plot([[0.9, 0.1], [0.2, 0.8]], [[True, False], [False, True]], [1, 1], ["a", "b"])
    >>> [ax.get_title("left") for ax in axes]
    ['a', 'b']
    >>> plt.close(axes[0].figure)
    """
    p, e, w = np.asarray(prob, dtype=float), np.asarray(observed, dtype=bool), np.asarray(weights, dtype=float)
    a = p if along is None else np.asarray(along, dtype=float)
    known = ~np.isnan(p).any(axis=1)
    missing = int((~known & (w > 0)).sum())
    shown = [_binned(p[known, k], e[known, k], w[known], bins, a[known, k]) for k in range(len(levels))]
    window = _window(shown, p[known & (w > 0)])
    with panels(ax, len(levels)) as (figure, axes):
        for k, (panel, level) in enumerate(zip(axes, told_apart(levels), strict=True)):
            _square(panel, 3, window)
            _bins(panel, shown[k], p[known, k], w[known], window)
            panel.set_title(in_lines(level, panel), fontsize=_OF_PANELS, color=INK)
        title = _of_bins(independent)
        _label(figure, xlabel, "observed frequency", f"{title}{_without(missing)}")
    return axes


def reliability_plot(
    curve: Corp, band: ConsistencyBand | None = None, *, level: float = 0.9, missing: int = 0, ax: Axes | None = None,
    xlabel: str = "predicted probability", ticks: int = 6,
) -> Axes:  # fmt: skip
    """Predicted probabilities against their isotonic recalibration, with the band of calibrated predictions.

    Parameters
    ----------
    curve : Corp
    band : ConsistencyBand, optional
    level : float
        That of the band.
    missing : int
        How many rows had no prediction.
    ax : Axes, optional
        Drawn into; by default a new figure.
    xlabel : str
        What the predictions are.
    ticks : int
        How many either axis has.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmstat.calibration import recalibrate
    >>> curve = recalibrate(np.array([0.1, 0.4, 0.6, 0.9]), np.array([False, True, False, True]), np.ones(4))
    >>> ax = reliability_plot(curve)
    >>> ax.get_title("left").splitlines()[0]
    'Brier 0.185 = MCB 0.060 - DSC 0.125 + UNC 0.250'
    >>> plt.close(ax.figure)
    """
    with drawing(ax, (4.6, 5.1)) as ax:
        window = _of_curves([curve], [band])
        _square(ax, ticks, window)
        _curve(ax, curve, band, window)
        ax.set_xlabel(fitted(ax, label_of(xlabel, _OF_AXIS)))
        ax.set_ylabel("recalibrated probability (isotonic)")
        score, mcb, dsc, unc = (f"{each:.3f}" for each in astuple(curve.brier))
        sum_of_parts = f"Brier {score} = MCB {mcb} - DSC {dsc} + UNC {unc}"
        ax.set_title(f"{sum_of_parts}\n{_shown(band, level)}{_HISTOGRAM}{_without(missing)}", fontsize=SMALL, color=INK)
    return ax


def class_reliability_plot(
    curves: Sequence[Corp], bands: Sequence[ConsistencyBand | None], levels: Sequence[object], *, level: float = 0.9,
    missing: int = 0, ax: Axes | None = None, xlabel: str = "predicted probability",
) -> Any:  # fmt: skip
    r"""The `reliability_plot` of every class against the rest, one panel for each.

    Parameters
    ----------
    curves, bands, levels : sequences (K,)
        By class, with its name.
    level : float
        That of the bands.
    missing : int
        How many rows had no prediction.
    ax : Axes, optional
        Its place is divided into the panels, and it is taken out of its figure; by default they have a new figure.
    xlabel : str
        What the predictions are.

    Returns
    -------
    ndarray (K,) of Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmstat.calibration import recalibrate
    >>> prob, hit = np.array([0.1, 0.4, 0.6, 0.9]), np.array([False, True, False, True])
    >>> curves = [recalibrate(prob, hit, np.ones(4)), recalibrate(1 - prob, ~hit, np.ones(4))]
    >>> axes = class_reliability_plot(curves, [None, None], ["a", "b"])
    >>> axes[1].get_title("left")
    'b\nMCB 0.060, DSC 0.125'
    >>> plt.close(axes[0].figure)
    """
    window = _of_curves(curves, bands)
    with panels(ax, len(curves)) as (figure, axes):
        for panel, curve, band, name in zip(axes, curves, bands, told_apart(levels), strict=True):
            _square(panel, 3, window)
            _curve(panel, curve, band, window)
            parts = f"MCB {curve.brier.miscalibration:.3f}, DSC {curve.brier.discrimination:.3f}"
            panel.set_title(f"{in_lines(name, panel)}\n{parts}", fontsize=_OF_PANELS, color=INK)
        title = f"each class against the rest; {_HISTOGRAM}{_without(missing)}"
        _label(figure, xlabel, "recalibrated probability (isotonic)", f"{_shown(bands[0], level)}{title}")
    return axes


def _without(missing: int) -> str:
    """What a title says of rows without a prediction."""
    return f"; {counted(missing, 'row')} without a prediction" if missing else ""


def _shown(band: ConsistencyBand | None, level: float) -> str:
    """What a title says of a band."""
    return "" if band is None else f"shaded: {percent(level)} of calibrated curves, point by point;\n"


def _label(figure: Any, xlabel: str, ylabel: str, title: str) -> None:
    """Labels and the title of all panels."""
    size = pyplot().rcParams["axes.labelsize"]
    figure.supxlabel(xlabel, fontsize=size, color=INK)
    figure.supylabel(ylabel, fontsize=size, color=INK)
    figure.suptitle(title, fontsize=SMALL, color=INK, x=0.02, ha="left")


class _Window(NamedTuple):
    """The part of the probabilities that both axes show."""

    low: float
    high: float

    @property
    def span(self) -> float:
        """How much of them that is."""
        return self.high - self.low


def _window(bins: Sequence[CalibrationBins | None], p: Any) -> _Window:
    """What holds all bins with their intervals, and the probabilities p of all rows."""
    ends = [end for each in bins if each is not None for end in (each.lower, each.upper)]
    return _holding(np.concatenate([np.ravel(p), *ends]))


def _of_curves(curves: Sequence[Corp], bands: Sequence[ConsistencyBand | None]) -> _Window:
    """What holds all curves and their bands."""
    ends = [end for band in bands if band is not None for end in (band.lower, band.upper)]
    lines = [line for curve in curves for line in (curve.predicted, curve.recalibrated)]
    return _holding(np.concatenate([*lines, *ends]))


def _holding(values: Any) -> _Window:
    """From 0 to 0.5, 0.2, 0.1 and so on, or from there to 1, if that holds all values; else from 0 to 1.

    Examples
    --------
    >>> _holding(np.array([0.01, 0.04])), _holding(np.array([0.7, 0.97])), _holding(np.array([0.3, 0.6])).span
    (_Window(low=0.0, high=0.05), _Window(low=0.5, high=1.0), 1.0)
    """
    for from_end in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5):
        if len(values) and values.max() <= from_end:
            return _Window(0.0, from_end)
        if len(values) and values.min() >= 1.0 - from_end:
            return _Window(1.0 - from_end, 1.0)
    return _Window(0.0, 1.0)


def _square(ax: Axes, ticks: int, window: _Window) -> None:
    """The square of probabilities with its diagonal, and room for a histogram below."""
    margin = 0.02 * window.span
    ax.plot(window, window, color=GREY, linewidth=0.9, linestyle=(0, (5, 3)), zorder=1)
    ax.set_xlim(window.low - margin, window.high + margin)
    ax.set_ylim(window.low - margin - _BELOW * window.span, window.high + margin)
    ax.set_aspect("equal")
    ax.set_xticks(np.linspace(*window, ticks))
    ax.set_yticks(np.linspace(*window, ticks))


def _binned(p: Any, e: Any, w: Any, bins: int, along: Any) -> CalibrationBins | None:
    """The bins of probabilities, if any row counts."""
    return calibration_bins(p, e, w, bins, along) if w.sum() > 0 else None


def _bins(ax: Axes, shown: CalibrationBins | None, p: Any, w: Any, window: _Window) -> None:
    """The bins with their intervals, if there are any."""
    if shown is not None:
        ax.vlines(shown.predicted, shown.lower, shown.upper, colors=ACCENT, linewidths=1.2)
        ax.plot(shown.predicted, shown.observed, "o", color=ACCENT, markersize=4.5)
        _distribution(ax, p, w, window)


def _curve(ax: Axes, curve: Corp, band: ConsistencyBand | None, window: _Window) -> None:
    """The recalibrated probabilities on their band."""
    if band is not None:
        ax.fill_between(curve.predicted, band.lower, band.upper, color=PALE, linewidth=0, zorder=0)
    marker = "o" if len(curve.predicted) <= MANY_MARKS else ""
    ax.plot(curve.predicted, curve.recalibrated, color=ACCENT, marker=marker, markersize=1.8, linewidth=1.2)
    _distribution(ax, curve.predicted, curve.totals, window)


def _distribution(ax: Axes, p: Any, w: Any, window: _Window) -> None:
    """The histogram of the predictions, standing below the line of the least frequency."""
    heights, edges = np.histogram(p, bins=40, range=window, weights=w)
    scaled, bottom = _BELOW * window.span * heights / heights.max(), window.low - (0.01 + _BELOW) * window.span
    ax.bar(edges[:-1], scaled, np.diff(edges), bottom=bottom, align="edge", color=PALE, linewidth=0)
    ax.axhline(window.low, color=GREY, linewidth=0.8, zorder=1)
